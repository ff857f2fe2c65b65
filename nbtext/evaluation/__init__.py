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
    from nbtext.evaluation.cross_validation import CrossValidated, cross_validate
    from nbtext.evaluation.evaluation import Evaluation, evaluate
    from nbtext.evaluation.of_model import evaluate_model

__all__ = [
    "CrossValidated",
    "Evaluation",
    "cross_validate",
    "evaluate",
    "evaluate_model",
]

_HOMES: Final = {
    "cross_validation": ["CrossValidated", "cross_validate"],
    "evaluation": ["Evaluation", "evaluate"],
    "of_model": ["evaluate_model"],
}

__getattr__ = lazy_face(__name__, _HOMES)
