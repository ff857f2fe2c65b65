"""From which probability on a message is moved."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nbtext import train_on
from nbtext.counts.calibration import FARTHEST_BIN, Calibration, Prior, bin_of
from nbtext.counts.fitting import fit, sigmoid
from nbtext.scoring.decide import CERTAIN
from nbtext.scoring.held_out import held_out
from nbtext.scoring.model import Model, load_model
from nbtext.scoring.threshold import (
    FILTER_RATE,
    LEAST,
    Threshold,
    highest,
    threshold_of,
)
from nbtext.store import read_contents

PRIOR = Prior(0.5, 50.0, 2.0)


@pytest.fixture
def model(tmp_path: Path) -> Model:
    path = tmp_path / "m.nbt"
    train_on([("spam", "money winner"), ("ham", "lunch meeting")], str(path))
    return load_model(str(path))


def scored(model: Model, ham: dict[float, int], spam: dict[float, int]) -> Model:
    """Return a model whose held-out documents have scored so."""
    counts = {(bin_of(score), "ham"): n for score, n in ham.items()}
    counts |= {(bin_of(score), "spam"): n for score, n in spam.items()}
    documents = {"ham": sum(ham.values()), "spam": sum(spam.values())}
    calibration = Calibration(model.scoring.of_scores(), PRIOR, counts, (), documents)
    contents = replace(read_contents(model.file), calibrations=(calibration,))
    Path(model.path).write_bytes(b"".join(map(bytes, contents.pack())))
    return load_model(model.path)


def towards(
    label: str, model: Model, ours: dict[float, int], others: dict[float, int]
) -> Model:
    """Return a model whose documents of a class, and of the other, have scored so."""
    if label == "spam":
        return scored(model, ham=others, spam=ours)
    turned = [{-score: n for score, n in one.items()} for one in (ours, others)]
    return scored(model, ham=turned[0], spam=turned[1])


def probability(model: Model, score: float, label: str) -> float:
    """Return the probability of a class at a score."""
    fitted = fit(held_out(model), model.classes)
    sign = 1 if label == "spam" else -1
    return sigmoid(sign * (fitted.slope * score + fitted.offset))


@pytest.mark.parametrize(
    ("counts", "bin_"),
    [
        ({3: 999}, 3),
        ({3: 1997, 5: 1}, 5),
        ({3: 1998, 5: 1}, 3),
        ({3: 1998, 5: 1, 9: 1}, 5),
        ({3: 1998, 5: 2, 9: 1}, 5),
        ({3: 100, 9: 1}, 9),
        ({3: 2998, 5: 1, 9: 1}, 3),
    ],
    ids=[
        "999",
        "1998, one above",
        "1999, one above",
        "2000, two",
        "2001, three",
        "few",
        "3000",
    ],
)
def test_few_enough_documents_lie_above(counts: dict[int, int], bin_: int) -> None:
    assert highest(counts, FILTER_RATE) == bin_


@pytest.mark.parametrize("label", ["spam", "ham"])
def test_it_lies_just_above_the_highest_of_others(model: Model, label: str) -> None:
    ours, others = {9.0: 1500, 0.5: 20}, {-9.0: 1500, 6.0: 1}
    scores = towards(label, model, ours, others)
    reached, missed = (6.0625, 6.0624) if label == "spam" else (-6.0001, -6.0)

    least = threshold_of(scores, label)

    assert least.documents == 1501
    assert probability(scores, missed, label) < least.probability
    assert probability(scores, reached, label) >= least.probability - 1e-15


def test_with_few_documents_it_is_high_at_least(model: Model) -> None:
    few = scored(model, ham={-2.0: 60}, spam={2.0: 60})

    assert threshold_of(few, "spam") == Threshold(LEAST, 60, 0, 60)
    assert threshold_of(few, "spam").is_far


def test_with_few_documents_it_lies_above_all_of_them(model: Model) -> None:
    few = scored(model, ham={-9.0: 600, 8.0: 1}, spam={9.0: 600})

    assert threshold_of(few, "spam").probability > max(
        LEAST, probability(few, 8.0624, "spam")
    )


def test_beyond_the_last_bin_only_certainty_will_do(model: Model) -> None:
    last = FARTHEST_BIN / 16
    far = scored(model, ham={-last: 600, last: 1}, spam={last: 600})

    assert threshold_of(far, "spam") == Threshold(CERTAIN, 601, 0, 600)


@pytest.mark.parametrize(
    ("others", "reached"), [({-9.0: 600, 12.0: 1}, 10), ({-9.0: 601}, 600)]
)
@pytest.mark.parametrize("label", ["spam", "ham"])
def test_how_much_of_a_class_reaches_it_is_known(
    model: Model, label: str, others: dict[float, int], reached: int
) -> None:
    scores = towards(label, model, {9.0: 290, 8.0: 300, 13.0: 10}, others)

    found = threshold_of(scores, label)

    assert (found.reached, found.own) == (reached, 600)
    assert found.is_far == (reached == 10)


def test_without_documents_it_is_a_constant(model: Model) -> None:
    nobody = scored(model, ham={}, spam={})

    assert threshold_of(nobody, "spam") == Threshold(LEAST, 0)


def test_with_more_classes_it_is_a_constant(tmp_path: Path) -> None:
    path = tmp_path / "m.nbt"
    labelled: list[Any] = [(label, f"{label} words") for label in ("a", "b", "c")]
    train_on(labelled, str(path))

    assert threshold_of(load_model(str(path)), "a") == Threshold(LEAST, 0)
