"""
How good a model is, honestly.

In: decisions about documents whose labels are known. Out: an `Evaluation`: accuracy,
log-loss, calibration error, ROC figures and the rest, each defined in docs/measures.md.
Cross-validation makes the decisions by subtracting each fold's counts from the whole.

What is exported is loaded when it is first asked for.
"""

from typing import TYPE_CHECKING, Final

from nbtext.faces import lazy_face

if TYPE_CHECKING:
    from nbtext.evaluation.cross_validation import cross_validate
    from nbtext.evaluation.evaluation import Evaluation
    from nbtext.evaluation.of_model import evaluate_model

__all__ = [
    "Evaluation",
    "cross_validate",
    "evaluate_model",
]

_HOMES: Final = {
    "cross_validation": ["cross_validate"],
    "evaluation": ["Evaluation"],
    "of_model": ["evaluate_model"],
}

__getattr__ = lazy_face(__name__, _HOMES)
