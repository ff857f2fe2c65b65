"""Numbers on the command line; click need not be loaded to read one."""

from math import nan


def number_of(text: str) -> float:
    """Return a number; NaN, which is in no range, for what is none."""
    try:
        return float(text)
    except ValueError:
        return nan


def fraction_of(text: str) -> float:
    """Return a number that may be written with a percent sign; NaN for what is none."""
    digits = text.strip()
    value = number_of(digits.removesuffix("%"))
    return float(f"{value / 100:.12g}") if digits.endswith("%") else value
