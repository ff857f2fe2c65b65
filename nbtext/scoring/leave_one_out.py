"""
Held-out scores for calibration, by exact leave-one-out.

A sample of the training documents goes in, each to be scored as if it alone had not
been counted (`EventModel.many_by`); out comes what the scores say for calibration.
"""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from nbtext.counts import Calibration, bin_of
from nbtext.counts.calibration import LOSS_UNIT, MOST_LOSS, OCTAVE, TEMPERATURES, totals
from nbtext.errors import DamagedError
from nbtext.scoring.batch_mixed import scores_by
from nbtext.scoring.candidates import candidates
from nbtext.scoring.held_out import keeps_corrected, no_calibrations
from nbtext.scoring.models.arrays import normalised
from nbtext.tokens.bags import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from nbtext.parallel import Map
    from nbtext.scoring.batch_model import BatchModel, FoundTerms, Labels, Scores
    from nbtext.tokens import Terms

Finds: TypeAlias = "dict[int, FoundTerms]"
"""Parts of a sample, found in counts, by how many documents stand before each."""

Labelled: TypeAlias = "tuple[Sequence[str], Sequence[Terms]]"
"""A batch of documents: their labels, and for each view their terms."""

PART: Final = 512
"""Maximum documents that are scored at a time."""

PART_TERMS: Final = 1 << 16
"""Maximum terms that they have, unless it is one document: without a compiled extension
each term has a row for each of its classes, so more would take much memory."""

PART_SCORES: Final = 1 << 18
"""Maximum scores that they have, unless it is one document."""

OBSERVED: Final = 4096
"""Minimum documents whose losses are computed together, but for the last of them."""

WAITING: Final = 1 << 22
"""About how many scores wait to be observed together, by all candidates: of more than
100 classes fewer documents are."""

ROOM: Final = 1 << 18
"""How many exponentials are computed at a time, about: where documents have many, fewer
would be less work than to ask for it (docs/experiments/083-losses-of-many.md)."""

AT_A_TIME: Final = 512
"""Maximum documents whose losses are computed at a time: those of few classes are soon
done, and then lie in the fastest memory."""

FEW_CLASSES: Final = 64
"""With fewer classes the exponentials of each are side by side, with more those of each
document: what is long is added up faster."""

SURE: Final = 36
"""At this of the TEMPERATURES documents of few classes leave that lose nothing at
higher ones (docs/experiments/074-rows-side-by-side.md)."""

NOTHING: Final = 2.0**-22
"""What other classes have of the best one rounds to no loss, up to this."""

KEPT: Final = 1 << 23
"""Maximum numbers that are kept of documents' scores by all candidates."""


class LeftOut(NamedTuple):
    """
    What documents score that are left out of the counts.

    Attributes:
        calibrations: what their scores say for calibration, by each candidate.
        scores: the scores, by each candidate, the documents in their order; None where
            they would be too many.
    """

    calibrations: tuple[Calibration, ...]
    scores: list[Scores] | None


def left_out(
    model: BatchModel,
    sample: Iterable[Labelled],
    map_: Map = map,
    copies: NDArray[np.int64] | None = None,
    path: str = "",
    finds: Finds | None = None,
) -> LeftOut:
    """
    Score documents of the training set as if they had not been in it.

    Args:
        model: the counts, the documents' own among them.
        sample: batches of documents.
        map_: deals with parts of the sample.
        copies: shape (n_documents,), how often each is counted; then all of it is left
            out. None if once.
        path: the model file that counts and documents are of; empty if they are new.
        finds: what was found of these documents in these counts, where they are scored
            in several ways; what is found now is kept there.

    Raises:
        DamagedError: the counts do not have the documents.
    """
    scorings = candidates(model.scoring)

    def score(part: tuple[int, Labelled]) -> tuple[Sequence[str], list[Scores]]:
        start, (names, views) = part
        found, labels = (finds or {}).get(start), _places(model, names)
        if found is None:
            found = model.find(views)
            if copies is not None:
                found = found.counted(copies[start : start + len(names)])
            if finds is not None:
                found = finds[start] = replace(found, kept={})
        with np.errstate(all="ignore" if path else None):  # what comes of it is checked
            scores = scores_by(model, scorings, found, labels)
        if path:
            check_left_out(scores, path)
        return names, scores

    # with no document there is a calibration of each scoring all the same
    n_classes = len(model.classes)
    nothing = no_calibrations(model)
    calibrations, kept, n_kept = [nothing], [], 0
    room = WAITING // (n_classes * len(scorings))
    parts = map_(score, _numbered(_in_parts(sample, n_classes)))
    for names, scores in _together(parts, min(OBSERVED, room)):
        calibrations.append(observed_scores(model, nothing, scores, names))
        n_kept += sum(values.size for values in scores)
        kept.append(scores if n_kept <= KEPT else [])
    by_candidate = list(map(np.concatenate, zip(*kept, strict=False)))
    return LeftOut(totals(calibrations), by_candidate if n_kept <= KEPT else None)


