"""A process that keeps tables sees the model that others see, however it changes."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nbtext import forget, learn, load, set_policy, train_on
from nbtext.document import as_document
from nbtext.errors import NotAModelError
from nbtext.learning.taking_back import undo
from nbtext.policy import Policy
from nbtext.scoring import load_model
from nbtext.scoring.tail import TailView
from nbtext.store import compact, open_model, reuse
from nbtext.store import file as store_file
from nbtext.store.reuse import keep_tables
from tests.build import HAM, SPAM, STAMP

LABELS = ("ham", "spam")
WORDS = {"ham": [*HAM, *HAM, *SPAM], "spam": [*SPAM, *SPAM, *HAM]}


@pytest.fixture(autouse=True)
def _kept() -> Iterator[None]:
    keep_tables()
    yield
    keep_tables(is_kept=False)


def texts(seed: int, n: int = 6) -> list[tuple[str, str]]:
    """Documents and their classes; some of their words are of the other class."""
    random = np.random.default_rng(seed)
    labels = [LABELS[place % 2] for place in range(n)]
    return [(one, " ".join(random.choice(WORDS[one], 5))) for one in labels]


@pytest.fixture
def path(tmp_path: Path) -> str:
    found = str(tmp_path / "m.nbt")
    train_on(texts(0, 20), found)
    return found


def seen(path: str) -> tuple[object, ...]:
    """What this process reads in a model file."""
    model = load_model(path)
    classifier = load(path)
    decisions = [classifier.classify([as_document(one)])[0] for _, one in texts(5, 4)]
    return (
        model.classes, model.documents, model.totals, model.scoring, model.policy,
        model.notes, model.file.size, [t.offset for t in model.file.tables],
        [model.n_terms(view) for view in range(len(model.settings.views))],
        [(one.log_posterior, one.printed, one.known) for one in decisions],
    )  # fmt: skip


def agrees(path: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a process that keeps nothing reads the same."""
    here = seen(path)
    with monkeypatch.context() as patch:
        patch.setattr(reuse._Files, "is_kept", False)
        return here == seen(path)


def test_whatever_becomes_of_a_model_the_same_is_read(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, copy = Path(path).read_bytes(), tmp_path / "copy.nbt"
    new = texts(1, 12)
    assert agrees(path, monkeypatch)

    for label, text in new:
        learn(path, label, [text])
        assert agrees(path, monkeypatch)
    assert isinstance(load_model(path).stored[0][1], TailView)
    assert len(open_model(path).tables) == 13
    learn(path, "ham", [new[1][1]])  # which moves
    assert agrees(path, monkeypatch)
    forget(path, [new[2][1], texts(0, 20)[3][1]])
    assert agrees(path, monkeypatch)
    undo(path)
    assert agrees(path, monkeypatch)
    set_policy(path, Policy(threshold=0.9))
    assert agrees(path, monkeypatch)
    shutil.copy(path, copy)
    compact(path)
    assert agrees(path, monkeypatch)
    learn(path, "spam", [new[5][1] + " more"])
    assert agrees(path, monkeypatch)
    shutil.copy(copy, path)  # which writes over the same file
    assert agrees(path, monkeypatch)
    Path(path).write_bytes(first + first)  # joined, in the same file
    assert agrees(path, monkeypatch)
    Path(path).write_bytes(first)
    assert agrees(path, monkeypatch)
    train_on(texts(7, 20), path)
    assert agrees(path, monkeypatch)


def test_only_new_tables_are_read(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for label, text in texts(1, 5):
        learn(path, label, [text])
    before = open_model(path).tables
    read: list[int] = []
    original = store_file.next_table

    def next_table(*some: Any) -> Any:
        read.append(some[2])
        return original(*some)

    monkeypatch.setattr(store_file, "next_table", next_table)

    learn(path, "ham", ["one more document"])
    after = open_model(path).tables

    assert all(here is there for here, there in zip(after, before, strict=False))
    assert read == [after[-1].offset]


def test_those_who_have_opened_a_model_see_no_later_tables(path: str) -> None:
    learn(path, "ham", ["aardvark lunch"])
    early = load(path)
    document = as_document("aardvark zebra lunch")
    before = early.classify([document])[0]

    learn(path, "spam", ["aardvark zebra"])

    assert load(path).classify([document])[0].known > before.known
    assert early.classify([document])[0] == before


def test_a_damaged_tail_is_found_when_it_is_first_read(path: str) -> None:
    learn(path, "ham", ["aardvark lunch"])
    file = open_model(path)
    keep_tables()
    whole = bytearray(Path(path).read_bytes())
    place = file.tables[1].arrays.offset
    whole[place] ^= 1
    Path(path).write_bytes(whole)

    model = load_model(path)
    with pytest.raises(NotAModelError, match="not as they were written"):
        model.found(0, [1])


def test_a_tail_that_is_too_long_is_not_kept(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nbtext.scoring.tail.MOST_TERMS", 3)
    for label, text in texts(1, 4):
        learn(path, label, [text])

    assert len(load_model(path).stored[0]) == 5
    assert agrees(path, monkeypatch)


def test_few_files_are_kept(tmp_path: Path) -> None:
    for number in range(12):
        train_on(texts(number, 4), str(tmp_path / f"{number}.nbt"))
        open_model(str(tmp_path / f"{number}.nbt"))

    assert len(reuse._Files.by_path) == reuse.MOST_KEPT


def test_lessons_of_the_same_second_are_told_apart(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nbtext.learning.one_by_one.now", lambda: STAMP)
    told = "qqaa qqac", "zzba zzbd"  # whose edges differ, too
    first = Path(path).read_bytes()
    lessons: list[bytes] = []
    heads: list[bytes] = []
    for words in told:
        Path(path).write_bytes(first)
        learn(path, "spam", [words])
        lessons.append(Path(path).read_bytes())
        table = open_model(path).tables[-1]
        heads.append(lessons[-1][len(first) : table.arrays.offset])
    assert heads[0] == heads[1]

    for lesson, own in zip(lessons, told, strict=True):
        Path(path).write_bytes(lesson)  # in place, so that it has the same inode
        assert agrees(path, monkeypatch)
        classifier = load(path)
        known = [classifier.classify([as_document(one)])[0].known for one in told]
        assert [n > 0 for n in known] == [one == own for one in told]
