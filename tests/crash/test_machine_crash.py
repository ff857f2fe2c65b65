"""
A machine that crashes loses what was not yet made durable, in any order.

The writes and fsyncs of an append are recorded. From them files are made as a file
system may leave them: of what no fsync followed, any sector may be there or be zeros,
and the file may have any length in between. Each of them opens and holds what the model
held before or after; when the operation has returned, it is what it holds after.
"""

import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import pytest

from nbtext.learning import LearnRequest
from nbtext.settings.reading import default_settings
from nbtext.store import open_model

if TYPE_CHECKING:
    from tests.conftest import Truth
    from tests.crash.conftest import Operation

from nbtext.document import Document
from tests.build import learnt

SECTOR = 512
TRIES = 60
"""So many files are made of each moment at which the machine may crash."""

SETTINGS = default_settings("text", 2)


class Write(NamedTuple):
    """Bytes that were written at a place of the file."""

    offset: int
    data: bytes


SYNC = None
Trace: TypeAlias = list[Write | None]
"""Writes, and None where what was written before became durable."""


@pytest.fixture
def trace(monkeypatch: pytest.MonkeyPatch) -> Trace:
    """What is written from now on, and when it becomes durable."""
    trace: Trace = []
    really = os.pwrite

    def pwrite(descriptor: int, data: Any, offset: int) -> int:
        written = really(descriptor, data, offset)
        trace.append(Write(offset, bytes(data[:written])))
        return written

    monkeypatch.setattr(os, "pwrite", pwrite)
    monkeypatch.setattr(os, "fsync", lambda _: trace.append(SYNC))
    monkeypatch.setattr(os, "fdatasync", lambda _: trace.append(SYNC))
    return trace


def written_over(contents: bytes, write: Write) -> bytes:
    """Return a file as it is after a write."""
    filled = contents.ljust(write.offset, b"\0")
    return (
        filled[: write.offset] + write.data + filled[write.offset + len(write.data) :]
    )


def left_by_crash(durable: bytes, pending: list[Write], random: Random) -> bytes:
    """Return a file of which some that was written since it was durable is lost."""
    whole = durable
    for write in pending:
        whole = written_over(whole, write)
    size = random.choice([len(durable), len(whole), None])
    if size is None:
        size = random.randint(len(durable), len(whole))
    old = durable.ljust(size, b"\0")
    share = random.choice([0.0, 0.1, 0.5, 0.9, 1.0])
    sectors = [
        (whole if random.random() < share else old)[start : min(start + SECTOR, size)]
        for start in range(0, size, SECTOR)
    ]
    return b"".join(sectors)


def learn(path: Path, document: Document) -> None:
    learnt(LearnRequest(str(path), "spam"), [document])


@pytest.fixture
def path(quick_folder: Path, operation: "type[Operation]") -> Path:
    """A model of two tables."""
    path = quick_folder / "m.nbt"
    operation("ham", (0,)).carry_out(path)
    operation("spam", (1,)).carry_out(path)
    return path


LONG = Document("long", (" ".join(f"w{n} w{n}" for n in range(900)).encode(),))


def test_a_table_is_there_or_not_whatever_the_disk_lost(
    path: Path, trace: Trace, truth: "Truth", quick_folder: Path
) -> None:
    random = Random(7)  # noqa: S311  a fixed seed, no secret
    durable = path.read_bytes()
    before = truth.stored(path)
    learn(path, LONG)
    after = truth.stored(path)
    crashed = quick_folder / "crashed.nbt"
    pending: list[Write] = []
    held = []
    for event in trace:
        if event is SYNC:
            for write in pending:
                durable = written_over(durable, write)
            pending = []
        else:
            pending.append(event)
        for _ in range(TRIES):
            crashed.write_bytes(left_by_crash(durable, pending, random))
            held.append(truth.stored(crashed))

    assert trace.count(SYNC) == 2
    assert trace[-1] is SYNC, "something was not durable when it was acknowledged"
    assert all(one in (before, after) for one in held)
    assert held[:TRIES] == [before] * TRIES
    assert held[-TRIES:] == [after] * TRIES
    assert {0, 1} == {[before, after].index(one) for one in held[-2 * TRIES : -TRIES]}


def test_what_a_machine_crash_left_is_removed_by_the_next_writer(
    path: Path, trace: Trace, truth: "Truth"
) -> None:
    learn(path, LONG)
    first = next(event for event in trace if event is not SYNC)
    before = path.read_bytes()[: first.offset - 1]
    path.write_bytes(before.ljust(path.stat().st_size, b"\0"))

    learn(path, Document("short", (b"some more words",)))

    assert open_model(str(path)).cut == 0
    assert truth.stored(path)[2] == (1, 2)


@pytest.mark.parametrize(
    ("label", "numbers"),
    [
        pytest.param(None, (), id="compact"),
        pytest.param("ham", (3,), id="create"),
    ],
)
def test_a_file_takes_its_place_when_it_is_durable_and_then_the_place_is(
    quick_folder: Path,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    operation: "type[Operation]",
    label: str | None,
    numbers: tuple[int, ...],
) -> None:
    done: list[tuple[str, bool]] = []

    def recorded(name: str) -> Callable[..., Any]:
        really = getattr(os, name)

        def call(first: Any, *more: Any, **named: Any) -> Any:
            is_folder = isinstance(first, int) and Path(f"/dev/fd/{first}").is_dir()
            done.append((name, is_folder))
            return really(first, *more, **named)

        return call

    for name in ("fsync", "replace", "link", "mkdir"):
        monkeypatch.setattr(os, name, recorded(name))

    operation(label, numbers).carry_out(path if label is None else quick_folder / "a/b")

    placed = ("replace", False) if label is None else ("link", False)
    made = [("mkdir", False), ("fsync", True)] if label else []
    assert done == [*made, ("fsync", False), placed, ("fsync", True)]
