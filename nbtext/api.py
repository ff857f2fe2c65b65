r"""
The library in a few calls: train a model, load it, classify with it.

    from nbtext import classify, load, train

    train(["spam/", "ham/"], "mail.nbt")
    model = load("mail.nbt")
    decision = classify(model, b"Subject: hello\n\nHello.")
    print(decision.label, decision.probability)

The command line does the same with the modules behind these.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from nbtext.document import Document, Item
from nbtext.learning.plan import Lesson, Teaching
from nbtext.learning.stream import teach
from nbtext.learning.training import MAX_BYTES, Trained
from nbtext.learning.training import train as train_counts
from nbtext.scoring.classifying import MANY, Classifier
from nbtext.scoring.decide import Decision
from nbtext.scoring.model import load_model
from nbtext.settings import Scoring
from nbtext.sources import Options, documents, labels
from nbtext.store.replacing import check_replaceable, replace_model


def train(
    sources: Sequence[str],
    path: str,
    *,
    options: Options | None = None,
    scoring: Scoring | None = None,
    replace: bool = False,
) -> Trained:
    """
    Make a model of labelled sources, and put it in a file's place.

    Args:
        sources: as on the command line: `spam/`, `ham=Maildir/.Archive`, `rows.csv`.
        path: where the model goes; what is there is replaced once it is complete.
        options: what the sources are, if not what they look like.
        scoring: how to score, if not by the default for the number of classes.
        replace: whether to replace a model that was taught since it was trained.

    Returns:
        The counts, and an account of what was read and what was skipped.

    Raises:
        TrainingError: fewer than two classes, or not one token.
        SettingsError: the score does not go with the number of classes, a source is
            empty, or the standard input is named twice.
        TaughtError: the model there was taught, and would be lost.
        ModelFileError: the file cannot be written.
        TypeError: the sources are one string, or none.

    """
    if isinstance(sources, str) or not sources:
        message = f"sources: expected a list of one or more, found {sources!r}"
        raise TypeError(message)
    options = options or Options()
    check_replaceable(path, replace=replace)
    known = labels(sources, options)
    trained = train_counts(
        lambda: documents(sources, options, labelled=True),
        n_classes=None if known is None else len(known),
        scoring=scoring,
        max_bytes=options.max_bytes,
    )
    replace_model(path, trained.pack(), replace=replace)
    return trained


def train_on(
    pairs: Iterable[tuple[str, bytes | str]],
    path: str,
    *,
    scoring: Scoring | None = None,
    replace: bool = False,
) -> Trained:
    """
    Make a model of labels and documents in memory, and put it in a file's place.

    Args:
        pairs: a label and a document each; text is read as its UTF-8 bytes.
        path: where the model goes; what is there is replaced once it is complete.
        scoring: how to score, if not by the default for the number of classes.
        replace: whether to replace a model that was taught since it was trained.

    Raises:
        As `train` does.

    """
    items: list[Item] = [
        Document(str(number), (_bytes(document),), label)
        for number, (label, document) in enumerate(pairs, 1)
    ]
    trained = train_counts(lambda: items, scoring=scoring)
    replace_model(path, trained.pack(), replace=replace)
    return trained


def load(path: str, *, scoring: Scoring | None = None) -> Classifier:
    """
    Open a model, ready to classify.

    Args:
        path: the model file.
        scoring: how to score, if not as the file asks.

    Raises:
        ModelFileError: there is no model, or it is damaged.
        SettingsError: the counts do not support the score.

    """
    return Classifier(load_model(path, scoring=scoring))


def classify(
    model: Classifier, document: bytes | str, *, threshold: float = 0.0
) -> Decision:
    """
    Decide about one document.

    Args:
        model: what `load` returned.
        document: a raw message, or a text; text is read as its UTF-8 bytes.
        threshold: the least probability of a label, from 0 to 1.

    """
    return model.classify([_document(1, document)], threshold=threshold)[0]


def classify_all(
    model: Classifier, documents: Iterable[bytes | str], *, threshold: float = 0.0
) -> Iterator[Decision]:
    """
    Decide about many documents, in their order; decisions are named 1, 2, 3, ...

    Args:
        model: what `load` returned.
        documents: raw messages or texts.
        threshold: the least probability of a label, from 0 to 1.

    """
    numbered = enumerate(documents, 1)
    while batch := [_document(*one) for one in islice(numbered, MANY)]:
        yield from model.classify(batch, threshold=threshold)


def learn(
    path: str, label: str, documents: Iterable[bytes | str], *, create: bool = False
) -> list[Lesson]:
    """
    Add documents to a class of a model, or move them there from another.

    What the model knows in this class already is not counted again. What is said to be
    learnt is durable; other processes may read, learn and forget meanwhile.

    Args:
        path: the model file; one that was opened before does not see the change.
        label: the class.
        documents: raw messages or texts; a batch of them is one change.
        create: whether to begin a model if there is none.

    Returns:
        What became of each document, in their order.

    Raises:
        NoModelError: there is no model, and none shall be begun.
        TrainingError: the class would need documents to be read otherwise.
        BusyError: another process has been writing the model all the time.
        ModelFileError: the model is damaged, or cannot be written.

    """
    return _teach(documents, Teaching(path, label, create=create))


def forget(path: str, documents: Iterable[bytes | str]) -> list[Lesson]:
    """
    Take documents out of a model, as if it had never counted them.

    Args:
        path: the model file.
        documents: raw messages or texts that it has counted, in whatever class.

    Returns:
        What became of each document, in their order; refused if it is not in the model.

    Raises:
        As `learn` does.

    """
    return _teach(documents, Teaching(path, None))


def _teach(documents: Iterable[bytes | str], teaching: Teaching) -> list[Lesson]:
    items: Iterator[Item] = (_document(*one) for one in enumerate(documents, 1))
    batches = teach(items, teaching, max_bytes=MAX_BYTES, complain=_nothing_to_say)
    return [lesson for batch in batches for lesson in batch]


def _nothing_to_say(_: object) -> None:
    """Pass over notes: documents in memory can be read."""


def _document(number: int, document: bytes | str) -> Document:
    return Document(str(number), (_bytes(document),))


def _bytes(document: bytes | str) -> bytes:
    if isinstance(document, str):
        return document.encode("utf-8", "replace")
    if not isinstance(document, bytes):
        message = f"a document is bytes or str, not {type(document).__name__}"
        raise TypeError(message)
    return document
