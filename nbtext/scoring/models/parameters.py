"""
Parameters: the numbers that an event model has of its own, and what they may be.

Where a parameter has choices, held-out scores choose among them
(`nbtext.scoring.candidates`). The numbers by which attributes are scored are here, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from nbtext.settings.scoring import LARGEST

if TYPE_CHECKING:
    from nbtext.settings.columns import Kind
    from nbtext.settings.reading import Settings

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


BY_KIND: Final[dict[Kind, Parameter]] = {
    "value": Parameter("category_smoothing", 1.0, least=0, most=LARGEST),
    "number": Parameter("variance_smoothing", 1e-9, least=0, most=1),
}
"""The number that columns of attributes of each kind are smoothed by."""


def attribute_parameters(settings: Settings) -> list[Parameter]:
    """Return the parameters that the attributes of settings need, sorted by name."""
    return sorted({BY_KIND[view.kind] for _, view in settings.attributes})
