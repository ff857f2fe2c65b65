"""
All benchmarks, one after the other: `python -m benchmarks [--write]`.

With --write each table replaces that in docs/benchmarks.md when it is measured. Nothing
else should run on the machine meanwhile.
"""

import sys
from typing import Final

from benchmarks import (
    accuracy,
    classifying_mail,
    classifying_text,
    crossvalidation,
    filtering,
    first_messages,
    growth,
    heavy_clients,
    learning,
    one_message,
    serving,
    space,
    training_by_default,
    training_mail,
    training_text,
)
from benchmarks.bench import open_bench
from benchmarks.command import Figures, measured, parser
from benchmarks.page import name_of, part, write

BENCHMARKS: Final[tuple[Figures, ...]] = (
    training_mail.figures,
    classifying_mail.figures,
    training_text.figures,
    training_by_default.figures,
    classifying_text.figures,
    one_message.figures,
    learning.figures,
    serving.figures,
    heavy_clients.figures,
    filtering.figures,
    space.figures,
    growth.figures,
    crossvalidation.figures,
    # the last: they import numpy, and memory is measured before
    accuracy.figures,
    first_messages.figures,
)


def main() -> None:
    """Measure everything, print it, and write it down if asked to."""
    arguments = parser().parse_args()
    with open_bench(runs=arguments.runs, is_large=arguments.large) as bench:
        for figures in BENCHMARKS:
            print(f"{name_of(figures)} …", file=sys.stderr, flush=True)
            rows = [*measured(name_of(figures), figures, bench)]
            print(part(figures, rows), flush=True)
            if arguments.write:
                write(figures, rows)


if __name__ == "__main__":
    main()
