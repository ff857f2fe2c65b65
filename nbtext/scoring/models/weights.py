"""What the event models on weighted terms have in common: a column and its bounds."""

from typing import Final

from nbtext.settings import Column

WEIGHT: Final[Column] = "weight"
"""The column that is counted."""

SHARE: Final = 0.01
"""The weight, of all that there is, that a class is given of an unseen term."""

LEAST_SIZE: Final = 0.001
"""The least weight of a class, which divides."""
