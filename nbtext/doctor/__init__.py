"""
What is wrong with labelled documents, before a model is made of them.

In: labelled sources. Out: `Findings`: labels that are probably wrong, the same document
under two labels, near duplicates across classes, terms and dates that give a class
away, classes that are too small. Documents are counted once; each is scored as if it
alone had not been counted.

What is exported is loaded when it is first asked for.
"""

from typing import TYPE_CHECKING, Final

from nbtext.faces import lazy_face

if TYPE_CHECKING:
    from nbtext.doctor.examining import examine
    from nbtext.doctor.findings import Findings

__all__ = [
    "Findings",
    "examine",
]

_HOMES: Final = {
    "examining": ["examine"],
    "findings": ["Findings"],
}

__getattr__ = lazy_face(__name__, _HOMES)
