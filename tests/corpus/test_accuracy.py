"""
How good the defaults are on public corpora: floors, not records.

`tests/corpus/splits.py` has the splits and the floors; docs/benchmarks.md has today's
figures beside those of other classifiers. Nothing here is random but the splits of the
first messages and of the law of calibration, and their seeds are fixed.

`pytest -m corpus -rP tests/corpus/test_accuracy.py` prints the figures.
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from math import log, sqrt
from pathlib import Path

import numpy as np
import pytest

from nbtext.document import Document
from nbtext.evaluation.evaluation import NO_CLASS, Evaluation, evaluate
from nbtext.learning import train
from nbtext.learning.training import MAX_BYTES
from nbtext.scoring.classifier import Classifier
from nbtext.scoring.classifying import classify
from nbtext.scoring.decide import Decision
from nbtext.scoring.model import load_model
from nbtext.store.writing import replace_file
from tests.corpus.splits import (
    CONTESTS,
    CORPORA,
    Contest,
    Split,
    few_of_each,
    random_fifths,
    sms,
    spamassassin,
)

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPORA.is_dir(), reason="../shared/corpora is absent"),
]


@pytest.mark.parametrize("contest", CONTESTS, ids=lambda one: str(one.name))
def test_no_measure_falls_below_its_floor(contest: Contest, tmp_path: Path) -> None:
    result = measured(contest.splits(), tmp_path)

    assert contest.floors.unmet_by(result) == []


CERTAIN = 0.99

FEW = {
    2: (0.605, 0.0033),
    5: (0.385, 0.0011),
    10: (0.286, 0.00055),
    20: (0.22, 0.00055),
}
"""Mails of each class: the most log-loss, and the most ham CERTAIN to be spam."""


@pytest.mark.parametrize("n", FEW)
def test_a_few_messages_are_no_reason_to_be_certain(n: int, tmp_path: Path) -> None:
    splits = [
        few_of_each(spamassassin(), {"ham": n, "spam": n}, seed) for seed in range(10)
    ]
    most_loss, most_certain = FEW[n]

    loss, certain = loss_and_false_certainty(decided(splits, tmp_path))
    show(f"log-loss {loss:.3f}, ham called spam at .99 and above {100 * certain:.2f} %")

    assert loss <= most_loss
    assert certain <= most_certain


def test_nor_are_few_of_one_class(tmp_path: Path) -> None:
    splits = [
        few_of_each(spamassassin(), {"ham": 19, "spam": 950}, seed)
        for seed in range(20)
    ]

    loss, certain = loss_and_false_certainty(decided(splits, tmp_path))
    show(f"log-loss {loss:.3f}, ham called spam at .99 and above {100 * certain:.2f} %")

    assert loss <= 0.88
    assert certain == 0


@pytest.mark.parametrize("corpus", ["spamassassin", "sms"])
def test_nine_in_ten_are_right_where_nine_in_ten_is_printed(
    corpus: str, tmp_path: Path
) -> None:
    """
    The law of calibration, on twelve random fifths of a corpus.

    Looked at are the documents with a label whose printed probability is from 0.85 to
    0.95. Were each right with the probability p that is printed, the number of right
    ones would be a sum of Bernoulli trials: its mean is the sum of p, its variance that
    of p (1 - p). A document that stands in m of the fifths is right or wrong in all of
    them alike, at worst, and adds m^2 p (1 - p). Three standard deviations either way
    are allowed; with fewer than 30 different documents they would allow too much.
    """
    documents = {"spamassassin": spamassassin, "sms": sms}[corpus]()
    decisions = decided(random_fifths(documents, seeds=range(12)), tmp_path)
    of_document: dict[str, list[Decision]] = defaultdict(list)
    for one in decisions:
        if one.label is not None and 0.85 <= one.probability <= 0.95:
            of_document[one.name].append(one)
    if len(of_document) < 30:
        pytest.skip(f"only {len(of_document)} documents have such a probability")
    printed = [one for ones in of_document.values() for one in ones]

    right = sum(one.label == one.expected for one in printed)
    expected = sum(one.probability for one in printed)
    mean = expected / len(printed)
    alike = sum(len(ones) ** 2 for ones in of_document.values())
    deviation = sqrt(alike * mean * (1 - mean))
    show(f"{right} of {len(printed)} right, expected {expected:.1f} ± {deviation:.1f}")

    assert abs(right - expected) <= 3 * deviation


def decided(splits: Iterable[Split], folder: Path) -> list[Decision]:
    """Train on each split's first part, classify its second, and pool the decisions."""
    path = str(folder / "model.nbt")
    decisions: list[Decision] = []
    for known, unseen in splits:
        replace_file(path, train(sources_of(known)).contents.pack())
        batches = classify(
            unseen,
            Classifier(load_model(path)),
            max_bytes=MAX_BYTES,
            on_problem=lambda one: pytest.fail(str(one)),
        )
        decisions += [one for batch in batches for one in batch]
    return decisions


def sources_of(documents: Sequence[Document]) -> Callable[[], Sequence[Document]]:
    """Return what gives the documents from the beginning each time it is called."""
    return lambda: documents


def measured(splits: Iterable[Split], folder: Path) -> Evaluation:
    """Measure the pooled decisions of all splits, and print the figures."""
    decisions = decided(splits, folder)
    result = evaluation_of(decisions)
    show(f"{result.correct} of {result.documents} right, {result.unsure} unsure")
    show(f"accuracy {100 * (result.accuracy or 0):.2f} %")
    show(f"macro-F1 {100 * result.macro.f1:.2f} %")
    show(f"expected calibration error {100 * (result.calibration_error or 0):.2f} %")
    if result.two_class is not None:
        two = result.two_class
        show(f"1-AUC {two.one_minus_auc_percent:.4f} %, lam {two.lam_percent:.3f} %")
        for one in decisions:
            if one.label != one.expected:
                called = f"called {one.label} with {one.probability:.4f}"
                show(f"{Path(one.name).relative_to(CORPORA)} ({one.expected}) {called}")
    return result


def show(line: str) -> None:
    """Print a line where pytest captures it."""
    sys.stdout.write(f"{line}\n")


def evaluation_of(decisions: Sequence[Decision]) -> Evaluation:
    """Compare decisions with the labels that their documents carry."""
    classes = decisions[0].classes
    places = {name: place for place, name in enumerate(classes)}
    return evaluate(
        np.array([places[one.expected or ""] for one in decisions]),
        np.array([one.log_posterior for one in decisions]),
        np.array([places.get(one.label or "", NO_CLASS) for one in decisions]),
        classes,
    )


def loss_and_false_certainty(decisions: Sequence[Decision]) -> tuple[float, float]:
    """Return the log-loss of what is printed, and the share of ham at .99 and above."""
    losses = [-log(one.posterior[one.expected or ""]) for one in decisions]
    spam_of_ham = [
        one.posterior["spam"] >= CERTAIN for one in decisions if one.expected == "ham"
    ]
    return float(np.mean(losses)), float(np.mean(spam_of_ham))
