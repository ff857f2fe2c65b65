"""
The terms of labelled documents to a table of counts.

In: a stream of labelled documents. Out: a `CountTable`: for each view and class the
sorted keys of its terms and their counts, and a ledger of the documents. Tables add up
and can be subtracted; so do the held-out scores that calibration keeps. What is
exported is loaded when it is first asked for.
"""

from typing import TYPE_CHECKING, Final

from nbtext.faces import lazy_face

if TYPE_CHECKING:
    from nbtext.counts.calibration import Calibration, bin_of
    from nbtext.counts.counter import Counter
    from nbtext.counts.fitting import Fit, fit, stored_fit
    from nbtext.counts.read_report import ReadReport
    from nbtext.counts.sample import Sample
    from nbtext.counts.sorted_counts import SortedCounts
    from nbtext.counts.table import CountTable, LedgerRun, ledger_of, n_terms
    from nbtext.counts.term_cache import TermCache
    from nbtext.counts.term_table import TermTable

__all__ = [
    "Calibration",
    "CountTable",
    "Counter",
    "Fit",
    "LedgerRun",
    "ReadReport",
    "Sample",
    "SortedCounts",
    "TermCache",
    "TermTable",
    "bin_of",
    "fit",
    "ledger_of",
    "n_terms",
    "stored_fit",
]

_HOMES: Final = {
    "calibration": ["Calibration", "bin_of"],
    "counter": ["Counter"],
    "read_report": ["ReadReport"],
    "fitting": ["Fit", "fit", "stored_fit"],
    "sample": ["Sample"],
    "sorted_counts": ["SortedCounts"],
    "table": ["CountTable", "LedgerRun", "ledger_of", "n_terms"],
    "term_cache": ["TermCache"],
    "term_table": ["TermTable"],
}

__getattr__ = lazy_face(__name__, _HOMES)
