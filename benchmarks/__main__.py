"""
All benchmarks, one after the other: `python -m benchmarks [--write]`.

With --write the tables replace those in docs/benchmarks.md. Nothing else should run on
the machine meanwhile.
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
from benchmarks.bench import REPOSITORY, open_bench
from benchmarks.command import Figures, measured, parser
from benchmarks.figures import Row, table
from benchmarks.machine import facts

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

PAGE: Final = REPOSITORY / "docs" / "benchmarks.md"
BEGIN: Final = "<!-- written by python -m benchmarks --write: begin -->\n"
END: Final = "<!-- end -->\n"


def main() -> None:
    """Measure everything, print it, and write it down if asked to."""
    options = parser()
    options.add_argument(
        "--write", action="store_true", help=f"put the tables into {PAGE.name}"
    )
    arguments = options.parse_args()
    rows: list[Row] = []
    with open_bench(runs=arguments.runs, is_large=arguments.large) as bench:
        for figures in BENCHMARKS:
            print(f"{figures.__module__} …", file=sys.stderr, flush=True)
            for row in measured(figures, bench):
                print(*row.cells(), sep=" | ", file=sys.stderr, flush=True)
                rows.append(row)
    text = "\n".join([*table(rows), "", *facts()]) + "\n"
    print(text, end="")
    if arguments.write:
        write(text)


def write(text: str) -> None:
    """Replace what stands between the markers of the page."""
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        sys.exit(f"{PAGE}: the lines {BEGIN.strip()!r} and {END.strip()!r} are gone")
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
