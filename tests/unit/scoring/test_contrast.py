"""The complement and the contrast score by hand, and what a correction adds to it."""

from math import floor, hypot, log
from pathlib import Path

import pytest

from nbtext.counts.correction import CorrectionInfo
from nbtext.counts.correction_table import Correction, correction_of
from nbtext.counts.fitting import Fit
from nbtext.scoring.candidates import candidates
from nbtext.scoring.correction import correction_evidence
from nbtext.scoring.held_out import fitted
from nbtext.scoring.model import Model, load_model
from nbtext.scoring.models.contrast import MODEL
from nbtext.scoring.models.evidence import score_of
from nbtext.scoring.models.registry import for_classes, scoring_of
from nbtext.scoring.score import Scored, score
from nbtext.settings.columns import WEIGHTED
from nbtext.settings.reading import Settings
from nbtext.settings.scoring import Scoring
from nbtext.settings.views import NGRAMS
from nbtext.store.contents import Contents
from nbtext.store.writing import replace_file
from nbtext.tokens.bag import bag_of
from nbtext.tokens.reading import Reading
from tests.build import WORD_WEIGHTS, WORDS, column, counted, key_of, model_of

CONTRAST = scoring_of("contrast")
TEXTS = [("x", "p"), ("y", "q q q r r r r"), ("z", "p p p q q q q"), ("z", "r")]


def reading(text: str, n_views: int = 1) -> Reading:
    return Reading(([("body", text)],) * n_views, b"", 1, False)


def scored(model: Model, text: str, fit: Fit) -> Scored:
    bag = bag_of(reading(text, len(model.settings.views)), model.settings)
    return score(model, bag, fit)


def log_posterior(model: Model, text: str, fit: Fit) -> tuple[float, ...]:
    return scored(model, text, fit).log_posterior


def unit(n: int, *others: int) -> float:
    """Return the weight of a term that occurs n times in a document."""
    logs = [round(2048 * log(1 + count)) for count in (n, *others)]
    return floor(65535 * logs[0] / hypot(*logs)) / 65535


def by_hand(own: float) -> list[float]:
    """Return z of the document "p q q s" by TEXTS, in which s is not."""
    a, three, four = 0.03, unit(3, 4), unit(4, 3)
    weights = {"p": (1, 0, three), "q": (0, three, four), "r": (0, four, 1)}
    sizes = (1, three + four, three + four + 1)
    length = hypot(1420, 2250)  # ln 2 and ln 3, in units of 1/2048
    document = {"p": 1420 / length, "q": 2250 / length}
    h = 0.01 * 3 / sum(sizes)
    return [
        sum(
            -x * log((sum(weights[t]) - weights[t][c] + a) / rest)
            + own * x * log(weights[t][c] / sizes[c] + h)
            for t, x in document.items()
        )
        for c, rest in enumerate(sum(sizes) - size + a * 3 for size in sizes)
    ]


@pytest.mark.parametrize(
    "scoring",
    [
        scoring_of("complement"),
        *(
            CONTRAST.with_parameters(own=own, scaled=scaled)
            for own in (0.0, 0.35, 1.0)
            for scaled in (0.0, 1.0)
        ),
    ],
)
def test_complement_and_contrast_by_hand(scoring: Scoring, tmp_path: Path) -> None:
    model = model_of(tmp_path / "m.nbt", counted(TEXTS, WORD_WEIGHTS), scoring)
    parameters = dict(scoring.parameters)
    z = by_hand(parameters.get("own", 0.0))
    mean = sum(z) / 3
    deviation = (sum((value - mean) ** 2 for value in z) / 3) ** 0.5

    found = scored(model, "p q q s", Fit(2.0, 0.0, 99))

    divisor = deviation if parameters.get("scaled") else 1.0
    for c in (1, 2):
        expected = 2.0 * (z[c] - z[0]) / divisor
        log_odds = found.log_posterior[c] - found.log_posterior[0]
        assert log_odds == pytest.approx(expected, rel=1e-9)
    assert (found.known, found.tokens) == (3, 4)


