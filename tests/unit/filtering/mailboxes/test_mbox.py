"""Mboxes: where their messages lie, how they are locked, and how they are rewritten."""

import fcntl
import mailbox
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from nbtext.errors import BusyError, SourceError
from nbtext.files.mail_locks import STALE, is_stale
from nbtext.filtering.mailboxes import (
    Marks,
    Mbox,
    OldFiles,
    Plan,
    _locks,
    carry_out,
    clean_up,
    open_mailbox,
)
from nbtext.filtering.mailboxes._fields import header_of, marked, naming
from nbtext.filtering.mailboxes._late import ForeignFileError, look_after
from nbtext.filtering.mailboxes._locks import locked, remove_stale
from nbtext.filtering.mailboxes._rewriting import name_of
from nbtext.filtering.mailboxes._spans import spans
from nbtext.filtering.seen import SeenMessages
from tests import build
from tests.waiting import PATIENCE

FROM = build.FROM_LINE
ONE, TWO, THREE = (
    b"Subject: %s\n\n%s\n" % (word, word) for word in (b"one", b"two", b"three")
)


def mbox(path: Path, *messages: bytes) -> Mbox:
    return Mbox(str(build.mbox(path, *messages)))


def digests(box: Mbox) -> list[bytes]:
    with box.opened(1) as snapshot:
        return [span.content.digest for span in snapshot.spans(0)]


def plan(moves: dict[bytes, Mbox], marks: dict[bytes, Marks] | None = None) -> Plan:
    return Plan(moves, marks or {}, lambda _: None, lambda _: None, old_files())


def old_files() -> OldFiles:
    """Return a memory without a file of which mboxes were replaced."""
    return SeenMessages("", None).old_files(b"folder00")


def moved(source: Mbox, target: Mbox, *places: int) -> None:
    there = digests(source)
    carry_out(source, plan({there[place]: target for place in places}), 1)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(b"", [], id="empty"),
        pytest.param(b"\n", [], id="blank"),
        pytest.param(FROM, [(0, 44)], id="no message"),
        pytest.param(FROM + ONE, [(0, 62)], id="no blank line at the end"),
        pytest.param(FROM + ONE[:-1], [(0, 61)], id="no line feed at the end"),
        pytest.param(FROM + ONE + b"\n", [(0, 63)], id="one"),
        pytest.param(FROM + ONE + b"\n" + FROM + TWO, [(0, 63), (63, 125)], id="two"),
        pytest.param(
            FROM + ONE + b"\r\n" + FROM + TWO, [(0, 64), (64, 126)], id="CRLF between"
        ),
        pytest.param(
            FROM + ONE + FROM + TWO, [(0, 124)], id="no blank line between: one message"
        ),
        pytest.param(b"\n" + FROM + ONE, [(1, 63)], id="blank line before"),
        pytest.param(b"odd\n\n" + FROM + ONE, [(5, 67)], id="something before"),
    ],
)
def test_messages_lie_where_their_from_lines_are(
    tmp_path: Path, text: bytes, found: list[tuple[int, int]]
) -> None:
    path = tmp_path / "box"
    path.write_bytes(text)
    with path.open("rb") as file:
        lying = list(spans(file.fileno(), len(text), 1000))

    assert [(span.start, span.end) for span in lying] == found


def test_a_message_is_the_same_whatever_mail_programs_keep_in_it(
    tmp_path: Path,
) -> None:
    kept = (
        b"Status: RO\nSubject: one\nX-UID: 5\nX-Keywords: a\n b\nx-status: F\n"
        b"Content-Length: 4\nX-IMAPbase: 1 2\n\none\n"
    )
    box = mbox(tmp_path / "box", ONE, kept, ONE.replace(b"\n\n", b"\n\nStatus: R\n"))

    one, same, other = digests(box)

    assert one == same != other


def test_the_last_message_is_the_same_without_its_line_ends(tmp_path: Path) -> None:
    box = mbox(tmp_path / "box", ONE)
    whole = digests(box)
    for text in (FROM + ONE, FROM + ONE[:-1]):
        (tmp_path / "box").write_bytes(text)

        assert digests(box) == whole


