"""
A writer that is killed leaves what it had acknowledged, and nothing by halves.

Whenever the kill comes, the model opens and holds, bit for bit, what it held after some
whole number of the operations: all that were acknowledged, and perhaps the one that was
under way. The next writer goes on from there.
"""

import os
import signal
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING

import pytest

from nbtext.files._replacing import LEFTOVER
from nbtext.settings.reading import default_settings
from nbtext.store import appending, open_model

if TYPE_CHECKING:
    from nbtext.document import Document
    from tests.conftest import Truth
    from tests.crash.conftest import Labels, Operation, Story

KILLS = 220
MOST_ACKNOWLEDGED = 4
LONGEST = 0.015
"""The kill comes so many seconds after an acknowledgement, at the most."""

SETTINGS = default_settings("text", 2)


def work(path: Path, operations: "Sequence[Operation]", acknowledge: int) -> None:
    """Carry out operations, and write a byte after each of them."""
    try:
        for operation in operations:
            operation.carry_out(path)
            os.write(acknowledge, b".")
    finally:
        os._exit(1)  # a child that has come to its end was not killed


def killed(path: Path, operations: "Sequence[Operation]", random: Random) -> int:
    """Kill a process at work; return how many operations it had acknowledged."""
    ours, its = os.pipe()
    child = os.fork()
    if not child:
        work(path, operations, its)
    os.close(its)
    wanted = random.randrange(MOST_ACKNOWLEDGED)
    acknowledged = sum(len(os.read(ours, 1)) for _ in range(wanted))
    end = perf_counter() + random.random() * LONGEST
    while perf_counter() < end:
        pass
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    acknowledged += len(os.read(ours, 1 << 16))
    os.close(ours)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    assert acknowledged < len(operations)
    return acknowledged


def asides(folder: Path) -> list[Path]:
    return list(folder.glob(".*.tmp"))


def grow_old(paths: Sequence[Path]) -> None:
    for path in paths:
        then = path.stat().st_mtime - LEFTOVER - 1
        os.utime(path, (then, then))


# a forked child of a process with threads may hang; this one has none of its own
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_what_was_acknowledged_outlives_every_kill(
    tmp_path: Path,  # on a disk: most kills come while something is written
    truth: "Truth",
    story: "Callable[[Random, int], Story]",
    operation: "type[Operation]",
    labelled: "Callable[[Labels], Iterable[Document]]",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # tails are folded eight times as often, and models have few tables to compare
    monkeypatch.setattr(appending, "TAIL", 8)
    random = Random(20)  # noqa: S311  a fixed seed, no secret
    path = tmp_path / "m.nbt"
    operation("ham", (0,)).carry_out(path)
    operation("spam", (1,)).carry_out(path)
    operations, states = story(random, 10_000)
    done = 0
    for _ in range(KILLS):
        done += killed(path, operations[done:], random)
        held = truth.stored(path)
        possible = [
            number
            for number in (done, done + 1)
            if held == truth.counted(SETTINGS, labelled(states[number]))
        ]

        assert possible, f"the model holds what it never held, after {done} operations"
        done = max(possible)
        assert len(asides(tmp_path)) <= 1, "what crashes leave piles up"
        grow_old(asides(tmp_path))

    operation("spam", (1,)).carry_out(path)  # the next writer, if anything is cut off
    operation(None, ()).carry_out(path)
    file = open_model(str(path))
    assert (file.cut, file.notes, len(file.tables)) == (0, (), 1)
    assert list(tmp_path.iterdir()) == [path]
