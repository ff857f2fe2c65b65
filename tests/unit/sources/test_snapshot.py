"""Mboxes read while mail programs write to them: no message is read by half."""

import gzip
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from io import BufferedReader, FileIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, time
from typing import Final, TypeAlias

import pytest

from nbtext import train_on
from nbtext.document import Document, Item, Note, Unread, Unreadable
from nbtext.files.mail_locks import STALE
from nbtext.learning import LearnRequest, learn_documents
from nbtext.sources import Options, _snapshot, documents, loaded, rereadable
from tests.build import FROM_LINE, mbox
from tests.items import notes
from tests.locking import dotlocked, fcntl_locked
from tests.waiting import PATIENCE

ONE, TWO, THREE = (
    b"Subject: %s\n\n%s\n" % (word, word * 30) for word in (b"one ", b"two ", b"three ")
)
HALF = FROM_LINE + b"Subject: half\n\nhal"


# a forked child of a process with threads may hang; this one has none of its own
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.fixture(autouse=True)
def _nobody_waits_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_snapshot, "WAIT", 0.05)
    monkeypatch.setattr(_snapshot, "PATIENCE", _snapshot.Patience())


def half_delivered(path: Path) -> Path:
    mbox(path, ONE, TWO)
    with path.open("ab") as file:
        file.write(HALF)
    return path


def huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


Lock: TypeAlias = Callable[[Path], AbstractContextManager[None]]
LOCKS: Final[list[Lock]] = [fcntl_locked, dotlocked]


def read(path: Path) -> list[Item]:
    """Return what a source has, its files opened."""
    found: list[Item] = []
    for item in documents([str(path)], Options(), labelled=False):
        if isinstance(item, Unread):
            found += loaded(item, 1 << 20)
        else:
            found.append(item)
    return found


def texts(items: list[Item]) -> list[bytes]:
    return [item.texts[0] for item in items if isinstance(item, Document)]


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize("name", ["box.mbox", "box", "folder/box"])
def test_the_last_message_of_a_locked_mbox_is_left_out(
    tmp_path: Path, name: str, lock: Lock
) -> None:
    (tmp_path / "folder").mkdir()
    path = half_delivered(tmp_path / name)

    with lock(path):
        items = read(path.parent if name == "folder/box" else path)

    assert texts(items) == [ONE, TWO]
    (text,) = notes(items)
    lock_file = f" ({path}.lock)" if lock is dotlocked else " ("
    assert text.startswith(f"{path}: another program{lock_file}")
    assert "left out" in text


@pytest.mark.parametrize("there", [HALF, FROM_LINE, FROM_LINE[:-1], FROM_LINE[:9]])
@pytest.mark.parametrize("name", ["box", "folder/box"])
def test_a_message_that_is_alone_and_half_there_is_left_out(
    tmp_path: Path, name: str, there: bytes
) -> None:
    (tmp_path / "folder").mkdir()
    path = tmp_path / name
    path.write_bytes(there)

    with dotlocked(path):
        items = read(path.parent if name == "folder/box" else path)

    assert texts(items) == []
    assert "left out" in notes(items)[0]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_file_that_is_locked_and_empty_yet_is_no_document(
    tmp_path: Path, lock: Lock
) -> None:
    path = tmp_path / "box"
    path.touch()

    with lock(path):
        busy = read(tmp_path)

    assert texts(busy) == []
    assert len(notes(busy)) == 1
    assert texts(read(tmp_path)) == [b""]


def test_a_text_that_begins_with_from_is_a_text(tmp_path: Path) -> None:
    path = tmp_path / "note"
    path.write_bytes(b"From here on")

    (item,) = read(path)
    assert isinstance(item, Document)
    assert item == Document(str(path), (b"From here on",))


def test_what_is_delivered_while_it_is_waited_for_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    path = tmp_path / "folder" / "box"
    path.write_bytes(HALF)
    lock = tmp_path / "folder" / "box.lock"
    lock.write_text("0")
    monkeypatch.setattr(_snapshot, "WAIT", PATIENCE)
    script = (
        "import os, sys, time; time.sleep(.3); file = open(sys.argv[1], 'ab'); "
        "file.write(b'f of it\\n\\n'); file.close(); os.unlink(sys.argv[1] + '.lock')"
    )
    with subprocess.Popen([sys.executable, "-c", script, path]):
        items = read(path.parent)

    assert texts(items) == [HALF + b"f of it\n\n"]  # with the line that began it
    assert notes(items) == []


