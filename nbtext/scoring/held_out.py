"""
What held-out documents scored, as a model keeps it, and what is fitted to that.

A model keeps the scores of documents that it did not know when they were scored
(`nbtext.counts.calibration`), by the candidates of one scoring. What is kept of a score
follows from the event model: a histogram's bin, or the losses at each temperature.
`nbtext.scoring.observed` adds to it.
"""

from collections.abc import Sequence

from nbtext.counts import Calibration, Fit, fit
from nbtext.counts.calibration import TEMPERATURES, calibration_for
from nbtext.counts.correction import CorrectionInfo
from nbtext.scoring.model import Model
from nbtext.scoring.models.registry import event_model
from nbtext.settings.reading import Settings
from nbtext.settings.scoring import Scoring
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
    kept = calibrations_of(model.path, model.file.tables)
    found = calibration_for(model.scoring, kept)
    if found is None:
        return no_calibration(model.scoring, model.settings, len(model.classes))
    return found


def no_calibration(scoring: Scoring, settings: Settings, n_classes: int) -> Calibration:
    """Return the calibration of a scoring by which no document was scored."""
    event = event_model(scoring.score)
    has_losses = event.calibration == "temperature"
    return Calibration(
        scoring.of_scores(),
        event.prior(settings, n_classes),
        losses=(0,) * len(TEMPERATURES) if has_losses else (),
    )


def fitted_by(
    scoring: Scoring, calibrations: Sequence[Calibration], classes: Sequence[str]
) -> Fit:
    """Return what was fitted for a scoring, of the calibrations of its candidates."""
    calibration = calibration_for(scoring, calibrations)
    if calibration is None or not scoring.calibrated:
        return Fit()
    return fit(calibration, classes)
