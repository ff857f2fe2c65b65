"""Ten-fold cross-validation, against one training on the same mail."""

from collections.abc import Iterator
from typing import Final

from benchmarks.bench import Bench
from benchmarks.command import main
from benchmarks.figures import Figure, at_most
from benchmarks.harness import Job, pairs
from benchmarks.mail import spamassassin

TRAININGS: Final = 5.0
"""One pass of counting, one of scoring and ten calibrations, not ten trainings."""


def figures(bench: Bench) -> Iterator[Figure]:
    """Time both in pairs."""
    mail = spamassassin()
    folds = Job(((bench.nbtext, "eval", "-q", "--folds", "10", *mail.labelled),))
    timed = pairs(folds, bench.train(*mail.labelled), bench.few_runs)
    name = f"eval --folds 10, {mail.name}, of one training's time"
    yield at_most(name, timed.ratio, TRAININGS, timed.explained("one training"))


if __name__ == "__main__":
    main(figures)
