"""An hourly run over folders in which nothing is new: in seconds, and as they grow."""

from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.bench import Bench, trained
from benchmarks.command import main
from benchmarks.figures import Figure, at_most, seconds
from benchmarks.harness import Job, Run, run
from benchmarks.mail import some_of
from benchmarks.one_message import MAILS

MESSAGES: Final = 20_000
MORE: Final = 100_000

BOUND: Final = 1.0
"""A Maildir of 20,000 messages, nothing of it new: at most so many seconds."""

GROWTH: Final = 5.0
"""With five times the messages, at most five times as long."""


def figures(bench: Bench) -> Iterator[Figure]:
    """Time runs over Maildirs that were filtered before, with a model of some size."""
    mail = some_of(bench, MAILS[1])
    model = trained(bench, mail.name, *mail.labelled)
    timed = {}
    for n_messages in (MESSAGES, MORE):
        maildir = _maildir(bench.folder / f"Maildir-{n_messages}", n_messages)
        job = _filtering(bench, model.path, maildir)
        first = run(job)
        timed[n_messages] = [run(job) for _ in range(bench.runs)]
        wall = _wall(timed[n_messages])
        details = (
            f"median of {bench.runs}, CPU "
            f"{seconds(median(one.cpu for one in timed[n_messages]))}; the first run, "
            f"which reads them all, {seconds(first.wall)}"
        )
        if n_messages == MESSAGES:
            name = f"filter {n_messages:,} messages of a Maildir, none new, seconds"
            yield at_most(name, wall, BOUND, details)
    ratio = _wall(timed[MORE]) / _wall(timed[MESSAGES])
    yield at_most(f"the same with {MORE:,} messages, of that", ratio, GROWTH, details)


def _wall(runs: list[Run]) -> float:
    return median(one.wall for one in runs)


def _filtering(bench: Bench, model: Path, maildir: Path) -> Job:
    memory = f"{maildir}.decided"
    options = ("-q", "-m", str(model), "--decided", memory, "--move", "spam=.Junk")
    return Job(((bench.nbtext, "filter", str(maildir), *options),))


def _maildir(folder: Path, n_messages: int) -> Path:
    """Make a Maildir of small messages, named as Dovecot names them."""
    for part in ("cur", "new", "tmp"):
        (folder / part).mkdir(parents=True)
    for number in range(n_messages):
        name = f"{1_700_000_000 + number}.M{number % 10**6}P7.host,S=200,W=206:2,S"
        text = (
            f"From: someone{number}@example.org\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n"
            f"Message-ID: <{number}@example.org>\nSubject: minutes {number}\n\n"
            f"The minutes of meeting {number} are on the list.\n"
        )
        (folder / "cur" / name).write_text(text)
    return folder


if __name__ == "__main__":
    main(figures)
