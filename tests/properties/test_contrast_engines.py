"""
What many classes need is the same to the bit, compiled or not.

Calibrations and corrections are made of these sums, and a model file must not depend on
whether there was a compiler.
"""

import weakref
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from nbtext.learning.passes import Pupils, Vectors, correct, correct_by_arrays
from nbtext.learning.steps import Rate
from nbtext.scoring.batch_model import batch_model_of
from nbtext.scoring.models.arrays import Said
from nbtext.scoring.models.contrast_sums import ClassSums, logarithms, view_sums
from nbtext.scoring.models.registry import event_model, scoring_of
from nbtext.settings.columns import WEIGHTED
from nbtext.settings.reading import Settings
from nbtext.settings.scoring import Scoring
from nbtext.settings.views import NGRAMS, TOPIC
from nbtext.tokens.bags import read_terms
from nbtext.tokens.engine import PLAIN, best, use
from tests.build import counted

SETTINGS = Settings("text", (TOPIC, NGRAMS)).counting(WEIGHTED)
WORDS = st.sampled_from(["free", "lunch", "lunches", "cash", "cash!", "über", "中文"])
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)
DRAWN = st.lists(st.tuples(st.sampled_from("abcd"), TEXTS), max_size=8)
LABELLED = DRAWN.map(lambda drawn: [("a", "free lunch"), ("b", "cash"), *drawn])

needs_compiled = pytest.mark.skipif(not best().is_compiled, reason="nothing compiled")


@needs_compiled
@given(LABELLED, st.sampled_from([1e-9, 0.03, 1.0]))
def test_sums_are_the_same_compiled_or_not(
    labelled: list[tuple[str, str]], smoothing: float
) -> None:
    scoring = scoring_of("contrast")._replace(smoothing=smoothing)
    table = counted(labelled, SETTINGS)
    model = batch_model_of(table, scoring)
    fields = [[[("body", text)]] * 2 for _, text in labelled]
    documents = model.find(read_terms(SETTINGS, fields))
    labels = np.array([model.classes.index(label) for label, _ in labelled])

    def sums(left_out: NDArray[np.int64] | None) -> list[ClassSums]:
        return [view_sums(model, view, documents, left_out) for view in (0, 1)]

    for left_out in (None, labels):
        compiled = sums(left_out)
        use(PLAIN)
        try:
            plain = sums(left_out)
        finally:
            use(None)
        for found, expected in zip(compiled, plain, strict=True):
            assert found.complements.tobytes() == expected.complements.tobytes()
            assert found.owns.tobytes() == expected.owns.tobytes()


@pytest.mark.parametrize("is_compiled", [True, False])
@given(labelled=LABELLED)
def test_complements_alone_are_those_that_have_owns_beside_them(
    is_compiled: bool, labelled: list[tuple[str, str]]
) -> None:
    if is_compiled and not best().is_compiled:
        pytest.skip("nothing compiled")
    model = batch_model_of(counted(labelled, SETTINGS), scoring_of("contrast"))
    fields = [[[("body", text)]] * 2 for _, text in labelled]
    documents = model.find(read_terms(SETTINGS, fields))
    labels = np.array([model.classes.index(label) for label, _ in labelled])
    use(None if is_compiled else PLAIN)
    try:
        for view in (0, 1):
            both = view_sums(model, view, documents, labels)
            alone = view_sums(model, view, documents, labels, has_owns=False)

            assert alone.complements.tobytes() == both.complements.tobytes()
            assert both.owns.shape == both.complements.shape
            assert alone.owns.shape == (0, len(model.classes))
    finally:
        use(None)


SCORINGS = st.builds(
    lambda own, ngrams, scaled, smoothing: (
        scoring_of("contrast")
        .with_parameters(own=own, ngrams=ngrams, scaled=scaled)
        ._replace(smoothing=smoothing)
    ),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.sampled_from([0.0, 0.5]),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from([1e-9, 0.03, 1.0]),
) | st.just(scoring_of("complement"))


@given(LABELLED, TEXTS, SCORINGS)
def test_tables_of_evidence_say_what_the_sums_do(
    labelled: list[tuple[str, str]], text: str, scoring: Scoring
) -> None:
    model = batch_model_of(counted(labelled, SETTINGS), scoring)
    fields = [[[("body", one)]] * 2 for one in (*[t for _, t in labelled], text, "")]
    documents = model.find(read_terms(SETTINGS, fields))

    (found,) = event_model(scoring.score).many_by(model, [scoring], documents)

    own, divided = (dict(scoring.parameters).get(name) for name in ("own", "scaled"))
    expected = np.zeros(found.shape)
    weights = 1.0, dict(scoring.parameters).get("ngrams", 1.0)
    for view, weight in enumerate(weights):
        sums = view_sums(model, view, documents)
        expected += weight * (sums.complements + (own or 0.0) * sums.owns)
    if divided:
        deviations = expected.std(axis=1, keepdims=True)
        # what is divided by next to nothing is no longer so near
        is_far = deviations[:, 0] > 1e-3
        found, expected = found[is_far], expected[is_far] / deviations[is_far]
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@needs_compiled
@given(LABELLED, st.integers(0, 2**32))
def test_sums_of_evidence_are_the_same_compiled_or_not(
    labelled: list[tuple[str, str]], seed: int
) -> None:
    random = np.random.default_rng(seed)
    model = batch_model_of(counted(labelled, SETTINGS), scoring_of("complement"))
    fields = [[[("body", f"{text} unknown")]] * 2 for _, text in labelled]
    documents = model.find(read_terms(SETTINGS, fields))
    for view, (terms, places) in enumerate(documents):
        table = model.terms[view]
        said = Said.by(table, random.normal(size=len(table.classes)))
        x = random.normal(size=len(places))
        n_classes = len(model.classes)

        found = said.sums(terms, places, x, n_classes)

        use(PLAIN)
        try:
            expected = said.sums(terms, places, x, n_classes)
        finally:
            use(None)
        assert found.tobytes() == expected.tobytes()


