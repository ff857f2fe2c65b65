"""What documents that are learnt after training teach a correction."""

from collections import Counter as Tally
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nbtext
from nbtext.counts.correction import AMOUNT_UNIT, BIAS
from nbtext.counts.correction_table import Correction
from nbtext.document import Document
from nbtext.learning import stream
from nbtext.learning.regimes import Regime
from nbtext.learning.steps import CUT, OF_TWO, PASSES, rate_of_lesson
from nbtext.scoring.batch_model import open_batch_model
from nbtext.scoring.model import load_model
from nbtext.scoring.stored import FEW
from nbtext.store import compact, read_contents
from nbtext.store.corrections import read_correction
from nbtext.store.file import open_model
from nbtext.store.writing import replace_file
from nbtext.tokens import read_terms
from nbtext.tokens.reading import read
from tests.build import TOPICS, confusing, corrected_terms, lettered

ROWS = confusing(300)
"""The first 200 are trained on."""

SECOND = 0.5
"""How far training moves more than two classes in its second pass."""

Cells = dict[tuple[int, str, int], int]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of a model of four classes, and a correction."""
    path = tmp_path_factory.mktemp("trained") / "model.nbt"
    nbtext.train_on(ROWS[:200], path)
    assert open_model(str(path)).correction is not None
    return path.read_bytes()


def correction_in(path: str) -> Correction:
    correction = read_correction(open_model(path))
    assert correction is not None
    return correction


def cells(path: str) -> Cells:
    """Return the values of a model's correction, by view, class and term."""
    correction = correction_in(path)
    return {
        (view, correction.classes[class_], key): value
        for view, of_view in enumerate(corrected_terms(correction))
        for (key, class_), value in of_view.items()
    }


def amounts(path: str) -> list[tuple[str, str, int]]:
    """Return what each document has added: its class, the other's, and how much."""
    correction = correction_in(path)
    found = correction.amounts
    names = [correction.classes[place] for place in found.classes.tolist()]
    labels = [correction.classes[place] for place in found.labels.tolist()]
    return sorted(zip(labels, names, found.values.tolist(), strict=True))


def added(path: str, known: list[tuple[str, str, int]]) -> list[tuple[str, str, int]]:
    """Return the amounts that there are beside those known before."""
    return sorted((Tally(amounts(path)) - Tally(known)).elements())


def posterior(path: str, text: str) -> dict[str, float]:
    """Return the probabilities of a document, as training's visits have them."""
    (found,) = nbtext.load(path).classify([Document("", (text.encode(),))])
    steepness = correction_in(path).info.steepness
    logits = np.array(found.log_posterior) / steepness
    shares = np.exp(logits - logits.max())
    return dict(zip(found.classes, (shares / shares.sum()).tolist(), strict=True))


def misjudged(path: str) -> tuple[str, str]:
    """Return a document that the model does not know, and is wrong about."""
    for label, text in ROWS[200:]:
        if posterior(path, text)[label] < 0.4:
            return label, text
    raise AssertionError


def test_a_document_moves_the_classes_by_how_wrong_the_model_was(path: str) -> None:
    label, text = misjudged(path)
    known, expected = amounts(path), posterior(path, text)

    assert nbtext.learn(path, label, [text])[0].outcome == "learnt"

    steps = {
        name: round(SECOND * AMOUNT_UNIT * ((name == label) - share))
        for name, share in expected.items()
        if share > CUT or name == label
    }
    wanted = sorted((label, name, step) for name, step in steps.items())
    found = added(path, known)
    assert [step[:2] for step in found] == [step[:2] for step in wanted]
    of_found, of_wanted = ([step[2] for step in one] for one in (found, wanted))
    assert of_found == pytest.approx(of_wanted, abs=1)  # base scores are rounded
    assert posterior(path, text)[label] > expected[label] + 0.05


def test_what_the_model_is_sure_of_teaches_it_nothing(path: str) -> None:
    label, text = max(ROWS[200:], key=lambda row: posterior(path, row[1])[row[0]])
    before = correction_in(path)
    assert posterior(path, text)[label] > 1 - CUT

    nbtext.learn(path, label, [text])

    assert open_model(path).tables[-1].header.correction is None
    assert correction_in(path).biases == before.biases


def learnt(path: str, rows: list[tuple[str, str]]) -> None:
    """Learn documents together, each as its own label."""
    outcomes = nbtext.learn_labelled(path, rows)
    assert {one.outcome for one in outcomes} == {"learnt"}


