"""
The K-ary model: whether each term occurs never, once, twice, ... or more often.

With N_tck the documents of class c in which term t occurs k times, the last of the
levels k = 0 .. K-1 meaning that often or more, D_c all its documents and a the
smoothing:

    theta_tck = (N_tck + a) / (D_c + K a)
    z_c = ln P(c) + sum over views and all terms of ln theta_tck, k being the level of
          the term in the document, 0 where it is absent

(Murphy 2006, equations 23 to 28.) With K = 2 it is the Bernoulli model.
`nbtext.scoring.models.levels` computes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nbtext.scoring.models.levels import OfLevels
from nbtext.scoring.models.parameters import LEVELS, Parameter
from nbtext.settings.columns import LEVELS as COLUMNS
from nbtext.settings.scoring import OCCURRENCES

if TYPE_CHECKING:
    from nbtext.settings.scoring import Scoring

K: Final = Parameter(LEVELS, 3.0, least=2, most=len(COLUMNS) + 2)
"""How many levels there are: absent, once, ... and the last, which is open."""


class KAry(OfLevels):
    """The K-ary model of counts."""

    name = "kary"
    about = "how often each term occurs, or that it does not (not calibrated)"
    smoothing = 0.01
    parameters = (K,)
    countings = (OCCURRENCES,)

    def levels(self, scoring: Scoring) -> int:
        """Return K."""
        return int(scoring.parameter(LEVELS))


MODEL: Final = KAry()
