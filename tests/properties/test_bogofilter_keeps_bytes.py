"""
Whatever `nbtext bogofilter -p` reads, it prints it, with one field more a message.

An mbox that is taken apart is still the same bytes, and passing twice is passing once.
"""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from nbtext import train_on
from nbtext.cli.bogofilter._options import parse
from nbtext.cli.bogofilter._pass import passed
from nbtext.cli.bogofilter._request import request_of
from nbtext.sources.mbox import pieces

DEMO = Path(__file__).parents[2] / "corpora" / "demo"
FIELD = rb"X-Bogosity: \w+, tests=bogofilter, spamicity=[\d.]+, version=nbtext-[\d.]+"

LINE = b"From a@b.example Thu Mar  7 08:15:00 2024\n"
PIECES = st.sampled_from(
    [
        LINE, b"\n" + LINE, b"\r\n\r\n" + LINE, b">From x\n", b"From: a@b\n", b"\n",
        b"Subject: money\r\n", b"X-Bogosity: Ham\n\tfolded\n", b"x-bogosity : Ham\r\n",
        b"no field\n", b"body \xff\x00 text", b"\r", b"From nobody\n",
    ]
)  # fmt: skip
MAIL = st.lists(PIECES | st.binary(max_size=12), max_size=12).map(b"".join)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("model") / "m.nbt"
    train_on([("spam", "money winner"), ("ham", "lunch meeting")], str(path))
    return str(path)


def without_fields(text: bytes) -> bytes:
    """Take all fields of the name and empty lines out, behind bare CRs too."""
    text = re.sub(
        rb"(?im)(?:^|(?<=\r))x-bogosity[ \t]*:.*\n?(?:[ \t].*\n?)*", b"", text
    )
    return re.sub(rb"[\r\n]+", b"\n", text).strip(b"\n")


@given(MAIL)
def test_an_mbox_that_is_taken_apart_is_whole(mbox: bytes) -> None:
    messages = pieces(mbox)

    assert b"".join(messages) == mbox
    assert all(message.startswith(b"From ") for message in messages[1:])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MAIL, st.sampled_from(["-p", "-pM"]))
@example(b"From: a@b\n\rX-Bogosity: Ham\n\tfolded\n", "-p")
def test_every_other_byte_is_as_it_was(model: str, mail: bytes, options: str) -> None:
    request = request_of(parse([options, "--model", model]))

    once, status = passed(mail, request)

    assert status in (0, 1, 2)
    assert without_fields(once) == without_fields(mail)
    assert re.search(FIELD, once)


@pytest.mark.parametrize(
    "path", sorted(DEMO.rglob("*.eml")), ids=lambda path: "/".join(path.parts[-2:])
)
def test_real_mail_has_one_field_more(model: str, path: Path) -> None:
    mail = path.read_bytes()
    request = request_of(parse(["-p", "--model", model]))

    once, _ = passed(mail, request)

    assert re.sub(FIELD + rb"\r?\n", b"", once, count=1) == mail
    assert passed(once, request)[0] == once
