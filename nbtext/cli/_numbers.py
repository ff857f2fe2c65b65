"""Numbers on the command line; click need not be loaded to read one."""

from math import nan


def number_of(text: str) -> float:
    """Return a number; NaN, which is in no range, for what is none."""
    try:
        return float(text)
    except ValueError:
        return nan
