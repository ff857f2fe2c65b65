"""Arrays of JSON: an object in one is a document, however its bytes come."""

import gzip
import json
import os
import tracemalloc
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from nbtext.document import Document, Item, Unreadable
from nbtext.sources import Options, documents
from tests.items import errors, read

TWO = b'[{"text": "a", "label": "x"},\n {"text": "b", "label": "y"}]\n'
GOOD = b'{"text": "good"}'


def items(data: bytes, form: str = "jsonl", **said: Any) -> list[Item]:
    return read("-", stdin=data, options=Options(format=form, **said))


def texts(found: list[Item]) -> list[bytes]:
    return [item.texts[0] for item in found if isinstance(item, Document)]


@pytest.mark.parametrize("form", ["auto", "jsonl"])
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(TWO, id="a line each"),
        pytest.param(TWO.replace(b"\n", b""), id="one line"),
        pytest.param(b"\xef\xbb\xbf" + TWO, id="byte order mark"),
        pytest.param(json.dumps(json.loads(TWO), indent=2).encode(), id="indented"),
        pytest.param(b" \r\n[\r\n" + TWO[1:], id="blank lines"),
        pytest.param(TWO.replace(b"}]", b"},\n]"), id="a comma behind the last"),
        pytest.param(TWO.decode().encode("utf-16"), id="UTF-16"),
        pytest.param(gzip.compress(TWO), id="gzip"),
    ],
)
def test_each_object_of_an_array_is_a_document(data: bytes, form: str) -> None:
    found = read("-", labelled=True, stdin=data, options=Options(format=form))

    assert texts(found) == [b"a", b"b"]
    assert [(item.name, item.label) for item in found if isinstance(item, Document)] \
        == [("-:1", "x"), ("-:2", "y")]  # fmt: skip


def test_a_file_that_is_called_json_may_be_an_array(tmp_path: Path) -> None:
    path = tmp_path / "spam.json"
    path.write_bytes(TWO)

    assert texts(read(str(path))) == [b"a", b"b"]
    path.write_bytes(b"[]\n")
    assert texts(read(str(path))) == []


@pytest.mark.parametrize(
    "data",
    [
        b"[1] see the notes", b"[{x}] is a set\n", b'[{"a": 1', b'[{"a" is missing}]',
        b"[\n", b"[{", b"[", b"[]", b'[["a"]]', b'[\n"a",\n"b"]',
    ],
)  # fmt: skip
def test_a_text_that_begins_with_a_bracket_is_one(data: bytes) -> None:
    assert texts(items(data, "auto")) == [data]


@pytest.mark.parametrize(
    ("element", "reason"),
    [
        pytest.param(b"1", "an object was expected", id="number"),
        pytest.param(b"null", "an object was expected", id="null"),
        pytest.param(b'["a", "x"]', "an array found; `jq -c '.[] | {text: ", id="pair"),
        pytest.param(b"", "not JSON (Expecting value: line 3, byte 21)", id="nothing"),
        pytest.param(b'{"text" "a"}', "not JSON (Expecting ':' delimiter: line 4, byte "
                     "30)", id="no colon"),
        pytest.param(b'{"text": "a\n"}', "Invalid control character", id="a line end"),
        pytest.param(GOOD * 2, "not JSON (Extra data: line 4, byte 38)", id="no comma"),
        pytest.param(b"[" * 99_999 + b"]" * 99_999, "not JSON", id="nested"),
        pytest.param(b'{"text": [}]', "not JSON", id="crossed brackets"),
        pytest.param(b"}", "not JSON", id="a bracket too many"),
        pytest.param(b'{"a": "b"}', "no column text, body", id="no text"),
        pytest.param(b'{"text": "' + b"x" * 2**21 + b'"}', "too long", id="too long"),
        pytest.param(b'{"text": ' + b"9" * 5000 + b', "a"}', "not JSON", id="digits"),
    ],
)  # fmt: skip
def test_a_bad_element_is_named_and_the_rest_goes_on(
    element: bytes, reason: str
) -> None:
    found = items(b"[\n%b,\n%b,\n%b]" % (GOOD, element and b"\n" + element, GOOD),
                  max_bytes=100)  # fmt: skip

    first, bad, last = found
    assert texts([first, last]) == [b"good"] * 2
    assert isinstance(bad, Unreadable)
    assert bad.name == "-:2"
    assert str(bad.error).startswith("-:2: ")
    assert reason in str(bad.error)


