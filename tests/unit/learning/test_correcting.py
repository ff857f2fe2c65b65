"""Corrections as training makes them, keeps them, and leaves them alone."""

from pathlib import Path

import numpy as np
import pytest

import nbtext
from nbtext.counts import counting, room, sample
from nbtext.counts.correction_table import Correction
from nbtext.counts.room import LEAST_BOUND, bounded
from nbtext.document import Document
from nbtext.learning import SettingsOverrides, Trained, correcting, train
from nbtext.learning.overrides import DEFAULTS
from nbtext.learning.trials import CUT, OF_TWO, WAYS, Way
from nbtext.scoring.models.registry import event_model
from nbtext.store.file import open_model
from nbtext.tokens.bag import bag_of, columns_of, fingerprint
from nbtext.tokens.engine import PLAIN, use
from nbtext.tokens.reading import read
from tests.build import TOPICS, confusing


def documents(rows: list[tuple[str, str]]) -> list[Document]:
    return [
        Document(f"{place}.txt", (text.encode(),), label)
        for place, (label, text) in enumerate(rows)
    ]


def trained_on(
    rows: list[tuple[str, str]], overrides: SettingsOverrides = DEFAULTS
) -> Trained:
    items = documents(rows)
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
    assert (facts["share"], facts["rate"], facts["decay"]) in WAYS
    assert correction.info.documents == 240
    assert correction.classes == TOPICS
    assert len(correction.amounts) > 0


def test_labels_that_mean_nothing_are_not_learnt() -> None:
    random = np.random.default_rng(3)
    rows = [(str(random.choice(TOPICS)), text) for _, text in confusing()]

    assert trained_on(rows).contents.correction is None


def test_two_classes_move_half_as_far() -> None:
    rows = [(label, text) for label, text in confusing(480) if label in TOPICS[:2]]

    correction = correction_of(trained_on(rows, SettingsOverrides(score="contrast")))

    facts = correction.info.made_with
    assert (facts["share"], facts["rate"] / OF_TWO, facts["decay"]) in WAYS
    pairs = correction.amounts.values.reshape(-1, 2)
    assert (pairs.sum(axis=1) == 0).all()  # both move, by as much


def made_by(
    way: Way, rows: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> Trained:
    with monkeypatch.context() as patch:
        patch.setattr(correcting, "WAYS", (way,))
        return trained_on(rows)


def test_of_two_ways_the_one_is_taken_that_held_out_documents_lose_less_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = confusing()
    by_each = [correction_of(made_by(way, rows, monkeypatch)) for way in WAYS]
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


def test_half_of_the_scores_are_half_as_steep(monkeypatch: pytest.MonkeyPatch) -> None:
    fully, half = (
        made_by(way, confusing(), monkeypatch)
        for way in (Way(1.0, 0.5, 1.0), Way(0.5, 0.5, 1.0))
    )

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
    for document in documents(rows):
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
    for of_view, runs in zip(expected, correction.runs, strict=True):
        found = {
            (key, class_): value
            for class_, run in enumerate(runs)
            for key, value in zip(
                run.keys.tolist(), run.columns[0].tolist(), strict=True
            )
        }
        assert found == {place: value for place, value in of_view.items() if value}


def test_copies_count_as_often_as_they_are_there() -> None:
    rows = confusing(300)
    twice = rows[:20]
    trained = trained_on([*rows, *twice])
    correction, settings = correction_of(trained), trained.contents.counts.settings
    digests = {read(one, settings).digest[:8] for one in documents(twice)}

    is_twice = [
        high.to_bytes(8, "big") in digests
        for high in correction.amounts.entries[:, 0].tolist()
    ]

    assert correction.info.documents == 300
    assert sum(is_twice) > 0
    assert (correction.amounts.values[is_twice] % 2 == 0).all()
    assert (correction.amounts.values % 2 == 1).any()


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
                *(run.columns[0].tobytes() for of in correction.runs for run in of),
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
        for view, of_view in enumerate(correction.runs)
        for class_, run in enumerate(of_view)
        for key, value in zip(run.keys.tolist(), run.columns[0].tolist(), strict=True)
    }


def test_what_is_learnt_leaves_the_correction_alone(
    model: tuple[str, Path],
) -> None:
    path, _ = model
    before = values(path)
    new = b"topic1 common1 echoa choirb"

    assert nbtext.learn(path, "north", [new])[0].outcome == "learnt"

    assert values(path) == before
    assert open_model(path).correction == open_model(path).tables[0].header.correction


def test_when_all_documents_are_forgotten_nothing_is_left(
    model: tuple[str, Path],
) -> None:
    path, folder = model

    nbtext.forget(path, [file.read_bytes() for file in folder.rglob("*.txt")])

    assert values(path) == {}
    assert set(api_correction(Path(path)).biases) <= {0}


def test_a_document_that_moves_takes_back_what_it_added(
    model: tuple[str, Path],
) -> None:
    path, folder = model
    before, correction = values(path), api_correction(Path(path))
    settings = open_model(path).settings
    high = correction.amounts.entries[0, 0]
    for file in sorted(folder.rglob("*.txt")):
        reading = read(Document("", (file.read_bytes(),)), settings)
        if int.from_bytes(reading.digest[:8], "big") == high:
            break

    other = "east" if file.parent.name == "west" else "west"
    nbtext.learn(path, other, [file.read_bytes()])

    rows = (correction.amounts.entries[:, 0] == high).nonzero()[0]
    amounts = correction.amounts.take(rows)
    after = values(path)
    for view, terms in enumerate(bag_of(reading, settings)):
        for key, (_, _, weight) in columns_of(terms, ("weight",)).items():
            for class_, amount in zip(
                amounts.classes.tolist(), amounts.values.tolist(), strict=True
            ):
                place = view, TOPICS[class_], key
                assert after.get(place, 0) == before.get(place, 0) - weight * amount


def test_uncorrected_scores_are_what_calibration_rests_on() -> None:
    rows = confusing()
    with_it = trained_on(rows).contents
    without = trained_on(rows, SettingsOverrides(correction=False)).contents

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
