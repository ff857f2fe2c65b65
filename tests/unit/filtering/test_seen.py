"""The memory of what was decided: what it knows after runs, crashes and damage."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import time

import pytest

from nbtext.errors import BusyError, MemoryFileError
from nbtext.filtering import seen as decided
from nbtext.filtering.mailboxes import OldState
from nbtext.filtering.seen import NOTHING, Entry, SeenMessages
from nbtext.filtering.seen_file import open_seen
from nbtext.filtering.seen_records import MAGIC, RECORD

FOLDER = b"folder00"


def entry(number: int) -> Entry:
    return Entry(number.to_bytes(16, "big"), number.to_bytes(16, "little"))


@contextmanager
def memory_of(
    path: Path, *, wait: float = 1, is_kept: bool = True
) -> Iterator[SeenMessages]:
    with open_seen(str(path), wait=wait, is_kept=is_kept) as memory:
        yield memory


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A memory of one message that is decided about, and one that is begun."""
    path = tmp_path / "m.nbt.decided"
    with memory_of(path) as memory:
        memory.begin(FOLDER, [entry(1), entry(2)])
        memory.finish(FOLDER, [entry(1)])
    return path


def test_what_was_decided_is_known_by_name_and_by_content(path: Path) -> None:
    with memory_of(path) as memory:
        assert memory.knows_name(entry(1).name)
        assert memory.knows(entry(1))
        assert memory.knows(Entry(entry(9).name, entry(1).content))
        assert not memory.knows(entry(9))
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_was_begun_is_decided_again_whatever_its_name(path: Path) -> None:
    with memory_of(path) as memory:
        assert memory.is_begun(entry(2).name)
        assert not memory.knows(entry(2))
        assert not memory.knows(Entry(entry(9).name, entry(2).content))


def test_what_was_replaced_is_known_until_it_is_finished(path: Path) -> None:
    file, other = bytes(range(16)), bytes(range(1, 17))
    with memory_of(path) as memory:
        memory.old_files(FOLDER).begin(file, 123)
        memory.old_files(FOLDER).begin(other, 9)
        memory.old_files(FOLDER).put_back(file, 456, 1 << 40)
    with memory_of(path) as memory:
        files = memory.old_files(FOLDER)
        assert files.state(file) == OldState(123, 456, 1 << 40)
        files.begin(file, 456)
        files.finish(other)
    with memory_of(path) as memory:
        files = memory.old_files(FOLDER)
        assert files.state(file) == OldState(456)
        assert files.state(other) is None


def test_two_messages_alike_in_one_run_are_both_new(path: Path) -> None:
    twin = Entry(entry(4).name, entry(3).content)
    with memory_of(path) as memory:
        memory.begin(FOLDER, [entry(3)])
        memory.finish(FOLDER, [entry(3)])

        assert not memory.knows(twin)
    with memory_of(path) as memory:
        assert memory.knows(twin)


def test_where_an_mbox_began_to_grow_is_known_until_it_is_done(path: Path) -> None:
    pair = bytes(range(16))
    with memory_of(path) as memory:
        memory.begin_appending(FOLDER, {pair: 123_456})
    with memory_of(path) as memory:
        assert memory.appending_to(pair) == 123_456
        memory.finish(FOLDER, [Entry(pair, NOTHING)])
    with memory_of(path) as memory:
        assert memory.appending_to(pair) is None
        assert not memory.knows(Entry(entry(9).name, NOTHING))


@pytest.mark.parametrize("cut", range(1, RECORD))
def test_a_record_that_was_cut_off_was_never_there(path: Path, cut: int) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole + whole[-RECORD:-cut])

    with memory_of(path) as memory:
        assert memory.damaged == 0
        assert memory.knows(entry(1))
        memory.finish(FOLDER, [entry(5)])
    assert len(path.read_bytes()) == len(whole) + RECORD
    with memory_of(path) as memory:
        assert memory.knows(entry(5))


def test_zeros_that_a_crash_of_the_machine_left_are_cut_off(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole + bytes(10 * RECORD))

    with memory_of(path) as memory:
        assert memory.damaged == 0
        memory.finish(FOLDER, [entry(5)])

    assert len(path.read_bytes()) == len(whole) + RECORD


def test_damage_costs_the_records_that_it_is_in(path: Path) -> None:
    text = bytearray(path.read_bytes())
    text[RECORD + 20] ^= 1  # the first of three records
    path.write_bytes(text)

    with memory_of(path) as memory:
        assert memory.damaged == 1
        assert memory.knows(entry(1))
        memory.tidy({})
    with memory_of(path) as memory:
        assert memory.damaged == 0
        assert memory.knows(entry(1))


