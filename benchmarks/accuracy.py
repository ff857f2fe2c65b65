"""
How right nbtext, bogofilter and scikit-learn are, on the very same splits.

The splits and the floors are those of tests/corpus/test_accuracy.py. All three are
measured by `nbtext.evaluation.evaluate`. What it takes for a posterior is bogofilter's
spamicity, MultinomialNB's posterior and the sigmoid or softmax of LinearSVC's margin,
which ranks but is no probability; there the calibration error is left out.
"""

import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from benchmarks.bench import Bench
from benchmarks.command import main
from benchmarks.figures import Accuracy, Skipped
from benchmarks.harness import ENVIRONMENT
from benchmarks.mail import corpus
from benchmarks.peers import BOGOFILTER_DONE, bogofilter, scikit_learn_python

if TYPE_CHECKING:  # numpy would make this process larger than those it measures
    import numpy as np
    from numpy.typing import NDArray

    from nbtext.document import Document
    from nbtext.evaluation.evaluation import Evaluation
    from tests.corpus.test_accuracy import Split

UNSURE: Final = -1


@dataclass(frozen=True, slots=True)
class Predicted:
    """
    What a classifier says of documents it has not seen.

    Attributes:
        log_posterior: shape (n_documents, n_classes), in nats, classes sorted.
        decided: shape (n_documents,), places among the classes; -1 for unsure.
    """

    log_posterior: "NDArray[np.float64]"
    decided: "NDArray[np.int64]"


Classifier: TypeAlias = "Callable[[Split], Predicted]"
"""Learns a split's first part and classifies its second."""


@dataclass(frozen=True, slots=True)
class Floors:
    """What nbtext has to reach on a corpus, in percent; None where nothing is asked."""

    one_minus_auc: float | None = None
    lam: float | None = None
    accuracy: float | None = None
    macro_f1: float | None = None
    calibration_error: float | None = None

    def __str__(self) -> str:
        bounds = (
            ("1-AUC ≤ {:g}", self.one_minus_auc),
            ("lam ≤ {:g}", self.lam),
            ("accuracy ≥ {:g}", self.accuracy),
            ("macro-F1 ≥ {:g}", self.macro_f1),
            ("calibration error ≤ {:g}", self.calibration_error),
        )
        return ", ".join(text.format(bound) for text, bound in bounds if bound)

    def are_met(self, found: Accuracy) -> bool:
        """Return whether every measure that a floor is set for keeps to it."""
        upper = (
            (found.one_minus_auc, self.one_minus_auc),
            (found.lam, self.lam),
            (found.calibration_error, self.calibration_error),
        )
        lower = ((found.accuracy, self.accuracy), (found.macro_f1, self.macro_f1))
        return all(
            bound is None or (value is not None and value <= bound)
            for value, bound in upper
        ) and all(
            bound is None or (value is not None and value >= bound)
            for value, bound in lower
        )


@dataclass(frozen=True, slots=True)
class Contest:
    """
    A corpus to compare classifiers on.

    Attributes:
        name: the corpus and its split, as the table calls them.
        folder: where the corpus is.
        splits: makes the splits.
        floors: what nbtext has to reach.
        peers: what nbtext is compared with.
    """

    name: str
    folder: str
    splits: "Callable[[], Iterable[Split]]"
    floors: Floors
    peers: tuple[Classifier, ...]


def contests() -> Iterator[Contest]:
    """Yield the corpora of the tests, those of mail first."""
    from tests.corpus import test_accuracy as tests

    all_peers = (bogofilter_verdicts, bogofilter_at_half, *SCIKIT_LEARN)
    yield Contest(
        "SpamAssassin, 5 folds",
        "spamassassin",
        tests.spamassassin_folds,
        Floors(one_minus_auc=0.012, lam=0.45, accuracy=99.5, calibration_error=0.4),
        all_peers,
    )
    yield Contest(
        "enron1, first half trains",
        "enron",
        lambda: [tests.enron1_halves()],
        Floors(accuracy=96.3),
        all_peers,
    )
    yield Contest(
        "SMS, 5 folds", "sms", tests.sms_folds, Floors(macro_f1=96.5), SCIKIT_LEARN
    )
    yield Contest(
        "20news, as it is",
        "20news",
        lambda: [tests.newsgroups()],
        Floors(macro_f1=84.0),
        SCIKIT_LEARN,
    )
    yield Contest(
        "20news, stripped",
        "20news",
        lambda: [tests.newsgroups_stripped()],
        Floors(macro_f1=70.0),
        SCIKIT_LEARN,
    )


def figures(_bench: Bench) -> Iterator[Accuracy]:
    """Measure nbtext and its peers on every corpus."""
    for contest in contests():
        corpus(contest.folder)
        splits = list(contest.splits())
        for classifier in (nbtext_defaults, *contest.peers):
            yield measured(contest, splits, classifier)


def measured(
    contest: Contest, splits: "Sequence[Split]", classifier: Classifier
) -> Accuracy:
    """Measure a classifier on the pooled predictions of all splits, in percent."""
    try:
        result = pooled(splits, [classifier(split) for split in splits])
    except Skipped as why:
        return Accuracy(contest.name, f"{TITLES[classifier]} (skipped: {why})")
    two = result.two_class
    has_probabilities = classifier is not linear_svc
    found = Accuracy(
        corpus=contest.name,
        classifier=TITLES[classifier],
        one_minus_auc=two.one_minus_auc_percent if two else None,
        lam=two.lam_percent if two else None,
        accuracy=percent(result.accuracy),
        macro_f1=percent(result.macro.f1),
        calibration_error=percent(result.calibration_error)
        if has_probabilities
        else None,
    )
    if classifier is not nbtext_defaults:
        return found
    floors = contest.floors
    return replace(found, floor=str(floors), is_met=floors.are_met(found))


