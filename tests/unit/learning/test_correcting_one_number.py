"""A score of one number, the second class's, is corrected as one of several is."""

from collections import Counter
from io import BytesIO
from math import exp, expm1, log
from pathlib import Path
from statistics import fmean

import pytest

import nbtext
from nbtext.counts.calibration import BINS_A_NAT, bin_of
from nbtext.counts.correction import AMOUNT_UNIT
from nbtext.document import Document
from nbtext.errors import TextFormError
from nbtext.learning import SettingsOverrides, stream
from nbtext.learning.choosing import FEWEST
from nbtext.learning.inheriting import why_not_by
from nbtext.learning.steps import rate_of_lesson
from nbtext.policy import FalsePositives, Policy
from nbtext.scoring.drift import DriftMeter
from nbtext.scoring.explanation import Explanation
from nbtext.scoring.held_out import fitted, held_out
from nbtext.scoring.model import load_model
from nbtext.scoring.policy_rule import basis_of, basis_of_contents
from nbtext.scoring.threshold import threshold_of
from nbtext.store import compact
from nbtext.store.contents import read_contents
from nbtext.store.corrections import read_correction
from nbtext.store.file import open_model
from nbtext.textform import load_text, text_lines
from nbtext.tokens.engine import PLAIN, Engine, use
from nbtext.upkeep import merge, open_models
from tests.build import TOPICS, confusing

ROWS = [row for row in confusing(1000) if row[0] in TOPICS[:2]]
"""The first 400 are trained on."""

