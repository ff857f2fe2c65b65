"""
`NBTextClassifier` is a classifier as scikit-learn wants them.

Its own checks give numbers to what they check, and leave out what takes texts. Here the
numbers are written as words, so that all of them are made; none is expected to fail.
"""

import pickle
import subprocess
import sys
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from email.message import EmailMessage
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn", "1.6")

from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
)
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

import nbtext.sklearn as estimators
from nbtext import Classifier, classify_all, load, train_on
from nbtext.errors import TrainingError
from nbtext.sklearn import NBTextClassifier
from nbtext.store import open_model, read_contents
from nbtext.tokens import pattern
from nbtext.upkeep import rename
from tests.build import TOPICS, confusing

LABELS, TEXTS = zip(*confusing(), strict=True)


class OnNumbers(NBTextClassifier):
    """The same on numbers: each is written as a word of its column and value."""

    def _words(self, X: Any) -> list[str]:
        rows = np.floor(2 * X).astype(int).tolist()
        return [" ".join(f"c{n}v{v + 1000}" for n, v in enumerate(row)) for row in rows]

    def fit(self, X: Any, y: Any) -> "OnNumbers":
        """Make a model of numbers."""
        numbers, y = validate_data(self, X, y)
        super().fit(self._words(numbers), y)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Collection[Any] | None = None,
    ) -> "OnNumbers":
        """Learn further numbers."""
        numbers, y = validate_data(self, X, y, reset=not hasattr(self, "classes_"))
        super().partial_fit(self._words(numbers), y, classes)
        return self

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of the probability of each class."""
        check_is_fitted(self)
        words = self._words(validate_data(self, X, reset=False))
        return super().predict_log_proba(words)

    def decision_function(self, X: Any) -> Any:
        """Return what ranks them."""
        check_is_fitted(self)
        words = self._words(validate_data(self, X, reset=False))
        return super().decision_function(words)

    def __sklearn_tags__(self) -> Any:
        """Say that X are numbers."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = False
        tags.input_tags.two_d_array = True
        return tags


