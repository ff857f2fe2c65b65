"""
How good a model is, honestly.

In: decisions about documents whose labels are known. Out: an `Evaluation`: accuracy,
log-loss, calibration error, ROC figures and the rest, each defined in docs/measures.md.
Cross-validation makes the decisions by subtracting each fold's counts from the whole.

What is exported is loaded when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

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
    "CrossValidated": "cross_validation",
    "Evaluation": "evaluation",
    "cross_validate": "cross_validation",
    "evaluate": "evaluation",
    "evaluate_model": "of_model",
}


def __getattr__(name: str) -> Any:
    """Load what is exported when it is first asked for."""
    if name not in _HOMES:
        message = f"module 'nbtext.evaluation' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"nbtext.evaluation.{_HOMES[name]}"), name)
