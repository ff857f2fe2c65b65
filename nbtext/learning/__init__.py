"""
Documents into a model: trained at once, or learnt and forgotten as they come.

In: labelled documents, and for learning a model file. Out: a new model, or a small
table that is appended to the file: what the documents add to its counts, or take away.
What is known already is not counted again. What is exported is loaded when it is first
asked for: a few documents are learnt without arrays.
"""

from nbtext.faces import lazy_face

TYPE_CHECKING = False  # typing takes longer to import than a message to learn
if TYPE_CHECKING:
    from nbtext.learning.delta import Delta
    from nbtext.learning.delta_table import count_table
    from nbtext.learning.overrides import SettingsOverrides
    from nbtext.learning.plan import CHANGED, LearnRequest, LearnResult, why_not
    from nbtext.learning.stream import learn_documents, model_fields
    from nbtext.learning.taking_back import last_run, undo
    from nbtext.learning.training import Trained, check_trainable, train

__all__ = [
    "CHANGED",
    "Delta",
    "LearnRequest",
    "LearnResult",
    "SettingsOverrides",
    "Trained",
    "check_trainable",
    "count_table",
    "last_run",
    "learn_documents",
    "model_fields",
    "train",
    "undo",
    "why_not",
]

_HOMES = {
    "delta": ["Delta"],
    "delta_table": ["count_table"],
    "overrides": ["SettingsOverrides"],
    "plan": ["CHANGED", "LearnRequest", "LearnResult", "why_not"],
    "stream": ["learn_documents", "model_fields"],
    "taking_back": ["last_run", "undo"],
    "training": ["Trained", "check_trainable", "train"],
}

__getattr__ = lazy_face(__name__, _HOMES)