WEIGHTED = SettingsOverrides(score="weighted")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of a model that is scored by `weighted`."""
    path = tmp_path_factory.mktemp("trained") / "model.nbt"
    nbtext.train_on(ROWS[:400], path, overrides=WEIGHTED)
    return path.read_bytes()


def losses(path: str) -> list[float]:
    decisions = nbtext.classify_all(nbtext.load(path), [text for _, text in ROWS[400:]])
    return [
        -one.log_posterior[one.classes.index(label)]
        for one, (label, _) in zip(decisions, ROWS[400:], strict=True)
    ]


def test_documents_that_are_new_lose_less_by_it(path: str, tmp_path: Path) -> None:
    pure = str(tmp_path / "pure.nbt")
    nbtext.train_on(ROWS[:400], pure, overrides=WEIGHTED._replace(correction=False))

    assert open_model(path).scoring.score == open_model(pure).scoring.score
    assert open_model(pure).correction is None
    assert sum(losses(path)) < sum(losses(pure))


def test_few_documents_teach_none(tmp_path: Path) -> None:
    few = tmp_path / "few.nbt"

    nbtext.train_on(ROWS[: FEWEST - 1], few, overrides=WEIGHTED)

    assert open_model(str(few)).correction is None


@pytest.mark.parametrize("engine", [None, PLAIN], ids=["compiled", "plain"])
def test_one_and_many_documents_are_corrected_alike(
    path: str, engine: Engine | None
) -> None:
    expected = losses(path)

    use(engine)
    try:
        opened = nbtext.load(path)
        for (label, text), loss in zip(ROWS[400:420], expected[:20], strict=True):
            one = nbtext.classify(opened, text)
            found = -one.log_posterior[one.classes.index(label)]
            assert found == pytest.approx(loss, rel=1e-9, abs=1e-12)
    finally:
        use(None)


@pytest.mark.parametrize("is_few", [False, True])
def test_a_third_class_takes_another_score_and_leaves_the_correction_out(
    path: str, tmp_path: Path, is_few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "is_few", lambda _: is_few)
    pure = str(tmp_path / "pure.nbt")
    nbtext.train_on(ROWS[:400], pure, overrides=WEIGHTED._replace(correction=False))
    for name in (path, pure):
        nbtext.learn(name, "news", ["foxa foxb foxc", "foxb foxd"], create=True)

    assert open_model(path).scoring.score == "contrast"
    assert losses(path) == pytest.approx(losses(pure))
    assert nbtext.classify(nbtext.load(path), "foxa foxb").label == "news"
    for name in (path, pure):
        nbtext.forget(name, [ROWS[0][1]])
    assert losses(path) == pytest.approx(losses(pure))


def test_without_the_third_class_the_correction_is_as_it_was(path: str) -> None:
    before, expected = held_out(load_model(path)), losses(path)
    third = ["foxa foxb foxc", "foxb foxd"]
    nbtext.learn(path, "news", third, create=True)

    nbtext.forget(path, third)

    assert losses(path) == expected
    assert held_out(load_model(path)) == before
    assert before.is_corrected


@pytest.mark.parametrize("is_compacted", [False, True])
def test_what_was_held_out_of_two_classes_outlasts_a_third(
    tmp_path: Path, is_compacted: bool
) -> None:
    path = str(tmp_path / "model.nbt")
    third = ["foxa foxb foxc", "foxb foxd"]
    nbtext.train_on(ROWS[:400], path, overrides=SettingsOverrides(score="contrast"))
    before = held_out(load_model(path))
    for text in third:
        nbtext.learn(path, "news", [text], create=True)
    if is_compacted:
        compact(path)

    nbtext.forget(path, third)
    after = held_out(load_model(path))
    compact(path)

    assert before.is_corrected
    assert after.scoring == before.scoring
    wanted = {place: n for place, n in before.counts.items() if place[1] in TOPICS}
    assert {place: n for place, n in after.counts.items() if n} == wanted
    assert held_out(load_model(path)).counts == after.counts


def test_what_was_learnt_before_a_third_class_takes_its_losses_back(
    tmp_path: Path,
) -> None:
    paths = [str(tmp_path / name) for name in ("tail.nbt", "compacted.nbt")]
    for path in paths:
        nbtext.train_on(ROWS[:400], path, overrides=SettingsOverrides(score="contrast"))
        nbtext.learn(path, ROWS[400][0], [ROWS[400][1]])
        for text in ("foxa foxb foxc", "foxb foxd"):
            nbtext.learn(path, "news", [text], create=True)
    before = held_out(load_model(path))
    compact(path)

    for path in paths:
        nbtext.forget(path, [ROWS[400][1]])

    found = [held_out(load_model(path)) for path in paths]
    assert found[0] == found[1]
    assert sum(found[0].documents.values()) == sum(before.documents.values()) - 1


def explained(path: str, text: str) -> Explanation:
    return nbtext.load(path).explain(Document("", (text.encode(),)))


def test_an_explanation_adds_up_to_the_corrected_score(path: str) -> None:
    for _, text in ROWS[400:420]:
        why = explained(path, text)

        (part,) = [one for one in why.parts if one.name == "correction"]
        assert part.contribution != 0
        others = sum(one.contribution for one in why.parts if one is not part)
        assert why.score == pytest.approx(others + part.contribution)
        one = nbtext.classify(nbtext.load(path), text)
        first, second = one.log_posterior
        sign = 1 if why.label == one.classes[1] else -1
        assert why.slope * why.score == pytest.approx(sign * (second - first))


@pytest.fixture(params=["weighted", "contrast"])
def of_score(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the path of a corrected model of two classes, by either score of text."""
    path = tmp_path / "of_score.nbt"
    overrides = SettingsOverrides(score=request.param)
    nbtext.train_on(ROWS[:400], path, overrides=overrides)
    assert open_model(str(path)).correction is not None
    return str(path)


def margins(path: str, rows: list[tuple[str, str]]) -> list[float]:
    """Return the log-odds of the documents' own classes."""
    decisions = nbtext.classify_all(nbtext.load(path), [text for _, text in rows])
    signs = [1 if label == TOPICS[1] else -1 for label, _ in rows]
    return [
        sign * (one.log_posterior[1] - one.log_posterior[0])
        for sign, one in zip(signs, decisions, strict=True)
    ]


