"""
The sums of `complement` and `contrast`: what terms say for each class, by arrays.

Documents and a model go in; out come, for each view, the two numbers that a class has
of each document: what the complement says, and what the class itself says. They are
added up in C where there is a compiled extension, else by operations on arrays, in the
same operations and the same order, so that both are the same to the bit: calibrations
and corrections are made of them, and must not depend on the machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from nbtext.scoring.models.arrays import known_terms, spread_entries, unit_length
from nbtext.scoring.models.weighted_terms import LEAST_SIZE, SHARE, WEIGHT
from nbtext.settings.columns import UNIT
from nbtext.tokens.bags import sum_by_document, unit_weights
from nbtext.tokens.engine import engine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nbtext.counts import TermTable
    from nbtext.scoring.batch_model import (
        BatchModel,
        Floats,
        FoundTerms,
        Integers,
        Labels,
        Scores,
    )

NO_CLASS: Final = -1
"""The label of a document that is in no class."""


class ClassSums(NamedTuple):
    """
    What the terms of documents say in one view.

    Attributes:
        complements: shape (n_documents, n_classes), what the other classes say.
        owns: the same shape, what the class itself says; (0, n_classes) if it is not
            wanted.
    """

    complements: Scores
    owns: Scores


@dataclass(frozen=True, slots=True)
class Weights:
    """
    The weights of one view, by term.

    Attributes:
        starts: shape (n_terms + 1,), where each term's entries begin, in 32 or 64 bits.
        classes: shape (n_entries,), in order for each term.
        values: shape (n_entries,), w_tc in units of 1/65535, in 32 or 64 bits.
    """

    starts: Integers
    classes: NDArray[np.uint16]
    values: Integers


@dataclass(frozen=True, slots=True)
class WeightedTerms:
    """
    The terms of documents in one view, as they are added up.

    Attributes:
        starts: shape (n_documents + 1,), where each document's terms begin.
        places: shape (n_terms,), each term's place in the model.
        x: shape (n_terms,), its share of the document, 0 if it is unknown.
        own: shape (n_terms,), the weight that the document itself has in the model, in
            units of 1/65535.
        labels: shape (n_documents,), the class that it has it in, or NO_CLASS.
    """

    starts: NDArray[np.int64]
    places: NDArray[np.int64]
    x: Floats
    own: Floats
    labels: NDArray[np.int64]


class _Prepared(NamedTuple):
    """
    What the sums of one view are made of, whatever the smoothing.

    Attributes:
        terms: the documents' terms.
        rates: shape (n_documents, n_classes), for a weight of 1/65535.
        rest: the same shape, W - W_c without the document.
        n_terms: shape (n_documents, 1), V without the document.
        x: shape (n_documents, 1), the sum of each document's x.
        owns: what the classes themselves say, once that is known.
    """

    terms: WeightedTerms
    rates: Floats
    rest: Floats
    n_terms: Integers
    x: Floats
    owns: Scores | None = None


def view_sums(
    model: BatchModel,
    view: int,
    documents: FoundTerms,
    labels: Labels | None = None,
    *,
    has_owns: bool = True,
) -> ClassSums:
    """
    Return what the terms of documents say in one view.

    Args:
        model: the counts.
        view: which of the views.
        documents: their terms.
        labels: shape (n_documents,), the places of the classes that the documents are
            counted in, each of which is left out of the counts; None if none is.
        has_owns: whether what the class itself says is wanted, too.
    """
    kept = {} if documents.kept is None else documents.kept
    if view not in kept:
        kept[view] = _prepared(model, view, documents, labels)
    prepared: _Prepared = kept[view]
    is_new = has_owns and prepared.owns is None
    sums = add_by_class(model, view, prepared.terms, prepared.rates, has_owns=is_new)
    if is_new:
        kept[view] = prepared._replace(owns=sums.owns)
    elif has_owns and prepared.owns is not None:
        sums = sums._replace(owns=prepared.owns)
    rest = prepared.rest + model.scoring.smoothing * prepared.n_terms
    complements = sums.complements
    complements += prepared.x * np.log(rest)
    return sums


def _prepared(
    model: BatchModel, view: int, documents: FoundTerms, labels: Labels | None
) -> _Prepared:
    """Return what the sums of one view are made of, whatever the smoothing."""
    terms, places = documents.views[view], documents.places[view]
    table = model.terms[view]
    n_documents, n_classes = terms.n_documents, len(model.classes)
    # sizes: W_c of each class without the document, in units of 1/65535
    sizes = np.tile(model.total(view, WEIGHT), (n_documents, 1))
    n_terms = np.full(n_documents, table.n_terms)
    is_known = known_terms(model, view, documents, labels)
    if labels is None:
        own = np.zeros(len(places))
        labels = np.full(n_documents, NO_CLASS)
    else:
        own = unit_weights(terms).astype(np.float64) * documents.copies_of(terms)
        sizes[np.arange(n_documents), labels] -= sum_by_document(own, terms.starts)
        n_terms -= sum_by_document(~is_known, terms.starts)
    x = unit_length(terms, is_known)
    places = places.astype(np.int64, copy=False)
    whole = sizes.sum(axis=1, keepdims=True)
    return _Prepared(
        WeightedTerms(terms.starts, places, x, own, labels),
        whole / (SHARE * n_classes * np.maximum(sizes, LEAST_SIZE * UNIT) * UNIT),
        (whole - sizes) / UNIT,
        np.maximum(n_terms, 1)[:, None],
        sum_by_document(x, terms.starts)[:, None],
    )


def add_by_class(
    model: BatchModel,
    view: int,
    documents: WeightedTerms,
    rates: Floats,
    *,
    has_owns: bool,
) -> ClassSums:
    """
    Add up what terms say for the classes that have them.

    With a the smoothing, w_tc less the document's own weight, and W_t their sum, a
    class gets for each term that it has x (ln(W_t + a) - ln(W_t - w_tc + a)) from its
    complement and x ln(1 + w_tc rate_c) from itself. All weights are integers, in units
    of 1/65535; so is a.

    Args:
        model: the counts.
        view: which of the views.
        documents: their terms.
        rates: shape (n_documents, n_classes), for a weight of 1/65535.
        has_owns: whether what the class itself says is wanted, too.
    """
    weights = model.once(_weights)[view]
    owns = np.zeros((len(rates) if has_owns else 0, rates.shape[1]))
    sums = ClassSums(np.zeros(rates.shape), owns)
    smoothing = model.scoring.smoothing * UNIT
    if engine().is_compiled:
        from nbtext import _compiled

        _compiled.add_by_class(
            len(weights.starts) - 1,
            weights.starts,
            weights.classes,
            weights.values,
            documents.starts,
            documents.places,
            documents.x,
            documents.own,
            documents.labels,
            rates,
            smoothing,
            *sums,
        )
    else:
        _add_by_arrays(model.terms[view], weights, documents, rates, smoothing, sums)
    return sums


def _add_by_arrays(
    table: TermTable,
    weights: Weights,
    documents: WeightedTerms,
    rates: Floats,
    a: float,
    sums: ClassSums,
) -> None:
    """Do the same by operations on arrays."""
    # rows: one for each class that a known term of a document is in
    rows = spread_entries(table, documents.starts, documents.places)
    x, own = documents.x.take(rows.terms), documents.own.take(rows.terms)
    kept = x.nonzero()[0]
    rows, x, own = rows.take(kept), x.take(kept), own.take(kept)
    ends = np.cumsum(weights.values, dtype=np.int64)
    wholes = np.diff(np.append(0, ends).take(weights.starts))
    whole = wholes.take(documents.places.take(rows.terms)) - own
    np.maximum(whole, 0.0, out=whole)
    weight = weights.values.take(rows.entries).astype(np.float64)
    of_own = (rows.classes == documents.labels.take(rows.documents)).nonzero()[0]
    weight[of_own] = np.maximum(weight.take(of_own) - own.take(of_own), 0.0)
    rest = np.maximum(whole - weight, 0.0)
    rows.add(sums.complements, x * (logarithms(whole + a) - logarithms(rest + a)))
    if len(sums.owns):
        rate = rates[rows.documents, rows.classes]
        rows.add(sums.owns, x * logarithms(1.0 + weight * rate))


def logarithms(values: Floats) -> Floats:
    """
    Return the natural logarithms of positive numbers.

    They are fdlibm's (e_log.c, Sun Microsystems 1993), in the operations of
    `contrast_sums.c`: the results are the same to the bit, whichever library is at
    hand.
    """
    part, exponent = np.frexp(values)  # from 1/2 to 1
    part *= 2.0
    exponent = exponent - 1.0
    is_high = part >= 1.4142135623730951
    part *= 1.0 - 0.5 * is_high
    exponent += is_high
    f = part - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (
        3.999999999940941908e-01
        + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01)
    )
    odd = z * (
        6.666666666666735130e-01
        + w
        * (
            2.857142874366239149e-01
            + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)
        )
    )
    half = 0.5 * f * f
    logs: Floats = exponent * 6.93147180559945286227e-01 + (
        f - (half - s * (half + (even + odd)))
    )
    return logs


def _weights(model: BatchModel) -> list[Weights]:
    """Return the weights of each view."""
    return [
        Weights(
            _as_integers(table.starts[:-1]),
            table.classes.astype(np.uint16, copy=False),
            _as_integers(table.columns[model.column(view, WEIGHT)]),
        )
        for view, table in enumerate(model.terms)
    ]


def _as_integers(values: NDArray[np.integer]) -> Integers:
    """Return integers in 32 or 64 bits."""
    width = np.int32 if values.dtype == np.int32 else np.int64
    return values.astype(width, copy=False)
