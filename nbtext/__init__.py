"""
nbtext: a naive Bayes spam and text classifier, at the command line and in Python.

What is exported is loaded when it is first asked for, because the command line
classifies one message in less time than it takes to import numpy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from nbtext.api import (
        classify,
        classify_all,
        evaluate,
        evaluate_folds,
        forget,
        learn,
        load,
        read_documents,
        train,
        train_on,
    )
    from nbtext.document import Document
    from nbtext.errors import NbtextError
    from nbtext.evaluation import Evaluation
    from nbtext.learning import LearnResult, SettingsOverrides, Trained
    from nbtext.scoring import Classifier, Decision
    from nbtext.sources import Options

__version__: Final = "0.1.0"

__all__ = [
    "Classifier",
    "Decision",
    "Document",
    "Evaluation",
    "LearnResult",
    "NbtextError",
    "Options",
    "SettingsOverrides",
    "Trained",
    "classify",
    "classify_all",
    "evaluate",
    "evaluate_folds",
    "forget",
    "learn",
    "load",
    "read_documents",
    "train",
    "train_on",
]

_HOMES: Final = {
    "Classifier": "scoring",
    "Decision": "scoring",
    "Document": "document",
    "Evaluation": "evaluation",
    "LearnResult": "learning.plan",
    "NbtextError": "errors",
    "Options": "sources",
    "SettingsOverrides": "learning.overrides",
    "Trained": "learning.training",
}


def __getattr__(name: str) -> Any:
    """Load what is exported when it is first asked for."""
    if name not in __all__:
        message = f"module 'nbtext' has no attribute {name!r}"
        raise AttributeError(message)
    home = import_module(f"nbtext.{_HOMES.get(name, 'api')}")
    return getattr(home, name)
