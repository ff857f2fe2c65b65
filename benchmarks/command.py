"""The command line of every benchmark: measure, print a table, and write it down."""

import argparse
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from benchmarks.bench import Bench, open_bench
from benchmarks.figures import Row, Skipped, skipped, table

Figures: TypeAlias = Callable[[Bench], Iterable[Row]]
"""Measures the rows of a table, one after the other."""


def main(figures: Figures) -> None:
    """Run one benchmark alone."""
    from benchmarks.machine import facts
    from benchmarks.page import name_of, write

    arguments = parser().parse_args()
    rows: list[Row] = []

    def told() -> Iterator[Row]:
        for row in measured(name_of(figures), figures, bench):
            rows.append(row)
            yield row

    with open_bench(runs=arguments.runs, is_large=arguments.large) as bench:
        for line in table(told()):
            print(line, flush=True)
    print()
    print(facts())
    if arguments.write:
        write(figures, rows)


def parser() -> argparse.ArgumentParser:
    """Return the options that all benchmarks take."""
    options = argparse.ArgumentParser()
    options.add_argument(
        "--runs", type=int, default=7, metavar="N", help="how many pairs are timed [7]"
    )
    options.add_argument(
        "--large", action="store_true", help="3 GB of mail, too: 10 minutes, 20 GB"
    )
    options.add_argument(
        "--write", action="store_true", help="put the tables into docs/benchmarks.md"
    )
    return options


def measured(name: str, figures: Figures, bench: Bench) -> Iterator[Row]:
    """Measure what can be measured here; a row says what cannot."""
    try:
        yield from figures(bench)
    except Skipped as why:
        yield skipped(name, why)
