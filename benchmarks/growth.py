"""What ten and a hundred times the mail costs: time and memory, in one table."""

from collections.abc import Iterator
from math import log
from typing import Final

from benchmarks.bench import Bench, trained
from benchmarks.command import main
from benchmarks.figures import Figure, at_most, megabytes, seconds
from benchmarks.mail import generated
from benchmarks.space import memory

COPIES: Final = (1, 10)
LARGE: Final = 100

MEGABYTES: Final = 32
"""The size of one copy."""


def figures(bench: Bench) -> Iterator[Figure]:
    """Train on more and more mail, and hold the time to n log n of the least."""
    first = trained(bench, "copies-1", *generated(bench, 1).labelled)
    for n_copies in (*COPIES[1:], LARGE) if bench.is_large else COPIES[1:]:
        mail = generated(bench, n_copies)
        model = trained(bench, f"copies-{n_copies}", *mail.labelled)
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
        if n_copies == LARGE:
            yield memory(mail.name, model)
    if not bench.is_large:
        yield Figure("train, generated, 3 GB", "skipped", "", None, "add --large")


if __name__ == "__main__":
    main(figures)