def check_left_out(scores: Sequence[Scores], path: str) -> None:
    """
    Refuse scores that documents have who were left out of counts without them.

    Raises:
        DamagedError: the model file says that it has counted them.
    """
    if not all(np.isfinite(one).all() for one in scores):
        what = "its ledger has documents that its counts do not have"
        raise DamagedError(path, 0, what)


def _numbered(parts: Iterable[Labelled]) -> Iterator[tuple[int, Labelled]]:
    """Yield with each part how many documents stand before it."""
    start = 0
    for part in parts:
        yield start, part
        start += len(part[0])


def _together(
    parts: Iterable[tuple[Sequence[str], list[Scores]]], fewest: int
) -> Iterator[tuple[list[str], list[Scores]]]:
    """Put parts together, so many documents or more: labels, scores by candidate."""
    names: list[str] = []
    waiting: list[list[Scores]] = []
    for labels, scores in parts:
        names += labels
        waiting.append(scores)
        if len(names) >= fewest:
            yield names, [np.concatenate(some) for some in zip(*waiting, strict=True)]
            names, waiting = [], []
    if names:
        yield names, [np.concatenate(some) for some in zip(*waiting, strict=True)]


def scores_left_out(
    model: BatchModel, names: Sequence[str], views: Sequence[Terms]
) -> list[Scores]:
    """
    Score documents of a model as if each of them alone had not been counted.

    Returns:
        Their scores by each candidate.
    """
    scorings = candidates(model.scoring)
    parts = [
        scores_by(model, scorings, model.find(part), _places(model, labels))
        for labels, part in _in_parts([(names, views)], len(model.classes))
    ]
    return [np.concatenate(scores) for scores in zip(*parts, strict=True)]


def with_corrected(
    model: BatchModel, scores: list[Scores], views: Sequence[Terms]
) -> list[Scores]:
    """
    Return scores by each calibration that a model keeps.

    Args:
        model: the counts, and the correction if there is one.
        scores: those of documents, by each candidate.
        views: for each view the terms of the documents.
    """
    if model.correction is None or not keeps_corrected(model):
        return scores
    own = scores[candidates(model.scoring).index(model.scoring)].copy()
    model.correction.add_to(own, views[: model.settings.n_texts])
    return [*scores, own if own.ndim == 1 else own[:, 1] - own[:, 0]]


def observed_scores(
    model: BatchModel,
    nothing: Sequence[Calibration],
    scores: Sequence[Scores],
    names: Sequence[str],
) -> tuple[Calibration, ...]:
    """
    Return what the scores of documents say for calibration.

    Args:
        model: what scored them; none of them was in it.
        nothing: calibrations without any document.
        scores: the documents' scores, by each of these.
        names: their classes.
    """
    documents = dict(Tally(names))
    found: list[Calibration] = []
    has_losses = any(own.losses for own in nothing)
    labels = _places(model, names if has_losses else ())
    for number, (own, values) in enumerate(zip(nothing, scores, strict=True)):
        # a weight of byte n-grams, say, tells no candidates apart where there are none
        same = [n for n in range(number) if np.array_equal(scores[n], values)]
        if same:
            one = found[same[0]]
            found.append(one._replace(scoring=own.scoring, prior=own.prior))
        elif not own.losses:
            bins = map(bin_of, values.tolist())
            counts = dict(Tally(zip(bins, names, strict=True)))
            found.append(own._replace(counts=counts, documents=documents))
        else:
            losses = observed_losses(values, labels).tolist()
            found.append(own._replace(losses=tuple(losses), documents=documents))
    return tuple(found)


