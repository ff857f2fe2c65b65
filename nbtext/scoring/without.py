"""
A model as it would be without one of the documents that it has counted.

The document's terms are taken away where they are looked up; nothing is written.
"""

from collections.abc import Mapping, Sequence

from nbtext.counts.histograms import ByClass, ChangingHistograms
from nbtext.scoring.frozen_idf import counted_columns
from nbtext.scoring.model import Model
from nbtext.scoring.models.registry import keeps_histograms
from nbtext.scoring.tail import ChangesView
from nbtext.tokens import Bag


def without(model: Model, bag: Bag, class_: int) -> Model:
    """Return a model without a document."""
    label = model.classes[class_]
    taken = [
        {key: tuple(-value for value in columns) for key, columns in counted.items()}
        for counted in (
            counted_columns(model, view, terms) for view, terms in enumerate(bag)
        )
    ]
    model = _without_terms(model, taken, class_)
    documents = [*model.documents]
    documents[class_] -= 1
    totals = []
    for by_class, of_view in zip(model.totals, taken, strict=True):
        sums = [*by_class]
        for columns in of_view.values():
            sums[class_] = tuple(map(int.__add__, sums[class_], columns))
        totals.append(tuple(sums))
    changes = (
        ChangesView({key: {label: row} for key, row in rows.items()}, {label: class_})
        for rows in taken
    )
    return model._replace(
        documents=tuple(documents),
        totals=tuple(totals),
        stored=tuple(
            (*stored, change) if stored else stored
            for stored, change in zip(model.stored, changes, strict=True)
        ),
    )


def _without_terms(
    model: Model, taken: Sequence[Mapping[int, tuple[int, ...]]], class_: int
) -> Model:
    """Return a model with the histograms and the number of terms that are left."""
    histograms: list[ByClass] = []
    more_terms = []
    for number, of_view in enumerate(taken):
        view = model.settings.views[number]
        is_kept = keeps_histograms(model.scoring) and view.kind == "text"
        changing = ChangingHistograms(view) if is_kept else None
        gone = 0
        for key, entries in model.found(number, of_view).items():
            before = dict(entries)
            own = before.get(class_, (0,) * len(of_view[key]))
            after = before | {class_: tuple(map(int.__add__, own, of_view[key]))}
            gone += not any(map(any, after.values()))
            if changing is not None:
                for counts, times in ((before, -1), (after, 1)):
                    by_class = {model.classes[n]: row for n, row in counts.items()}
                    changing.enter(by_class, times)
        histograms.append({} if changing is None else changing.by_class())
        more_terms.append(-gone)
    return model._replace(
        more_terms=tuple(more_terms), more_histograms=tuple(histograms)
    )
