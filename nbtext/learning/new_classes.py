"""
Classes that a model is about to get: whether it can, and how it is scored with them.

A model and the names of classes go in; out come the model with the score that goes with
all of its classes then, and what speaks against those that it cannot have.
"""

from collections.abc import Collection, Iterable

from nbtext import wording
from nbtext.classes import folder_of, quoted, similar
from nbtext.errors import NbtextError, SettingsError, TrainingError, UnknownClassError
from nbtext.policy import Policy
from nbtext.scoring import Model, check_scoring, event_model
from nbtext.scoring.models.registry import for_classes, scoring_for


def _to_create() -> str:
    return f"for a new class, add {wording.given(create=True)}"


def with_classes(
    model: Model, labels: Iterable[str], *, create: bool, others_go_on: bool
) -> tuple[Model, dict[str, str]]:
    """
    Return the model as it is to be scored once it has learnt some classes.

    Args:
        model: as it is.
        labels: the classes, whether it has them or not, in the order in which they
            may begin.
        create: whether one may resemble a class that there is.
        others_go_on: whether one that it cannot have keeps no other from it. Nobody has
            named these then, but documents; without `create` none is new.

    Returns:
        The model, and the classes that it cannot have, to what speaks against them.

    Raises:
        As `check_name` and `with_class` do, unless others go on.
    """
    refusals: dict[str, str] = {}
    known = {*model.classes}
    for label in labels:
        try:
            if label not in known:
                check_name(label)
                if others_go_on and not create:
                    raise UnknownClassError(
                        model.path, label, sorted(known), advice=_to_create()
                    )
            model = with_class(model, label, known, create=create)
            known.add(label)
        except NbtextError as error:
            if not others_go_on:
                raise
            refusals[label] = str(error).removeprefix(f"{model.path}: ")
    return model, refusals


def with_class(
    model: Model, label: str, known: Collection[str], *, create: bool
) -> Model:
    """
    Return the model as it is to be scored once it has learnt a class.

    Where its score is for two classes, and one more is learnt, that is the default
    score of more classes, if what it needs was counted.

    Raises:
        TrainingError: it needs other settings than the model has.
        UnknownClassError: it is spelt like a class, or means the same, and shall not be
            begun.
    """
    names = sorted(known)
    may_resemble = create or label in known
    if not may_resemble and (similar(label, names) or folder_of(label, names)):
        raise UnknownClassError(model.path, label, names, advice=_to_create())
    classes = sorted({*known, label})
    if len(classes) < 2:
        return model
    scoring = model.scoring
    if event_model(scoring.score).refusal(scoring, model.settings, classes):
        default = scoring_for(model.settings, len(classes))
        scoring = for_classes(default, len(classes))._replace(
            attributes=model.scoring.attributes
        )
    try:
        check_scoring(scoring, model.settings, classes)
    except SettingsError as error:
        ask = wording.call("train", sources=[f"{name}=..." for name in classes])
        if label in model.classes:  # files were joined that do not go together
            what = f"the model cannot be taught: {error}"
        else:
            what = (
                f"no class {quoted(label)}: the model reads documents for the classes "
                f"{', '.join(model.classes)}, and for one more they are read otherwise"
            )
        message = f"{model.path}: {what}; run `{ask}`"
        raise TrainingError(message) from error
    if model.policy is not None and label not in known:
        _check_policy(model.policy, model, label)
    return model if scoring == model.scoring else model.scored_by(scoring)


def check_name(label: str) -> None:
    """
    Refuse what cannot be the name of a class.

    Raises:
        SettingsError: it means something else, or nobody could read it.
    """
    if label in ("", "?") or not label.isprintable():
        message = (
            f"a class cannot be called {quoted(label)}; choose a name for people to "
            "read"
        )
        raise SettingsError(message)


def _check_policy(policy: Policy, model: Model, label: str) -> None:
    """
    Refuse a new class with which a model could no longer decide by its policy.

    Raises:
        TrainingError: that would be so.
    """
    if len(model.classes) < 2:
        return
    from nbtext.scoring.policy_rule import basis_of, rule_of  # few models need it

    basis = basis_of(model)
    documents = dict(zip(model.classes, model.documents, strict=True)) | {label: 1}
    classes = tuple(sorted(documents))
    after = basis._replace(
        classes=classes, documents=tuple(documents[name] for name in classes)
    )
    try:
        rule_of(policy, basis)
    except SettingsError:
        return  # it cannot decide as it is
    try:
        rule_of(policy, after)
    except SettingsError as error:
        message = (
            f"{model.path}: no class {quoted(label)}: the model could not decide by "
            f"its policy any more ({error}); change that first, with "
            f"`{wording.call('set_policy')}`"
        )
        raise TrainingError(message) from error
