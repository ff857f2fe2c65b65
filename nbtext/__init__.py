"""
nbtext: a naive Bayes spam and text classifier, at the command line and in Python.

What is exported is loaded when it is first asked for, because the command line
classifies one message in less time than it takes to import numpy.
"""

import sys

from nbtext.faces import lazy_face

if sys.maxsize < 2**32:  # arrays of places and counts have 64 bits
    message = "nbtext needs a Python of 64 bits, and this one has 32; use another"
    raise ImportError(message)

TYPE_CHECKING = False  # typing takes longer to import than a message to classify
if TYPE_CHECKING:
    from typing import Final

    from nbtext.api.advising import examine, tune
    from nbtext.api.classifying import (
        classify,
        classify_all,
        combine,
        joint_log_likelihood,
        load,
        read_documents,
    )
    from nbtext.api.evaluating import (
        evaluate,
        evaluate_folds,
        evaluate_on,
        evaluate_replay,
    )
    from nbtext.api.learning import forget, learn, learn_labelled
    from nbtext.api.training import train, train_on
    from nbtext.doctor import Findings
    from nbtext.document import Document
    from nbtext.errors import NbtextError
    from nbtext.evaluation import Evaluation
    from nbtext.learning import LearnResult, SettingsOverrides, Trained, undo
    from nbtext.learning.regimes import Regime
    from nbtext.policy import Cost, FalsePositives, Policy
    from nbtext.scoring import Classifier, Decision
    from nbtext.scoring.combining import CombinedClassifier
    from nbtext.sources import Options
    from nbtext.tuning import Tuned
    from nbtext.upkeep import set_policy

__version__: "Final" = "0.1.0"

__all__ = [
    "Classifier",
    "CombinedClassifier",
    "Cost",
    "Decision",
    "Document",
    "Evaluation",
    "FalsePositives",
    "Findings",
    "LearnResult",
    "NbtextError",
    "Options",
    "Policy",
    "Regime",
    "SettingsOverrides",
    "Trained",
    "Tuned",
    "classify",
    "classify_all",
    "combine",
    "evaluate",
    "evaluate_folds",
    "evaluate_on",
    "evaluate_replay",
    "examine",
    "forget",
    "joint_log_likelihood",
    "learn",
    "learn_labelled",
    "load",
    "read_documents",
    "set_policy",
    "train",
    "train_on",
    "tune",
    "undo",
]

_HOMES: "Final" = {
    "api.advising": ["examine", "tune"],
    "api.classifying": [
        "classify",
        "classify_all",
        "combine",
        "joint_log_likelihood",
        "load",
        "read_documents",
    ],
    "api.evaluating": [
        "evaluate",
        "evaluate_folds",
        "evaluate_on",
        "evaluate_replay",
    ],
    "api.learning": ["forget", "learn", "learn_labelled"],
    "api.training": ["train", "train_on"],
    "doctor.findings": ["Findings"],
    "document": ["Document"],
    "errors": ["NbtextError"],
    "evaluation": ["Evaluation"],
    "learning.overrides": ["SettingsOverrides"],
    "learning.plan": ["LearnResult"],
    "learning.regimes": ["Regime"],
    "learning.taking_back": ["undo"],
    "learning.training": ["Trained"],
    "policy": ["Cost", "FalsePositives", "Policy"],
    "scoring": ["Classifier", "Decision"],
    "scoring.combining": ["CombinedClassifier"],
    "sources": ["Options"],
    "tuning.tuned": ["Tuned"],
    "upkeep": ["set_policy"],
}

__getattr__ = lazy_face(__name__, _HOMES)


def __dir__() -> list[str]:
    """Return what is exported, loaded or not."""
    return sorted([*__all__, "__doc__", "__version__"])
