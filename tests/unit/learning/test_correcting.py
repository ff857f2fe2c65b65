"""Corrections as training makes them, keeps them, and leaves them alone."""

import gc
import weakref
from collections import Counter as Tally
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nbtext
from nbtext.counts import counting, room, sample
from nbtext.counts.correction import AMOUNT_UNIT, BIAS
from nbtext.counts.correction_table import Correction
from nbtext.counts.room import LEAST_BOUND, bounded
from nbtext.document import Document
from nbtext.learning import SettingsOverrides, Trained, correcting, passes, steps, train
from nbtext.learning.correction_change import usual_product
from nbtext.learning.overrides import DEFAULTS
from nbtext.learning.passes import Learnt, Pupils
from nbtext.learning.steps import (
    CUT,
    DECAY,
    DECAY_OF_MANY,
    MANY_PASSES,
    OF_TWO,
    PASSES,
    RATE,
    Manner,
    Rate,
    rate_of,
)
from nbtext.learning.trials import DOUBTS, FURTHER, SHARES, Trial
from nbtext.learning.usual_products import usual_products
from nbtext.scoring.batch_model import open_batch_model
from nbtext.scoring.model import load_model
from nbtext.scoring.models.arrays import normalised
from nbtext.scoring.models.registry import event_model
from nbtext.settings.columns import UNIT
from nbtext.store import compact, read_contents
from nbtext.store.file import open_model
from nbtext.store.writing import replace_file
from nbtext.tokens import read_terms
from nbtext.tokens.bag import bag_of, columns_of, fingerprint
from nbtext.tokens.engine import PLAIN, engine, use
from nbtext.tokens.reading import read
from tests.build import TOPICS, confusing, corrected_terms, texts

BASE = np.array([[0, 900]], np.int32)
"""A document whose first class, its own, is less probable: scores in 1/4096 nat."""

ONE_VISIT = Rate(1, 0.8, CUT)


def trained_on(
    rows: list[tuple[str, str]], overrides: SettingsOverrides = DEFAULTS
) -> Trained:
    items = texts(*rows)
    return train(lambda: iter(items), overrides=overrides)


def correction_of(trained: Trained) -> Correction:
    correction = trained.contents.correction
    assert correction is not None
    return correction


def tsv(path: Path, rows: list[tuple[str, str]]) -> str:
    path.write_text("".join(f"{label}\t{text}\n" for label, text in rows))
    return str(path)


def test_a_correction_is_kept_that_lowers_the_loss_of_documents_held_out() -> None:
    correction = correction_of(trained_on(confusing()))

    facts = correction.info.made_with
    assert facts["loss_with"] < facts["loss_without"]
    assert (facts["held_out"], facts["parts"]) == (240, 4)  # each was, in its turn
    assert (facts["cut"], facts["passes"]) == (CUT, 3)
    assert facts["share"] in SHARES
    assert correction.info.documents == 240
    assert correction.classes == TOPICS
    assert len(correction.amounts) > 0


def test_labels_that_mean_nothing_are_not_learnt() -> None:
    random = np.random.default_rng(3)
    rows = [(str(random.choice(TOPICS)), text) for _, text in confusing(960)]

    assert trained_on(rows).contents.correction is None


def test_labels_are_doubted_where_many_are_wrong() -> None:
    rows = confusing()  # of which the one word that tells is wrong now and then
    is_right = [f"topic{'abcd'[TOPICS.index(label)]} " in text for label, text in rows]
    right = [row for row, told in zip(rows, is_right, strict=True) if told]

    words = SettingsOverrides(byte_ngrams=False)
    of_all, of_right = (
        correction_of(trained_on(some, words)).info for some in (rows, right)
    )

    assert 0.9 < sum(is_right) / len(rows) < 0.95
    assert of_all.made_with["doubt"] in DOUBTS
    assert of_right.made_with["doubt"] == 0.0


HALF = Manner(pace=0.5)  # by which these texts are told better
OFTEN = Manner(pace=0.25, passes=MANY_PASSES)


