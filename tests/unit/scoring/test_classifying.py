from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nbtext.document import Document, Note, Unreadable
from nbtext.learning.training import train
from nbtext.scoring.classifying import Classifier, classify, classify_with, keep
from nbtext.scoring.model import load_model

WORDS = {"ham": b"minutes of the meeting", "spam": b"winner of the lottery"}
DOCUMENTS = [
    Document(f"{label} {n}", (words + b" %d" % n,), label)
    for label, words in WORDS.items()
    for n in range(40)
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A small model."""
    path = tmp_path / "model.nbt"
    path.write_bytes(b"".join(train(lambda: DOCUMENTS).contents.pack()))
    return path


def complain(remark: Unreadable | Note) -> None:
    raise AssertionError(remark)


def test_the_model_that_is_kept_is_not_opened_again(path: Path) -> None:
    classifier = Classifier(load_model(str(path)))
    alone = [
        decision.label
        for batch in classify(DOCUMENTS, classifier, max_bytes=99, complain=complain)
        for decision in batch
    ]

    keep(classifier)
    path.unlink()
    with ThreadPoolExecutor(2) as executor:
        batches = classify_with(
            executor,
            2,
            DOCUMENTS,
            str(path),
            classifier.model.scoring,
            max_bytes=99,
            complain=complain,
        )
        labels = [decision.label for batch in batches for decision in batch]

    assert labels == alone == [document.label for document in DOCUMENTS]
