"""
Dumping: a model to text, one JSON object a line.

A model goes in, its lines come out, one by one: the first can be on their way before
the last are made. docs/text-form.md is the specification, `nbtext.textform.loading`
reads it.
"""

from __future__ import annotations

from itertools import pairwise
from json import dumps
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbtext.counts import CountTable, TermTable
    from nbtext.counts.correction_table import Amounts
    from nbtext.counts.texts import TermTexts
    from nbtext.store import Contents, UndoRecords

from nbtext.counts.room import Ranges
from nbtext.counts.table import ledger_rows
from nbtext.counts.texts import NO_TEXTS
from nbtext.errors import ModelFileError
from nbtext.store.ledger import NO_BIN
from nbtext.textform.header import first_line
from nbtext.textform.lines import KEY_DIGITS, LONGEST, NUMBER_DIGITS
from nbtext.textform.texts import plain_text

STRETCH: Final = 4096
"""Number of terms, or of rows of the ledger, turned into Python values at a time."""

PART: Final = 1 << 16
"""Maximum terms of one document in a line; the others follow in more lines."""


def text_lines(contents: Contents, name: str) -> Iterator[str]:
    """
    Yield the text form of a model, line by line, without line ends.

    Raises:
        ModelFileError: a line would be too long to be read again.
    """
    number = 0
    for number, line in enumerate(_lines(contents), 1):
        if len(line) > LONGEST // 4 and len(line.encode()) >= LONGEST:
            message = (
                f"{name}: line {number} of its text would be longer than "
                f"{LONGEST:,} bytes; are the names of its classes whole documents?"
            )
            raise ModelFileError(message)
        yield line
    yield _as_line({"lines": number + 1})


def _lines(contents: Contents) -> Iterator[str]:
    contents = contents.arranged()
    counts, correction = contents.counts, contents.correction
    terms = contents.terms_by_view()
    yield _as_line(first_line(contents.header()))
    names = [_as_line(name) for name in counts.classes]
    texts = contents.texts or [NO_TEXTS for _ in terms]
    for view, of_view, named in zip(counts.settings.views, terms, texts, strict=True):
        yield from _term_lines(view.name, of_view, names, named)
    if correction is not None:
        for view, values in zip(counts.settings.views, correction.terms, strict=True):
            yield from _value_lines(view.name, values, names)
    yield from _ledger_lines(counts, names)
    if correction is not None:
        yield from _amount_lines(correction.amounts, names)
    yield from _record_lines(contents.records, counts)


def _as_line(value: Any) -> str:
    """Return JSON without any character that a program may take for a line end."""
    line = dumps(value, ensure_ascii=False, separators=(",", ":"))
    return line if line.isprintable() else dumps(value, separators=(",", ":"))


def _term_lines(
    view: str, terms: TermTable, names: list[str], texts: TermTexts
) -> Iterator[str]:
    """Yield a line for each term of a view; names are those of the classes in JSON."""
    row_of = ",".join(["%d"] * len(terms.columns))
    text_of = dict(zip(texts.keys.tolist(), texts.each(), strict=True))
    for key, of_term in _terms(terms, names, f"[{row_of}]"):
        text = text_of.get(key)
        named = "" if text is None else f',"text":{_as_line(plain_text(text))}'
        yield (
            f'{{"term":"{key:012x}","view":{_as_line(view)},"counts":{{{of_term}}}'
            f"{named}}}"
        )


def _value_lines(view: str, values: TermTable, names: list[str]) -> Iterator[str]:
    """Yield a line for each term of the correction of a view."""
    for key, of_term in _terms(values, names, "%d"):
        yield (
            f'{{"corrected":"{key:012x}","view":{_as_line(view)},'
            f'"values":{{{of_term}}}}}'
        )


def _terms(
    terms: TermTable, names: list[str], row_of: str
) -> Iterator[tuple[int, str]]:
    """Yield the key of each term, and its rows by class, as JSON."""
    working = Ranges([terms.keys, terms.starts, terms.classes, *terms.columns])
    for start in range(0, terms.n_terms, STRETCH):
        end = min(start + STRETCH, terms.n_terms)
        keys = terms.keys[start:end].tolist()
        bounds = terms.starts[start : end + 1].tolist()
        part = slice(bounds[0], bounds[-1])
        rows = zip(*(column[part].tolist() for column in terms.columns), strict=True)
        classes = terms.classes[part].tolist()
        counts = [
            f"{names[place]}:{row_of % row}"
            for place, row in zip(classes, rows, strict=True)
        ]
        places = [bound - bounds[0] for bound in bounds]
        for key, begin, stop in zip(keys, places, places[1:], strict=False):
            yield key, ",".join(counts[begin:stop])
        working.done(terms.keys.itemsize * (len(keys) + len(classes)))


def _ledger_lines(table: CountTable, names: list[str]) -> Iterator[str]:
    """Yield a line for each row of the ledger, sorted as in a model file."""
    for part in ledger_rows(table.ledger):
        for start in range(0, len(part[0]), STRETCH):
            some = (column[start : start + STRETCH].tolist() for column in part)
            for (high, low, mark), place, count in zip(*some, strict=True):
                yield (
                    f'{{"document":"{high:016x}{low:016x}","class":{names[place]},'
                    f'"fingerprint":"{mark:016x}","count":{count}}}'
                )


def _amount_lines(amounts: Amounts, names: list[str]) -> Iterator[str]:
    """Yield a line for each document of a correction, sorted as in a model file."""
    starts = amounts.starts()
    for start, end in pairwise([*starts.tolist(), len(amounts)]):
        high, low, mark = amounts.entries[start].tolist()
        of_document = ",".join(
            f"{names[place]}:{value}"
            for place, value in zip(
                amounts.classes[start:end].tolist(),
                amounts.values[start:end].tolist(),
                strict=True,
            )
        )
        yield (
            f'{{"amounts":"{high:016x}{low:016x}",'
            f'"class":{names[amounts.labels[start]]},'
            f'"fingerprint":"{mark:016x}","values":{{{of_document}}}}}'
        )


def _record_lines(records: UndoRecords, table: CountTable) -> Iterator[str]:
    """Yield what the last documents left: a line for each, and more for long ones."""
    views = {
        view.name: NUMBER_DIGITS if view.kind == "number" else KEY_DIGITS
        for view in table.settings.views
    }
    for place, (digest, row) in enumerate(
        zip(records.digests, records.rows, strict=True)
    ):
        bags = (terms.bag(place) for terms in records.views)
        first, *more = _parts(dict(zip(views, bags, strict=True)), views)
        bins = [None if bin_ == NO_BIN else bin_ for bin_ in records.bins[place]]
        yield _as_line(
            {
                "undo": digest.hex(),
                "class": row.label,
                "fingerprint": f"{row.fingerprint:016x}",
                "bins": bins if any(bin_ is not None for bin_ in bins) else [],
                "terms": first,
            }
        )
        for part in more:
            yield _as_line({"more": part})


def _parts(
    terms: dict[str, dict[int, int]], digits: dict[str, int]
) -> Iterator[dict[str, dict[str, int]]]:
    """Yield the terms of a document, by view, at most PART at a time."""
    part: dict[str, dict[str, int]] = {view: {} for view in terms}
    room = PART
    for view, of_view in terms.items():
        for key, count in of_view.items():
            if not room:
                yield part
                part, room = {}, PART
            part.setdefault(view, {})[f"{key:0{digits[view]}x}"] = count
            room -= 1
    yield part
