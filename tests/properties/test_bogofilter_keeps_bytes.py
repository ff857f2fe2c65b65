"""
Whatever `nbtext bogofilter -p` reads, it prints it, with one field more a message.

An mbox that is taken apart is still the same bytes, and passing twice is passing once.
"""

import re
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from nbtext import train_on
from nbtext.cli.bogofilter._options import parse
from nbtext.cli.bogofilter._pass import Passing
from nbtext.cli.bogofilter._request import Request, request_of
from nbtext.plain_mail import MOST_HELD, Held
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


def passed(mail: bytes, request: Request, most: int = MOST_HELD) -> tuple[bytes, int]:
    """What is passed on, if so much of it is held, and the exit status."""
    passing = Passing(Held(BytesIO(mail), most), most)
    return b"".join(passing.pieces(request)), passing.code


def without_fields(text: bytes) -> bytes:
    """Take all fields of the name and empty lines out, behind bare CRs too."""
    text = re.sub(
        rb"(?im)(?:^|(?<=\r))x-bogosity[ \t]*:.*\n?(?:[ \t].*\n?)*", b"", text
    )
    return re.sub(rb"[\r\n]+", b"\n", text).strip(b"\n")


@given(MAIL, st.integers(0, 200))
def test_an_mbox_that_is_taken_apart_is_whole(mbox: bytes, most: int) -> None:
    found = [*pieces(mbox, [mbox], most)]

    assert b"".join(piece.text for piece in found) == mbox
    assert found[0].is_first
    assert found[-1].is_last
    for before, piece in pairwise(found):
        assert piece.is_first == before.is_last
        assert piece.text.startswith(b"From ") or not piece.is_first
    whole = [piece.text for piece in pieces(mbox, [mbox], len(mbox))]
    assert len(whole) == sum(piece.is_first for piece in found)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MAIL, st.sampled_from(["-p", "-pM"]))
@example(b"From: a@b\n\rX-Bogosity: Ham\n\tfolded\n", "-p")
def test_every_other_byte_is_as_it_was(model: str, mail: bytes, options: str) -> None:
    request = request_of(parse([options, "--model", model]))

    once, status = passed(mail, request)

    assert status in (0, 1, 2)
    assert without_fields(once) == without_fields(mail)
    assert re.search(FIELD, once)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MAIL, st.sampled_from(["-p", "-pM"]), st.integers(1, 120))
@example(b"Subject: a\nX-Bogosity: Ham\n", "-p", 20)
@example(b"".join([LINE, b"Subject: a\n\nmoney\n\n"] * 3), "-pM", 70)
def test_so_it_is_where_not_all_of_it_is_held(
    model: str, mail: bytes, options: str, most: int
) -> None:
    request = request_of(parse([options, "--model", model]))

    once, status = passed(mail, request, most)

    assert status in (0, 1, 2)
    rest = once.partition(b"X-Bogosity: ")[2]
    field = rest.partition(b"\n")[0]
    assert re.fullmatch(FIELD, (b"X-Bogosity: " + field).rstrip(b"\r"))
    whole = re.sub(rb"[\r\n]", b"", without_fields(once))
    kept = re.sub(rb"[\r\n]", b"", without_fields(mail))
    assert whole == kept


@pytest.mark.parametrize("most", [5_000, 10_000])
def test_messages_of_a_long_mbox_are_as_they_are_alone(model: str, most: int) -> None:
    paths = sorted(DEMO.rglob("*.eml"))[:12]
    mails = [LINE + path.read_bytes().rstrip(b"\n") + b"\n\n" for path in paths]
    request = request_of(parse(["-pM", "--model", model]))

    once, status = passed(b"".join(mails), request, most)

    assert max(map(len, mails)) < most < sum(map(len, mails))
    assert once == b"".join(passed(mail, request)[0] for mail in mails)
    assert status == passed(mails[-1], request)[1]


@pytest.mark.parametrize(
    "path", sorted(DEMO.rglob("*.eml")), ids=lambda path: "/".join(path.parts[-2:])
)
def test_real_mail_has_one_field_more(model: str, path: Path) -> None:
    mail = path.read_bytes()
    request = request_of(parse(["-p", "--model", model]))

    once, _ = passed(mail, request)

    assert re.sub(FIELD + rb"\r?\n", b"", once, count=1) == mail
    assert passed(once, request)[0] == once