def pooled(splits: "Sequence[Split]", predictions: Sequence[Predicted]) -> "Evaluation":
    """Put the predictions of all splits together, and measure them."""
    import numpy as np

    from nbtext.evaluation.evaluation import evaluate

    classes = classes_of(splits[0])
    truth = [classes.index(one.label or "") for _, test in splits for one in test]
    return evaluate(
        np.array(truth),
        np.concatenate([one.log_posterior for one in predictions]),
        np.concatenate([one.decided for one in predictions]),
        classes,
    )


def classes_of(split: "Split") -> tuple[str, ...]:
    """Return the labels of the documents that train, sorted."""
    return tuple(sorted({one.label or "" for one in split[0]}))


def percent(share: float | None) -> float | None:
    """Return a share in percent."""
    return None if share is None else 100 * share


def nbtext_defaults(split: "Split") -> Predicted:
    """Go through the library, as the tests do."""
    import numpy as np

    from tests.corpus.test_accuracy import decided

    with tempfile.TemporaryDirectory() as folder:
        decisions = decided([split], Path(folder))
    places = {name: place for place, name in enumerate(classes_of(split))}
    return Predicted(
        np.array([one.log_posterior for one in decisions]),
        np.array([places.get(one.label or "", UNSURE) for one in decisions]),
    )


def bogofilter_verdicts(split: "Split") -> Predicted:
    """Take spamicities, and bogofilter's own verdicts: spam, ham or unsure."""
    import numpy as np

    train, test = split
    with tempfile.TemporaryDirectory() as folder:
        for option, label in (("-n", "ham"), ("-s", "spam")):
            ask_bogofilter(folder, option, [one for one in train if one.label == label])
        verdicts = ask_bogofilter(folder, "-T", test)  # lines of: name verdict score
        scores = ask_bogofilter(folder, "-TT", test)  # name score, to 16 places
    place_of = {"H": 0, "S": 1, "U": UNSURE}
    spamicity = np.array([float(line.split()[-1]) for line in scores])
    spamicity = np.clip(spamicity, 1e-16, 1 - 1e-16)
    return Predicted(
        np.stack([np.log1p(-spamicity), np.log(spamicity)], axis=1),
        np.array([place_of[line.split()[-2]] for line in verdicts]),
    )


def bogofilter_at_half(split: "Split") -> Predicted:
    """Call spam what has a spamicity above one half, and all else ham."""
    predicted = bogofilter_verdicts(split)
    return Predicted(predicted.log_posterior, predicted.log_posterior.argmax(axis=1))


def ask_bogofilter(
    folder: str, option: str, documents: "Sequence[Document]"
) -> list[str]:
    """Hand documents to bogofilter by their paths, and return what it prints."""
    said = subprocess.run(
        [bogofilter(), "-d", folder, option, "-b"],
        input="".join(f"{one.name}\n" for one in documents),
        stdout=subprocess.PIPE,
        env=ENVIRONMENT,
        check=False,
        text=True,
    )
    if said.returncode not in BOGOFILTER_DONE:
        said.check_returncode()
    return said.stdout.splitlines()


def multinomial_nb(split: "Split") -> Predicted:
    """Count words, and let scikit-learn's multinomial naive Bayes decide."""
    scikit_learn_python()
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    train, test = split
    counts = CountVectorizer(encoding="latin-1")
    model = MultinomialNB(alpha=1.0)
    model.fit(counts.fit_transform(texts(train)), labels(train))
    log_posterior = model.predict_log_proba(counts.transform(texts(test)))
    return Predicted(log_posterior, log_posterior.argmax(axis=1))


def linear_svc(split: "Split") -> Predicted:
    """Weigh words by TF-IDF, and let a linear support vector machine decide."""
    scikit_learn_python()
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    train, test = split
    weights = TfidfVectorizer(encoding="latin-1")
    model = LinearSVC(random_state=0)
    model.fit(weights.fit_transform(texts(train)), labels(train))
    margins = model.decision_function(weights.transform(texts(test)))
    if margins.ndim == 1:
        margins = np.stack([-margins, margins], axis=1) / 2
    whole = np.logaddexp.reduce(margins, axis=1, keepdims=True)
    return Predicted(margins - whole, margins.argmax(axis=1))


def texts(documents: "Sequence[Document]") -> list[bytes]:
    """Return the bytes of documents."""
    return [one.texts[0] for one in documents]


def labels(documents: "Sequence[Document]") -> list[str]:
    """Return the labels of documents."""
    return [one.label or "" for one in documents]


SCIKIT_LEARN: Final[tuple[Classifier, ...]] = (multinomial_nb, linear_svc)

TITLES: Final[dict[Classifier, str]] = {
    nbtext_defaults: "nbtext",
    bogofilter_verdicts: "bogofilter, its own verdicts",
    bogofilter_at_half: "bogofilter, cut at .5",
    multinomial_nb: "scikit-learn, words, MultinomialNB(1)",
    linear_svc: "scikit-learn, TF-IDF words, LinearSVC",
}


if __name__ == "__main__":
    main(figures)
