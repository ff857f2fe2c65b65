"""
The correction of a model in memory, with what documents teach it one at a time.

It is what `learn` would make of each of them on its own (`nbtext.learning.teaching`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext.scoring import Model
    from nbtext.scoring.model import StoredCorrection
    from nbtext.scoring.tail import Changes
    from nbtext.tokens import Bag

from collections import Counter as Tally

from nbtext.learning.correction_change import CorrectionChange
from nbtext.learning.teaching import teach
from nbtext.scoring.model import stored_correction
from nbtext.scoring.tail import ChangesView
from nbtext.store import Row


class TaughtCorrection:
    """A correction that grows."""

    def __init__(self, base: Model) -> None:
        """Begin with that of a model, which has one."""
        self._base = base
        self._stored: StoredCorrection | None = base.correction
        self._classes = base.classes
        self._biases: Tally[str] = Tally()
        self._views: tuple[Changes, ...] = tuple({} for _ in base.settings.views)

    def learn(self, model: Model, label: str, bag: Bag) -> None:
        """
        Be taught by a document.

        Args:
            model: as it is without the document, with this correction.
            label: its class, which the model has.
            bag: its terms in each view.
        """
        lesson = CorrectionChange(model.settings)
        teach(model, b"", Row(label, 0), bag, lesson)
        self._biases.update(lesson.biases)
        for changes, values in zip(self._views, lesson.views, strict=True):
            for key, by_name in values.items():
                by_class = changes.setdefault(key, {})
                for name, value in by_name.items():
                    (before,) = by_class.get(name, (0,))
                    by_class[name] = (before + value,)

    def for_classes(self, classes: Sequence[str]) -> StoredCorrection | None:
        """Return it as it is now, for a model that knows some classes, sorted."""
        base = self._base
        if classes != self._classes:
            self._classes = tuple(classes)
            self._stored = stored_correction(base.file, classes, base.scoring)
        stored = self._stored
        if stored is None:
            return None
        place_of = {name: place for place, name in enumerate(classes)}
        return stored._replace(
            biases=tuple(
                bias + self._biases[name]
                for bias, name in zip(stored.biases, classes, strict=True)
            ),
            stored=tuple(
                (*views, ChangesView(changes, place_of))
                for views, changes in zip(stored.stored, self._views, strict=True)
            ),
        )
