"""A policy held against a class that its model is about to get."""

from nbtext.classes import quoted
from nbtext.errors import SettingsError, TrainingError
from nbtext.policy import Policy
from nbtext.scoring import Model


def check_policy(policy: Policy, model: Model, label: str) -> None:
    """
    Refuse a new class with which a model could no longer decide by its policy.

    Args:
        policy: that of the model.
        model: the model as it is.
        label: the class that it does not have yet.

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
            f"its policy any more ({error}); change that first, with `nbtext policy`"
        )
        raise TrainingError(message) from error
