"""
An evaluation as a report: a page to look at, or its figures as Markdown or CSV.

In: an `Evaluation` with the rows of its documents. Out: the text of one file. The page
needs nothing else: its pictures are SVG, its style stands in it, and it has no script.
What is exported is loaded when it is first asked for.
"""

from typing import TYPE_CHECKING, Final

from nbtext.faces import lazy_face

if TYPE_CHECKING:
    from nbtext.report.writing import SUFFIXES, report_text

__all__ = ["SUFFIXES", "report_text"]

_HOMES: Final = {"SUFFIXES": "writing", "report_text": "writing"}

__getattr__ = lazy_face(__name__, _HOMES)
