"""
What a growing model decides about a document, and whether a regime learns it.

In: a `GrowingModel`, a policy, and documents one after the other. Out: for each the log
posteriors of all classes that there will be, and the decision.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext.learning.growing import GrowingModel
    from nbtext.learning.regimes import Regime
    from nbtext.scoring import DecisionRule
    from nbtext.scoring.costs import Costs
    from nbtext.tokens import Terms

from nbtext.policy import MOST_PROBABLE, Policy
from nbtext.scoring.decide import DEFAULT as NO_POLICY
from nbtext.scoring.policy_rule import prior_by_class, rule_of

ABSENT: Final = -700.0
"""The log posterior of a class of which nothing is known yet, in nats."""


class Judgement(NamedTuple):
    """
    What a model says of a document.

    Attributes:
        log_posterior: shape (n_classes,), in nats, before the cap.
        printed: the same where probabilities are told.
        decided: the place of the class that is decided for, None if it is unsure.
    """

    log_posterior: Sequence[float]
    printed: Sequence[float]
    decided: int | None

    def is_learnt(self, regime: Regime, truth: int) -> bool:
        """Return whether a regime learns the document, given the place of its class."""
        return regime.learns(self.log_posterior, self.decided, truth)


class Judge:
    """
    A growing model that decides.

    Attributes:
        costs: what decisions cost, None without prices or before the first decision.
        prior: the share of each class that is expected, None likewise.
    """

    def __init__(self, model: GrowingModel, policy: Policy) -> None:
        self.costs: Costs | None = None
        self.prior: dict[str, float] | None = None
        self._model = model
        self._policy = policy

    def judge(self, views: Sequence[Terms]) -> Judgement:
        """
        Decide about a document.

        While fewer than two classes are known all are as probable, and it is unsure.

        Raises:
            SettingsError: the policy does not go with the model as it is now.
        """
        n_classes, known = len(self._model.classes), self._model.known
        if len(known) < 2:
            equal = [-log(n_classes)] * n_classes
            return Judgement(equal, equal, None)
        scored = self._model.score(views)
        rule = self._rule()
        printed = list(scored.printed)
        if rule.shift:
            printed = list(rule.printed(scored.log_posterior))
        chosen = rule.choose(printed, scored.log_posterior, scored.known)
        rows = []
        for values in (scored.log_posterior, printed):
            row = [ABSENT] * n_classes
            for place, value in zip(known, values, strict=True):
                row[place] = max(value, ABSENT)
            rows.append(row)
        return Judgement(rows[0], rows[1], None if chosen is None else known[chosen])

    def _rule(self) -> DecisionRule:
        """Return how the model decides at this moment."""
        if self._policy == MOST_PROBABLE:
            return NO_POLICY
        basis = self._model.basis()
        rule = rule_of(self._policy, basis)
        self.costs, self.prior = rule.costs, prior_by_class(self._policy, basis)
        return rule
