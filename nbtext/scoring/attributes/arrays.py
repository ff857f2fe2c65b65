"""
What the attributes of many records say: the other modules of this package by arrays.

Records may be left out, each alone, as the event models of text leave them out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from nbtext.exact import Sums
    from nbtext.scoring.batch_model import (
        BatchModel,
        Floats,
        FoundTerms,
        Labels,
        Scores,
    )
    from nbtext.tokens import Terms

from nbtext.exact import number_of
from nbtext.scoring.attributes import categorical, gaussian
from nbtext.scoring.attributes.gaussian import HALF_LOG_2_PI, Normal, largest, less
from nbtext.scoring.attributes.normal import Variance, mean_of, variance_of
from nbtext.scoring.models.arrays import spread_entries


def attribute_scores(
    model: BatchModel, documents: FoundTerms, labels: Labels | None = None
) -> Scores:
    """
    Return what all attributes of records say, shape (n_documents, n_classes).

    Args:
        model: the counts.
        documents: the terms of the records.
        labels: shape (n_documents,), the places of the classes that the records are
            counted in, each of which is left out alone; None if none is.
    """
    scores = documents.zeros(len(model.classes))
    for number, view in model.settings.attributes:
        if view.kind == "value":
            values = _category_values(model, number, documents, labels)
            _add_by_document(scores, documents.views[number], values)
    if any(view.kind == "number" for _, view in model.settings.attributes):
        if labels is None:
            _add_numbers(scores, model, documents)
        else:
            _add_numbers_left_out(scores, model, documents, labels)
    return scores


def known_numbers(model: BatchModel, documents: FoundTerms) -> NDArray[np.int64]:
    """Return how many numbers of each record the model can tell something of."""
    known = np.zeros(documents.n_documents, np.int64)
    for number, by_class in model.once(_normals).items():
        if by_class is not None:
            known += documents.views[number].sizes
    return known


def _documents_of(terms: Terms) -> NDArray[np.int64]:
    """Return the document of each term, shape (n_terms,)."""
    return np.repeat(np.arange(terms.n_documents), terms.sizes)


def _add_by_document(scores: Scores, terms: Terms, values: Floats) -> None:
    """Add what each term says, shape (n_terms, n_classes), to its document's scores."""
    np.add.at(scores, _documents_of(terms), values * terms.counts[:, None])


def _category_values(
    model: BatchModel, view: int, documents: FoundTerms, labels: Labels | None
) -> Floats:
    """Return what each value says, shape (n_terms, n_classes)."""
    terms, places = documents.views[view], documents.places[view]
    smoothing = model.scoring.attribute(categorical.SMOOTHING)
    table = model.terms[view]
    rows = spread_entries(table, terms.starts, places)
    # counts and sizes: (n_terms, n_classes), one row for each value in the batch
    counts = np.zeros((len(places), len(model.classes)))
    column = table.columns[model.column(view, "documents")]
    counts[rows.terms, rows.classes] = column.take(rows.entries)
    sizes = np.tile(model.total(view, "documents"), (len(places), 1))
    distinct = table.n_terms + (places == table.n_terms)
    if labels is not None:
        # a value that this record alone has is unknown without it: m is the same
        own = np.arange(len(places)), labels.take(_documents_of(terms))
        counts[own] -= 1
        sizes[own] -= 1
    counts += smoothing
    sizes += (smoothing * distinct)[:, None]
    values = np.full(counts.shape, -np.inf)
    possible = counts > 0
    values[possible] = np.log(counts[possible] / sizes[possible])
    return values


@dataclass(frozen=True, slots=True)
class _Normals:
    """
    How the numbers of a column are distributed, by class.

    Attributes:
        means: shape (n_classes,).
        halves: shape (n_classes,), half of the variances' exponents.
        roots: shape (n_classes,), the square roots of their fractions.
        logs: shape (n_classes,), what the density has besides the distance.
    """

    means: Floats
    halves: NDArray[np.int32]
    roots: Floats
    logs: Floats

    def log_densities(self, numbers: Floats) -> Floats:
        """Return the logarithms of densities, shape (n_numbers, n_classes)."""
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            distances = np.ldexp(numbers[:, None], -self.halves)
            distances -= np.ldexp(self.means, -self.halves)
            distances /= self.roots
            squares = distances * distances
        squares[numbers[:, None] == self.means] = 0.0
        squares[np.isnan(squares)] = np.inf
        return self.logs - squares / 2


