"""
What ten, a hundred and three hundred times the mail costs: time and memory.

Training is measured in memory, and within a bound that the counts of a hundred copies
take eleven times; of three hundred copies, within the bound alone.
"""

from collections.abc import Iterator
from math import log
from typing import Final

from benchmarks.bench import Bench, Trained, trained
from benchmarks.command import main
from benchmarks.figures import Figure, at_most, megabytes, seconds
from benchmarks.mail import generated
from benchmarks.space import memory

COPIES: Final = (1, 10)
LARGE: Final = 100
LARGEST: Final = 300

BOUND: Final = "512M"
WITHIN_BOUND: Final = ("--memory", BOUND)
IN_MEMORY: Final = ("--memory", "1000G")

MEGABYTES: Final = 32
"""The size of one copy."""


def figures(bench: Bench) -> Iterator[Figure]:
    """Train on more and more mail, and hold the time to n log n of the least."""
    first = trained(bench, "copies-1", *IN_MEMORY, *generated(bench, 1).labelled)
    for n_copies in (*COPIES[1:], LARGE) if bench.is_large else COPIES[1:]:
        mail = generated(bench, n_copies)
        model = trained(bench, f"copies-{n_copies}", *IN_MEMORY, *mail.labelled)
        bytes_before = MEGABYTES * 1e6
        bound = n_copies * log(bytes_before * n_copies) / log(bytes_before)
        yield at_most(
            f"train, {mail.name}, --jobs 1, of one copy's time",
            model.run.wall / first.run.wall,
            round(bound, 1),
            f"{seconds(model.run.wall)} and {seconds(first.run.wall)}; "
            f"{model.terms:,} and {first.terms:,} terms; "
            f"peak {megabytes(model.run.peak)} and {megabytes(first.run.peak)}",
        )
        yield _within_bound(bench, n_copies, model)
        if n_copies == LARGE:
            yield memory(mail.name, model)
    if bench.is_large:
        mail = generated(bench, LARGEST)
        model = trained(bench, f"bound-{LARGEST}", *WITHIN_BOUND, *mail.labelled)
        yield Figure(
            f"train, {mail.name}, --memory {BOUND}, processor time",
            seconds(model.run.cpu),
            "",
            None,
            f"{model.terms:,} terms; memory without files {megabytes(model.run.own)}",
        )
    else:
        yield Figure("train, generated, 3 GB", "skipped", "", None, "add --large")


def _within_bound(bench: Bench, n_copies: int, model: Trained) -> Figure:
    """Compare the processor time within the bound with that in memory."""
    mail = generated(bench, n_copies)
    bound = trained(bench, f"bound-{n_copies}", *WITHIN_BOUND, *mail.labelled)
    return at_most(
        f"train, {mail.name}, --memory {BOUND}, CPU, of that in memory",
        bound.run.cpu / model.run.cpu,
        1.5,
        f"{seconds(bound.run.cpu)} and {seconds(model.run.cpu)}; "
        f"memory without files {megabytes(bound.run.own)} and "
        f"{megabytes(model.run.own)}",
    )


if __name__ == "__main__":
    main(figures)
