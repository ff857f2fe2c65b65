"""The weighted score, by hand."""

from collections import Counter as Tally
from fractions import Fraction
from math import log
from pathlib import Path

import pytest

from nbtext.scoring.models.evidence import score_of
from nbtext.scoring.models.registry import event_model, scoring_of
from nbtext.tokens.tokenizer import keys
from tests.build import TEXT_WORDS, counted, model_of

TEXTS = [("ham", "lunch lunch lunch"), ("ham", "soon"), ("spam", "cash soon")]
SETTINGS = TEXT_WORDS


def raw(folder: Path, text: str, **parameters: float) -> float:
    scoring = scoring_of("weighted").with_parameters(**parameters)
    model = model_of(folder / "m.nbt", counted(TEXTS, SETTINGS), scoring)
    bag = tuple(Tally(keys(view, [("body", text)])) for view in SETTINGS.views)
    return score_of(event_model("weighted").evidence(model, bag), 1)[0]


# ham has 4 occurrences, spam 2
H = 2 * Fraction(1, 10) / (4 + 2)
LUNCH = log(H / (Fraction(3, 4) + H))
SOON = log((Fraction(1, 2) + H) / (Fraction(1, 4) + H))
CASH = log((Fraction(1, 2) + H) / H)


def test_terms_weigh_by_what_they_say_against_the_strength(tmp_path: Path) -> None:
    found = raw(tmp_path, "cash soon unheard", strength=2.0)

    assert found == pytest.approx((CASH**2 + SOON**2) / (CASH + SOON + 2), rel=1e-12)


def test_a_repeat_weighs_by_its_logarithm(tmp_path: Path) -> None:
    found = raw(tmp_path, "lunch " * 7 + "cash", strength=8.0)

    g = 1 + log(7) / 4
    expected = (CASH**2 - g * LUNCH**2) / (CASH - g * LUNCH + 8)
    assert found == pytest.approx(expected, rel=1e-12)


def test_without_a_known_term_it_is_zero(tmp_path: Path) -> None:
    assert raw(tmp_path, "unheard of") == 0.0


def test_its_priors_and_candidates_are_those_of_the_page() -> None:
    scoring = scoring_of("weighted")

    assert (scoring.smoothing, scoring.parameters) == (0.1, (("strength", 8.0),))
