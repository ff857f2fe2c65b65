"""
From counts to a model: scores calibrated, candidates chosen, a correction made.

In: a count table and its sample of documents. Out: what a model holds beside counts.
Training does this, and so does cross-validation for each of its folds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbtext.counts import Calibration, CountTable, Fit, Sample
    from nbtext.counts.correction_table import Correction
    from nbtext.parallel import Map
    from nbtext.scoring.batch_model import BatchModel
    from nbtext.settings import Scoring, Settings

from nbtext.counts.fitting import chosen
from nbtext.counts.sample import DOCUMENTS, TERMS, VISITED, VISITED_TERMS
from nbtext.learning.correcting import make_correction
from nbtext.scoring import event_model
from nbtext.scoring.batch_model import batch_model_of, corrected
from nbtext.scoring.held_out import fitted_by
from nbtext.scoring.leave_one_out import left_out


@dataclass(frozen=True, slots=True)
class Finished:
    """
    What is made of counts.

    Attributes:
        model: the counts, scored as was chosen, and corrected.
        calibrations: what held-out documents scored, by each candidate.
        fit: what was fitted to that of the chosen one.
        correction: what was learnt beside the counts, None if nothing.
    """

    model: BatchModel
    calibrations: tuple[Calibration, ...]
    fit: Fit
    correction: Correction | None


def sample_limits(settings: Settings, *, may_correct: bool) -> tuple[int, int]:
    """
    Return how many documents, and terms, of a sample `finish` has use for.

    Args:
        settings: how they are read.
        may_correct: whether a correction may be made.

    """
    if may_correct and is_correctable(settings):
        return VISITED, VISITED_TERMS
    return DOCUMENTS, TERMS


def is_correctable(settings: Settings) -> bool:
    """Return whether a correction can be made: of weights, and with a ledger."""
    has_weights = any("weight" in view.columns for view in settings.views)
    return settings.ledger and has_weights


def finish(
    table: CountTable,
    scoring: Scoring,
    sample: Sample,
    *,
    may_correct: bool,
    map_: Map = map,
) -> Finished:
    """
    Calibrate scores, choose among candidates, and make a correction.

    Args:
        table: the counts.
        scoring: how they are scored; parameters that are chosen may come out otherwise.
        sample: documents that are counted, those of smallest digest.
        may_correct: whether a correction may be made.
        map_: deals with parts of the documents.

    """
    model = batch_model_of(table, scoring, map_)
    head = sample.head(DOCUMENTS, TERMS)
    labelled = ((block.labels, block.views) for block in head)
    calibrations = left_out(model, labelled, map_)
    model = model.scored_by(chosen(scoring, calibrations, table.classes))
    fit = fitted_by(model.scoring, calibrations, table.classes)
    correction = None
    is_correctable_score = event_model(scoring.score).can_be_corrected
    if may_correct and is_correctable_score and is_correctable(table.settings):
        correction = make_correction(table, model, fit.slope, sample, map_).correction
    if correction is not None:
        model = corrected(model, correction)
    return Finished(model, calibrations, fit, correction)