@pytest.mark.parametrize(
    ("content", "age"),
    [
        pytest.param("0", STALE + 60, id="old"),
        pytest.param(f"{2**22 + 1}:{os.uname().nodename}\n", 0, id="of a dead process"),
    ],
)
def test_a_stale_dotlock_is_neither_heeded_nor_removed(
    tmp_path: Path, content: str, age: float
) -> None:
    path = mbox(tmp_path / "box", ONE, TWO)
    lock = tmp_path / "box.lock"
    lock.write_text(content)
    os.utime(lock, (time() - age, time() - age))

    assert texts(read(path)) == [ONE, TWO]
    assert lock.read_text() == content


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(os.mkfifo, id="FIFO"),
        pytest.param(Path.mkdir, id="folder"),
        pytest.param(lambda path: path.symlink_to("/nowhere"), id="link to nowhere"),
        pytest.param(lambda path: path.symlink_to("/dev/zero"), id="link to a device"),
        pytest.param(lambda path: huge(path), id="huge"),
    ],
)
def test_whatever_a_dotlock_is_nobody_hangs(
    tmp_path: Path, make: Callable[[Path], object]
) -> None:
    path = mbox(tmp_path / "box", ONE, TWO)
    make(tmp_path / "box.lock")
    items = read(path)

    assert texts(items) == [ONE]
    assert len(notes(items)) == 1


def test_a_lock_with_the_name_of_a_linked_mbox_counts(tmp_path: Path) -> None:
    path = half_delivered(tmp_path / "box")
    link = tmp_path / "link"
    link.symlink_to("box")

    for locked in (path, link):
        with dotlocked(locked):
            assert texts(read(link)) == [ONE, TWO]


def test_many_locked_mboxes_are_not_waited_for_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_snapshot, "WAIT", 1.0)
    monkeypatch.setattr(_snapshot, "SHORT_WAIT", 0.0)
    for number in range(50):
        mbox(tmp_path / f"box{number}", ONE, TWO)
        (tmp_path / f"box{number}.lock").write_text("0")
    begun = monotonic()
    items = read(tmp_path)

    assert len(texts(items)) == len(notes(items)) == 50
    assert monotonic() - begun < 25


@pytest.fixture
def readable_folder() -> Iterator[Path]:
    """A folder that others may enter, and not change."""
    with TemporaryDirectory() as name:
        yield Path(name)
        Path(name).chmod(0o755)


def test_reading_changes_nothing_and_needs_no_permission_to_write(
    readable_folder: Path,
) -> None:
    path = mbox(readable_folder / "box", ONE, TWO)
    path.chmod(0o444)
    readable_folder.chmod(0o555)
    before = (path.stat(), readable_folder.stat(), [*readable_folder.iterdir()])
    child = os.fork()
    if not child:
        if os.geteuid() == 0:
            os.setuid(65534)
        os._exit(texts(read(path)) == [ONE, TWO])
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 1
    after = (path.stat(), readable_folder.stat(), [*readable_folder.iterdir()])
    assert [one.st_ctime_ns for one in after[:2]] == [
        one.st_ctime_ns for one in before[:2]
    ]
    assert after[2] == before[2]


def test_standard_input_is_read_up_to_its_last_whole_message(tmp_path: Path) -> None:
    path = half_delivered(tmp_path / "box")
    for lock in LOCKS:
        with lock(path), path.open("rb") as file:
            items = list(documents(["-"], Options(), labelled=False, stdin=file))

        assert texts(items) == [ONE, TWO]
        assert notes(items)[0].startswith("-: ")


def test_what_was_read_of_standard_input_before_stays_read(tmp_path: Path) -> None:
    path = mbox(tmp_path / "box", ONE, TWO)
    with path.open("rb") as file:
        os.lseek(file.fileno(), len(FROM_LINE + ONE) + 1, os.SEEK_SET)
        items = list(documents(["-"], Options(), labelled=False, stdin=file))

    assert texts(items) == [TWO]


def test_standard_input_that_is_read_twice_is_not_read_by_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = half_delivered(tmp_path / "box")
    with path.open("rb") as file, dotlocked(path):
        monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": file}))
        again = rereadable(["spam=-"], Options())

        assert texts(list(again())) == texts(list(again())) == [ONE, TWO]


