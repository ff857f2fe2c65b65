"""Losses at all temperatures are those that one document has at each of them."""

from collections.abc import Iterator, Sequence
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from nbtext.counts.calibration import LOSS_UNIT, MOST_LOSS, OCTAVE, TEMPERATURES
from nbtext.counts.term_table import TermTable
from nbtext.scoring import leave_one_out
from nbtext.scoring.batch_model import BatchModel, batch_model_of
from nbtext.scoring.leave_one_out import (
    AT_A_TIME,
    Finds,
    left_out,
    observed_losses,
    slices,
)
from nbtext.scoring.models.registry import event_model, scoring_of
from nbtext.scoring.posterior import log_prior, normalised
from nbtext.settings.columns import WEIGHTED
from nbtext.settings.reading import Settings
from nbtext.settings.views import TOPIC
from nbtext.tokens import Terms, read_terms
from nbtext.tokens.bags import terms_of
from nbtext.tokens.engine import PLAIN, use
from tests.build import counted

SETTINGS = Settings("text", (TOPIC,)).counting(WEIGHTED)  # no byte n-grams
NUMBERS = st.floats(-1000, 1000) | st.just(-np.inf)


def losses_of(scores: list[float], label: int) -> list[float]:
    """Return the losses of one document, as `observed` defines them."""
    return [
        min(-normalised([s * score for score in scores])[label], MOST_LOSS)
        for s in TEMPERATURES
    ]


@given(st.data())
def test_they_are_the_sums_of_what_one_document_has(data: st.DataObject) -> None:
    n_documents, n_classes = data.draw(st.integers(0, 4)), data.draw(st.integers(2, 6))
    scores = data.draw(arrays(float, (n_documents, n_classes), elements=NUMBERS))
    classes = st.integers(0, n_classes - 1)
    labels = data.draw(arrays(np.int64, n_documents, elements=classes))

    found = observed_losses(scores, labels) / LOSS_UNIT

    expected = [
        losses_of(row, label)
        for row, label in zip(scores.tolist(), labels.tolist(), strict=True)
    ]
    # each is rounded to a unit
    tolerance = (n_documents + 1) / LOSS_UNIT
    assert found == pytest.approx(
        np.sum(expected, axis=0) if expected else 0.0, rel=1e-9, abs=tolerance
    )


@pytest.mark.parametrize("n_classes", [2, 9, 70, 400])
def test_documents_that_are_many_are_dealt_with_in_parts(n_classes: int) -> None:
    n_documents = 2 * AT_A_TIME + 3
    scores = np.random.default_rng(1).normal(size=(n_documents, n_classes))
    labels = np.arange(n_documents) % n_classes

    in_parts = observed_losses(scores, labels)

    halves = np.array_split(np.arange(n_documents), 2)
    apart = [observed_losses(scores[half], labels[half]) for half in halves]
    assert in_parts.tolist() == np.sum(apart, axis=0).tolist()


