"""
The models of cross-validation, kept until it is told what they misjudged, and why.

Deciding needs scores alone. Reasons need the model of the fold that a document is in,
and the document itself. So each model goes into a temporary file, and the documents
that were misjudged are read once more.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from nbtext.document import Document, Item
    from nbtext.evaluation.documents import Named
    from nbtext.learning.reading_once import Kept
    from nbtext.policy import Policy
    from nbtext.scoring.explanation import Reason
    from nbtext.settings.reading import Settings
    from nbtext.store import Contents

import numpy as np

from nbtext.counts import ReadReport
from nbtext.counts.read_report import documents
from nbtext.errors import SourceError
from nbtext.evaluation.misjudged import Misjudged, worst_first
from nbtext.files.temporary import temporary_folder
from nbtext.scoring import Classifier, load_model
from nbtext.scoring.decide import probability_of
from nbtext.tokens import read

WHOLE: Final = -1
"""What stands for a fold's number in the name of the model of all documents."""


class _Known(NamedTuple):
    """What a document is known again by."""

    digest: bytes
    label: str | None
    name: str
    identity: str | None


def _known(digest: bytes, document: Named | Document) -> _Known:
    return _Known(digest, document.label, document.name, document.identity)


def _told(printed: NDArray[np.float64], decided: int) -> float:
    """Return the probability of what was decided, or if unsure the highest."""
    return probability_of(float(printed[decided] if decided >= 0 else printed.max()))


class FoldModels:
    """
    Models in temporary files, which are gone at the end of the context.

    Attributes:
        has_whole: whether the model of all documents is kept as well.
    """

    def __init__(
        self,
        sources: Callable[[], Iterable[Item]],
        max_bytes: int,
        *,
        n_reasons: int,
        has_whole: bool,
    ) -> None:
        """
        Have kept nothing yet.

        Args:
            sources: gives the documents, from the beginning each time.
            max_bytes: how much of a document is read.
            n_reasons: how many reasons are told of each misjudged document; if 0, the
                models of folds are not kept.
            has_whole: see above.
        """
        self.has_whole = has_whole
        self._sources = sources
        self._max_bytes = max_bytes
        self._n_reasons = n_reasons
        self._stack = ExitStack()
        self._folder = Path()  # from when the context is entered
        self._digests: list[bytes] = []

    def __enter__(self) -> FoldModels:
        self._folder = self._stack.enter_context(temporary_folder())
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def meet(self, kept: Kept | None) -> None:
        """Take note of a document, in the order of the cache; None begins anew."""
        if kept is None:
            self._digests.clear()
        elif self._n_reasons:
            self._digests.append(kept.reading.digest)

    def keep(self, fold: int, contents: Contents) -> None:
        """Keep the model of a fold, or of the `WHOLE`, if it will be asked for."""
        if self.has_whole if fold == WHOLE else self._n_reasons:
            with self._path(fold).open("wb") as file:
                file.writelines(contents.pack())

    def whole(self) -> Classifier:
        """Return the model of all documents."""
        return Classifier(load_model(str(self._path(WHOLE))))

    def errors(
        self,
        settings: Settings,
        policy: Policy,
        truth: NDArray[np.int64],
        decided: NDArray[np.int64],
        printed: NDArray[np.float64],
        fold_of: NDArray[np.intp],
        classes: tuple[str, ...],
        documents: Sequence[Named],
    ) -> tuple[Misjudged, ...] | None:
        """
        Return the documents that were misjudged, the surest errors first.

        One that is gone, or another by now, is told without reasons.

        Args:
            settings: how documents are read.
            policy: how it was decided.
            truth: shape (n_documents,), each document's class; -1 for one that no model
                knows.
            decided: shape (n_documents,), the class that was decided, none's if unsure.
            printed: shape (n_documents, n_classes), log-probabilities, in nats.
            fold_of: shape (n_documents,), the fold of each document.
            classes: the names of the classes.
            documents: what they are called.

        Returns:
            None if no reasons are wanted.
        """
        if not self._n_reasons:
            return None
        # one that no model knows is an error, whether it was decided or not
        wrong = np.flatnonzero((truth != decided) | (truth < 0)).tolist()
        labels = {
            place: classes[decided[place]] if decided[place] >= 0 else None
            for place in wrong
        }
        models: dict[int, Classifier] = {}
        reasons: dict[int, tuple[Reason, ...]] = {}
        for place, document in self._read_again(wrong, documents, settings):
            fold = int(fold_of[place])
            if fold not in models:
                model = load_model(str(self._path(fold)))
                models[fold] = Classifier(model, policy=policy)
            why = models[fold].explain(
                document, label=labels[place], top=self._n_reasons
            )
            reasons[place] = why.reasons
        return worst_first(
            Misjudged(
                name=documents[place].name,
                identity=documents[place].identity,
                truth=documents[place].label,
                label=labels[place],
                probability=_told(printed[place], int(decided[place])),
                reasons=reasons.get(place, ()),
            )
            for place in wrong
        )

    def _read_again(
        self, places: Iterable[int], named: Sequence[Named], settings: Settings
    ) -> Iterator[tuple[int, Document]]:
        """Yield the documents at some places, known again by name, label and digest."""
        wanted: defaultdict[_Known, list[int]] = defaultdict(list)
        for place in reversed([*places]):
            wanted[_known(self._digests[place], named[place])].append(place)
        names = {known.name for known in wanted}
        for document in documents(
            self._sources() if wanted else (), ReadReport(), self._max_bytes
        ):
            if document.name not in names:
                continue
            with suppress(SourceError):  # it could be read before
                digest = read(document, settings).digest
                known = _known(digest, document)
                if wanted.get(known):
                    yield wanted[known].pop(), document

    def _path(self, fold: int) -> Path:
        return self._folder / f"{fold}.nbt"
