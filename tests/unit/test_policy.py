"""What is a policy, and what is none."""

from typing import Any

import numpy as np
import pytest

from nbtext.errors import SettingsError
from nbtext.policy import Cost, FalsePositives, Policy, PolicyOverrides, checked_policy

PLAIN: dict[str, Any] = {
    "threshold": 0.0,
    "prior": {"ham": 0.7, "spam": 0.2},
    "costs": [["ham", "spam", 100.0], ["ham", None, 5.0]],
    "max_false_positives": None,
}
LIMIT = FalsePositives("spam", 0.001)


def test_a_policy_is_rebuilt_from_plain_values() -> None:
    policy = Policy.from_dict(PLAIN)

    assert policy.as_dict() == PLAIN
    assert policy.labels == ["ham", "spam"]
    assert Policy.from_dict(Policy().as_dict()) == Policy()
    limited = Policy(0.9, max_false_positives=LIMIT)
    assert Policy.from_dict(limited.as_dict()) == limited


@pytest.mark.parametrize(
    "change",
    [
        {"threshold": 1.1},
        {"threshold": float("nan")},
        {"threshold": True},
        {"threshold": "0.5"},
        {"threshold": 0.5},
        {"max_false_positives": 0},
        {"max_false_positives": []},
        {"max_false_positives": ["spam"]},
        {"prior": {"spam": 0.0}},
        {"prior": {"spam": 1.0}},
        {"prior": {"spam": 0.6, "ham": 0.6}},
        {"prior": {"spam": float("nan")}},
        {"prior": {7: 0.5}},
        {"prior": {"": 0.5}},
        {"prior": [["spam", 0.5]]},
        {"costs": [["ham", "spam", -1.0]]},
        {"costs": [["ham", "spam", float("inf")]]},
        {"costs": [["ham", "spam"]]},
        {"costs": [["ham", "spam", 1.0], ["ham", "spam", 2.0]]},
        {"costs": [[None, "spam", 1.0]]},
        {"costs": [["ham", 7, 1.0], ["ham", "spam", 1.0]]},
        {"costs": [["ham", "spam", 1.0]] * 70_000},
        {"costs": 7},
        {"max_false_positives": ["spam", 0.001]},
        {"max_false_positives": ["spam", 1.0], "costs": []},
        {"max_false_positives": ["spam"], "costs": []},
        {"max_false_positives": 0.001, "costs": []},
        {"more": 1},
    ],
    ids=str,
)
def test_anything_else_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        Policy.from_dict(PLAIN | change)


@pytest.mark.parametrize("plain", [None, [], {}, "policy", {"prior": {}}], ids=str)
def test_what_is_no_map_of_a_policy_is_refused(plain: object) -> None:
    with pytest.raises(SettingsError):
        Policy.from_dict(plain)


def test_classes_are_renamed_wherever_they_stand() -> None:
    names = {"ham": "zoo", "spam": "ham"}

    renamed = Policy.from_dict(PLAIN).renamed(names)

    assert dict(renamed.prior) == {"ham": 0.2, "zoo": 0.7}
    assert renamed.costs == (Cost("zoo", "ham", 100.0), Cost("zoo", None, 5.0))
    limited = Policy(max_false_positives=LIMIT).renamed(names)
    assert limited.max_false_positives == FalsePositives("ham", 0.001)
    renamed.check()


def test_a_rule_replaces_the_rule_and_a_prior_the_prior() -> None:
    kept = Policy.from_dict(PLAIN)

    assert PolicyOverrides().chosen(kept) is None
    assert PolicyOverrides().policy(kept) == kept
    unsure = PolicyOverrides(threshold=0.9).policy(kept)
    assert unsure == Policy(0.9, kept.prior)
    assert PolicyOverrides(threshold=0.0).policy(kept) == Policy(0.0, kept.prior)
    prior = PolicyOverrides(prior=(("spam", 0.5),)).policy(kept)
    assert prior == kept._replace(prior=(("spam", 0.5),))
    assert PolicyOverrides(prior=()).policy(kept) == kept._replace(prior=())
    assert PolicyOverrides(is_anew=True).policy(kept) == Policy()
    assert PolicyOverrides(is_anew=True).chosen(None) == Policy()


def test_costs_and_thresholds_exclude_one_another() -> None:
    with pytest.raises(SettingsError, match=r"costs=\(Cost\(CLASS, None, X\),\)"):
        Policy(0.9, costs=(Cost("ham", "spam", 9.0),)).check()
    with pytest.raises(SettingsError, match="costs decide alone"):
        Policy(costs=(Cost("ham", "spam", 9.0),), max_false_positives=LIMIT).check()


def test_a_policy_of_a_program_is_as_a_model_has_it() -> None:
    costs = (Cost("spam", "ham", 1.0), Cost("ham", None, 2.0), Cost("ham", "spam", 9.0))
    given = Policy(prior=(("spam", 0.2), ("ham", 0.5)), costs=costs)

    assert checked_policy(given) == Policy.from_dict(given.as_dict())


def test_overrides_are_rebuilt_from_lists() -> None:
    costs = (Cost("ham", "spam", 9.0), Cost("ham", None, 1.0))
    overrides = PolicyOverrides((("ham", 0.5),), costs=costs, is_anew=True)
    limited = PolicyOverrides(threshold=0.5, max_false_positives=LIMIT)

    for one in (overrides, limited, PolicyOverrides()):
        plain = [
            [[*pair] for pair in one.prior] if one.prior else one.prior,
            one.is_estimated,
            one.threshold,
            [[*cost] for cost in one.costs] if one.costs else one.costs,
            [*one.max_false_positives] if one.max_false_positives else None,
            one.is_anew,
        ]
        assert PolicyOverrides.rebuilt(plain) == one


def test_numbers_of_numpy_are_numbers() -> None:
    high, low, half = np.array([0.9, 0.25, 0.5])
    share: Any = np.float32(low)
    nine: Any = np.int64(9)
    limit = FalsePositives("spam", half)
    policy = Policy(high, (("spam", share),), max_false_positives=limit)
    found = checked_policy(policy)
    costly = checked_policy(Policy(costs=(Cost("ham", "spam", nine),)))

    limit = FalsePositives("spam", 0.5)
    assert found == Policy(0.9, (("spam", 0.25),), max_false_positives=limit)
    assert {type(found.threshold), type(found.prior[0][1])} == {float}
    assert costly == Policy(costs=(Cost("ham", "spam", 9),))
    assert type(costly.costs[0].price) is int
    wrong: Any = np.arange(2)
    with pytest.raises(SettingsError, match="the threshold is True"):
        checked_policy(Policy((wrong == 1)[1]))
    with pytest.raises(TypeError, match="expected parts as in"):
        checked_policy(Policy(wrong))
