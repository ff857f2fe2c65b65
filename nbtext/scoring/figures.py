"""How numbers are printed, and that a probability is never printed as certainty."""

from nbtext.constants import CERTAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

DIGITS = 13
"""How many significant digits a number has where programs read it."""


def significant(value: float) -> float:
    """Return a number for JSON, without the digits that differ between machines."""
    return float(f"{value:.{DIGITS}g}")


def rounded(value: float) -> float:
    """Return a probability for JSON; short of certainty it is never 1."""
    return min(significant(value), CERTAIN)


def decided(
    label: "str | None",
    value: float,
    posterior: "Mapping[str, float]",
    log_posterior: "Mapping[str, float]",
) -> "dict[str, Any]":
    """
    Return a decision for JSON.

    Args:
        label: the class, None if unsure.
        value: its probability, or if unsure that of the most probable class.
        posterior: class to probability.
        log_posterior: class to what ranks documents, in nats.
    """
    return {
        "label": label,
        "probability": rounded(value),
        "posterior": {name: rounded(one) for name, one in posterior.items()},
        "log_posterior": {name: significant(x) for name, x in log_posterior.items()},
    }


def signed(value: float, digits: int) -> str:
    """Return a number of nats with its sign; what rounds to nothing has that of +0."""
    return f"{round(value, digits) + 0.0:+.{digits}f}"


def probability(value: float) -> str:
    """Return a probability to four places; short of certainty it is never 1."""
    if value >= 0.99995:
        return "0.9999"
    return f"{value:.4f}"