def test_views_of_bytes_weigh_as_much_as_their_parameter(tmp_path: Path) -> None:
    texts = [("a", "hello there"), ("b", "good morning")]

    def log_odds(settings: Settings, ngrams: float) -> float:
        scoring = CONTRAST.with_parameters(ngrams=ngrams)
        model = model_of(tmp_path / "m.nbt", counted(texts, settings), scoring)
        first, second = log_posterior(model, "hello", Fit(1.0, 0.0, 9))
        return first - second

    both = Settings("text", (WORDS, NGRAMS)).counting(WEIGHTED)
    words = log_odds(WORD_WEIGHTS, 0.0)
    ngrams = log_odds(Settings("text", (NGRAMS,)).counting(WEIGHTED), 1.0)

    for weight in (0.0, 0.5, 1.0):
        assert log_odds(both, weight) == pytest.approx(words + weight * ngrams)


@pytest.mark.parametrize("scaled", [0.0, 1.0])
@pytest.mark.parametrize("text", ["hello", "good morning there", "nobody", ""])
def test_scores_by_many_scorings_are_those_of_their_evidence(
    tmp_path: Path, text: str, scaled: float
) -> None:
    texts = [("a", "hello there"), ("b", "good morning"), ("c", "there, there")]
    both = Settings("text", (WORDS, NGRAMS)).counting(WEIGHTED)
    model = model_of(tmp_path / "m.nbt", counted(texts, both), CONTRAST)
    bag = bag_of(reading(text, 2), model.settings)
    scorings = [one.with_parameters(scaled=scaled) for one in candidates(CONTRAST)]

    found = MODEL.scores(model, scorings, bag)

    for raw, scoring in zip(found, scorings, strict=True):
        evidence = MODEL.evidence(model._replace(scoring=scoring), bag)
        assert raw == pytest.approx(score_of(evidence, 3), abs=1e-9)
    assert MODEL.scores(model, scorings[:1], bag) == found[:1]


@pytest.mark.parametrize(("n_classes", "scaled"), [(2, 0.0), (10, 0.0), (11, 1.0)])
def test_scores_of_more_than_ten_classes_are_scaled(
    n_classes: int, scaled: float
) -> None:
    assert for_classes(CONTRAST, n_classes).parameter("scaled") == scaled
    assert for_classes(scoring_of("mean"), n_classes) == scoring_of("mean")


def correction(scoring: Scoring) -> Correction:
    """Return one in which p speaks for x, by a nat a unit of its weight."""
    nat = 256 * 65535
    values = column([nat, -nat])
    keys = (column([key_of("p")] * 2).astype("u8"), column([0, 1]), values)
    amounts = (
        column([1, 2, 3]).astype("u8").reshape(1, 3),
        *(column([place]) for place in (0, 0, 256)),
    )
    info = CorrectionInfo(scoring.of_scores(), 2.0, documents=1)
    return correction_of(info, ("x", "y", "z"), [keys], amounts)


def corrected(path: Path, scoring: Scoring, made_for: Scoring) -> Model:
    table = counted(TEXTS, WORD_WEIGHTS)
    contents = Contents(table, scoring, correction=correction(made_for))
    replace_file(str(path), contents.pack())
    return load_model(str(path))


@pytest.mark.parametrize("scaled", [0.0, 1.0])
def test_a_correction_adds_biases_and_values_times_weights(
    scaled: float, tmp_path: Path
) -> None:
    scoring = CONTRAST.with_parameters(own=0.2, scaled=scaled)
    plain = model_of(tmp_path / "plain.nbt", counted(TEXTS, WORD_WEIGHTS), scoring)
    model = corrected(tmp_path / "m.nbt", scoring, scoring)

    before = log_posterior(plain, "p q q s", Fit(2.0, 0.0, 1))
    after = log_posterior(model, "p q q s", fitted(model))

    # a bias of one amount, a fiftieth of it; and p is one term among p, q and s
    x = unit(1, 2, 1)
    assert fitted(model).slope == 2.0
    assert (after[0] - after[2]) - (before[0] - before[2]) == pytest.approx(0.02 + x)
    assert (after[1] - after[2]) - (before[1] - before[2]) == pytest.approx(-x)
    bag = bag_of(reading("p q q s"), model.settings)
    sources = [part.source for part in correction_evidence(model, bag)]
    assert sources == ["correction", "body"]


def test_a_correction_of_other_scores_is_passed_over(tmp_path: Path) -> None:
    other = CONTRAST.with_parameters(own=1.0)

    model = corrected(tmp_path / "m.nbt", CONTRAST, other)

    assert model.correction is None
