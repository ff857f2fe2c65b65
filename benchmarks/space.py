"""Memory while training with one job, and the size of the model file."""

from collections.abc import Iterator
from typing import Final

from benchmarks.bench import Bench, Trained, trained
from benchmarks.command import main
from benchmarks.figures import Figure, at_most, megabytes
from benchmarks.mail import corpus, generated, spamassassin

BASE: Final = 100_000_000
A_TERM: Final = 120
A_DOCUMENT: Final = 40
"""Bytes of memory that training may take."""

FILE_A_TERM: Final = 20
"""Bytes of the model file that a term may take."""


def figures(bench: Bench) -> Iterator[Figure]:
    """Measure mail, ten times as much mail, and text of twenty classes."""
    mails = [spamassassin(), generated(bench, 10)]
    models = [(mail.name, trained(bench, mail.name, *mail.labelled)) for mail in mails]
    news = str(corpus("20news") / "train")
    models.append(("20news", trained(bench, "20news", news)))
    for name, model in models:
        yield memory(name, model)
    for name, model in models:
        size = model.path.stat().st_size
        details = f"{megabytes(size)}, {model.terms:,} terms"
        a_term = size / model.terms
        yield at_most(f"model, {name}, bytes a term", a_term, FILE_A_TERM, details)


def memory(name: str, model: Trained) -> Figure:
    """Compare the peak with what the terms and documents allow."""
    bound = BASE + A_TERM * model.terms + A_DOCUMENT * model.documents
    return Figure(
        f"train, {name}, --jobs 1, peak memory",
        megabytes(model.run.peak),
        f"≤ {megabytes(bound)}",
        model.run.peak <= bound,
        f"{model.terms:,} terms, {model.documents:,} documents",
    )


if __name__ == "__main__":
    main(figures)
