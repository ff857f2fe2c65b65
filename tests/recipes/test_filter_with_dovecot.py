"""
Filtering what a real Dovecot serves meanwhile, and dying of it at any moment.

IMAP clients deliver, mark, copy, move and expunge at random, while `nbtext filter` runs
again and again, twice at once, and is killed now and then. What a client may do to a
message depends on its number, so that what must be there at the end is known exactly.
"""

import re
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from imaplib import IMAP4
from itertools import count
from pathlib import Path
from random import Random
from threading import Lock
from time import monotonic
from typing import NamedTuple

import pytest

from tests.recipes.conftest import PROGRAM, Home, Program, Wrap, home_with
from tests.recipes.servers import Dovecot, plain_dovecot, with_crlf
from tests.waiting import PATIENCE

pytestmark = pytest.mark.recipes

DURATION = 6.0
"""Seconds that clients and filters are at work."""

LEAST = 50
"""Messages that clients deliver, however long it takes them."""

FOLDERS = ("INBOX", "Junk", "Archive")
NUMBER = re.compile(rb"^number-(\d+)-(spam|ham)-end\r?$", re.MULTILINE)
FLAGS = (r"\Seen", r"\Flagged", r"\Answered", "Work", "$Label1")
FAULTS = re.compile(r"(?im)^.*(?:error|fatal|panic|warning).*$")
USUAL = (
    # it comes back by the name that it had there: IMAP's MOVE keeps names
    "Expunged message reappeared, giving a new UID",
    # two clients copy one message to one folder; so it says without us, too
    "Duplicate file entry",
)
"""What is in Dovecot's log, and what of it does no harm."""


class Kind(NamedTuple):
    """
    A kind of mailbox.

    Attributes:
        location: what Dovecot calls it.
        inbox: where the inbox is, below the home.
        junk: where spam is moved to, as `--move` has it.
    """

    location: str
    inbox: str
    junk: str


KINDS = {
    "maildir": Kind("maildir:~/Maildir", "Maildir", ".Junk"),
    "mbox": Kind("mbox:~/mail:INBOX=~/mail/inbox", "mail/inbox", "~/mail/Junk"),
}


class Deeds:
    """
    What clients have done, by the number of the message.

    Attributes:
        messages: what was delivered.
        inbox: which of them into the inbox.
        flags: with which flags.
        copied: how often one was copied.
        moved: how often somebody tried to move one.
        expunged: which of them somebody tried to expunge.
    """

    def __init__(self) -> None:
        self.messages: dict[int, bytes] = {}
        self.inbox: set[int] = set()
        self.flags: dict[int, set[str]] = {}
        self.copied: Counter[int] = Counter()
        self.moved: Counter[int] = Counter()
        self.expunged: set[int] = set()
        self.numbers = count()
        self.lock = Lock()


def what_may_happen_to(number: int) -> str:
    return ("mark", "copy", "move", "expunge")[number % 4]


def is_spam(number: int) -> bool:
    return number // 4 % 2 == 0


class Client:
    """A mail client, which does one thing after the other."""

    def __init__(self, server: Dovecot, deeds: Deeds, seed: int) -> None:
        self._server = server
        self._deeds = deeds
        self.seed = seed
        self._random = Random(seed)  # noqa: S311  a fixed seed, no secret

    def work(self, end: float, texts: tuple[bytes, bytes]) -> None:
        with self._server.imap() as imap:
            while monotonic() < end or len(self._deeds.messages) <= LEAST:
                if self._random.random() < 0.3:
                    self._deliver(imap, texts)
                else:
                    self._act(imap)

    def _deliver(self, imap: IMAP4, texts: tuple[bytes, bytes]) -> None:
        number = next(self._deeds.numbers)
        kind = "spam" if is_spam(number) else "ham"
        text = texts[is_spam(number)] + b"\nnumber-%d-%s-end\n" % (
            number,
            kind.encode(),
        )
        flags = {one for one in FLAGS if self._random.random() < 0.3}
        folder = "Archive" if self._random.random() < 0.1 else "INBOX"
        answer = imap.append(folder, f"({' '.join(flags)})", "", with_crlf(text))
        assert answer[0] == "OK", answer
        if folder == "INBOX":
            self._deeds.inbox.add(number)
        self._deeds.flags[number] = flags
        self._deeds.messages[number] = text

    def _act(self, imap: IMAP4) -> None:
        folder, other = self._random.sample(FOLDERS, 2)
        assert imap.select(folder)[0] == "OK"
        uids = imap.uid("SEARCH", "ALL")[1][0].split()
        if not uids:
            return
        uid = self._random.choice(uids[-10:]).decode()
        _, answers = imap.uid("FETCH", uid, "(FLAGS BODY.PEEK[])")
        texts = [one[1] for one in answers if isinstance(one, tuple)]
        found = NUMBER.search(texts[0]) if texts else None
        if found is None:
            assert not texts, "a message without its end"
            return  # filter was quicker
        getattr(self, "_" + what_may_happen_to(int(found[1])))(
            imap, int(found[1]), uid, other
        )

    def _mark(self, imap: IMAP4, _number: int, uid: str, _other: str) -> None:
        imap.uid("STORE", uid, "+FLAGS", f"({self._random.choice(FLAGS)})")

    def _copy(self, imap: IMAP4, number: int, uid: str, other: str) -> None:
        if self._deeds.messages.get(number) is None or number % 8 // 4 != self.seed % 2:
            return
        answer = imap.uid("COPY", uid, other)
        if answer[0] == "OK" and imap.response("COPYUID")[1] != [None]:
            with self._deeds.lock:
                self._deeds.copied[number] += 1

    def _move(self, imap: IMAP4, number: int, uid: str, other: str) -> None:
        with self._deeds.lock:
            self._deeds.moved[number] += 1
        imap.uid("MOVE", uid, other)

    def _expunge(self, imap: IMAP4, number: int, uid: str, _other: str) -> None:
        self._deeds.expunged.add(number)
        imap.uid("STORE", uid, "+FLAGS.SILENT", r"(\Deleted)")
        imap.uid("EXPUNGE", uid)