class Table:
    """A table, as of polars, which yields its columns."""

    columns = ("text", "label")

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the columns."""
        return iter([["a", "b"], ["x", "y"]])


@parametrize_with_checks([OnNumbers()])  # type: ignore[untyped-decorator]
def test_the_checks_of_scikit_learn_pass(estimator: Any, check: Any) -> None:
    check(estimator)


def test_it_is_what_the_library_trains(tmp_path: Path) -> None:
    path = tmp_path / "m.nbt"
    train_on(zip(LABELS, TEXTS, strict=True), path)

    model = NBTextClassifier().fit(TEXTS, LABELS)

    expected = [list(one.posterior.values()) for one in classify_all(load(path), TEXTS)]
    assert model.classes_.tolist() == sorted(TOPICS)
    np.testing.assert_allclose(model.predict_proba(TEXTS), expected, rtol=1e-12)
    labels = model.classes_[np.argmax(expected, axis=1)]
    assert model.predict(TEXTS).tolist() == labels.tolist()
    assert model.score(TEXTS, LABELS) > 0.9


def test_texts_and_labels_may_come_one_after_the_other() -> None:
    model = NBTextClassifier().fit(iter(TEXTS), (label for label in LABELS))

    assert model.predict(iter(TEXTS)).tolist() == (
        NBTextClassifier().fit(TEXTS, LABELS).predict(TEXTS).tolist()
    )
    with pytest.raises(ValueError, match="inconsistent numbers"):
        NBTextClassifier().fit(iter(TEXTS), iter(LABELS[1:]))


def test_it_is_searched_cloned_and_pickled() -> None:
    choices = {"event_model": ["sum", "complement"], "smoothing": [0.1, 1.0]}

    search = GridSearchCV(NBTextClassifier(), choices, cv=2).fit(TEXTS, LABELS)
    again = pickle.loads(pickle.dumps(search.best_estimator_))  # noqa: S301  our own

    assert {*search.best_params_} == {*choices}
    assert again.predict(TEXTS).tolist() == search.predict(TEXTS).tolist()
    with pytest.raises(NotFittedError):
        clone(again).predict(TEXTS)


def test_a_search_may_take_its_candidates_from_arrays() -> None:
    choices = {
        "event_model": np.array(["sum", "complement"]),
        "smoothing": np.logspace(-1, 0, 2),
        "ngrams": np.arange(1, 3),
        "calibrate": np.array([True]),
    }

    search = GridSearchCV(NBTextClassifier(), choices, cv=2, error_score="raise")

    assert {*search.fit(TEXTS, LABELS).best_params_} == {*choices}


def test_a_first_partial_fit_that_is_refused_settles_no_classes() -> None:
    model = NBTextClassifier()
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(TEXTS, LABELS, classes=[LABELS[0]])

    with pytest.raises(NotFittedError):
        model.predict(TEXTS)
    model.partial_fit(TEXTS, LABELS, classes=sorted(TOPICS))
    assert model.classes_.tolist() == sorted(TOPICS)


def test_it_learns_bit_by_bit_and_what_comes_again_counts_again() -> None:
    labels = [*"ab" * 20]
    texts = [
        f"{'apples' if label == 'a' else 'bananas'} {n}"
        for n, label in enumerate(labels)
    ]
    model = NBTextClassifier(event_model="sum", byte_ngrams=False)

    for start in range(0, 40, 1):  # the first has one class only
        part = slice(start, start + 1)
        model.partial_fit(texts[part], labels[part], classes=["a", "b", "c"])
    seen = model.predict_proba(["both"])[0]
    for _ in range(5):
        model.partial_fit(["both"], ["a"])
    again = model.predict_proba(["both"])[0]

    assert model.score(texts, labels) == 1.0
    assert again[0] > seen[0]
    assert again[2] == pytest.approx(1 / (45 + 3))  # never seen
    assert sum(again) == pytest.approx(1)
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(["a pear"], ["d"])
    with pytest.raises(ValueError, match="needs the argument classes"):
        NBTextClassifier().partial_fit(texts, labels)


def test_nothing_is_certain_after_a_few_texts() -> None:
    """None of the classes, then one of them, then two of three."""
    model = NBTextClassifier()
    seen = []
    for text, label in (("", "a"), ("goal match", "s"), ("paint", "a")):
        model.partial_fit([text], [label], classes=["a", "s", "z"])
        probabilities = model.predict_proba(["zzz qqq", ""])
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        assert np.isfinite(model.predict_log_proba(["goal"])).all()
        seen.append(probabilities[0].tolist())

    assert seen[0] == pytest.approx([2 / 4, 1 / 4, 1 / 4])
    assert seen[1][2] == pytest.approx(1 / 5)
    assert seen[2][2] == pytest.approx(1 / 6)


def test_texts_are_ranked_where_their_probabilities_are_the_cap(
    tmp_path: Path,
) -> None:
    rare, common = [*range(3)], [*range(60)]
    texts = [f"cheap pills {n}" for n in rare] + [f"meeting {n} today" for n in common]
    labels = [1] * len(rare) + [0] * len(common)
    model = NBTextClassifier().fit(texts, labels)
    asked = [f"meeting {n} {'today ' * (n % 5)}pills" for n in range(20)]

    values = model.decision_function(asked)
    path = tmp_path / "m.nbt"
    path.write_bytes(model.model_)
    decisions = [*classify_all(load(path), asked)]

    assert values.shape == (20,)
    expected = [one.log_posterior[1] - one.log_posterior[0] for one in decisions]
    np.testing.assert_allclose(values, expected, rtol=1e-12)
    assert len({*values.round(9)}) > len({*model.predict_proba(asked)[:, 1].round(9)})
    of_three = NBTextClassifier().fit(TEXTS, LABELS)
    ranks = of_three.decision_function(TEXTS)
    assert ranks.shape == (len(TEXTS), len(TOPICS))
    assert (ranks.argmax(axis=1) == of_three.predict_proba(TEXTS).argmax(axis=1)).all()


def test_a_text_that_cannot_be_searched_in_time_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = NBTextClassifier(pattern=r"(?:\w|\w\w)+$|\w+")
    model.partial_fit(["red apple", "blue sky"], ["a", "s"], classes=["a", "s"])
    before = model.model_
    monkeypatch.setattr(pattern, "SECONDS", 0.3)

    with pytest.raises(ValueError, match="a text of X cannot be read: the pattern "):
        model.partial_fit(["more sky", f"{'a' * 60}!"], ["s", "s"])

    assert model.model_ == before


def test_the_logarithm_of_what_is_most_improbable_is_finite() -> None:
    texts = ["ant bee " * 9, "bee ant " * 9, "cow dog " * 9]
    model = NBTextClassifier(event_model="sum", correction=False)
    model.fit(texts * 9, ["a", "b", "c"] * 9)

    (row,) = model.predict_log_proba(["ant bee ant bee " * 1000])

    assert np.isfinite(row).all()
    assert row[2] < np.log(np.finfo(float).tiny)


def test_the_model_is_opened_once_and_again_when_it_is_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[Path] = []

    def counting(path: Path) -> Classifier:
        opened.append(path)
        return load(path)

    monkeypatch.setattr(estimators, "load", counting)
    model = NBTextClassifier(correction=False).fit(TEXTS, LABELS)
    together = model.predict_proba(TEXTS)

    alone = [model.predict_proba([text])[0] for text in TEXTS]

    np.testing.assert_allclose(alone, together, rtol=1e-12)
    assert len(opened) == 1
    assert not opened[0].exists()
    model.partial_fit(["goal goal goal"], LABELS[:1])
    changed = model.predict_proba(TEXTS)
    assert len(opened) == 2
    assert not np.allclose(changed, together, rtol=1e-12)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301  our own
    np.testing.assert_array_equal(again.predict_proba(TEXTS), changed)


def test_a_model_that_is_replaced_while_it_is_opened_is_opened_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As when one thread predicts, and another learns."""
    estimator = NBTextClassifier().fit(TEXTS, LABELS)
    first = estimator.model_
    other = NBTextClassifier().fit(TEXTS[:-3], LABELS[:-3])

    def replaced(path: Path) -> Classifier:
        estimator.model_ = other.model_
        return load(path)

    monkeypatch.setattr(estimators, "load", replaced)
    estimator.predict(TEXTS[:1])
    monkeypatch.undo()

    assert first != other.model_
    found, expected = (one.decision_function(TEXTS) for one in (estimator, other))
    assert found.tolist() == expected.tolist()


