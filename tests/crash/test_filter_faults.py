"""
Filtering that fails or is killed at any change it makes loses no mail, and is finished.

Every call to the operating system that changes something is counted, and one after the
other is struck: it fails, or the process dies before it, or halfway through it. Each
time every message is in a mailbox, with all its bytes; the next run finishes, and then
each is in exactly one, and marked. Where an mbox is filtered, so is every call that
only looks.
"""

import errno
import fcntl
import mailbox
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nbtext.errors import NbtextError
from nbtext.files import _locking, _renaming, _replacing
from nbtext.filtering.mailboxes import Marks, _carrying
from nbtext.filtering.mailboxes._sequences import sequences_in
from nbtext.filtering.rules import Rule
from nbtext.scoring.classifier import Classifier
from tests.build import maildir
from tests.crash.strikes import DIED, WRITES, Strike, name_of
from tests.filtered import filtered
from tests.forking import ended, forked

CALLS = (
    "open", "pwrite", "write", "fsync", "fdatasync", "replace", "rename", "link",
    "unlink", "fchmod", "utime", "mkdir", "ftruncate", "removexattr",
)  # fmt: skip
LOOKS = (
    "stat", "lstat", "fstat", "pread", "read", "lseek", "listdir", "scandir", "close",
    "getxattr", "readlink", "uname",
)  # fmt: skip
LOCKS = ("lockf", "flock", "fcntl")
"""Calls that change nothing, as functions of `os` and of `fcntl`."""

MESSAGES = [
    b"Subject: %s\nMessage-ID: <%d@x.example>\n\n%s\n"
    % (words, number, words * (1 + number * 50))
    for number, words in enumerate(
        [b"money winner ", b"lunch meeting ", b"winner ", b"meeting ", b"money "]
    )
]
SPAM = [one for one in MESSAGES if b"lunch" not in one and b"meeting" not in one]

pytestmark = [
    # a forked child of a process with threads may hang; this one has none of its own
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]


STRIKES = [
    Strike("fails", errno.ENOSPC),
    Strike("dies before"),
    Strike("dies halfway"),
]


def install(number: int, strike: Strike, case: "Case") -> list[int]:
    """Strike the call of that number in this process; return how many are left."""
    left = [number]

    def is_counted(call: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
        if strike.kind == "dies halfway":
            return call.__name__ in WRITES
        if case.looks:
            return True
        return call.__name__ != "open" or bool(arguments[1] & os.O_CREAT)

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **more: Any) -> Any:
            is_one = is_counted(call, arguments)
            left[0] -= is_one
            if left[0] or not is_one:
                return call(*arguments, **more)
            left[0] = -1
            return strike(call, *arguments, **more)

        return wrapped

    one_step = _renaming.rename_in_one_step

    def rename_in_one_step(source: str, target: str) -> int:
        return case.code(source, target) or one_step(source, target)

    for name in CALLS:
        setattr(os, name, counted(getattr(os, name)))
    if case.looks:
        for name in LOOKS:
            setattr(os, name, counted(getattr(os, name)))
        for name in LOCKS:
            setattr(fcntl, name, counted(getattr(fcntl, name)))
        for module in (_locking, _replacing):
            vars(module)["flock"] = fcntl.flock
    _renaming.rename_in_one_step = counted(rename_in_one_step)
    return left


LINE = b"From x@x.example Tue Feb  6 10:00:00 2024\n"
LATE = b"Subject: lunch meeting\nMessage-ID: <late@x.example>\n\nmeeting, late\n"


def deliver_late(folder: Path) -> None:
    """Have a program deliver a message to the old file, just after it is replaced."""
    really = vars(_carrying)["put_in_place"]
    source, delivered = folder / "source", folder / "delivered"
    is_delivered = False

    def put_in_place(path: str, *more: Any) -> Any:
        nonlocal is_delivered
        with source.open("ab") as file:
            old = really(path, *more)
            if Path(path) == source and not is_delivered:
                is_delivered = True
                file.write(LINE + LATE + b"\n")
                delivered.write_bytes(b"")  # no call that is struck
        return old

    vars(_carrying)["put_in_place"] = put_in_place


def of_file(_source: str, _target: str) -> int:
    """A system that renames in one step."""
    return 0


def without_renameat2(_source: str, _target: str) -> int:
    """A system that cannot rename without replacing."""
    return errno.ENOSYS


def across(source: str, target: str) -> int:
    """A system where the target is in another file system."""
    return errno.EXDEV if ("target" in source) != ("target" in target) else 0


class Case(NamedTuple):
    """
    Mailboxes, what is done with them, and what their system can do.

    With `looks`, calls are struck that change nothing, too; without `is_there` the
    target is yet to be made.
    """

    source: str
    target: str
    code: Callable[[str, str], int] = of_file
    marks: Marks = Marks()
    looks: bool = False
    is_there: bool = True