@given(st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=20))
def test_logarithms_are_those_of_the_library_to_rounding(values: list[float]) -> None:
    numbers = np.array([*values, 1.0, 2.0, 0.5, 2**0.5, 0.5**0.5])

    np.testing.assert_allclose(logarithms(numbers), np.log(numbers), rtol=4e-16)


@st.composite
def pupils(draw: st.DrawFn) -> Pupils:
    seed = draw(st.integers(0, 2**32))
    n_classes = draw(st.sampled_from([2, 3, 6, 7, 8, 9, 25]))
    n_documents, n_terms = draw(st.integers(1, 40)), 60
    random = np.random.default_rng(seed)
    views = []
    for view in range(2):
        sizes = random.integers(0, 15, n_documents)
        chosen = [random.choice(n_terms, size, replace=False) for size in sizes]
        places = np.concatenate(chosen).astype(np.int32) + np.int32(view * n_terms)
        weights = random.integers(0, 65536, len(places)).astype(np.uint16)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        views.append(Vectors(starts, places, weights))
    return Pupils(
        views=views,
        labels=random.integers(0, n_classes, n_documents),
        times=random.integers(1, draw(st.sampled_from([2, 5, 1 << 14])), n_documents),
        base=random.normal(0, 8192, (n_documents, n_classes)).astype(np.int32),
        n_terms=2 * n_terms,
    )


@needs_compiled
@given(
    pupils(),
    st.integers(1, 3),
    st.sampled_from([0.0, 0.02, 0.3]),
    st.sampled_from([(0.5, 1.0), (2.0, 0.5), (1.0, 0.3)]),
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
)
def test_passes_are_the_same_compiled_or_not(
    drawn: Pupils,
    passes: int,
    cut: float,
    rate_and_decay: tuple[float, float],
    doubt: float,
) -> None:
    order = np.random.default_rng(1).permutation(len(drawn.labels))
    furthest, decay = rate_and_decay
    scored = np.arange(len(drawn.labels))
    rate = Rate(passes, furthest, cut, decay, doubt)

    found = correct(drawn, order[::2].copy(), rate, scored)
    expected = correct_by_arrays(drawn, order[::2].copy(), rate, scored)

    assert found.amounts.tobytes() == expected.amounts.tobytes()
    assert found.places.tobytes() == expected.places.tobytes()
    assert found.classes.tobytes() == expected.classes.tobytes()
    assert found.values.tobytes() == expected.values.tobytes()
    np.testing.assert_allclose(found.logits, expected.logits, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("is_compiled", [True, False])
@given(drawn=pupils())
def test_of_what_is_not_kept_scores_alone_are_told(
    is_compiled: bool, drawn: Pupils
) -> None:
    if is_compiled and not best().is_compiled:
        pytest.skip("nothing compiled")
    every, rate = np.arange(len(drawn.labels)), Rate(2, 0.5, 0.02)
    make = correct if is_compiled else correct_by_arrays

    kept = make(drawn, every, rate, every)
    found = make(drawn, every, rate, every, is_kept=False)

    assert found.logits.tobytes() == kept.logits.tobytes()
    assert found.amounts.tobytes() == kept.amounts.tobytes()
    assert len(found.places) == len(found.classes) == len(found.values) == 0


@needs_compiled
@given(pupils())
def test_vectors_that_are_wanted_no_more_leave_before_values_are_told(
    drawn: Pupils,
) -> None:
    every, rate = np.arange(len(drawn.labels)), Rate(2, 0.5, 0.02)
    expected = correct(drawn, every, rate, every)
    left = weakref.ref(drawn.views[0].places)

    found = correct(drawn, every, rate, every, is_last=True)

    assert left() is None
    assert drawn.views == []
    for one, other in zip(astuple(found), astuple(expected), strict=True):
        assert one.tobytes() == other.tobytes()


@given(pupils())
def test_values_are_the_sum_of_amounts_times_weights(drawn: Pupils) -> None:
    n_documents, n_classes = drawn.base.shape
    none = np.arange(0)

    found = correct(drawn, np.arange(n_documents), Rate(3, 0.5, 0.02), none)

    expected = np.zeros((drawn.n_terms, n_classes), np.int64)
    for document in range(n_documents):
        amounts = found.amounts[document].astype(np.int64) * drawn.times[document]
        for view in drawn.views:
            part = slice(*view.starts[document : document + 2])
            weights = view.weights[part].astype(np.int64)
            expected[view.places[part]] += np.outer(weights, amounts)
    values = np.zeros_like(expected)
    values[found.places, found.classes] = found.values
    assert values.tobytes() == expected.tobytes()
    assert (found.values != 0).all()


@pytest.mark.parametrize("is_compiled", [True, False])
def test_values_that_are_too_large_are_refused(is_compiled: bool) -> None:
    if is_compiled and not best().is_compiled:
        pytest.skip("nothing compiled")
    many = Pupils(
        views=[
            Vectors(np.array([0, 1]), np.zeros(1, np.int32), np.full(1, 65535, "u2"))
        ],
        labels=np.zeros(1, np.int64),
        times=np.full(1, 1 << 31),
        base=np.array([[0, 1 << 20]], np.int32),
        n_terms=1,
    )
    make = correct if is_compiled else correct_by_arrays

    with pytest.raises(OverflowError):
        make(many, np.zeros(1, np.int64), Rate(3, 2.0, 0.02), np.arange(0))
