"""Loading a text form says in which line what was expected, and what was found."""

import io
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from nbtext import learn, train_on
from nbtext.errors import ModelVersionError, TextFormError
from nbtext.store import open_model, read_contents
from nbtext.textform import Loaded, load_text, text_lines
from nbtext.textform import lines as textlines
from tests.build import FEW_TERMS

Line: TypeAlias = dict[str, Any]
Change: TypeAlias = Callable[[Line], object]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A header, 7 terms, 3 documents, 1 undo record and the last line: 13 lines."""
    path = tmp_path_factory.mktemp("model") / "m.nbt"
    train_on(
        [("ham", "lunch on friday"), ("spam", "cheap cheap")],
        str(path),
        overrides=FEW_TERMS,
    )
    learn(path, "ham", ["lunch"])
    return list(text_lines(read_contents(open_model(str(path))), str(path)))


def load(lines: list[str], end: str = "\n") -> Loaded:
    data = "".join(f"{line}{end}" for line in lines).encode("utf-8", "surrogatepass")
    return load_text(io.BytesIO(data), "a text")


def edited(
    lines: list[str], number: int, change: Callable[[Line], object]
) -> list[str]:
    """Return lines of which one is changed; numbers count from 1."""
    line = json.loads(lines[number - 1])
    change(line)
    return [*lines[: number - 1], json.dumps(line), *lines[number:]]


def put(*path: Any) -> Change:
    """Return what puts the last of some keys, a value, in the place of the others."""

    def change(line: Line) -> None:
        *keys, last, value = path
        place: Any = line
        for key in keys:
            place = place[key]
        place[last] = value

    return change


def drop(*path: Any) -> Change:
    """Return what takes away what the last of some keys leads to."""

    def change(line: Line) -> None:
        *keys, last = path
        place: Any = line
        for key in keys:
            place = place[key]
        del place[last]

    return change


def test_a_text_with_the_tokens_of_another_nbtext_is_not_called_damaged(
    text: list[str],
) -> None:
    with pytest.raises(ModelVersionError, match=r"^a text: its tokens .* table 2 of"):
        load(edited(text, 1, put("settings", "codepoints", 2)))
    for wrong in ("2", True):
        with pytest.raises(TextFormError, match="expected the settings of a model"):
            load(edited(text, 1, put("settings", "codepoints", wrong)))


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        (["more"], 'found another one, "more"'),
        (["history", "more"], 'found another one, "more"'),
        (["settings", "x"], "does not know 'x'"),
        (["scoring", "x"], "does not know 'x'"),
        (["calibrations", 0, "x"], "does not know 'x'"),
    ],
    ids=str,
)
def test_what_another_nbtext_may_know_is_not_to_be_dumped_again(
    keys: list[str | int], found: str, text: list[str]
) -> None:
    with pytest.raises(TextFormError) as refused:
        load(edited(text, 1, put(*keys, 1)))

    message = str(refused.value)
    assert found in message
    assert message.endswith(
        "; nothing was loaded; load it with the nbtext that dumped it, or a newer one"
    )


def complaint(lines: list[str]) -> str:
    with pytest.raises(TextFormError) as refused:
        load(lines)
    message = str(refused.value)
    assert message.endswith("; nothing was loaded; dump the model again")
    return message.removeprefix("a text: ").partition("; nothing was loaded")[0]


HEADER, TERM, TERM_OF_HAM, DOCUMENT, UNDO, END = 1, 2, 5, 9, 12, 13

EDITS = {
    "format": (HEADER, put("format", "x"), '"format": "nbtext model as text"'),
    "version": (HEADER, put("version", 2), '"version": 1'),
    "version true": (HEADER, put("version", True), 'found true'),
    "settings": (HEADER, put("settings", []), "expected the settings of a model"),
    "limit": (HEADER, put("settings", "views", 0, "limit", 2**64), "of 64 bits"),
    "view": (HEADER, put("settings", "views", 0, "name", None), "called None"),
    "some settings": (HEADER, drop("settings", "ledger"), "found no ledger"),
    "scoring": (HEADER, put("scoring", "smoothing", 0), "expected the scoring"),
    "classes": (HEADER, put("classes", ["ham"]), "expected an object as classes"),
    "class": (HEADER, put("classes", "ham", 3), 'object as the class "ham", found 3'),
    "surrogate": (HEADER, put("classes", "\ud800", {}), r'found "\ud800"'),
    "no documents": (
        HEADER,
        put("classes", "x", {"documents": 0, "totals": {"body": [0, 0]}}),
        'classes that have documents or counts, found "x"',
    ),
    "documents": (
        HEADER,
        put("classes", "ham", "documents", 3),
        'expected 2 documents of class "ham", as many as are listed, found 3',
    ),
    "half a document": (HEADER, put("classes", "ham", "documents", 0.5), "found 0.5"),
    "totals": (
        HEADER,
        put("classes", "ham", "totals", "body", [6, 7]),
        'the totals [6, 6] (class "ham", view body), which the terms add up to, '
        "found [6, 7]",
    ),
    "one total": (
        HEADER, put("classes", "ham", "totals", "body", [6]), "a list of 2 numbers",
    ),
    "total of no view": (
        HEADER, put("classes", "ham", "totals", "x", []), "to have the keys body",
    ),
    "calibration": (HEADER, put("calibrations", 0, "losses", [1]), "has 1 losses"),
    "unsorted": (
        HEADER,
        put("calibrations", 0, "counts", [[3, "ham", 1], [1, "ham", 1]]),
        "do not ascend",
    ),
    "history": (HEADER, put("history", "learnt", []), "expected the history"),
    "taught": (HEADER, put("history", "taught", -1), "expected the history"),
    "too few to keep": (HEADER, put("history", "keep", 0), "0 undo records"),
    "upper case": (TERM, put("term", "04F1100796C6"), "12 digits of 0-9a-f"),
    "short key": (TERM, put("term", "04f1"), 'digits of 0-9a-f, found "04f1"'),
    "no view": (TERM, put("view", "x"), 'a view of the first line, found "x"'),
    "view list": (TERM, put("view", ["body"]), "found a list"),
    "no class": (TERM, put("counts", "x", [1, 1]), 'a class of the first line'),
    "no counts": (TERM, put("counts", {}), "found an empty object"),
    "one count": (TERM, put("counts", "ham", [1]), "as [occurrences, documents]"),
    "below zero": (TERM, put("counts", "ham", [1, -1]), "found -1"),
    "true": (TERM, put("counts", "ham", [1, True]), "found true"),
    "float": (TERM, put("counts", "ham", [1, 1.0]), "found 1.0"),
    "zeros": (TERM, put("counts", "ham", [0, 0]), "not all zero"),
    "huge": (TERM, put("counts", "ham", [1, 2**63]), "found 9223372036854775808"),
    "very huge": (TERM, put("counts", "ham", [1, 2**99]), "more than 19 digits"),
    "unsorted terms": (TERM_OF_HAM, put("term", "0" * 12), "sorted, each once"),
    "count of none": (DOCUMENT, put("count", 0), "a count as a number from 1"),
    "class of document": (DOCUMENT, put("class", "x"), "a class of the first line"),
    "fingerprint": (DOCUMENT, put("fingerprint", 12), "found 12"),
    "unsorted documents": (DOCUMENT, put("document", "f" * 32), "documents sorted"),
    "undo of nobody": (UNDO, put("undo", "0" * 32), "one of the documents above"),
    "undo of another": (UNDO, put("class", "spam"), "one of the documents above"),
    "bin": (UNDO, put("bins", [5000]), "a bin, or null,"),
    "two bins": (UNDO, put("bins", [1, 2]), "1 bins, one for each calibration"),
    "no list of bins": (UNDO, put("bins", 3), "or none, found 3"),
    "other terms": (
        UNDO, put("terms", "body", "1535303984bc", 2), "which is that of its terms",
    ),
    "terms": (UNDO, put("terms", []), "an object of terms by view"),
    "terms of view": (UNDO, put("terms", "body", []), "an object of counts by term"),
    "lines": (END, put("lines", 12), '"lines": 13, as many as there are, found 12'),
    "kind": (END, put("count", 12), "the keys lines"),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_what_was_edited_is_named_with_its_line(name: str, text: list[str]) -> None:
    number, change, expected = EDITS[name]
    later = {"unsorted documents": DOCUMENT + 1, "too few to keep": UNDO}

    said = complaint(edited(text, number, change))

    assert said.startswith(f"line {later.get(name, number)}: expected ")
    assert expected in said


def inserted(lines: list[str], place: int, line: str) -> list[str]:
    return [*lines[: place - 1], line, *lines[place - 1 :]]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", "found an empty line"),
        ("[]", "expected a JSON object, found an empty list"),
        ("{", "found what is no JSON (Expecting property name"),
        ('{"term": NaN}', "found what cannot be read (NaN is no JSON)"),
        ('{"term": 1, "term": 1}', "a key stands twice in an object"),
        ("[" * 100_000, "objects or lists in one another too deeply"),
        ('{"term": ' * 100_000, "objects or lists in one another too deeply"),
        ("9" * 5000, "found a number with thousands of digits"),
        ("\udcff", "bytes that are not UTF-8 (byte 1 of the line)"),
        ('{"what": 1}', "found another object"),
        ('{"more": {"body": {}}}', "expected an undo record, found more of none"),
        ('{"lines": 5}', "expected the end, found another line"),
    ],
    ids=lambda value: value[:20],
)
def test_a_line_that_should_not_be_there_is_named(
    line: str, expected: str, text: list[str]
) -> None:
    said = complaint(inserted(text, 5, line))

    assert said.startswith(f"line {6 if 'the end' in expected else 5}: expected ")
    assert expected in said


DEPTHS = [9, 500, *range(900, 1000, 4)]


@pytest.mark.parametrize(
    ("number", "path"),
    [
        (HEADER, ("format",)),
        (HEADER, ("scoring", "score")),
        (HEADER, ("settings", "columns")),
        (HEADER, ("calibrations", 0, "documents", "ham")),
        (HEADER, ("classes", "ham")),
        (TERM, ("counts", "ham")),
        (UNDO, ("terms", "body")),
        (END, ("lines",)),
    ],
    ids=lambda value: ".".join(map(str, value)) if isinstance(value, tuple) else None,
)
def test_no_nesting_is_deep_enough_to_fail(
    number: int, path: tuple[str, ...], text: list[str]
) -> None:
    for depth in DEPTHS:
        lines = edited(text, number, put(*path, "HERE"))
        nested = lines[number - 1].replace('"HERE"', "[" * depth + "]" * depth)
        lines[number - 1] = nested

        assert complaint(lines).startswith(f"line {number}: expected ")


def test_the_first_line_is_no_deeper_than_it_need_be(text: list[str]) -> None:
    lines = edited(text, HEADER, put("scoring", "score", [[[[[[[]]]]]]]))

    assert complaint(lines) == "line 1: expected at most 8 levels, found a deeper one"


def test_a_document_without_ledger_is_refused(text: list[str]) -> None:
    lines = edited(text, HEADER, put("settings", "ledger", False))

    assert complaint(lines).startswith("line 9: expected no documents, since the first")


def test_a_record_that_stands_twice_is_refused(text: list[str]) -> None:
    lines = inserted(text, UNDO, text[UNDO - 1])

    assert complaint(lines).startswith("line 13: expected one of the documents above")


def test_a_term_twice_in_a_record_is_refused(text: list[str]) -> None:
    terms = json.loads(text[UNDO - 1])["terms"]

    said = complaint(inserted(text, END, json.dumps({"more": terms})))

    assert said.startswith("line 13: expected each term of a record once")


def test_two_texts_at_once_are_refused(text: list[str]) -> None:
    said = complaint([*text, *text])

    assert said == (
        "line 14: expected the end, found another line; load one model at a time"
    )


def test_no_text_at_all_is_refused() -> None:
    assert complaint([]) == (
        "line 1: expected the first line of a model as text, "
        "found the end; was the text cut off?"
    )


def test_other_line_ends_and_a_byte_order_mark_are_read(text: list[str]) -> None:
    loaded = load(["\ufeff" + text[0], *text[1:]], end="\r\n")

    assert (loaded.lines, loaded.terms, len(loaded.contents.records)) == (13, 7, 1)
    assert loaded.contents.counts.documents == (2, 1)


def test_the_last_line_may_lack_its_end(text: list[str]) -> None:
    data = "\n".join(text).encode()

    assert load_text(io.BytesIO(data), "a text").lines == 13


def test_keys_may_stand_in_any_order_and_with_spaces(text: list[str]) -> None:
    lines = [json.dumps(json.loads(line), sort_keys=True) for line in text]
    assert lines != text

    assert load(lines).terms == 7


def test_sums_that_64_bits_do_not_hold_are_refused(text: list[str]) -> None:
    lines = edited(text, TERM, put("counts", "ham", [2**63 - 1, 1]))
    lines = edited(lines, TERM_OF_HAM, put("counts", "ham", [2**63 - 1, 2]))

    assert f"the totals [{2**64 + 1}, 6]" in complaint(lines)


@pytest.mark.parametrize("start", ["", '{"term":"', "[" * 500])
def test_a_long_line_is_refused_in_bounded_memory(start: str) -> None:
    data = io.BytesIO(start.encode() + b"x" * (textlines.LONGEST + 10))
    tracemalloc.start()

    try:
        with pytest.raises(TextFormError, match="expected at most 33,554,432 bytes"):
            load_text(data, "a text")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 3 * textlines.LONGEST


def test_a_line_of_many_objects_is_refused_before_it_is_read() -> None:
    data = io.BytesIO(b"[" + b"{}," * (textlines.MOST_PARTS + 1) + b"{}]\n")

    with pytest.raises(TextFormError, match="at most 1,048,576 objects and lists"):
        load_text(data, "a text")


def test_loading_takes_no_file(text: list[str], tmp_path: Path) -> None:
    pieces = load(text).contents.pack()
    path = tmp_path / "m.nbt"
    path.write_bytes(b"".join(map(bytes, pieces)))

    assert list(text_lines(read_contents(open_model(str(path))), str(path))) == text
