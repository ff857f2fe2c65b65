"""
Parameters: the numbers that an event model has of its own, and what they may be.

Where a parameter has choices, held-out scores choose among them
(`nbtext.scoring.candidates`).
"""

from __future__ import annotations

from typing import Final, NamedTuple

LEVELS: Final = "levels"
"""The name of the number of levels of a term, which users may choose."""


class Parameter(NamedTuple):
    """
    A number of an event model.

    Attributes:
        name: what it is called in a scoring.
        default: its value where nothing is said or known; one of the choices, if there
            are any.
        least: its range, from here.
        most: to here.
        choices: what it is chosen from, in order of preference among equally good ones;
            empty if it is not chosen.
    """

    name: str
    default: float
    least: float
    most: float
    choices: tuple[float, ...] = ()
