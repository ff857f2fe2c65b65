"""
Writers take turns and readers never wait: what is left is the sum of what was done.

Several processes learn, move and forget documents of one model at once. Each has
documents of its own, so that it knows what must be left of them; all share words, so
that the counts of one are in the terms of the others.
"""

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from nbtext import train_on
from nbtext.cli import _status as status
from nbtext.document import Document
from nbtext.errors import NoModelError
from nbtext.files import _locking
from nbtext.learning import LearnRequest
from nbtext.learning.stored import learn_stored
from nbtext.scoring.classifier import Classifier
from nbtext.scoring.model import load_model
from nbtext.settings.reading import default_settings
from nbtext.store import appending, compact, open_model
from nbtext.store.file import map_file
from nbtext.store.lock import locked
from nbtext.store.writing import replace_file
from nbtext.tokens.engine import engine
from tests.build import HAM, SPAM, learnt, mail
from tests.forking import ended, forked
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.conftest import Truth

SETTINGS = default_settings("text", 2)
LABELS = ("ham", "spam")
OPERATIONS = 400
"""Operations of all writers together, whatever their number."""

TAIL = 8
"""Tables behind the first that are folded: as often as in 3,000 operations with 64."""

# a forked child of a process with threads may hang; this one has none of its own
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def document(writer: int, number: int, label: str | None = None) -> Document:
    words = f"w{writer}d{number} w{writer} d{number} shared by all all"
    return Document(f"{writer}.{number}", (words.encode(),), label)


def done(path: Path, label: str | None, documents: list[Document]) -> list[str]:
    """Teach a model; return what became of each document."""
    request = LearnRequest(str(path), label, wait=PATIENCE)
    return [result.outcome for result in learnt(request, documents)]


def deeds(writer: int, count: int) -> Iterator[tuple[str | None, list[int]]]:
    """Yield what a writer does: documents to learn or, under no label, to forget."""
    random = Random(writer)  # noqa: S311  a fixed seed, no secret
    for turn in range(count):
        label = random.choice([*LABELS, *LABELS, None])
        size = 15 if turn % 50 == 49 else 1  # so many that numpy counts them
        yield label, random.sample(range(20), size)


def write(path: Path, writer: int, count: int) -> None:
    """Learn, move and forget, and compare what is said of each document."""
    known: dict[int, str] = {}
    for label, numbers in deeds(writer, count):
        said = done(path, label, [document(writer, number) for number in numbers])
        for number, outcome in zip(numbers, said, strict=True):
            before = known.pop(number, None)
            if label is None:
                assert outcome == ("forgotten" if before else "refused")
                continue
            learnt = "moved" if before else "learnt"
            assert outcome == ("known" if before == label else learnt)
            known[number] = label


def left(writer: int, count: int) -> list[Document]:
    """Return the labelled documents that are left of what a writer does."""
    known: dict[int, str] = {}
    for label, numbers in deeds(writer, count):
        for number in numbers:
            known.pop(number, None)
            if label is not None:
                known[number] = label
    return [document(writer, *one) for one in known.items()]


def read(path: Path) -> None:
    """Classify for ever; a note is as bad as an error."""
    documents = [document(0, 0), document(1, 1)]
    while True:
        model = load_model(str(path))
        assert model.notes == (), model.notes
        decisions = Classifier(model).classify(documents)
        assert [decision.label in LABELS for decision in decisions] == [True, True]


def compact_often(path: Path) -> None:
    while True:
        compact(str(path), wait=PATIENCE)


@contextmanager
def in_background(*works: Callable[[], None]) -> Iterator[None]:
    """Do things over and over in other processes, which must not end by themselves."""
    children = [forked(work) for work in works]
    yield
    for child in children:
        os.kill(child, signal.SIGKILL)
    ends = [ended(child) for child in children]
    assert ends == [-signal.SIGKILL] * len(children)


def all_end_well(children: list[int]) -> bool:
    ends = [ended(child) for child in children]
    return not any(ends)


