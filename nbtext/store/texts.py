"""
The texts of terms of a model file: those that any of its tables has.

An open model file goes in, and out come the texts of each view, by key. Nothing that
classifies reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext.store.file import ModelFile
    from nbtext.store.table import StoredTable

from nbtext.counts.texts import TermTexts, joined, texts_in
from nbtext.store.schema import text_array


def read_texts(file: ModelFile) -> tuple[TermTexts, ...] | None:
    """
    Return the texts of a model, None if it keeps none.

    Raises:
        NotAModelError: the file is damaged.
    """
    parts = [
        stored_texts(table) for table in file.tables if table.header.texts is not None
    ]
    if not parts:
        return None
    return tuple(joined(of_view) for of_view in zip(*parts, strict=True))


def stored_texts(table: StoredTable) -> Sequence[TermTexts]:
    """
    Return the texts of one table that has any, for each view.

    Raises:
        NotAModelError: they are none.
    """
    found = []
    for view in table.header.settings.views:
        packed = np.asarray(table.arrays[text_array(view)])
        try:
            found.append(texts_in(view, packed))
        except ValueError as error:
            raise table.damaged(str(error)) from error
    return found