def test_texts_that_threads_learn_are_all_counted() -> None:
    classes = [*np.unique(LABELS)]
    estimator = NBTextClassifier().partial_fit(TEXTS, LABELS, classes)
    n_before = sum(estimator._opened().model.documents)
    threads = [
        Thread(target=estimator.partial_fit, args=([f"money {n}"] * 2, LABELS[:2]))
        for n in range(8)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(estimator._opened().model.documents) == n_before + 16


def test_a_class_may_come_later() -> None:
    model = NBTextClassifier()
    first, labels = ["red apple", "blue sky", "green apple"], ["a", "s", "a"]

    model.partial_fit(first, labels, classes=["a", "s", "z"])
    model.partial_fit(["black zebra", "striped zebra"], ["z", "z"])

    assert model.predict(["zebra", "apple", "sky"]).tolist() == ["z", "a", "s"]


@pytest.mark.parametrize(
    "texts",
    ["a text", b"a text", [1, 2], [], [["a", "b"]], np.array([["a"], ["b"]])],
    ids=["str", "bytes", "numbers", "none", "lists", "table"],
)
def test_what_is_no_list_of_texts_is_refused(texts: Any) -> None:
    with pytest.raises(ValueError, match=r"^X: "):
        NBTextClassifier().fit(texts, ["a", "b"])


@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        ({"class_prior": "foo"}, "the class prior is 'foo', expected shares"),
        ({"calibrate": "no"}, "calibrate: expected True or False, found 'no'"),
        ({"byte_ngrams": 3}, "byte_ngrams: expected True or False, found 3"),
        ({"correction": None}, "correction: expected True or False, found None"),
        ({"event_model": ["sum"]}, r"event_model: expected a str, found \['sum'\]"),
        ({"alphabet": ("words",)}, "alphabet: expected a str, found "),
        ({"counting": 3}, "counting: expected a str, found 3"),
        ({"event_model": "no"}, "'no'"),
        ({"alphabet": "no"}, "'no'"),
        ({"ngrams": 3}, "ngrams is 3, expected 1 or 2"),
    ],
    ids=str,
)
def test_what_is_no_value_of_a_parameter_is_refused(
    parameters: dict[str, Any], found: str
) -> None:
    texts = ["money winner", "lunch meeting"]

    with pytest.raises(ValueError, match=found):
        NBTextClassifier(**parameters).fit(texts, [0, 1])
    with pytest.raises(ValueError, match=found):
        NBTextClassifier(**parameters).partial_fit(texts, [0, 1], classes=[0, 1])


def test_a_fit_that_fails_leaves_the_one_before() -> None:
    model = NBTextClassifier().fit(["late goal", "opera stage"], ["sport", "arts"])

    for one in (model, NBTextClassifier()):
        with pytest.raises(TrainingError):
            one.fit(["", ""], ["x", "y"])

    assert model.predict(["goal", "opera"]).tolist() == ["sport", "arts"]
    with pytest.raises(NotFittedError):
        one.predict(["goal"])


