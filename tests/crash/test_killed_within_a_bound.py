"""
What works on whole models with temporary files can be killed at any moment.

The model in the place where the result goes is then the old one or the new one, byte
for byte but for its date, and in the temporary folder is nothing.
"""

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from time import perf_counter, sleep

import pytest

from nbtext import learn, train_on
from nbtext.counts import room
from nbtext.counts.room import bounded
from nbtext.store import Contents, compact, open_model, read_contents
from nbtext.store.header import History
from nbtext.store.writing import replace_file
from nbtext.upkeep import merge, open_models, prune
from tests.build import HAM, SPAM, STAMP

KILLS = 12
"""How often each kind of work is killed."""

Work = Callable[[Path], None]


def documents(n: int) -> list[tuple[str, str]]:
    return [
        (label, f"{' '.join(words[number % 7 :])} n{number} {label}{number}")
        for number in range(n)
        for label, words in (("ham", HAM), ("spam", SPAM))
    ]


def trained(folder: Path) -> None:
    train_on(documents(60), folder / "m.nbt", replace=True)


def merged(folder: Path) -> None:
    paths = [str(folder / name) for name in ("a.nbt", "b.nbt")]
    _put(folder, merge([*open_models(paths)]).contents)


def merged_in_turn(folder: Path) -> None:
    paths = [str(folder / name) for name in ("a.nbt", "b.nbt", "a.nbt")]
    _put(folder, merge(open_models(paths)).contents)


def compacted(folder: Path) -> None:
    compact(str(folder / "m.nbt"))


def pruned(folder: Path) -> None:
    contents = read_contents(open_model(str(folder / "a.nbt")))
    _put(folder, prune(contents, 2).contents)


def _put(folder: Path, contents: Contents) -> None:
    replace_file(str(folder / "m.nbt"), contents.pack())


def held(path: Path) -> bytes:
    """Return a model without its dates, and how many tables it has."""
    file = open_model(str(path))
    contents = replace(read_contents(file), history=History())
    return b"".join([bytes([len(file.tables)]), *contents.pack(written=STAMP)])


@pytest.mark.skipif(sys.platform != "linux", reason="what is mapped has no name here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("work", [trained, merged, merged_in_turn, compacted, pruned])
def test_a_kill_leaves_the_old_model_or_the_new_one(
    work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(room, "LEAST_BOUND", 1 << 12)
    train_on(documents(20), tmp_path / "a.nbt")
    train_on(documents(30)[25:], tmp_path / "b.nbt")
    model = tmp_path / "m.nbt"
    train_on(documents(25), model)
    learn(model, "spam", ["cheap pills", "a prize"])
    before, old = model.read_bytes(), held(model)
    started = perf_counter()
    with bounded(0):
        work(tmp_path)
    longest = perf_counter() - started
    new = held(model)
    assert new != old
    model.write_bytes(before)

    random = Random(9)  # noqa: S311  a fixed seed, no secret
    for _ in range(KILLS):
        _killed(work, tmp_path, random.random() * longest)

        found = held(model)
        assert found in (old, new)
        assert list(temporary.iterdir()) == []
        if found == new:
            model.write_bytes(before)


def _killed(work: Work, folder: Path, after: float) -> None:
    """Kill a process at work after so many seconds."""
    child = os.fork()
    if not child:
        try:
            with bounded(0):
                work(folder)
        finally:
            os._exit(0)
    sleep(after)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
