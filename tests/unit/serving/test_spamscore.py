"""A decision in SpamAssassin's words: what is spam has 5.0 points or more."""

from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext.document import Document
from nbtext.scoring.decide import Decision, decide
from nbtext.scoring.decide import DecisionRule as Rule
from nbtext.scoring.explanation import Reason
from nbtext.scoring.posterior import normalised
from nbtext.scoring.score import Scored
from nbtext.serving.spamscore import added_by_verdict, report_of, verdict_of

CLASSES = ("ham", "list", "spam")


def decision(scores: list[float], threshold: float = 0.0, known: int = 7) -> Decision:
    posterior = tuple(normalised(scores))
    classes = CLASSES if len(scores) == 3 else ("ham", "spam")
    return decide(
        Document("-", ()),
        Scored(posterior, posterior, known, 9),
        classes,
        rule=Rule(threshold),
    )


def of(probability: float) -> list[float]:
    """Return scores of two classes that make spam so probable."""
    return [log(1 - probability), log(probability)]


@pytest.mark.parametrize(
    ("probability", "points"),
    [(0.9999, 15.0), (0.99, 10.0), (0.9, 7.4), (0.5001, 5.0), (0.4999, 4.9),
     (0.1, 2.6), (0.01, 0.0), (0.0001, -5.0)],
)  # fmt: skip
def test_points_of_two_classes(probability: float, points: float) -> None:
    verdict = verdict_of(decision(of(probability)), "spam")

    assert verdict.points == points
    assert verdict.is_spam == (points >= 5)
    assert verdict.header == f"{points >= 5} ; {points:.1f} / 5.0"


def test_a_threshold_moves_the_points() -> None:
    assert verdict_of(decision(of(0.99), 0.99), "spam", Rule(0.99)).points == 5.0
    assert verdict_of(decision(of(0.98), 0.99), "spam", Rule(0.99)).points == 4.2
    assert verdict_of(decision(of(0.98), 1.0), "spam", Rule(1.0)).points == -30.7


@given(
    st.lists(st.floats(-800, 800), min_size=2, max_size=3),
    st.floats(0, 1),
    st.integers(0, 1),
)
def test_five_points_are_spam_and_nothing_else(
    scores: list[float], threshold: float, known: int
) -> None:
    found = decision(scores, threshold, known)

    verdict = verdict_of(found, "spam", Rule(threshold))

    assert verdict.is_spam == (found.label == "spam")
    assert verdict.is_spam == (verdict.points >= 5.0)
    assert -99.9 <= verdict.points <= 99.9
    assert "-0.0" not in verdict.score
    assert 0 <= verdict.probability < 1


@given(st.lists(st.floats(-20, 20), min_size=3, max_size=3))
def test_of_three_classes_the_points_are_those_of_the_best_two(
    scores: list[float],
) -> None:
    verdict = verdict_of(decision(scores), "spam")

    odds = exp(scores[2] - max(scores[:2]))
    assert verdict.points == pytest.approx(5 + 2.5 * log(odds, 10), abs=0.11)


def test_no_known_token_is_no_spam() -> None:
    verdict = verdict_of(decision(of(0.9), known=0), "spam")

    assert (verdict.is_spam, verdict.points) == (False, 4.9)
    assert verdict.tests == "NBTEXT_UNSURE,NBTEXT_90"


def test_tests_are_names_that_rules_can_have() -> None:
    odd = Decision(
        "-", "s p\u00e4m\r\n", 0.999, ("a", "s p\u00e4m\r\n"), (log(0.001), log(0.999)),
        (log(0.001), log(0.999)), 1, 1, False, None,
    )  # fmt: skip

    assert verdict_of(decision(of(0.9999)), "spam").tests == "NBTEXT_SPAM,NBTEXT_99"
    assert verdict_of(decision(of(0.001)), "spam").tests == "NBTEXT_HAM,NBTEXT_00"
    assert verdict_of(odd, "s p\u00e4m\r\n").tests == "NBTEXT_S_P_XE4M_R_N,NBTEXT_99"


def test_fields_say_what_rules_look_for() -> None:
    spam = added_by_verdict(verdict_of(decision(of(0.9999)), "spam"))
    ham = added_by_verdict(verdict_of(decision(of(0.001)), "spam"))

    assert (spam.field, spam.value) == ("X-NBText", "spam, probability=0.9999")
    assert dict(spam.more)["X-Spam-Flag"] == "YES"
    assert dict(spam.more)["X-Spam-Level"] == "*" * 15
    assert dict(spam.more)["X-Spam-Status"] == (
        "Yes, score=15.0 required=5.0 tests=NBTEXT_SPAM,NBTEXT_99"
    )
    assert "X-Spam-Flag" not in dict(ham.more)
    assert dict(ham.more)["X-Spam-Status"].startswith("No, score=-2.5 required=5.0 ")


def test_the_report_is_short_and_ascii() -> None:
    report = report_of(verdict_of(decision(of(0.9999)), "spam"))

    assert report.isascii()
    assert "spam, 15.0 points, 5.0 required" in report
    assert "9, of which 7 are known" in report
    assert max(map(len, report.splitlines())) < 70


def test_reasons_name_views_and_terms_as_symbols_and_lines() -> None:
    def reason(text: str, view: str, contribution: float) -> Reason:
        return Reason(text, view, view, 1, contribution, 0.0, {}, {}, 0)

    reasons = (
        reason("free mon\u00e9y\r\nX: y", "body", 1.5),
        reason("lunch", "headers", -1.0),
        reason("x" * 99, "body", 0.5),
    )
    verdict = verdict_of(decision(of(0.9999)), "spam")._replace(reasons=reasons)

    report = report_of(verdict)

    assert verdict.symbols == (
        "NBTEXT_SPAM,NBTEXT_99,NBTEXT_BODY,NBTEXT_TERM_FREE_MON_Y__X__Y,"
        f"NBTEXT_TERM_{'X' * 30}"
    )
    assert 'reasons       +1.50 body "free mon\\xe9y\\r\\nX: y"\n' in report
    assert '              -1.00 headers "lunch"\n' in report
    assert report.isascii()
    assert max(map(len, report.splitlines())) < 80
