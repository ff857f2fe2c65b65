"""Documents of several classes that are learnt together, each as its own label."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from nbtext import (
    LearnResult,
    Policy,
    Regime,
    SettingsOverrides,
    classify_all,
    forget,
    joint_log_likelihood,
    learn,
    learn_labelled,
    load,
    set_policy,
    train_on,
)
from nbtext.errors import NoModelError
from nbtext.scoring.model import load_model
from nbtext.store import open_model
from nbtext.store.undo import last_records
from tests.build import documents_of

ANIMALS = ("ant", "bee", "cow")
FEW, MANY = 4, 40  # of the plain engine, and of the batch engine


def text(label: str, n: int) -> str:
    return f"{label} number {n} eats what {label}s eat on day {n % 7} of the week"


def pairs(count: int, first: int = 100) -> list[tuple[str, str]]:
    """Return documents of all classes, in no order of classes."""
    labels = [ANIMALS[n % len(ANIMALS)] for n in range(count)]
    return [(label, text(label, n)) for n, label in enumerate(labels, first)]


def outcomes(results: list[LearnResult]) -> list[str]:
    return [result.outcome for result in results]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "m.nbt"
    # no candidates, of which documents that come in another order choose others
    fixed = SettingsOverrides(parameters=(("ngrams", 0.5), ("own", 0.35)))
    train_on(pairs(60, first=0), path, overrides=fixed)
    return path


@pytest.mark.parametrize("count", [FEW, MANY])
def test_it_is_what_learning_class_by_class_comes_to(path: Path, count: int) -> None:
    one_by_one = path.with_name("other.nbt")
    shutil.copy(path, one_by_one)
    new = pairs(count)

    results = learn_labelled(path, new)
    for label in ANIMALS:
        learn(one_by_one, label, [text for other, text in new if other == label])

    assert outcomes(results) == ["learnt"] * count
    assert [result.label for result in results] == [label for label, _ in new]
    assert [result.name for result in results] == [str(n + 1) for n in range(count)]
    assert documents_of(path) == documents_of(one_by_one)
    assert len(open_model(str(path)).tables) == 2, "all of it is one table"
    others = [text for _, text in pairs(30, first=500)]
    found, expected = (
        [[*joint_log_likelihood(load(model), one).values()] for one in others]
        for model in (path, one_by_one)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("count", [FEW, MANY])
def test_forgetting_takes_all_of_it_back(path: Path, count: int) -> None:
    before = documents_of(path)
    learn_labelled(path, pairs(count))

    results = forget(path, [text for _, text in pairs(count)])

    assert outcomes(results) == ["forgotten"] * count
    assert documents_of(path) == before


def test_what_is_known_stays_or_moves(path: Path) -> None:
    known, elsewhere = pairs(1, first=0)[0], ("ant", text("bee", 1))

    results = learn_labelled(path, [known, elsewhere, ("ant", text("ant", 3))])

    assert outcomes(results) == ["known", "moved", "known"]
    assert results[1].before == ("bee",)
    assert documents_of(path) == {"ant": 21, "bee": 19, "cow": 20}
    assert {*open_model(str(path)).tables[-1].header.history.learnt} == {"ant"}


@pytest.mark.parametrize("count", [FEW, MANY])
def test_of_a_document_with_two_labels_the_last_one_stands(
    path: Path, count: int
) -> None:
    some = [("ant", "cricket sings"), *pairs(count), ("bee", "cricket sings")]

    first, *_, last = learn_labelled(path, [*some, ("bee", "cricket sings")])

    assert first.outcome == "refused"
    assert first.reason == (
        "labelled 'ant' here and 'bee' further on, which stands; leave one of the two"
    )
    assert (last.outcome, last.before) == ("known", ("bee",))
    assert sum(documents_of(path).values()) == 60 + count + 1


@pytest.mark.parametrize("count", [FEW, MANY])
def test_classes_may_begin_together(path: Path, count: int) -> None:
    new = [(name, text(name, n)) for n in range(count) for name in ("dog", "emu")]

    refused = learn_labelled(path, new)
    results = learn_labelled(path, new + pairs(count), create=True)

    assert outcomes(refused) == ["refused"] * 2 * count
    assert refused[0].reason.endswith("for a new class, add create=True")
    assert outcomes(results) == ["learnt"] * 3 * count
    assert documents_of(path)["dog"] == documents_of(path)["emu"] == count
    decisions = classify_all(load(path), [text("dog", 900), text("emu", 901)])
    assert [decision.label for decision in decisions] == ["dog", "emu"]


def test_a_class_that_cannot_be_learnt_keeps_no_other_from_it(path: Path) -> None:
    new = [("bee", text("bee", 900)), ("?", text("owl", 1)), ("Cow", text("cow", 901))]

    results = learn_labelled(path, new)

    assert outcomes(results) == ["learnt", "refused", "refused"]
    assert results[1].reason.startswith("a class cannot be called '?'")
    assert "did you mean 'cow'" in results[2].reason
    assert results[2].reason.endswith("for a new class, add create=True")
    assert outcomes(learn_labelled(path, new[2:], create=True)) == ["learnt"]


def test_a_class_that_the_policy_does_not_allow_is_refused(path: Path) -> None:
    set_policy(path, Policy(prior=tuple((name, 1 / 3) for name in ANIMALS)))

    results = learn_labelled(path, [("dog", text("dog", 1)), *pairs(2)], create=True)

    assert outcomes(results) == ["refused", "learnt", "learnt"]
    assert "could not decide by its policy any more" in results[0].reason


@pytest.mark.parametrize("other", ["", text("bee", 900)])
def test_a_class_of_which_nothing_is_learnt_changes_no_score(
    tmp_path: Path, other: str
) -> None:
    path = tmp_path / "two.nbt"
    train_on([pair for pair in pairs(90) if pair[0] != "cow"], path)
    before = load_model(str(path)).scoring

    new = [("dog", other), ("bee", text("bee", 900))]
    results = learn_labelled(path, new, create=True)

    assert outcomes(results) == ["refused" if other else "empty", "learnt"]
    assert load_model(str(path)).scoring == before


@pytest.mark.parametrize("count", [FEW, MANY])
def test_what_the_last_documents_left_is_kept(path: Path, count: int) -> None:
    new = pairs(count)

    learn_labelled(path, new, undo=3)

    kept = last_records(open_model(str(path)), open_model(str(path)).tables, 99)
    assert [row.label for row in kept.rows] == [label for label, _ in new[-3:]]


@pytest.mark.parametrize("kind", ["errors", "near-errors"])
def test_a_regime_judges_in_the_order_of_the_documents(path: Path, kind: str) -> None:
    one_by_one = path.with_name("other.nbt")
    shutil.copy(path, one_by_one)
    odd = [(ANIMALS[n % 3], f"{text(ANIMALS[n % 2], n)} x{n % 5}") for n in range(40)]
    regime = Regime("errors") if kind == "errors" else Regime("near-errors", 1.0)

    together = learn_labelled(path, odd, regime=regime)
    alone = [
        outcome
        for label, document in odd
        for outcome in outcomes(learn(one_by_one, label, [document], regime=regime))
    ]

    assert {*alone} == {"learnt", "left out"}
    assert outcomes(together) == alone
    assert documents_of(path) == documents_of(one_by_one)


@pytest.mark.parametrize("count", [1, MANY])
def test_a_regime_learns_what_is_misjudged_alone(path: Path, count: int) -> None:
    odd = [("cow", f"{text('ant', 800)} {'ant ' * 9}")]

    results = learn_labelled(path, pairs(count) + odd, regime=Regime("errors"))

    assert outcomes(results) == ["left out"] * count + ["learnt"]


def test_there_must_be_a_model(tmp_path: Path) -> None:
    with pytest.raises(NoModelError, match=r"make one with `nbtext\.train`, or name"):
        learn_labelled(tmp_path / "none", pairs(3), create=True)


def test_what_is_no_pair_is_refused(path: Path) -> None:
    with pytest.raises(TypeError):
        learn_labelled(path, ["ant bee"])  # type: ignore[list-item]
    assert documents_of(path) == {"ant": 20, "bee": 20, "cow": 20}
