import json
from collections import Counter
from fractions import Fraction
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nbtext.errors import SettingsError
from nbtext.evaluation.binary_metrics import lam_percent, missed_positives
from nbtext.evaluation.evaluation import Evaluation, evaluate, stratified_folds
from nbtext.evaluation.metrics import precision_recall

HAM, SPAM, UNSURE = 0, 1, -1
MEASURES_PAGE = Path(__file__).parents[3] / "docs" / "measures.md"


def of_rows(
    rows: list[tuple[int, int, float]], positive: str | None = None
) -> Evaluation:
    """Evaluate (truth, decided, probability of spam) rows of ham and spam."""
    spam = np.array([row[2] for row in rows], dtype=float)
    return evaluate(
        np.array([row[0] for row in rows], dtype=int),
        np.log(np.column_stack([1 - spam, spam])),
        np.array([row[1] for row in rows], dtype=int),
        ("ham", "spam"),
        positive=positive,
    )


def of_counts(counts: dict[tuple[int, int], int], classes: str) -> Evaluation:
    """Evaluate so many documents of each (truth, decided), all classes as likely."""
    pairs = list(Counter(counts).elements())
    return evaluate(
        np.array([truth for truth, _ in pairs]),
        np.full((len(pairs), len(classes)), -log(len(classes))),
        np.array([decided for _, decided in pairs]),
        tuple(classes),
    )


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for one in value.values() for leaf in leaves(one)]
    if isinstance(value, list):
        return [leaf for one in value for leaf in leaves(one)]
    return [value]


def keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(keys, value.values()))
    if isinstance(value, list):
        return set().union(*map(keys, value))
    return set()


def test_precision_and_recall_of_manning_exercise_8_1() -> None:
    """8 relevant documents are found among 18, of 20 that there are."""
    found = precision_recall(hits=8, called=18, support=20)

    assert found.precision == pytest.approx(Fraction(8, 18))
    assert found.recall == pytest.approx(Fraction(8, 20))
    assert found.f1 == pytest.approx(Fraction(2 * 8, 18 + 20))


def test_averages_of_manning_table_13_8() -> None:
    """
    Two classes of 1,000 documents that may be in neither, each with 10 false
    positives; the 20 and 100 documents of the classes are found but for 10 each.
    """
    counts = {(0, 0): 10, (0, UNSURE): 10, (1, 1): 90, (1, UNSURE): 10}
    neither = {(-1, 0): 10, (-1, 1): 10, (-1, UNSURE): 860}

    found = of_counts(counts | neither, "ab")

    assert found.per_class[0].precision == Fraction(10, 20)
    assert found.per_class[1].precision == pytest.approx(Fraction(90, 100))
    assert found.macro.precision == pytest.approx(Fraction(7, 10))
    assert found.micro.precision == pytest.approx(Fraction(100, 120))
    assert found.unknown_label == 880
    assert found.confusion_unknown_label == (10, 10, 860)


def test_confusion_matrix_has_the_truth_in_rows_and_unsure_last() -> None:
    found = of_counts({(0, 0): 4, (0, 1): 1, (1, UNSURE): 2, (1, 1): 3}, "ab")

    assert found.confusion == ((4, 1, 0), (0, 3, 2))
    assert found.confusion_unknown_label == (0, 0, 0)


def test_unsure_documents_are_not_correct_but_not_decided_either() -> None:
    found = of_counts({(0, 0): 6, (0, 1): 1, (1, UNSURE): 3}, "ab")

    assert (found.documents, found.correct, found.unsure) == (10, 6, 3)
    assert found.accuracy == pytest.approx(Fraction(6, 10))
    assert found.accuracy_decided == pytest.approx(Fraction(6, 7))


def test_unknown_labels_are_errors_of_the_decision() -> None:
    found = of_counts({(0, 0): 3, (-1, 0): 1}, "ab")

    assert found.accuracy == Fraction(3, 4)
    assert found.per_class[0].precision == Fraction(3, 4)
    assert found.per_class[0].recall == 1
    assert found.micro.support == 3


def test_macro_average_leaves_out_classes_that_do_not_occur() -> None:
    found = of_counts({(0, 0): 1, (1, 1): 1}, "abc")

    assert found.per_class[2].f1 == 0
    assert found.macro.f1 == 1


