"""
The policy of a model that another takes the place of, which the new model keeps.

A policy is set by hand, once; a model is trained again and again, perhaps by cron. So
the policy outlives the counts, as long as the new model can decide by it.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from nbtext import wording
from nbtext.errors import SettingsError

if TYPE_CHECKING:
    from nbtext.learning.training import Trained
    from nbtext.policy import Policy
    from nbtext.store import Contents


def why_not_by(policy: "Policy", contents: "Contents", name: str) -> str:
    """Return why a new model cannot decide by a policy; empty if it can."""
    from nbtext.scoring.policy_rule import basis_of_contents, rule_of  # few have one

    try:
        rule_of(policy, basis_of_contents(contents, name))
    except SettingsError as error:
        return str(error)
    return ""


def with_policy_of_old(trained: "Trained", policy: "Policy | None") -> "Trained":
    """
    Return what was trained with the policy of the model whose place it takes.

    One that the new model cannot decide by is left out. Notes say which it was.
    """
    if policy is None:
        return trained
    reason = why_not_by(policy, trained.contents, "the new model")
    if reason:
        lost = (
            "the policy of the old model is not kept, because the new one cannot "
            f"decide by it: {reason}; set another with `{wording.call('set_policy')}`"
        )
        return trained._replace(notes=(*trained.notes, lost))
    return trained._replace(
        contents=replace(trained.contents, policy=policy),
        notes=(*trained.notes, _kept()),
    )


def _kept() -> str:
    """Return the note on a policy that is kept."""
    policy = wording.call("set_policy")
    drop = wording.call("set_policy", policy=wording.Blank("Policy()"))
    return (
        f"the policy of the old model is kept (`{policy}` shows it, `{drop}` drops it)"
    )
