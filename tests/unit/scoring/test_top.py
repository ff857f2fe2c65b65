"""Where the texts of the terms that speak for a class are found."""

from collections.abc import Iterator
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4])
def test_of_any_number_of_terms_the_strongest_are_told(tmp_path: Path, n: int) -> None:
    path = tmp_path / "words.nbt"
    pairs = [("spam", "cash now today"), ("spam", "cash now"), ("spam", "cash")]
    train_on([*pairs, *[("ham", "lunch")] * 3], path, overrides=FEW_TERMS)

    whole = load(path).top("spam", 100)
    terms = load(path).top("spam", n)

    assert [one.documents for one in whole[:2]] == [3, 2]
    assert terms == whole[:n]
    assert len(terms) == n