def test_macro_average_takes_a_class_that_was_only_ever_decided() -> None:
    found = of_counts({(0, 0): 1, (0, 1): 1}, "abc")

    assert found.macro.recall == Fraction(1, 4)


def test_log_loss_and_brier_score_of_two_documents() -> None:
    found = of_rows([(SPAM, SPAM, 0.8), (HAM, SPAM, 0.6)])

    assert found.log_loss == pytest.approx(-(log(0.8) + log(0.4)) / 2)
    assert found.brier == pytest.approx(
        (2 * Fraction(2, 10) ** 2 + 2 * Fraction(6, 10) ** 2) / 2
    )


def test_unknown_labels_have_no_part_in_log_loss_brier_score_and_calibration() -> None:
    rows = [(SPAM, SPAM, 0.8), (HAM, SPAM, 0.6)]

    with_unknown = of_rows([*rows, (-1, SPAM, 0.99)])
    without = of_rows(rows)

    assert with_unknown.log_loss == without.log_loss
    assert with_unknown.brier == without.brier
    assert with_unknown.reliability == without.reliability
    assert with_unknown.two_class == without.two_class


def test_log_loss_of_a_certain_error_is_large_and_finite() -> None:
    found = evaluate(
        np.array([1]), np.array([[0.0, -1e5]]), np.array([0]), ("ham", "spam")
    )

    assert found.log_loss == 1e5
    assert found.brier == 2


def test_log_loss_of_certainty_is_zero_without_a_sign() -> None:
    found = evaluate(
        np.array([0]), np.array([[0.0, -1e5]]), np.array([0]), ("ham", "spam")
    )

    assert str(found.log_loss) == "0.0"


def test_reliability_bins_are_closed_on_the_right() -> None:
    found = of_rows([(SPAM, SPAM, 0.6), (HAM, SPAM, 0.61), (SPAM, SPAM, 1 - 1e-16)])

    assert [(one.low, one.high, one.documents) for one in found.reliability] == [
        (8 / 15, 9 / 15, 1),
        (9 / 15, 10 / 15, 1),
        (14 / 15, 15 / 15, 1),
    ]


def test_calibration_error_is_the_mean_gap_between_promised_and_kept() -> None:
    right = [(SPAM, SPAM, 0.75)] * 3 + [(HAM, HAM, 0.05)] * 2
    wrong = [(HAM, SPAM, 0.75)] * 5

    found = of_rows(right + wrong)

    assert [one.share_right for one in found.reliability] == [Fraction(3, 8), 1]
    assert found.calibration_error == pytest.approx(
        (8 * (Fraction(75, 100) - Fraction(3, 8)) + 2 * Fraction(5, 100)) / 10
    )


def test_reliability_looks_at_the_most_probable_class_not_at_the_decision() -> None:
    found = of_rows([(SPAM, UNSURE, 0.7)])

    assert found.reliability[0].share_right == 1


def test_rates_of_a_filter_with_unsure() -> None:
    hams = [(HAM, HAM, 0.1)] * 7 + [(HAM, SPAM, 0.9)] + [(HAM, UNSURE, 0.6)] * 2
    spams = [(SPAM, SPAM, 0.9)] * 3 + [(SPAM, HAM, 0.2)] + [(SPAM, UNSURE, 0.4)]

    found = of_rows(hams + spams).two_class

    assert found is not None
    assert (found.positives, found.negatives) == (5, 10)
    assert (found.positives_unsure, found.negatives_unsure) == (1, 2)
    assert (found.false_positives, found.false_negatives) == (1, 1)
    assert found.false_positive_rate == pytest.approx(Fraction(1, 10))
    assert found.false_negative_rate == pytest.approx(Fraction(1, 5))


def test_roc_auc_counts_a_tie_as_half_an_inversion() -> None:
    """Of six pairs one is in the wrong order and two are ties."""
    hams = [(HAM, HAM, p) for p in (0.1, 0.5, 0.7)]
    spams = [(SPAM, SPAM, p) for p in (0.5, 0.7)]

    found = of_rows(hams + spams).two_class

    assert found is not None
    assert found.roc_auc == pytest.approx(Fraction(4, 6))
    assert found.one_minus_auc_percent == pytest.approx(100 * Fraction(2, 6))


