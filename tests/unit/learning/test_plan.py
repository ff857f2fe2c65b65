"""What a plan leaves alone: other classes than the one to forget from; the known."""

from pathlib import Path

import pytest

from nbtext.document import Document
from nbtext.learning import LearnRequest, LearnResult
from nbtext.learning.lesson import UNKNOWN
from tests.build import documents_of, learnt

N_MANY = 20  # more than the plain engine takes


def documents(count: int, name: str) -> list[Document]:
    return [
        Document(f"{name} {number}", (f"{name} {number} words of it".encode(),))
        for number in range(count)
    ]


@pytest.fixture(params=[1, N_MANY], ids=["few", "many"])
def count(request: pytest.FixtureRequest) -> int:
    number: int = request.param
    return number


@pytest.fixture
def path(tmp_path: Path, count: int) -> Path:
    path = tmp_path / "m.nbt"
    for label in ("ham", "spam"):
        learnt(LearnRequest(str(path), label, create=True), documents(count, label))
    return path


def test_documents_are_forgotten_from_one_class_alone(path: Path, count: int) -> None:
    both = documents(count, "ham") + documents(count, "spam")

    results = learnt(LearnRequest(str(path), None, source="spam"), both)

    assert [result.outcome for result in results] == (
        ["refused"] * count + ["forgotten"] * count
    )
    assert {result.reason for result in results} == {UNKNOWN, ""}
    assert documents_of(path) == {"ham": count}


def test_documents_that_are_known_need_not_move(path: Path, count: int) -> None:
    some = documents(count, "ham") + documents(count, "new")

    results = learnt(LearnRequest(str(path), "spam", moves=False), some)

    assert results[0] == LearnResult("ham 0", "known", ("ham",), label="spam")
    assert [result.outcome for result in results] == ["known"] * count + [
        "learnt"
    ] * count
    assert documents_of(path) == {"ham": count, "spam": 2 * count}