def _normals(model: BatchModel) -> dict[int, _Normals | None]:
    """Return for each view of numbers how they are distributed, None if not at all."""
    views = [*model.sums]
    columns = [model.sums[number] for number in views]
    smoothing = model.scoring.attribute(gaussian.SMOOTHING) if views else 0.0
    found = gaussian.normals(columns, smoothing)
    return {
        number: _as_arrays(by_class) if by_class else None
        for number, by_class in zip(views, found, strict=True)
    }


def _as_arrays(by_class: list[Normal]) -> _Normals:
    variances = [normal.variance for normal in by_class]
    return _Normals(
        means=np.array([normal.mean for normal in by_class]),
        halves=np.array([one.exponent // 2 for one in variances], np.int32),
        roots=np.sqrt([one.fraction for one in variances]),
        logs=np.array([-HALF_LOG_2_PI - one.log / 2 for one in variances]),
    )


def _add_numbers(scores: Scores, model: BatchModel, documents: FoundTerms) -> None:
    for number, by_class in model.once(_normals).items():
        terms = documents.views[number]
        if by_class is not None and len(terms.keys):
            values = by_class.log_densities(terms.keys.view(np.float64))
            _add_by_document(scores, terms, values)


@dataclass(frozen=True, slots=True)
class _Column:
    """
    A column of numbers, of which records are left out.

    Attributes:
        by_class: the sums of each class.
        pooled: those of all classes.
        variance: the variance of all classes' numbers.
        means: of each class.
        variances: of each class, with nothing added.
    """

    by_class: tuple[Sums, ...]
    pooled: Sums
    variance: Variance
    means: list[float]
    variances: list[Variance]


def _columns(model: BatchModel) -> dict[int, _Column]:
    """Return the columns of numbers of a model, by their views."""
    found = {}
    for number, by_class in model.sums.items():
        pooled = gaussian.pooled_of(by_class)
        found[number] = _Column(
            by_class,
            pooled,
            variance_of(pooled),
            [*map(mean_of, by_class)],
            [*map(variance_of, by_class)],
        )
    return found


def _add_numbers_left_out(
    scores: Scores, model: BatchModel, documents: FoundTerms, labels: Labels
) -> None:
    """Add what numbers say, record by record: each changes what is added to all."""
    columns = model.once(_columns)
    smoothing = model.scoring.attribute(gaussian.SMOOTHING)
    bags = {number: [*_numbers(documents.views[number])] for number in columns}
    for place, label in enumerate(labels.tolist()):
        own = {number: bags[number][place] for number in columns}
        pooled = {
            number: less(column.pooled, own[number][0])
            if own[number]
            else column.pooled
            for number, column in columns.items()
        }
        variances = {
            number: variance_of(pooled[number]) if own[number] else column.variance
            for number, column in columns.items()
        }
        added = largest([*variances.values()]).times(smoothing)
        for number, column in columns.items():
            if own[number] and variances[number].fraction:
                (key,) = own[number]
                scores[place] += [
                    normal.log_density(number_of(key))
                    for normal in _normals_without(
                        column, key, label, pooled[number], variances[number], added
                    )
                ]


def _numbers(terms: Terms) -> Iterator[list[int]]:
    """Yield the number of each record, as a key; none where it has none."""
    keys = terms.keys.tolist()
    for start, end in zip(terms.starts, terms.starts[1:], strict=False):
        yield keys[start:end]


def _normals_without(
    column: _Column,
    key: int,
    label: int,
    pooled: Sums,
    pooled_variance: Variance,
    added: Variance,
) -> Iterator[Normal]:
    """Yield the distribution of each class where one number of one class is not."""
    for class_, sums in enumerate(column.by_class):
        if class_ == label:
            left = less(sums, key)
            yield gaussian.normal_of(left, pooled, pooled_variance, added)
        elif not sums[0]:
            yield gaussian.normal_of(sums, pooled, pooled_variance, added)
        else:
            variance = column.variances[class_].plus(added)
            if not variance.fraction:
                variance = pooled_variance
            yield Normal(column.means[class_], variance)
