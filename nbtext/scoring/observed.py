"""
Documents that are learnt, as calibration observes them: scored before they are known.

An open model and a document's terms go in; out comes what its scores say, by every
candidate, and where they fell, or what takes back what they had said.
"""

from __future__ import annotations

from math import exp, inf, log, log1p
from operator import neg
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext.scoring.model import Model
    from nbtext.scoring.models.evidence import Raw
    from nbtext.tokens import Bag

from nbtext.counts import Calibration, bin_of
from nbtext.counts.calibration import (
    FARTHEST_BIN,
    LOSS_UNIT,
    MOST_LOSS,
    OCTAVE,
    TEMPERATURES,
)
from nbtext.scoring.candidates import candidates
from nbtext.scoring.correction import correction_evidence
from nbtext.scoring.held_out import keeps_corrected, no_calibrations
from nbtext.scoring.mixed import scores_by
from nbtext.scoring.models.evidence import score_of
from nbtext.store.ledger import LOSSES, NO_BIN, last_scored_by

LEAST_SHARE: Final = 1e-20
"""The square of a lesser share of the best class adds nothing to a loss."""


def observed(model: Model, bag: Bag, label: str) -> tuple[Calibration, ...]:
    """
    Return what a document says for calibration, once its class is known.

    Args:
        model: what scores it; the document is not in it.
        bag: the document's terms in each view.
        label: the class.

    Returns:
        One for each calibration that the model keeps; none if it cannot be scored.
    """
    classes = model.classes
    if label not in classes or len(classes) < 2:
        return ()
    scores = scores_by(model, candidates(model.scoring), bag)
    if keeps_corrected(model):
        scores = [*scores, _corrected(model, scores, bag)]
    return tuple(
        _observed(nothing, raw, classes, label)
        for nothing, raw in zip(no_calibrations(model), scores, strict=True)
    )


def _corrected(model: Model, scores: Sequence[Raw], bag: Bag) -> Raw:
    """Return what the second of two classes has more than the first, corrected."""
    own = scores[candidates(model.scoring).index(model.scoring)]
    of_text = bag[: model.settings.n_texts]
    more = score_of(correction_evidence(model, of_text), len(own))
    *first, second = map(float.__add__, own, more)
    return (second - sum(first),)  # a score of one number is that difference


def _observed(
    nothing: Calibration, raw: Raw, classes: Sequence[str], label: str
) -> Calibration:
    """Return a calibration of one document."""
    if not nothing.losses:
        counts = {(bin_of(raw[0]), label): 1}
        return nothing._replace(counts=counts, documents={label: 1})
    losses = losses_of(raw, classes.index(label))
    units = tuple(round(loss * LOSS_UNIT) for loss in losses)
    return nothing._replace(losses=units, documents={label: 1})


def losses_of(raw: Raw, place: int) -> list[float]:
    """
    Return the log-loss of a document at each of the TEMPERATURES, in nats.

    As in `nbtext.scoring.leave_one_out.observed_losses` the first octave takes
    exponentials, each other their squares.

    Args:
        raw: its score in each class.
        place: that of its own class.
    """
    best = max(range(len(raw)), key=raw.__getitem__)
    if raw[best] == -inf:  # no class is possible, so none is more probable
        return [log(len(raw))] * len(TEMPERATURES)
    below = [value - raw[best] for value in raw]
    own = below[place]
    del below[best]  # whose share is 1
    losses = [0.0] * len(TEMPERATURES)
    for first, s in enumerate(TEMPERATURES[:OCTAVE]):
        shares = [exp(s * value) for value in below]
        for number in range(first, len(losses), OCTAVE):
            loss = log1p(sum(shares)) - TEMPERATURES[number] * own
            losses[number] = min(loss, MOST_LOSS)
            shares = [share * share for share in shares if share > LEAST_SHARE]
    return losses


def bins_of(observation: Sequence[Calibration]) -> tuple[int, ...]:
    """Return where a document's scores fell, by each candidate; LOSSES if by losses."""
    return tuple(
        LOSSES if one.losses else next((bin_ for bin_, _ in one.counts), NO_BIN)
        for one in observation
    )


def taken_back(
    model: Model, bins: Sequence[int], label: str
) -> tuple[Calibration, ...]:
    """
    Return what undoes the observation of a document's scores, by their bins.

    Args:
        model: what it was learnt into.
        bins: where its scores fell, by each calibration of the model.
        label: its class.
    """
    return tuple(
        one._replace(counts={(bin_, label): -1}, documents={label: -1})
        if abs(bin_) <= FARTHEST_BIN  # NO_BIN is none
        else one
        for one, bin_ in _with_bins(model, bins)
    )


def losses_taken_back(
    model: Model, bins: Sequence[int], bag: Bag, label: str, without: Model
) -> tuple[Calibration, ...]:
    """
    Return what undoes the observation of a document's losses, which are not kept.

    They are those by which it would be observed now: the same as they were if nothing
    else has been learnt since.

    Args:
        model: what it was learnt into.
        bins: whether its losses were observed, by each calibration of the model.
        bag: its terms in each view.
        label: its class.
        without: the model as if the document had not been learnt.
    """
    known = [bin_ for _, bin_ in _with_bins(model, bins)]
    if not known or NO_BIN in known or not all(without.documents):
        return ()
    losses = observed(without, bag, label)
    if not losses:  # no class is left but that of the document
        return ()
    return tuple(
        one._replace(
            counts={} if one.losses else {(bin_, label): -1},
            losses=(*map(neg, one.losses),),
            documents={label: -1},
        )
        for one, bin_ in zip(losses, known, strict=True)
    )


def _with_bins(model: Model, bins: Sequence[int]) -> list[tuple[Calibration, int]]:
    """Return what is to be changed for each bin; nothing if they are of others."""
    nothing = no_calibrations(model)
    wanted, n = [one.scoring for one in nothing], len(nothing)
    # where there are more classes than two, what is corrected is last, and left out
    if len(bins) - n not in (0, 1) or last_scored_by(model.file.tables)[:n] != wanted:
        return []
    return [*zip(nothing, bins[:n], strict=True)]