def test_compressed_mboxes_and_pipes_are_read_to_their_end(tmp_path: Path) -> None:
    plain = mbox(tmp_path / "box", ONE, TWO)
    path = tmp_path / "box.mbox.gz"
    path.write_bytes(gzip.compress(plain.read_bytes()))
    (tmp_path / "box.mbox.gz.lock").write_text("0")
    with subprocess.Popen(["cat", plain], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        stream = BufferedReader(FileIO(process.stdout.fileno(), closefd=False))
        piped = list(documents(["-"], Options(), labelled=False, stdin=stream))

    assert texts(read(path)) == texts(piped) == [ONE, TWO]


def rewritten_midway(
    path: Path, monkeypatch: pytest.MonkeyPatch, do: Callable[[Path], object]
) -> list[Item]:
    """Read an mbox of many pieces, with which something is done after the third."""
    monkeypatch.setattr(_snapshot, "CHUNK", 4096)
    really, n_read = os.read, 0

    def counted(descriptor: int, size: int) -> bytes:
        nonlocal n_read
        if size == 4096 and stat.S_ISREG(os.fstat(descriptor).st_mode):
            n_read += 1
            if n_read == 3:
                do(path)
        return really(descriptor, size)

    monkeypatch.setattr(os, "read", counted)
    return read(path)


def appended(path: Path) -> None:
    with path.open("ab") as file:
        file.write(FROM_LINE + THREE + b"\n" + HALF)


MESSAGES = [b"Subject: %d\n\n%s\n" % (n, b"word%d " % n * 200) for n in range(20)]


def test_what_is_appended_meanwhile_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = mbox(tmp_path / "box.mbox", *MESSAGES)

    assert texts(rewritten_midway(path, monkeypatch, appended)) == MESSAGES


def test_nor_if_it_is_locked_from_then_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = mbox(tmp_path / "box.mbox", *MESSAGES)

    def deliver(path: Path) -> None:
        (tmp_path / "box.mbox.lock").write_text("0")
        appended(path)

    assert texts(rewritten_midway(path, monkeypatch, deliver)) == MESSAGES


@pytest.mark.parametrize(
    "do",
    [
        pytest.param(lambda path: os.truncate(path, 0), id="emptied"),
        pytest.param(lambda path: os.truncate(path, 9000), id="cut off"),
        pytest.param(lambda path: os.truncate(path, 20_000), id="cut off further on"),
        pytest.param(lambda path: mbox(path, *MESSAGES[1:]), id="first one expunged"),
        pytest.param(
            lambda path: mbox(path, *MESSAGES[2:], *MESSAGES), id="and others added"
        ),
    ],
)
def test_an_mbox_that_is_rewritten_meanwhile_gives_no_half_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, do: Callable[[Path], object]
) -> None:
    path = mbox(tmp_path / "box.mbox", *MESSAGES)
    items = rewritten_midway(path, monkeypatch, do)
    found = texts(items)

    assert 0 < len(found) < len(MESSAGES)
    assert found == MESSAGES[: len(found)]
    (error,) = [item.error for item in items if isinstance(item, Unreadable)]
    assert "rewritten" in str(error)


def test_a_large_mbox_is_not_copied(tmp_path: Path) -> None:
    path = mbox(tmp_path / "box.mbox", ONE, TWO)
    os.truncate(path, 20 << 30)  # a hole
    items = documents([str(path)], Options(), labelled=False)

    assert texts([next(items)]) == [ONE]
    assert path.stat().st_blocks < 100


def test_a_message_is_learnt_once_however_often_it_is_read_meanwhile(
    tmp_path: Path,
) -> None:
    model = str(tmp_path / "m.nbt")
    train_on([("spam", "money winner"), ("ham", "lunch meeting")], model)
    path = half_delivered(tmp_path / "box")
    problems: list[Unreadable | Note] = []

    def learn() -> int:
        request = LearnRequest(model, "spam")
        items = documents([str(path)], Options(), labelled=False)
        batches = learn_documents(
            items, request, max_bytes=1 << 20, on_problem=problems.append
        )
        return sum(result.outcome == "learnt" for batch in batches for result in batch)

    with fcntl_locked(path):
        assert learn() == 2
        with path.open("ab") as file:
            file.write(b"f of it\n\n")

    assert "left out" in notes(list(problems))[0]
    assert learn() == 1
    assert learn() == 0
