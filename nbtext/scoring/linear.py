"""
The linear form of a model: a weight for each term and class, and biases.

The joint log likelihood of some event models is linear in what a document's terms count
(Murphy 2006, equations 32 to 45):

    z_c = bias_c + sum over the views and the known terms of  count_t weight_tc

and the posterior is exp(s z) over its sum, with the slope s = 1 unless the scores are
calibrated. Of two classes it is 1 / (1 + exp(-(z_1 - z_0))), where equation 43 lacks
the minus. A value of a category is a term of its column's view, and is there once. With
these numbers a document is scored by anything that can add.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from nbtext import wording
from nbtext.errors import SettingsError
from nbtext.scoring.attributes.categorical import SMOOTHING
from nbtext.scoring.batch_mixed import scores_by
from nbtext.scoring.batch_model import BatchModel, FoundTerms, open_batch_model
from nbtext.scoring.held_out import fitted
from nbtext.scoring.models.damping import damping
from nbtext.scoring.models.registry import (
    check_scoring,
    choice_of,
    event_model,
    event_models,
)
from nbtext.scoring.models.unknown import counts_unknown
from nbtext.store.texts import read_texts
from nbtext.tokens import Terms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from nbtext.counts.texts import Named
    from nbtext.scoring.model import Model

MANY: Final = 1 << 14
"""Maximum terms whose weights are computed at a time."""


class TermWeights(NamedTuple):
    """
    The weights of some terms of a view.

    Attributes:
        view: the view's name.
        keys: shape (n_terms,), ascending.
        weights: shape (n_terms, n_classes), nats for each time that a term counts.
        names: key to what the term is called, of those whose text the model has.
    """

    view: str
    keys: NDArray[np.uint64]
    weights: NDArray[np.float64]
    names: dict[int, Named]


class LinearForm:
    """
    The linear form of a model.

    Attributes:
        classes: the names of the classes, sorted.
        counting: what a term that occurs n times counts, one of COUNTINGS.
        slope: what scores are multiplied by before they become a posterior.
        biases: shape (n_classes,), nats.
    """

    def __init__(self, model: Model) -> None:
        """
        Prepare the linear form of an open model.

        Raises:
            TrainingError: it knows fewer than two classes.
            SettingsError: its scores are not linear in counts, or its counts do not
                support them.
            ModelFileError: the file is damaged.
        """
        check_scoring(model.scoring, model.settings, model.classes)
        event = event_model(model.scoring.score)
        if event.not_linear:
            others = choice_of(one for one in event_models() if not one.not_linear)
            message = (
                f"the {event.name} score has no weights, because {event.not_linear}; "
                f"train with {others}"
            )
            raise SettingsError(message)
        _check_attributes(model)
        if counts_unknown(model.scoring):
            message = (
                f"the {event.name} score has no weights with "
                f"{wording.given(unknown='unk')}, because unknown words have no key; "
                f"train with {wording.given(unknown='skip')}"
            )
            raise SettingsError(message)
        self._model: BatchModel = open_batch_model(model)
        self._texts = read_texts(model.file)
        self.classes = model.classes
        self.counting = event.counted_as(model.scoring)
        self.slope = fitted(model).slope
        self.biases: NDArray[np.float64] = self._scores_of(0, np.empty(0, np.uint64))[0]

    def weights(self) -> Iterator[TermWeights]:
        """Yield the weights of all terms, view by view, MANY at a time."""
        once = damping(self.counting).times(1)
        for number, view in enumerate(self._model.settings.views):
            counted = once if view.kind == "text" else 1
            keys = self._model.terms[number].keys[:-1]  # without the sentinel
            for start in range(0, len(keys), MANY):
                part = keys[start : start + MANY]
                weights = (self._scores_of(number, part) - self.biases) / counted
                names: dict[int, Named] = {}
                if self._texts is not None:
                    names = self._texts[number].named(view, part.tolist())
                yield TermWeights(view.name, part, weights, names)

    def _scores_of(self, view: int, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
        """
        Return the scores of documents that have one term each, once, in one view.

        Without keys that is one document that has none.
        """
        n_documents = max(len(keys), 1)
        nowhere = np.zeros(n_documents + 1, np.int64)
        views = [
            Terms(keys[:0], np.empty(0, np.int64), nowhere) for _ in self._model.terms
        ]
        if len(keys):
            ones = np.ones(len(keys), np.int64)
            views[view] = Terms(keys, ones, np.arange(n_documents + 1))
        found: FoundTerms = self._model.find(views)
        return scores_by(self._model, [self._model.scoring], found)[0]


def _check_attributes(model: Model) -> None:
    """
    Refuse columns that are not linear in anything that is counted.

    Raises:
        SettingsError: some are of numbers, or a category has impossible values.
    """
    for _, view in model.settings.attributes:
        if view.kind == "number":
            message = (
                f"the column {view.field!r} of numbers has no weights, because its log "
                "likelihood has the square of the number, by another variance in each "
                "class; train without it, or as "
                f"{wording.named('categorical_columns')}"
            )
            raise SettingsError(message)
        if not model.scoring.attribute(SMOOTHING):
            zero = wording.given(category_smoothing=0)
            message = (
                f"the column {view.field!r} has no weights with {zero}, because a "
                "value that a class does not have is impossible there; train with more"
            )
            raise SettingsError(message)
