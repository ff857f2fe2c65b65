"""
The laws of evaluation and of folds.

The order of the documents changes no digit. The area under the curve depends on the
order of the scores only. What is a false positive becomes a false negative when the
other class is the positive one. Perfect scores have nothing under the wrong side of
the curve. Where every document is decided, micro F1 is accuracy. Folds part each class
evenly, keep repeats together and know nothing of the order of the documents.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nbtext.evaluation import bootstrap
from nbtext.evaluation.binary_metrics import inversions, missed_positives
from nbtext.evaluation.evaluation import Evaluation, evaluate, stratified_folds
from nbtext.evaluation.metrics import Floats, Indices

NAMES = ("eggs", "ham", "spam", "toast")


@pytest.fixture(autouse=True, scope="module")
def _few_draws() -> Iterator[None]:
    """Each example has intervals: 20 draws tell an order as 1,000 do."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("REPLICATES", "FEWEST"):
            patch.setattr(bootstrap, name, 20)
        yield


@dataclass(frozen=True)
class Run:
    """What `evaluate` takes."""

    truth: Indices
    log_posterior: Floats
    decided: Indices
    classes: tuple[str, ...]

    def evaluated(self, positive: str | None = None) -> Evaluation:
        return evaluate(
            self.truth,
            self.log_posterior,
            self.decided,
            self.classes,
            positive=positive,
        )

    def permuted(self, order: list[int]) -> "Run":
        rows = np.array(order, dtype=int)
        return Run(
            self.truth[rows], self.log_posterior[rows], self.decided[rows], self.classes
        )


@st.composite
def runs(draw: st.DrawFn, classes: int | None = None, *, whole: bool = False) -> Run:
    """Draw documents; `whole` ones have a known label and a decision."""
    n_classes = draw(st.integers(2, len(NAMES))) if classes is None else classes
    indices = st.integers(0 if whole else -1, n_classes - 1)
    scores = st.tuples(*[st.sampled_from([-40, -3, -1, 0, 0.5, 2, 9])] * n_classes)
    rows = draw(st.lists(st.tuples(indices, indices, scores), max_size=30))
    joint = np.array([row[2] for row in rows], dtype=float).reshape(-1, n_classes)
    return Run(
        truth=np.array([row[0] for row in rows], dtype=int),
        log_posterior=joint - np.logaddexp.reduce(joint, axis=1, keepdims=True),
        decided=np.array([row[1] for row in rows], dtype=int),
        classes=NAMES[1:3] if n_classes == 2 else NAMES[:n_classes],
    )


SCORES = st.lists(st.integers(-50, 50).map(float), max_size=30).map(
    lambda scores: np.array(scores, dtype=float)
)


@given(runs(), st.data())
def test_the_order_of_documents_changes_no_digit(run: Run, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(run.truth))))

    assert run.permuted(order).evaluated() == run.evaluated()


@given(runs())
def test_every_evaluation_is_json_and_its_counts_add_up(run: Run) -> None:
    found = run.evaluated()

    json.dumps(found.as_dict(), allow_nan=False)
    in_rows = sum(map(sum, found.confusion))
    assert in_rows + sum(found.confusion_unknown_label) == found.documents
    assert in_rows == sum(one.documents for one in found.reliability)
    assert found.micro.support + found.unknown_label == found.documents


@given(runs(whole=True))
def test_micro_f1_is_accuracy_when_every_document_is_decided(run: Run) -> None:
    found = run.evaluated()

    assume(found.documents)
    assert found.micro.f1 == found.micro.precision == found.micro.recall
    assert found.micro.f1 == found.accuracy == found.accuracy_decided


@given(runs())
def test_leaving_a_document_unsure_never_raises_accuracy(run: Run) -> None:
    assume(len(run.decided))
    before = run.evaluated()
    run.decided[0] = -1

    after = run.evaluated()

    assert after.correct <= before.correct


@given(runs())
def test_naming_the_classes_otherwise_changes_no_overall_measure(run: Run) -> None:
    """Columns in reverse; ties of the most probable class are another matter."""
    top_two = np.sort(run.log_posterior, axis=1)[:, -2:]
    assume((top_two[:, 0] < top_two[:, 1]).all())
    last = len(run.classes) - 1
    reversed_run = Run(
        np.where(run.truth < 0, -1, last - run.truth),
        run.log_posterior[:, ::-1],
        np.where(run.decided < 0, -1, last - run.decided),
        run.classes,
    )

    found, other = run.evaluated(), reversed_run.evaluated()

    assert other.per_class == found.per_class[::-1]
    assert other.micro == found.micro
    assert other.log_loss == found.log_loss
    assert other.reliability == found.reliability


