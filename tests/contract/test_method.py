"""The numbers in docs/method.md are those of the code."""

from math import exp
from pathlib import Path
from typing import Any

import pytest

from nbtext.counts import fitting
from nbtext.counts.calibration import (
    BINS_A_NAT,
    FARTHEST_BIN,
    LOSS_UNIT,
    TEMPERATURES,
    Calibration,
    Prior,
)
from nbtext.counts.sample import CHOSEN_BY, DOCUMENTS, SCORES, TEMPERED_BY, TERMS
from nbtext.learning.choosing import FEWEST
from nbtext.scoring import event_model
from nbtext.scoring.models.contrast import MOST_UNSCALED
from nbtext.scoring.models.registry import default_scoring
from nbtext.scoring.posterior import LEAST_SHARE, log_shares
from nbtext.settings.reading import default_settings

MIN_EVIDENCE = default_scoring("mail", 2).parameter("min_evidence")
MEAN = event_model("mean").prior(2)
WEIGHTED = event_model("weighted").prior(2)
MORE = event_model("contrast").prior(10)
MANY = event_model("contrast").prior(11)
PAGE = " ".join(
    (Path(__file__).parents[2] / "docs" / "method.md").read_text("utf-8").split()
)


@pytest.mark.parametrize(
    "sentence",
    [
        f"(|r| < {MIN_EVIDENCE:g} nats",
        f"a = {event_model('mean').smoothing:g} r_t",
        f"a = {event_model('complement').smoothing:g} posterior = softmax(s z)",
        f"(a = {event_model('sum').smoothing:g} is Laplace's",
        f"counts as one of {LEAST_SHARE:.0e} documents".replace("e-09", "e-9"),
        f"the {DOCUMENTS:,} documents of smallest digest",
        f"it is {CHOSEN_BY:,} of them, and {TEMPERED_BY:,} where nothing but one",
        f"more than 2^{SCORES.bit_length() - 1} scores of all classes, fewer, but "
        f"{FEWEST} ([047]",
        f"more than 2^{TERMS.bit_length() - 1} distinct terms",
        f"sixteen bins a nat up to ±{FARTHEST_BIN // BINS_A_NAT}",
        f"loss at {len(TEMPERATURES)} values of s, "
        f"from 1/{1 / TEMPERATURES[0]:.0f} to {TEMPERATURES[-1]:.0f}",
        f"integer units of 2^-{LOSS_UNIT.bit_length() - 1} nats",
        f"`mean` has m = {MEAN.slope:g}, P = {MEAN.precision:g} and "
        f"Q = {MEAN.offset:g}, `weighted` {WEIGHTED.slope:g}, {WEIGHTED.precision:g} "
        f"and {WEIGHTED.offset:g}:",
        f"`complement` and `contrast` have m = {MORE.slope:g} and "
        f"P = {MORE.precision:g}, but `contrast` m = {MANY.slope:g} with more than "
        f"{MOST_UNSCALED} classes.",
        f"With fewer than {fitting.FEWEST} held-out documents of a class",
    ],
)
def test_the_page_says_what_the_code_does(sentence: str) -> None:
    assert BINS_A_NAT == 16
    assert sentence in PAGE


def test_the_posterior_without_known_terms_is_that_of_the_example() -> None:
    assert "of one class and one of another, 3/4 and 1/4), not calibrated" in PAGE
    assert [*map(exp, log_shares([3, 1]))] == pytest.approx([3 / 4, 1 / 4])


def test_newton_starts_where_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "goes from s = m and b = 0 to the best numbers" in PAGE
    starts: list[tuple[Any, float, float]] = []
    newton = fitting._newton

    def recording(*arguments: Any) -> tuple[float, float]:
        starts.append(arguments[:3])
        return newton(*arguments)

    monkeypatch.setattr(fitting, "_newton", recording)
    # as many of each class, so that the prior is taken as it is
    counts = {(-40, "a"): 110, (-3, "a"): 10, (5, "b"): 90, (90, "b"): 30}
    prior = Prior(0.75, 5.0, 1.0)
    fitting.fit(Calibration({}, prior, counts), ("a", "b"))

    (whole, slope, offset), (_, *second) = starts
    assert {score % 1 for score, _, _ in whole} == {0.5}
    assert (slope, offset) == (0.75, 0.0)
    assert second == [*newton(whole, slope, offset, prior)]


@pytest.mark.parametrize("n_classes", [2, 3, 20])
@pytest.mark.parametrize("document_format", ["mail", "text"])
def test_by_default_all_that_the_default_score_needs_is_counted(
    document_format: Any, n_classes: int
) -> None:
    event = event_model(default_scoring(document_format, n_classes).score)

    for view in default_settings(document_format, n_classes).views:
        assert {*event.columns(view)} <= {*view.columns}
