"""Where the texts of the terms that speak for a class are found."""

from collections.abc import Iterator
from pathlib import Path

from nbtext import load, train_on
from nbtext.document import Document
from tests.build import FEW_TERMS


def test_no_more_documents_are_read_for_texts_than_needed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "words.nbt"
    pairs = [("spam", "cash"), ("spam", "cash"), ("ham", "lunch"), ("ham", "lunch")]
    train_on(pairs, path, overrides=FEW_TERMS)
    read = []

    def documents() -> Iterator[Document]:
        for name in ("nothing", "cash here", "lunch", "cash later"):
            read.append(name)
            yield Document(name, (name.encode(),))

    terms = load(path).top(None, 1, documents())

    assert [(one.label, one.text) for one in terms] == [
        ("ham", "lunch"),
        ("spam", "cash"),
    ]
    assert read == ["nothing", "cash here", "lunch"]
