"""
An evaluation as a report: a page, its figures, or what was decided, line by line.

In: an `Evaluation` with the rows of its documents. Out: the text of one file, in
pieces. The page needs nothing else: its pictures are SVG, its style stands in it, and
it has no script.
What is exported is loaded when it is first asked for.
"""

from typing import TYPE_CHECKING, Final

from nbtext.faces import lazy_face

if TYPE_CHECKING:
    from nbtext.report.writing import DOCUMENTS, SUFFIXES, report_pieces

__all__ = ["DOCUMENTS", "SUFFIXES", "report_pieces"]

_HOMES: Final = {"writing": __all__}

__getattr__ = lazy_face(__name__, _HOMES)
