"""
Worked examples; Manning, Raghavan and Schütze (2008), chapter 13, among them.

Numbers stand as fractions, as a reader can check them.
"""

from collections import Counter as Tally
from fractions import Fraction
from math import exp, log
from pathlib import Path

import pytest

from nbtext.counts.calibration import Calibration, Prior
from nbtext.counts.fitting import Fit
from nbtext.errors import NotAModelError, TrainingError
from nbtext.scoring.held_out import fitted
from nbtext.scoring.model import Model
from nbtext.scoring.models.registry import check_scoring, scoring_of
from nbtext.scoring.posterior import log_shares
from nbtext.scoring.score import Scored, score
from nbtext.settings.reading import Settings
from nbtext.settings.scoring import Scoring
from nbtext.settings.views import View
from nbtext.tokens.tokenizer import keys
from tests.build import WORD_WEIGHTS, WORDS, counted, mean, model_of

CHINA_TEXTS = [
    ("c", "Chinese Beijing Chinese"),
    ("c", "Chinese Chinese Shanghai"),
    ("c", "Chinese Macao"),
    ("j", "Tokyo Japan Chinese"),
]
CHINA = counted(CHINA_TEXTS, WORD_WEIGHTS)
QUESTION = "Chinese Chinese Chinese Tokyo Japan"


def scored(model: Model, text: str, calibration: Fit | None = None) -> Scored:
    fields = [("body", text)]
    views = tuple(Tally(keys(view, fields)) for view in model.settings.views)
    return score(model, views, calibration or Fit())


def test_manning_example_13_1(tmp_path: Path) -> None:
    how = Scoring(score="sum", smoothing=1)

    found = scored(model_of(tmp_path / "m.nbt", CHINA, how), QUESTION)

    c = Fraction(3, 4) * Fraction(5 + 1, 8 + 6) ** 3 * Fraction(0 + 1, 8 + 6) ** 2
    j = Fraction(1, 4) * Fraction(1 + 1, 3 + 6) ** 3 * Fraction(1 + 1, 3 + 6) ** 2
    expected = [log(c / (c + j)), log(j / (c + j))]
    assert found.log_posterior == pytest.approx(expected, rel=1e-12)
    assert (found.known, found.tokens) == (5, 5)


def test_the_sum_score_may_count_each_term_once(tmp_path: Path) -> None:
    how = Scoring(score="sum", smoothing=1, counting="once")

    found = scored(model_of(tmp_path / "m.nbt", CHINA, how), QUESTION)

    # documents with the term; 3 + 1 + 1 + 1 in c, 1 + 1 + 1 in j
    c = Fraction(3, 4) * Fraction(3 + 1, 6 + 6) * Fraction(0 + 1, 6 + 6) ** 2
    j = Fraction(1, 4) * Fraction(1 + 1, 3 + 6) * Fraction(1 + 1, 3 + 6) ** 2
    expected = [log(c / (c + j)), log(j / (c + j))]
    assert found.log_posterior == pytest.approx(expected, rel=1e-12)
    assert (found.known, found.tokens) == (5, 5)


def test_unknown_tokens_add_nothing_to_the_sum(tmp_path: Path) -> None:
    model = model_of(tmp_path / "m.nbt", CHINA, Scoring(score="sum", smoothing=1))

    found = scored(model, f"{QUESTION} Paris Paris")

    assert found.log_posterior == scored(model, QUESTION).log_posterior
    assert (found.known, found.tokens) == (5, 7)


def test_the_mean_score_by_hand(tmp_path: Path) -> None:
    how = mean(0.01)
    # 8 tokens in c, 3 in j; Chinese is weak: |ln((1/3 + h) / (5/8 + h))| < 2
    h = 2 * Fraction(1, 100) / (8 + 3)
    tokyo = log((Fraction(1, 3) + h) / h)
    macao = log(h / (Fraction(1, 8) + h))
    log_odds = 0.5 * ((2 * tokyo + macao) / 3) + 0.25

    model = model_of(tmp_path / "m.nbt", CHINA, how)
    found = scored(model, "Chinese Tokyo Tokyo Macao Paris", Fit(0.5, 0.25, 99))

    assert found.log_posterior[1] - found.log_posterior[0] == pytest.approx(
        log_odds, rel=1e-12
    )
    assert (found.known, found.tokens) == (4, 5)


