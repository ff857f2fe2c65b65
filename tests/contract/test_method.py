"""The numbers in docs/method.md are those of the code."""

import re
from math import exp, log
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
)
from nbtext.counts.sample import DOCUMENTS, TERMS
from nbtext.scoring import default_scoring, event_model
from nbtext.scoring.posterior import LEAST_SHARE, log_shares
from nbtext.settings import default_settings

PAGE = " ".join(
    (Path(__file__).parents[2] / "docs" / "method.md").read_text("utf-8").split()
)


@pytest.mark.parametrize(
    "sentence",
    [
        f"(|r| < {default_scoring(2).min_evidence:g} nats",
        f"a = {event_model('mean').smoothing:g} r_t",
        f"a = {event_model('complement').smoothing:g} posterior = softmax(s z)",
        f"(a = {event_model('sum').smoothing:g} is Laplace's",
        f"counts as one of {LEAST_SHARE:.0e} documents".replace("e-09", "e-9"),
        f"the {DOCUMENTS:,} documents of smallest digest",
        f"more than 2^{TERMS.bit_length() - 1} distinct terms",
        f"sixteen bins a nat up to ±{FARTHEST_BIN // BINS_A_NAT}",
        f"loss at {len(TEMPERATURES)} values of s, "
        f"from 1/{1 / TEMPERATURES[0]:.0f} to {TEMPERATURES[-1]:.0f}",
        f"integer units of 2^-{LOSS_UNIT.bit_length() - 1} nats",
        f"With fewer than {fitting.FEWEST} documents of a class nothing is fitted",
    ],
)
def test_the_page_says_what_the_code_does(sentence: str) -> None:
    assert BINS_A_NAT == 16
    assert sentence in PAGE


def test_the_posterior_without_known_terms_is_that_of_the_example() -> None:
    assert "of one class and one of another, 3/4 and 1/4), not calibrated" in PAGE
    assert [*map(exp, log_shares([3, 1]))] == pytest.approx([3 / 4, 1 / 4])


def test_newton_starts_where_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.search(r"s = 0 and b = ln\(q / \(1 - q\)\), with q the mean of", PAGE)
    starts: list[tuple[Any, float, float]] = []
    newton = fitting._newton

    def recording(rows: Any, slope: float, offset: float) -> tuple[float, float]:
        starts.append((rows, slope, offset))
        return newton(rows, slope, offset)

    monkeypatch.setattr(fitting, "_newton", recording)
    counts = {(-40, "a"): 50, (-3, "a"): 10, (5, "b"): 90, (90, "b"): 30}
    fitting.fit(Calibration(counts=counts), ("a", "b"))

    (whole, slope, offset), (_, *second) = starts
    q = sum(n * target for _, n, target in whole) / 180
    assert {score % 1 for score, _, _ in whole} == {0.5}
    assert slope == 0
    assert offset == pytest.approx(log(q / (1 - q)))
    assert second == [*newton(whole, slope, offset)]


@pytest.mark.parametrize("n_classes", [2, 3, 20])
@pytest.mark.parametrize("document_format", ["mail", "text"])
def test_by_default_all_that_the_default_score_needs_is_counted(
    document_format: Any, n_classes: int
) -> None:
    event = event_model(default_scoring(n_classes).score)

    for view in default_settings(document_format, n_classes).views:
        assert {*event.columns(view)} <= {*view.columns}
