"""
The registry: all event models, by the names that `score` takes.

This is the one place that lists them. What the rest of nbtext wants to know of a score
(is there one of this name, which is the default, what must be counted for it, can it
score these classes) is asked here. A model is imported when it is asked for, because
one message needs no other.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from nbtext.scoring.models.event_model import EventModel
    from nbtext.scoring.models.parameters import Parameter
    from nbtext.settings.reading import Format, Settings
    from nbtext.settings.scoring import Parameters

from types import MappingProxyType

from nbtext import wording
from nbtext.classes import quoted
from nbtext.errors import SettingsError, TrainingError
from nbtext.scoring.models.parameters import LEVELS, attribute_parameters
from nbtext.settings.columns import Column, in_order
from nbtext.settings.scoring import (
    OCCURRENCES,
    ONCE,
    SHARES,
    SKIP,
    Scoring,
    check_class_prior,
    check_counting,
    check_range,
)

NOTHING: Final[Mapping[str, float]] = MappingProxyType({})
"""No numbers."""

MODULES: Final = {
    "mean": "mean",
    "weighted": "weighted",
    "sum": "multinomial",
    "bernoulli": "bernoulli",
    "kary": "kary",
    "poisson": "poisson",
    "complement": "complement",
    "wcnb": "wcnb",
    "tfidf": "tfidf",
    "contrast": "contrast",
}
"""The name of each event model, and the module that it is in."""

DEFAULT_FOR_MAIL: Final = "mean"
"""The default event model for two classes of mail, and as long as there are fewer."""

DEFAULT_FOR_TEXT: Final = "weighted"
"""The default event model for two classes of text, and as long as there are fewer."""

RIVALS: Final = {"weighted": "contrast"}
"""Event models that training tries beside a default (`nbtext.learning.choosing`)."""

DEFAULT_FOR_MORE: Final = "contrast"
"""The default event model for more classes."""

DEFAULT_WITHOUT_TEXT: Final = "sum"
"""The default event model of records that have no text."""


def event_model(name: str) -> EventModel:
    """
    Return the event model of a name.

    Raises:
        SettingsError: there is none.
    """
    if name not in MODULES:
        message = f"the score is {name!r}, expected one of {', '.join(MODULES)}"
        raise SettingsError(message)
    module = import_module(f"nbtext.scoring.models.{MODULES[name]}")
    model: EventModel = module.MODEL
    return model


def is_one_number(scoring: Scoring) -> bool:
    """
    Return whether a document's score is one number, which is kept in bins.

    Else it has one for each class, and losses are added up.

    Raises:
        SettingsError: there is no such score.
    """
    return event_model(scoring.score).calibration == "histogram"


def event_models() -> Iterator[EventModel]:
    """Yield all event models."""
    return map(event_model, MODULES)


def choice_of(models: Iterable[EventModel]) -> str:
    """
    Return the option that names a score, of one event model or more, for a message.

    It is such as `score sum, bernoulli or poisson`.
    """
    *others, last = [model.name for model in models]
    choice = f"{', '.join(others)} or {last}" if others else last
    return f"{wording.named('score')} {choice}"


def scoring_of(name: str) -> Scoring:
    """
    Return the scoring of an event model, with the smoothing that suits it.

    Raises:
        SettingsError: there is no such model.
    """
    model = event_model(name)
    parameters = sorted((one.name, one.default) for one in model.parameters)
    return Scoring(
        name,
        model.smoothing,
        parameters=tuple(parameters),
        calibrated=not model.is_textbook,
    )


def default_scoring(document_format: Format, n_classes: int) -> Scoring:
    """Return the scoring that does best for a kind of document and some classes."""
    if n_classes > 2:
        return scoring_of(DEFAULT_FOR_MORE)
    is_mail = document_format == "mail"
    return scoring_of(DEFAULT_FOR_MAIL if is_mail else DEFAULT_FOR_TEXT)


def scoring_for(settings: Settings, n_classes: int) -> Scoring:
    """Return the scoring that does best for documents read so, and some classes."""
    scoring = default_scoring(settings.format, n_classes)
    if not settings.n_texts:
        scoring = scoring_of(DEFAULT_WITHOUT_TEXT)
    return with_attributes(scoring, settings)


def with_attributes(scoring: Scoring, settings: Settings) -> Scoring:
    """Return the same scoring, for the attributes of settings if they have any."""
    if not settings.has_attributes:
        return scoring
    needed = attribute_parameters(settings)
    return scoring._replace(attributes=tuple((one.name, one.default) for one in needed))


def rival_of(name: str) -> str:
    """Return the event model that is tried beside that of a name; empty if none."""
    return RIVALS.get(name, "")


def changed(
    scoring: Scoring,
    score: str | None = None,
    smoothing: float | None = None,
    counting: Any = None,
    *,
    calibrate: bool = False,
    class_prior: str | None = None,
    levels: int | None = None,
    unknown: str | None = None,
    attributes: Mapping[str, float] = NOTHING,
    parameters: Sequence[tuple[str, float]] = (),
) -> Scoring:
    """
    Return the same scoring but for what is given.

    Another score brings its own smoothing, unless one is given, and its parameters;
    one of the textbook's is not calibrated, unless that is asked. A class prior is kept
    for those of textbooks alone that are not calibrated: the others have the shares of
    the documents in what is fitted.

    Args:
        scoring: what is changed.
        score: the name of an event model.
        smoothing: what is added to every count of text.
        counting: what a term that occurs n times counts, one of COUNTINGS.
        calibrate: whether a textbook's score is calibrated.
        class_prior: what a textbook's score takes for P(class).
        levels: how many numbers of occurrences the K-ary score tells apart.
        unknown: what tokens count that the model does not know.
        attributes: numbers by which attributes are scored, by name.
        parameters: numbers of the event model that differ, each with its name.

    Raises:
        SettingsError: a value is unknown or out of its range, or the model has no
            attributes for it.
    """
    if class_prior is not None:  # though the score may do without
        check_class_prior(class_prior)
    if score is not None and score != scoring.score:
        scoring = scoring_of(score)._replace(
            counting=scoring.counting,
            class_prior=scoring.class_prior,
            unknown=scoring.unknown,
            attributes=scoring.attributes,
        )
    if levels is not None:
        check_levels(scoring.score)
        parameters = [(LEVELS, levels), *parameters]
    scoring = _with_parameters(scoring, parameters)
    model, is_calibrated = event_model(scoring.score), calibrate or scoring.calibrated
    if unknown is None and not model.has_unknown:
        unknown = SKIP
    if is_calibrated or not model.is_textbook:
        class_prior = SHARES
    changes: dict[str, Any] = {
        "unknown": unknown,
        "smoothing": smoothing,
        "counting": counting,
        "calibrated": is_calibrated,
        "class_prior": class_prior,
        "attributes": _with_more(scoring.attributes, attributes)
        if attributes
        else None,
    }
    given = {name: value for name, value in changes.items() if value is not None}
    scoring = scoring._replace(**given)
    scoring.check()
    return scoring


def _with_parameters(
    scoring: Scoring, parameters: Sequence[tuple[str, float]]
) -> Scoring:
    """
    Return the same scoring, but with these parameters of its event model.

    Raises:
        SettingsError: the model has no such parameter, or that is no number for it.
    """
    for name, value in parameters:
        if name not in dict(scoring.parameters):
            names = ", ".join(name for name, _ in scoring.parameters)
            message = f"the {scoring.score} score has no parameter {name!r}" + (
                f", but {names}" if names else "; it has none at all"
            )
            raise SettingsError(message)
        try:
            number = float(value)
        except (TypeError, ValueError) as error:
            message = f"the parameter {name!r} is {value!r:.80}, expected a number"
            raise SettingsError(message) from error
        if name == LEVELS and not number.is_integer():
            message = f"the parameter {name!r} is {value!r}, expected a whole number"
            raise SettingsError(message)
        scoring = scoring.with_parameters(**{name: number})
    return scoring


def _with_more(attributes: Parameters, changes: Mapping[str, float]) -> Parameters:
    """
    Return numbers by which attributes are scored, changed, in the order of their names.

    Raises:
        SettingsError: the model has no attributes that one of them is for.
    """
    known = dict(attributes)
    for name in changes.keys() - known.keys():
        option = f"--{name.replace('_', '-')}"
        raise SettingsError(f"{option}: the model has no columns of that kind")
    return tuple(sorted((known | {**changes}).items()))


def keeps_histograms(scoring: Scoring) -> bool:
    """Return whether a model that is scored so keeps histograms of its counts."""
    if scoring.score not in MODULES:
        return False
    return event_model(scoring.score).keeps_histograms(scoring)


def for_classes(scoring: Scoring, n_classes: int) -> Scoring:
    """
    Return a scoring with the parameters that follow from the number of classes.

    Training does this once: a model that learns another class keeps its parameters.
    """
    parameters = event_model(scoring.score).parameters_for(n_classes)
    return scoring.with_parameters(**parameters)


def check_levels(score: str | None) -> None:
    """
    Refuse to choose the number of levels without an event model that has levels.

    Raises:
        SettingsError: that is so.
    """
    having = [
        model
        for model in event_models()
        if any(parameter.name == LEVELS for parameter in model.parameters)
    ]
    if score not in [model.name for model in having]:
        others = choice_of(having)
        what = f"the {score} score has none" if score else f"add {others}"
        levels = wording.named("levels")
        message = f"levels of a term ({levels}) go with {others}; {what}"
        raise SettingsError(message)


def suited_to(
    settings: Settings, scoring: Scoring, wanted: Collection[str] = ()
) -> Settings:
    """
    Return settings by which all that a scoring needs is counted.

    Byte n-grams are left out if it does better without them.

    Args:
        settings: how documents are read.
        scoring: how they are scored.
        wanted: names of views that stay in any case.

    Raises:
        SettingsError: there is no such score.
    """
    model = event_model(scoring.score)
    further = model.further_columns(scoring)
    views = []
    for view in settings.views:
        if view.kind != "text":
            views.append(view)
            continue
        is_read = model.reads_ngrams or view.name in wanted
        if view.alphabet == "ngrams" and not is_read:
            continue
        columns = in_order((*view.columns, *model.columns(view), *further))
        views.append(view._replace(columns=columns))
    return settings._replace(views=tuple(views))


def counting_by(settings: Settings, counting: str) -> Settings:
    """
    Return settings by which all that a damping needs is counted.

    Raises:
        SettingsError: there is no such way to count.
    """
    from nbtext.scoring.models.damping import damping

    check_counting(counting)
    needed = damping(counting).columns
    views = (
        view._replace(columns=in_order((*view.columns, *needed)))
        if view.kind == "text"
        else view
        for view in settings.views
    )
    return settings._replace(views=tuple(views))


def check_scoring(scoring: Scoring, settings: Settings, classes: Sequence[str]) -> None:
    """
    Refuse a score that does not go with the classes, or with what was counted.

    Raises:
        TrainingError: there are not two classes.
        SettingsError: there is no such score, it cannot score these classes, or a
            column or a parameter that it needs is missing.
    """
    if len(classes) < 2:
        known = f"only the class {quoted(classes[0])}" if classes else "no class"
        ask = wording.call("learn", label=wording.Blank("CLASS"))
        message = (
            f"the model knows {known}, and two are needed; teach it another with "
            f"`{ask}`"
        )
        raise TrainingError(message)
    model = event_model(scoring.score)
    owner = f"the {model.name} score"
    _check_numbers(dict(scoring.parameters), model.parameters, owner)
    if settings.has_attributes or scoring.attributes:
        _check_attributes(scoring, settings, model)
    refusal = _refusal(model, scoring, settings, classes)
    if refusal:
        others = _others(scoring, settings, classes)
        raise SettingsError(f"the {model.name} score {refusal}; {others}")
    missing = _missing(model, scoring, settings)
    if missing:
        wanted: dict[str, object] = {"score": model.name}
        if scoring.counting != OCCURRENCES:
            wanted["counting"] = scoring.counting
        if model.further_columns(scoring):
            wanted["levels"] = int(scoring.parameter(LEVELS))
        message = (
            f"the {model.name} score needs the {' and the '.join(missing)} column, "
            f"which this model does not have; train with {wording.given(**wanted)}"
        )
        raise SettingsError(message)


def _refusal(
    model: EventModel, scoring: Scoring, settings: Settings, classes: Sequence[str]
) -> str:
    """Say what a model cannot do that is asked of it; empty if it can."""
    if scoring.unknown != SKIP and not model.has_unknown:
        return f"leaves unknown words out ({wording.named('unknown')})"
    return model.refusal(scoring, settings, classes)


def _others(scoring: Scoring, settings: Settings, classes: Sequence[str]) -> str:
    """Say which event models do what one cannot: with these counts, or with more."""
    at_once: list[EventModel] = []
    with_more: list[EventModel] = []
    for model in event_models():
        if not _refusal(model, scoring, settings, classes):
            own = scoring_of(model.name)._replace(counting=scoring.counting)
            (with_more if _missing(model, own, settings) else at_once).append(model)
    parts = [f"use {choice_of(at_once)}"] if at_once else []
    parts += [f"train with {choice_of(with_more)}"] if with_more else []
    return ", or ".join(parts)


def _check_numbers(
    given: Mapping[str, float], parameters: Iterable[Parameter], owner: str
) -> None:
    """Refuse numbers that are not those of an owner, or out of range."""
    declared = {one.name: one for one in parameters}
    for name in sorted(declared.keys() ^ given.keys()):
        what = "is missing" if name in declared else "is unknown"
        message = (
            f"the parameter {name} of {owner} {what}; train again, or "
            "use the nbtext that wrote the model"
        )
        raise SettingsError(message)
    for name, value in given.items():
        check_range(name, value, declared[name].least, declared[name].most)


def _check_attributes(scoring: Scoring, settings: Settings, model: EventModel) -> None:
    """Refuse numbers that are not those of the attributes, or a score without text."""
    declared = attribute_parameters(settings)
    _check_numbers(dict(scoring.attributes), declared, "the columns")
    if not settings.n_texts and not model.is_textbook:
        others = choice_of(other for other in event_models() if other.is_textbook)
        message = (
            f"the {model.name} score is one of text, and no column of text is read; "
            f"use {others}"
        )
        raise SettingsError(message)


def _missing(model: EventModel, scoring: Scoring, settings: Settings) -> list[str]:
    """Return the columns that a scoring needs and settings do not have, sorted."""
    further = model.further_columns(scoring)
    if scoring.counting not in (OCCURRENCES, ONCE):  # which every view has
        from nbtext.scoring.models.damping import damping

        further = (*further, *damping(scoring.counting).columns)
    missing: set[Column] = set()
    for view in settings.views[: settings.n_texts]:
        missing |= {*model.columns(view), *further}.difference(view.columns)
    return sorted(missing)
