"""
Classifiers: nbtext and its peers, each trained on one part of a split and asked about
the other.

What is taken for a posterior is bogofilter's spamicity, the probability of
SpamAssassin's Bayes, what scikit-learn and fastText predict, and the sigmoid or softmax
of LinearSVC's margin, which ranks but is no probability.
"""

import random
import re
import subprocess
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from benchmarks.harness import ENVIRONMENT
from benchmarks.peers import (
    BOGOFILTER_DONE,
    fasttext_module,
    program,
    scikit_learn_python,
    spamassassin_perl,
)

if TYPE_CHECKING:  # numpy would make this process larger than those it measures
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from nbtext import Decision
    from nbtext.document import Document
    from tests.corpus.splits import Split

BAYES: Final = Path(__file__).with_name("spamassassin_bayes.pl")
LEAST_LOG: Final = -23.0
"""The log probability of a class of which fastText says nothing."""

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


def classes_of(split: "Split") -> tuple[str, ...]:
    """Return the labels of the documents that train, sorted."""
    return tuple(sorted({one.label or "" for one in split[0]}))


def nbtext_defaults(split: "Split") -> Predicted:
    """Go through the library, as the tests do."""
    from tests.corpus.test_accuracy import decided

    with tempfile.TemporaryDirectory() as folder:
        return predicted(split, decided([split], Path(folder)))


def predicted(split: "Split", decisions: "Sequence[Decision]") -> Predicted:
    """Return what nbtext has decided about a split's second part."""
    import numpy as np

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
        [program("bogofilter"), "-d", folder, option, "-b"],
        input="".join(f"{one.name}\n" for one in documents),
        stdout=subprocess.PIPE,
        env=ENVIRONMENT,
        check=False,
        text=True,
    )
    if said.returncode not in BOGOFILTER_DONE:
        said.check_returncode()
    return said.stdout.splitlines()


def naive_bayes(name: str, split: "Split", **options: Any) -> Predicted:
    """Let a naive Bayes of scikit-learn decide by the words of documents."""
    scikit_learn_python()
    from sklearn import naive_bayes
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    weigh = TfidfVectorizer if options.pop("tfidf", False) else CountVectorizer
    words = weigh(encoding="latin-1", binary=options.pop("binary", False))
    return of_scikit_learn(split, words, getattr(naive_bayes, name)(**options))


def logistic_regression(split: "Split") -> Predicted:
    """Weigh words and pairs by TF-IDF, and let a logistic regression decide."""
    scikit_learn_python()
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    pairs = TfidfVectorizer(encoding="latin-1", ngram_range=(1, 2))
    return of_scikit_learn(split, pairs, LogisticRegression(max_iter=1000))


def of_scikit_learn(split: "Split", vectorizer: Any, model: Any) -> Predicted:
    """Fit a vectorizer and a model to the first part, and predict the second."""
    train, test = split
    model.fit(vectorizer.fit_transform(texts(train)), labels(train))
    log_posterior = model.predict_log_proba(vectorizer.transform(texts(test)))
    return Predicted(log_posterior, log_posterior.argmax(axis=1))


def linear_svc(split: "Split") -> Predicted:
    """Weigh words and pairs by TF-IDF, and let a support vector machine decide."""
    scikit_learn_python()
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    train, test = split
    weights = TfidfVectorizer(encoding="latin-1", ngram_range=(1, 2))
    model = LinearSVC(random_state=0)
    model.fit(weights.fit_transform(texts(train)), labels(train))
    margins = model.decision_function(weights.transform(texts(test)))
    if margins.ndim == 1:
        margins = np.stack([-margins, margins], axis=1) / 2
    whole = np.logaddexp.reduce(margins, axis=1, keepdims=True)
    return Predicted(margins - whole, margins.argmax(axis=1))


def fast_text(split: "Split") -> Predicted:
    """Let fastText learn words and pairs, with the settings of its tutorial."""
    fasttext = fasttext_module()
    import numpy as np

    train, test = split
    classes = classes_of(split)
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        # in no order of the classes, as it learns line by line
        for one in random.Random(0).sample(train, len(train)):  # noqa: S311  no secret
            place = classes.index(one.label or "")
            file.write(f"__label__{place} {line_of(one)}\n")
        file.flush()
        model = fasttext.train_supervised(
            input=file.name, lr=1.0, epoch=25, wordNgrams=2, thread=1, verbose=0
        )
    log_posterior = np.full((len(test), len(classes)), LEAST_LOG)
    for row, one in enumerate(test):
        # its own predict() wants numpy 1
        found = model.f.predict(line_of(one), len(classes), 0.0, "strict")
        for probability, label in found:
            place = int(label.removeprefix("__label__"))
            log_posterior[row, place] = np.log(max(probability, 1e-10))
    whole = np.logaddexp.reduce(log_posterior, axis=1, keepdims=True)
    return Predicted(log_posterior - whole, log_posterior.argmax(axis=1))


def line_of(document: "Document") -> str:
    """Return a text as fastText's tutorial prepares it: lower case, marks apart."""
    text = document.texts[0].decode("latin-1").lower()
    return " ".join(re.sub(r"([.!?,'/()])", r" \1 ", text).split())


def spamassassin_bayes(split: "Split") -> Predicted:
    """Take the probabilities of SpamAssassin's Bayes alone, without its rules."""
    import numpy as np

    train, test = split
    lines = ["start", *(f"{one.label}\t{one.name}" for one in train), "done"]
    lines += [f"test\t{one.name}" for one in test]
    with tempfile.TemporaryDirectory() as folder:
        said = subprocess.run(
            [spamassassin_perl(), "-T", str(BAYES), folder],
            input="".join(f"{line}\n" for line in lines),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # that it has no rules
            env=ENVIRONMENT,
            check=True,
            text=True,
        )
    found = said.stdout.split()
    spamicity = np.array([0.5 if one == "-" else float(one) for one in found])
    spamicity = np.clip(spamicity, 1e-16, 1 - 1e-16)
    log_posterior = np.stack([np.log1p(-spamicity), np.log(spamicity)], axis=1)
    return Predicted(log_posterior, log_posterior.argmax(axis=1))


def texts(documents: "Sequence[Document]") -> list[bytes]:
    """Return the bytes of documents."""
    return [one.texts[0] for one in documents]


def labels(documents: "Sequence[Document]") -> list[str]:
    """Return the labels of documents."""
    return [one.label or "" for one in documents]


multinomial_nb: Classifier = partial(naive_bayes, "MultinomialNB")
complement_nb: Classifier = partial(naive_bayes, "ComplementNB")

SCIKIT_LEARN: Final[tuple[Classifier, ...]] = (
    multinomial_nb,
    complement_nb,
    logistic_regression,
    linear_svc,
)

OF_MAIL: Final[tuple[Classifier, ...]] = (
    bogofilter_verdicts,
    bogofilter_at_half,
    spamassassin_bayes,
)
"""Those that read a file of mail, or of text, of two classes."""

TITLES: Final[dict[Classifier, str]] = {
    nbtext_defaults: "nbtext",
    bogofilter_verdicts: "bogofilter, its own verdicts",
    bogofilter_at_half: "bogofilter, cut at .5",
    spamassassin_bayes: "SpamAssassin's Bayes, cut at .5",
    multinomial_nb: "scikit-learn, words, MultinomialNB(1)",
    complement_nb: "scikit-learn, words, ComplementNB(1)",
    logistic_regression: "scikit-learn, TF-IDF of words and pairs, LogisticRegression",
    linear_svc: "scikit-learn, TF-IDF of words and pairs, LinearSVC",
    fast_text: "fastText, words and pairs",
}
