"""
From counts to a model: scores calibrated, candidates chosen, a correction made.

In: a count table and its sample of documents. Out: what a model holds beside counts.
Training does this, and so does cross-validation for each of its folds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from nbtext.counts import Calibration, CountTable, Fit, Sample
    from nbtext.counts.correction_table import Correction
    from nbtext.counts.sample import Block
    from nbtext.learning.base_scores import Known
    from nbtext.parallel import Map
    from nbtext.scoring.batch_model import BatchModel
    from nbtext.settings.reading import Settings
    from nbtext.settings.scoring import Scoring

from nbtext.counts.calibration import calibration_for
from nbtext.counts.fitting import chosen, fitted_loss
from nbtext.counts.sample import (
    CHOSEN_BY,
    DOCUMENTS,
    SCORES,
    TEMPERED_BY,
    TERMS,
    VISITED,
    VISITED_TERMS,
    without_copies,
)
from nbtext.learning.choosing import FEWEST, HARD, WORTH
from nbtext.scoring import event_model
from nbtext.scoring.batch import keep_memory
from nbtext.scoring.batch_model import corrected, of_documents
from nbtext.scoring.candidates import candidates
from nbtext.scoring.held_out import fit_of, fitted_by
from nbtext.scoring.leave_one_out import Finds, left_out
from nbtext.scoring.models.registry import is_one_number, keeps_histograms
from nbtext.store import Contents

KEPT: Final = 1 << 21
"""Maximum distinct terms of held-out documents that are found once for all the ways in
which they are scored: that keeps three numbers for each."""


class HeldOut(NamedTuple):
    """
    Documents that are scored as if they had not been counted.

    Attributes:
        blocks: the documents. Where a correction can be made, copies of one are one,
            and left out together (docs/experiments/040-copies.md).
        copies: shape (n_documents,), how many copies there are of each; None if one.
        finds: what is found of them, for other scorings of the same counts; None if
            nothing is to be kept.
    """

    blocks: Sequence[Block]
    copies: NDArray[np.int64] | None = None
    finds: Finds | None = None


class Finished(NamedTuple):
    """
    What is made of counts.

    Attributes:
        counts: for scoring, as was chosen; without the correction.
        calibrations: what held-out documents scored, by each candidate, and those of
            two classes by what is corrected.
        fit: what was fitted to that of the chosen one; what is corrected has its own.
        losses: the event models that were tried, and their held-out losses in nats a
            document; empty if nothing was held out.
        correction: what was learnt beside the counts, None if nothing.
    """

    counts: BatchModel
    calibrations: tuple[Calibration, ...]
    fit: Fit
    losses: dict[str, float]
    correction: Correction | None

    def model(self) -> BatchModel:
        """Return the counts, corrected; the correction is arranged for it."""
        if self.correction is None:
            return self.counts
        return corrected(self.counts, self.correction)

    @property
    def fit_of_model(self) -> Fit:
        """Return what turns the scores of `model` into probabilities."""
        return self.fit if self.correction is None else fit_of(self.correction.info)

    def contents(self, table: CountTable) -> Contents:
        """Return the whole model, of the table that was finished."""
        scoring = self.counts.scoring
        return Contents(
            table,
            scoring,
            self.calibrations,
            terms=self.counts.terms,
            correction=self.correction,
            keeps_histograms=keeps_histograms(scoring),
        )


def sample_limits(settings: Settings, *, may_correct: bool) -> tuple[int, int]:
    """Return how many documents, and terms, of a sample `finish` has use for."""
    if may_correct and is_correctable(settings):
        return VISITED, VISITED_TERMS
    return DOCUMENTS, TERMS


def n_scored(scoring: Scoring, n_classes: int, rival: Scoring | None = None) -> int:
    """
    Return how many documents of a sample are scored for calibration.

    Args:
        scoring: how they are.
        n_classes: of many classes it is fewer, since each document has a score of each.
        rival: another event model's scoring, if it is tried on the same documents.
    """
    if is_one_number(scoring):
        return DOCUMENTS
    most = CHOSEN_BY if len(candidates(scoring)) > 1 else TEMPERED_BY
    if rival is not None:
        most = DOCUMENTS
    return min(most, max(FEWEST, SCORES // n_classes))


def is_correctable(settings: Settings) -> bool:
    """Return whether a correction can be made: of weights, and with a ledger."""
    has_weights = any("weight" in view.columns for view in settings.views)
    return settings.ledger and has_weights


def finish(
    counts: BatchModel,
    sample: Sample,
    *,
    rival: Scoring | None = None,
    may_correct: bool,
    map_: Map = map,
) -> Finished:
    """
    Calibrate scores, choose among candidates, and make a correction.

    Args:
        counts: the counts, and how they are scored; parameters that are chosen may come
            out otherwise.
        sample: documents that are counted, those of smallest digest.
        rival: another event model's scoring, to be tried too if documents are enough.
        may_correct: whether a correction may be made.
        map_: deals with parts of the documents.
    """
    keep_memory()
    distinct = is_correctable(counts.settings)
    blocks = sample.head(
        n_scored(counts.scoring, len(counts.classes), rival), TERMS, distinct=distinct
    )
    if sum(map(len, blocks)) < FEWEST:
        rival = None  # they are too few to choose by
    is_small = sum(block.n_terms for block in blocks) <= KEPT
    held_out = HeldOut(*without_copies(blocks)) if distinct else HeldOut(blocks)
    del blocks
    if is_small and (may_correct or rival is not None):
        held_out = held_out._replace(finds={})
    made, known = best_of(counts, rival, held_out, map_)
    event = event_model(made.counts.scoring.score)
    can_be_corrected = event.can_be_corrected and is_correctable(counts.settings)
    # what is fitted to few documents has still to follow those that are learnt
    is_early = is_one_number(made.counts.scoring) and made.fit.documents < FEWEST
    if not (may_correct and can_be_corrected) or is_early:
        return made
    made, known = best_smoothed(made, known, held_out, map_)
    del held_out
    from nbtext.learning.base_scores import Base
    from nbtext.learning.correcting import make_correction

    found = make_correction(Base(made.counts, made.fit, known), sample, map_)
    if found.held_out is not None:
        calibrations = (*made.calibrations, found.held_out)
        made = made._replace(calibrations=calibrations)
    return made._replace(correction=found.correction)


def best_of(
    model: BatchModel, rival: Scoring | None, held_out: HeldOut, map_: Map = map
) -> tuple[Finished, Known]:
    """Score documents as `calibrated` does, by the better of two event models."""
    made, known = calibrated(model, held_out, map_)
    if rival is None or min(made.losses.values()) <= HARD:
        return made, known
    other, known_of_other = calibrated(model.scored_by(rival), held_out, map_)
    losses = made.losses | other.losses
    if losses[rival.score] < losses[model.scoring.score]:
        made, known = other, known_of_other
    return made._replace(losses=losses), known


def best_smoothed(
    made: Finished, known: Known, held_out: HeldOut, map_: Map = map
) -> tuple[Finished, Known]:
    """
    Score documents as `calibrated` does, by the best smoothing of their event model.

    There is no choice among few documents, or if the smoothing is another than the
    event model's own.
    """
    scoring, best = made.counts.scoring, (made, known)
    event = event_model(scoring.score)
    if made.fit.documents < FEWEST or scoring.smoothing != event.smoothing:
        return best
    own = least = made.losses[scoring.score]
    for way in event.smoothings:
        for smoothing in way:
            other = made.counts.scored_by(scoring._replace(smoothing=smoothing))
            tried, scores = calibrated(other, held_out, map_)
            if tried.losses[scoring.score] >= least:
                break
            least = tried.losses[scoring.score]
            best = tried._replace(losses=made.losses | tried.losses), scores
        if least < own:
            break
    return best if least < WORTH * own else (made, known)


def calibrated(
    model: BatchModel, held_out: HeldOut, map_: Map = map
) -> tuple[Finished, Known]:
    """
    Score documents as if they had not been counted, and choose among candidates.

    Returns:
        What is made of the counts, and the scores of the documents by what was chosen.
    """
    blocks, copies, finds = held_out
    documents = [(block.labels, block.views) for block in blocks]
    scorer = of_documents(model, [block.views for block in blocks])
    finds = finds if scorer is model else None
    calibrations, scores = left_out(scorer, documents, map_, copies, finds=finds)
    scoring = chosen(model.scoring, calibrations, model.classes)
    fit = fitted_by(scoring, calibrations, model.classes)
    own = calibration_for(scoring, calibrations)
    losses = {}
    if own is not None and fit.documents:
        losses[scoring.score] = fitted_loss(own, model.classes) / fit.documents
    made = Finished(model.scored_by(scoring), calibrations, fit, losses, None)
    if not scores:
        return made, {}
    places = [place for block in blocks for place in block.places]
    by_chosen = scores[candidates(model.scoring).index(scoring)]
    return made, dict(zip(places, by_chosen, strict=True))