@pytest.fixture(autouse=True)
def _short_tail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have tails folded often, and models of few tables."""
    monkeypatch.setattr(appending, "TAIL", TAIL)


@pytest.fixture
def path(quick_folder: Path) -> Path:
    """A model that has a document in each class."""
    path = quick_folder / "m.nbt"
    for label in LABELS:
        request = LearnRequest(
            str(path), label, create=True, format="text", wait=PATIENCE
        )
        learnt(request, [Document(label, (f"{label} shared by all".encode(),))])
    return path


def first_ones() -> list[Document]:
    return [
        Document(label, (f"{label} shared by all".encode(),), label) for label in LABELS
    ]


@pytest.mark.parametrize("n_writers", [2, 8])
def test_what_many_writers_leave_is_the_sum_of_what_each_did(
    path: Path, truth: "Truth", n_writers: int
) -> None:
    each = OPERATIONS // n_writers
    writers = range(n_writers)

    with in_background(partial(read, path)):
        children = [forked(partial(write, path, writer, each)) for writer in writers]
        assert all_end_well(children)

    expected = first_ones() + [one for writer in writers for one in left(writer, each)]
    assert truth.stored(path) == truth.counted(SETTINGS, expected)
    taught = sum(table.header.history.taught for table in open_model(str(path)).tables)
    assert taught > len(expected)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(not engine().is_compiled, reason="there is no extension")
def test_mail_is_corrected_by_many(quick_folder: Path, truth: "Truth") -> None:
    """By the compiled engine where nobody else has the model, and else by the other."""
    path = quick_folder / "mail.nbt"
    first = [("ham", mail(0, HAM)), ("spam", mail(0, SPAM))]
    train_on(first, str(path))

    def correct(writer: int) -> None:
        n_quick = 0
        for label, numbers in deeds(writer, 40):
            for number in numbers:
                message = mail(100 * writer + number, SPAM)
                found = learn_stored(str(path), label, [message])
                n_quick += found is not None
                if found is None:
                    done(path, label, [Document("-", (message,))])
        assert n_quick > 10

    assert all_end_well([forked(partial(correct, writer)) for writer in (1, 2, 3)])

    expected = [Document("-", (message,), label) for label, message in first]
    for writer in (1, 2, 3):
        for one in left(writer, 40):
            number = int(one.name.partition(".")[2])
            message = mail(100 * writer + number, SPAM)
            expected.append(Document(one.name, (message,), one.label))
    found = open_model(str(path))
    assert truth.stored(path) == truth.counted(found.settings, expected)


def test_compacting_all_the_time_takes_nothing_away(path: Path, truth: "Truth") -> None:
    with in_background(partial(read, path), partial(compact_often, path)):
        children = [forked(partial(write, path, writer, 60)) for writer in range(3)]
        assert all_end_well(children)

    expected = first_ones() + [one for writer in range(3) for one in left(writer, 60)]
    assert truth.stored(path) == truth.counted(SETTINGS, expected)


def test_all_learn_the_same_document_and_it_is_counted_once(
    path: Path, truth: "Truth"
) -> None:
    documents = [document(0, number) for number in range(40)]

    def learn() -> None:
        for one in documents:
            assert done(path, "spam", [one])[0] in ("learnt", "known")

    assert all_end_well([forked(learn) for _ in range(6)])

    labelled = [document(0, number, "spam") for number in range(40)]
    expected = truth.counted(SETTINGS, first_ones() + labelled)
    assert truth.stored(path) == expected


def test_all_make_the_same_model_and_one_of_them_does(
    quick_folder: Path, truth: "Truth"
) -> None:
    path = quick_folder / "made.nbt"

    def make(writer: int) -> None:
        request = LearnRequest(
            str(path), "spam", create=True, format="text", wait=PATIENCE
        )
        learnt(request, [document(writer, 0)])

    children = [forked(partial(make, writer)) for writer in range(8)]

    assert all_end_well(children)
    labelled = [document(writer, 0, "spam") for writer in range(8)]
    assert truth.stored(path) == truth.counted(SETTINGS, labelled)


def test_what_is_learnt_after_a_model_was_replaced_is_in_the_new_one(
    path: Path, truth: "Truth"
) -> None:
    """Who replaces a model without the lock loses what the old one had, no more."""
    contents = bytes(map_file(str(path)))
    total, n_replaced = 400, 20
    ours, its = os.pipe()

    def learn() -> None:
        for number in range(total):
            assert done(path, "spam", [document(0, number)])[0] in ("learnt", "known")
            os.write(its, b".")

    child = forked(learn)
    acknowledged = 0
    for _ in range(n_replaced):
        acknowledged += len(os.read(ours, 10))
        replace_file(str(path), [contents])
    acknowledged += len(os.read(ours, total))
    assert all_end_well([child])

    left = truth.stored(path)[2][1] - 1
    # of the one that was under way then, nobody can say
    assert left >= total - acknowledged - 1
    labelled = [document(0, number, "spam") for number in range(total - left, total)]
    assert truth.stored(path) == truth.counted(SETTINGS, first_ones() + labelled)


@pytest.fixture
def meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[str, Callable[[], object]], None]:
    """Have something happen to the files just before the system is called for once."""

    def meanwhile(call: str, act: Callable[[], object]) -> None:
        really = getattr(os, call)

        def later(*arguments: Any, **more: Any) -> Any:
            monkeypatch.setattr(os, call, really)
            act()
            return really(*arguments, **more)

        monkeypatch.setattr(os, call, later)

    return meanwhile


@pytest.mark.parametrize("moment", ["open", "fstat", "pwrite", "fsync", "fdatasync"])
def test_a_model_that_is_replaced_while_it_is_taught_is_taught_too(
    path: Path,
    truth: "Truth",
    meanwhile: Callable[[str, Callable[[], object]], None],
    moment: str,
) -> None:
    old, new = path.read_bytes(), path.with_name("new.nbt")
    new.write_bytes(old)
    assert done(new, "ham", [document(0, 1)]) == ["learnt"]
    kept = path.with_name("kept.nbt")
    kept.hardlink_to(path)
    meanwhile(moment, partial(new.replace, path))

    assert done(path, "spam", [document(0, 2)]) == ["learnt"]

    labelled = [document(0, 1, "ham"), document(0, 2, "spam")]
    expected = truth.counted(SETTINGS, first_ones() + labelled)
    assert truth.stored(path) == expected
    assert truth.stored(kept)[2] in ((1, 1), (1, 2))


@pytest.mark.parametrize("moment", ["open", "fstat", "pwrite", "fsync", "fdatasync"])
def test_a_model_that_is_removed_while_it_is_taught_is_missed(
    path: Path,
    meanwhile: Callable[[str, Callable[[], object]], None],
    moment: str,
) -> None:
    meanwhile(moment, path.unlink)

    with pytest.raises(NoModelError, match="no model there"):
        done(path, "spam", [document(0, 2)])


def test_who_looks_while_a_table_is_written_says_nothing_of_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer is done when the reader, who saw a part of it, looks for a lock."""
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    really = fcntl.flock

    def later(descriptor: int, operation: int) -> None:
        with path.open("r+b") as file:
            file.write(whole)
        really(descriptor, operation)

    monkeypatch.setattr(_locking, "flock", later)

    model = load_model(str(path))

    assert model.notes == ()
    assert model.documents == (1, 1)


