"""
What a model file keeps for calibration: the sums of its tables, and what was fitted.

An open model file goes in. Only the standard library is used: one message asks here for
the fit, which the last table has where nothing was moved or joined.
"""

from collections.abc import Iterable, Sequence

from nbtext.counts import Calibration, Fit, stored_fit
from nbtext.counts.calibration import totals
from nbtext.counts.fitting import chosen
from nbtext.settings.scoring import Scoring
from nbtext.store.file import ModelFile
from nbtext.store.table import StoredTable


def calibrations_of(tables: Iterable[StoredTable]) -> tuple[Calibration, ...]:
    """
    Return the sums of what tables keep for calibration, one for each scoring.

    Raises:
        DamagedError: one of them keeps something else.
    """
    by_table: list[list[Calibration]] = []
    for table in tables:
        try:
            plain = table.header.calibrations
            by_table.append([*map(Calibration.from_dict, plain)])
        except ValueError as error:
            raise table.damaged(str(error)) from error
    return totals(by_table)


def scoring_of(file: ModelFile, classes: Sequence[str]) -> Scoring:
    """
    Return how a file asks to be scored.

    Where tables were moved or joined, all that was held out chooses among candidates;
    otherwise the last table knows the others. A correction stays with its scoring, but
    not where a class was learnt that its event model cannot have.

    Raises:
        DamagedError: a table keeps something else for calibration.
    """
    for header in (table.header for table in file.tables):
        is_whole = header.correction is not None and header.correction.is_whole
        if is_whole and header.scoring.score == file.scoring.score:
            return header.scoring
    if file.is_in_order:
        return file.scoring
    return chosen(file.scoring, calibrations_of(file.tables), classes)


def last_fit(file: ModelFile) -> Fit | None:
    """
    Return what was fitted to the calibration that the last table's scoring has in all.

    Returns:
        None if nothing was, or if tables were moved or joined since.

    Raises:
        DamagedError: it is something else.
    """
    last = file.tables[-1]
    if not file.is_in_order:
        return None
    for plain in last.header.calibrations:
        if plain.get("scoring") == file.scoring.of_scores():
            try:
                return stored_fit(plain)
            except ValueError as error:
                raise last.damaged(str(error)) from error
    return None