CASES = {
    "Maildir": Case("maildir", "maildir"),
    "Maildir made": Case("maildir", "maildir", is_there=False),
    "Maildir linked": Case("maildir", "maildir", without_renameat2),
    "Maildir copied": Case("maildir", "maildir", across),
    "Maildir flagged": Case("maildir", "", marks=Marks("S", ("Junk",))),
    "Maildir flagged and moved": Case("maildir", "maildir", across, Marks("S")),
    "MH": Case("mh", "mh", marks=Marks("", ("junk",))),
    "MH flagged": Case("mh", "", marks=Marks("S", ("Junk",))),
    "MH copied": Case("mh", "mh", across),
    "MH copied to Maildir": Case("mh", "maildir", across),
    "Maildir copied to MH": Case("maildir", "mh", across),
    "mbox": Case("mbox", "mbox", looks=True),
    "mbox flagged": Case("mbox", "", marks=Marks("S", ("Junk",)), looks=True),
}


def make(kind: str, path: Path) -> None:
    """Make a mailbox as Python's library does, with all messages in it."""
    if kind == "mbox":
        with path.open("wb") as file:
            for message in MESSAGES:
                file.write(LINE + message + b"\n")
        return
    box: Any
    if kind == "maildir":
        box = mailbox.Maildir(path)
        box.lock()
    else:
        box = mailbox.MH(path)
    for message in MESSAGES:
        box.add(message)


def held(kind: str, path: Path) -> Counter[bytes]:
    """Return the messages of a mailbox, byte for byte but for flags."""
    if not path.exists() or (path.is_file() and not path.stat().st_size):
        return Counter()
    if kind == "mbox":
        text = b"\n" + path.read_bytes().removesuffix(b"\n")
        parts = text.split(b"\n" + LINE)
        assert parts[0] == b""
        return Counter(map(without_marks, parts[1:]))
    return Counter(file.read_bytes() for file in files_of(kind, path))


def files_of(kind: str, path: Path) -> list[Path]:
    """Return the messages of a folder."""
    if kind == "maildir":
        folders = [path / "cur", path / "new"]
        return [file for folder in folders for file in folder.glob("*")]
    return [file for file in path.iterdir() if file.name.isdigit()]


def n_marked(kind: str, path: Path) -> int:
    """Return how many messages of a mailbox have the keyword Junk, or are seen."""
    if kind == "mbox":
        return path.read_bytes().count(b"\nX-Keywords: Junk\n")
    if kind == "maildir":
        return sum(
            "S" in file.name.partition(":2,")[2] for file in files_of(kind, path)
        )
    return len(sequences_in(str(path), range(1, 9)).get("Junk", ()))


def without_marks(message: bytes) -> bytes:
    lines = message.split(b"\n")
    kept = [one for one in lines if not one.startswith((b"Status:", b"X-Keywords:"))]
    return b"\n".join(kept)


