"""
A model as it would be without one of the documents that it has counted.

The document's terms are taken away where they are looked up; nothing is written. The
number of distinct terms stays, which terms of this document alone would make smaller.
"""

from collections.abc import Collection

from nbtext.scoring.model import Entry, Model, Sums, add_entry
from nbtext.tokens import Bag
from nbtext.tokens.bag import columns_of


def without(model: Model, bag: Bag, class_: int) -> Model:
    """
    Return a model without a document.

    Args:
        model: the model, which has counted it.
        bag: its terms.
        class_: the place of the class in which it was counted.

    """
    taken = [
        {key: tuple(-value for value in columns) for key, columns in counted.items()}
        for counted in (
            columns_of(terms, view.columns)
            for terms, view in zip(bag, model.settings.views, strict=True)
        )
    ]
    documents = [*model.documents]
    documents[class_] -= 1
    totals = []
    for by_class, of_view in zip(model.totals, taken, strict=True):
        sums = [*by_class]
        for columns in of_view.values():
            sums[class_] = tuple(map(int.__add__, sums[class_], columns))
        totals.append(tuple(sums))
    return model._replace(
        documents=tuple(documents),
        totals=tuple(totals),
        stored=tuple(
            (*stored, _Taken(of_view, class_))
            for stored, of_view in zip(model.stored, taken, strict=True)
        ),
    )


class _Taken:
    """What is taken away from one view, as a model looks it up."""

    is_signed = True

    def __init__(self, columns: dict[int, tuple[int, ...]], class_: int) -> None:
        self._columns = columns
        self._class = class_

    def found(self, keys: Collection[int]) -> dict[int, list[Entry]]:
        """Return what is taken away of those terms that are here."""
        columns, class_ = self._columns, self._class
        return {key: [(class_, columns[key])] for key in keys if key in columns}

    def add_to(self, sums: Sums, keys: Collection[int]) -> None:
        """Add it to what other tables have of some terms."""
        for key, entries in self.found(keys).items():
            for entry in entries:
                add_entry(sums, key, entry)
