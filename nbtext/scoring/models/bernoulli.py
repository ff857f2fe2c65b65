"""
The multivariate Bernoulli model: whether each term is there, absent terms counting too.

With N_tc the documents of class c in which term t occurs, D_c all of them, V the view's
distinct terms and a the smoothing:

    theta_tc = (N_tc + a) / (D_c + 2 a)
    z_c = ln P(c) + sum over views and all V terms of
          ln theta_tc where t is in the document, ln(1 - theta_tc) where it is not

(McCallum and Nigam 1998; Manning, Raghavan and Schütze 2008, section 13.3; Murphy 2006,
equations 24 and 29.) How often a term occurs makes no difference. These are two levels,
absent and present: `nbtext.scoring.models.levels` computes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nbtext.scoring.models.levels import OfLevels
from nbtext.settings.scoring import ONCE

if TYPE_CHECKING:
    from nbtext.settings.scoring import Scoring


class Bernoulli(OfLevels):
    """The multivariate Bernoulli model."""

    name = "bernoulli"
    about = "which terms are there and which are not (not calibrated)"
    smoothing = 0.01
    not_linear = ""

    def levels(self, scoring: Scoring) -> int:
        """Return two: a term is there, or it is not."""
        del scoring
        return 2

    def counted_as(self, scoring: Scoring) -> str:
        """Return that a term counts once, however often it occurs."""
        del scoring
        return ONCE


MODEL: Final = Bernoulli()