class Place(NamedTuple):
    """A folder with the mailboxes of a case."""

    folder: Path
    case: Case

    def prepare(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        make(self.case.source, self.folder / "source")
        if not self.case.is_there:
            return
        if self.case.target == "mh":
            (self.folder / "target").mkdir()
            (self.folder / "target/.mh_sequences").touch()
        elif self.case.target == "maildir":
            maildir(self.folder / "target")

    def filter(self, classifier: Classifier) -> None:
        source, memory = self.folder / "source", self.folder / "memory"
        target = str(self.folder / "target") if self.case.target else None
        filtered(classifier, source, Rule(0.5, target, self.case.marks), memory)

    def held(self) -> tuple[Counter[bytes], Counter[bytes]]:
        return (
            held(self.case.source, self.folder / "source"),
            held(self.case.target, self.folder / "target"),
        )


def attempt(
    place: Place,
    classifier: Classifier,
    number: int,
    strike: Strike,
    prepare: Callable[[Path], None],
) -> bool:
    """Filter in a process whose change of that number is struck; False if none was."""

    def filter_struck() -> None:
        prepare(place.folder)
        left = install(number, strike, place.case)
        with suppress(NbtextError):
            place.filter(classifier)
        if left[0] < 0:
            os._exit(1)

    code = ended(forked(filter_struck))
    assert code in (0, 1, DIED)
    return code != 0


def nothing(_: Path) -> None:
    """Prepare nothing."""


def struck(
    place: Place,
    classifier: Classifier,
    strike: Strike,
    prepare: Callable[[Path], None] = nothing,
) -> Iterator[int]:
    """Strike one change after the other, until there is none left."""
    number = 0
    was_struck = True
    while was_struck:
        number += 1
        place.prepare()
        was_struck = attempt(place, classifier, number, strike, prepare)
        yield number
    assert number > 2, "hardly any change was struck"


@pytest.mark.parametrize("strike", STRIKES, ids=name_of)
@pytest.mark.parametrize("name", CASES)
def test_no_message_is_lost_and_the_next_run_finishes(
    quick_folder: Path, classifier: Classifier, name: str, strike: Strike
) -> None:
    place = Place(quick_folder / "place", CASES[name])
    for number in struck(place, classifier, strike):
        source, target = place.held()

        assert {*source} | {*target} == {*MESSAGES}, f"after change {number}"
        assert max((source | target).values()) == 1, f"after change {number}"

        place.filter(classifier)
        source, target = place.held()
        moved = SPAM if CASES[name].target else []
        kept = [one for one in MESSAGES if one not in moved]
        assert source == Counter(kept), f"after change {number}"
        assert target == Counter(moved), f"after change {number}"
        if not moved:
            marked = n_marked(CASES[name].source, place.folder / "source")
            assert marked == len(SPAM), f"after change {number}"
        if CASES[name].source == "mh":
            names = [file.name for file in (place.folder / "source").iterdir()]
            numbers = [one for one in names if one[0] != "."]
            assert all(map(str.isdigit, numbers)), f"after change {number}"


@pytest.mark.parametrize("strike", STRIKES, ids=name_of)
def test_mail_that_came_late_is_put_back_once(
    quick_folder: Path, classifier: Classifier, strike: Strike
) -> None:
    place = Place(quick_folder / "place", CASES["mbox"])
    n_delivered = 0
    for number in struck(place, classifier, strike, deliver_late):
        late = [LATE] * (place.folder / "delivered").exists()
        n_delivered += len(late)
        source, target = place.held()

        assert {*source} | {*target} >= {*MESSAGES}, f"after change {number}"
        assert max((source | target).values()) == 1, f"after change {number}"

        place.filter(classifier)
        place.filter(classifier)
        source, target = place.held()
        kept = [one for one in MESSAGES if one not in SPAM]
        assert source == Counter([*kept, *late]), f"after change {number}"
        assert target == Counter(SPAM), f"after change {number}"
        left = [path.name for path in place.folder.glob(".source.*.old")]
        assert left == [], f"after change {number}"
    assert n_delivered > 5


def move_back(place: Place) -> None:
    """Move everything from the target to the source, as a user may: with new names."""
    source, target = place.folder / "source", place.folder / "target"
    if place.case.source == "mbox":
        with source.open("ab") as file:
            file.write(target.read_bytes())
        target.write_bytes(b"")
        return
    part = "." if place.case.source == "mh" else "cur"
    for number, path in enumerate(sorted(files_of(place.case.target, target))):
        name = f"{number + 100}" if place.case.source == "mh" else f"{number}.back:2,S"
        path.rename(source / part / name)


def rename_all(place: Place) -> None:
    """Give each message of the source another name."""
    for number, path in enumerate(
        sorted(files_of(place.case.source, place.folder / "source"))
    ):
        name = f"{number + 200}" if place.case.source == "mh" else f"{number}.renamed"
        path.rename(path.with_name(name))


@pytest.mark.parametrize("strike", STRIKES[1:], ids=name_of)
@pytest.mark.parametrize("name", [name for name in CASES if CASES[name].target])
def test_what_a_run_has_seen_in_its_target_stays_where_its_user_moves_it(
    quick_folder: Path, classifier: Classifier, name: str, strike: Strike
) -> None:
    place = Place(quick_folder / "place", CASES[name]._replace(looks=False))
    for number in struck(place, classifier, strike):
        place.filter(classifier)
        move_back(place)
        for _ in range(2):
            place.filter(classifier)

            source, target = place.held()
            assert source == Counter(MESSAGES), f"after change {number}"
            assert not target, f"after change {number}"


@pytest.mark.parametrize("strike", STRIKES[1:], ids=name_of)
@pytest.mark.parametrize(
    "name", ["Maildir", "Maildir linked", "Maildir flagged and moved", "MH"]
)
def test_what_is_renamed_after_a_crash_is_filtered_all_the_same(
    quick_folder: Path, classifier: Classifier, name: str, strike: Strike
) -> None:
    place = Place(quick_folder / "place", CASES[name])
    for number in struck(place, classifier, strike):
        source, target = place.held()
        in_both = {*source} & {*target}  # halfway through a copy, or a link
        rename_all(place)
        place.filter(classifier)

        source, target = place.held()
        assert {*target} == {*SPAM}, f"after change {number}"
        assert {*source} & {*SPAM} <= in_both, f"after change {number}"
