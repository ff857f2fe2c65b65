"""A policy in words and as facts: what `nbtext policy` and `nbtext info` say of it."""

from collections.abc import Iterator
from typing import Any, Final

from nbtext.cli._report import class_name, counted, shares_in_words
from nbtext.counts.fitting import sigmoid
from nbtext.errors import SettingsError
from nbtext.policy import UNSURE, FalsePositives, Policy
from nbtext.scoring import DecisionRule, Model
from nbtext.scoring.costs import Costs, boundaries
from nbtext.scoring.decide import probability
from nbtext.scoring.policy_rule import (
    Basis,
    basis_of,
    held_out_of,
    prior_by_class,
    rule_of,
)

MOST_SAID: Final = 8
"""Maximum number of prices in a sentence."""


def sentence_of(model: Model) -> str:
    """Say in a sentence how a model decides."""
    policy = model.policy or Policy()
    basis = basis_of(model)
    try:
        rule = rule_of(policy, basis)
        return "; ".join([*_prior(policy, basis), *_rule(policy, basis, rule)])
    except SettingsError as error:
        return f"none that the model can decide by: {error}"


def lines_of(model: Model) -> list[tuple[str, ...]]:
    """Return the policy of a model, for programs that read lines."""
    policy = model.policy or Policy()
    lines: list[tuple[str, ...]] = [("policy", sentence_of(model))]
    lines += [("prior", class_name(one), f"{p:g}") for one, p in policy.prior]
    if policy.threshold:
        lines.append((UNSURE, f"{policy.threshold:g}"))
    if policy.max_false_positives is not None:
        label, rate = policy.max_false_positives
        lines.append(("false positives", class_name(label), f"{rate:g}"))
    lines += [
        ("cost", class_name(truth), _decision(decision), f"{price:g}")
        for truth, decision, price in policy.costs
    ]
    return lines


def facts_of(model: Model) -> dict[str, Any]:
    """Return the policy of a model, for a program."""
    policy = model.policy or Policy()
    return policy.as_dict() | {"in_words": sentence_of(model)}


def _prior(policy: Policy, basis: Basis) -> Iterator[str]:
    prior = prior_by_class(policy, basis)
    if prior is not None:
        before = shares_in_words(dict(zip(basis.classes, basis.shares, strict=True)))
        yield f"expects {shares_in_words(prior)} (in training: {before})"


def _rule(policy: Policy, basis: Basis, rule: DecisionRule) -> Iterator[str]:
    if rule.costs is not None:
        named = [
            f"{class_name(truth)} "
            + (f"{UNSURE}" if decision is None else f"called {class_name(decision)}")
            + f" {price:g}"
            for truth, decision, price in policy.costs
        ]
        if len(named) > MOST_SAID:
            named[MOST_SAID:] = [f"{len(named) - MOST_SAID:,} more"]
        yield f"decides for what is expected to cost least: {', '.join(named)}"
        if len(basis.classes) == 2:
            yield _intervals(basis, rule.costs)
        return
    least = policy.threshold
    enough = f" if its probability is at least {least:g}, else it is unsure"
    yield f"decides for the most probable class{enough if least else ''}"
    if policy.max_false_positives is not None:
        yield _limit(policy.max_false_positives, basis)


def _limit(limit: FalsePositives, basis: Basis) -> str:
    """Say which score a class needs, and what that rests on."""
    found = held_out_of(limit, basis)
    name, rate = class_name(limit.label), f"{100 * limit.rate:g} %"
    needs = f"{name} needs {probability(sigmoid(found.log_odds))} before prior and cap"
    if not found.documents:
        return f"{needs}; no document was held out that could show {rate}"
    others = counted(found.documents, "held-out document")
    if limit.rate * (found.documents + 1) < 1:
        return f"{needs}, more than any of {others}, which are too few to show {rate}"
    return f"{needs}, by {others} of the other class: at most {rate} reach it"


def _intervals(basis: Basis, costs: Costs) -> str:
    """Say from which probability of the second class on each decision is taken."""
    second = class_name(basis.classes[1])
    parts = []
    for decision, start in boundaries(costs):
        name = UNSURE if decision is None else class_name(basis.classes[decision])
        parts.append(f"{name} from {start:.4g} on" if start else name)
    return f"by the probability of {second}: {', '.join(parts)}"


def _decision(decision: str | None) -> str:
    return UNSURE if decision is None else class_name(decision)
