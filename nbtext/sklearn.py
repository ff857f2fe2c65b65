"""
A scikit-learn classifier of texts: `NBTextClassifier`.

    from nbtext.sklearn import NBTextClassifier

    model = NBTextClassifier().fit(texts, labels)
    model.predict(["how bout this one ."])

It takes raw texts or messages, no vectors, and goes wherever scikit-learn takes a
classifier: pipelines, `GridSearchCV`, `cross_val_score`. The extra `nbtext[sklearn]`
installs what it needs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Set
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
except ModuleNotFoundError as error:
    message = "nbtext.sklearn needs scikit-learn; pip install 'nbtext[sklearn]'"
    raise ModuleNotFoundError(message, name=error.name) from error
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from nbtext.scoring import Classifier
    from nbtext.settings.scoring import Counting
    from nbtext.settings.views import Alphabet

    Texts: TypeAlias = Iterable[str | bytes]

from nbtext.api.classifying import classify_all, load
from nbtext.api.learning import learn_labelled
from nbtext.api.training import train_on
from nbtext.arguments import is_listing
from nbtext.document import (
    AnyDocument,
    Document,
    advice_on,
    as_document,
    is_missing,
)
from nbtext.errors import SettingsError
from nbtext.files.temporary import temporary_folder
from nbtext.learning import SettingsOverrides

FILE = "model.nbt"
TWO = 2
"""How many classes there are where one number tells a decision."""


class ParameterError(SettingsError, ValueError):
    """A parameter that is none, as scikit-learn's own are refused, and as nbtext's."""


class _Opened(NamedTuple):
    """A model in memory, and the bytes that it was opened from."""

    of: bytes
    classifier: Classifier


OPENED: Final[WeakKeyDictionary[NBTextClassifier, _Opened]] = WeakKeyDictionary()
"""The models of estimators, beside these: what they are must not change in use."""

LOCKS: Final[WeakKeyDictionary[NBTextClassifier, dict[int, Lock]]] = WeakKeyDictionary()
"""What a thread holds while an estimator learns further texts, by process: in a forked
one nobody is there to let go of what a thread held."""


class NBTextClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """
    Naive Bayes for texts and messages, which it takes as they are.

    The parameters are those of `SettingsOverrides`; None leaves the default.

    Parameters:
        event_model: what `score` names there, such as "sum" or "complement"; it is not
            called `score`, which is a method of all classifiers.
        smoothing: what is added to every count; 0.03 of `contrast`, its default, leaves
            the choice to training where a correction is made.
        alphabet: the tokens: "words", or words and punctuation "marks".
        pattern: a regular expression whose matches are the tokens.
        ngrams: 1 for single tokens alone, 2 for pairs of neighbours too.
        byte_ngrams: whether byte n-grams of text are counted where they do good.
        threes: whether runs of three characters are counted beside byte n-grams; None
            for where classes have few texts.
        counting: what a token that occurs n times counts: "occurrences", "once", ...
        calibrate: whether a textbook's score is calibrated, too.
        class_prior: what a textbook's score takes for P(class).
        correction: whether training may learn a correction beside the counts.

    Attributes:
        classes_: shape (n_classes,), the labels, sorted.
        model_: the bytes of a model file, which `nbtext` reads; its classes are called
            by their places in `classes_`. Empty until `partial_fit` has seen two
            classes.
    """

    classes_: NDArray[Any]
    model_: bytes

    def __init__(
        self,
        *,
        event_model: str | None = None,
        smoothing: float | None = None,
        alphabet: Alphabet | None = None,
        pattern: str | None = None,
        ngrams: int | None = None,
        byte_ngrams: bool = True,
        threes: bool | None = None,
        counting: Counting | None = None,
        calibrate: bool = False,
        class_prior: str | None = None,
        correction: bool = True,
    ) -> None:
        self.event_model = event_model
        self.smoothing = smoothing
        self.alphabet = alphabet
        self.pattern = pattern
        self.ngrams = ngrams
        self.byte_ngrams = byte_ngrams
        self.threes = threes
        self.counting = counting
        self.calibrate = calibrate
        self.class_prior = class_prior
        self.correction = correction

    def fit(self, X: Texts, y: Any) -> NBTextClassifier:
        """
        Make a model of texts; what fails leaves the one before as it is.

        Args:
            X: shape (n_documents,), texts or raw messages; what comes n times is
                counted n times.
            y: shape (n_documents,), their labels.

        Raises:
            ValueError: X are no texts, y has fewer than two classes, or a parameter
                is none (a `SettingsError` too).
            TrainingError: the texts have not one token.
        """
        texts, labels = _checked(X, y)
        classes, places = np.unique(labels, return_inverse=True)
        if len(classes) < TWO:
            [only] = classes.tolist()
            message = f"y has one class, {only!r}; a classifier needs two"
            raise ValueError(message)
        self._train(_pairs(places, texts), self._overrides())
        self.classes_, self._n_seen = classes, len(texts)
        self._waiting: list[tuple[str, AnyDocument]] = []
        return self

    def partial_fit(
        self, X: Texts, y: Any, classes: Collection[Any] | None = None
    ) -> NBTextClassifier:
        """
        Learn further texts. Texts that come again are counted again.

        A model that begins here has no correction, which is made of all texts together;
        one that `fit` has made keeps its own, and further texts teach it. A model keeps
        the parameters that it began with. Threads that share an estimator learn one
        after the other.

        Args:
            X: shape (n_documents,), texts or raw messages.
            y: shape (n_documents,), their labels.
            classes: all labels that there will be, in any order; the first call needs
                them.

        Raises:
            ValueError: X are no texts, classes no labels, or y has labels that were not
                among these.
        """
        texts, labels = _checked(X, y)
        with LOCKS.setdefault(self, {}).setdefault(os.getpid(), Lock()):
            self._learn_further(texts, labels, classes)
        return self

    def _learn_further(
        self,
        texts: list[str | bytes],
        labels: NDArray[Any],
        classes: Collection[Any] | None,
    ) -> None:
        known = getattr(self, "classes_", None)
        named = known if classes is None else _distinct(classes)
        if named is None:
            message = "the first call of partial_fit needs the argument classes"
            raise ValueError(message)
        if known is not None and not np.array_equal(named, known):
            message = f"classes are {classes!r}, and were {known.tolist()!r}"
            raise ValueError(message)
        unknown = sorted({*labels.tolist()} - {*named.tolist()}, key=str)
        if unknown:
            message = f"y has labels that are not among the classes: {unknown!r}"
            raise ValueError(message)
        if known is None:
            self.classes_ = named
            self.model_, self._waiting, self._n_seen = b"", [], 0
        pairs = _pairs(np.searchsorted(self.classes_, labels), self._named(texts))
        if self.model_:
            self._learn(pairs)
            return
        waiting = [*self._waiting, *pairs]  # until there are two classes
        if len({label for label, _ in waiting}) > 1:
            self._train(waiting, self._overrides()._replace(correction=False))
            waiting = []
        self._waiting = waiting

    def predict(self, X: Texts) -> NDArray[Any]:
        """Return the most probable label of each text, shape (n_documents,)."""
        places = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[places]
        return labels

    def predict_proba(self, X: Texts) -> NDArray[np.float64]:
        """
        Return the probability of each class, shape (n_documents, n_classes).

        They are those of a `Decision`, capped: of n documents of other
        classes no class is more probable than (n + 1) / (n + 2). A class that has had
        no text yet has the share of one of the texts.
        """
        probabilities: NDArray[np.float64] = np.exp(self.predict_log_proba(X))
        return probabilities

    def predict_log_proba(self, X: Texts) -> NDArray[np.float64]:
        """Return their logarithms, finite for what is too improbable for a float."""
        return self._logarithms(X, "printed")

    def decision_function(self, X: Texts) -> NDArray[np.float64]:
        """
        Return what ranks texts: the log posterior, in nats, without the cap.

        At the cap many texts have the same probability; measures of ranks, such as
        scikit-learn's `roc_auc` and `average_precision`, take this first.

        Returns:
            Shape (n_documents,) where there are two classes, the log-odds of the
            second; else (n_documents, n_classes).
        """
        logarithms = self._logarithms(X, "log_posterior")
        if len(self.classes_) == TWO:
            return logarithms[:, 1] - logarithms[:, 0]
        return logarithms

    def _logarithms(self, given: Texts, name: str) -> NDArray[np.float64]:
        """
        Return a logarithm for each text and class, shape (n_documents, n_classes).

        Args:
            given: the texts.
            name: which of a `Decision`, of the classes that the model knows.
        """
        check_is_fitted(self, "classes_")
        texts = _texts(given)
        waiting = self._waiting  # before the model, which takes them from there
        model = self._opened() if self.model_ else None
        n_seen = len(waiting) if model is None else sum(model.model.documents)
        share = 1 / (n_seen + len(self.classes_))  # of a class without a text
        logarithms = np.full((len(texts), len(self.classes_)), np.log(share))
        if model is not None:
            places = [int(label) for label in model.classes]
            for row, decision in enumerate(classify_all(model, texts)):
                logarithms[row, places] = getattr(decision, name)
        else:  # of one class at the most, and all that is known is that it occurs
            places = sorted({int(label) for label, _ in waiting})
            logarithms[:, places] = 0.0
        n_unseen = len(self.classes_) - len(places)
        logarithms[:, places] += np.log1p(-share * n_unseen) if places else 0.0
        return logarithms

    def __sklearn_tags__(self) -> Any:
        """Say that X are texts, in one dimension."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags

    def _overrides(self) -> SettingsOverrides:
        names = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in self.get_params(deep=False).items()
        }  # a search takes its candidates from arrays
        for name in ("byte_ngrams", "calibrate", "correction"):
            if not isinstance(names[name], bool):
                message = f"{name}: expected True or False, found {names[name]!r:.80}"
                raise ValueError(message)
        if not isinstance(names["threes"], bool | None):
            message = (
                f"threes: expected True, False or None, found {names['threes']!r:.80}"
            )
            raise ValueError(message)
        for name in ("event_model", "alphabet", "counting"):
            if not isinstance(names[name], str | None):
                message = f"{name}: expected a str, found {names[name]!r:.80}"
                raise ValueError(message)
        return SettingsOverrides(
            score=names.pop("event_model"),
            texts=False,  # nobody would read them
            **names,
        )

    def _named(self, texts: list[str | bytes]) -> list[Document]:
        """Return texts that a model takes for new ones, though it has seen the same."""
        first = self._n_seen  # of those that were given a number, learnt or not
        self._n_seen += len(texts)
        return [
            as_document(text)._replace(identity=str(number))
            for number, text in enumerate(texts, first)
        ]

    def _train(
        self, pairs: list[tuple[str, AnyDocument]], overrides: SettingsOverrides
    ) -> None:
        with temporary_folder() as folder:
            path = folder / FILE
            try:
                train_on(pairs, path, overrides=overrides)
            except SettingsError as error:
                raise ParameterError(*error.args) from error
            self.model_ = path.read_bytes()

    def _learn(self, pairs: list[tuple[str, AnyDocument]]) -> None:
        with temporary_folder() as folder:
            path = folder / FILE
            path.write_bytes(self.model_)
            for result in learn_labelled(path, pairs, create=True):
                if result.outcome == "refused":  # its pattern takes too long
                    message = f"a text of X cannot be read: {result.reason}"
                    raise ValueError(message)
            self.model_ = path.read_bytes()

    def _opened(self) -> Classifier:
        """Return the model, opened once for as long as it is the same."""
        known, model = OPENED.get(self), self.model_  # another thread may learn
        if known is not None and known.of is model:
            return known.classifier
        with temporary_folder() as folder:
            path = folder / FILE
            path.write_bytes(model)
            classifier = load(path)  # which stays mapped when its name is gone
        classifier.scorer.patience = 0  # numpy is there, and more texts will come
        OPENED[self] = _Opened(model, classifier)
        return classifier


