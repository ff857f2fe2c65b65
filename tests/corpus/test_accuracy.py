"""
How good the defaults are on public corpora: floors, not records.

Each split is fixed, and made without looking at a document:

* SpamAssassin, 6,047 mails. ham is easy_ham, easy_ham_2 and hard_ham; spam is spam and
  spam_2. Within each class the paths are sorted, and a mail's index modulo 5 is its
  fold. Each fold is scored by a model of the other four; the scores are pooled.
* SMS Spam Collection, 5,574 messages: the line number modulo 5 is the fold, pooled.
* enron1, 5,172 mails as plain text, in the order of the number that begins the file's
  name: the first half trains, the second is scored. (That is the corpus's order, not
  the date's: no ham is as young as the oldest spam.)
* 20 newsgroups, "bydate", 11,314 posts to train and 7,532 later ones to score; as they
  are, and stripped of headers, footers and quotes by scikit-learn's own functions.

The floors leave room below what was measured when they were set (docs/benchmarks.md has
today's figures beside those of bogofilter and scikit-learn). Nothing here is random but
the splits of the law of calibration, and their seeds are fixed.

`pytest -m corpus -rP tests/corpus/test_accuracy.py` prints the figures.
"""

import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from math import sqrt
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

from nbtext.document import Document
from nbtext.evaluation.binary_metrics import TwoClass
from nbtext.evaluation.evaluation import NO_CLASS, Evaluation, evaluate
from nbtext.learning import train
from nbtext.learning.training import MAX_BYTES
from nbtext.scoring.classifying import Classifier, classify
from nbtext.scoring.decide import Decision
from nbtext.scoring.model import load_model
from nbtext.store.writing import replace_file

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"

Split: TypeAlias = tuple[Sequence[Document], Sequence[Document]]
"""The documents that train, and those that are scored."""

SPAMASSASSIN = {
    "ham": ("easy_ham", "easy_ham_2", "hard_ham"),
    "spam": ("spam", "spam_2"),
}

N_FOLDS = 5

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPORA.is_dir(), reason="../shared/corpora is absent"),
]


def test_spamassassin(tmp_path: Path) -> None:
    result = measured(spamassassin_folds(), tmp_path)
    two = two_class_of(result)

    assert two.one_minus_auc_percent is not None
    assert two.one_minus_auc_percent <= 0.012
    assert two.lam_percent is not None
    assert two.lam_percent <= 0.45
    assert result.accuracy is not None
    assert result.accuracy >= 0.995
    assert result.calibration_error is not None
    assert result.calibration_error <= 0.004


def test_sms(tmp_path: Path) -> None:
    result = measured(sms_folds(), tmp_path)

    assert result.macro.f1 >= 0.965


def test_enron1(tmp_path: Path) -> None:
    result = measured([enron1_halves()], tmp_path)

    assert result.accuracy is not None
    assert result.accuracy >= 0.963


def test_20news_as_it_is(tmp_path: Path) -> None:
    result = measured([newsgroups()], tmp_path)

    assert result.macro.f1 >= 0.840


def test_20news_stripped(tmp_path: Path) -> None:
    result = measured([newsgroups_stripped()], tmp_path)

    assert result.macro.f1 >= 0.700


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


@cache
def spamassassin() -> tuple[Document, ...]:
    """Read the mails, ham before spam, the paths of a class sorted."""
    return tuple(
        document(path, label)
        for label, folders in SPAMASSASSIN.items()
        for path in sorted(
            path
            for folder in folders
            for path in (CORPORA / "spamassassin" / folder).iterdir()
        )
    )


@cache
def sms() -> tuple[Document, ...]:
    """Read the messages, in the order of the file's lines."""
    path = CORPORA / "sms" / "SMSSpamCollection"
    lines = path.read_bytes().splitlines()
    return tuple(
        Document(f"{path}:{number}", (text,), label.decode())
        for number, line in enumerate(lines)
        for label, _, text in [line.partition(b"\t")]
    )


def spamassassin_folds() -> Iterator[Split]:
    """Deal the mails of each class out to the folds, one by one."""
    mails = spamassassin()
    by_class = [[one for one in mails if one.label == name] for name in SPAMASSASSIN]
    fold_of = {
        one.name: index % N_FOLDS for ones in by_class for index, one in enumerate(ones)
    }
    return folds(mails, [fold_of[one.name] for one in mails])


def sms_folds() -> Iterator[Split]:
    """Deal the messages out to the folds, one by one."""
    messages = sms()
    return folds(messages, [number % N_FOLDS for number in range(len(messages))])


def enron1_halves() -> Split:
    """Cut the mails, in the order of their numbers, in the middle."""
    paths = sorted(
        (CORPORA / "enron" / "enron1").glob("*/*.txt"),
        key=lambda path: int(path.name.partition(".")[0]),
    )
    mails = [document(path, path.parent.name) for path in paths]
    middle = len(mails) // 2
    return mails[:middle], mails[middle:]


def newsgroups() -> Split:
    """Read the earlier posts, and the later ones."""
    return newsgroups_of("train"), newsgroups_of("test")


def newsgroups_of(part: str) -> list[Document]:
    """Read the posts of one part, group by group."""
    paths = sorted((CORPORA / "20news" / part).glob("*/*"))
    return [document(path, path.parent.name) for path in paths]


def newsgroups_stripped() -> Split:
    """Read the same, without headers, footers and quotes."""
    earlier, later = newsgroups()
    return [*map(stripped, earlier)], [*map(stripped, later)]


def stripped(post: Document) -> Document:
    """Leave of a post what `fetch_20newsgroups(remove=...)` leaves of it."""
    from sklearn.datasets import _twenty_newsgroups as newsgroups

    text = post.texts[0].decode("latin-1")  # as fetch_20newsgroups reads them
    text = newsgroups.strip_newsgroup_header(text)
    text = newsgroups.strip_newsgroup_footer(text)
    text = newsgroups.strip_newsgroup_quoting(text)
    return Document(post.name, (text.encode(),), post.label)


def folds(documents: Sequence[Document], fold_of: Sequence[int]) -> Iterator[Split]:
    """Yield, for each fold, the documents outside of it and those in it."""
    for fold in range(N_FOLDS):
        pairs = list(zip(documents, fold_of, strict=True))
        yield (
            [one for one, place in pairs if place != fold],
            [one for one, place in pairs if place == fold],
        )


def random_fifths(
    documents: Sequence[Document], seeds: Iterable[int]
) -> Iterator[Split]:
    """Hold a fifth of the documents out at random, once a seed."""
    for seed in seeds:
        shuffled = random.Random(seed).sample(documents, len(documents))  # noqa: S311
        fifth = len(shuffled) // 5
        yield shuffled[fifth:], shuffled[:fifth]


def document(path: Path, label: str) -> Document:
    """Read a file as a document."""
    return Document(str(path), (path.read_bytes(),), label)


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


def two_class_of(result: Evaluation) -> TwoClass:
    """Return the measures that only two classes have."""
    assert result.two_class is not None
    return result.two_class