def test_a_message_larger_than_what_is_read_has_a_digest_of_its_own(
    tmp_path: Path,
) -> None:
    long = b"Subject: long\n\n" + b"many words\n" * 100_000
    box = mbox(tmp_path / "box", long + b"one\n", long + b"two\n")
    with box.opened(1) as snapshot:
        contents = [span.content for span in snapshot.spans(1000)]

    assert [len(one.text) for one in contents] == [1000, 1000]
    assert all(one.is_cut for one in contents)
    assert contents[0].digest != contents[1].digest


def test_moving_keeps_every_byte_and_the_files_mode_and_time(tmp_path: Path) -> None:
    source = mbox(tmp_path / "box", ONE, TWO, THREE)
    target = mbox(tmp_path / "junk", THREE)
    (tmp_path / "box").chmod(0o640)
    os.utime(tmp_path / "box", (1e9, 1e9))

    moved(source, target, 1)

    assert (tmp_path / "box").read_bytes() == FROM + ONE + b"\n" + FROM + THREE + b"\n"
    whole = FROM + THREE + b"\n" + FROM + TWO + b"\n"
    assert (tmp_path / "junk").read_bytes() == whole
    status = (tmp_path / "box").stat()
    assert (status.st_mode & 0o777, status.st_mtime) == (0o640, 1e9)
    assert sorted(tmp_path.iterdir()) == [tmp_path / "box", tmp_path / "junk"]


@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n", b"\n\r\n"])
def test_a_target_is_given_the_blank_line_that_it_lacks(
    tmp_path: Path, end: bytes
) -> None:
    source = mbox(tmp_path / "box", ONE)
    (tmp_path / "box").write_bytes(FROM + ONE.rstrip(b"\n"))
    (tmp_path / "junk").write_bytes(FROM + TWO.rstrip(b"\n") + end)
    target = Mbox(str(tmp_path / "junk"))
    expected = digests(target) + digests(source)

    moved(source, target, 0)

    assert digests(target) == expected
    assert (tmp_path / "box").read_bytes() == b""


def test_what_is_delivered_after_the_decision_stays(tmp_path: Path) -> None:
    source = mbox(tmp_path / "box", ONE, TWO)
    target = Mbox(str(tmp_path / "junk"))
    moves = {digests(source)[0]: target}
    mbox(tmp_path / "box", THREE, ONE, TWO)

    carried = carry_out(source, plan(moves), 1)

    assert (tmp_path / "box").read_bytes() == FROM + THREE + b"\n" + FROM + TWO + b"\n"
    assert (tmp_path / "junk").stat().st_mode & 0o777 == 0o600
    assert carried.moved.total() == 1


def test_a_message_that_is_gone_is_no_error(tmp_path: Path) -> None:
    source = mbox(tmp_path / "box", ONE, TWO)
    moves = {digests(source)[0]: Mbox(str(tmp_path / "junk"))}
    mbox(tmp_path / "box", TWO)
    before = (tmp_path / "box").stat()

    carried = carry_out(source, plan(moves), 1)

    assert not carried.moved
    after = (tmp_path / "box").stat()  # its time of access may be another
    assert (after.st_ino, after.st_ctime_ns) == (before.st_ino, before.st_ctime_ns)


def test_what_imap_servers_keep_in_the_first_place_is_no_message(
    tmp_path: Path,
) -> None:
    internal = b"Subject: FOLDER INTERNAL DATA\nX-IMAP: 1 2\n\nwinner\n"
    source = mbox(tmp_path / "box", internal, ONE)

    assert len(digests(source)) == 1


def test_a_field_of_imap_servers_alone_hides_no_message(tmp_path: Path) -> None:
    source = mbox(tmp_path / "box", b"X-IMAP: 1 2\n" + ONE, ONE)

    assert len(digests(source)) == 2


def test_a_link_to_an_mbox_stays_one(tmp_path: Path) -> None:
    mbox(tmp_path / "box", ONE, TWO)
    (tmp_path / "link").symlink_to("box")

    moved(Mbox(str(tmp_path / "link")), Mbox(str(tmp_path / "junk")), 0)

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "box").read_bytes() == FROM + TWO + b"\n"


LOCKER = """
import fcntl, mailbox, sys, time
box = mailbox.mbox(sys.argv[1])
box.lock()
print("locked", flush=True)
time.sleep(60)
"""