def _places(model: BatchModel, names: Sequence[str]) -> Labels:
    places = model.once(_places_of_classes)
    return np.array([places[name] for name in names], np.int64)


def _places_of_classes(model: BatchModel) -> dict[str, int]:
    return {name: place for place, name in enumerate(model.classes)}


def slices(views: Sequence[Terms], n_classes: int) -> Iterator[slice]:
    """Cut a batch to documents that are scored at a time."""
    most = _most(n_classes)
    ends = np.sum([terms.starts[1:] for terms in views], axis=0)
    start, before = 0, 0
    while start < len(ends):
        fitting = int(np.searchsorted(ends, before + PART_TERMS, side="right"))
        end = min(max(fitting, start + 1), start + most)
        yield slice(start, end)
        start, before = end, int(ends[end - 1])


def _most(n_classes: int) -> int:
    """Return the maximum of documents that are scored at a time."""
    return min(PART, max(1, PART_SCORES // n_classes))


def _in_parts(sample: Iterable[Labelled], n_classes: int) -> Iterator[Labelled]:
    """Cut batches as `slices` does, or put them together if they have less."""
    most = _most(n_classes)
    names: list[str] = []
    waiting: list[list[Terms]] = []
    n_terms = 0
    for labels, views in sample:
        for some in slices(views, n_classes):
            part = [terms.part(some) for terms in views]
            size = sum(len(terms.keys) for terms in part)
            is_room = n_terms + size <= PART_TERMS
            if names and not (is_room and len(names) + some.stop - some.start <= most):
                yield names, [joined(parts) for parts in zip(*waiting, strict=True)]
                names, waiting, n_terms = [], [], 0
            names += labels[some]
            waiting.append(part)
            n_terms += size
    if names:
        yield names, [joined(parts) for parts in zip(*waiting, strict=True)]


def observed_losses(scores: Scores, labels: Labels) -> NDArray[np.int64]:
    """
    Return the sum of the log-losses at each temperature, in units of 2^-20 nats.

    The first octave of temperatures takes exponentials, each other their squares.

    Args:
        scores: shape (n_documents, n_classes).
        labels: shape (n_documents,), the classes' places.
    """
    sums = np.zeros(len(TEMPERATURES), np.int64)
    temperatures = np.array(TEMPERATURES)
    step = min(AT_A_TIME, max(ROOM // (OCTAVE * scores.shape[1]), 1))
    for start in range(0, len(labels), step):
        # less than the best by, (n_documents, n_classes); those of the labels
        below = normalised(scores[start : start + step])
        documents, best = np.arange(len(below)), below.argmax(axis=1)
        below -= below[documents, best][:, None]
        own = below[documents, labels[start : start + step]]
        # what the other classes have of the best: (OCTAVE, n_classes, n_documents)
        others = np.multiply(
            temperatures[:OCTAVE, None, None],
            below.T,
            order="C" if scores.shape[1] < FEW_CLASSES else "K",
        )
        np.exp(others, out=others)
        others[:, best, documents] = 0.0
        for place in range(0, len(temperatures), OCTAVE):
            some = temperatures[place : place + OCTAVE]
            shares = others[: len(some)].sum(axis=1)
            losses = np.log1p(shares) - some[:, None] * own
            units = np.rint(np.minimum(losses, MOST_LOSS) * LOSS_UNIT)
            sums[place : place + OCTAVE] += units.astype(np.int64).sum(axis=1)
            if place == SURE and scores.shape[1] < FEW_CLASSES:
                left = np.flatnonzero((own < 0.0) | (shares[-1] > NOTHING))
                if len(left) > 1:  # what one alone has is added up in another order
                    others, own = others.take(left, axis=2), own.take(left)
            others *= others
    return sums