@pytest.mark.parametrize("n_classes", [2, 9, 70, 400])
def test_losses_are_the_same_however_many_are_computed_at_a_time(
    n_classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(4)
    scores = 10 * random.normal(size=(300, n_classes))
    labels = random.integers(0, n_classes, 300)
    found = observed_losses(scores, labels)

    monkeypatch.setattr(leave_one_out, "ROOM", 1 << 15)
    monkeypatch.setattr(leave_one_out, "AT_A_TIME", 100)

    assert found.tolist() == observed_losses(scores, labels).tolist()


@pytest.mark.parametrize("n_classes", [2, 9, 70])
def test_documents_that_lose_nothing_any_more_are_left_out_unseen(
    n_classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(3)
    scores = random.normal(size=(400, n_classes)) * random.choice(
        [0.1, 1, 30], (400, 1)
    )
    labels = scores.argmax(axis=1)
    labels[::4] = 0
    found = observed_losses(scores, labels)

    monkeypatch.setattr("nbtext.scoring.leave_one_out.SURE", -1)  # none is

    assert found.tolist() == observed_losses(scores, labels).tolist()


@pytest.mark.parametrize("n_classes", [2, 9])
def test_losses_are_the_same_whatever_lies_side_by_side(
    n_classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(2)
    scores = random.normal(size=(200, n_classes))
    labels = random.integers(0, n_classes, 200)
    few = observed_losses(scores, labels)

    monkeypatch.setattr(leave_one_out, "FEW_CLASSES", 0)

    assert np.abs(observed_losses(scores, labels) - few).max() <= 2


def test_each_octave_doubles_the_temperatures() -> None:
    assert [2 * s for s in TEMPERATURES[:-OCTAVE]] == [*TEMPERATURES[OCTAVE:]]


def counts_and_terms(
    texts: Sequence[tuple[str, str]], score: str
) -> tuple[BatchModel, tuple[list[str], list[Terms]]]:
    """Return a model of texts, and the labels and terms of these."""
    model = batch_model_of(counted(texts, SETTINGS), scoring_of(score))
    fields = [[[("body", text)]] for _, text in texts]
    return model, ([label for label, _ in texts], read_terms(SETTINGS, fields))


@pytest.mark.parametrize("score", ["contrast", "sum", "complement"])
@pytest.mark.parametrize("least", [1, 200])
@pytest.mark.parametrize("room", ["WAITING", "PART", "PART_TERMS", "PART_SCORES"])
def test_documents_are_scored_alike_however_many_at_a_time(
    monkeypatch: pytest.MonkeyPatch, score: str, room: str, least: int
) -> None:
    texts = [(f"{n % 9}", f"word{n % 7} word{n % 3}") for n in range(90)]
    model, documents = counts_and_terms(texts, score)
    whole = left_out(model, [documents])

    monkeypatch.setattr(leave_one_out, room, least)
    found = left_out(model, [documents])

    assert found.calibrations == whole.calibrations
    assert found.scores is not None
    assert whole.scores is not None
    for one, other in zip(found.scores, whole.scores, strict=True):
        assert one.tolist() == other.tolist()


def test_a_batch_is_cut_by_documents_and_terms_and_scores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = [3, 1, 9, 2, 2, 2, 0, 1]
    views = [terms_of([dict.fromkeys(range(size), 1) for size in sizes])]

    def cut(**rooms: int) -> list[list[int]]:
        with monkeypatch.context() as patch:
            for name, room in rooms.items():
                patch.setattr(leave_one_out, name, room)
            return [sizes[some] for some in slices(views, 3)]

    assert cut() == [sizes]
    assert cut(PART=3) == [[3, 1, 9], [2, 2, 2], [0, 1]]
    assert cut(PART_TERMS=5) == [[3, 1], [9], [2, 2], [2, 0, 1]]
    assert cut(PART_SCORES=3 * 5) == [[3, 1, 9, 2, 2], [2, 0, 1]]
    assert cut(PART_SCORES=1) == [[size] for size in sizes]


def test_a_prior_is_made_for_each_class_that_is_left_out_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = [(f"{n:03}", f"word{n}") for n in range(300)]
    model, _ = counts_and_terms(texts, "sum")
    some = texts[:4] * 2
    documents = read_terms(SETTINGS, [[[("body", text)]] for _, text in some])
    labels = np.array([int(label) for label, _ in some])
    made = Mock(side_effect=log_prior)
    monkeypatch.setattr("nbtext.scoring.models.joint.log_prior", made)

    (scores,) = event_model("sum").many_by(
        model, [model.scoring], model.find(documents), labels
    )

    assert made.call_count == 4
    assert scores[:4].tolist() == scores[4:].tolist()


def test_candidates_of_the_same_scores_have_the_same_losses() -> None:
    texts = [(str(n % 3), f"word{n % 7} word{n % 3}") for n in range(60)]
    model, documents = counts_and_terms(texts, "contrast")

    found = left_out(model, [documents])

    by_parameters = {
        tuple(one.scoring["parameters"].values()): one for one in found.calibrations
    }
    assert len(by_parameters) == len(found.calibrations) == 12
    assert found.scores is not None
    labels = np.array([int(label) for label, _ in texts])
    for one, scores in zip(found.calibrations, found.scores, strict=True):
        assert one.losses == tuple(observed_losses(scores, labels).tolist())
        assert one.documents == {"0": 20, "1": 20, "2": 20}


def test_terms_are_summed_up_once_however_many_parts_documents_with_copies_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = [(f"{n % 3}", f"word{n % 7} word{n % 4}") for n in range(60)]
    model, documents = counts_and_terms(texts, "contrast")
    usual, summed = TermTable.sums, Mock()

    def sums(table: TermTable, column: int) -> NDArray[np.int64]:
        summed()
        return usual(table, column)

    monkeypatch.setattr(TermTable, "sums", sums)
    for part in (1, 60):
        monkeypatch.setattr(leave_one_out, "PART", part)
        left_out(model, [documents], copies=np.full(60, 2))

    assert summed.call_count == 1


@pytest.fixture(params=[None, PLAIN], ids=["compiled", "plain"])
def engine(request: pytest.FixtureRequest) -> Iterator[None]:
    use(request.param)
    yield
    use(None)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("copies", [None, np.arange(60) % 2 + 1], ids=["one", "two"])
def test_what_was_found_once_serves_all_ways_to_score(
    copies: NDArray[np.int64] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [(f"{n % 3}", f"word{n % 7} word{n % 4}") for n in range(60)]
    model, documents = counts_and_terms(texts, "contrast")
    monkeypatch.setattr(leave_one_out, "PART", 25)
    finds: Finds = {}

    for score, smoothing in [("complement", 1.0), ("contrast", 0.03), ("contrast", 1)]:
        by = model.scored_by(scoring_of(score)._replace(smoothing=smoothing))
        found = left_out(by, [documents], copies=copies, finds=finds)
        expected = left_out(by, [documents], copies=copies)
        assert found.calibrations == expected.calibrations
        for one, other in zip(found.scores or [], expected.scores or [], strict=True):
            assert one.tobytes() == other.tobytes()

    assert sorted(finds) == [0, 25, 50]
