"""
Laws of the sources, for any bytes.

An mbox that is joined splits into the messages it was joined from; CSV is read as the
standard library reads it; a record gives an item, and one item only; and no bytes in
any format or compression raise.
"""

import bz2
import csv
import gzip
import io
import json
import lzma
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from nbtext.byte_order import unmarked_codec
from nbtext.document import Document, Item, Note, Pause, Unreadable
from nbtext.sources import FORMATS, Options, documents
from nbtext.sources._csv import csv_records
from nbtext.sources._stream import Stream
from nbtext.sources.json_array import array_records
from nbtext.sources.mbox import messages

FROM_LINE = b"From a@b Tue Jun 14 19:52:09 2005\n"

mail_lines = st.lists(
    st.sampled_from(
        [b"", b"\r", b"x", b"From ", FROM_LINE[:-1], b">" + FROM_LINE[:-1], b">>From y"]
    )
    | st.binary(max_size=12).map(lambda line: line.replace(b"\n", b""))
).map(lambda lines: b"".join(line + b"\n" for line in lines))


class Pieces:
    """A source that gives its bytes in pieces of one size."""

    def __init__(self, data: bytes, size: int) -> None:
        self._file = io.BytesIO(data)
        self._size = size

    def read(self) -> bytes:
        return self._file.read(self._size)

    def would_block(self) -> bool:
        return False

    def close(self) -> None:
        pass


def read(data: bytes, options: Options, *, labelled: bool) -> list[Item]:
    items = documents(["-"], options, labelled=labelled, stdin=io.BytesIO(data))
    return [item for item in items if not isinstance(item, Note)]


@given(st.lists(mail_lines, max_size=4), st.integers(1, 700))
@example([b"\n" * 600, b"x\n" * 400], 100)
def test_an_mbox_splits_into_what_it_was_joined_from(
    mails: list[bytes], size: int
) -> None:
    quoted = (re.sub(rb"(?m)^(>*From )", rb">\1", mail) for mail in mails)
    data = b"".join(FROM_LINE + mail + b"\n" for mail in quoted)

    found = [
        message[0]
        for message in messages(Stream("x", Pieces(data, size)), 10**6)
        if not isinstance(message, Pause)
    ]

    assert found == mails


@given(st.text(alphabet='ab,"\n', max_size=40))
def test_csv_is_read_as_the_standard_library_reads_it(text: str) -> None:
    try:
        expected = [row for row in csv.reader(io.StringIO(text), strict=False) if row]
    except csv.Error:
        return
    lines = text.encode().split(b"\n")
    if not lines[-1]:
        lines.pop()

    records = list(csv_records(iter(lines), 10**6))

    # The library takes what follows a quote that is never closed for one field.
    if all(isinstance(record, list) for record in records):
        assert records == [[field.encode() for field in row] for row in expected]


@given(st.lists(st.lists(st.binary(max_size=9), min_size=2, max_size=2)))
def test_csv_gives_back_what_was_written(rows: list[list[bytes]]) -> None:
    data = b"label,text\r\n" + b"".join(
        b",".join(b'"' + field.replace(b'"', b'""') + b'"' for field in row) + b"\r\n"
        for row in rows
    )

    # bytes with NULs in a pattern are refused as UTF-16
    assume(unmarked_codec(data) is None)

    items = read(data, Options(format="csv"), labelled=False)

    assert [getattr(item, "texts", None) for item in items] == [
        (text,) for _, text in rows
    ]


@given(st.lists(st.dictionaries(st.sampled_from(["text", "label", "x"]), st.text())))
def test_a_json_line_gives_a_document_or_a_complaint(
    rows: list[dict[str, str]],
) -> None:
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()

    items = read(data, Options(format="jsonl"), labelled=False)

    assert [item.name for item in items if isinstance(item, Document)] == [
        f"-:{number}" for number, row in enumerate(rows, 1) if "text" in row
    ]
    failures = [item for item in items if isinstance(item, Unreadable)]
    # the first, which says what there is; the next, and how many more there are
    assert len(failures) <= 3
    assert sum(failure.documents for failure in failures) == sum(
        "text" not in row for row in rows
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=6,
)


def records_of(data: bytes, size: int) -> list[object]:
    """Return what an array that comes in pieces holds."""
    return [*array_records(Stream("x", Pieces(data, size)), 10**6)]


@given(
    st.lists(st.dictionaries(st.text(), json_values, min_size=1, max_size=3)),
    st.sampled_from([None, 1]),
    st.booleans(),
    st.integers(1, 40),
)
def test_an_array_of_json_gives_its_objects(
    rows: list[dict[str, Any]], indent: int | None, is_ascii: bool, size: int
) -> None:
    rows = [{"text": "", **row} for row in rows]  # not arrays of documents alone
    text = json.dumps(rows, indent=indent, ensure_ascii=is_ascii)
    data = text.encode("utf-8", "replace")

    assert records_of(data, size) == json.loads(data, parse_int=str)


@given(st.text(alphabet='{}[]",:\\\n a', max_size=40), st.integers(1, 40))
@example('[{"a": "\\\\"}, {"b": "]', 9)
def test_an_array_of_json_is_the_same_however_it_comes(text: str, size: int) -> None:
    data = ("[" + text).encode()

    assert records_of(data, size)[:-1] == records_of(data, len(data))[:-1]


def _as_is(data: bytes) -> bytes:
    return data


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("forced", FORMATS)
@pytest.mark.parametrize(
    "compress",
    [_as_is, gzip.compress, bz2.compress, lzma.compress],
    ids=["plain", "gz", "bz2", "xz"],
)
@settings(max_examples=30)
@given(
    data=st.binary(max_size=300)
    | st.text(alphabet='{}[]",:\t\n lab\ud800', max_size=60).map(
        lambda text: text.encode("utf-8", "replace")
    ),
    cut=st.integers(0, 20),
)
def test_no_bytes_raise(
    data: bytes,
    cut: int,
    compress: Callable[[bytes], bytes],
    forced: str,
    labelled: bool,
) -> None:
    packed = compress(data)

    items = read(
        packed[: len(packed) - cut],
        Options(format=forced, max_bytes=50),
        labelled=labelled,
    )

    for item in items:
        assert not isinstance(item, Pause)
        if isinstance(item, Document):
            assert all(len(text) <= 50 for text in item.texts)
        elif isinstance(item, Unreadable):
            assert str(item.error).startswith(item.name)
            assert "; " in str(item.error)