@pytest.fixture
def locker() -> Iterator[Callable[[Path], subprocess.Popen[bytes]]]:
    """Another program, which locks an mbox as Python's library does."""
    processes = []

    def locker(path: Path) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-c", LOCKER, path], stdout=subprocess.PIPE
        )
        processes.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == b"locked\n"
        return process

    yield locker
    for process in processes:
        process.kill()
        process.communicate()


def test_an_mbox_that_is_locked_is_left_alone(
    tmp_path: Path, locker: Callable[[Path], subprocess.Popen[bytes]]
) -> None:
    source = mbox(tmp_path / "box", ONE)
    moves = {digests(source)[0]: Mbox(str(tmp_path / "junk"))}
    locker(tmp_path / "box")

    with pytest.raises(BusyError, match=r"another program .*has had it locked"):
        carry_out(source, plan(moves), 0.1)
    with pytest.raises(BusyError), source.opened(0.1):
        pass

    assert (tmp_path / "box").read_bytes() == FROM + ONE + b"\n"


def test_a_dotlock_alone_is_respected_and_left(tmp_path: Path) -> None:
    mbox(tmp_path / "box", ONE)
    lock = tmp_path / "box.lock"
    lock.write_bytes(b"0")

    with pytest.raises(BusyError), locked([str(tmp_path / "box")], 0.1):
        pass

    assert lock.read_bytes() == b"0"


@pytest.mark.parametrize(
    ("contents", "age"),
    [
        pytest.param(b"0", STALE + 60, id="old"),
        pytest.param(f"999999999:{os.uname().nodename}\n".encode(), 0, id="orphaned"),
    ],
)
def test_a_stale_dotlock_is_removed(
    tmp_path: Path, contents: bytes, age: float
) -> None:
    mbox(tmp_path / "box", ONE)
    lock = tmp_path / "box.lock"
    lock.write_bytes(contents)
    then = time.time() - age
    os.utime(lock, (then, then))

    with locked([str(tmp_path / "box")], 1):
        assert lock.read_text() == f"{os.getpid()}:{os.uname().nodename}\n"

    assert sorted(tmp_path.iterdir()) == [tmp_path / "box"]


WRITER = """
import fcntl, os, sys
file = open(sys.argv[1], "ab")
print("open", flush=True)
sys.stdin.readline()
fcntl.lockf(file, fcntl.LOCK_EX)
file.write(sys.stdin.read().encode())
"""


def test_mail_for_the_old_file_comes_into_the_new_one(tmp_path: Path) -> None:
    source = mbox(tmp_path / "box", ONE, TWO)
    target = Mbox(str(tmp_path / "junk"))
    there = digests(source)
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, tmp_path / "box"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "open\n"
        done = plan({there[0]: target})
        carry_out(source, done, 1)  # the old file is still open
        (old,) = tmp_path.glob(".box.nbtext-*.old")
        writer.communicate("\n" + (FROM + THREE + b"\n").decode())

        assert clean_up(source.place, 1, done.old_files) == []
    finally:
        writer.kill()
        writer.wait()

    assert (tmp_path / "box").read_bytes() == FROM + TWO + b"\n" + FROM + THREE + b"\n"
    assert not old.exists()
    assert sorted(tmp_path.iterdir()) == [tmp_path / "box", tmp_path / "junk"]


def test_an_old_file_that_was_not_yet_replaced_is_only_a_name_more(
    tmp_path: Path,
) -> None:
    source = mbox(tmp_path / "box", ONE)
    old = tmp_path / ".box.nbtext-0123456789ab.old"
    old.hardlink_to(tmp_path / "box")

    look_after(source.place, str(old), 1, old_files())

    assert not old.exists()
    assert (tmp_path / "box").read_bytes() == FROM + ONE + b"\n"