@given(runs(classes=2))
def test_the_other_positive_class_swaps_the_errors(run: Run) -> None:
    spam = run.evaluated(positive="spam").two_class
    ham = run.evaluated(positive="ham").two_class

    assert spam is not None
    assert ham is not None
    assert spam.false_positives == ham.false_negatives
    assert spam.false_positive_rate == ham.false_negative_rate
    assert spam.positives_unsure == ham.negatives_unsure
    assert spam.one_minus_auc_percent == ham.one_minus_auc_percent
    if spam.lam_percent is not None and ham.lam_percent is not None:
        assert math.isclose(spam.lam_percent, ham.lam_percent, rel_tol=1e-12)


@given(SCORES, SCORES)
def test_a_rising_transformation_leaves_the_ranking_alone(
    positive: Floats, negative: Floats
) -> None:
    def stretched(scores: Floats) -> Floats:
        return np.sinh(scores / 10) + 3

    assert inversions(stretched(positive), stretched(negative)) == inversions(
        positive, negative
    )


@given(SCORES, SCORES)
def test_inversions_are_counted_pair_by_pair(
    positive: Floats, negative: Floats
) -> None:
    expected = sum(
        int(above >= score) + int(above > score)
        for score in positive
        for above in negative
    )

    assert inversions(positive, negative) == expected


@given(SCORES, SCORES, st.integers(0, 5))
def test_the_missed_are_the_fewest_that_any_threshold_allows(
    positive: Floats, negative: Floats, allowed: int
) -> None:
    assume(len(negative) > allowed)
    thresholds = [*positive, math.inf]

    expected = min(
        int((positive < threshold).sum())
        for threshold in thresholds
        if (negative >= threshold).sum() <= allowed
    )

    assert missed_positives(positive, negative, allowed) == expected


@given(st.lists(st.booleans(), min_size=1), st.floats(0.01, 700))
def test_perfect_scores_have_no_inversion_and_no_miss(
    is_spam: list[bool], log_odds: float
) -> None:
    assume(len(set(is_spam)) == 2)
    truth = np.array(is_spam, dtype=int)
    margin = np.where(truth == 1, log_odds, -log_odds)
    joint = np.column_stack([np.zeros(len(truth)), margin])
    log_posterior = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)

    found = evaluate(truth, log_posterior, truth, ("ham", "spam")).two_class

    assert found is not None
    assert found.roc_auc == 1
    assert found.one_minus_auc_percent == 0
    assert found.miss_rate_at_fpr == 0
    assert found.lam_percent is not None
    assert 0 < found.lam_percent < 50


DOCUMENTS = st.lists(st.integers(0, 40), max_size=80)
"""Identities: equal ones are repeats, and their label is the identity modulo 3."""


@given(DOCUMENTS, st.integers(2, 12))
def test_folds_part_a_class_evenly_but_for_repeats(
    identities: list[int], folds: int
) -> None:
    labels = [identity % 3 for identity in identities]
    found = stratified_folds(labels, folds, [bytes([one]) for one in identities])

    for label in set(labels):
        of_class = [one for one in identities if one % 3 == label]
        sizes = Counter(
            fold for fold, one in zip(found, labels, strict=True) if one == label
        )
        in_folds = [sizes[fold] for fold in range(folds)]
        assert max(in_folds) - min(in_folds) <= max(Counter(of_class).values())


@given(DOCUMENTS, st.integers(2, 12))
def test_repeats_are_never_parted(identities: list[int], folds: int) -> None:
    found = stratified_folds(
        [index % 2 for index in range(len(identities))],
        folds,
        [bytes([one]) for one in identities],
    )

    pairs = set(zip(identities, found.tolist(), strict=True))
    assert len(pairs) == len(set(identities))
    assert set(found.tolist()) <= set(range(folds))


@given(DOCUMENTS, st.integers(2, 12), st.data())
def test_folds_do_not_depend_on_the_order_of_documents(
    identities: list[int], folds: int, data: st.DataObject
) -> None:
    def fold_of(documents: list[int]) -> dict[int, int]:
        labels = [identity % 3 for identity in documents]
        found = stratified_folds(labels, folds, [bytes([one]) for one in documents])
        return dict(zip(documents, found.tolist(), strict=True))

    assert fold_of(data.draw(st.permutations(identities))) == fold_of(identities)


@given(st.sets(st.integers(0, 200)), st.integers(2, 12))
def test_folds_of_distinct_documents_are_even_in_all(
    identities: set[int], folds: int
) -> None:
    """Many small classes must not all begin with the first fold."""
    documents = sorted(identities)
    found = stratified_folds(
        [one % 7 for one in documents], folds, [bytes([one]) for one in documents]
    )

    sizes = np.bincount(found, minlength=folds)
    assert sizes.max() - sizes.min() <= 1