def held_out_margins(path: str) -> list[float]:
    """Return the same of held-out documents, as the model keeps them."""
    model = load_model(path)
    slope, offset, _ = fitted(model)
    return [
        (slope * (bin_ + 0.5) / BINS_A_NAT + offset) * (1 if name == TOPICS[1] else -1)
        for (bin_, name), n in held_out(model).counts.items()
        for _ in range(n)
    ]


def test_what_is_kept_is_what_documents_score_that_had_no_part_in_it(
    of_score: str,
) -> None:
    kept, new = held_out_margins(of_score), margins(of_score, ROWS[400:])
    counted = margins(of_score, ROWS[:400])

    assert len(kept) == len({text for _, text in ROWS[:400]})
    assert fmean(kept) == pytest.approx(fmean(new), rel=0.2)
    assert fmean(kept) < 0.95 * fmean(counted)


def test_they_say_from_where_on_few_documents_are_false_positives(
    of_score: str,
) -> None:
    limit = Policy(max_false_positives=FalsePositives(TOPICS[0], 0.05))
    others = [text for label, text in ROWS[400:] if label == TOPICS[1]]

    def n_wrong() -> int:
        decisions = nbtext.classify_all(nbtext.load(of_score), others)
        return sum(one.label == TOPICS[0] for one in decisions)

    before = n_wrong()
    assert not why_not_by(limit, read_contents(open_model(of_score)), "")
    nbtext.set_policy(of_score, limit)

    assert n_wrong() <= 0.05 * len(others) < before
    assert threshold_of(load_model(of_score), TOPICS[0]).documents > 100


def test_they_say_nothing_of_a_third_class_that_a_merged_model_has(
    tmp_path: Path,
) -> None:
    of_two, of_another, path = (str(tmp_path / name) for name in ("one", "other", "m"))
    contrast = SettingsOverrides(score="contrast", smoothing=0.1)
    nbtext.train_on(ROWS[:400], of_two, overrides=contrast)
    assert held_out(load_model(of_two)).is_corrected
    others = [row for row in confusing(200) if row[0] in TOPICS[1:3]]
    contrast = contrast._replace(correction=False)
    nbtext.train_on(others, of_another, overrides=contrast)

    contents = merge(open_models([of_two, of_another])).contents
    Path(path).write_bytes(b"".join(contents.pack()))

    model = load_model(path)
    (first, second), held = model.documents[:2], held_out(model).documents
    third = sum(label == TOPICS[2] for label, _ in others)
    assert model.correction is not None
    assert held == {TOPICS[0]: first, TOPICS[1]: second, TOPICS[2]: third}
    assert basis_of_contents(contents, path).shares == basis_of(model).shares


def test_they_are_in_the_text_form(of_score: str, tmp_path: Path) -> None:
    loaded = str(tmp_path / "loaded.nbt")
    contents = read_contents(open_model(of_score))
    lines = b"".join(f"{line}\n".encode() for line in text_lines(contents, "-"))

    Path(loaded).write_bytes(b"".join(load_text(BytesIO(lines), "-").contents.pack()))

    assert held_out(load_model(loaded)) == held_out(load_model(of_score))
    wrong = lines.replace(b'"corrected":true', b'"corrected":1', 1)
    with pytest.raises(TextFormError, match='"corrected": true'):
        load_text(BytesIO(wrong), "-")


def test_they_say_whether_others_score_otherwise(of_score: str) -> None:
    alike, unlike = DriftMeter(load_model(of_score)), DriftMeter(load_model(of_score))
    opened = nbtext.load(of_score)
    alike.add(nbtext.classify_all(opened, [text for _, text in ROWS[300:]]))
    starts = [" ".join(text.split()[:2]) for _, text in ROWS[300:]]
    unlike.add(nbtext.classify_all(opened, starts))

    drifts = alike.drift(), unlike.drift()
    assert [drift and drift.is_large for drift in drifts] == [False, True]


