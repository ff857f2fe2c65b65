"""
The terms that most speak for a class.

A term is judged by the documents that have it: k1 of the n1 documents of the class, and
k2 of the n2 of all others. How unlikely that is if the class made no difference is the
likelihood ratio G2 = 2 (sum of k ln(k / E)) over the four cells of documents with and
without the term, in the class and elsewhere, with E what is expected of each cell
(Dunning 1993). It ranks a term that is in many documents of a class before one that is
in a single document of it and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from nbtext.counts import TermTable
    from nbtext.counts.texts import TermTexts
    from nbtext.document import Document
    from nbtext.scoring.batch_model import BatchModel
    from nbtext.settings.reading import Settings

    Floats = NDArray[np.float64]

from nbtext.counts.texts import Named
from nbtext.document import Unreadable
from nbtext.errors import SourceError
from nbtext.tokens import read, read_keys, read_terms
from nbtext.tokens.located import Located, located


@dataclass(frozen=True, slots=True)
class TopTerm:
    """
    A term that speaks for a class.

    Attributes:
        label: the class.
        text: the term, folded as it is counted; as it is written, if it was found in a
            document. None if neither the model has it nor a document.
        view: the name of the view that it is read in.
        field: the field that it is of, or where the document has it; None if the model
            has the text and does not tell fields apart, or nobody has it.
        strength: G2, the likelihood ratio.
        log_odds: of a document of the class having the term, against one of another, in
            nats, half a document added to each number.
        documents: how many documents of the class have it.
        of: how many documents the class has.
        elsewhere: how many documents of other classes have it.
        of_elsewhere: how many documents they have.
        key: what the model calls it, in its text form too.
    """

    label: str
    text: str | None
    view: str
    field: str | None
    strength: float
    log_odds: float
    documents: int
    of: int
    elsewhere: int
    of_elsewhere: int
    key: int


def top_terms(
    model: BatchModel,
    labels: Iterable[str],
    n: int,
    texts: Sequence[TermTexts] = (),
    documents: Iterable[Document] = (),
    on_problem: Callable[[Unreadable], None] | None = None,
) -> list[TopTerm]:
    """
    Return the terms that most speak for each of some classes, the strongest first.

    Args:
        model: the counts.
        labels: the classes.
        n: how many terms of each class.
        texts: those of the model, for each view, if it has any.
        documents: where other texts are looked for; no more are read than needed.
        on_problem: told of each document that cannot be read; without it, the first
            is raised.

    Raises:
        SourceError: a document cannot be read.
    """
    counts = _counts(model)
    chosen = [
        (label, *row)
        for label in labels
        for row in _strongest(model, counts, model.classes.index(label), n)
    ]
    wanted: list[set[int]] = [set() for _ in model.settings.views]
    for _, _, view, key, *_ in chosen:
        wanted[view].add(key)
    named: list[dict[int, Named]] = [{} for _ in wanted]
    for view, of_view in enumerate(texts):
        named[view] = of_view.named(model.settings.views[view], wanted[view])
        wanted[view] -= named[view].keys()
    for view, places in enumerate(_located(model, wanted, documents, on_problem)):
        for key, place in places.items():
            named[view][key] = Named(place.field, place.text)
    whole = sum(model.documents)
    found = []
    for label, weakness, view, key, inside, outside in chosen:
        name = named[view].get(key)
        n_inside = model.documents[model.classes.index(label)]
        found.append(
            TopTerm(
                label=label,
                text=None if name is None else name.text,
                view=model.settings.views[view].name,
                field=None if name is None else name.field,
                strength=-weakness,
                log_odds=_log_odds(inside, n_inside, outside, whole - n_inside),
                documents=inside,
                of=n_inside,
                elsewhere=outside,
                of_elsewhere=whole - n_inside,
                key=key,
            )
        )
    return found


class _Counts(NamedTuple):
    """
    In how many documents the terms of a view are.

    Attributes:
        view: its number.
        table: its terms and their entries, one a class that has it.
        terms: shape (n_entries,), which term each entry is of.
        counts: shape (n_entries,), documents of its class that have it.
        whole: shape (n_terms,), documents of all classes that have it.
    """

    view: int
    table: TermTable
    terms: NDArray[np.int64]
    counts: Floats
    whole: Floats


def _counts(model: BatchModel) -> list[_Counts]:
    """Return the counts of each view; a view of numbers has no terms."""
    found = []
    for view, table in enumerate(model.terms):
        if model.settings.views[view].kind == "number":
            continue
        counts = table.columns[model.column(view, "documents")].astype(np.float64)
        terms = np.repeat(np.arange(table.n_terms), np.diff(table.starts[:-1]))
        whole = np.bincount(terms, counts, table.n_terms).astype(np.float64)
        found.append(_Counts(view, table, terms, counts, whole))
    return found


def _strongest(
    model: BatchModel, views: Sequence[_Counts], class_: int, n: int
) -> list[tuple[float, int, int, int, int]]:
    """Return the strongest terms of a class: -G2, view, key, documents here and not."""
    rows: list[tuple[float, int, int, int, int]] = []
    n_inside = model.documents[class_]
    n_outside = sum(model.documents) - n_inside
    for view, table, terms, counts, whole in views:
        own = np.flatnonzero(table.classes == class_)
        has = np.bincount(terms[own], counts[own], table.n_terms).astype(np.float64)
        # the others speak for other classes
        places = np.flatnonzero(has * n_outside > (whole - has) * n_inside)
        inside, outside = has[places], whole[places] - has[places]
        strength = likelihood_ratio(inside, n_inside, outside, n_outside)
        rows += [
            (
                -float(strength[one]),
                view,
                int(table.keys[places[one]]),
                int(inside[one]),
                int(outside[one]),
            )
            for one in _largest(strength, n)
            if strength[one] > 0
        ]
    return sorted(rows)[:n]


def _largest(values: Floats, n: int) -> list[int]:
    """Return the places of the n largest values in order; of equals the first."""
    places = np.arange(len(values))
    if 0 < n < len(values):
        least = np.partition(values, len(values) - n)[len(values) - n]
        places = np.flatnonzero(values >= least)
    order = np.argsort(-values[places], kind="stable")[:n]
    return [int(place) for place in places[order]]


def likelihood_ratio(
    inside: Floats, n_inside: int, outside: Floats, n_outside: int
) -> Floats:
    """
    Return G2 of each term.

    Args:
        inside: shape (n_terms,), how many documents of a class have it.
        n_inside: how many documents there are of it.
        outside: shape (n_terms,), how many documents of other classes have it.
        n_outside: how many documents they have.
    """
    share = (inside + outside) / max(n_inside + n_outside, 1)
    ratio = np.zeros(len(inside))
    for having, number in ((inside, n_inside), (outside, n_outside)):
        for cell, expected in (
            (having, number * share),
            (number - having, number * (1 - share)),
        ):
            is_there = (cell > 0) & (expected > 0)
            quotient = np.divide(cell, expected, out=np.ones(len(cell)), where=is_there)
            ratio += 2 * cell * np.log(quotient)
    return ratio


def _log_odds(inside: int, n_inside: int, outside: int, n_outside: int) -> float:
    own = (inside + 0.5) / (max(n_inside - inside, 0) + 0.5)
    other = (outside + 0.5) / (max(n_outside - outside, 0) + 0.5)
    return float(np.log(own / other))


def _located(
    model: BatchModel,
    wanted: list[set[int]],
    documents: Iterable[Document],
    on_problem: Callable[[Unreadable], None] | None,
) -> list[dict[int, Located]]:
    """Return where in documents terms are, reading until all of them are found."""
    settings = model.settings
    found: list[dict[int, Located]] = [{} for _ in wanted]
    left = [set(keys) for keys in wanted]
    for document in documents if any(left) else ():
        try:
            views = _views_with(settings, document, left)
            reading = read(document, settings) if views else None
        except SourceError as error:
            if on_problem is None:
                raise
            on_problem(Unreadable(document.name, error))
            continue
        if reading is None:
            continue
        for view in views:
            places = located(
                settings.views[view], reading.views[view], left[view], settings.secret
            )
            found[view] |= places
            left[view] -= places.keys()
        if not any(left):
            break
    return found


def _views_with(
    settings: Settings, document: Document, wanted: Sequence[set[int]]
) -> list[int]:
    """Return the views in which a document has wanted terms: keys tell that soonest."""
    views = read_terms(settings, [read_keys(document, settings, is_named=False).views])
    return [
        number
        for number, (terms, keys) in enumerate(zip(views, wanted, strict=True))
        if keys and not keys.isdisjoint(terms.keys.tolist())
    ]