class Filter:
    """`nbtext filter`, as cron has it."""

    def __init__(self, home: Home, kind: Kind) -> None:
        self._home = home
        self._command = (
            PROGRAM, "filter", home.path / kind.inbox, "--move", f"spam={kind.junk}",
            "--flag", "spam=Junk", "--quiet", "--wait", str(PATIENCE),
        )  # fmt: skip

    def once(self) -> None:
        done = self._home.run(*self._command)
        assert (done.status, done.err) == (0, "")

    def again_and_again(self, end: float) -> None:
        while monotonic() < end:
            self.once()

    def killed(self, end: float) -> None:
        """Run again and again, each time for a random while at the most."""
        random = Random(7)  # noqa: S311  a fixed seed, no secret
        while monotonic() < end:
            process = subprocess.Popen(
                [*self._home.wrap, *map(str, self._command)],
                env=self._home.environment(), stderr=subprocess.PIPE,
            )  # fmt: skip
            try:
                process.wait(random.uniform(0.15, 0.7))
            except subprocess.TimeoutExpired:
                process.kill()
            errors = process.communicate()[1]
            assert (process.returncode, errors) in ((0, b""), (-signal.SIGKILL, b""))


class Place(NamedTuple):
    """A server, and what filters its mail."""

    server: Dovecot
    filter: Filter


@pytest.fixture(params=list(KINDS))
def place(
    request: pytest.FixtureRequest, trained: Path, ordinary: Wrap, debian: Program
) -> Iterator[Place]:
    program, kind = debian("dovecot"), KINDS[request.param]
    with (
        home_with(trained, ordinary) as home,
        plain_dovecot(home, program, kind.location) as server,
    ):
        with server.imap() as imap:
            for folder in FOLDERS[1:]:
                assert imap.create(folder)[0] == "OK"
            assert imap.select("INBOX")[0] == "OK"
        yield Place(server, Filter(home, kind))


def all_at_once(*works: Callable[[], None]) -> None:
    with ThreadPoolExecutor(len(works)) as pool:
        for one in [pool.submit(work) for work in works]:
            one.result()


def seen(server: Dovecot) -> dict[str, list[tuple[bytes, set[str]]]]:
    """Return each folder's messages as IMAP has them, with their flags."""
    found = {}
    with server.imap() as imap:
        for folder in FOLDERS:
            assert imap.select(folder, readonly=True)[0] == "OK"
            uids = imap.uid("SEARCH", "ALL")[1][0].split()
            _, answers = imap.uid("FETCH", "1:*", "(FLAGS BODY.PEEK[])")
            parts = [one for one in answers if isinstance(one, tuple)]
            assert len(parts) == len(uids)
            found[folder] = [(text, flags_in(head)) for head, text in parts]
    return found


def flags_in(head: bytes) -> set[str]:
    found = re.search(rb"FLAGS \(([^)]*)\)", head)
    assert found is not None
    return {*found[1].decode().split()}


def number_of(text: bytes) -> int:
    found = NUMBER.search(text)
    assert found is not None
    return int(found[1])


def expected(deeds: Deeds, number: int) -> range:
    """
    Return how often a message may be there.

    A client that copies a spam to Junk while filter moves it there makes a second link
    of one file, under one name, which Dovecot takes for the same message.
    """
    most = 1 + deeds.copied[number] + deeds.moved[number]
    least = 1 if is_spam(number) else 1 + deeds.copied[number]
    return range(least - (number in deeds.expunged), most + 1)


@pytest.mark.parametrize("place", ["maildir"], indirect=True)
def test_no_message_is_lost_whatever_clients_do_and_whenever_filter_dies(
    place: Place, spam: bytes, ham: bytes
) -> None:
    deeds = Deeds()
    end = monotonic() + DURATION
    clients = [Client(place.server, deeds, seed) for seed in (1, 2)]
    all_at_once(
        *(partial(one.work, end, (ham, spam)) for one in clients),
        partial(place.filter.again_and_again, end),
        partial(place.filter.killed, end),
    )
    place.filter.once()

    there: Counter[int] = Counter()
    for folder, those in seen(place.server).items():
        for text, flags in those:
            number = number_of(text)
            there[number] += 1
            assert text == with_crlf(deeds.messages[number])
            if what_may_happen_to(number) == "mark":
                is_moved = is_spam(number) and number in deeds.inbox
                assert (folder == "Junk", "Junk" in flags) == (is_moved, is_moved)
                assert deeds.flags[number] <= flags
    assert len(deeds.messages) > LEAST
    wrong = {
        number: (what_may_happen_to(number), there[number], expected(deeds, number))
        for number in deeds.messages
        if there[number] not in expected(deeds, number)
    }
    assert wrong == {}
    faults = FAULTS.findall(place.server.log())
    assert [one for one in faults if not any(said in one for said in USUAL)] == []


@pytest.mark.parametrize("how", ["move", "copy"])
def test_what_is_moved_back_to_the_inbox_stays_there(
    place: Place, spam: bytes, ham: bytes, how: str
) -> None:
    for text in (spam, ham):
        place.server.append("INBOX", text)
    place.filter.once()
    moved = place.server.fetch("Junk")
    place.server.move("Junk", "INBOX", how)

    for _ in range(2):
        place.filter.once()

    assert moved == [spam]
    assert place.server.fetch("Junk") == []
    assert sorted(place.server.fetch("INBOX")) == sorted([spam, ham])
