"""Many documents that teach a correction: `nbtext.learning.teaching` by arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from nbtext.counts.correction import CorrectionInfo
    from nbtext.counts.correction_table import Correction
    from nbtext.counts.sorted_counts import Counts
    from nbtext.learning.passes import Learnt
    from nbtext.scoring.batch_model import BatchModel
    from nbtext.settings.reading import Settings
    from nbtext.tokens import Terms

from nbtext.counts.correction import BIAS
from nbtext.counts.correction_table import correction_of
from nbtext.learning.passes import Pupils, Vectors, correct, rounded
from nbtext.learning.steps import rate_of_lesson
from nbtext.learning.usual_products import usual_products
from nbtext.learning.visits import weighted_views
from nbtext.scoring.batch_mixed import scores_by
from nbtext.scoring.models.arrays import by_class
from nbtext.store.ledger import halves
from nbtext.tokens.bags import starts_of, unit_weights


class Lesson(NamedTuple):
    """
    Some documents that teach a correction, one after the other.

    Attributes:
        rows: the digest and the fingerprint of each.
        labels: the classes that they are learnt as.
        terms: theirs in each view.
    """

    rows: Sequence[tuple[bytes, int]]
    labels: Sequence[str]
    terms: Sequence[Terms]


def taught_by(
    lessons: Sequence[Lesson], model: BatchModel, info: CorrectionInfo
) -> Correction | None:
    """Visit all documents; return what they add to the correction, None if nothing."""
    labels, base = _scored(lessons, model, info)
    vectors, keys = _vectors(lessons, model.settings)
    pupils = Pupils(
        vectors, labels, np.ones(len(labels), np.int64), base, sum(map(len, keys))
    )
    counted = np.array(model.documents).take(labels)
    order = (counted > 1).nonzero()[0]  # others are all that their class has
    rate = rate_of_lesson(len(model.classes))
    learnt = correct(pupils, order, rate, order[:0])
    documents, classes = learnt.amounts.nonzero()
    if not len(documents):
        return None
    amounts = learnt.amounts[documents, classes].astype(np.int64)
    usual = _usual(lessons, model).take(documents)
    balances = np.rint(amounts * usual / BIAS).astype(np.int64)
    biases = np.zeros(len(model.classes), np.int64)
    np.subtract.at(biases, classes, balances)
    rows = _entries(lessons).take(documents, axis=0)
    return correction_of(
        info.of_change(),
        model.classes,
        _values(learnt, keys),
        (rows, labels.take(documents), classes, amounts),
        biases.tolist(),
    )


def _usual(lessons: Sequence[Lesson], model: BatchModel) -> NDArray[np.float64]:
    """Return what each document usually gives others, shape (n_documents,)."""
    found = [usual_products(model, one.terms) for one in lessons]
    return np.concatenate([np.array(products) for products in found])


def _entries(lessons: Sequence[Lesson]) -> NDArray[np.uint64]:
    """Return high, low and fingerprint of each document, as in the ledger."""
    rows = [row for one in lessons for row in one.rows]
    return np.array([(*halves(digest), mark) for digest, mark in rows], np.uint64)


def _scored(
    lessons: Sequence[Lesson], model: BatchModel, info: CorrectionInfo
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """
    Score each document as if it alone had not been counted.

    Returns:
        The places of the classes, shape (n_documents,), and the scores as the
        passes take them, shape (n_documents, n_classes).
    """
    of_lessons, base = [], []
    for one in lessons:
        labels = np.array([*map(model.classes.index, one.labels)], np.int64)
        found = model.find(one.terms)
        (scores,) = scores_by(model, [model.scoring], found, labels)
        if model.correction is not None:
            model.correction.add_to(scores, one.terms[: model.settings.n_texts])
        if scores.ndim == 1:
            scores = by_class(scores)
        of_lessons.append(labels)
        base.append(rounded(scores, info.slope).astype(np.int32))
    return np.concatenate(of_lessons), np.concatenate(base)


def _vectors(
    lessons: Sequence[Lesson], settings: Settings
) -> tuple[list[Vectors], list[NDArray[np.uint64]]]:
    """
    Return the documents' vectors in each view that has weights.

    Returns:
        The vectors, and for each view the keys of its terms, in the order of the
        terms' numbers, which go on from view to view; none of one without weights.
    """
    vectors, keys, first = [], [], 0
    weighted = weighted_views(settings)
    for view in range(len(settings.views)):
        if view not in weighted:
            keys.append(np.empty(0, np.uint64))
            continue
        parts = [one.terms[view] for one in lessons]
        starts = starts_of(np.concatenate([terms.sizes for terms in parts]))
        own, numbers = np.unique(
            np.concatenate([terms.keys for terms in parts]), return_inverse=True
        )
        weights = np.concatenate([unit_weights(terms) for terms in parts])
        vectors.append(
            Vectors(
                starts, (numbers + first).astype(np.int32), weights.astype(np.uint16)
            )
        )
        keys.append(own)
        first += len(own)
    return vectors, keys


def _values(
    learnt: Learnt, keys: Sequence[NDArray[np.uint64]]
) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.uint16], Counts]]:
    """Yield for each view the keys, classes and values of what was learnt."""
    first = 0
    for of_view in keys:
        ends = np.searchsorted(learnt.places, [first, first + len(of_view)])
        part = slice(*ends.tolist())
        found = of_view.take(learnt.places[part] - first)
        yield found, learnt.classes[part], learnt.values[part]
        first += len(of_view)