def test_texts_of_a_partial_fit_that_fails_are_not_counted_by_the_next() -> None:
    model = NBTextClassifier()
    with pytest.raises(TrainingError):
        model.partial_fit(["", ""], ["x", "y"], classes=["x", "y"])

    model.partial_fit(["late goal", "opera stage"], ["x", "y"])

    assert sum(model._opened().model.documents) == 2


def test_one_class_is_refused() -> None:
    with pytest.raises(ValueError, match="y has one class, 'a'; a classifier"):
        NBTextClassifier().fit(["x", "y"], np.array(["a", "a"]))


def test_classes_of_the_model_are_called_by_their_places(tmp_path: Path) -> None:
    path = tmp_path / "topics.nbt"
    model = NBTextClassifier().fit(TEXTS, LABELS)
    path.write_bytes(model.model_)
    names = dict(zip(load(path).classes, model.classes_.tolist(), strict=True))

    opened = read_contents(open_model(str(path)))
    path.write_bytes(b"".join(rename(opened, names, "topics.nbt").pack()))

    assert [*names] == ["000000", "000001", "000002", "000003"]
    assert load(path).classes == tuple(model.classes_.tolist())
    found = [one.label for one in classify_all(load(path), TEXTS)]
    assert found == model.predict(TEXTS).tolist()


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["a", float("nan"), "b", None], "2 are missing, the first of text 1"),
        (["a", 1, "b", 2], "labels of one type were expected, and int, str found"),
        (["a", np.datetime64("NaT"), "b", "a"], "1 is missing, the first of text 1"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_labels_that_are_none_are_refused(
    method: str, labels: list[Any], said: str
) -> None:
    model = NBTextClassifier()
    more = {"classes": ["a", "b"]} if method == "partial_fit" else {}

    with pytest.raises(ValueError, match=said):
        getattr(model, method)(list("wxyz"), np.array(labels, object), **more)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["a", None, "b", float("nan")], r"2 are missing, the first in place 1 \(NaN"),
        (["a", "b", 3, None], "1 is missing, the first in place 3"),
        (["a", "b", 3, 4], "expected str or bytes, found int in place 2"),
        (["a", np.arange(2)], "expected str or bytes, found ndarray in place 1"),
        (np.array([["a"], ["b"]]), "one dimension; name one column of a table"),
        (None, "^X: expected a list of texts, found NoneType$"),
        (3, "^X: expected a list of texts, found int$"),
        ({"text": ["a"]}, "^X: expected a list of texts, found dict$"),
        ({"a", "b"}, "^X: expected a list of texts, found set$"),
        (Table(), r"found a table; name a column of it: X\['text'\]$"),
        (EmailMessage(), "^X: expected a list of texts, found EmailMessage$"),
        ([EmailMessage()], "place 0; give the bytes that it was read from, or it.as_"),
        ([Path("a")], r"found PosixPath in place 0; write it.read_bytes\(\)$"),
        ([bytearray(b"a")], r"found bytearray in place 0; write bytes\(it\)$"),
    ],
)
def test_what_is_no_text_is_refused(texts: Any, said: str) -> None:
    model = NBTextClassifier().fit(TEXTS, LABELS)

    for call in (model.predict, lambda X: model.fit(X, LABELS[:2])):
        with pytest.raises(ValueError, match=said):
            call(texts)


def test_strings_of_numpy_are_strings() -> None:
    labels = np.array([np.str_("a"), "b"], object)

    assert NBTextClassifier().fit(["x y", "z"], labels).classes_.tolist() == ["a", "b"]


def test_a_class_without_a_text_has_the_share_of_one_of_those_that_are_counted() -> (
    None
):
    model = NBTextClassifier()
    model.partial_fit(["late goal", "opera"], ["a", "b"], classes=["a", "b", "z"])

    model.partial_fit(["", "", ""], ["a", "b", "a"])  # have nothing to count

    assert sum(model._opened().model.documents) == 2
    assert model.predict_proba(["a goal"])[0, 2] == pytest.approx(1 / (2 + 3))


