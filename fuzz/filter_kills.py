"""
`filter` killed at random moments, on an mbox that others use meanwhile.

    python -m fuzz.filter_kills                       1,000 kills, in ten minutes or so
    python -m fuzz.filter_kills --kills 10000 --seed 7

Three programs deliver to the mbox, each in another way, and write their messages in
pieces. A fourth takes messages out of it in place; a fifth reads it as `learn` does.
Every 20 kills they pause; two runs that nobody kills finish what is left; and then

* every message that was delivered is in exactly one mailbox, byte for byte;
* all that is spam was moved, but for what its user has moved back, which stays;
* no document that was read was a part of a message;
* nothing that `filter` made is left beside the mboxes, but for files less than a minute
  old.

It ends with status 1, and keeps the folder, if one of these does not hold.
"""

import argparse
import fcntl
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ctypes import c_long
from multiprocessing import get_context
from multiprocessing.sharedctypes import RawArray
from pathlib import Path
from random import Random
from shutil import rmtree
from tempfile import mkdtemp
from time import monotonic, sleep
from typing import Any, Final

from nbtext import train_on
from nbtext.document import Document, Note, Unreadable
from nbtext.errors import NbtextError
from nbtext.filtering.mailbox import filter_mailbox
from nbtext.filtering.mailboxes import Marks, open_mailbox
from nbtext.filtering.rules import FilterOptions, FilterReport, Rule, Run, rules_of
from nbtext.filtering.seen_file import open_seen
from nbtext.scoring.classifier import Classifier
from nbtext.scoring.model import load_model
from nbtext.sources import Options, documents

LINE: Final = b"From x@x.example Tue Feb  6 10:00:00 2024\n"
WANTED: Final = FilterOptions(max_bytes=1 << 20, wait=60)
PAUSE_EVERY: Final = 20
"""Number of kills between two looks at all mailboxes."""

FRESH_EVERY: Final = 10
"""Number of looks after which the mailboxes are emptied, so that runs stay short."""

COMMAND_EVERY: Final = 10
"""Of so many kills one hits the command, the others a fork of this process."""

LONGEST: Final = 0.12
"""Maximum seconds from the start of a run to its kill; a run takes about half."""

_IDENTITY: Final = re.compile(rb"^Subject: (\d+)\.(\d+) ")
_STATUS: Final = re.compile(rb"(?m)^(?:X-)?Status:.*\n")


class BrokenPromiseError(Exception):
    """Something does not hold that docs/filtering.md promises."""


def message(writer: int, number: int) -> bytes:
    """Return a message, the same whenever it is asked for."""
    words = b"money winner " if number % 2 else b"lunch meeting "
    body = words * Random(f"{writer}.{number}").choice([1, 10, 500, 5000])  # noqa: S311  no secret
    return b"Subject: %d.%d %s\n\n%s\n" % (writer, number, words.strip(), body)


def is_spam(identity: tuple[int, int]) -> bool:
    """Return whether a message is one that `filter` moves."""
    return identity[1] % 2 == 1


def identity_of(text: bytes) -> tuple[int, int]:
    """
    Return the writer and the number of a message.

    Raises:
        BrokenPromiseError: it is not whole, or has other bytes.
    """
    found = _IDENTITY.match(text)
    identity = (int(found[1]), int(found[2])) if found else (0, 0)
    if found is None or _STATUS.sub(b"", text) != message(*identity):
        raise BrokenPromiseError(f"a message that nobody has written: {text[:200]!r}")
    return identity


@contextmanager
def locked(path: Path, *, by_fcntl: bool, by_dotlock: bool) -> Iterator[int]:
    """Open a file, wait for its locks, and open it again if it was replaced."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            if by_fcntl:
                fcntl.lockf(descriptor, fcntl.LOCK_EX)
            with dotlocked(path, is_wanted=by_dotlock):
                if path.stat().st_ino == os.fstat(descriptor).st_ino:
                    yield descriptor
                    return
        finally:
            os.close(descriptor)


@contextmanager
def dotlocked(path: Path, *, is_wanted: bool) -> Iterator[None]:
    """Hold a dotlock, which another process may have to remove first."""
    lock = path.with_name(f"{path.name}.lock")
    if is_wanted:
        while True:
            with suppress(FileExistsError):
                os.close(os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
                break
            sleep(0.002)
    try:
        yield
    finally:
        if is_wanted:
            lock.unlink()


def write_in_pieces(descriptor: int, data: bytes, random: Random) -> None:
    """Write something as a slow program does."""
    while data:
        size = random.randrange(1, len(data) + 1)
        os.write(descriptor, data[:size])
        data = data[size:]
        sleep(random.random() * 0.003)


def deliver_late(path: Path, text: bytes, random: Random) -> None:
    """Deliver to the file that was there before its lock was waited for."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        sleep(random.random() * 0.01)
        fcntl.lockf(descriptor, fcntl.LOCK_EX)
        with dotlocked(path, is_wanted=True):
            write_in_pieces(descriptor, text, random)
    finally:
        os.close(descriptor)


