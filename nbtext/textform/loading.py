"""
Loading: the text form of a model becomes a model, or is refused.

Lines go in, a model in memory comes out, once all of them are verified.
docs/text-form.md is the specification, `nbtext.textform.dumping` writes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from nbtext.counts import Calibration, CountTable
from nbtext.scoring.models.registry import keeps_histograms
from nbtext.store import Contents
from nbtext.textform.corrections import CorrectionLines
from nbtext.textform.counts import LedgerLines, TermLines
from nbtext.textform.header import read_text_header
from nbtext.textform.lines import TextLines, keys_of, shown
from nbtext.textform.records import RecordLines

END: Final = keys_of("lines")
NEXT: Final = "a term, a document, an undo record or the last line"
KINDS: Final = ("term", "corrected", "document", "amounts", "undo", "more")
"""What the lines have between the first and the last one, in their order."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """
    What was loaded.

    Attributes:
        contents: the model.
        terms: how many distinct terms, over all views.
        lines: how many lines the text has.
    """

    contents: Contents
    terms: int
    lines: int


def load_text(stream: BinaryIO, name: str) -> Loaded:
    """
    Read the text form of a model.

    Raises:
        TextFormError: it is not one, or is damaged.
        ModelVersionError: it has the tokens of another nbtext.
    """
    lines = TextLines(stream, name)
    header = read_text_header(lines)
    terms = TermLines(lines, header)
    ledger = LedgerLines(lines, header)
    correction = CorrectionLines(lines, header, ledger)
    records = RecordLines(lines, header, ledger)
    line = lines.take(NEXT)
    for keys, add in (
        ({"term"}, terms.add),
        ({"corrected"}, correction.add_values),
        ({"document"}, ledger.add),
        ({"amounts"}, correction.add_amounts),
        ({"undo", "more"}, records.add),
    ):
        while not keys.isdisjoint(line):
            add(line)
            line = lines.take(NEXT)
    records.close()
    _check_end(lines, line)
    counts = CountTable(
        settings=header.settings,
        classes=header.classes,
        documents=header.documents,
        runs=terms.runs(),
        ledger=ledger.runs(),
    )
    contents = Contents(
        counts=counts,
        scoring=header.scoring,
        calibrations=tuple(map(Calibration.from_dict, header.calibrations)),
        history=header.history,
        records=records.records(),
        correction=correction.correction(),
        keeps_histograms=keeps_histograms(header.scoring),
        policy=header.policy,
        texts=terms.texts(),
    )
    return Loaded(contents, terms.number, lines.number)


def _check_end(lines: TextLines, line: dict[str, Any]) -> None:
    """Refuse a text of which lines are missing, or in another order, or too many."""
    if "lines" not in line:
        found = next((key for key in KINDS if key in line), None)
        what = f"a line with the key {found}" if found else "another object"
        expected = "terms, then documents, then undo records, then the last line"
        raise lines.error(expected, what)
    lines.check_keys(line, END, "the last line")
    if type(line["lines"]) is not int or line["lines"] != lines.number:
        expected = f'"lines": {lines.number}, as many as there are'
        raise lines.error(expected, shown(line["lines"]))
    lines.finish()
