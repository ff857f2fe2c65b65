"""The numbers by which attributes are scored, and what they may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from nbtext.settings.columns import Kind
    from nbtext.settings.reading import Settings

from nbtext.scoring.models.parameters import Parameter
from nbtext.settings.scoring import LARGEST

BY_KIND: Final[dict[Kind, Parameter]] = {
    "value": Parameter("category_smoothing", 1.0, least=0, most=LARGEST),
    "number": Parameter("variance_smoothing", 1e-9, least=0, most=1),
}
"""The number that columns of each kind are smoothed by."""


def attribute_parameters(settings: Settings) -> list[Parameter]:
    """Return the parameters that the attributes of settings need, sorted by name."""
    return sorted({BY_KIND[view.kind] for _, view in settings.attributes})
