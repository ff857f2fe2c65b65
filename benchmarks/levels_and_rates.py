"""
What `kary` and `poisson` have of their own, swept: K levels, and a rate of b documents.

    python -m benchmarks.levels_and_rates [CORPUS ...]
    python -m benchmarks.levels_and_rates few     # rates, by a few short messages

Read are training parts alone. A corpus is counted once, and each of its documents is
scored as if it alone had not been counted (leave-one-out), by each value and smoothing.
`docs/experiments/013-levels-and-rates.md` says what came of it.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nbtext import Document, SettingsOverrides, classify_all, load, train_on
from nbtext.scoring.batch_model import BatchModel, open_batch_model
from nbtext.scoring.model import load_model
from nbtext.scoring.models.registry import event_model, scoring_of
from nbtext.settings.scoring import Scoring
from nbtext.tokens import read_keys, read_terms
from tests.corpus.splits import (
    enron1_halves,
    few_of_each,
    newsgroups_of,
    of_table,
    sms,
    spamassassin,
)
from tests.corpus.test_accuracy import evaluation_of

SMOOTHINGS: Final = (0.001, 0.01, 0.1)
VALUES: Final = {
    "kary": ("levels", (2.0, 3.0, 4.0, 5.0, 7.0, 10.0)),
    "poisson": ("rate", (0.01, 0.1, 1.0, 10.0, 100.0)),
}
"""By event model, its parameter and the values that are tried."""

CORPORA: Final[dict[str, Callable[[], Sequence[Document]]]] = {
    "sms": sms,
    "trec-questions": lambda: of_table("trec-questions")[0],
    "rt-polarity": lambda: of_table("rt-polarity")[0],
    "r8": lambda: of_table("r8")[0],
    "enron1": lambda: enron1_halves()[0],
    "spamassassin": spamassassin,
    "20news": lambda: newsgroups_of("train"),
}

RATES: Final = (1.0, 3.0, 10.0, 20.0, 100.0)
FEW: Final = ((10, 10), (100, 5), (5, 100), (100, 20), (500, 20))
"""The rates that are tried with a few messages, and how many of each class."""

DRAWS: Final = 6

PART: Final = 500
"""How many documents are scored at a time."""


def main(names: Sequence[str]) -> None:
    """Print a table for each corpus."""
    if "few" in names:
        print("| ham, spam |", " | ".join(f"rate {value:g}" for value in RATES), "|")
        print("|---" * (len(RATES) + 1) + "|", flush=True)
        for ham, spam in FEW:
            print(f"| {ham}, {spam} |", " | ".join(by_rate(ham, spam)), "|", flush=True)
        return
    for name in names or CORPORA:
        documents = CORPORA[name]()
        for score, (parameter, values) in VALUES.items():
            print(f"\n{name}, {score}: accuracy in %, log-loss in nats\n")
            columns = (f"{parameter} {value:g}" for value in values)
            print(f"| a | {' | '.join(columns)} |")
            print("|---" * (len(values) + 1) + "|", flush=True)
            for line in swept(documents, score, parameter, values):
                print(line, flush=True)


def by_rate(ham: int, spam: int) -> Iterator[str]:
    """Train on a few short messages, and yield the figures of others for each rate."""
    draws = [few_of_each(sms(), {"ham": ham, "spam": spam}, k) for k in range(DRAWS)]
    poisson = SettingsOverrides(score="poisson")
    with tempfile.TemporaryDirectory() as folder:
        for number, (known, _) in enumerate(draws):
            pairs = [(one.label or "", one) for one in known]
            train_on(pairs, Path(folder) / f"{number}.nbt", overrides=poisson)
        for rate in RATES:
            overrides = poisson._replace(parameters=(("rate", rate),))
            decisions = [
                decision
                for number, (_, unseen) in enumerate(draws)
                for decision in classify_all(
                    load(Path(folder) / f"{number}.nbt", overrides=overrides), unseen
                )
            ]
            found = evaluation_of(decisions)
            accuracy = 100 * (found.accuracy or 0.0)
            yield f"{accuracy:.1f} / {100 * found.macro.f1:.1f} / {found.log_loss:.2f}"


def swept(
    documents: Sequence[Document],
    score: str,
    parameter: str,
    values: Sequence[float],
) -> Iterator[str]:
    """Count documents, and yield a line for each smoothing: a cell a value."""
    scorings = [
        scoring_of(score)._replace(smoothing=a).with_parameters(**{parameter: value})
        for a in SMOOTHINGS
        for value in values
    ]
    largest = {parameter: max(values)} if parameter == "levels" else {}
    overrides = SettingsOverrides(
        score=score, parameters=tuple(largest.items()), ledger=False
    )
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.nbt")
        train_on(
            [(one.label or "", one) for one in documents], path, overrides=overrides
        )
        found = left_out(open_batch_model(load_model(path)), scorings, documents)
    for start, a in zip(range(0, len(found), len(values)), SMOOTHINGS, strict=True):
        cells = (
            f"{100 * is_right.mean():.2f} / {losses.mean():.3f}"
            for losses, is_right in found[start : start + len(values)]
        )
        yield f"| {a:g} | {' | '.join(cells)} |"


def left_out(
    model: BatchModel, scorings: Sequence[Scoring], documents: Sequence[Document]
) -> list[tuple[NDArray[np.float64], NDArray[np.bool_]]]:
    """Return by each scoring the documents' losses, in nats, and which are right."""
    event = event_model(model.scoring.score)
    parts: list[list[NDArray[np.float64]]] = [[] for _ in scorings]
    truth = np.array([model.classes.index(one.label or "") for one in documents])
    for start in range(0, len(documents), PART):
        part = documents[start : start + PART]
        readings = [read_keys(one, model.settings) for one in part]
        views = read_terms(model.settings, [reading.views for reading in readings])
        labels = truth[start : start + PART]
        scores = event.many_by(model, scorings, model.find(views), labels)
        for of_scoring, values in zip(parts, scores, strict=True):
            whole = np.logaddexp.reduce(values, axis=1, keepdims=True)
            of_scoring.append(values - whole)
    posteriors = map(np.concatenate, parts)
    return [
        (-one[np.arange(len(truth)), truth], one.argmax(axis=1) == truth)
        for one in posteriors
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