def test_another_file_is_refused_and_left(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear all,\n" * 20)

    with pytest.raises(MemoryFileError, match="something else found"), memory_of(path):
        pass

    assert path.read_text() == "Dear all,\n" * 20


def test_of_another_file_only_the_beginning_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # takes no room, and minutes to read

    with pytest.raises(MemoryFileError, match="something else found"), memory_of(path):
        pass


def test_a_short_file_of_somebody_elses_is_refused_and_left(tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    path.write_bytes(b"buy milk\n")

    with pytest.raises(MemoryFileError, match="something else found"), memory_of(path):
        pass

    assert path.read_bytes() == b"buy milk\n"


@pytest.mark.parametrize("size", [0, 5, 63])
def test_a_file_that_is_hardly_begun_is_empty(tmp_path: Path, size: int) -> None:
    path = tmp_path / "m.decided"
    path.write_bytes(MAGIC[:size])

    with memory_of(path) as memory:
        memory.finish(FOLDER, [entry(1)])
    with memory_of(path) as memory:
        assert memory.knows(entry(1))


def test_one_run_at_a_time_has_it(path: Path) -> None:
    with (
        memory_of(path),
        pytest.raises(BusyError, match=r"another `nbtext\.filtering\.filter_mailbox`"),
        memory_of(path, wait=0.1),
    ):
        pass


def test_a_dry_run_neither_waits_nor_remembers(path: Path, tmp_path: Path) -> None:
    before = path.read_bytes()
    with memory_of(path), memory_of(path, is_kept=False) as memory:
        assert memory.knows(entry(1))
        memory.begin(FOLDER, [entry(7)])
        memory.finish(FOLDER, [entry(7)])
    with memory_of(tmp_path / "none", is_kept=False) as memory:
        assert not memory.knows(entry(1))

    assert path.read_bytes() == before
    assert not (tmp_path / "none").exists()


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with (
        pytest.raises(MemoryFileError, match="cannot be opened"),
        memory_of(tmp_path / "no" / "folder"),
    ):
        pass


def test_no_room_to_write_it_anew_is_an_error_that_says_what_to_do(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("nbtext.files.replace_file", fail)
    with memory_of(path) as memory:
        memory.damaged = 1
        with pytest.raises(MemoryFileError, match="make room there, or name a file"):
            memory.tidy({})


def test_what_is_gone_for_long_is_forgotten(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decided, "FEW", 10)
    with memory_of(path) as memory:
        memory.finish(FOLDER, [*map(entry, range(100, 200))])
        memory.finish(b"another!", [*map(entry, range(300, 310))])
    monkeypatch.setattr(decided, "KEPT", -1_000)
    with memory_of(path) as memory:
        memory.finish(FOLDER, [entry(50)])
        memory.tidy({FOLDER: [entry(100).name, entry(50).name]})

    with memory_of(path) as memory:
        known = [n for n in range(400) if memory.knows_name(entry(n).name)]
    assert known == [50, 100, *range(300, 310)]


def test_nothing_is_written_anew_while_most_of_it_is_wanted(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decided, "FEW", 10)
    with memory_of(path) as memory:
        memory.finish(FOLDER, [*map(entry, range(100, 200))])
        inode = path.stat().st_ino
        memory.tidy({FOLDER: []})

    assert path.stat().st_ino == inode
    with memory_of(path) as memory:
        assert memory.knows(entry(150))


def test_a_run_that_waited_sees_the_file_that_took_the_place(
    path: Path, tmp_path: Path
) -> None:
    with memory_of(path) as memory:
        memory.finish(FOLDER, [entry(6)])
    other = tmp_path / "other"
    other.write_bytes(path.read_bytes())
    other.replace(path)

    with memory_of(path) as memory:
        assert memory.knows(entry(6))
    assert list(tmp_path.iterdir()) == [path]


def test_what_was_told_is_remembered_where_the_file_is_written_anew(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decided, "FEW", 10)
    model, other = b"model" + bytes(11), b"other" + bytes(11)
    with memory_of(path) as memory:
        assert not memory.is_told(model, entry(3).content)
        memory.tell(model, entry(3).content)
        memory.finish(FOLDER, [*map(entry, range(100, 200))])
    with memory_of(path) as memory:
        for _ in range(2):
            memory.finish(FOLDER, [*map(entry, range(100, 200))])
        inode = path.stat().st_ino
        memory.tidy({FOLDER: []})
        assert path.stat().st_ino != inode

    with memory_of(path, is_kept=False) as memory:
        assert memory.is_told(model, entry(3).content)
        assert memory.is_told(model, entry(4).content)
        assert not memory.is_told(other, entry(3).content)
        monkeypatch.setattr(decided, "time", lambda: time() + 86_401)
        assert memory.is_told(model, entry(3).content)
        assert not memory.is_told(model, entry(4).content)


@pytest.mark.parametrize("seconds", [-1.0, float(1 << 32), 1e12])
def test_a_clock_may_say_anything(
    path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    monkeypatch.setattr(decided, "time", lambda: seconds)
    with memory_of(path) as memory:
        memory.finish(FOLDER, [entry(3)])

    with memory_of(path) as memory:
        assert memory.damaged == 0
        assert memory.knows(entry(3))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_another_user_remembers_is_not_believed(tmp_path: Path, kind: str) -> None:
    path, made = tmp_path / "m.decided", tmp_path / "made"
    if kind == "file":
        path.touch()
    else:
        path.symlink_to(made)
    os.chown(path, 65_534, 65_534, follow_symlinks=False)

    with pytest.raises(MemoryFileError, match="another user"), memory_of(path):
        pass
    assert not made.exists()
