"""
A decision as SpamAssassin would put it: points, tests, header fields, a report.

What SpamAssassin's clients read are points with a threshold of 5.0. A probability p of
the class of spam becomes 5 + 2.5 log10(odds(p) / odds(t)), where t is the least p that
is called spam: 5 points where p is t, 2.5 more for odds ten times as high. With more
than two classes, p must also be the largest; so it is the smaller of that and the same
with p over the largest other probability in place of the odds. Where a policy has
costs, 2.5 points more are for a tenth of the expected cost, held against that of the
best other decision.
"""

import re
from functools import lru_cache
from math import log
from typing import Final, NamedTuple

from nbtext import __version__
from nbtext.filtering import AddedField
from nbtext.filtering.header_field import (
    FIELD,
    printable_label,
    printable_reason,
    told,
)
from nbtext.scoring import Decision, DecisionRule
from nbtext.scoring.decide import DEFAULT, probability
from nbtext.scoring.explanation import Reason

REQUIRED: Final = 5.0
"""So many points are spam."""

POINTS: Final = 2.5
"""So many points more has a message whose odds are ten times as high."""

MOST: Final = 99.9

LONGEST_SYMBOL: Final = 30
"""Maximum characters of a term in a test's name."""

FARTHEST: Final = 1000.0
"""A margin, in nats, beyond which points do not change."""

FAMILY: Final = "x-spam-"
"""Fields of these names are what clients' rules trust, so nobody else may write any."""


class Verdict(NamedTuple):
    """
    What is said of a message.

    Attributes:
        decision: what was decided.
        is_spam: whether its label is the class of spam.
        probability: that of the class of spam.
        points: from -99.9 to 99.9, to one decimal; 5.0 or more if and only if it is
            spam.
        reasons: the terms that say most for the class of spam, or against it.
    """

    decision: Decision
    is_spam: bool
    probability: float
    points: float
    reasons: tuple[Reason, ...] = ()

    @property
    def score(self) -> str:
        """Return the points over the threshold: 15.0/5.0."""
        return f"{self.points:.1f}/{REQUIRED:.1f}"

    @property
    def header(self) -> str:
        """Return the value of the protocol's header Spam."""
        return f"{self.is_spam} ; {self.points:.1f} / {REQUIRED:.1f}"

    @property
    def tests(self) -> str:
        """Return what SpamAssassin would call tests: the label, and p in percent."""
        name = _symbol(printable_label(self.decision))
        return f"NBTEXT_{name},NBTEXT_{min(int(self.probability * 100), 99):02}"

    @property
    def symbols(self) -> str:
        """Return the tests, then the views and terms that speak for the decision."""
        side = 1.0 if self.is_spam else -1.0
        own = [one for one in self.reasons if one.contribution * side > 0]
        names = [f"NBTEXT_{_symbol(one.view[:LONGEST_SYMBOL])}" for one in own]
        names += [f"NBTEXT_TERM_{_symbol(one.text[:LONGEST_SYMBOL])}" for one in own]
        return ",".join([self.tests, *dict.fromkeys(names)])


@lru_cache(maxsize=256)
def _symbol(text: str) -> str:
    """Return a text as part of a test's name: upper case, digits and underlines."""
    return re.sub("[^A-Z0-9]", "_", text.upper())


def verdict_of(
    decision: Decision, spam_class: str, rule: DecisionRule = DEFAULT
) -> Verdict:
    """
    Return what SpamAssassin's clients are told.

    Args:
        decision: the decision.
        spam_class: the name of the class of spam, one of the decision's.
        rule: what made the decision.
    """
    place = decision.classes.index(spam_class)
    margin = rule.margin(decision.printed, decision.log_posterior, place)
    is_spam = decision.label == spam_class
    probability = decision.probability_of(spam_class)
    return Verdict(decision, is_spam, probability, _points(margin, is_spam))


def _points(margin: float, is_spam: bool) -> float:
    """Return the points for a margin in nats, rounded to the side of the decision."""
    margin = min(max(margin, -FARTHEST), FARTHEST)  # it may be infinite
    points = round(REQUIRED + POINTS * margin / log(10), 1)
    if is_spam:
        return min(max(points, REQUIRED), MOST)
    return max(min(points, REQUIRED - 0.1), -MOST) + 0.0  # not -0.0


def added_by_verdict(verdict: Verdict) -> AddedField:
    """Return what PROCESS puts into a message: our own field and SpamAssassin's."""
    fields = []
    if verdict.is_spam:
        fields.append(("X-Spam-Flag", "YES"))
        fields.append(("X-Spam-Level", "*" * min(int(verdict.points), 50)))
    status = (
        f"{'Yes' if verdict.is_spam else 'No'}, score={verdict.points:.1f} "
        f"required={REQUIRED:.1f} tests={verdict.tests}"
    )
    fields.append(("X-Spam-Status", status))
    fields.append(("X-Spam-Checker-Version", f"nbtext {__version__}"))
    value = told(verdict.decision)
    return AddedField(FIELD, value, more=tuple(fields), family=FAMILY)


def report_of(verdict: Verdict) -> str:
    """Return what REPORT says of a message, in a few lines of ASCII."""
    decision = verdict.decision
    reasons = "".join(
        f"{'reasons' if not number else '':14}{printable_reason(reason)}\n"
        for number, reason in enumerate(verdict.reasons)
    )
    return (
        f"nbtext {__version__}: {'spam' if verdict.is_spam else 'not spam'}, "
        f"{verdict.points:.1f} points, {REQUIRED:.1f} required\n"
        f"\n"
        f"spam          probability {probability(verdict.probability)}\n"
        f"label         {printable_label(decision)}, "
        f"probability {probability(decision.probability)}\n"
        f"tokens        {decision.tokens}, of which {decision.known} are known\n"
        f"tests         {verdict.tests}\n"
        f"{reasons}"
    )
