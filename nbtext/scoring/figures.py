"""How a probability is printed: to four places, and never as certainty."""

CERTAIN = 1 - 2**-53
"""The largest probability that is short of certainty."""


def probability(value: float) -> str:
    """Return a probability to four places; short of certainty it is never 1."""
    if value >= 0.99995:
        return "0.9999"
    return f"{value:.4f}"