def _pairs(
    places: NDArray[np.integer], texts: Sequence[AnyDocument]
) -> list[tuple[str, AnyDocument]]:
    """Return texts with the names of their classes, which sort as the classes do."""
    labels = [f"{place:06d}" for place in places.tolist()]
    return list(zip(labels, texts, strict=True))


def _checked(X: Texts, y: Any) -> tuple[list[str | bytes], NDArray[Any]]:
    """Return texts and labels, if that is what they are."""
    if y is None:
        message = "fitting requires y to be passed, but the target y is None"
        raise ValueError(message)
    y = list(y) if isinstance(y, Iterator) else y
    texts, labels = _texts(X), column_or_1d(y, warn=True)
    check_consistent_length(texts, labels)
    if labels.dtype.kind == "T":  # strings of numpy, which scikit-learn does not know
        labels = labels.astype(object)
    _check_labels(labels)
    check_classification_targets(labels)
    return texts, labels


def _distinct(classes: Collection[Any]) -> NDArray[Any]:
    """
    Return the labels that `partial_fit` is told, sorted.

    Raises:
        ValueError: they are one string, or none.
    """
    if isinstance(classes, str | bytes) or not is_listing(classes):
        message = f"classes: expected a list of all labels, found {classes!r:.80}"
        raise ValueError(message)
    labels = column_or_1d(classes if hasattr(classes, "dtype") else [*classes])
    if any(map(is_missing, labels.tolist())):
        message = "classes: one is missing (NaN or None); leave it out"
        raise ValueError(message)
    _check_labels(labels, "classes")
    return np.unique(labels)


