"""
Loading: the text form of a model becomes a model, or is refused.

Lines go in, the bytes of a model come out, once all of them are verified.
docs/text-form.md is the specification, `nbtext.textform.dumping` writes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Final

if TYPE_CHECKING:
    from nbtext.counts.calibration import Calibration
    from nbtext.settings import Scoring
    from nbtext.store.header import History
    from nbtext.store.table import Buffer
    from nbtext.store.undo import Records

from nbtext.counts.table import CountTable
from nbtext.store.header import WRITER, now
from nbtext.store.packing import pack_table
from nbtext.textform.counts import LedgerLines, TermLines
from nbtext.textform.header import read_text_header
from nbtext.textform.lines import TextLines, keys_of, shown
from nbtext.textform.records import RecordLines

END: Final = keys_of("lines")
NEXT: Final = "a term, a document, an undo record or the last line"


@dataclass(frozen=True, slots=True)
class Loaded:
    """
    What was loaded.

    Attributes:
        table: the counts.
        scoring: how they ask to be scored.
        calibration: what held-out documents scored.
        history: how the model came to be.
        records: what the last documents left, to be undone.
        terms: how many distinct terms, over all views.
        lines: how many lines the text has.
    """

    table: CountTable
    scoring: Scoring
    calibration: Calibration
    history: History
    records: Records
    terms: int
    lines: int

    def pack(self) -> list[Buffer]:
        """Return the bytes of the model, in pieces, ready for `replace_model`."""
        return pack_table(
            self.table,
            scoring=self.scoring,
            calibration=self.calibration.as_dict(),
            written=now(),
            writer=WRITER,
            history=self.history,
            records=self.records,
        )


def load_text(stream: BinaryIO, name: str) -> Loaded:
    """
    Read the text form of a model.

    Args:
        stream: its bytes.
        name: what it is called in messages.

    Raises:
        TextFormError: it is not one, or is damaged.

    """
    lines = TextLines(stream, name)
    header = read_text_header(lines)
    terms = TermLines(lines, header)
    ledger = LedgerLines(lines, header)
    records = RecordLines(lines, header, ledger)
    line = lines.take(NEXT)
    while "term" in line:
        terms.add(line)
        line = lines.take(NEXT)
    while "document" in line:
        ledger.add(line)
        line = lines.take(NEXT)
    while "undo" in line or "more" in line:
        records.add(line)
        line = lines.take(NEXT)
    records.close()
    _check_end(lines, line)
    return Loaded(
        table=CountTable(
            settings=header.settings,
            classes=header.classes,
            documents=header.documents,
            runs=terms.runs(),
            ledger=ledger.runs(),
        ),
        scoring=header.scoring,
        calibration=header.calibration,
        history=header.history,
        records=records.records(),
        terms=terms.number,
        lines=lines.number,
    )


def _check_end(lines: TextLines, line: dict[str, Any]) -> None:
    """Refuse a text of which lines are missing, or in another order, or too many."""
    if "lines" not in line:
        keys = ("term", "document", "undo", "more")
        found = next((key for key in keys if key in line), None)
        what = f"a line with the key {found}" if found else "another object"
        expected = "terms, then documents, then undo records, then the last line"
        raise lines.error(expected, what)
    lines.check_keys(line, END, "the last line")
    if type(line["lines"]) is not int or line["lines"] != lines.number:
        expected = f'"lines": {lines.number}, as many as there are'
        raise lines.error(expected, shown(line["lines"]))
    lines.finish()
