"""
Two documents compared: where their explanations differ.

Both are explained for the same label; what a term says of the one less what it says of
the other is its difference. Differences add up as contributions do: their sum, with
that of what no term says, is the difference of the scores.
"""

from dataclasses import dataclass

from nbtext.scoring.explanation import Explanation, Reason


@dataclass(frozen=True, slots=True)
class Difference:
    """
    What a term, or several that overlap, says of two documents.

    Attributes:
        reason: the term, in the document that has it, or the first.
        first: what it says of the first, in nats.
        second: what it says of the second.
    """

    reason: Reason
    first: float
    second: float

    @property
    def difference(self) -> float:
        """Return how much more it says of the first."""
        return self.first - self.second


def differences(first: Explanation, second: Explanation) -> list[Difference]:
    """Return the terms of two documents, those first that tell them apart most."""
    of_second = {
        (one.view, one.key): one
        for reason in second.reasons
        for one in terms_of(reason)
    }
    found = []
    for reason in first.reasons:
        pairs = [of_second.pop((one.view, one.key), None) for one in terms_of(reason)]
        other = sum(one.contribution for one in pairs if one is not None)
        found.append(Difference(reason, reason.contribution, other))
    for reason in second.reasons:
        left = [one for one in terms_of(reason) if (one.view, one.key) in of_second]
        if len(left) == len(terms_of(reason)):  # else the text would tell too much
            found.append(Difference(reason, 0.0, reason.contribution))
        else:
            found += [Difference(one, 0.0, one.contribution) for one in left]
    found.sort(key=lambda one: -abs(one.difference))
    return found


def terms_of(reason: Reason) -> tuple[Reason, ...]:
    """Return the terms that a reason is made of: itself, if it is one."""
    return reason.terms or (reason,)
