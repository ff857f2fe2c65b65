"""The same complaint is made once, and counted."""

from pathlib import Path

import pytest

from nbtext.document import MOST_NAMED, Document, Item, Skipped, Unreadable
from nbtext.errors import MissingSourceError, SourceError
from nbtext.sources import Options, _csv
from nbtext.sources._complaints import MOST_REASONS
from tests.items import errors, read

NEVER_CLOSED = "a quote that is never closed; close it, or double it"


def items_of(data: bytes, form: str) -> list[Item]:
    return read(stdin=data, options=Options(format=form))


def test_one_quote_that_opens_every_line_is_one_complaint_and_a_count() -> None:
    items = items_of(b"label,text\n" + b'x"y,"z\n' * 1000, "csv")

    assert errors(items) == [
        f"-:1: {NEVER_CLOSED}",
        f"-: 999 more records (2, 3, 4, ... 1000): {NEVER_CLOSED}",
    ]
    assert sum(item.documents for item in items if isinstance(item, Unreadable)) == 1000


def test_quotes_that_are_not_closed_take_time_in_proportion_to_the_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at = 0
    closing_quote = _csv._closing_quote

    def counting(line: bytes, start: int) -> int:
        nonlocal looked_at
        looked_at += 1
        return closing_quote(line, start)

    monkeypatch.setattr(_csv, "_closing_quote", counting)
    n_lines = 1000
    items_of(b"label,text\n" + b'x"y,"z\n' * n_lines, "csv")

    assert looked_at <= 4 * n_lines


def test_a_few_repeats_are_listed_and_documents_between_them_are_there() -> None:
    rows = [b"{}", b'{"text": "a"}', b"{}", b"[]", b'{"text": "b"}', b"{}"]

    items = items_of(b"\n".join(rows), "jsonl")

    assert [item.texts for item in items if isinstance(item, Document)] == [
        (b"a",), (b"b",)
    ]  # fmt: skip
    first, other, repeats = errors(items)
    assert first.startswith("-:1: no column text, ")
    assert other.startswith("-:4: an object was expected, ")
    assert repeats.startswith("-: 2 more records (3, 6): no column text, ")


def test_not_any_number_of_reasons_is_told_apart() -> None:
    rows = [b" " * number + b"{" for number in range(100)]

    items = items_of(b"\n".join(rows), "jsonl")

    *named, last = errors(items)
    assert len(named) == MOST_REASONS
    assert last.startswith(
        f"-: {100 - MOST_REASONS} more records (21, 22, 23, ... 100)"
    )


def test_complaints_before_a_source_is_given_up_are_counted_too() -> None:
    items = items_of(b'x"y,"z\n' * 3 + b"a,b,c\n", "csv")

    *of_records, of_source = errors(items)
    assert len(of_records) == 2
    assert of_source.startswith("-: no column text")


def test_lines_of_an_index_that_are_none_are_counted(tmp_path: Path) -> None:
    index = tmp_path / "index"
    index.write_text("spam\n" * 50)

    items = read(index, labelled=True, options=Options(format="index"))

    first, rest = errors(items)
    assert first.startswith(f"{index}:1: a label and a path were expected")
    assert rest.startswith(f"{index}: 49 more records (2, 3, 4, ... 50): a label")


def test_only_the_first_documents_that_cannot_be_read_are_kept_by_name() -> None:
    skipped = Skipped()
    for number in range(MOST_NAMED):
        assert skipped.add(Unreadable(f"{number}", SourceError(f"{number}: no")))
    assert not skipped.unnamed

    assert not skipped.add(Unreadable("x", MissingSourceError("x: not there")))
    assert not skipped.add(Unreadable("x", SourceError("x: 7 more"), 7))

    assert skipped.documents == MOST_NAMED + 8
    assert repr(skipped) == "<Skipped: 1,008 documents>"
    assert [str(problem.error) for problem in skipped.unnamed] == [
        "1 more that do not exist",
        "7 more that cannot be read",
    ]
    together = Skipped()
    together.extend(skipped)
    together.extend(skipped)
    assert together.documents == 2 * skipped.documents
    assert len(list(together)) == MOST_NAMED + 2
