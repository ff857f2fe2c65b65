"""An mbox whose messages say how long they are."""

import gzip
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext import read_documents
from nbtext.document import Pause, Unreadable
from nbtext.errors import SourceError
from nbtext.sources import Options, documents
from nbtext.sources._content_length import Opening
from nbtext.sources.mbox import LONGEST_SEPARATOR, split

START = b"From a@b Thu Nov 26 10:00:00 2026\n"
QUOTING = b"look:\n\n" + START + b"Subject: inner\n\ninner\n"


def sized(body: bytes, length: int | None = None) -> bytes:
    """A message of an mbox that says how long its body is."""
    field = b"Content-Length: %d" % (len(body) if length is None else length)
    return START + b"Subject: x\n" + field + b"\n\n" + body + b"\n"


def bodies(data: bytes, size: int = 1 << 20) -> list[bytes]:
    """The bodies of an mbox that is read in pieces of some size."""
    chunks = [data[n : n + size] for n in range(0, len(data), size)]
    found: list[list[bytes]] = []
    for part in split(data[:LONGEST_SEPARATOR], chunks):
        if isinstance(part, bytes):
            found[-1].append(part)
        elif isinstance(part, Opening):
            found.append([])
    return [b"".join(one).partition(b"\n\n")[2] for one in found]


@pytest.mark.parametrize("size", [1, 7, 64, 1 << 20])
@pytest.mark.parametrize("counted", [0, 1], ids=["the body", "and the blank line"])
def test_a_right_length_keeps_a_message_whole(size: int, counted: int) -> None:
    data = (
        sized(QUOTING, len(QUOTING) + counted)
        + sized(b"next\n")
        + sized(QUOTING + QUOTING)
    )

    assert [body.rstrip() for body in bodies(data, size)] == [
        QUOTING.rstrip(),
        b"next",
        (QUOTING + QUOTING).rstrip(),
    ]


@pytest.mark.parametrize(
    "length",
    [0, 3, len(QUOTING) - 5, len(QUOTING) + 2, len(QUOTING) + 9, 10**11, 10**30],
)
def test_a_wrong_length_changes_nothing(length: int) -> None:
    data = sized(QUOTING, length) + sized(b"next\n", 10**9) + sized(b"last\n")
    without = data.replace(b"Content-Length: ", b"Content-Height: ")

    assert bodies(data) == bodies(without)
    assert len(bodies(data)) == 4


def test_two_lengths_are_none() -> None:
    twice = sized(QUOTING).replace(b"Subject: x", b"content-length: 7")

    assert len(bodies(twice + sized(b"next\n"))) == 3


def test_a_length_in_a_body_is_none() -> None:
    inner = b"content-length: %d\n\n" % len(QUOTING) + QUOTING + b"\n"

    assert len(bodies(START + b"\n" + inner + sized(b"next\n"))) == 3


@given(st.lists(st.tuples(st.sampled_from(["", "q", "qq"]), st.integers(-3, 90))))
def test_no_byte_is_lost_whatever_lengths_say(
    messages: list[tuple[str, int]],
) -> None:
    data = b"".join(sized(QUOTING * len(text), size) for text, size in messages)

    for chunk in (5, 1 << 20):
        pieces = [data[n : n + chunk] for n in range(0, len(data), chunk)]
        parts = [*split(data[:LONGEST_SEPARATOR], pieces)]
        joined = b"".join(
            part.blank + part.line if isinstance(part, Opening) else part
            for part in parts
            if not isinstance(part, Pause)
        )
        assert joined == data


def test_no_more_is_held_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nbtext.sources._content_length.MOST_HELD", 1000)
    data = sized(b"first\n", 10**6) + sized(b"more\n") * 500

    assert len(bodies(data)) == 501
    seen = 0
    for part in split(data[:LONGEST_SEPARATOR], [data]):
        assert isinstance(part, Opening) or len(part) <= 1000  # type: ignore[arg-type]  # no pause here
        seen += isinstance(part, Opening)
    assert seen == 501


# --- MMDF -------------------------------------------------------------------


@pytest.mark.parametrize("where", ["named", "in a folder", "compressed"])
def test_a_mailbox_of_another_kind_is_refused(tmp_path: Path, where: str) -> None:
    data = b"\1\1\1\1\nFrom: a\n\nb\n\1\1\1\1\n" * 2
    path = tmp_path / "box"
    path.write_bytes(gzip.compress(data) if where == "compressed" else data)

    source = path if where == "named" else tmp_path
    with pytest.raises(SourceError, match="the kind MMDF found, which is not read"):
        list(read_documents([str(source)]))


def test_what_is_refused_does_not_end_what_others_give(tmp_path: Path) -> None:
    (tmp_path / "box").write_bytes(b"\1\1\1\1\nFrom: a\n")
    stdin = BytesIO(b"\1\1\1\1\n")
    sources = [str(tmp_path / "box"), "-"]

    items = [*documents(sources, Options(), labelled=False, stdin=stdin)]
    as_mail = documents(["-"], Options(format="mail"), labelled=False, stdin=stdin)

    assert [type(item) for item in items] == [Unreadable, Unreadable]
    assert not any(isinstance(item, Unreadable) for item in as_mail)
