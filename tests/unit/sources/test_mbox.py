"""Where one message of an mbox ends and the next begins."""

import io
import mailbox
from pathlib import Path

import pytest

from nbtext.document import Document, Pause, Unread
from nbtext.sources import Options, documents
from nbtext.sources._load import loaded
from nbtext.sources._stream import Stream, open_path, open_stdin
from nbtext.sources.mbox import is_mbox, messages
from tests.items import notes

NAZARIO = Path(__file__).parents[4] / "shared/corpora/nazario/20051114.mbox"

FROM = b"From a@example.org Tue Jun 14 19:52:09 2005\n"


def split(data: bytes, max_bytes: int = 1000) -> list[tuple[bytes, bool]]:
    return whole(open_stdin(io.BytesIO(data)), max_bytes)


def whole(stream: Stream, max_bytes: int = 2**24) -> list[tuple[bytes, bool]]:
    return [m for m in messages(stream, max_bytes) if not isinstance(m, Pause)]


def texts(data: bytes) -> list[bytes]:
    return [text for text, _ in split(data)]


@pytest.mark.parametrize(
    "line",
    [
        b"From a@b Tue Jun 14 19:52:09 2005",
        b"From a@b  Tue Jun  4 19:52:09 2005",
        b"From a@b Tue Jun 14 19:52 2005",
        b"From a@b Tue Jun 14 9:52:09 EDT 2005",
        b"From a@b Tue Jun 14 19:52:09 MET DST 2005",
        b"From a@b Tue Jun 14 19:52:09 2005 +0200",
        b"From a@b Tue Jun 14 19:52:09 +0200 2005",
        b"From a@b Tue, 14 Jun 2005 19:52:09 +0200",
        b"From - Tue Jun 14 19:52:09 2005",
        b"From  Tue Jun 14 19:52:09 2005",
        b"From a at b.org  Tue Jun 14 19:52:09 2005",
        b"From a@b Tue Jun 14 19:52:09 2005 remote from host",
    ],
)
def test_these_lines_begin_a_message(line: bytes) -> None:
    assert is_mbox(line + b"\n")
    assert texts(FROM + b"x\n\n" + line + b"\ny\n") == [b"x\n", b"y\n"]
    assert texts(line + b"\r\nx\r\n\r\n" + line + b"\r\ny\r\n") == [b"x\r\n", b"y\r\n"]


@pytest.mark.parametrize(
    "line",
    [
        b"From here on it gets difficult",
        b"From a@b",
        b"From a@b Tue Jun 14",
        b"from a@b Tue Jun 14 19:52:09 2005",
        b"From: a@b Tue Jun 14 19:52:09 2005",
        b">From a@b Tue Jun 14 19:52:09 2005",
        b"From " + b"x" * 1000 + b" Tue Jun 14 19:52:09 2005",
        b"From a@b Tue" + b" " * 1000 + b"Jun 14 19:52:09 2005",
    ],
)
def test_these_lines_do_not(line: bytes) -> None:
    assert not is_mbox(line + b"\n")
    assert len(texts(FROM + b"x\n\n" + line + b"\ny\n")) == 1


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"", [], id="empty"),
        pytest.param(b"\n\n", [], id="blank"),
        pytest.param(FROM, [b""], id="an empty message"),
        pytest.param(FROM + b"\n" + FROM + b"\n", [b"", b""], id="two empty messages"),
        pytest.param(b"\n" + FROM + b"x", [b"x"], id="a blank line before the first"),
        pytest.param(b"x\n\n" + FROM + b"y\n", [b"x\n", b"y\n"], id="a preamble"),
        pytest.param(FROM + b"x\n" + FROM, [b"x\n" + FROM], id="no blank line"),
        pytest.param(FROM + b"x\n\n\n" + FROM, [b"x\n\n", b""], id="two blank lines"),
        pytest.param(
            FROM + b">From x\n>>From y\n> From z\n",
            [b"From x\n>From y\n> From z\n"],
            id="quoted",
        ),
    ],
)
def test_messages(data: bytes, expected: list[bytes]) -> None:
    assert texts(data) == expected


def test_a_long_message_is_cut_and_the_next_is_found() -> None:
    data = FROM + b"x" * 600_000 + b"\n\n" + FROM + b"y\n"

    assert split(data, 10) == [(b"x" * 10, True), (b"y\n", False)]


@pytest.mark.parametrize("unit", [b"\nFrom \nFrom ", b"\n\nFrom ", b"From Mon Jan 1 "])
def test_bytes_that_only_begin_like_messages_are_one(unit: bytes) -> None:
    data = unit * (2**21 // len(unit))

    assert split(data, 10) == [(data[:10], True)]


@pytest.mark.skipif(not NAZARIO.exists(), reason="../shared/corpora is not here")
def test_the_standard_library_finds_the_same_messages() -> None:
    ours = [text for text, _ in whole(open_path(str(NAZARIO), "mbox"))]
    box = mailbox.mbox(NAZARIO, create=False)
    theirs = [box.get_bytes(key) for key in box.keys()]  # noqa: SIM118 -- not a dict
    box.close()

    # The library leaves ">From " as it is.
    differing = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    assert len(ours) == 438
    assert [(a.count(b"\nFrom "), len(b) - len(a)) for a, b in differing] == [(1, 1)]


@pytest.mark.parametrize(
    "field",
    [b"Received: from a by b\n", b"Subject: FOLDER INTERNAL DATA\n", b"X-IMAP: 2\n"],
)
def test_what_a_sender_made_to_look_like_them_is_one(
    tmp_path: Path, field: bytes
) -> None:
    data = b"Subject: FOLDER INTERNAL DATA\n" + field + b"X-IMAP: 1 2\n\ncash\n\n"
    path = tmp_path / "box"
    path.write_bytes(FROM + data + FROM + b"To: x\n\n")

    found = [*documents([str(path)], Options(), labelled=False)]

    assert [one.name for one in found if isinstance(one, Document)] == [
        f"{path}:1", f"{path}:2",
    ]  # fmt: skip


def test_nothing_of_the_standard_input_is_internal_data() -> None:
    data = FROM + b"Subject: FOLDER INTERNAL DATA\nX-IMAP: 1 2\n\ncash\n"

    found = [*documents(["-"], Options(), labelled=False, stdin=io.BytesIO(data))]

    assert [one.name for one in found if isinstance(one, Document)] == ["-:1"]


def test_the_internal_data_of_a_mail_server_are_no_message(tmp_path: Path) -> None:
    """As UW IMAP, Alpine and Dovecot keep them in front of the others."""
    data = b"Subject: DON'T DELETE -- FOLDER INTERNAL DATA\nX-IMAP: 1 2\n\nnothing\n\n"
    path = tmp_path / "box"
    path.write_bytes(FROM + data + FROM + b"To: x\n\n" + FROM + data)

    named = [*documents([str(path)], Options(), labelled=False)]
    walked = [*loaded(Unread(str(path), str(path)), 1000)]

    for found in (named, walked):
        told = notes(found)
        names = [one.name for one in found if isinstance(one, Document)]
        assert names == [f"{path}:2", f"{path}:3"]
        left_out = "internal data of a mail server, no message: left out"
        assert told == [f"{path}:1: {left_out}"]