def test_lam_calls_unsure_documents_by_the_larger_posterior() -> None:
    hams = [(HAM, UNSURE, 0.6), (HAM, HAM, 0.1), (HAM, HAM, 0.2)]
    spams = [(SPAM, SPAM, 0.8)]

    found = of_rows(hams + spams).two_class

    assert found is not None
    assert found.false_positives == 0
    assert found.lam_percent == lam_percent(
        false_positives=1, false_negatives=0, positives=1, negatives=3
    )


@pytest.mark.parametrize(
    ("errors", "sizes", "expected"),
    [
        pytest.param((4, 4), (9, 9), Fraction(45, 100), id="equal rates are kept"),
        pytest.param((0, 9), (9, 9), Fraction(1, 2), id="opposite rates are chance"),
        # odds (1/2)/(9/2) = 1/9 and (3/2)/(15/2) = 1/5, so 1/sqrt(45)
        pytest.param((0, 1), (8, 4), 1 / (1 + 45**0.5), id="geometric mean of odds"),
    ],
)
def test_lam_averages_logits(
    errors: tuple[int, int], sizes: tuple[int, int], expected: Fraction | float
) -> None:
    assert lam_percent(*errors, *sizes) == pytest.approx(float(100 * expected))


@pytest.mark.parametrize(
    ("negatives", "allowed"),
    [(999, 0), (1000, 1), (1999, 1), (29_000, 29)],
)
def test_one_false_positive_in_a_thousand_is_allowed(
    negatives: int, allowed: int
) -> None:
    found = of_rows([(HAM, HAM, 0.1)] * negatives + [(SPAM, SPAM, 0.9)]).two_class

    assert found is not None
    assert found.false_positives_allowed == allowed


@pytest.mark.parametrize(
    ("positive", "allowed", "missed"),
    [
        pytest.param([2.0, 4.0, 6.0], 0, 2, id="none allowed"),
        pytest.param([2.0, 4.0, 6.0], 1, 1, id="one allowed"),
        pytest.param([5.0, 5.0, 6.0], 0, 2, id="a tie with the first too many"),
        pytest.param([5.0, 5.0, 6.0], 1, 0, id="a tie with one that is allowed"),
    ],
)
def test_missed_positives(positive: list[float], allowed: int, missed: int) -> None:
    negatives = np.array([1.0, 3.0, 5.0])

    assert missed_positives(np.array(positive), negatives, allowed) == missed


def test_the_positive_class_is_spam_unless_another_is_named() -> None:
    rows = [(HAM, SPAM, 0.7), (SPAM, SPAM, 0.8)]

    default, named = of_rows(rows).two_class, of_rows(rows, positive="ham").two_class

    assert default is not None
    assert (default.positive, default.negative) == ("spam", "ham")
    assert (default.false_positives, default.false_negatives) == (1, 0)
    assert named is not None
    assert (named.positive, named.negative) == ("ham", "spam")
    assert (named.false_positives, named.false_negatives) == (0, 1)


def test_the_rarer_of_two_classes_is_positive_if_neither_is_spam() -> None:
    even = np.log(np.full((3, 2), 0.5))

    def positive(*truth: int) -> str | None:
        rows = np.array(truth)
        two = evaluate(rows, even[: len(rows)], rows, ("cat", "dog")).two_class
        return None if two is None else two.positive

    assert positive(0, 0, 1) == "dog"
    assert positive(0, 1, 1) == "cat"
    assert positive(0, 1) == "dog"


def test_two_class_measures_need_two_classes() -> None:
    of_three = evaluate(
        np.array([0]), np.log([[0.5, 0.3, 0.2]]), np.array([0]), ("eggs", "ham", "spam")
    )

    assert of_three.two_class is None


def test_a_positive_class_that_is_none_of_the_two_is_refused() -> None:
    with pytest.raises(
        SettingsError, match="no class 'eggs'; the model's classes are ham, spam"
    ):
        of_rows([], positive="eggs")