def test_who_waits_too_long_is_told_to_try_again(path: Path) -> None:
    command = [sys.executable, "-m", "nbtext", "learn", "spam", "-m", str(path)]
    before = path.read_bytes()
    name = Path("/proc/self/comm").read_text().strip()
    with locked(str(path)):
        is_known = str(path.stat().st_ino) in Path("/proc/locks").read_text()
        ended = subprocess.run(
            [*command, "--wait", "0.2"], input=b"some words", capture_output=True,
            check=False,
        )  # fmt: skip

    assert ended.returncode == status.TRY_AGAIN
    assert ended.stdout == b""
    holder = f" ({os.getpid()}, {name})" if is_known else ""
    assert ended.stderr.decode() == (
        f"Error: {path}: another process{holder} has been writing the model for 0.2 s; "
        "try again later, or wait longer with --wait\n"
    )
    assert path.read_bytes() == before


def test_who_waits_is_next(path: Path, truth: "Truth") -> None:
    with locked(str(path)):
        child = forked(partial(assert_learnt, path))

    assert all_end_well([child])
    expected = truth.counted(SETTINGS, [*first_ones(), document(0, 1, "spam")])
    assert truth.stored(path) == expected


def assert_learnt(path: Path) -> None:
    assert done(path, "spam", [document(0, 1)]) == ["learnt"]


def test_readers_do_not_wait_for_a_writer(path: Path) -> None:
    command = [sys.executable, "-m", "nbtext", "classify", "-m", str(path)]
    with locked(str(path)):
        ended = subprocess.run(
            command, input=b"spam", capture_output=True, check=False, timeout=PATIENCE
        )

    assert (ended.returncode, ended.stderr) == (0, b"")
