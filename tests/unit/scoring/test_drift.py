"""Whether what is classified scores unlike the documents that were held out."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext import train_on
from nbtext.counts import bin_of
from nbtext.counts.calibration import BINS_A_NAT
from nbtext.document import Document
from nbtext.scoring.decide import decide
from nbtext.scoring.drift import FEWEST, LARGEST, DriftMeter, distance
from nbtext.scoring.held_out import fitted, held_out
from nbtext.scoring.model import Model, load_model
from nbtext.scoring.posterior import log_posterior
from nbtext.scoring.score import Scored
from nbtext.settings.views import Field
from nbtext.store import read_contents

HAM = {-9: 300, -8: 500, -2: 200}
SPAM = {3: 100, 8: 700, 9: 200}


def test_a_mixture_is_not_unlike_whatever_its_proportions() -> None:
    for of_ham, of_spam in ((1, 1), (9, 1), (0, 1), (1, 0), (3, 7)):
        mixed = {bin_: of_ham * n for bin_, n in HAM.items() if of_ham}
        mixed |= {bin_: of_spam * n for bin_, n in SPAM.items() if of_spam}
        assert distance(mixed, HAM, SPAM) == pytest.approx(0, abs=1e-4)


def test_scores_between_those_of_the_classes_are_unlike() -> None:
    assert distance({0: 50}, HAM, SPAM) == pytest.approx(0.5, abs=1e-4)
    assert distance({0: 20, -9: 30, 8: 50}, HAM, SPAM) > LARGEST


HISTOGRAMS = st.dictionaries(
    st.integers(-30, 30), st.integers(1, 50), min_size=1, max_size=8
)


@given(HISTOGRAMS, HISTOGRAMS, HISTOGRAMS)
def test_no_proportions_come_nearer(
    found: dict[int, int], one: dict[int, int], other: dict[int, int]
) -> None:
    least = distance(found, one, other)

    assert 0 <= least <= 1
    for step in range(11):
        weight = step / 10
        mixed = {
            bin_: weight * one.get(bin_, 0) / sum(one.values())
            + (1 - weight) * other.get(bin_, 0) / sum(other.values())
            for bin_ in {*one, *other}
        }
        total, largest = 0.0, 0.0
        for bin_ in sorted({*found, *one, *other}):
            total += found.get(bin_, 0) / sum(found.values()) - mixed.get(bin_, 0)
            largest = max(largest, abs(total))
        assert least <= largest + 1e-4


def model_of(path: Path, ham: dict[int, int], spam: dict[int, int]) -> Model:
    """Return a model whose held-out documents scored so."""
    train_on([("spam", "money winner"), ("ham", "lunch meeting")], str(path))
    contents = read_contents(load_model(str(path)).file)
    counts = {(bin_, "ham"): n for bin_, n in ham.items()}
    counts |= {(bin_, "spam"): n for bin_, n in spam.items()}
    documents = {"ham": sum(ham.values()), "spam": sum(spam.values())}
    kept = tuple(
        one._replace(counts=counts, documents=documents)
        for one in contents.calibrations
    )
    contents = replace(contents, calibrations=kept)
    path.write_bytes(b"".join(map(bytes, contents.pack())))
    return load_model(str(path))


def metered(model: Model, bins: dict[int, int]) -> DriftMeter:
    meter = DriftMeter(model)
    for bin_, n in bins.items():
        score = ((bin_ + 0.5) / BINS_A_NAT,)
        assert bin_of(score[0]) == bin_
        posterior = log_posterior(score, "histogram", fitted(model))
        scored = Scored(posterior, posterior, 1, 1)
        meter.add([decide(Document("-", ()), scored, model.classes)] * n)
    return meter


def test_the_scores_of_decisions_are_held_against_those_held_out(
    tmp_path: Path,
) -> None:
    model = model_of(tmp_path / "m.nbt", HAM, SPAM)
    assert held_out(model).documents == {"ham": 1000, "spam": 1000}

    alike = metered(model, {-9: 30, -8: 50, -2: 20, 8: 10}).drift()
    unlike = metered(model, {-1: 60, 1: 60}).drift()

    assert alike is not None
    assert unlike is not None
    assert (alike.documents, alike.is_large) == (110, False)
    assert (unlike.documents, unlike.is_large) == (120, True)


def test_of_few_documents_nothing_is_said(tmp_path: Path) -> None:
    model = model_of(tmp_path / "m.nbt", HAM, SPAM)
    few = model_of(tmp_path / "few.nbt", {-9: FEWEST - 1}, SPAM)

    assert metered(model, {0: FEWEST - 1}).drift() is None
    assert metered(few, {0: FEWEST}).drift() is None


def test_of_records_nothing_is_said_since_text_alone_was_held_out(
    tmp_path: Path,
) -> None:
    model = model_of(tmp_path / "m.nbt", HAM, SPAM)
    fields = (Field("text"), Field("city", "value"))
    of_records = model._replace(settings=model.settings.reading(fields))

    assert metered(of_records, {-1: 60, 1: 60}).drift() is None


def test_of_more_than_two_classes_nothing_is_said(tmp_path: Path) -> None:
    path = tmp_path / "m.nbt"
    train_on([(label, f"{label} words") for label in ("a", "b", "c")], str(path))
    meter = DriftMeter(load_model(str(path)))
    scored = Scored((-1.0, -1.2, -1.1), (-1.0, -1.2, -1.1), 1, 1)

    meter.add([decide(Document("-", ()), scored, ("a", "b", "c"))] * FEWEST)

    assert meter.drift() is None
