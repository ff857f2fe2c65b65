"""
Repeated tokens count repeatedly, and none rules a document by being repeated.

Each more occurrence of a term in a document adds to its weight in the score; yet a term
that occurs a thousand times weighs less than three that occur once, so that repeating
what speaks for one class does not outvote what speaks for the other.
"""

from collections import Counter as Tally
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from nbtext.scoring.model import Model
from nbtext.scoring.models.evidence import score_of
from nbtext.scoring.models.registry import event_model, scoring_of
from nbtext.settings.reading import Settings
from nbtext.settings.views import BODY, NGRAMS
from nbtext.tokens.bag import Bag, bag_of
from nbtext.tokens.reading import Reading
from tests.build import counted, model_of

TEXT = Settings(format="text", views=(BODY, NGRAMS))
SCORING = scoring_of("weighted")
EVENT = event_model("weighted")
SAME_FOLDER = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60
)

WORDS = st.sampled_from(["free", "lunch", "cash", "soon", "offer", "meet"])
TEXTS = st.lists(WORDS, min_size=1, max_size=12).map(" ".join)
OFTEN = st.integers(1, 20) | st.integers(1, 10**6)


def read(text: str) -> Bag:
    return bag_of(Reading(([("body", text)],) * 2, b"", 0), TEXT)


def model_in(folder: Path, known: list[tuple[str, str]]) -> Model:
    return model_of(folder / "m.nbt", counted(known, TEXT), SCORING)


def share(model: Model, bag: Bag, view: int, key: int) -> float:
    """Return what one term adds to the score."""
    part = EVENT.evidence(model, bag)[view]
    return sum(value for term, _, value in part.terms if term == key) / part.divisor


@given(TEXTS, TEXTS, TEXTS, OFTEN, st.data())
@SAME_FOLDER
def test_each_repeat_adds_to_the_share_of_its_term(
    tmp_path: Path, ham: str, spam: str, text: str, n: int, data: st.DataObject
) -> None:
    model = model_in(tmp_path, [("ham", ham), ("spam", spam)])
    bag = read(text)
    view = data.draw(st.integers(0, 1))
    assume(bag[view])
    key = data.draw(st.sampled_from(sorted(bag[view])))

    terms = [Tally(terms) for terms in bag]
    terms[view][key] = n
    before = share(model, tuple(terms), view, key)
    terms[view][key] = n + 1
    after = share(model, tuple(terms), view, key)

    assert abs(after) > abs(before) or before == after == 0
    assert before * after >= 0


@given(TEXTS, TEXTS, TEXTS, st.data())
@SAME_FOLDER
def test_a_thousand_weigh_less_than_three_terms(
    tmp_path: Path, ham: str, spam: str, text: str, data: st.DataObject
) -> None:
    model = model_in(tmp_path, [("ham", ham), ("spam", spam)])
    bag = read(text)
    assume(bag[0])
    key = data.draw(st.sampled_from(sorted(bag[0])))

    def weight(n: int) -> float:
        terms = (bag[0] | {key: n}, bag[1])
        part = EVENT.evidence(model, terms)[0]
        return sum(abs(value) for term, _, value in part.terms if term == key)

    assert weight(1000) <= 3 * weight(1)


@pytest.mark.parametrize("often", [10, 1000, 100_000])
def test_a_word_that_is_repeated_does_not_rule(tmp_path: Path, often: int) -> None:
    spam = "cheap watches offer pills cash prize winner"
    model = model_in(tmp_path, [("ham", "meeting about lunch"), ("spam", spam)])
    terms = [Tally(terms) for terms in read(f"{spam} lunch")]

    for repeated in terms:
        repeated.update(dict.fromkeys(read("lunch")[0], often))
    ((score,), (plain,)) = (
        score_of(EVENT.evidence(model, bag), 1) for bag in (tuple(terms), read(spam))
    )

    assert 0 < score < plain
