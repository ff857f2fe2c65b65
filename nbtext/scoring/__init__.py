"""
A model and a document to a decision.

In: an open model, the terms of documents and a policy. Out: scores that are sums of
evidence, calibrated to probabilities, and a `Decision` for each document. How counts
become a score is an event model's affair (`nbtext.scoring.models`). The scores of one
document are the specification; those of many, by arrays, agree with them. What is
exported is loaded when it is first asked for: one message needs no arrays.
"""

from nbtext.faces import lazy_face

TYPE_CHECKING = False  # typing takes longer to import than a message to classify
if TYPE_CHECKING:
    from nbtext.scoring.classifier import Classifier
    from nbtext.scoring.classifying import batches, classify
    from nbtext.scoring.decide import Decision, DecisionRule
    from nbtext.scoring.held_out import fitted
    from nbtext.scoring.model import Model, load_model
    from nbtext.scoring.models.event_model import EventModel
    from nbtext.scoring.models.registry import (
        changed,
        check_scoring,
        event_model,
        event_models,
    )
    from nbtext.scoring.threshold import threshold_of

__all__ = [
    "Classifier",
    "Decision",
    "DecisionRule",
    "EventModel",
    "Model",
    "batches",
    "changed",
    "check_scoring",
    "classify",
    "event_model",
    "event_models",
    "fitted",
    "load_model",
    "threshold_of",
]

_HOMES = {
    "classifier": ["Classifier"],
    "classifying": ["batches", "classify"],
    "decide": ["Decision", "DecisionRule"],
    "held_out": ["fitted"],
    "model": ["Model", "load_model"],
    "models.event_model": ["EventModel"],
    "models.registry": [
        "changed",
        "check_scoring",
        "event_model",
        "event_models",
    ],
    "threshold": ["threshold_of"],
}

__getattr__ = lazy_face(__name__, _HOMES)
