"""
Held-out scores for calibration, by exact leave-one-out.

A sample of the training documents goes in, each to be scored as if it alone had not
been counted (`EventModel.left_out`); out comes what the scores say for calibration.
"""

from __future__ import annotations

from collections import Counter as Tally
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from nbtext.counts import Calibration, bin_of
from nbtext.counts.calibration import LOSS_UNIT, TEMPERATURES, total
from nbtext.scoring.models.arrays import normalised
from nbtext.scoring.models.registry import event_model
from nbtext.tokens.bags import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from nbtext.parallel import Map
    from nbtext.scoring.batch_model import BatchModel, Labels, Scores
    from nbtext.tokens import Terms

Labelled: TypeAlias = "tuple[Sequence[str], Sequence[Terms]]"
"""A batch of documents: their labels, and for each view their terms."""

PART: Final = 48
"""Maximum documents that are scored at a time; each term has a row for each of its
classes, so more would take much memory."""

ROOM: Final = 1 << 15
"""How many losses are computed at a time, about."""


def left_out(
    model: BatchModel, sample: Iterable[Labelled], map_: Map = map
) -> Calibration:
    """
    Score documents of the training set as if they had not been in it.

    Args:
        model: the counts, the documents' own among them.
        sample: batches of documents.
        map_: deals with parts of the sample.

    Returns:
        What their scores say for calibration; nothing for a score without one.

    """
    event = event_model(model.scoring.score)
    if event.calibration == "none":
        return Calibration()

    def calibration_of(part: Labelled) -> Calibration:
        names, views = part
        labels = _places(model, names)
        scores = event.left_out(model, model.find(views), labels)
        return observed_scores(model, scores, names)

    # with no document there is a calibration of this scoring all the same
    nothing = Calibration(model.scoring.as_dict(), losses=_no_losses(model))
    return total([nothing, *map_(calibration_of, _in_parts(sample))])


def observed_scores(
    model: BatchModel, scores: Scores, names: Sequence[str]
) -> Calibration:
    """
    Return what the scores of documents say for calibration.

    Args:
        model: what scored them; none of them was in it.
        scores: their scores.
        names: their classes.

    """
    scoring = model.scoring.as_dict()
    documents = dict(Tally(names))
    if event_model(model.scoring.score).calibration == "histogram":
        bins = map(bin_of, scores.tolist())
        counts = dict(Tally(zip(bins, names, strict=True)))
        return Calibration(scoring, counts, (), documents)
    losses = observed_losses(scores, _places(model, names))
    return Calibration(scoring, {}, tuple(losses.tolist()), documents)


def _no_losses(model: BatchModel) -> tuple[int, ...]:
    has_losses = event_model(model.scoring.score).calibration == "temperature"
    return (0,) * len(TEMPERATURES) if has_losses else ()


def _places(model: BatchModel, names: Sequence[str]) -> Labels:
    return np.array([model.classes.index(name) for name in names])


def _in_parts(sample: Iterable[Labelled]) -> Iterator[Labelled]:
    """Cut batches to PART documents, or put them together if they have less."""
    names: list[str] = []
    waiting: list[Sequence[Terms]] = []
    for labels, views in sample:
        for start in range(0, len(labels), PART):
            part = labels[start : start + PART]
            if len(names) + len(part) > PART:
                yield names, [joined(parts) for parts in zip(*waiting, strict=True)]
                names, waiting = [], []
            documents = slice(start, start + len(part))
            names += part
            waiting.append([terms.part(documents) for terms in views])
    if names:
        yield names, [joined(parts) for parts in zip(*waiting, strict=True)]


def observed_losses(scores: Scores, labels: Labels) -> NDArray[np.int64]:
    """
    Return the sum of the log-losses at each temperature, in units of 2^-20 nats.

    Args:
        scores: shape (n_documents, n_classes).
        labels: shape (n_documents,), the classes' places.

    """
    sums = np.zeros(len(TEMPERATURES), np.int64)
    # losses have shape (n_temperatures, n_documents, n_classes), ROOM at a time
    temperatures = np.array(TEMPERATURES)[:, None, None]
    step = max(ROOM // (len(TEMPERATURES) * scores.shape[1]), 1)
    for start in range(0, len(labels), step):
        some = slice(start, start + step)
        documents = np.arange(len(labels[some]))
        log_posterior = normalised(temperatures * scores[some])
        losses = -log_posterior[:, documents, labels[some]]
        sums += np.rint(losses * LOSS_UNIT).astype(np.int64).sum(axis=1)
    return sums
