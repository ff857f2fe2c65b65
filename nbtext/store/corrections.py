"""
The correction of a model file: the sum of what its tables hold of it.

An open model file goes in, and the correction comes out, in arrays; `nbtext.scoring`
looks the values of one message up in place.
"""

from __future__ import annotations

from _blake2 import blake2b  # hashlib would load OpenSSL too, for 2 ms
from typing import TYPE_CHECKING, Any

import msgpack
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nbtext.counts.correction_table import Correction
    from nbtext.store.file import ModelFile
    from nbtext.store.table import StoredTable

from nbtext.counts.correction import IDENTITY_SIZE
from nbtext.errors import DamagedError, SettingsError
from nbtext.store.packing import unpack_correction


def read_correction(
    file: ModelFile, tables: Sequence[StoredTable] | None = None
) -> Correction | None:
    """
    Return the correction of a model, None if it has none.

    Args:
        file: the model.
        tables: those behind its first whose changes are wanted; all tables if None.

    Raises:
        NotAModelError: the file is damaged.
    """
    parts = [
        unpack_correction(table)
        for table in (file.tables if tables is None else tables)
    ]
    if not any(parts):
        return None
    from nbtext.counts.correction_table import add_corrections  # few models have any

    try:
        return add_corrections(parts, are_changes=tables is not None)
    except SettingsError as error:
        raise DamagedError(file.path, 0, str(error)) from error


def named(correction: Correction) -> Correction:
    """Return a correction with an identity: a hash of what it is, if it has none."""
    info = correction.info
    if info.identity:
        return correction
    digest = blake2b(digest_size=IDENTITY_SIZE)
    biases = correction.biases
    digest.update(msgpack.packb([info.as_dict(), correction.classes, biases]))
    columns: list[NDArray[Any]] = []
    for table in correction.terms:
        columns += [table.keys, table.starts, table.classes, *table.columns]
    amounts = correction.amounts
    columns += [amounts.entries, amounts.labels, amounts.classes, amounts.values]
    for column in columns:
        little = column.dtype.newbyteorder("<")
        digest.update(np.ascontiguousarray(column, little).data)
    return correction._replace(info=info._replace(identity=digest.digest()))