def test_so_they_do_in_folds_and_streams(tmp_path: Path, path: str) -> None:
    limit = Policy(max_false_positives=FalsePositives(TOPICS[0], 0.05))
    for label in TOPICS[:2]:
        (tmp_path / label).mkdir()
    for n, (label, text) in enumerate(ROWS):
        (tmp_path / label / f"{n}.txt").write_text(text)
    folders = [tmp_path / label for label in TOPICS[:2]]
    opened = nbtext.load(path)

    def wrong(policy: Policy) -> list[int]:
        by_folds = nbtext.evaluate_folds(folders, 2, overrides=WEIGHTED, policy=policy)
        by_replay = nbtext.evaluate_replay(folders, model=opened, policy=policy)
        # the row of the other class, and the column of this one
        return [found.confusion[1][0] for found in (by_folds, by_replay)]

    for with_limit, without in zip(wrong(limit), wrong(Policy()), strict=True):
        assert with_limit < 0.7 * without


@pytest.mark.parametrize("is_few", [False, True])
def test_what_is_learnt_is_kept_and_what_is_forgotten_is_not(
    of_score: str, is_few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "is_few", lambda _: is_few)
    before = held_out(load_model(of_score))
    new = ROWS[400:420]
    model = load_model(of_score)
    slope, offset, _ = fitted(model)
    log_odds = [
        one.log_posterior[1] - one.log_posterior[0]
        for one in nbtext.classify_all(nbtext.load(of_score), [text for _, text in new])
    ]

    for label in TOPICS[:2]:
        nbtext.learn(of_score, label, [text for name, text in new if name == label])

    # the second class is learnt after the first, so that only that is as it was told
    after = Counter(held_out(load_model(of_score)).counts)
    after.subtract(before.counts)
    bins = Counter(
        bin_of((value - offset) / slope)
        for value, (label, _) in zip(log_odds, new, strict=True)
        if label == TOPICS[0]
    )
    found = {bin_: n for (bin_, name), n in after.items() if name == TOPICS[0] and n}
    assert found == bins
    nbtext.forget(of_score, [text for _, text in new])
    left = held_out(load_model(of_score))
    assert {place: n for place, n in left.counts.items() if n} == before.counts
    assert left.documents == before.documents


@pytest.mark.parametrize("is_few", [False, True])
def test_a_document_moves_both_classes_by_how_wrong_the_model_was(
    path: str, is_few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "is_few", lambda _: is_few)
    steepness = steepness_of(path)
    loss, label, text = max(
        (loss, *row) for loss, row in zip(losses(path), ROWS[400:], strict=True)
    )
    before = amounts(path)
    assert loss > log(2)

    nbtext.learn(path, label, [text])

    one = pytest.approx(expected_step(loss, steepness), abs=1)
    after = amounts(path)
    other = next(name for name in TOPICS[:2] if name != label)
    assert after[label] - before[label] == one
    assert after[label] - before[label] == before[other] - after[other]


def steepness_of(path: str) -> float:
    correction = open_model(path).correction
    assert correction is not None
    return correction.steepness


def expected_step(loss: float, steepness: float) -> float:
    """Return by how much a class moves whose document has lost so much."""
    odds = log(expm1(loss)) / steepness  # of the other class
    return rate_of_lesson(2).rate * AMOUNT_UNIT / (1 + exp(-odds))


def amounts(path: str) -> dict[str, int]:
    """Return the sum of what documents have added to each class."""
    correction = read_correction(open_model(path))
    assert correction is not None
    found = dict.fromkeys(correction.classes, 0)
    pairs = zip(
        correction.amounts.classes.tolist(),
        correction.amounts.values.tolist(),
        strict=True,
    )
    for class_, value in pairs:
        found[correction.classes[class_]] += value
    return found
