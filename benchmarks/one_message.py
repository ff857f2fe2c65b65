"""One message, one process, as a mail server calls it: against `python -c pass`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.bench import Bench, trained
from benchmarks.command import main
from benchmarks.figures import Figure, at_most
from benchmarks.harness import Job, pairs
from benchmarks.mail import some_of, spamassassin

MAILS: Final = (20, 250, 4100)
"""How many mails have about 10 k, 100 k and a million terms."""

PAIRS_A_RUN: Final = 6
"""Short processes are timed so many times more often than others."""

RATIO: Final = 1.8

FIELDS: Final = {
    "encoded words": b"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe_aus?= =?utf-8?b?S8O2bG4=?=\n"
    b"From: =?iso-8859-1?q?J=F6rg?= <joerg@example.org>\n",
    "words in GB 2312": b"Subject: =?gb2312?b?xOO6w8rAvec=?=\n",
}
"""What is put before the other fields of a mail, by what it is."""

GROWTH: Final = 1.1
"""Independent of the model's size is: a hundred times the terms, a tenth the time."""


def figures(bench: Bench) -> Iterator[Figure]:
    """Time a mail of middling size with models of three sizes."""
    message = middling()
    n_pairs = bench.runs * PAIRS_A_RUN
    nothing = Job(((bench.python, "-c", "pass"),))
    jobs = []
    for n_mails in MAILS:
        mail = some_of(bench, n_mails)
        model = trained(bench, mail.name, *mail.labelled)
        jobs.append(bench.classify(model.path, stdin=message))
        timed = pairs(jobs[-1], nothing, n_pairs)
        name = f"classify one message, {model.terms:,} terms, of python -c pass"
        yield at_most(name, timed.ratio, RATIO, timed.explained("python"))
    for what, fields in FIELDS.items():
        written = bench.folder / f"{what}.eml"
        written.write_bytes(fields + message.read_bytes())
        timed = pairs(bench.classify(model.path, stdin=written), nothing, n_pairs)
        name = f"classify one message with {what}, of python -c pass"
        yield at_most(name, timed.ratio, RATIO, timed.explained("python"))
    timed = pairs(jobs[-1], jobs[0], n_pairs)
    name = "the same, largest model, of the smallest's time"
    yield at_most(name, timed.ratio, GROWTH, timed.explained("smallest model"))


def middling() -> Path:
    """Return the mail of median size."""
    paths = [path for _, path in spamassassin().paths]
    paths.sort(key=lambda path: path.stat().st_size)
    return paths[len(paths) // 2]


if __name__ == "__main__":
    main(figures)
