"""What decides about documents: a model, or several together."""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from nbtext.scoring.classifier import Classifier
    from nbtext.scoring.combining import CombinedClassifier

Decider: TypeAlias = "Classifier | CombinedClassifier"