def test_a_positive_class_among_three_is_refused() -> None:
    with pytest.raises(SettingsError, match="two classes, found 3"):
        evaluate(
            np.zeros(0, int),
            np.zeros((0, 3)),
            np.zeros(0, int),
            ("a", "b", "c"),
            positive="a",
        )


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([], id="no documents"),
        pytest.param([(SPAM, SPAM, 0.9)], id="one document"),
        pytest.param([(HAM, HAM, 0.1), (HAM, SPAM, 0.9)], id="no positives"),
        pytest.param([(HAM, UNSURE, 0.5), (SPAM, UNSURE, 0.5)], id="all unsure"),
        pytest.param([(-1, SPAM, 0.9), (-1, UNSURE, 0.5)], id="unknown labels only"),
    ],
)
def test_as_dict_is_json_without_nan(rows: list[tuple[int, int, float]]) -> None:
    found = of_rows(rows).as_dict()

    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert {type(leaf) for leaf in leaves(found)} <= {int, float, str, type(None)}


def test_no_documents_have_no_measures() -> None:
    found = of_rows([])

    assert found.accuracy is None
    assert found.accuracy_decided is None
    assert found.log_loss is None
    assert found.brier is None
    assert found.calibration_error is None
    assert found.reliability == ()
    assert found.macro == found.micro == precision_recall(0, 0, 0)
    assert found.two_class is not None
    assert found.two_class.roc_auc is None
    assert found.two_class.lam_percent is None
    assert found.two_class.miss_rate_at_fpr is None


def test_one_class_only_has_one_rate_and_no_ranking() -> None:
    found = of_rows([(SPAM, SPAM, 0.9), (SPAM, HAM, 0.2)]).two_class

    assert found is not None
    assert found.false_negative_rate == Fraction(1, 2)
    assert found.false_positive_rate is None
    assert found.roc_auc is None
    assert found.one_minus_auc_percent is None
    assert found.lam_percent is None
    assert found.missed_at_fpr is None


def test_all_unsure_leaves_no_accuracy_of_the_decided() -> None:
    found = of_rows([(HAM, UNSURE, 0.5), (SPAM, UNSURE, 0.5)])

    assert found.accuracy == 0
    assert found.accuracy_decided is None


def test_every_key_of_as_dict_is_documented() -> None:
    found = of_rows([(SPAM, SPAM, 0.9), (HAM, HAM, 0.2)]).as_dict()

    documented = set(MEASURES_PAGE.read_text(encoding="utf-8").split("`")[1::2])

    assert keys(found) - {"ham", "spam"} <= documented


@pytest.mark.parametrize(
    ("truth", "log_posterior", "decided", "message"),
    [
        pytest.param([0], [[0.0]], [0], "expected shape", id="columns"),
        pytest.param([0], [[-0.7, -0.7]], [0, 1], "expected 1 rows", id="rows"),
        pytest.param([2], [[-0.7, -0.7]], [0], "truth: expected", id="truth"),
        pytest.param([0], [[-0.7, -0.7]], [-2], "decided: expected", id="decision"),
        pytest.param([0], [[0.0, -np.inf]], [0], "finite", id="infinity"),
        pytest.param([0], [[-0.1, -0.1]], [0], "sum to 1", id="not normalised"),
    ],
)
def test_wrong_arrays_are_refused(
    truth: list[int], log_posterior: list[list[float]], decided: list[int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(
            np.array(truth), np.array(log_posterior), np.array(decided), ("ham", "spam")
        )


def digests(text: str) -> list[bytes]:
    return [letter.encode() for letter in text]


def test_documents_are_dealt_in_the_order_of_their_digests() -> None:
    found = stratified_folds([0, 0, 0, 0], 2, digests("dbca"))

    assert found.tolist() == [1, 1, 0, 0]


def test_a_class_goes_on_where_the_others_left_the_folds_uneven() -> None:
    found = stratified_folds([0, 1, 2, 3], 4, digests("abcd"))

    assert found.tolist() == [0, 1, 2, 3]


def test_repeats_share_a_fold_even_under_two_labels() -> None:
    found = stratified_folds([1, 0, 0, 1], 3, digests("abca"))

    assert found[0] == found[3]


def test_a_large_group_of_repeats_is_made_up_for() -> None:
    """Dealing in turn would give 6 and 2."""
    found = stratified_folds([0] * 8, 2, digests("aaabcccd"))

    assert sorted(Counter(found.tolist()).values()) == [4, 4]


def test_no_documents_have_no_folds() -> None:
    assert stratified_folds([], 2, []).tolist() == []


def test_fewer_than_two_folds_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 2, found 1"):
        stratified_folds([0], 1, [b"a"])


def test_a_label_without_a_digest_is_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        stratified_folds([0, 1], 2, [b"a"])