def test_numbers_stay_as_they_are_written() -> None:
    found = items(b'[{"text": 1.50}, {"text": %b}]' % (b"9" * 9999))

    assert texts(found) == [b"1.50", b"9" * 9999]


@pytest.mark.parametrize(
    ("end", "where"),
    [
        (b"", "behind its record 1 (line 1, byte 18); bring the rest of the file"),
        (b",\n", "behind its record 1 (line 1, byte 19)"),
        (b',\n{"text": "a"', "within its record 2 (line 1, byte 19)"),
        (b',\n{"text": "a}\n, {"text": "b"}]', "within its record 2 (line 1, byte 19)"),
        (b"]\n[", "nothing was expected behind the array, and [ found (line 2, byte "),
        (b"] x", "nothing was expected behind the array, and x found (line 1, byte 20"),
    ],
)
def test_an_array_that_does_not_end_loses_nothing_before(
    end: bytes, where: str
) -> None:
    data = b"[" + GOOD + end
    first, bad = items(data)

    assert texts([first]) == [b"good"]
    assert isinstance(bad, Unreadable)
    assert bad.name == "-:2"
    assert where in str(bad.error)
    data = data.replace(b'"good"', b'"good", "label": "x"')  # which is looked for
    labelled = read("-", labelled=True, stdin=data, options=Options(format="jsonl"))
    assert texts(labelled) == [b"good"]


def test_an_array_whose_compressed_data_end_is_told_once() -> None:
    data = b"[" + b",".join(GOOD for _ in range(9999)) + b"]"

    found = items(gzip.compress(data)[:-9])

    assert len(errors(found)) == 1
    assert len(texts(found)) > 9000


@pytest.mark.parametrize("inside", [b'"' + b"x" * 2**24 + b'"', b"[{" * 2**23])
def test_an_element_that_is_too_long_takes_bounded_memory(
    tmp_path: Path, inside: bytes
) -> None:
    path = tmp_path / "long.json"
    path.write_bytes(b'[{"text": "a"}, {"text": ' + inside + b"}]")

    tracemalloc.start()
    try:
        found = read(str(path), options=Options(max_bytes=100))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert texts(found) == [b"a"]
    assert len(errors(found)) == 1
    assert peak < 2**23


@pytest.mark.parametrize("form", ["auto", "jsonl"])
def test_an_answer_is_not_awaited_for_more_than_an_object(form: str) -> None:
    reader, writer = os.pipe()
    os.write(writer, b'[{"text": "a"},\n')

    with os.fdopen(reader, "rb") as file, os.fdopen(writer, "wb") as end:
        options = Options(format=form)
        found = documents(["-"], options, labelled=False, stdin=file)
        first = next(item for item in found if isinstance(item, Document))
        end.write(b"]")

    assert first.texts == (b"a",)


def test_an_array_whose_first_object_comes_in_pieces_is_known_all_the_same() -> None:
    reader, writer = os.pipe()

    def write_slowly() -> None:
        with os.fdopen(writer, "wb", buffering=0) as end:
            for byte in json.dumps(json.loads(TWO), indent=2).encode():
                end.write(bytes([byte]))

    thread = Thread(target=write_slowly)
    thread.start()
    with os.fdopen(reader, "rb") as file:
        found = [*documents(["-"], Options(), labelled=False, stdin=file)]
    thread.join()

    assert texts(found) == [b"a", b"b"]
