"""What a plan leaves alone: other classes than the one to forget from; the known."""

from pathlib import Path

import pytest

from nbtext.document import Document
from nbtext.learning.plan import UNKNOWN, Lesson, Teaching
from nbtext.learning.stream import teach
from nbtext.scoring.model import load_model

N_MANY = 20  # more than the plain engine takes


def documents(count: int, name: str) -> list[Document]:
    return [
        Document(f"{name} {number}", (f"{name} {number} words of it".encode(),))
        for number in range(count)
    ]


def taught(items: list[Document], teaching: Teaching) -> list[Lesson]:
    batches = teach(items, teaching, max_bytes=1 << 20, on_problem=lambda _: None)
    return [lesson for batch in batches for lesson in batch]


def counted(path: Path) -> dict[str, int]:
    model = load_model(str(path))
    return dict(zip(model.classes, model.documents, strict=True))


@pytest.fixture(params=[1, N_MANY], ids=["few", "many"])
def count(request: pytest.FixtureRequest) -> int:
    number: int = request.param
    return number


@pytest.fixture
def path(tmp_path: Path, count: int) -> Path:
    path = tmp_path / "m.nbt"
    for label in ("ham", "spam"):
        taught(documents(count, label), Teaching(str(path), label, create=True))
    return path


def test_documents_are_forgotten_from_one_class_alone(path: Path, count: int) -> None:
    both = documents(count, "ham") + documents(count, "spam")

    lessons = taught(both, Teaching(str(path), None, source="spam"))

    assert [lesson.outcome for lesson in lessons] == (
        ["refused"] * count + ["forgotten"] * count
    )
    assert {lesson.reason for lesson in lessons} == {UNKNOWN, ""}
    assert counted(path) == {"ham": count}


def test_documents_that_are_known_need_not_move(path: Path, count: int) -> None:
    some = documents(count, "ham") + documents(count, "new")

    lessons = taught(some, Teaching(str(path), "spam", moves=False))

    assert lessons[0] == Lesson("ham 0", "known", ("ham",))
    assert [lesson.outcome for lesson in lessons] == ["known"] * count + [
        "learnt"
    ] * count
    assert counted(path) == {"ham": count, "spam": 2 * count}