def deliver_with_dotlock(path: Path, text: bytes, random: Random) -> None:
    """Deliver as procmail does where the kernel has no locks."""
    with locked(path, by_fcntl=False, by_dotlock=True) as descriptor:
        write_in_pieces(descriptor, text, random)


def deliver_with_fcntl(path: Path, text: bytes, random: Random) -> None:
    """Deliver as programs do that may not write to the folder."""
    with locked(path, by_fcntl=True, by_dotlock=False) as descriptor:
        write_in_pieces(descriptor, text, random)


def deliver_with_both(path: Path, text: bytes, random: Random) -> None:
    """Deliver as Debian's policy asks."""
    with locked(path, by_fcntl=True, by_dotlock=True) as descriptor:
        write_in_pieces(descriptor, text, random)


DELIVERERS: Final = (
    (deliver_late, deliver_with_both, deliver_with_dotlock),
    (deliver_late, deliver_with_both, deliver_with_fcntl),
)
"""
Who delivers, with an even seed and with an odd one. Programs of which one knows only
fcntl, and another only dotlocks, would write over each other.
"""

N_DELIVERERS: Final = 3


class World:
    """
    A folder of mailboxes, and the processes that use them.

    Attributes:
        source: the mbox that is filtered.
        target: where its spam goes.
        archive: where a user moves messages from the source.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.source = folder / "inbox"
        self.target = folder / "junk"
        self.archive = folder / "archive"
        self.random = Random(seed)  # noqa: S311  no secret  a seed, no secret
        self._seed = seed
        self._model = folder / "m.nbt"
        train_on([("spam", "money winner"), ("ham", "lunch meeting")], str(self._model))
        self._classifier = Classifier(load_model(str(self._model)))
        self._returned: set[tuple[int, int]] = set()
        self._emptied = [0] * N_DELIVERERS
        self._context: Any = get_context("fork")
        # how many messages each deliverer has delivered, and who pauses
        self._delivered: Any = RawArray(c_long, N_DELIVERERS)
        self._is_idle: Any = RawArray(c_long, N_DELIVERERS + 2)
        self._wants_pause: Any = RawArray(c_long, 1)
        self._processes: list[Any] = []
        for path in (self.source, self.target, self.archive):
            path.touch(0o600)

    def start(self) -> None:
        """Start those who use the mailboxes."""
        works: list[Callable[[Random], object]] = [
            lambda random, writer=writer: self._deliver(writer, random)  # type: ignore[misc]
            for writer in range(N_DELIVERERS)
        ]
        for place, work in enumerate([*works, self._archive_one, self._read]):
            process = self._context.Process(target=self._work, args=(place, work))
            process.start()
            self._processes.append(process)

    def stop(self) -> None:
        """End them, those first who would see what the others leave by half."""
        for process in reversed(self._processes):
            process.kill()
            process.join()

    def _work(self, place: int, work: Callable[[Random], object]) -> None:
        random = Random(f"{self._seed} {place}")  # noqa: S311  no secret
        parent = os.getppid()
        while os.getppid() == parent:
            self._is_idle[place] = self._wants_pause[0]
            if not self._is_idle[place]:
                work(random)
            sleep(random.random() * 0.02)

    def _deliver(self, writer: int, random: Random) -> None:
        text = LINE + message(writer, self._delivered[writer]) + b"\n"
        DELIVERERS[self._seed % 2][writer](self.source, text, random)
        self._delivered[writer] += 1

    def _archive_one(self, random: Random) -> None:
        """Move a message away, and write what stays in place, as mail readers do."""
        sleep(random.random() * 0.2)
        with locked(self.source, by_fcntl=True, by_dotlock=True) as descriptor:
            # not opened again: the lock would go when that is closed (fcntl(2))
            found = parts(os.pread(descriptor, 1 << 30, 0))
            if len(found) < 2:
                return
            place = random.randrange(len(found))
            with self.archive.open("ab") as file:
                file.write(LINE + found.pop(place))
            os.ftruncate(descriptor, 0)
            write_in_pieces(descriptor, b"".join(LINE + one for one in found), random)

    def _read(self, _: Random) -> None:
        """Read the mbox as `learn` does; what is read must be a message."""
        for item in documents(
            [f"{self.source}"], Options(format="mbox"), labelled=False
        ):
            if isinstance(item, Document):
                identity_of(item.texts[0])
            elif isinstance(item, Unreadable) and "rewritten" not in str(item.error):
                raise BrokenPromiseError(str(item.error))

    def filter(self) -> None:
        """Filter the mbox once."""
        rules = rules_of(
            open_mailbox(str(self.source)),
            {"spam": Rule(0.5, str(self.target), Marks("S"))},
        )
        with open_seen(str(self.folder / "memory"), wait=60) as memory:
            run = Run(self._classifier, memory, WANTED, _no_problem)
            for _ in filter_mailbox(rules, run, FilterReport()):
                pass

    def kill_one(self, number: int) -> None:
        """Filter, and kill that after a while."""
        delay = self.random.random() * LONGEST
        if number % COMMAND_EVERY == 0:
            self._kill_command(delay)
            return
        child = os.fork()
        if not child:
            code = 70
            try:
                while True:
                    self.filter()
            except NbtextError as error:
                sys.stderr.write(f"{error}\n")
            finally:
                os._exit(code)
        sleep(delay)
        os.kill(child, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code != -signal.SIGKILL:
            raise BrokenPromiseError(f"a run ended by itself, with status {code}")

    def _kill_command(self, delay: float) -> None:
        memory = self.folder / "memory"
        command = [
            sys.executable, "-m", "nbtext", "filter", "-q", f"{self.source}",
            "--move", f"spam={self.target}", "--flag", "spam=seen",
            "--min-probability", "0.5", "-m", f"{self._model}",
            "--decided", f"{memory}",
        ]  # fmt: skip
        with subprocess.Popen(command) as process:  # noqa: S603  our own
            sleep(delay * 5)  # most of it is the start of the interpreter
            process.kill()
            if process.wait() not in (0, -signal.SIGKILL):
                raise BrokenPromiseError(f"status {process.returncode} of the command")

    def look(self) -> None:
        """
        Have everybody pause, finish what is left, and look at all mailboxes.

        Raises:
            BrokenPromiseError: something is not as it should be.
        """
        self._wants_pause[0] = 1
        while not all(self._is_idle):
            if not all(process.is_alive() for process in self._processes):
                raise BrokenPromiseError("a process has ended; see above")
            self.filter()  # a dotlock of a run that was killed goes
        self.filter()
        self.filter()
        self._check()
        self._move_back()
        self._wants_pause[0] = 0

    def _check(self) -> None:
        boxes = [
            Counter(identity_of(one[:-1]) for one in parts(path.read_bytes()))
            for path in (self.source, self.target, self.archive)
        ]
        held = boxes[0] + boxes[1] + boxes[2]
        wanted = Counter(
            (writer, number)
            for writer, first in enumerate(self._emptied)
            for number in range(first, self._delivered[writer])
        )
        unfiltered = {one for one in boxes[0] if is_spam(one)} - self._returned
        for what, wrong in (
            ("lost", wanted - held),
            ("twice, or never delivered", held - wanted),
            ("spam that stayed", unfiltered),
            ("moved, and no spam", {one for one in boxes[1] if not is_spam(one)}),
            ("moved back, and filtered again", self._returned & {*boxes[1]}),
            ("left", {*self.folder.glob(".inbox.*.old"), *self.folder.glob("*.lock")}),
        ):
            if wrong:
                raise BrokenPromiseError(f"{what}: {sorted(map(str, wrong))[:20]}")

    def _move_back(self) -> None:
        """Move some spam back to the source, as its user does."""
        found = parts(self.target.read_bytes())
        self.random.shuffle(found)
        n_back = min(len(found), 3)
        with self.source.open("ab") as file:
            file.write(b"".join(LINE + one for one in found[:n_back]))
        self.target.write_bytes(b"".join(LINE + one for one in found[n_back:]))
        self._returned.update(identity_of(one[:-1]) for one in found[:n_back])

    def empty(self) -> None:
        """Begin anew with empty mailboxes, while nobody uses them."""
        self._wants_pause[0] = 1
        while not all(self._is_idle):
            self.filter()
        for path in (self.source, self.target, self.archive):
            path.write_bytes(b"")
        self._emptied = list(self._delivered)
        self._returned.clear()
        self._wants_pause[0] = 0

    @property
    def n_delivered(self) -> int:
        """How many messages were delivered."""
        return sum(self._delivered)


def parts(text: bytes) -> list[bytes]:
    """
    Return the messages of an mbox, each with the blank line behind it.

    Raises:
        BrokenPromiseError: it does not begin with a message.
    """
    if not text:
        return []
    if not text.startswith(LINE):
        raise BrokenPromiseError(f"an mbox begins with {text[:100]!r}")
    return text.removeprefix(LINE).split(LINE)


def _no_problem(problem: Unreadable | Note) -> None:
    raise BrokenPromiseError(f"{problem}")


def main(arguments: list[str]) -> int:
    """Kill so often, and return 0 if every promise was kept."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.filter_kills")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where to make the mailboxes")
    options = parser.parse_args(arguments)
    folder = Path(mkdtemp(prefix="filter-kills-", dir=options.folder))
    world = World(folder, options.seed)
    begun = monotonic()
    world.start()
    try:
        for number in range(1, options.kills + 1):
            world.kill_one(number)
            if number % PAUSE_EVERY == 0 or number == options.kills:
                world.look()
            if number % (PAUSE_EVERY * FRESH_EVERY) == 0:
                world.empty()
    except BrokenPromiseError as error:
        sys.stderr.write(f"after {number} kills (--seed {options.seed}): {error}\n")
        sys.stderr.write(f"see {folder}\n")
        return 1
    finally:
        world.stop()
    sys.stdout.write(
        f"{options.kills:,} kills, {world.n_delivered:,} messages delivered, "
        f"{monotonic() - begun:.0f} seconds: none lost, none twice\n"
    )
    rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
