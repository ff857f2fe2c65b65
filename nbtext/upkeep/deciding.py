"""
The policy of a model, changed in its file.

A policy goes in; it is held against the classes of the model, and kept in the header of
the last table. Counts and tables stay as they are.
"""

from nbtext.arguments import AnyPath, path_of, seconds_of
from nbtext.policy import Policy, PolicyOverrides, checked_policy
from nbtext.scoring.model import model_of
from nbtext.scoring.policy_rule import basis_of, rule_of
from nbtext.store.file import open_locked
from nbtext.store.lock import WAIT, locked
from nbtext.store.policies import with_policy
from nbtext.store.writing import replace_file


def set_policy(
    path: AnyPath, policy: Policy | PolicyOverrides, *, wait: float = WAIT
) -> Policy:
    """
    Keep a policy in a model.

    Args:
        path: the model file.
        policy: the policy, `Policy()` for none; or what is to be changed in that which
            the model has.
        wait: how many seconds to wait for another writer of the model.

    Returns:
        The policy that the model has now.

    Raises:
        SettingsError: a number of the policy is out of its range, or it does not go
            with the model's classes.
        TypeError: it is no policy, or the path is none.
        ValueError: `wait` is below 0.
        BusyError: another process has been writing the model all the time.
        ModelFileError: there is no model, it is damaged, or cannot be written.
    """
    path, wait = path_of(path), seconds_of("wait", wait)
    if not isinstance(policy, PolicyOverrides):
        policy = checked_policy(policy)
    with locked(path, wait=wait):
        model = model_of(open_locked(path))
        if isinstance(policy, PolicyOverrides):
            policy = policy.policy(model.policy)
        rule_of(policy, basis_of(model))
        kept = None if policy == Policy() else policy
        if kept != model.policy:
            replace_file(path, with_policy(model.file, model.file.tables, kept))
    return policy
