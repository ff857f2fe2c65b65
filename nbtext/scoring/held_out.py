"""
What held-out documents scored: read from a model, and added to it.

A model keeps the scores of documents that it did not know when they were scored
(`nbtext.counts.calibration`), by the candidates of one scoring. What is kept of a score
follows from the event model: a histogram's bin, or the losses at each temperature.
"""

from collections.abc import Sequence

from nbtext.counts import Calibration, Fit, bin_of, fit
from nbtext.counts.calibration import (
    FARTHEST_BIN,
    LOSS_UNIT,
    TEMPERATURES,
    calibration_for,
)
from nbtext.scoring.candidates import candidates
from nbtext.scoring.model import Model
from nbtext.scoring.models.evidence import Raw
from nbtext.scoring.models.protocol import EventModel
from nbtext.scoring.models.registry import event_model
from nbtext.scoring.posterior import normalised
from nbtext.settings import Scoring, Settings
from nbtext.store.calibrations import calibrations_of, last_fit
from nbtext.store.ledger import last_scored_by
from nbtext.tokens import Bag


def fitted(model: Model) -> Fit:
    """
    Return what turns this model's scores into probabilities.

    Raises:
        NotAModelError: what the file keeps for calibration is damaged.
        SettingsError: there is no such score.

    """
    if not model.scoring.calibrated:
        return Fit()
    if model.correction is not None:  # which was made for this slope
        info = model.correction.info
        return Fit(info.slope, 0.0, info.documents)
    stored = None
    is_same = model.scoring.of_scores() == model.file.scoring.of_scores()
    if is_same and _has_all_classes(model):
        stored = last_fit(model.file)
    return fit(held_out(model), model.classes) if stored is None else stored


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


def no_calibrations(model: Model) -> tuple[Calibration, ...]:
    """Return the calibrations of a model's candidates, without any document."""
    n_classes = len(model.classes)
    return tuple(
        no_calibration(scoring, model.settings, n_classes)
        for scoring in candidates(model.scoring)
    )


def fitted_by(
    scoring: Scoring, calibrations: Sequence[Calibration], classes: Sequence[str]
) -> Fit:
    """Return what was fitted for a scoring, of the calibrations of its candidates."""
    calibration = calibration_for(scoring, calibrations)
    if calibration is None or not scoring.calibrated:
        return Fit()
    return fit(calibration, classes)


def observed(model: Model, bag: Bag, label: str) -> tuple[Calibration, ...]:
    """
    Return what a document says for calibration, once its class is known.

    Args:
        model: what scores it; the document is not in it.
        bag: the document's terms in each view.
        label: the class.

    Returns:
        One for each candidate; none if it cannot be scored.

    """
    event = event_model(model.scoring.score)
    classes = model.classes
    if label not in classes or len(classes) < 2:
        return ()
    scores = event.scores(model, candidates(model.scoring), bag)
    return tuple(
        _observed(nothing, event, raw, classes, label)
        for nothing, raw in zip(no_calibrations(model), scores, strict=True)
    )


def _observed(
    nothing: Calibration,
    event: EventModel,
    raw: Raw,
    classes: Sequence[str],
    label: str,
) -> Calibration:
    """Return a calibration of one document."""
    if event.calibration == "histogram":
        counts = {(bin_of(raw[0]), label): 1}
        return nothing._replace(counts=counts, documents={label: 1})
    place = classes.index(label)
    losses = [-normalised([s * value for value in raw])[place] for s in TEMPERATURES]
    units = tuple(round(loss * LOSS_UNIT) for loss in losses)
    return nothing._replace(losses=units, documents={label: 1})


def taken_back(
    model: Model, bins: Sequence[int], label: str
) -> tuple[Calibration, ...]:
    """
    Return what undoes the observation of a document's scores.

    Nothing for losses, which are not known by document.

    Args:
        model: what it was learnt into.
        bins: where its scores fell, by each calibration of the model.
        label: its class.

    """
    nothing = no_calibrations(model)
    wanted = [one.scoring for one in nothing]
    if len(bins) != len(nothing) or last_scored_by(model.file.tables) != wanted:
        return ()
    return tuple(
        one._replace(counts={(bin_, label): -1}, documents={label: -1})
        if abs(bin_) <= FARTHEST_BIN  # NO_BIN is none
        else one
        for one, bin_ in zip(nothing, bins, strict=True)
    )
