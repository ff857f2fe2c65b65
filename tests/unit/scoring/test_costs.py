"""The decision of least expected cost."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext.policy import Cost
from nbtext.scoring.costs import boundaries, costs_of
from nbtext.scoring.decide import DecisionRule

CLASSES = ("ham", "spam")
MANY = ("a", "b", "c", "d")
prices = st.floats(0, 100)


def logs(*posterior: float) -> tuple[float, ...]:
    return tuple(log(p) if p else -800.0 for p in posterior)


def test_the_example_of_the_guide() -> None:
    """Ham lost costs 100, ham in doubt 5; spam in doubt half of spam let through."""
    costs = costs_of([Cost("ham", "spam", 100), Cost("ham", None, 5)], CLASSES)

    found = [costs.cheapest(logs(1 - p, p)) for p in (0.5, 0.909, 0.91, 0.994, 0.996)]

    assert found == [0, 0, None, None, 1]
    # ham against unsure: p = 5 (1 - p) + p / 2; unsure against spam: 95 (1 - p) = p / 2
    assert boundaries(costs) == [
        (0, 0.0),
        (None, pytest.approx(10 / 11)),
        (1, pytest.approx(190 / 191)),
    ]


@given(st.lists(st.floats(0.01, 1), min_size=4, max_size=4), st.floats(0.01, 0.75))
def test_equal_prices_are_the_rule_of_chow(weights: list[float], price: float) -> None:
    posterior = [weight / sum(weights) for weight in weights]
    costs = costs_of([Cost(name, None, price) for name in MANY], MANY)
    best = max(posterior)
    if abs(best - (1 - price)) < 1e-9:
        return

    found = costs.cheapest(logs(*posterior))

    assert (found is None) == (best < 1 - price)
    if found is not None:
        assert posterior[found] == pytest.approx(best)


@given(st.data())
def test_the_cheapest_is_that_of_the_full_sum(data: st.DataObject) -> None:
    """The sums over few changes are those over all pairs of classes."""
    pairs = [(one, other) for one in MANY for other in (*MANY, None)]
    named = data.draw(st.lists(st.sampled_from(pairs), unique=True, max_size=8))
    given_costs = [Cost(*pair, data.draw(prices)) for pair in named]
    weights = data.draw(st.lists(st.floats(1e-6, 1), min_size=4, max_size=4))
    posterior = [weight / sum(weights) for weight in weights]

    costs = costs_of(given_costs, MANY)

    expected = costs.expected(logs(*posterior))
    decisions = [0, 1, 2, 3, *([None] if costs.may_be_unsure else [])]
    assert costs.may_be_unsure == any(cost.decision is None for cost in given_costs)
    for decision, cost in zip(decisions, expected, strict=True):
        full = sum(p * costs.price(t, decision) for t, p in enumerate(posterior))
        assert cost == pytest.approx(full, abs=1e-9)


def test_prices_that_are_not_given_are_the_usual_ones() -> None:
    costs = costs_of([Cost("b", "a", 0.4), Cost("b", "b", 0.1)], MANY)

    assert costs.price(0, 0) == 0
    assert costs.price(0, 1) == 1
    assert costs.price(1, 0) == pytest.approx(0.4)
    assert costs.price(1, 1) == pytest.approx(0.1)
    assert costs.price(1, None) == pytest.approx(0.2)
    assert costs.price(0, None) == pytest.approx(0.5)
    assert not costs.may_be_unsure


def test_looking_up_a_price_takes_no_longer_the_more_there_are() -> None:
    names = [f"{n:03}" for n in range(300)]
    costs = costs_of([Cost(t, d, 2.0) for t in names for d in names if t < d], names)

    found = [costs.price(t, d) for t in range(300) for d in range(300)]

    assert found == [
        2.0 if t < d else float(t != d) for t in range(300) for d in range(300)
    ]


def test_of_equally_cheap_classes_the_first_wins() -> None:
    assert costs_of([Cost("a", "b", 1.0)], MANY).cheapest(logs(*[0.25] * 4)) == 0


@given(st.floats(0.001, 0.999), prices, prices, st.one_of(st.none(), prices))
def test_the_margin_is_above_zero_where_it_is_decided(
    p: float, lost: float, let_through: float, unsure: float | None
) -> None:
    named = [Cost("ham", "spam", lost), Cost("spam", "ham", let_through)]
    named += [] if unsure is None else [Cost("ham", None, unsure)]
    rule = DecisionRule(costs=costs_of(named, CLASSES))
    posterior = logs(1 - p, p)

    margin = rule.margin(posterior, posterior, 1)

    assert abs(margin) < 1e-6 or (margin > 0) == (rule.choose(posterior, (), 1) == 1)


def test_the_margin_of_two_classes_is_in_nats() -> None:
    rule = DecisionRule(costs=costs_of([Cost("ham", "spam", 99)], CLASSES))
    posterior = logs(0.001, 0.999)

    assert rule.margin(posterior, posterior, 1) == pytest.approx(log(999 / 99))


def test_without_a_known_token_nothing_is_decided() -> None:
    rule = DecisionRule(costs=costs_of([Cost("ham", "spam", 9)], CLASSES))

    assert rule.choose(logs(0.1, 0.9), (), 0) is None
