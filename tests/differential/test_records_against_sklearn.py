"""
Columns of numbers and of categories: GaussianNB's and CategoricalNB's probabilities.

Tables go through CSV, training and a model file, and are scored by both engines.
"""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from nbtext import SettingsOverrides, classify_all, load, read_documents, train
from nbtext.scoring.stored import FEW
from nbtext.sources import Options

TOLERANCE = 1e-9

Rows = Sequence[Sequence[Any]]


def table(path: Path, header: Sequence[str], rows: Rows) -> str:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return str(path)


def probabilities(model: Any, rows: str) -> NDArray[np.float64]:
    """Return the log posteriors that both engines agree on."""
    documents = [*read_documents([rows], model=model)]
    many = [decision.log_posterior for decision in classify_all(model, documents)]
    few = [model.classify([document])[0].log_posterior for document in documents[:FEW]]
    np.testing.assert_allclose(many[:FEW], few, rtol=TOLERANCE, atol=TOLERANCE)
    return np.array(many)


def agree(found: NDArray[np.float64], expected: NDArray[np.float64]) -> None:
    """Hold posteriors against others, and log posteriors where they say more."""
    np.testing.assert_allclose(np.exp(found), np.exp(expected), rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("smoothing", [None, 1e-9, 1e-3, 1.0])
@pytest.mark.parametrize("name", ["load_iris", "load_wine"])
def test_iris_and_wine_have_gaussian_probabilities(
    name: str, smoothing: float | None, tmp_path: Path
) -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    bayes = pytest.importorskip("sklearn.naive_bayes")
    data = getattr(datasets, name)()
    columns = [column.replace(",", "") for column in data.feature_names]
    rows = [
        [data.target_names[label], *map(repr, map(float, numbers))]
        for label, numbers in zip(data.target, data.data, strict=True)
    ]
    path = table(tmp_path / "rows.csv", ["kind", *columns], rows)
    options = Options(label_column="kind", numeric_columns=tuple(columns))
    overrides = SettingsOverrides(variance_smoothing=smoothing)
    train([path], str(tmp_path / "model.nbt"), options=options, overrides=overrides)

    found = probabilities(load(str(tmp_path / "model.nbt")), path)

    theirs = bayes.GaussianNB(var_smoothing=1e-9 if smoothing is None else smoothing)
    theirs.fit(data.data, data.target)
    order = np.argsort(data.target_names)
    agree(found, theirs.predict_log_proba(data.data)[:, order])


def test_a_table_of_numbers_is_read_without_options(tmp_path: Path) -> None:
    """The kinds of iris' columns are guessed, and its probabilities the same."""
    datasets = pytest.importorskip("sklearn.datasets")
    bayes = pytest.importorskip("sklearn.naive_bayes")
    data = datasets.load_iris()
    rows = [
        [*map(repr, map(float, numbers)), data.target_names[label]]
        for label, numbers in zip(data.target, data.data, strict=True)
    ]
    path = table(tmp_path / "iris.csv", [*data.feature_names, "class"], rows)
    train([path], str(tmp_path / "model.nbt"))

    found = probabilities(load(str(tmp_path / "model.nbt")), path)

    theirs = bayes.GaussianNB().fit(data.data, data.target)
    agree(found, theirs.predict_log_proba(data.data))


CATEGORIES = st.lists(
    st.tuples(*[st.integers(0, 3)] * 3, st.integers(0, 2)), min_size=12, max_size=40
)


@settings(max_examples=15, deadline=None)
@given(CATEGORIES, st.sampled_from([0.01, 0.5, 1.0, 3.0]))
def test_categories_have_categorical_probabilities(
    tmp_path_factory: pytest.TempPathFactory, rows: Rows, smoothing: float
) -> None:
    bayes = pytest.importorskip("sklearn.naive_bayes")
    folder = tmp_path_factory.mktemp("categories")
    # every value and class occurs, so that both count the same distinct values
    rows = [*rows, *((n, n, n, n % 3) for n in range(4))]
    path = table(
        folder / "rows.csv",
        ["a", "b", "c", "kind"],
        [[*(f"v{value}" for value in row[:3]), f"k{row[3]}"] for row in rows],
    )
    options = Options(label_column="kind", categorical_columns=("a", "b", "c"))
    overrides = SettingsOverrides(category_smoothing=smoothing)
    train([path], str(folder / "model.nbt"), options=options, overrides=overrides)

    found = probabilities(load(str(folder / "model.nbt")), path)

    values: NDArray[np.int64] = np.array(rows)
    theirs = bayes.CategoricalNB(alpha=smoothing).fit(values[:, :3], values[:, 3])
    agree(found, theirs.predict_log_proba(values[:, :3]))


@settings(max_examples=10, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["x", "y"]),
            st.floats(-1e6, 1e6),
            st.floats(-1e-3, 1e-3),
        ),
        min_size=12,
        max_size=30,
    )
)
def test_random_numbers_have_gaussian_probabilities(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, float, float]]
) -> None:
    bayes = pytest.importorskip("sklearn.naive_bayes")
    folder = tmp_path_factory.mktemp("numbers")
    # of two classes, in none of which all numbers are the same
    rows = [*rows, *((k, v, 0.001 * v) for k in "xy" for v in (-1.0, 1.0, 3.5))]
    path = table(folder / "rows.csv", ["kind", "a", "b"], rows)
    options = Options(label_column="kind", numeric_columns=("a", "b"))
    overrides = SettingsOverrides(variance_smoothing=1e-2)
    train([path], str(folder / "model.nbt"), options=options, overrides=overrides)

    found = probabilities(load(str(folder / "model.nbt")), path)

    numbers = np.array([row[1:] for row in rows])
    theirs = bayes.GaussianNB(var_smoothing=1e-2)
    theirs.fit(numbers, [row[0] for row in rows])
    expected = theirs.predict_log_proba(numbers)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_text_and_attributes_are_one_sum(tmp_path: Path) -> None:
    """With `sum`, the joint log likelihood is that of three models of theirs."""
    bayes = pytest.importorskip("sklearn.naive_bayes")
    text = pytest.importorskip("sklearn.feature_extraction.text")
    random = np.random.default_rng(7)
    words = ["red", "green", "blue", "grey"]
    rows = [
        [
            "yes" if n % 3 else "no",
            " ".join(random.choice(words, 5)),
            str(random.choice(["a", "b"])),
            float(random.normal(n % 3, 1)),
        ]
        for n in range(60)
    ]
    path = table(tmp_path / "rows.csv", ["kind", "notes", "city", "age"], rows)
    options = Options(
        label_column="kind",
        text_columns=("notes",),
        categorical_columns=("city",),
        numeric_columns=("age",),
    )
    overrides = SettingsOverrides(score="sum", ngrams=1)
    train([path], str(tmp_path / "model.nbt"), options=options, overrides=overrides)
    model = load(str(tmp_path / "model.nbt"))

    found = probabilities(model, path)

    labels = [row[0] for row in rows]
    counts = text.CountVectorizer().fit_transform([row[1] for row in rows])
    cities = np.array([[int(row[2] == "b")] for row in rows])
    ages = np.array([[row[3]] for row in rows])
    parts: list[tuple[Callable[[], Any], Any]] = [
        (bayes.MultinomialNB, counts),
        (bayes.CategoricalNB, cities),
        (bayes.GaussianNB, ages),
    ]
    joint = sum(
        make().fit(values, labels).predict_joint_log_proba(values)
        for make, values in parts
    )
    joint = joint - 2 * np.log([labels.count("no") / 60, labels.count("yes") / 60])
    agree(found, joint - np.logaddexp.reduce(joint, axis=1)[:, None])
    documents = [*read_documents([path], model=model)]
    np.testing.assert_allclose(
        model.joint_log_likelihoods(documents), joint, rtol=TOLERANCE
    )