def test_threads_that_share_an_estimator_lose_no_text() -> None:
    model = NBTextClassifier(event_model="sum", byte_ngrams=False)
    texts = [[f"apple {n}", f"banana {n}"] for n in range(12)]

    def learn(pair: list[str]) -> float:
        model.partial_fit(pair, ["a", "b"], classes=["a", "b"])
        return float(model.predict_proba(["apple"])[0, 0])

    with ThreadPoolExecutor(4) as threads:
        seen = [*threads.map(learn, texts)]

    assert model._opened().model.documents == (12, 12)
    assert min(seen) > 0.5
    assert model._opened() is model._opened()
    again = pickle.loads(pickle.dumps(model))  # noqa: S301  our own
    asked = ["apple", "banana"]
    np.testing.assert_array_equal(
        again.predict_proba(asked), model.predict_proba(asked)
    )


def test_what_to_install_is_said() -> None:
    program = "import sys; sys.modules['sklearn'] = None; import nbtext.sklearn"

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert done.stderr.endswith(
        "nbtext.sklearn needs scikit-learn; pip install 'nbtext[sklearn]'\n"
    )


def _two_named() -> list[tuple[str, NBTextClassifier]]:
    models = (NBTextClassifier(event_model=name) for name in ("sum", "complement"))
    return [*zip("ab", models, strict=True)]


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(NBTextClassifier()),
        CalibratedClassifierCV(NBTextClassifier(), cv=3),
        VotingClassifier(_two_named(), voting="soft"),
        StackingClassifier(_two_named(), LogisticRegression(), cv=3),
        FixedThresholdClassifier(NBTextClassifier()),
        TunedThresholdClassifierCV(NBTextClassifier(), cv=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_hands_on_texts_as_they_are_takes_it(model: Any) -> None:
    texts, labels = zip(*_of_two_classes(), strict=True)

    found = cross_val_predict(model, texts, labels, cv=2)

    assert np.mean(found == np.array(labels)) > 0.9


def _of_two_classes() -> list[tuple[str, int]]:
    words = ("goal match team", "opera stage novel")
    return [(f"{words[n % 2]} of day {n % 7}", n % 2) for n in range(60)]


def test_a_text_that_comes_several_times_is_counted_so_often() -> None:
    texts, labels = zip(*_of_two_classes(), strict=True)
    weights = np.arange(60) % 3 + 1

    model = NBTextClassifier(event_model="sum")
    model.fit(np.repeat(texts, weights), np.repeat(labels, weights))

    expected = np.bincount(labels, weights).astype(int).tolist()
    assert [*model._opened().model.documents] == expected


@pytest.mark.parametrize(
    "classes", [{"a", "s"}, ("s", "a", "s"), np.array(["s", "a"])], ids=type
)
def test_classes_are_told_in_any_order(classes: Any) -> None:
    model = NBTextClassifier()

    model.partial_fit(["red apple", "blue sky"], ["a", "s"], classes=classes)

    assert model.classes_.tolist() == ["a", "s"]
    assert model.predict(["apple"]).tolist() == ["a"]
    model.partial_fit(["an apple"], ["a"], classes=classes)


@pytest.mark.parametrize(
    ("classes", "said"),
    [
        ("as", "classes: expected a list of all labels, found 'as'"),
        (3, "classes: expected a list of all labels, found 3"),
        ({"a": 1, "s": 2}, "classes: expected a list of all labels, found {'a': 1"),
        (["a", None, "s"], r"classes: one is missing \(NaN or None\); leave it out"),
        (
            np.array(["a", 1], object),
            "classes: labels of one type were expected, and i",
        ),
    ],
)
def test_what_is_no_list_of_classes_is_refused(classes: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        NBTextClassifier().partial_fit(["x", "y"], ["a", "s"], classes=classes)


def test_labels_may_be_strings_of_variable_width() -> None:
    kind = getattr(np.dtypes, "StringDType", None)  # since numpy 2
    if kind is None:
        pytest.skip("numpy has no such strings")
    labels = np.array(["a", "s"], dtype=kind())

    model = NBTextClassifier().fit(["red apple", "blue sky"], labels)

    assert model.predict(["apple", "sky"]).tolist() == ["a", "s"]


def test_a_model_that_fit_has_made_keeps_its_correction() -> None:
    model = NBTextClassifier().fit(TEXTS, LABELS)
    before = model._opened().model.correction
    assert before is not None

    model.partial_fit(TEXTS[:1], LABELS[:1])
    begun = NBTextClassifier().partial_fit(TEXTS, LABELS, classes=sorted(TOPICS))

    after = model._opened().model.correction
    assert after is not None
    assert after.info == before.info
    assert begun._opened().model.correction is None
