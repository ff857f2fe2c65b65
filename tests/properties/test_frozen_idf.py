"""
A model of TF-IDF weights, changed under the idf that training has frozen.

What a document adds to the counts is the same whether it is counted alone or among
others, so it can be taken away again: after learning and forgetting in any order and
any batches, the model is what it would be had the surviving documents been weighed by
the idf of training.
"""

from collections.abc import Mapping, Sequence
from math import log, sqrt
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbtext import SettingsOverrides, forget, learn, load, train_on
from nbtext.counts.idf import TFIDF_UNIT, weights_of
from nbtext.counts.tfidf import inverse_frequencies, whole_weights
from nbtext.errors import ModelFileError, SettingsError
from nbtext.store import compact, open_model
from nbtext.store.packing import unpack
from nbtext.tokens.bags import terms_of
from nbtext.upkeep.checking import check_model
from tests.build import key_of, values

OVERRIDES = SettingsOverrides(score="tfidf", pattern=r"\w+", ngrams=1)
LABELS = ("a", "b", "c")

TRAINED = [
    ("a", "x x y"), ("a", "x z"), ("b", "y y w w w"), ("b", "w v x"), ("a", "y"),
    ("b", "z z z z x"), ("b", "t"),
]  # fmt: skip
LEARNT = ["x y y", "new w", "new new other", "x", "other z z v", "w w w t"]
TEXTS = [text for _, text in TRAINED] + LEARNT
"""Documents by number; each is distinct."""

STEPS = st.lists(
    st.tuples(st.integers(0, len(TEXTS) - 1), st.sampled_from((*LABELS, None))),
    max_size=12,
)
"""A document, and the class to learn it in; None to forget it."""


def trained(path: Path) -> str:
    train_on(TRAINED, str(path), overrides=OVERRIDES)
    return str(path)


def is_last_of_trained(state: Mapping[int, str | None], number: int) -> bool:
    """Return whether a class of training would be left without a document."""
    label = state.get(number)
    members = [n for n, other in state.items() if other == label]
    return label in ("a", "b") and members == [number]


def weights_by_hand(state: Mapping[int, str | None]) -> dict[tuple[str, str], float]:
    """Return the sum of the weights of each (class, word), in units."""
    words = [set(text.split()) for _, text in TRAINED]
    sums: dict[tuple[str, str], float] = {}
    for number, label in state.items():
        found = TEXTS[number].split()
        vector = {}
        for word in {*found}:
            frequency = sum(word in document for document in words)
            idf = log((1 + len(words)) / (1 + frequency)) + 1
            vector[word] = found.count(word) * idf
        length = sqrt(sum(x * x for x in vector.values()))
        for word, x in vector.items() if label else ():
            place = label or "", word
            sums[place] = sums.get(place, 0.0) + x / length * TFIDF_UNIT
    return sums


@settings(deadline=None, max_examples=10)
@given(steps=STEPS, compacted_after=st.integers(0, 12))
def test_any_order_and_any_batches_leave_the_same_counts(
    steps: Sequence[tuple[int, str | None]], compacted_after: int
) -> None:
    with TemporaryDirectory() as folder:
        one_by_one = trained(Path(folder, "one.nbt"))
        in_batches = trained(Path(folder, "many.nbt"))
        first = {n: label for n, (label, _) in enumerate(TRAINED)}
        state: dict[int, str | None] = {**first}
        for place, (number, label) in enumerate(steps):
            if label != state.get(number) and is_last_of_trained(state, number):
                continue
            text = [TEXTS[number]]
            if label is None:
                forget(one_by_one, text, frozen_idf=True)
            else:
                learn(one_by_one, label, text, frozen_idf=True)
            state[number] = label
            if place == compacted_after:
                compact(one_by_one)
        for label in LABELS:
            texts = [TEXTS[n] for n, now in state.items() if now == label]
            learn(in_batches, label, texts, frozen_idf=True)
        gone = [TEXTS[n] for n, now in state.items() if now is None and n in first]
        forget(in_batches, gone, frozen_idf=True)

        left = unpack(open_model(one_by_one))
        assert values(left) == values(unpack(open_model(in_batches)))
        assert not check_model(one_by_one).faults
        by_hand = weights_by_hand(state)
        for run, label in zip(left.runs[0], left.classes, strict=True):
            column = left.settings.views[0].column("weight_idf")
            weights = dict(
                zip(run.keys.tolist(), run.columns[column].tolist(), strict=True)
            )
            for word in {word for text in TEXTS for word in text.split()}:
                expected = by_hand.get((label, word), 0.0)
                # each document's is rounded
                assert abs(weights.get(key_of(word), 0) - expected) <= len(TEXTS)


@given(
    bags=st.lists(
        st.dictionaries(
            st.integers(0, 1 << 40), st.integers(1, 10_000), min_size=0, max_size=40
        ),
        max_size=6,
    ),
    frequencies=st.dictionaries(st.integers(0, 1 << 40), st.integers(0, 1000)),
)
def test_a_document_weighs_the_same_alone_and_among_others(
    bags: Sequence[dict[int, int]], frequencies: dict[int, int]
) -> None:
    terms = terms_of(bags)
    df = np.array([frequencies.get(key, 0) for key in terms.keys.tolist()], np.int64)

    together = whole_weights(terms, inverse_frequencies(1000, df)).tolist()

    alone = [weights_of(bag, frequencies, 1000) for bag in bags]
    assert together == [weights[key] for weights in alone for key in sorted(weights)]


def test_a_class_that_the_idf_rests_on_keeps_a_document(tmp_path: Path) -> None:
    path = trained(tmp_path / "m.nbt")
    every_a = [text for label, text in TRAINED if label == "a"]
    before = (tmp_path / "m.nbt").read_bytes()

    with pytest.raises(SettingsError, match="'a' would be left without a document"):
        forget(path, every_a, frozen_idf=True)

    assert (tmp_path / "m.nbt").read_bytes() == before
    learn(path, "c", ["new w"], frozen_idf=True)
    forget(path, ["new w"], frozen_idf=True)  # of c nothing was frozen
    assert load(path).classes == ("a", "b")


def test_tables_that_do_not_stand_where_they_were_written_are_refused(
    tmp_path: Path,
) -> None:
    path = trained(tmp_path / "m.nbt")
    learn(path, "a", ["x y y"], frozen_idf=True)
    learn(path, "b", ["new w"], frozen_idf=True)
    first, *others = (table.length for table in open_model(path).tables)
    whole = (tmp_path / "m.nbt").read_bytes()

    # without the table in the middle, and the model twice
    for moved in (whole[:first] + whole[first + others[0] :], whole * 2):
        (tmp_path / "m.nbt").write_bytes(moved)
        with pytest.raises(ModelFileError, match="were joined"):
            load(path)
