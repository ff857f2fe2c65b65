"""How numbers are printed, and that a probability is never printed as certainty."""

CERTAIN = 1 - 2**-53
"""The largest probability that is short of certainty."""

DIGITS = 13
"""How many significant digits a number has where programs read it."""


def significant(value: float) -> float:
    """Return a number for JSON, without the digits that differ between machines."""
    return float(f"{value:.{DIGITS}g}")


def rounded(value: float) -> float:
    """Return a probability for JSON; short of certainty it is never 1."""
    return min(significant(value), CERTAIN)


def probability(value: float) -> str:
    """Return a probability to four places; short of certainty it is never 1."""
    if value >= 0.99995:
        return "0.9999"
    return f"{value:.4f}"
