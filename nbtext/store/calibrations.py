"""
What a model file keeps for calibration: the sum of its tables, and what was fitted.

An open model file goes in. Only the standard library is used: one message asks here for
the fit, which the last table has where nothing was moved or joined.
"""

from collections.abc import Iterable

from nbtext.counts import Calibration, Fit, stored_fit
from nbtext.counts.calibration import total
from nbtext.errors import DamagedError
from nbtext.store.file import ModelFile
from nbtext.store.table import StoredTable


def calibration_of(path: str, tables: Iterable[StoredTable]) -> Calibration:
    """
    Return the sum of what tables keep for calibration.

    Raises:
        DamagedError: one of them keeps something else.

    """
    calibrations: list[Calibration] = []
    for table in tables:
        try:
            calibrations += map(Calibration.from_dict, table.header.calibrations)
        except ValueError as error:
            raise DamagedError(path, table.offset, str(error)) from error
    return total(calibrations)


def last_fit(file: ModelFile) -> Fit | None:
    """
    Return what was fitted to the calibration of all tables of a file.

    Returns:
        None if nothing was, or if tables were moved or joined since.

    Raises:
        DamagedError: it is something else.

    """
    last = file.tables[-1]
    if not file.is_in_order:
        return None
    for plain in last.header.calibrations:
        if plain.get("scoring") == file.scoring.as_dict():
            try:
                return stored_fit(plain)
            except ValueError as error:
                raise DamagedError(file.path, last.offset, str(error)) from error
    return None
