"""Mean scores of documents that are left out: the compiled loop and the arrays."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nbtext import evaluate_on, learn_labelled, load, train_on
from nbtext.counts.counter import Counter
from nbtext.learning.overrides import DEFAULTS
from nbtext.scoring.batch_model import BatchModel, batch_model_of
from nbtext.scoring.leave_one_out import scores_left_out
from nbtext.scoring.models import arrays
from nbtext.scoring.models.mean import MODEL
from nbtext.scoring.models.registry import default_scoring
from nbtext.settings.reading import default_settings
from nbtext.tokens import Terms
from nbtext.tokens.bags import terms_of
from nbtext.tokens.engine import COMPILED, PLAIN, best, use

pytestmark = pytest.mark.skipif(
    best() != COMPILED, reason="nbtext was installed without a C compiler"
)

N = 120
SETTINGS = default_settings("mail", 2)


@pytest.fixture(autouse=True)
def engines() -> Iterator[None]:
    yield
    use(None)


def documents() -> tuple[list[str], list[Terms]]:
    """
    Documents whose terms tell their classes, one without terms among them, and one with
    more than are scored at once.
    """
    chance = np.random.default_rng(5)
    labels = sorted(("ham", "spam")[number % 3 == 0] for number in range(N))
    views = []
    for _ in SETTINGS.views:
        bags = [
            {
                int(key) << 30: int(chance.integers(1, 9))
                for key in chance.zipf(1.3, 40).clip(1, 4000)
                + (5000 if label == "spam" and chance.random() < 0.9 else 0)
            }
            for label in labels
        ]
        bags[7] = {}
        bags[8] = {key << 30: key % 5 + 1 for key in range(1, 9000, 9)}
        views.append(terms_of(bags))
    return labels, views


def model_of(counting: str) -> tuple[BatchModel, list[str], list[Terms]]:
    labels, views = documents()
    counter = Counter(SETTINGS)
    counter.add_terms(labels, [bytes([n]) * 16 for n in range(N)], views)
    scoring = default_scoring("mail", 2)._replace(counting=counting)
    return batch_model_of(counter.table(), scoring), labels, views


def both(model: BatchModel, labels: list[str], views: list[Terms]) -> Iterator[Any]:
    """Return the scores by arrays, and by the compiled loop."""
    for engine in (PLAIN, COMPILED):
        use(engine)
        yield scores_left_out(model, labels, views)[0]


@pytest.mark.parametrize("counting", ["occurrences", "once"])
def test_both_find_the_same_scores(counting: str) -> None:
    expected, found = both(*model_of(counting))

    assert len({*expected.tolist()}) > N // 2
    assert expected[7] == found[7] == 0
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_documents_that_are_counted_several_times_are_left_out_as_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    labels, views = documents()
    copies = np.arange(N) % 3 + 1
    copied = [terms.take(np.repeat(np.arange(N), copies)) for terms in views]
    counter = Counter(SETTINGS)
    names = [label for label, n in zip(labels, copies, strict=True) for _ in range(n)]
    digests = [number.to_bytes(16, "big") for number in range(len(names))]
    counter.add_terms(names, digests, copied)
    model = batch_model_of(counter.table(), default_scoring("mail", 2))
    places = np.array([label == "spam" for label in labels], np.int64)
    found = model.find(views).counted(copies)

    use(PLAIN)
    expected = MODEL.many(model, found, places)
    use(COMPILED)
    monkeypatch.setattr("nbtext.scoring.models.arrays.odds_left_out", None)  # arrays
    scores = MODEL.many(model, found, places)

    once = scores_left_out(model, labels, views)[0]
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)
    assert np.flatnonzero(scores == once).tolist() == [
        n for n in range(N) if copies[n] == 1 or n == 7
    ]


@pytest.mark.parametrize("head", ["From: a@b.example\nSubject: it\n\n", ""])
def test_where_there_is_the_loop_nothing_takes_arrays(
    head: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither of mail nor of texts, each of which is there several times."""
    calls = []
    loop = arrays.means_left_out

    def noted(*of: Any) -> Any:
        calls.append(1)
        return loop(*of)

    monkeypatch.setattr(arrays, "odds_left_out", None)
    monkeypatch.setattr(arrays, "means_left_out", noted)
    texts = {"ham": "lunch today", "spam": "cheap pills"}
    documents = [
        (label, f"{head}{text} {number % 9}\n".encode())
        for number in range(40)
        for label, text in texts.items()
    ]
    path = tmp_path / "model.nbt"

    train_on(documents, path, overrides=DEFAULTS._replace(score="mean"))
    learn_labelled(path, documents[:3])
    evaluate_on(load(path), documents, seen=True)

    assert calls


def test_counts_beyond_32_bits_are_read_too() -> None:
    model, labels, views = model_of("occurrences")
    large = tuple(
        table._replace(columns=tuple(c.astype(np.int64) << 33 for c in table.columns))
        for table in model.terms
    )
    totals = tuple(total * 2.0**33 for total in model.totals)
    model = replace(model, terms=large, totals=totals, _computed={})

    expected, found = both(model, labels, views)

    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


ARGUMENTS: dict[str, Any] = {
    "pairs": np.array([[3, 1], [0, 2]], np.int32),
    "width": 4,
    "places": np.array([0, 1]),
    "times": np.array([1, 1]),
    "starts": np.array([0, 2]),
    "labels": np.array([0]),
    "copies": np.array([1]),
    "sizes": np.array([9.0, 9.0]),
    "smoothing": 0.01,
    "least": 1.0,
    "scores": np.zeros(1),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("pairs", np.array([3, 1, 0], np.int32)),
        ("pairs", np.zeros(0, np.int32)),
        ("width", 3),
        ("places", np.array([0, 2])),
        ("places", np.array([0, -1])),
        ("places", np.array([0])),
        ("times", np.array([1])),
        ("starts", np.array([0, 3])),
        ("starts", np.array([1, 2])),
        ("labels", np.array([2])),
        ("labels", np.array([-1])),
        ("copies", np.array([1, 1])),
        ("sizes", np.array([1.0])),
        ("scores", np.zeros(2)),
    ],
)
def test_what_are_no_documents_is_an_error(name: str, value: object) -> None:
    from nbtext import _compiled

    _compiled.add_means_left_out(*ARGUMENTS.values())

    with pytest.raises(ValueError, match="no documents"):
        _compiled.add_means_left_out(*{**ARGUMENTS, name: value}.values())
