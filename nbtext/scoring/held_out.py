"""
What held-out documents scored, as a model keeps it, and what is fitted to that.

A model keeps the scores of documents that it did not know when they were scored
(`nbtext.counts.calibration`), by the candidates of one scoring. What is kept of a score
follows from the event model: a histogram's bin, or the losses at each temperature.
Of two classes, where scores are corrected, what the second one has more than the first
is kept as well, by bins; what is kept of scores without the correction is of use where
that is passed over.
`nbtext.scoring.observed` adds to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext.counts.correction import CorrectionInfo
    from nbtext.scoring.batch_model import BatchModel
    from nbtext.scoring.model import Model
    from nbtext.settings.scoring import Scoring

from nbtext.counts import Calibration, Fit, fit
from nbtext.counts.calibration import CORRECTED, TEMPERATURES, calibration_for
from nbtext.scoring.candidates import candidates
from nbtext.scoring.models.registry import event_model, is_one_number
from nbtext.store.calibrations import calibrations_of, last_fit


def fitted(model: Model) -> Fit:
    """
    Return what turns this model's scores into probabilities.

    Raises:
        NotAModelError: what the file keeps for calibration is damaged.
        SettingsError: there is no such score.
    """
    if not model.scoring.calibrated:
        return Fit()
    if model.correction is not None:
        return fit_of(model.correction.info)
    stored = None
    is_same = model.scoring.of_scores() == model.file.scoring.of_scores()
    if is_same and _has_all_classes(model):
        stored = last_fit(model.file)
    return fit(held_out(model), model.classes) if stored is None else stored


def fit_of(correction: CorrectionInfo) -> Fit:
    """Return what turns corrected scores into probabilities, as they were made for."""
    return Fit(correction.slope * correction.steepness, 0.0, correction.documents)


def _has_all_classes(model: Model) -> bool:
    """Return whether the classes are those that the last table was fitted with."""
    first, *tail = model.file.tables
    return bool(tail) or first.header.classes == model.classes


def held_out(model: Model) -> Calibration:
    """
    Return what held-out documents scored; of other scores than this model's, nothing.

    Raises:
        NotAModelError: what the file keeps for calibration is damaged.
        SettingsError: there is no such score.
    """
    kept = calibrations_of(model.file.tables)
    found = held_out_by(model.scoring, kept, is_corrected=keeps_corrected(model))
    return found or no_calibration(model.scoring, len(model.classes))


def held_out_by(
    scoring: Scoring, calibrations: Sequence[Calibration], *, is_corrected: bool
) -> Calibration | None:
    """
    Return what held-out documents scored, of all that is kept; None if nothing.

    Args:
        scoring: how documents are scored.
        calibrations: what is kept.
        is_corrected: whether scores are corrected, and of two classes. Of more, what is
            kept with the correction, as of two models merged, is of two of them alone.
    """
    if is_corrected:
        wanted = corrected(scoring)
        found = next((one for one in calibrations if one.scoring == wanted), None)
        if found or is_one_number(scoring):
            return found
    return calibration_for(scoring, calibrations)


def corrected(scoring: Scoring) -> dict[str, Any]:
    """Return the scoring of corrected scores, as their calibration has it."""
    return scoring.of_scores() | {CORRECTED: True}


def no_calibration(scoring: Scoring, n_classes: int) -> Calibration:
    """Return the calibration of a scoring by which no document was scored."""
    event = event_model(scoring.score)
    has_losses = event.calibration == "temperature"
    return Calibration(
        scoring.of_scores(),
        event.prior(n_classes),
        losses=(0,) * len(TEMPERATURES) if has_losses else (),
    )


def no_calibrations(model: Model | BatchModel) -> tuple[Calibration, ...]:
    """
    Return all calibrations that a model keeps, without any document.

    They are those of the candidates, and last that of corrected scores, if any.
    """
    n_classes = len(model.classes)
    found = [no_calibration(one, n_classes) for one in candidates(model.scoring)]
    if keeps_corrected(model):
        found.append(Calibration(corrected(model.scoring)))
    return tuple(found)


def keeps_corrected(model: Model | BatchModel) -> bool:
    """Return whether a model keeps what documents score with its correction."""
    return model.correction is not None and len(model.classes) == 2


def fitted_by(
    scoring: Scoring, calibrations: Sequence[Calibration], classes: Sequence[str]
) -> Fit:
    """Return what was fitted for a scoring, of the calibrations of its candidates."""
    calibration = calibration_for(scoring, calibrations)
    if calibration is None or not scoring.calibrated:
        return Fit()
    return fit(calibration, classes)
