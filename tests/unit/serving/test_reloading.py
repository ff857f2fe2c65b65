"""A model that is followed is the one that is there, or the last that could be read."""

from pathlib import Path

import pytest

from nbtext import learn, train_on
from nbtext.document import Document
from nbtext.errors import NbtextError
from nbtext.policy import PolicyOverrides
from nbtext.scoring.classifier import Classifier
from nbtext.scoring.model import Model, load_model
from nbtext.serving.reloading import ReloadingModel, state_of

HAM = [("ham", "lunch on friday"), ("ham", "meeting minutes")]
SPAM = [("spam", "cheap pills"), ("spam", "money winner")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "m.nbt"
    train_on([*HAM, *SPAM], str(path))
    return path


@pytest.fixture
def remarks() -> list[str]:
    return []


@pytest.fixture
def followed(path: Path, remarks: list[str]) -> ReloadingModel:
    return ReloadingModel(
        str(path), "spam", PolicyOverrides(), remarks.append, remarks.append
    )


def documents(classifier: Classifier) -> int:
    return sum(classifier.model.documents)


def test_it_is_opened_once(followed: ReloadingModel, remarks: list[str]) -> None:
    first = followed.classifier()

    assert followed.classifier() is first
    assert [remark.rpartition(": ")[2] for remark in remarks] == ["opened, 4 documents"]
    followed.wait()


def test_what_another_process_learns_is_there_at_once(
    followed: ReloadingModel, path: Path
) -> None:
    assert documents(followed.classifier()) == 4

    for number in range(20):
        learn(path, "spam", [f"number{number}"])

        assert documents(followed.classifier()) == 5 + number
    followed.wait()


def test_another_model_in_its_place_is_opened(
    followed: ReloadingModel, path: Path, remarks: list[str]
) -> None:
    followed.classifier()
    train_on([*HAM, *SPAM, *SPAM], str(path))

    assert documents(followed.classifier()) == 6
    assert remarks[-1].endswith("opened again, 6 documents")
    followed.wait()


@pytest.mark.parametrize("damage", ["missing", "empty", "junk", "half", "flipped"])
def test_a_model_that_cannot_be_read_changes_nothing(
    followed: ReloadingModel, path: Path, remarks: list[str], damage: str
) -> None:
    before = followed.classifier()
    data = path.read_bytes()
    keys = before.model.file.tables[0].arrays["body.keys"]
    place = data.index(keys.tobytes()[:8])
    bad = {
        "empty": b"", "junk": b"junk" * 99, "half": data[: len(data) // 2],
        "flipped": data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :],
    }  # fmt: skip
    path.unlink()
    if damage in bad:
        path.write_bytes(bad[damage])

    assert all(followed.classifier() is before for _ in range(5))
    assert len(remarks) == 2, remarks
    assert remarks[1].endswith("; the model before is used")
    path.unlink(missing_ok=True)
    path.write_bytes(data)
    assert documents(followed.classifier()) == 4
    assert remarks[-1].endswith("opened again, 4 documents")
    followed.wait()


def test_a_model_without_the_class_is_not_taken(
    followed: ReloadingModel, path: Path, remarks: list[str]
) -> None:
    before = followed.classifier()
    train_on([*HAM, ("junk", "cheap pills")], str(path))

    assert followed.classifier() is before
    assert "no class 'spam'; the model's classes are ham, junk" in remarks[-1]
    followed.wait()


def test_it_may_be_missing_at_first(tmp_path: Path, remarks: list[str]) -> None:
    path = tmp_path / "later.nbt"
    followed = ReloadingModel(
        str(path), "spam", PolicyOverrides(), remarks.append, remarks.append
    )
    for _ in range(3):
        with pytest.raises(NbtextError, match="no model there"):
            followed.classifier()
    train_on([*HAM, *SPAM], str(path))

    assert documents(followed.classifier()) == 4
    assert len(remarks) == 2
    followed.wait()


def test_a_table_that_is_being_written_is_seen_when_it_is_whole(
    followed: ReloadingModel, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nbtext.serving.reloading.PAUSE", 0.0)
    size = path.stat().st_size
    learn(path, "spam", ["one more"])
    whole = path.read_bytes()
    path.write_bytes(whole[:size] + b"\0" + whole[size + 1 :])
    # a file system may have written the last byte at the same time as those before
    monkeypatch.setattr(
        "nbtext.serving.reloading.state_of", lambda _: (1, 2, len(whole), 4)
    )
    assert documents(followed.classifier()) == 4

    with path.open("r+b") as file:  # the first byte last, as writers do
        file.seek(size)
        file.write(whole[size : size + 1])

    assert documents(followed.classifier()) == 5
    followed.wait()


def test_a_file_that_was_cut_short_is_used_with_one_warning(
    followed: ReloadingModel,
    path: Path,
    remarks: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("nbtext.serving.reloading.PAUSE", 0.0)
    learn(path, "spam", ["one more"])
    path.write_bytes(path.read_bytes()[:-9])

    for _ in range(3):
        assert documents(followed.classifier()) == 4

    assert len(remarks) == 2
    assert remarks[1].startswith(f"WARNING: {path}: the table at byte ")
    assert "; missing at least: spam 1; see `nbtext.upkeep.check_model`" in remarks[1]
    followed.wait()


def test_both_engines_say_the_same(followed: ReloadingModel) -> None:
    messages = [
        Document("-", (text,)) for text in (b"cheap lunch", b"money", b"", b"x")
    ]
    plain = followed.classifier().classify(messages)
    followed.wait()
    arranged = followed.classifier().classify(messages)

    for one, other in zip(plain, arranged, strict=True):
        assert other.label == one.label
        assert other.log_posterior == pytest.approx(one.log_posterior, rel=1e-9)


def test_reading_again_may_be_asked_for(
    followed: ReloadingModel, remarks: list[str]
) -> None:
    first = followed.classifier()
    followed.read_again()

    assert followed.classifier() is not first
    followed.wait()


def test_reading_again_is_not_lost_while_another_thread_opens_the_model(
    followed: ReloadingModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file was looked at, but is not yet opened, when SIGHUP comes."""
    opened: list[str] = []

    def state_then_signal(path: str) -> object:
        if not opened:
            followed.read_again()
        return state_of(path)

    def counted(path: str) -> Model:
        opened.append(path)
        return load_model(path)

    monkeypatch.setattr("nbtext.serving.reloading.state_of", state_then_signal)
    monkeypatch.setattr("nbtext.serving.reloading.load_model", counted)
    followed.classifier()

    followed.classifier()

    assert len(opened) == 2
    followed.classifier()
    assert len(opened) == 2
    followed.wait()


@pytest.mark.parametrize("is_kept", [True, False])
def test_counts_of_a_model_that_is_asked_seldom_are_not_arranged(
    path: Path, monkeypatch: pytest.MonkeyPatch, is_kept: bool
) -> None:
    train_on([*HAM, *SPAM, ("work", "report due")], path, replace=True)
    size = path.stat().st_size
    monkeypatch.setattr("nbtext.serving.reloading.AN_ASKING", size / 10)
    followed = ReloadingModel(
        str(path), "spam", PolicyOverrides(), print, print, is_kept=is_kept
    )
    n_asked = 1
    while followed._arranging is None:
        followed.classifier()
        n_asked += 1
    followed.wait()

    assert n_asked == (2 if is_kept else 12)
    assert followed._arranged is followed.classifier()