def _check_labels(labels: NDArray[Any], name: str = "y") -> None:
    """
    Refuse labels that are missing, or that no order goes through.

    Args:
        labels: the labels.
        name: of the argument that has them.

    Raises:
        ValueError: some are.
    """
    if labels.dtype != object:
        return
    values = labels.tolist()
    missing = [place for place, one in enumerate(values) if is_missing(one)]
    if missing:
        message = (
            f"y: a label was expected for each text, and {_counted(missing)} missing, "
            f"the first of text {missing[0]} (NaN or None); leave these texts out"
        )
        raise ValueError(message)
    kinds = sorted(
        {"str" if isinstance(one, str) else type(one).__name__ for one in values}
    )
    if "str" in kinds and len(kinds) > 1:
        found = ", ".join(kinds)
        message = f"{name}: labels of one type were expected, and {found} found"
        raise ValueError(message)


def _counted(missing: list[int]) -> str:
    """Say how many there are."""
    return f"{len(missing):,} {'is' if len(missing) == 1 else 'are'}"


def _texts(X: Texts) -> list[str | bytes]:
    """
    Return texts as a list.

    Raises:
        ValueError: they are something else, or none.
    """
    if isinstance(X, str | bytes):
        message = f"X: expected a list of texts, found one {type(X).__name__}"
        raise ValueError(message)
    if hasattr(X, "columns"):  # of pandas or polars
        name = next(iter(X.columns), "text")
        message = f"X: expected texts, found a table; name a column of it: X[{name!r}]"
        raise ValueError(message)
    if not is_listing(X) or isinstance(X, Set):
        message = f"X: expected a list of texts, found {type(X).__name__}"
        raise ValueError(message)
    if getattr(X, "ndim", 1) != 1:
        message = (
            "X: expected texts in one dimension; name one column of a table, and put "
            "no vectorizer before"
        )
        raise ValueError(message)
    texts: list[Any] = list(X)
    others = [n for n, one in enumerate(texts) if not isinstance(one, str | bytes)]
    if others and (missing := [n for n in others if is_missing(texts[n])]):
        message = (
            f"X: a text was expected in each place, and {_counted(missing)} missing, "
            f"the first in place {missing[0]} (NaN or None); leave them out, or write "
            "'' for them (of pandas: fillna(''))"
        )
        raise ValueError(message)
    if others:
        other = texts[others[0]]
        found, place = type(other).__name__, others[0]
        message = f"X: expected str or bytes, found {found} in place {place}"
        advice = "; write it.as_py()" if hasattr(other, "as_py") else advice_on(other)
        raise ValueError(message + advice)
    if not texts:
        message = "X: expected one text or more, found 0 samples"
        raise ValueError(message)
    return [bytes(text) if isinstance(text, bytes) else str(text) for text in texts]
