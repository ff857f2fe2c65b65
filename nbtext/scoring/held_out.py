"""
What held-out documents scored: read from a model, and added to it.

A model keeps the scores of documents that it did not know when they were scored
(`nbtext.counts.calibration`), of one scoring at a time. What is kept of a score follows
from the event model: a histogram's bin, the losses at each temperature, or nothing.
"""

from nbtext.counts import Calibration, Fit, bin_of, fit
from nbtext.counts.calibration import LOSS_UNIT, TEMPERATURES, total
from nbtext.errors import NotAModelError
from nbtext.scoring.model import Model
from nbtext.scoring.models.evidence import Raw
from nbtext.scoring.models.registry import event_model
from nbtext.scoring.posterior import normalised
from nbtext.settings import Scoring
from nbtext.store.calibrations import last_fit


def fitted(model: Model) -> Fit:
    """
    Return what turns this model's scores into probabilities.

    Raises:
        NotAModelError: what the file keeps for calibration is damaged.
        SettingsError: there is no such score.

    """
    if event_model(model.scoring.score).calibration == "none":
        return Fit()
    stored = None
    if model.scoring == model.file.scoring and _has_all_classes(model):
        stored = last_fit(model.file)
    return fit(held_out(model), model.classes) if stored is None else stored


def _has_all_classes(model: Model) -> bool:
    """Return whether the classes are those that the last table was fitted with."""
    first, *tail = model.file.tables
    return bool(tail) or first.header.classes == model.classes


def held_out(model: Model) -> Calibration:
    """
    Return what held-out documents scored; nothing if other scores than this model's.

    Raises:
        NotAModelError: what the file keeps for calibration is damaged.
        SettingsError: there is no such score.

    """
    if event_model(model.scoring.score).calibration == "none":
        return Calibration()
    try:
        calibrations = [Calibration.from_dict(plain) for plain in model.calibrations]
    except ValueError as error:
        message = f"{model.path}: damaged: {error}; restore a copy or train again"
        raise NotAModelError(message) from error
    calibration = total(calibrations)
    if calibration.scoring != model.scoring.as_dict():
        return Calibration()
    return calibration


def observed(model: Model, raw: Raw, label: str) -> Calibration:
    """
    Return what a score says for calibration, once the document's class is known.

    Args:
        model: what scored it; the document was not in it.
        raw: the score.
        label: the class.

    """
    scoring = model.scoring
    calibration = event_model(scoring.score).calibration
    if label not in model.classes or len(model.classes) < 2 or calibration == "none":
        return Calibration()
    if calibration == "histogram":
        counts = {(bin_of(raw[0]), label): 1}
        return Calibration(scoring.as_dict(), counts, (), {label: 1})
    place = model.classes.index(label)
    losses = [-normalised([s * value for value in raw])[place] for s in TEMPERATURES]
    units = tuple(round(loss * LOSS_UNIT) for loss in losses)
    return Calibration(scoring.as_dict(), {}, units, {label: 1})


def taken_back(scoring: Scoring, bin_: int, label: str) -> Calibration:
    """
    Return what undoes the observation of a score in a bin of a histogram.

    Nothing for other calibrations: losses are not known by document.
    """
    if event_model(scoring.score).calibration != "histogram":
        return Calibration()
    return Calibration(scoring.as_dict(), {(bin_, label): -1}, (), {label: -1})
