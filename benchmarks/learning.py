"""Learning one message, and a tail of sixty tables: against classifying one."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.bench import Bench, info_of, trained
from benchmarks.command import main
from benchmarks.figures import Figure, at_most
from benchmarks.harness import Job, Pairs, Run, pairs, run
from benchmarks.mail import some_of
from benchmarks.one_message import MAILS, PAIRS_A_RUN, middling

RATIO: Final = 2.0
"""Learning a message takes at most twice as long as classifying it."""

TAIL: Final = 60
TAIL_RATIO: Final = 2.0
"""With so many tables behind the first, a model takes less than twice as long; lessons
put together those that are more."""

DELIVERED: Final = 3600.0
"""Seconds since a message was written: what is younger and begins with a line of an
mbox may be one that grows, and is read with more care."""


def figures(bench: Bench) -> Iterator[Figure]:
    """Time learning and forgetting with a model of a million terms, and long tails."""
    mail = some_of(bench, MAILS[-1])
    model = trained(bench, mail.name, *mail.labelled)
    n_pairs = bench.runs * PAIRS_A_RUN
    learnt = Path(shutil.copy(model.path, bench.folder / "learnt.nbt"))
    messages = list(_new_messages(bench.folder, n_pairs + 1))
    for verb in (("learn", "spam"), ("forget",)):
        timed = [_timed(bench, learnt, verb, message) for message in messages][1:]
        whole = Pairs(tuple(ours for ours, _ in timed), tuple(one for _, one in timed))
        name = f"{verb[0]} one message, {model.terms:,} terms, of classifying it"
        yield at_most(name, whole.ratio, RATIO, whole.explained("classify"))
    tailed, compact, n_tables = _with_tail(bench, model.path)
    timed_tail = pairs(
        bench.classify(tailed, stdin=middling()),
        bench.classify(compact, stdin=middling()),
        n_pairs,
    )
    name = f"classify one message, {n_tables} tables behind the first, of one table"
    yield at_most(name, timed_tail.ratio, TAIL_RATIO, timed_tail.explained("compact"))


def _timed(
    bench: Bench, model: Path, verb: tuple[str, ...], message: Path
) -> tuple[Run, Run]:
    command = (bench.nbtext, *verb, "-q", "-m", str(model))
    job = Job((command,), stdin=message)
    return run(job), run(bench.classify(model, stdin=message))


def _new_messages(folder: Path, number: int) -> Iterator[Path]:
    """Write copies of a mail of middling size that are not the same mail."""
    lines = middling().read_bytes().split(b"\n")
    for copy in range(number):
        path = folder / f"message-{copy}.eml"
        subject = b"Subject: copy number %d" % copy
        kept = [line for line in lines if not line.lower().startswith(b"subject:")]
        path.write_bytes(b"\n".join([kept[0], subject, *kept[1:]]))
        written = path.stat().st_mtime - DELIVERED
        os.utime(path, (written, written))
        yield path


def _with_tail(bench: Bench, model: Path) -> tuple[Path, Path, int]:
    """Return a model with a long tail, the same in one table, and how long it is."""
    tailed = Path(shutil.copy(model, bench.folder / "tailed.nbt"))
    for message in _new_messages(bench.folder, TAIL):
        learn = (bench.nbtext, "learn", "-q", "-m", str(tailed), "spam")
        run(Job((learn,), stdin=message))
    compact = Path(shutil.copy(tailed, bench.folder / "compact.nbt"))
    run(Job(((bench.nbtext, "compact", "-q", "-m", str(compact)),)))
    return tailed, compact, info_of(bench, tailed)["tables"] - 1


if __name__ == "__main__":
    main(figures)