def test_it_is_the_same_by_either_engine(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = str(tmp_path / "other.nbt")
    Path(other).write_bytes(Path(path).read_bytes())
    before = cells(path)

    for file, is_few in ((path, True), (other, False)):
        monkeypatch.setattr(stream, "is_few", lambda _, is_few=is_few: is_few)
        for row in ROWS[200:215]:
            learnt(file, [row])

    assert cells(path) != before
    assert cells(other) == cells(path)
    assert amounts(other) == amounts(path)
    assert correction_in(other).biases == correction_in(path).biases


@pytest.mark.parametrize("is_few", [False, True])
def test_documents_learnt_together_are_visited_one_after_the_other(
    path: str, is_few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "is_few", lambda _: is_few)
    label, text = misjudged(path)
    copies = [(label, f"{text} again{n}") for n in range(8)]
    known = amounts(path)

    learnt(path, copies)

    steps = [n for _, name, n in added(path, known) if name == label]
    assert len(steps) == 8
    assert len(set(steps)) > 4  # the first has taught what the last need not teach
    assert min(steps) < 0.8 * max(steps)


@pytest.mark.parametrize("is_few", [False, True])
def test_to_forget_is_to_undo_what_was_taught(
    path: str, is_few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "is_few", lambda _: is_few)
    label, text = misjudged(path)
    before, known = correction_in(path).biases, amounts(path)
    of_terms = cells(path)
    for _ in range(3):
        nbtext.learn(path, label, [text])
        assert cells(path) != of_terms

        nbtext.forget(path, [text])

        assert cells(path) == of_terms
        assert amounts(path) == known
        assert correction_in(path).biases == pytest.approx(before, abs=1)


def test_the_mean_document_gets_what_it_got(path: str) -> None:
    label, text = misjudged(path)
    texts = [one for _, one in [*ROWS[:200], (label, text)]]

    def mean(path: str) -> list[float]:
        """Return what all of these get of the correction, by class."""
        opened = load_model(path)
        readings = [
            read(Document("", (one.encode(),)), opened.settings) for one in texts
        ]
        views = read_terms(opened.settings, [reading.views for reading in readings])
        corrected = open_batch_model(opened).correction
        assert corrected is not None
        found: list[float] = (corrected.scores(views) * corrected.slope).mean(axis=0)
        return [float(one) for one in found]

    before = mean(path)
    nbtext.learn(path, label, [text])

    assert mean(path) == pytest.approx(before, abs=2 * BIAS / AMOUNT_UNIT)


@pytest.mark.parametrize("is_few", [False, True])
@pytest.mark.parametrize("is_forgotten", [False, True])
def test_lessons_that_were_wrong_can_be_put_right(
    path: str, is_forgotten: bool, is_few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "is_few", lambda _: is_few)
    wrong, others = ROWS[200:240], ROWS[240:]
    before = loss(path, others)

    learnt(path, [("west", text) for _, text in wrong])
    if is_forgotten:
        nbtext.forget(path, [text for _, text in wrong])
    else:
        nbtext.learn_labelled(path, wrong)

    assert loss(path, others) < before + (0.01 if is_forgotten else 0.25)


def test_undo_takes_all_of_it_back(path: str, trained: bytes) -> None:
    nbtext.learn(path, *_one(misjudged(path)))

    nbtext.undo(path)

    assert Path(path).read_bytes() == trained


def _one(row: tuple[str, str]) -> tuple[str, list[str]]:
    return row[0], [row[1]]


@pytest.mark.parametrize("is_few", [False, True])
def test_one_class_alone_is_taught_nothing(
    path: str, is_few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbtext.forget(path, [text for label, text in ROWS[:200] if label != "west"])
    monkeypatch.setattr(stream, "is_few", lambda _: is_few)
    known = amounts(path)

    learnt(path, [("west", "topica of what is west alone")])

    # of classes that are gone nothing is kept
    assert amounts(path) == [one for one in known if one[1] == "west"]


@pytest.mark.parametrize("is_choosy", [False, True])
@pytest.mark.parametrize("is_few", [False, True])
def test_so_it_does_with_a_regime_and_where_a_class_begins(
    path: str, is_choosy: bool, is_few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    label, text = misjudged(path)
    monkeypatch.setattr(stream, "is_few", lambda _: is_few)
    before, known = cells(path), amounts(path)
    rows = [(label, text), ("other", "of a class that begins here")]
    if is_choosy:
        nbtext.learn(path, label, [text], regime=Regime("errors"))
    else:
        nbtext.learn_labelled(path, rows, create=True)

    assert cells(path) != before
    assert {of for of, _, _ in added(path, known)} == {label}


def test_a_replay_is_what_classify_says_after_learn(path: str, tmp_path: Path) -> None:
    rows = [
        (label if n % 3 else "north", text)  # some are taught what is wrong
        for n, (label, text) in enumerate(ROWS[200:222])
    ]
    folder = tmp_path / "stream"
    for number, (label, text) in enumerate(rows):
        (folder / label).mkdir(parents=True, exist_ok=True)
        (folder / label / f"{number}.txt").write_text(text)
    sources = sorted(map(str, folder.iterdir()))

    result = nbtext.evaluate_replay(sources, model=nbtext.load(path))

    assert result.rows is not None
    for step, (label, text) in enumerate(rows):
        (found,) = nbtext.load(path).classify([Document("", (text.encode(),))])
        row = dict(zip(result.classes, result.rows.printed[step].tolist(), strict=True))
        told = [row[name] for name in found.classes]
        assert told == pytest.approx(found.printed, abs=1e-9), step
        nbtext.learn(path, label, [text])


@pytest.mark.parametrize("name", ["a first one", "the last one"])
def test_a_class_that_begins_leaves_the_others_what_they_have(
    path: str, name: str
) -> None:
    rows = [(name, "of another class"), *ROWS[200:230]]
    Path(f"{path}.before").write_bytes(Path(path).read_bytes())

    found = nbtext.learn_labelled(path, rows, create=True, regime=Regime("errors"))

    # documents are judged one after the other, with the class that has begun
    before = nbtext.load(f"{path}.before")
    decisions = before.classify([Document("", (text.encode(),)) for _, text in rows])
    pairs = zip(decisions, rows, strict=True)
    wrong = [one.label != label for one, (label, _) in pairs]
    learnt = [one.outcome == "learnt" for one in found]
    assert learnt[0]
    assert 0 < sum(learnt) < 8
    assert sum(a != b for a, b in zip(learnt, wrong, strict=True)) < 4


def test_what_is_misjudged_again_and_again_is_soon_mended(path: str) -> None:
    odd = [
        ("west", lettered(f"topic0 common{n % 9} twist{n % 5} odd{n}"))
        for n in range(60)
    ]
    untaught = f"{path}.untaught"
    before = correction_in(path)

    learnt(path, odd[:30])

    contents = read_contents(open_model(path))
    replace_file(untaught, replace(contents, correction=before).pack())
    assert loss(path, odd[30:]) < 0.9 * loss(untaught, odd[30:])
    others = ROWS[200:]
    assert loss(path, others) < loss(untaught, others) + 0.05


def loss(path: str, rows: list[tuple[str, str]]) -> float:
    """Return the mean log-loss of documents, in nats."""
    texts = [Document("", (text.encode(),)) for _, text in rows]
    found = nbtext.load(path).classify(texts)
    pairs = zip(found, (label for label, _ in rows), strict=True)
    return -float(
        np.mean([one.log_posterior[one.classes.index(label)] for one, label in pairs])
    )


def test_two_classes_move_less() -> None:
    of_two, of_more = rate_of_lesson(2), rate_of_lesson(3)

    assert of_two.rate == OF_TWO * SECOND / 2
    assert of_more.rate == SECOND
    assert of_two.passes == of_more.passes == 1 < PASSES


def test_what_is_left_of_one_class_is_forgotten_together(path: str) -> None:
    for label in ("north", "south", "west", "east"):
        texts = [text for name, text in ROWS[:200] if name == label]

        outcomes = nbtext.forget(path, texts)

        assert len(texts) > FEW
        assert {one.outcome for one in outcomes} == {"forgotten"}

    assert load_model(path).classes == ()


@pytest.mark.parametrize("n", [1, FEW + 1], ids=["one", "many"])
def test_a_class_that_comes_again_is_a_new_one(
    path: str, tmp_path: Path, n: int
) -> None:
    compacted = str(tmp_path / "compacted.nbt")
    texts = [text for name, text in ROWS if name == "west"]
    nbtext.forget(path, texts)
    Path(compacted).write_bytes(Path(path).read_bytes())
    compact(compacted)

    for one in (path, compacted):
        nbtext.learn(one, "west", texts[:n], create=True)

    found = [correction_in(one).of_classes(TOPICS) for one in (path, compacted)]
    assert found[0].biases == found[1].biases
    assert cells(path) == cells(compacted)
    assert posterior(path, texts[0]) == posterior(compacted, texts[0])
