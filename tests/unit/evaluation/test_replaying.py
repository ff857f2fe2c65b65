"""Documents one after the other; tests/properties has what a replay is held against."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nbtext import SettingsOverrides, evaluate_replay, learn, load, train_on
from nbtext.errors import SettingsError, TrainingError
from nbtext.evaluation import Evaluation
from nbtext.evaluation.evaluation import evaluate
from nbtext.evaluation.learning_curve import Replay, learning_curve
from nbtext.learning.regimes import Regime
from tests.properties.test_replay_laws import log_posterior, texts, told, written

SUM = SettingsOverrides(score="sum")


def replayed(result: Evaluation) -> Replay:
    """What is said of a replay."""
    assert result.replay is not None
    return result.replay


def test_a_label_may_arrive_later(tmp_path: Path) -> None:
    """With delay:5 the model of a step is that of the documents up to five before."""
    stream = texts(["ham", "spam"], 24)
    sources = written(tmp_path, stream)
    path = tmp_path / "m.nbt"
    train_on(stream[:8], path)

    result = evaluate_replay(sources, model=load(path), feedback="delay:5")

    # the first eight are known
    assert result.passed_over == 8
    assert replayed(result).learnt == 16 - 5
    assert replayed(result).not_told == 5
    for step, (_, text) in enumerate(stream[8:]):
        if step > 5:
            label, earlier = stream[8 + step - 6]
            learn(path, label, [earlier])
        wanted = log_posterior(load(path), text)
        assert told(result, step) == pytest.approx(wanted, abs=1e-9)


def test_labels_may_be_told_of_the_first_alone(tmp_path: Path) -> None:
    stream = texts(["ham", "spam"], 30)
    sources = written(tmp_path, stream)

    result = evaluate_replay(sources, feedback="first:12", overrides=SUM)

    assert (replayed(result).learnt, replayed(result).not_told) == (12, 18)
    path = tmp_path / "m.nbt"
    train_on(stream[:12], path, overrides=SUM)
    for step in range(12, 30):
        wanted = log_posterior(load(path), stream[step][1])
        assert told(result, step) == pytest.approx(wanted, abs=1e-9)


def test_a_copy_is_judged_and_not_learnt_again(tmp_path: Path) -> None:
    """Under another label neither: the first one stays where it is."""
    stream = texts(["ham", "spam"], 12)
    copies = [stream[0], ("ham" if stream[1][0] == "spam" else "spam", stream[1][1])]
    result = evaluate_replay(written(tmp_path, [*stream, *copies]), overrides=SUM)

    assert result.documents == 14
    assert (replayed(result).learnt, replayed(result).copies) == (12, 2)
    path = tmp_path / "m.nbt"
    train_on(stream, path, overrides=SUM)
    wanted = log_posterior(load(path), stream[1][1])
    assert told(result, 13) == pytest.approx(wanted, abs=1e-9)


def test_an_empty_document_teaches_nothing(tmp_path: Path) -> None:
    stream = [*texts(["ham", "spam"], 10), ("ham", "")]

    assert replayed(evaluate_replay(written(tmp_path, stream))).learnt == 10


def test_a_class_that_is_not_known_yet_is_an_unknown_label(tmp_path: Path) -> None:
    stream = [*texts(["ham", "spam"], 12), *texts(["news"], 2)]

    result = evaluate_replay(written(tmp_path, stream))

    assert result.unknown_label == 1  # the second one is of a class
    assert replayed(result).learnt == 14
    assert replayed(result).unscored == 2 + (stream[0][0] == stream[1][0])


def test_a_model_learns_no_other_classes_than_its_own(tmp_path: Path) -> None:
    path = tmp_path / "m.nbt"
    train_on(texts(["ham", "spam"], 10), path)
    stream = texts(["ham", "news"], 12, seed=9)

    result = evaluate_replay(written(tmp_path, stream), model=load(path))

    n_news = sum(label == "news" for label, _ in stream)
    assert result.classes == ("ham", "spam")
    assert result.unknown_label == n_news
    assert replayed(result).learnt == 12 - n_news
    assert replayed(result).known_before == 10


def test_a_model_that_knows_all_of_them_is_refused(tmp_path: Path) -> None:
    stream = texts(["ham", "spam"], 10)
    train_on(stream, tmp_path / "m.nbt")

    with pytest.raises(SettingsError, match="has counted all of these documents"):
        evaluate_replay(written(tmp_path, stream), model=load(tmp_path / "m.nbt"))


@pytest.mark.parametrize("score", ["wcnb", "tfidf"])
def test_what_cannot_be_scored_one_after_the_other_is_refused(
    tmp_path: Path, score: str
) -> None:
    overrides = SettingsOverrides(score=score)
    with pytest.raises(SettingsError, match=f"the {score} score"):
        evaluate_replay(
            written(tmp_path, texts(["ham", "spam"], 6)), overrides=overrides
        )


def test_one_class_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="only the class 'ham'"):
        evaluate_replay(written(tmp_path, texts(["ham"], 3)))


def test_a_class_with_the_name_of_unsure_is_refused_as_by_train(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="cannot be called"):
        evaluate_replay(written(tmp_path, [("?", "lunch"), ("ham", "pills")]))


def test_regimes_leave_documents_out(tmp_path: Path) -> None:
    """A wide margin is everything; a margin of 0 is errors."""
    sources = written(tmp_path, texts(["ham", "spam"], 60))

    def learnt(regime: Regime) -> Replay:
        return replayed(evaluate_replay(sources, regime=regime, overrides=SUM))

    everything = learnt(Regime())
    errors = learnt(Regime("errors"))
    near = learnt(Regime("near-errors", 1.0))

    assert (everything.learnt, everything.left_out) == (60, 0)
    assert errors.learnt < near.learnt < 60
    assert errors.learnt + errors.left_out == near.learnt + near.left_out == 60
    assert learnt(Regime("near-errors", 0.0)).learnt == errors.learnt
    assert learnt(Regime("near-errors", 1e9)).learnt == 60


def test_errors_are_learnt_and_nothing_else(tmp_path: Path) -> None:
    """Each document that was decided rightly leaves the next model as it was."""
    stream = texts(["ham", "spam"], 40)
    sources = written(tmp_path, stream)

    result = evaluate_replay(sources, regime=Regime("errors"), overrides=SUM)

    assert result.rows is not None
    path, learnt = tmp_path / "m.nbt", stream[:0]
    for step, (label, text) in enumerate(stream):
        is_right = False
        if len({one for one, _ in learnt}) == 2:
            train_on(learnt, path, overrides=SUM, replace=True)
            wanted = log_posterior(load(path), text)
            assert told(result, step) == pytest.approx(wanted, abs=1e-9)
            is_right = max(wanted, key=wanted.__getitem__) == label
        learnt = learnt if is_right else [*learnt, (label, text)]
    assert replayed(result).learnt == len(learnt)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_point_of_the_curve_is_the_figures_so_far(n_classes: int) -> None:
    random = np.random.default_rng(4)
    n, classes = 357, ("eggs", "ham", "spam")[-n_classes:]
    truth = random.integers(-1, n_classes, n)
    posterior = np.log(random.dirichlet([1.0] * n_classes, n))
    decided = np.where(random.random(n) < 0.1, -1, posterior.argmax(axis=1))
    positive = "spam" if n_classes == 2 else None

    curve = learning_curve(truth, posterior, decided, np.arange(n), classes, positive)

    assert [point.documents for point in curve][-1] == n
    assert len(curve) == 100
    before = 0
    for point in curve[4::19]:
        end = point.documents
        so_far = evaluate(truth[:end], posterior[:end], decided[:end], classes)
        assert point.error == pytest.approx(1 - (so_far.accuracy or 0))
        assert point.macro_f1 == pytest.approx(so_far.macro.f1)
        auc = None if so_far.two_class is None else so_far.two_class
        assert point.one_minus_auc_percent == (auc and auc.one_minus_auc_percent)
        before = end
    assert before == n


def test_recent_errors_add_up_to_all(tmp_path: Path) -> None:
    result = evaluate_replay(written(tmp_path, texts(["ham", "spam"], 130)))

    curve, wrong, last = replayed(result).curve, 0.0, 0
    for point in curve:
        wrong += point.recent_error * (point.documents - last)
        last = point.documents
        assert wrong == pytest.approx(point.error * last)
    assert wrong == pytest.approx(result.documents - result.correct)


def test_a_replay_is_the_same_twice(tmp_path: Path) -> None:
    sources = written(tmp_path, texts(["ham", "spam"], 30))
    first, second = evaluate_replay(sources), evaluate_replay(sources[::-1])

    assert first == replace(second)
