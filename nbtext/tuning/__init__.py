"""
Choosing how documents are scored, by what held-out documents score.

In: labelled sources and a measure. Out: `Tuned`: all that was tried, each with its
measure and interval, and the options of `train` for the simplest of the best. Documents
are read and counted once or twice; each is scored as if it alone had not been counted.

What is exported is loaded when it is first asked for.
"""

from typing import TYPE_CHECKING, Final

from nbtext.faces import lazy_face

if TYPE_CHECKING:
    from nbtext.tuning.measures import MEASURES
    from nbtext.tuning.tuned import Tuned
    from nbtext.tuning.tuning import tune

__all__ = [
    "MEASURES",
    "Tuned",
    "tune",
]

_HOMES: Final = {
    "measures": ["MEASURES"],
    "tuned": ["Tuned"],
    "tuning": ["tune"],
}

__getattr__ = lazy_face(__name__, _HOMES)
