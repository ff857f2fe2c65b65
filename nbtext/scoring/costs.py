"""
What decisions cost, and which of them is expected to cost least.

A document of the class t that is decided to be d costs c(t, d); its probabilities p
give each decision an expected cost, the sum over t of p(t) c(t, d), and the least is
taken (Elkan 2001, equation 1). A right decision costs 0 and a wrong one 1 unless a
price is given. To decide for no class, unsure, is a decision like the others if a price
for it is given: where all errors cost 1 and unsure costs C for every class, it is taken
if no class has a probability of 1 - C (Chow 1970). Of a class for which it has no
price, unsure costs half of the cheapest error.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from math import exp, expm1, inf, log
from typing import Final, NamedTuple

from nbtext.policy import Cost

ERROR: Final = 1.0
"""The price of a wrong decision for which none is given."""

LEAST: Final = 1e-300
"""The smallest expected cost that has a logarithm."""


class Costs(NamedTuple):
    """
    The prices of decisions, for the classes of a model.

    Attributes:
        changes: (truth, decision) and by how much its price differs from 0 for a right
            decision and from ERROR for a wrong one, sorted.
        unsure: shape (n_classes,), the price of unsure for each truth.
        may_be_unsure: whether unsure is a decision that can be taken.
    """

    changes: tuple[tuple[int, int, float], ...]
    unsure: tuple[float, ...]
    may_be_unsure: bool

    def price(self, truth: int, decision: int | None) -> float:
        """Return what a decision costs; None is unsure."""
        if decision is None:
            return self.unsure[truth]
        usual = 0.0 if truth == decision else ERROR
        place = bisect_left(self.changes, (truth, decision, -inf))
        for *cell, change in self.changes[place : place + 1]:
            if cell == [truth, decision]:
                return usual + change
        return usual

    def expected(self, printed: Sequence[float]) -> list[float]:
        """
        Return what each decision is expected to cost.

        Args:
            printed: shape (n_classes,), the log posterior that is told, in nats.

        Returns:
            For each class the expected cost of deciding for it, and for unsure if that
            can be taken.
        """
        costs = [-expm1(value) * ERROR for value in printed]
        for truth, decision, change in self.changes:
            costs[decision] += exp(printed[truth]) * change
        if self.may_be_unsure:
            prices = zip(printed, self.unsure, strict=True)
            costs.append(sum(exp(value) * price for value, price in prices))
        return costs

    def cheapest(self, printed: Sequence[float]) -> int | None:
        """Return the decision of least expected cost, the first of several."""
        costs = self.expected(printed)
        best = costs.index(min(costs))
        return None if best == len(printed) else best

    def margin(self, printed: Sequence[float], place: int) -> float:
        """Return how much cheaper a class is than any other decision, in nats."""
        costs = self.expected(printed)
        own = costs.pop(place)
        return log(max(min(costs), LEAST)) - log(max(own, LEAST))


def boundaries(costs: Costs) -> list[tuple[int | None, float]]:
    """
    Return the decisions for two classes, and from which probability on each is taken.

    Args:
        costs: for two classes.

    Returns:
        Decisions (None for unsure), each with the least probability of the second class
        for which it is the cheapest, ascending from 0.
    """
    # each expected cost is linear in that probability: what it is at 0 and at 1
    decisions: list[int | None] = [0, 1, *([None] if costs.may_be_unsure else [])]
    lines = [(costs.price(0, one), costs.price(1, one)) for one in decisions]
    crossings = {0.0, 1.0}
    for place, (low, high) in enumerate(lines):
        for other_low, other_high in lines[:place]:
            slope = (high - low) - (other_high - other_low)
            if slope:
                crossings.add(min(max((other_low - low) / slope, 0.0), 1.0))
    found: list[tuple[int | None, float]] = []
    ends = sorted(crossings)
    for start, end in pairwise(ends):
        middle = (start + end) / 2
        prices = [low * (1 - middle) + high * middle for low, high in lines]
        best = decisions[prices.index(min(prices))]
        if not found or found[-1][0] != best:
            found.append((best, start))
    return found


def costs_of(given: Sequence[Cost], classes: Sequence[str]) -> Costs:
    """
    Return the prices of decisions for the classes of a model.

    Args:
        given: those that differ from the usual ones; all of the classes.
        classes: two or more.
    """
    places = {name: place for place, name in enumerate(classes)}
    changes: list[tuple[int, int, float]] = []
    unsure: dict[int, float] = {}
    errors: list[list[float]] = [[] for _ in classes]
    for label, decision, price in given:
        truth = places[label]
        if decision is None:
            unsure[truth] = price
        elif decision == label:
            changes.append((truth, truth, price))
        else:
            changes.append((truth, places[decision], price - ERROR))
            errors[truth].append(price)
    for prices in errors:
        if len(prices) < len(classes) - 1:
            prices.append(ERROR)  # which the others have
    halves = enumerate(min(prices) / 2 for prices in errors)
    of_unsure = tuple(unsure.get(truth, half) for truth, half in halves)
    return Costs(tuple(sorted(changes)), of_unsure, bool(unsure))
