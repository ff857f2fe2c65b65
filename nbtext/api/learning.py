"""A model that learns documents, or forgets them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nbtext.arguments import AnyPath
    from nbtext.document import AnyDocument, Item
    from nbtext.learning.regimes import Regime

from nbtext.api._shared import checked_regime, labelled, numbered
from nbtext.arguments import count_of, documents_of, label_of, path_of, seconds_of
from nbtext.document import Note, Unreadable
from nbtext.learning import LearnRequest, LearnResult, learn_documents
from nbtext.learning.regimes import EVERYTHING
from nbtext.learning.training import MAX_BYTES
from nbtext.store.lock import WAIT

MOST_KEPT: Final = 1_000_000
"""Of so many documents a model may keep what they left."""


def learn(
    path: AnyPath,
    label: str,
    documents: Iterable[AnyDocument],
    *,
    create: bool = False,
    undo: int | None = None,
    approximate: bool = False,
    keyed: AnyPath | None = None,
    regime: Regime = EVERYTHING,
    wait: float = WAIT,
    frozen_idf: bool = False,
) -> list[LearnResult]:
    """
    Add documents to a class of a model, or move them there from another.

    A document that the model knows in this class is not counted again. What is returned
    as learnt is durable; other processes may read, learn and forget meanwhile.

    Args:
        path: the model file; one that was opened before does not see the change.
        label: the class.
        documents: raw messages, texts, or what `read_documents` gives; a batch of
            them is one change.
        create: whether to begin a model if there is none.
        undo: of how many documents the model keeps what they left, to undo them even
            if their headers have changed since; None for as many as before.
        approximate: of documents older than a pruning, whether to take away what it
            has left of them.
        keyed: file of the secret of a model that was trained with one, or is begun.
        regime: which of those that the model does not know are learnt.
        wait: how many seconds to wait for another writer of the model.
        frozen_idf: whether to weigh them by the idf that training has frozen; a model
            of TF-IDF weights is changed in no other way.

    Returns:
        What became of each document, in their order; refused if the model's pattern
        takes too long to search it, or memory is too short for it.

    Raises:
        NoModelError: there is no model, and none shall be begun.
        SettingsError: the model has an idf that shall not be kept, or none to keep.
        TrainingError: the class would need documents to be read otherwise.
        BusyError: another process has been writing the model all the time.
        ModelFileError: the model is damaged, or cannot be written.
        TypeError: the documents are a single one, or an argument is of another type.
        ValueError: `undo` is not from 0 to 1,000,000, `wait` is below 0, the label is
            empty, or there is no such regime.
    """
    request = _request(path, keyed, wait, undo, regime)._replace(
        label=label_of(label),
        approximate=approximate,
        create=create,
        frozen_idf=frozen_idf,
    )
    return _learn(numbered(documents_of(documents)), request)


def learn_labelled(
    path: AnyPath,
    pairs: Iterable[tuple[str, AnyDocument]],
    *,
    create: bool = False,
    undo: int | None = None,
    approximate: bool = False,
    keyed: AnyPath | None = None,
    regime: Regime = EVERYTHING,
    wait: float = WAIT,
    frozen_idf: bool = False,
) -> list[LearnResult]:
    """
    Add documents to the classes of a model that their labels name.

    It does for all classes together what `learn` does for one.

    Args:
        path: the model file.
        pairs: a label and a document each, as `train_on` takes them.
        create: whether to begin classes that the model does not have.
        undo: as for `learn`.
        approximate: as for `learn`.
        keyed: file of the secret of a model that was trained with one.
        regime: as for `learn`.
        wait: as for `learn`.
        frozen_idf: as for `learn`.

    Returns:
        What became of each document, in their order; refused for the reasons of
        `learn`, if the model cannot have the class, or if the same document comes again
        with another label, which stands.

    Raises:
        As `learn` does, but for what is wrong with a class.
        TypeError: what is given are no pairs of a label and a document.
        ValueError: as for `learn`.
    """
    request = _request(path, keyed, wait, undo, regime)._replace(
        own_labels=True, approximate=approximate, create=create, frozen_idf=frozen_idf
    )
    return _learn(labelled(pairs), request)


def forget(
    path: AnyPath,
    documents: Iterable[AnyDocument],
    *,
    approximate: bool = False,
    keyed: AnyPath | None = None,
    wait: float = WAIT,
    frozen_idf: bool = False,
) -> list[LearnResult]:
    """
    Take documents out of a model, as if it had never counted them.

    Args:
        path: the model file.
        documents: raw messages, texts, or what `read_documents` gives, which it has
            counted in any class.
        approximate: of documents older than a pruning, whether to take away what it
            has left of them.
        keyed: file of the secret of a model that was trained with one.
        wait: how many seconds to wait for another writer of the model.
        frozen_idf: whether they are weighed by the idf that training has frozen.

    Returns:
        What became of each document, in their order; refused if it is not in the model,
        or for the reasons of `learn`.

    Raises:
        As `learn` does.
    """
    request = _request(path, keyed, wait)._replace(
        approximate=approximate, frozen_idf=frozen_idf
    )
    return _learn(numbered(documents_of(documents)), request)


def _request(
    path: AnyPath,
    keyed: AnyPath | None,
    wait: float,
    undo: int | None = None,
    regime: Regime = EVERYTHING,
) -> LearnRequest:
    """
    Return a request to forget, of which all is checked that takes more than a look.

    Raises:
        TypeError: an argument is of another type.
        ValueError: one is out of its range.
    """
    return LearnRequest(
        path_of(path),
        None,
        wait=seconds_of("wait", wait),
        keep=None if undo is None else count_of("undo", undo, least=0, most=MOST_KEPT),
        keyed=None if keyed is None else path_of(keyed),
        regime=checked_regime(regime),
    )


def _learn(items: Iterator[Item], request: LearnRequest) -> list[LearnResult]:
    results: list[LearnResult] = []

    def refuse(problem: Unreadable | Note) -> None:
        """Put what cannot be read in its place; pass over notes."""
        if isinstance(problem, Unreadable):
            reason = str(problem.error).removeprefix(f"{problem.name}: ")
            results.append(LearnResult(problem.name, "refused", reason=reason))

    batches = learn_documents(items, request, max_bytes=MAX_BYTES, on_problem=refuse)
    for batch in batches:
        results += batch
    return results