@pytest.mark.parametrize(
    ("share", "further", "chosen"),
    [
        (0.5, FURTHER, Manner()),
        (0.5, (HALF,), HALF),
        (0.5, (HALF, Manner(pace=0.25)), HALF),
        (0.5, (OFTEN,), OFTEN),
        (0.5, (FURTHER[0], HALF), Manner()),  # none after one that is no better
        (1.0, (HALF,), Manner()),  # where the counts are believed none is tried
    ],
)
def test_a_manner_is_taken_by_which_documents_held_out_lose_less(
    share: float,
    further: tuple[Manner, ...],
    chosen: Manner,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(correcting, "SHARES", (share,))
    monkeypatch.setattr(correcting, "DOUBTS", ())
    losses, rates = [], []
    for tried in ((), further):
        monkeypatch.setattr(correcting, "FURTHER", tried)
        facts = correction_of(trained_on(confusing())).info.made_with
        losses.append(facts["loss_with"])
        rates.append([facts[name] for name in Rate._fields])

    assert rates == [[*rate_of(len(TOPICS), one)] for one in (Manner(), chosen)]
    assert (losses[1] < losses[0]) == (chosen != Manner())
    assert losses[1] <= losses[0]


def test_in_more_passes_each_is_nearer_to_the_one_before() -> None:
    few, many = (rate_of(3, Manner(0.25, 2.0, n)) for n in (PASSES, MANY_PASSES))

    assert few == Rate(PASSES, 2.0 * RATE, CUT, DECAY, 0.25)
    assert many == Rate(MANY_PASSES, 2.0 * RATE, CUT, DECAY_OF_MANY, 0.25)


def test_a_document_moves_a_class_no_further_than_an_amount_has_room_for() -> None:
    for manner in (Manner(), *FURTHER):
        rate = rate_of(3, manner)
        furthest = sum(rate.rate * rate.decay**n for n in range(rate.passes))
        assert furthest * AMOUNT_UNIT < np.iinfo(np.int16).max


def rates_tried(monkeypatch: pytest.MonkeyPatch) -> dict[int, list[Rate]]:
    """Make trials small; return their rates, by how many documents are learnt from."""
    rates: dict[int, list[Rate]] = {}

    def correct(pupils: Pupils, order: Any, rate: Rate, *rest: Any, **kept: Any) -> Any:
        rates.setdefault(len(order), []).append(rate)
        return passes.correct(pupils, order, rate, *rest, **kept)

    monkeypatch.setattr(correcting, "TRIED", 160)
    monkeypatch.setattr(correcting, "correct", correct)
    return rates


@pytest.mark.parametrize("further", [FURTHER[:1], (OFTEN,)])
def test_of_many_documents_the_manner_is_that_of_the_first_trial(
    further: tuple[Manner, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(correcting, "SHARES", (0.5,))
    monkeypatch.setattr(correcting, "FURTHER", further)
    rates = rates_tried(monkeypatch)

    facts = correction_of(trained_on(confusing())).info.made_with

    chosen = Rate(*(facts[name] for name in Rate._fields))  # type: ignore[arg-type]
    tried = [rate_of(len(TOPICS), manner) for manner in (Manner(), *further)]
    assert rates[120][: len(tried)] == tried
    assert rates[180] == rates[240] == [chosen]


def test_two_classes_move_half_as_far() -> None:
    rows = [(label, text) for label, text in confusing(480) if label in TOPICS[:2]]

    correction = correction_of(trained_on(rows, SettingsOverrides(score="contrast")))

    facts = correction.info.made_with
    assert facts["rate"] == RATE * OF_TWO
    pairs = correction.amounts.values.reshape(-1, 2)
    assert (pairs.sum(axis=1) == 0).all()  # both move, by as much


def made_by(
    share: float, rows: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> Trained:
    with monkeypatch.context() as patch:
        patch.setattr(correcting, "SHARES", (share,))
        return trained_on(rows)


@pytest.mark.parametrize("tried", [correcting.TRIED, 160])  # one trial, and two
def test_of_two_shares_the_one_is_taken_that_held_out_documents_lose_less_by(
    tried: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(correcting, "TRIED", tried)
    rows = confusing()
    by_each = [correction_of(made_by(share, rows, monkeypatch)) for share in SHARES]
    losses = [correction.info.made_with["loss_with"] for correction in by_each]

    found = correction_of(trained_on(rows))

    assert losses[0] != losses[1]
    best = by_each[losses.index(min(losses))]
    assert found.info == best.info
    assert found.amounts.values.tobytes() == best.amounts.values.tobytes()


def test_of_many_documents_one_part_is_held_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(correcting, "TRIED", 240)

    facts = correction_of(trained_on(confusing())).info.made_with

    assert (facts["held_out"], facts["parts"]) == (60, 1)


@pytest.mark.parametrize(
    ("tried", "terms", "held_out"),
    [(160, 1 << 22, 60), (161, 1 << 22, 41), (160, 5000, 40)],
    ids=["half as many again", "fewer than that", "of too many terms"],
)
def test_of_many_documents_a_second_trial_of_more_decides(
    tried: int, terms: int, held_out: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(correcting, "TRIED", tried)
    monkeypatch.setattr(correcting, "TRIED_AGAIN_TERMS", terms)

    facts = correction_of(trained_on(confusing())).info.made_with

    assert (facts["held_out"], facts["parts"]) == (held_out, 1)


@pytest.mark.parametrize(("fewest", "is_tried"), [(40, True), (60, True), (61, False)])
def test_of_many_classes_none_is_tried_with_fewer_documents_than_do_good(
    fewest: int, is_tried: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = rates_tried(monkeypatch)  # of 160 documents, and of all 240
    monkeypatch.setattr(correcting, "FEWEST_OF_CLASS", fewest)
    few = trained_on(confusing())
    monkeypatch.setattr(correcting, "MANY_CLASSES", len(TOPICS))
    rates.clear()

    many = trained_on(confusing())

    assert few.contents.correction is not None
    assert (many.contents.correction is not None) is is_tried
    assert bool(rates) is is_tried


def test_the_second_trial_has_the_doubt_of_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(correcting, "FURTHER", ())
    rates = rates_tried(monkeypatch)

    chosen = correction_of(trained_on(confusing())).info.made_with["doubt"]

    doubts = {n: [rate.doubt for rate in of_trial] for n, of_trial in rates.items()}
    assert doubts[120][:3] == [0.0, 0.0, DOUBTS[0]]  # of the better share alone
    assert chosen in {0.0, *DOUBTS}
    assert doubts[180] == [chosen] * len(SHARES)
    assert doubts[240] == [chosen]


@pytest.mark.parametrize("wrong", [0.0, 0.4])
def test_the_second_trial_may_find_that_no_label_is_to_be_doubted(
    wrong: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = rates_tried(monkeypatch)
    first = correcting._Making.trial

    def doubting(making: Any) -> Trial | None:
        trial = first(making)
        return trial and replace(trial, manner=trial.manner._replace(doubt=0.5))

    monkeypatch.setattr(correcting._Making, "trial", doubting)
    random = np.random.default_rng(5)
    rows = [
        (str(random.choice(TOPICS)) if random.random() < wrong else label, text)
        for label, text in confusing()
    ]

    found = trained_on(rows).contents.correction

    assert [rate.doubt for rate in rates[180]] == [0.5, 0.5, 0.0]
    if not wrong:
        assert found is not None
        assert found.info.made_with["doubt"] == 0.0
    else:
        assert found is None or found.info.made_with["doubt"] == 0.5


def test_of_very_many_documents_some_say_how_steep_the_scores_of_all_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rates = rates_tried(monkeypatch)
    logits: list[Any] = []
    correct = correcting.correct  # type: ignore[attr-defined]

    def kept(*of_it: Any, **options: Any) -> Learnt:
        learnt = correct(*of_it, **options)
        logits[:] = [learnt.logits]
        return learnt

    monkeypatch.setattr(correcting, "correct", kept)
    of_few = correction_of(trained_on(confusing())).info
    monkeypatch.setattr(correcting, "TRIED_AGAIN", 160)
    monkeypatch.setattr(correcting, "APART", 8)
    rates.clear()

    found = correction_of(trained_on(confusing()))

    facts, amounts = found.info.made_with, found.amounts
    documents = map(tuple, amounts.entries.tolist())
    assert (facts["held_out"], facts["parts"]) == (30, 1)
    assert found.info.documents == 210
    assert len(rates[210]) == 1
    assert 100 < len({*documents}) <= 210  # the others have moved no class
    assert logits[0].shape == (30, len(TOPICS))
    assert found.info.steepness != of_few.steepness


def test_of_very_many_documents_none_is_held_out_that_is_all_of_its_class(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(correcting, "TRIED_AGAIN", 160)
    monkeypatch.setattr(correcting, "APART", 4)
    taught: list[Tally[int]] = []
    correct = correcting.correct  # type: ignore[attr-defined]

    def noting(pupils: Pupils, order: Any, *of_it: Any, **options: Any) -> Learnt:
        taught.append(Tally(pupils.labels.take(order).tolist()))
        return correct(pupils, order, *of_it, **options)

    monkeypatch.setattr(correcting, "correct", noting)
    lonely = [(f"lonely{n}", f"nothing else says word{n}") for n in range(24)]

    found = correction_of(trained_on([*confusing(), *lonely]))

    one_in_four = (240 + len(lonely)) // 4
    assert found.info.documents == taught[-1].total() > 240 + len(lonely) - one_in_four
    assert len(taught[-1]) == len(TOPICS) + len(lonely)


def test_of_two_classes_all_are_scored_where_some_decide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [row for row in confusing(600) if row[0] in TOPICS[:2]][:240]
    monkeypatch.setattr(correcting, "TRIED", 120)
    monkeypatch.setattr(correcting, "TRIED_AGAIN", 160)
    monkeypatch.setattr(correcting, "MOST_APART", 7)

    trained = trained_on(rows)

    info, of_all = correction_of(trained).info, trained.contents.calibrations[-1]
    assert info.made_with["held_out"] == 6  # one in 35
    assert info.documents == 234
    assert of_all.documents == Tally(label for label, _ in rows)
    assert sum(of_all.counts.values()) == 240


@pytest.mark.skipif(not engine().is_compiled, reason="arrays need the vectors")
def test_vectors_have_left_memory_when_values_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left: list[list[Any]] = []

    def correct(pupils: Pupils, *rest: Any, **kept: Any) -> Learnt:
        before = [weakref.ref(vectors.places) for vectors in pupils.views]
        learnt = passes.correct(pupils, *rest, **kept)
        left.append([array() is None for array in before])
        return learnt

    monkeypatch.setattr(correcting, "correct", correct)

    correction_of(trained_on(confusing()))
    assert left[-1] == [True, True]
    assert not any(map(any, left[:-1]))  # of trials, they are wanted again


def test_half_of_the_scores_are_half_as_steep(monkeypatch: pytest.MonkeyPatch) -> None:
    fully, half = (made_by(share, confusing(), monkeypatch) for share in (1.0, 0.5))

    slopes = correction_of(fully).info.slope, correction_of(half).info.slope
    assert slopes[1] == slopes[0] / 2
    assert fully.contents.calibrations == half.contents.calibrations


@pytest.mark.parametrize(
    "overrides",
    [
        SettingsOverrides(correction=False),
        SettingsOverrides(ledger=False),
        SettingsOverrides(score="complement"),
    ],
    ids=str,
)
def test_there_is_none_where_there_cannot_or_shall_not_be(
    overrides: SettingsOverrides,
) -> None:
    assert trained_on(confusing(), overrides).contents.correction is None


def test_values_are_what_documents_have_added() -> None:
    rows = confusing()
    trained = trained_on(rows)
    correction, settings = correction_of(trained), trained.contents.counts.settings
    amounts: dict[tuple[int, int, int], dict[int, int]] = {}
    for entry, class_, value in zip(
        correction.amounts.entries.tolist(),
        correction.amounts.classes.tolist(),
        correction.amounts.values.tolist(),
        strict=True,
    ):
        amounts.setdefault(tuple(entry), {})[class_] = value
    expected: list[dict[tuple[int, int], int]] = [{} for _ in settings.views]
    for document in texts(*rows):
        reading = read(document, settings)
        bag = bag_of(reading, settings)
        digest = reading.digest
        entry = (
            int.from_bytes(digest[:8], "big"),
            int.from_bytes(digest[8:], "big"),
            fingerprint(bag),
        )
        for class_, value in amounts.get(entry, {}).items():
            for of_view, terms in zip(expected, bag, strict=True):
                for key, (_, _, weight) in columns_of(terms, ("weight",)).items():
                    place = key, class_
                    of_view[place] = of_view.get(place, 0) + weight * value

    assert amounts
    assert corrected_terms(correction) == [
        {place: value for place, value in of_view.items() if value}
        for of_view in expected
    ]


def test_copies_count_as_often_as_they_are_there() -> None:
    rows = confusing(300)
    twice = rows[:20]
    trained = trained_on([*rows, *twice])
    correction, settings = correction_of(trained), trained.contents.counts.settings
    digests = {read(one, settings).digest[:8] for one in texts(*twice)}

    is_twice = [
        high.to_bytes(8, "big") in digests
        for high in correction.amounts.entries[:, 0].tolist()
    ]

    assert correction.info.documents == 300
    assert sum(is_twice) > 0
    assert (correction.amounts.values[is_twice] % 2 == 0).all()
    assert (correction.amounts.values % 2 == 1).any()


def test_documents_that_are_all_there_three_times_are_judged_as_if_they_were_new() -> (
    None
):
    rows = confusing()

    once, thrice = trained_on(rows), trained_on(rows * 3)
    facts = correction_of(once).info.made_with
    of_copies = correction_of(thrice).info.made_with

    for trained in (once, thrice):
        documents = trained.contents.calibrations[0].documents
        assert documents == Tally(label for label, _ in rows)
    assert of_copies["held_out"] == facts["held_out"] == len(rows)
    for name in ("loss_with", "loss_without"):
        assert of_copies[name] == pytest.approx(facts[name], rel=0.1)


@pytest.mark.parametrize("make", [passes.correct, passes.correct_by_arrays])
def test_no_more_than_so_many_copies_are_as_one(make: Callable[..., Learnt]) -> None:
    def moved(copies: int) -> int:
        pupils = Pupils([], np.zeros(1, np.int64), np.full(1, copies), BASE, 0)
        learnt = make(pupils, np.zeros(1, np.int64), Rate(1, 120.0, CUT), np.arange(0))
        return int(learnt.amounts[0, 0])

    assert 0 < moved(300) == moved(sample.MOST_COPIES) < moved(sample.MOST_COPIES // 2)


@pytest.mark.parametrize(("copies", "amount"), [(1, 114), (2, 57), (300, 0), (5, 23)])
def test_copies_teach_as_much_as_one_document(copies: int, amount: int) -> None:
    pupils = Pupils([], np.zeros(1, np.int64), np.full(1, copies), BASE, 0)

    learnt = passes.correct(pupils, np.zeros(1, np.int64), ONE_VISIT, np.arange(0))

    assert learnt.amounts.tolist() == [[amount, -amount]]


@pytest.mark.parametrize("n_classes", [2, len(TOPICS)])
def test_the_file_is_the_same_however_it_was_made(
    n_classes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    classes = TOPICS[:n_classes]
    rows = [
        (label, text) for label, text in confusing(960 // n_classes) if label in classes
    ]
    source = tsv(tmp_path / "rows.tsv", rows)
    overrides = SettingsOverrides(score="contrast")
    monkeypatch.setattr(counting, "CHUNK", 4096)

    def made(name: str, **how: int) -> bytes:
        path = tmp_path / name
        nbtext.train([source], str(path), overrides=overrides, **how)  # type: ignore[arg-type]
        file = open_model(str(path))
        assert file.correction is not None
        correction = api_correction(path)
        return b"".join(
            [
                *(table.columns[0].tobytes() for table in correction.terms),
                correction.amounts.values.tobytes(),
                correction.info.identity,
            ]
        )

    alone = made("one")
    assert made("two", jobs=2) == alone
    # little memory: what is sampled, the vectors and all counts go to files
    with monkeypatch.context() as patch, bounded(LEAST_BOUND):
        patch.setattr(sample, "IN_MEMORY", 1000)
        patch.setattr(room, "SHARE", LEAST_BOUND)
        assert made("files") == alone
    use(PLAIN)
    try:
        assert made("plain") == alone
    finally:
        use(None)


def api_correction(path: Path) -> Correction:
    from nbtext.store.corrections import read_correction

    correction = read_correction(open_model(str(path)))
    assert correction is not None
    return correction


@pytest.fixture
def model(tmp_path: Path) -> tuple[str, Path]:
    """Return a model that has a correction, and a folder of its documents."""
    folder = tmp_path / "mail"
    for place, (label, text) in enumerate(confusing()):
        path = folder / label / f"{place}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    path = tmp_path / "model.nbt"
    nbtext.train([str(folder)], str(path))
    return str(path), folder


def values(path: str) -> dict[tuple[int, str, int], int]:
    correction = api_correction(Path(path))
    return {
        (view, correction.classes[class_], key): value
        for view, of_view in enumerate(corrected_terms(correction))
        for (key, class_), value in of_view.items()
    }


def test_when_all_documents_are_forgotten_no_values_are_left(
    model: tuple[str, Path],
) -> None:
    path, folder = model

    nbtext.forget(path, [file.read_bytes() for file in folder.rglob("*.txt")])

    assert values(path) == {}
    assert len(api_correction(Path(path)).amounts) == 0


def mean_corrections(path: str, counted: str) -> dict[str, float]:
    """Return what the mean document of a model gets of the correction of another."""
    correction = api_correction(Path(path))
    table = read_contents(open_model(counted)).counts
    n_documents = sum(table.documents)
    totals: Tally[int] = Tally()
    for runs, values in zip(table.runs, corrected_terms(correction), strict=True):
        weights: Tally[int] = Tally()
        for run in runs:
            pairs = zip(run.keys.tolist(), run.columns[2].tolist(), strict=True)
            for key, weight in pairs:
                weights[key] += weight
        for (key, class_), value in values.items():
            totals[class_] += weights[key] * value
    return {
        name: (BIAS * bias + totals[class_] / (UNIT * UNIT) / n_documents) / AMOUNT_UNIT
        for class_, (name, bias) in enumerate(
            zip(correction.classes, correction.biases, strict=True)
        )
    }


@pytest.mark.parametrize("n_gone", [3, 60])
def test_the_mean_document_gets_what_it_got_when_others_are_taken_away(
    model: tuple[str, Path], tmp_path: Path, n_gone: int
) -> None:
    path, folder = model
    before = tmp_path / "before.nbt"
    before.write_bytes(Path(path).read_bytes())
    files = sorted((folder / "east").glob("*.txt"))[:n_gone]
    texts = [file.read_bytes() for file in files]

    nbtext.forget(path, texts)

    assert len(texts) == n_gone
    assert values(path) != values(str(before))
    found = mean_corrections(path, str(before))
    expected = mean_corrections(str(before), str(before))
    rounded = n_gone * BIAS / AMOUNT_UNIT
    assert found == pytest.approx(expected, abs=rounded)


def test_a_class_that_begins_later_is_on_a_level_with_the_others(
    model: tuple[str, Path],
) -> None:
    path, _ = model

    found = mean_corrections(path, path)

    assert max(map(abs, found.values())) > 0.01
    assert abs(sum(found.values())) < len(found) * BIAS / AMOUNT_UNIT


@pytest.mark.parametrize("parts", [1, 4])
@pytest.mark.parametrize(
    ("lost", "is_won"), [(0.05, True), (0.12, True), (0.14, False), (-1.0, True)]
)
def test_classes_of_few_documents_may_lose_what_more_bring(
    lost: float, is_won: bool, parts: int
) -> None:
    n_classes, of_each = 400, 4
    held_out = n_classes * of_each // 4 * parts
    labels = np.arange(held_out) % n_classes
    logits = 4.0 * np.eye(n_classes)[labels]
    trial = Trial(1.0, Manner(), parts, 0.0, logits, labels, (of_each,) * n_classes)
    # what 400 classes of four documents may lose is a tenth of a fourth of this
    of_five = replace(trial, loss_without=5.0)
    vars(of_five)["_best"] = (1.0, (5.0 + lost) * held_out)

    assert of_five.is_won is is_won


@pytest.mark.parametrize(("dealt", "is_by_class"), [(60, False), (61, True)])
def test_of_few_documents_of_a_class_as_many_of_each_are_held_out(
    dealt: int, is_by_class: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_out = []

    def correct(pupils: Pupils, *given: Any, **kept: Any) -> Learnt:
        held_out.append(np.bincount(pupils.labels.take(given[2]), minlength=4))
        return passes.correct(pupils, *given, **kept)

    monkeypatch.setattr(correcting, "DEALT", dealt)
    monkeypatch.setattr(correcting, "correct", correct)
    trained_on(confusing())

    parts = np.array(held_out[:4])
    assert parts.sum() == 240
    assert bool((np.ptp(parts, axis=0) <= 1).all()) is is_by_class


def of_losses(temperature: float, scale: float) -> Trial:
    """Return a trial of corrected scores that are right when multiplied by one."""
    random = np.random.default_rng(5)
    logits = random.normal(0, 2, (4000, 3))
    shares = np.exp(logits * temperature)
    shares /= shares.sum(axis=1, keepdims=True)
    labels = (random.random((4000, 1)) > shares.cumsum(axis=1)).sum(axis=1)
    return Trial(1.0, Manner(), 1, 1.0, logits * scale, labels, (4, 4, 4))


def test_scores_are_as_steep_as_documents_held_out_say() -> None:
    assert of_losses(1.0, 1.0).steepness == pytest.approx(1.0, rel=0.05)
    assert of_losses(1.5, 1.0).steepness == pytest.approx(1.5, rel=0.05)
    assert of_losses(1.0, 2.0).steepness == pytest.approx(0.5, rel=0.05)
    assert of_losses(1.0, 2.0).loss_with == pytest.approx(
        of_losses(1.0, 1.0).loss_with, abs=0.002
    )


def test_few_documents_say_little_of_a_steepness() -> None:
    whole = of_losses(2.0, 1.0)
    few = replace(whole, logits=whole.logits[:4], labels=whole.labels[:4])

    assert whole.steepness > 1.9
    assert 1.0 < few.steepness < 1.3


def too_seldom(documents: list[int], t: float) -> Trial:
    """Return a trial of scores that hold the classes' shares to the power 1 + t."""
    n_classes, says = len(documents), 2.0
    shares = np.log(np.array(documents) / sum(documents))
    # of each class, how often each is spoken for
    told = np.full((n_classes, n_classes), 1.0) + np.expm1(says) * np.eye(n_classes)
    told /= told.sum(axis=1, keepdims=True)
    times = np.rint(np.array(documents)[:, None] * told).astype(int).ravel()
    labels, speaks_for = (
        np.repeat(places.ravel(), times) for places in np.indices(told.shape)
    )
    logits = (1 + t) * shares + says * np.eye(n_classes)[speaks_for]
    return Trial(1.0, Manner(), 1, 1.0, logits, labels, tuple(documents))


@pytest.mark.parametrize("t", [0.0, 0.2, 0.4])
def test_what_scores_hold_of_shares_too_much_is_taken_from_them(t: float) -> None:
    documents = [4000, 900, 100, 40]
    trial = too_seldom(documents, t)

    found, loss = trial.adjustment
    adjusted = trial.without(found)

    shares = np.array(documents) / sum(documents)
    assert found == t
    assert trial.logits - adjusted.logits == pytest.approx(
        np.tile(t * np.log(shares), (trial.held_out, 1))
    )
    assert adjusted.steepness == pytest.approx(1.0, abs=0.02)
    assert (adjusted.loss_with < trial.loss_with) == (t > 0)
    assert loss == pytest.approx(adjusted.loss_with + 5 * t * t / trial.held_out)
    told = np.exp(normalised(adjusted.logits)).mean(axis=0)
    assert told == pytest.approx(shares, rel=0.02)


def test_rare_classes_are_not_told_more_seldom_nor_two_classes_otherwise() -> None:
    frequent = too_seldom([4000, 900, 100], -0.4)
    two = too_seldom([4000, 100], 0.4)

    assert frequent.adjustment.t == 0
    assert two.adjustment.t == 0


@pytest.mark.parametrize("t", [0.0, 0.4])
def test_a_trial_that_is_judged_is_given_up_with_its_scores(t: float) -> None:
    trial = too_seldom([400, 90, 10], t)
    logits = weakref.ref(trial.logits)
    gc.disable()
    try:
        assert trial.adjustment.loss <= trial.loss_with
        assert not any(isinstance(kept, Trial) for kept in vars(trial).values())
        del trial
        assert logits() is None  # nothing refers to itself, and waits for a collection
    finally:
        gc.enable()


def test_a_share_is_judged_by_what_is_left_when_classes_shares_are_taken_from_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    documents = [4000, 900, 100, 40]
    seldom = too_seldom(documents, 0.4)
    plain = too_seldom(documents, 0.0)
    # which is worse than the other, but for the rare classes that are told too seldom
    unsure = replace(plain, logits=plain.logits + 0.3 * (plain.logits[::-1] > -1))
    tried = {1.0: unsure, 0.5: replace(seldom, share=0.5)}
    making = correcting._Making(None, None, [], [], map)  # type: ignore[arg-type]
    monkeypatch.setattr(
        correcting._Making, "_tried", lambda _, parts, share, manner: tried[share]
    )

    assert seldom.loss_with > unsure.loss_with > seldom.adjustment.loss
    assert making.trial_of_shares([], correcting.USUAL).share == 0.5


def test_it_is_taken_from_the_biases_of_a_correction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [row for n, row in enumerate(confusing()) if n % 4 or row[0] != TOPICS[0]]
    biases = []
    monkeypatch.setattr("nbtext.learning.trials.PRECISION", -1e9)  # so it is expected
    for adjustments in ((), (0.3,)):
        monkeypatch.setattr("nbtext.learning.trials.ADJUSTMENTS", adjustments)
        biases.append(np.array(correction_of(trained_on(rows)).biases))

    documents = np.array([*Tally(label for label, _ in sorted(rows)).values()])
    taken = (biases[0] - biases[1]) * (BIAS / AMOUNT_UNIT)
    expected = 0.3 * np.log(documents / documents.sum())
    # the mean class gets nothing, with it and without
    assert taken - taken.mean() == pytest.approx(expected - expected.mean(), abs=1e-3)
    assert np.ptp(taken) > 0.05


def test_a_steepness_multiplies_corrected_scores(model: tuple[str, Path]) -> None:
    path, folder = model
    contents = read_contents(open_model(path))
    assert contents.correction is not None
    info = contents.correction.info
    text = next(folder.rglob("*.txt")).read_bytes()
    before = nbtext.classify(nbtext.load(path), text)
    steeper = info._replace(steepness=info.steepness * 1.5)
    correction = contents.correction._replace(info=steeper)

    replace_file(path, replace(contents, correction=correction).pack())

    after = nbtext.classify(nbtext.load(path), text)
    assert info.steepness not in (1.0, steeper.steepness)
    odds = [
        one.log_posterior[TOPICS.index("west")]
        - one.log_posterior[TOPICS.index("north")]
        for one in (before, after)
    ]
    assert odds[1] == pytest.approx(1.5 * odds[0])


@pytest.mark.parametrize("n_moved", [3, 60])
def test_documents_that_move_take_along_what_they_have_added(
    model: tuple[str, Path], n_moved: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "OF_LESSON", 0.0)  # and teach nothing else
    path, folder = model
    before, correction = values(path), api_correction(Path(path))
    files = sorted((folder / "east").glob("*.txt"))[:n_moved]

    nbtext.learn(path, "west", [file.read_bytes() for file in files])

    after = api_correction(Path(path))
    east, west = TOPICS.index("east"), TOPICS.index("west")
    n_amounts = [
        (one.amounts.labels == label).sum()
        for one in (correction, after)
        for label in (east, west)
    ]
    assert values(path) == before
    assert after.biases == correction.biases
    assert sorted(after.amounts.values) == sorted(correction.amounts.values)
    assert n_amounts[0] > n_amounts[2]
    assert n_amounts[0] + n_amounts[1] == n_amounts[2] + n_amounts[3]


def test_uncorrected_scores_are_what_calibration_rests_on() -> None:
    rows = confusing()
    named = SettingsOverrides(smoothing=0.05)
    with_it = trained_on(rows, named).contents
    without = trained_on(rows, named._replace(correction=False)).contents

    assert with_it.calibrations == without.calibrations
    assert with_it.scoring == without.scoring
    assert event_model(with_it.scoring.score).can_be_corrected


def test_folds_are_scored_with_their_corrections(tmp_path: Path) -> None:
    source = tsv(tmp_path / "rows.tsv", confusing())

    with_it = nbtext.evaluate_folds([source], 4)
    without = nbtext.evaluate_folds(
        [source], 4, overrides=SettingsOverrides(correction=False)
    )

    assert with_it.log_loss != without.log_loss


def test_one_and_many_documents_are_corrected_alike(
    model: tuple[str, Path],
) -> None:
    path, folder = model
    opened = nbtext.load(path)
    texts = [file.read_bytes() for file in sorted(folder.rglob("*.txt"))]

    single = [nbtext.classify(opened, text).log_posterior for text in texts[:9]]
    many = [one.log_posterior for one in nbtext.classify_all(opened, texts)]

    assert len(single) == 9
    for found, expected in zip(single, many[:9], strict=True):
        assert found == pytest.approx(expected, rel=1e-9)


def test_usual_products_are_the_same_by_arrays(model: tuple[str, Path]) -> None:
    path, folder = model
    opened = load_model(path)
    readings = [
        read(Document("", (file.read_bytes(),)), opened.settings)
        for file in sorted(folder.rglob("*.txt"))[:20]
    ]
    readings.append(read(Document("", (b"",)), opened.settings))
    bags = [bag_of(reading, opened.settings) for reading in readings]
    views = read_terms(opened.settings, [reading.views for reading in readings])

    found = usual_products(open_batch_model(opened), views)

    assert found == [usual_product(opened, bag) for bag in bags]
    assert found[-1] == 0.0
    assert 0.05 < min(found[:-1]) < max(found) < 2.0


def test_a_model_that_has_forgotten_all_is_compacted_and_learns(tmp_path: Path) -> None:
    path, rows = str(tmp_path / "model.nbt"), confusing()
    nbtext.train_on(rows, path)
    nbtext.forget(path, [text for _, text in rows])

    compact(path)

    found = nbtext.learn(path, "west", [text for _, text in rows[:9]])
    assert [one.outcome for one in found] == ["learnt"] * 9