HOLD_A_LEASE = """
import fcntl, os, signal, sys
old = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(old, fcntl.F_SETSIG, signal.SIGURG)
fcntl.fcntl(old, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(fcntl, "F_SETLEASE"), reason="there are no leases")
def test_an_old_file_that_another_run_looks_at_is_left_to_it(tmp_path: Path) -> None:
    source = mbox(tmp_path / "box", ONE)
    old = tmp_path / ".box.nbtext-0123456789ab.old"
    old.write_bytes(b"x" * 7 + b"\n" + FROM + TWO + b"\n")
    files = old_files()
    files.begin(name_of(source.place, old.stat()), 8)
    command = [sys.executable, "-c", HOLD_A_LEASE, str(old)]
    pipe = subprocess.PIPE

    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        assert clean_up(source.place, 1, files) == []
        assert old.exists()
        other.communicate()

    assert clean_up(source.place, 1, files) == []
    assert not old.exists()
    assert (tmp_path / "box").read_bytes() == FROM + ONE + b"\n" + FROM + TWO + b"\n"


SECRET = b"root:secret\n"


@pytest.mark.parametrize("kind", ["link", "file", "hard link", "fifo", "folder"])
def test_what_has_the_name_of_an_old_file_and_is_not_ours_is_left_alone(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nbtext.filtering.mailboxes._late.LITTER", -1)
    source = mbox(tmp_path / "box", ONE)
    secret, old = tmp_path / "secret", tmp_path / ".box.nbtext-0123456789ab.old"
    secret.write_bytes(SECRET)
    files = old_files()
    if kind == "link":
        old.symlink_to(secret)
    elif kind == "fifo":
        os.mkfifo(old)
    elif kind == "folder":
        old.mkdir()
    elif kind == "hard link":
        old.hardlink_to(secret)
        files.begin(name_of(source.place, old.stat()), 0)
    else:
        old.write_bytes(SECRET)

    (problem,) = clean_up(source.place, 1, files)

    assert isinstance(problem, ForeignFileError)
    assert str(old) in str(problem)
    assert old.exists()
    assert secret.read_bytes() == SECRET
    assert (tmp_path / "box").read_bytes() == FROM + ONE + b"\n"


@pytest.mark.skipif(os.getuid() != 0, reason="root alone gives files away")
def test_an_old_file_of_another_owner_is_left_alone(tmp_path: Path) -> None:
    source = mbox(tmp_path / "box", ONE)
    old = tmp_path / ".box.nbtext-0123456789ab.old"
    old.write_bytes(SECRET)
    os.chown(old, 12_345, 12_345)
    files = old_files()
    files.begin(name_of(source.place, old.stat()), 0)

    (problem,) = clean_up(source.place, 1, files)

    assert "belongs to another user" in str(problem)
    assert (tmp_path / "box").read_bytes() == FROM + ONE + b"\n"


def test_an_old_file_that_is_ours_is_put_back(tmp_path: Path) -> None:
    source = mbox(tmp_path / "box", ONE)
    old = tmp_path / ".box.nbtext-0123456789ab.old"
    old.write_bytes(b"x" * 7 + b"\n" + FROM + TWO + b"\n")
    files, name = old_files(), name_of(source.place, old.stat())
    files.begin(name, 8)

    assert clean_up(source.place, 1, files) == []

    text = (tmp_path / "box").read_bytes()
    assert text == FROM + ONE + b"\n" + FROM + TWO + b"\n"
    assert files.state(name) is None
    assert not old.exists()


@pytest.mark.parametrize(
    ("header", "marks", "expected"),
    [
        (b"A: b\n", Marks("S"), b"A: b\nStatus: R\n"),
        (b"A: b\r\n", Marks("S"), b"A: b\r\nStatus: R\r\n"),
        (b"Status: O\nA: b\n", Marks("S"), b"Status: OR\nA: b\n"),
        (b"status: RO\nA: b\n", Marks("S"), b"status: RO\nA: b\n"),
        (b"X-Status: \nA: b\n", Marks("FR"), b"X-Status: FA\nA: b\n"),
        (b"X-Keywords: Work    \n", Marks("", ("Junk",)), b"X-Keywords: Work Junk\n"),
        (b"X-Keywords: NonJunk\n", Marks("", ("Junk",)), b"X-Keywords: NonJunk Junk\n"),
        (b"A: b", Marks("T"), b"A: b\nX-Status: D\n"),
        (b"", Marks("S"), b"Status: R\n"),
    ],
)
def test_flags_are_kept_as_dovecot_keeps_them(
    header: bytes, marks: Marks, expected: bytes
) -> None:
    assert marked(header, marks) == expected
    assert marked(expected, marks) == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (b"A: b\n", b"A: b\n"),
        (b"X-IMAPbase: 1 02\nA: b\n", b"X-IMAPbase: 1 02 Junk Work\nA: b\n"),
        (b"X-IMAP: 1 02 Junk   \n", b"X-IMAP: 1 02 Junk Work\n"),
        (b"x-imapbase: 1 2 Work\r\n Junk\r\n", b"x-imapbase: 1 2 Work\r\n Junk\r\n"),
    ],
)
def test_dovecot_learns_which_keywords_there_are(
    header: bytes, expected: bytes
) -> None:
    assert naming(header, ["Junk", "Work"]) == expected


@pytest.mark.parametrize(
    ("text", "header"),
    [
        (b"A: b\n\nbody\n", b"A: b\n"),
        (b"A: b\r\n\r\nbody\r\n", b"A: b\r\n"),
        (b"A: b\n", b"A: b\n"),
        (b"\nbody\n", b""),
        (b"\r\nbody\n", b""),
        (b"", b""),
    ],
)
def test_a_header_ends_at_the_first_empty_line(text: bytes, header: bytes) -> None:
    assert header_of(text) == header


def test_a_message_is_marked_and_keeps_all_other_bytes(tmp_path: Path) -> None:
    source = mbox(tmp_path / "box", ONE, TWO)
    marks = {digests(source)[1]: Marks("S", ("Junk",))}

    carry_out(source, plan({}, marks), 1)

    expected = TWO.replace(b"\n\n", b"\nStatus: R\nX-Keywords: Junk\n\n")
    assert (
        tmp_path / "box"
    ).read_bytes() == FROM + ONE + b"\n" + FROM + expected + b"\n"


@pytest.mark.parametrize("before", [b"", b"\n"])
def test_the_first_message_names_the_keywords_of_all(
    before: bytes, tmp_path: Path
) -> None:
    first = ONE.replace(b"\n\n", b"\nX-IMAPbase: 1 2\n\n")
    source = mbox(tmp_path / "box", first, TWO)
    (tmp_path / "box").write_bytes(before + (tmp_path / "box").read_bytes())
    marks = {digests(source)[1]: Marks("", ("Junk",))}

    carry_out(source, plan({}, marks), 1)

    text = (tmp_path / "box").read_bytes()
    named = first.replace(b"1 2", b"1 2 Junk")
    marked_two = TWO.replace(b"\n\n", b"\nX-Keywords: Junk\n\n")
    assert text == before + FROM + named + b"\n" + FROM + marked_two + b"\n"


def test_a_target_names_the_keywords_of_what_comes(tmp_path: Path) -> None:
    first = ONE.replace(b"\n\n", b"\nX-IMAPbase: 1 2\n\n")
    source = mbox(tmp_path / "box", TWO.replace(b"\n\n", b"\nX-Keywords: Work\n\n"))
    target = mbox(tmp_path / "junk", first)
    (digest,) = digests(source)

    carry_out(source, plan({digest: target}, {digest: Marks("", ("Junk",))}), 1)

    text = (tmp_path / "junk").read_bytes()
    assert b"\nX-IMAPbase: 1 2 Work Junk\n" in text
    assert b"\nX-Keywords: Work Junk\n" in text


def test_a_message_leaves_its_number_in_the_mbox_behind(tmp_path: Path) -> None:
    placed = TWO.replace(b"\n\n", b"\nX-IMAPbase: 1 2\n Work\nX-UID: 7   \n\n")
    source = mbox(tmp_path / "box", placed)
    target = mbox(tmp_path / "junk", ONE)

    moved(source, target, 0)

    text = (tmp_path / "junk").read_bytes()
    assert text == FROM + ONE + b"\n" + FROM + TWO + b"\n"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (b"X-IMAPbase: 1 02 Work", b"X-UID: 2", b"X-UID: 2\nX-IMAPbase: 1 02 Work"),
        (b"X-IMAP: 1 2\n Work\nX-UID: 1", b"A: b", b"A: b\nX-IMAPbase: 1 2 Work"),
        (b"X-IMAPbase: 1 2", b"X-IMAPbase: 3 4\nA: b", b"A: b\nX-IMAPbase: 1 2"),
        (b"X-IMAPbase: any text", b"A: b", b"A: b"),
        (b"A: b", b"A: c", b"A: c"),
    ],
)
def test_the_numbers_of_an_mbox_go_from_its_first_message_to_the_next(
    first: bytes, second: bytes, expected: bytes, tmp_path: Path
) -> None:
    kept = TWO.replace(b"\n\n", b"\n%b\n\n" % second)
    source = mbox(
        tmp_path / "box", ONE.replace(b"\n\n", b"\n%b\n\n" % first), kept, THREE
    )

    moved(source, mbox(tmp_path / "junk"), 0)

    text = (tmp_path / "box").read_bytes()
    assert text.startswith(FROM + kept.replace(second, expected) + b"\n" + FROM)
    assert text.endswith(FROM + THREE + b"\n")
    assert b"X-IMAP: " not in (tmp_path / "junk").read_bytes()


def test_pythons_library_reads_what_was_written(tmp_path: Path) -> None:
    source = mbox(tmp_path / "box", ONE, TWO, THREE)
    there = digests(source)
    target = Mbox(str(tmp_path / "junk"))

    carry_out(source, plan({there[1]: target}, {there[0]: Marks("FS")}), 1)

    with (
        closing(mailbox.mbox(tmp_path / "box")) as kept,
        closing(mailbox.mbox(tmp_path / "junk")) as junk,
    ):
        assert [one["Subject"] for one in kept] == ["one", "three"]
        assert [one["Subject"] for one in junk] == ["two"]
        assert next(iter(kept)).get_flags() == "RF"


def test_what_is_no_mbox_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("From here on\n\nno mail\n")

    with pytest.raises(SourceError, match="an mbox was expected"):
        open_mailbox(str(tmp_path / "text"))


def test_a_lock_is_let_go_of_when_the_process_is_asked_to_end(tmp_path: Path) -> None:
    mbox(tmp_path / "box", ONE)

    def interrupt() -> None:
        with locked([str(tmp_path / "box")], 1):
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        interrupt()

    assert sorted(tmp_path.iterdir()) == [tmp_path / "box"]
    with (tmp_path / "box").open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_an_mbox_with_a_dotlock_is_not_read(tmp_path: Path) -> None:
    box = mbox(tmp_path / "box", ONE)
    (tmp_path / "box.lock").write_text("0")

    with pytest.raises(BusyError, match=r"0\.05 s"), box.opened(0.05):
        pass


def test_a_stale_dotlock_goes_though_another_program_waits_for_it(
    tmp_path: Path,
) -> None:
    box = mbox(tmp_path / "box", ONE)
    lock = tmp_path / "box.lock"
    lock.write_text(f"{2**22 + 1}:{os.uname().nodename}\n")
    script = (
        "import fcntl, os, sys, time; file = open(sys.argv[1], 'r+'); "
        "fcntl.lockf(file, fcntl.LOCK_EX); print(flush=True)\n"
        "while os.path.exists(sys.argv[1] + '.lock'): time.sleep(.01)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, tmp_path / "box"], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert clean_up(box.place, PATIENCE, old_files()) == []
        with box.opened(PATIENCE) as snapshot:
            assert len(list(snapshot.spans(0))) == 1

    assert not lock.exists()


def test_a_lock_that_took_the_place_of_a_stale_one_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "box.lock"
    lock.write_text(f"{2**22 + 1}:{os.uname().nodename}\n")
    fresh = f"{os.getpid()}:{os.uname().nodename}\n"

    def overtaken(path: str, status: os.stat_result) -> bool:
        """Find that a lock is stale, and lose a race; a new one has its inode."""
        found = is_stale(path, status)
        lock.write_text(fresh)
        return found

    monkeypatch.setattr(_locks, "is_stale", overtaken)

    assert not remove_stale(str(lock))
    assert lock.read_text() == fresh
    assert [*tmp_path.iterdir()] == [lock]


def test_a_folder_in_the_place_of_a_dotlock_stays(tmp_path: Path) -> None:
    mbox(tmp_path / "box", ONE)
    lock = tmp_path / "box.lock"
    (lock / "something").mkdir(parents=True)
    os.utime(lock, (1e9, 1e9))

    with pytest.raises(BusyError), locked([str(tmp_path / "box")], 0.05):
        pass
    assert (lock / "something").is_dir()


def test_an_mbox_that_is_read_in_pieces_has_all_of_its_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As file systems give them that other machines or programs serve."""
    path = tmp_path / "box"
    expected = digests(mbox(path, ONE, TWO, THREE))
    whole = os.pread
    monkeypatch.setattr(os, "pread", lambda file, n, at: whole(file, min(n, 3), at))

    box = open_mailbox(str(path))

    assert isinstance(box, Mbox)
    assert len(expected) == 3
    assert digests(box) == expected