def test_the_mean_score_of_terms_once_by_hand(tmp_path: Path) -> None:
    how = mean(0.01, counting="once", min_evidence=1e-6)
    h = 2 * Fraction(1, 100) / (6 + 3)
    tokyo = log((Fraction(1, 3) + h) / h)
    chinese = log((Fraction(1, 3) + h) / (Fraction(3, 6) + h))

    model = model_of(tmp_path / "m.nbt", CHINA, how)
    found = scored(model, "Chinese Tokyo Tokyo Chinese Chinese")

    assert found.log_posterior[1] - found.log_posterior[0] == pytest.approx(
        (tokyo + chinese) / 2, rel=1e-12
    )


def test_views_are_added_and_not_weighed_by_their_length(tmp_path: Path) -> None:
    head = View(name="head", text="headers", alphabet="words")
    two = Settings(format="text", views=(head, WORDS))
    how = mean(0.01)
    one_view = model_of(tmp_path / "m.nbt", CHINA, how)
    model = model_of(tmp_path / "two.nbt", counted(CHINA_TEXTS, two), how)

    def log_odds(found: Scored) -> float:
        return found.log_posterior[1] - found.log_posterior[0]

    def of(head: str, body: str) -> float:
        views = tuple(Tally(keys(WORDS, [("", text)])) for text in (head, body))
        return log_odds(score(model, views, Fit()))

    tokyo = log_odds(scored(one_view, "Tokyo"))
    macao = log_odds(scored(one_view, "Macao"))
    assert of("Tokyo", "") == pytest.approx(tokyo)
    assert of("Tokyo", "Macao " * 50) == pytest.approx(tokyo + macao)


@pytest.mark.parametrize("kind", ["sum", "mean", "complement"])
@pytest.mark.parametrize("text", ["", "Paris", "!?"])
def test_without_a_known_token_the_class_shares_are_all_there_is(
    kind: str, text: str, tmp_path: Path
) -> None:
    how = scoring_of(kind)._replace(smoothing=0.1)

    fit = Fit(3.0, 1.0, 99) if how.calibrated else Fit()
    found = scored(model_of(tmp_path / "m.nbt", CHINA, how), text, fit)

    assert found.known == 0
    assert found.log_posterior == pytest.approx([log(3 / 4), log(1 / 4)])


def test_class_shares_are_those_of_the_documents() -> None:
    assert log_shares([2, 3, 5]) == pytest.approx([log(n / 10) for n in (2, 3, 5)])


def test_a_class_without_documents_has_a_share_next_to_nothing() -> None:
    shares = log_shares([0, 5])

    assert exp(shares[0]) < 1e-8
    assert shares[1] == 0


MEAN = mean()
PRIOR = Prior(0.35, 100.0, 1.0)


def held_out(how: Scoring) -> Calibration:
    counts = {(-20, "c"): 60, (20, "j"): 60, (-5, "j"): 3}
    return Calibration(how.of_scores(), PRIOR, counts, (), {"c": 60, "j": 63})


def test_the_calibration_of_the_file_is_used(tmp_path: Path) -> None:
    model = model_of(tmp_path / "m.nbt", CHINA, MEAN, held_out(MEAN))

    assert fitted(model).documents == 123


def test_a_calibration_of_other_scores_is_not_used(tmp_path: Path) -> None:
    other = mean(0.5)

    model = model_of(tmp_path / "m.nbt", CHINA, MEAN, held_out(other))

    assert fitted(model) == Fit(PRIOR.slope)


def test_the_sum_score_is_not_calibrated(tmp_path: Path) -> None:
    how = Scoring(score="sum", smoothing=1, calibrated=False)
    kept = held_out(how)

    assert fitted(model_of(tmp_path / "m.nbt", CHINA, how, kept)) == Fit()
    asked = how._replace(calibrated=True)
    assert fitted(model_of(tmp_path / "m.nbt", CHINA, asked, kept)).documents == 123


@pytest.mark.parametrize("plain", [{}, {"counts": 3}], ids=str)
def test_a_damaged_calibration_says_what_to_do(
    plain: dict[str, object], tmp_path: Path
) -> None:
    model = model_of(tmp_path / "m.nbt", CHINA, MEAN)
    (table,) = model.file.tables
    header = table.header._replace(calibrations=(plain,))
    file = model.file._replace(tables=(table._replace(header=header),))

    with pytest.raises(
        NotAModelError, match=r"damaged .*the calibration: expected the keys .* again"
    ):
        fitted(model._replace(file=file))


@pytest.mark.parametrize(
    ("classes", "message"),
    [(("ham",), "knows only the class 'ham'"), ((), "knows no class")],
    ids=["one", "none"],
)
def test_a_model_that_tells_nothing_apart_is_refused(
    classes: tuple[str, ...], message: str
) -> None:
    settings = Settings(format="text", views=(WORDS,))

    with pytest.raises(TrainingError, match=f"{message}, and two are needed"):
        check_scoring(mean(0.01), settings, classes)
