"""A model that was taught is replaced only if somebody says so."""

import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from threading import Thread

import pytest

from nbtext import learn, train_on
from nbtext.errors import BusyError, ModelWriteError, TaughtError
from nbtext.store import check_replaceable, replace_model
from nbtext.store.lock import locked
from tests.waiting import PATIENCE


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    path = tmp_path / "m.nbt"
    train_on([("ham", "lunch on friday"), ("spam", "cheap cheap")], str(path))
    return path


@pytest.fixture
def taught(trained: Path) -> Path:
    learn(trained, "ham", ["lunch"])
    return trained


def test_a_model_that_was_taught_is_not_replaced(taught: Path) -> None:
    before = taught.read_bytes()

    with pytest.raises(TaughtError, match="1 document was learnt, moved or forgotten"):
        replace_model(str(taught), [b"new"], replace=False)

    assert taught.read_bytes() == before


def test_it_is_replaced_if_somebody_says_so(taught: Path) -> None:
    assert replace_model(str(taught), [b"ne", b"w"], replace=True) == 3
    assert taught.read_bytes() == b"new"


def test_a_model_that_was_not_taught_is_replaced(trained: Path) -> None:
    replace_model(str(trained), [b"new"], replace=False)

    assert trained.read_bytes() == b"new"


def test_a_model_that_may_only_be_read_is_not_replaced(
    trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = trained.read_bytes()
    # root may write whatever it likes; whoever may write to the folder could rename
    monkeypatch.setattr(os, "access", lambda *_: False)

    with pytest.raises(ModelWriteError, match="it may only be read"):
        replace_model(str(trained), [b"new"], replace=True)

    assert trained.read_bytes() == before


def test_an_empty_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "m.nbt"
    path.touch()

    check_replaceable(str(path), replace=False)
    replace_model(str(path), [b"new"], replace=False)

    assert path.read_bytes() == b"new"


def test_what_cannot_be_opened_is_replaced_only_if_somebody_says_so(
    trained: Path,
) -> None:
    whole = trained.read_bytes()
    newer = whole.replace(b"\xa7version\x03", b"\xa7version\x04", 1)

    for contents in (b"From: a letter\n", b"\x8f\xa6format" * 9, whole[:-9], newer):
        trained.write_bytes(contents)
        with pytest.raises(TaughtError, match="replace=True"):
            replace_model(str(trained), [b"new"], replace=False)
        assert trained.read_bytes() == contents

        replace_model(str(trained), [b"new"], replace=True)
        assert trained.read_bytes() == b"new"


def test_a_model_is_made_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "new" / "m.nbt"

    replace_model(str(path), [b"new"], replace=False)

    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_stays_one(taught: Path) -> None:
    link = taught.parent / "link.nbt"
    link.symlink_to(taught)

    replace_model(str(link), [b"new"], replace=True)

    assert link.is_symlink()
    assert taught.read_bytes() == b"new"


def test_a_link_to_nothing_makes_what_it_leads_to(tmp_path: Path) -> None:
    link = tmp_path / "link.nbt"
    link.symlink_to(tmp_path / "m.nbt")

    replace_model(str(link), [b"new"], replace=False)

    assert link.is_symlink()
    assert (tmp_path / "m.nbt").read_bytes() == b"new"


def folder(path: Path) -> Path:
    path.mkdir()
    return path


def pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


def below_a_file(path: Path) -> Path:
    path.touch()
    return path / "m.nbt"


@pytest.mark.parametrize("make", [folder, pipe, below_a_file])
def test_what_is_no_file_is_not_replaced(
    make: Callable[[Path], Path], tmp_path: Path
) -> None:
    path = make(tmp_path / "there")

    with pytest.raises(ModelWriteError, match="cannot be written: "):
        replace_model(str(path), [b"new"], replace=True)


class Late(list[bytes]):
    """The pieces of a model; while they are written, somebody else puts one there."""

    def __init__(self, path: Path, other: bytes) -> None:
        super().__init__([b"new"])
        self.path = path
        self.other = other

    def __iter__(self) -> Iterator[bytes]:
        if not self.path.exists():
            self.path.write_bytes(self.other)
        return super().__iter__()


@pytest.mark.parametrize("replace", [False, True])
def test_a_model_that_was_made_meanwhile_is_looked_at(
    taught: Path, replace: bool
) -> None:
    path = taught.parent / "late.nbt"
    late = Late(path, taught.read_bytes())

    with nullcontext() if replace else pytest.raises(TaughtError):
        replace_model(str(path), late, replace=replace)

    assert path.read_bytes() == (b"new" if replace else taught.read_bytes())


def test_a_place_that_is_taken_and_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.nbt").write_bytes(b"old")
    path = f"{tmp_path}/nowhere/../m.nbt"  # no such path, though it can be shortened

    with pytest.raises(ModelWriteError, match="there is no such path"):
        replace_model(path, [b"new"], replace=False)

    assert (tmp_path / "m.nbt").read_bytes() == b"old"


def test_nothing_is_learnt_at_a_place_that_is_taken_and_not_there(
    taught: Path,
) -> None:
    with pytest.raises(ModelWriteError, match="there is no such path"):
        learn(f"{taught.parent}/nowhere/../m.nbt", "ham", ["x"], create=True)


def test_a_writer_is_waited_for(taught: Path) -> None:
    done: list[int] = []

    def write() -> None:
        done.append(replace_model(str(taught), [b"new"], replace=True, wait=PATIENCE))

    with locked(str(taught)):
        with pytest.raises(BusyError):
            replace_model(str(taught), [b"other"], replace=True, wait=0)
        thread = Thread(target=write)
        thread.start()
        assert done == []
    thread.join()

    assert (done, taught.read_bytes()) == ([3], b"new")


def test_what_is_taught_while_one_waits_is_not_lost(trained: Path) -> None:
    refused: list[TaughtError] = []

    def write() -> None:
        try:
            replace_model(str(trained), [b"new"], replace=False, wait=PATIENCE)
        except TaughtError as error:
            refused.append(error)

    with locked(str(trained)) as descriptor:
        thread = Thread(target=write)
        thread.start()
        copy = trained.parent / "copy.nbt"
        copy.write_bytes(trained.read_bytes())
        learn(copy, "ham", ["lunch"])
        assert descriptor is not None
        os.pwrite(descriptor, copy.read_bytes(), 0)
    thread.join()

    assert len(refused) == 1
