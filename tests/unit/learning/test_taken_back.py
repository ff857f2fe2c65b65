"""What a document's scores said for calibration goes with the document."""

from pathlib import Path

import numpy as np
import pytest

import nbtext
from nbtext import SettingsOverrides
from nbtext.counts import Calibration
from nbtext.learning.regimes import Regime
from nbtext.scoring.stored import FEW
from nbtext.store import compact, open_model
from nbtext.store.calibrations import calibrations_of
from tests.build import confusing

ROWS = confusing(200 + 2 * FEW)
"""The first 200 are trained on."""

NEW = ROWS[200:]
COMMANDS = pytest.mark.parametrize("n", [1, 3, len(NEW)])
"""One document, a few by the plain engine, and many by arrays."""


@pytest.fixture(scope="module", params=["contrast", "complement", "wcnb", "sum"])
def trained(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> bytes:
    """Return the bytes of a model of four classes, whose losses are added up."""
    path = tmp_path_factory.mktemp("trained") / "model.nbt"
    overrides = SettingsOverrides(
        score=request.param, calibrate=request.param == "sum", correction=False
    )
    nbtext.train_on(ROWS[:200], path, overrides=overrides)
    return path.read_bytes()


def calibrations(path: str) -> tuple[Calibration, ...]:
    found = calibrations_of(open_model(path).tables)
    assert found
    assert all(one.losses for one in found)
    return found


def assert_alike(path: str, wanted: tuple[Calibration, ...], n: int) -> None:
    """Check what is kept, to a unit of each of `n` documents."""
    found = calibrations(path)
    assert [one.documents for one in found] == [one.documents for one in wanted]
    for one, other in zip(found, wanted, strict=True):
        assert np.abs(np.subtract(one.losses, other.losses)).max() <= n


def learn(path: str, rows: list[tuple[str, str]]) -> None:
    outcomes = nbtext.learn_labelled(path, rows)
    assert {one.outcome for one in outcomes} <= {"learnt", "moved"}


@COMMANDS
@pytest.mark.parametrize("is_compacted", [False, True])
def test_what_is_forgotten_says_nothing_any_more(
    path: str, n: int, is_compacted: bool
) -> None:
    before = calibrations(path)
    learn(path, NEW[:n])
    assert sum(calibrations(path)[0].documents.values()) == 200 + n
    if is_compacted:
        compact(path)

    nbtext.forget(path, [text for _, text in NEW[:n]])

    assert_alike(path, before, n)


@COMMANDS
def test_what_moves_speaks_for_its_new_class_alone(
    path: str, tmp_path: Path, n: int
) -> None:
    other = str(tmp_path / "other.nbt")
    Path(other).write_bytes(Path(path).read_bytes())
    labels = sorted({label for label, _ in ROWS})
    wrong = dict(zip(labels, [*labels[1:], labels[0]], strict=True))
    learn(path, [(wrong[label], text) for label, text in NEW[:n]])

    learn(path, NEW[:n])

    learn(other, NEW[:n])
    found, expected = calibrations(path), calibrations(other)
    assert [one.documents for one in found] == [one.documents for one in expected]
    if n == 1:  # others that are yet to move tell less of many
        assert_alike(path, expected, n)


def test_what_was_never_scored_is_not_taken_back(path: str) -> None:
    before = calibrations(path)
    nbtext.learn(path, NEW[0][0], [NEW[0][1]], regime=Regime("errors"))

    nbtext.forget(path, [NEW[0][1]])

    assert_alike(path, before, 0)


@COMMANDS
def test_documents_of_the_one_class_that_is_left_are_forgotten(
    path: str, n: int
) -> None:
    label, texts = ROWS[0][0], [text for _, text in ROWS[:200]]
    learn(path, [(label, text) for text in texts if (label, text) not in ROWS])

    outcomes = nbtext.forget(path, [text for one, text in ROWS if one != label][:n])

    assert [one.outcome for one in outcomes] == n * ["forgotten"]


def test_scores_of_a_class_that_is_gone_are_not_those_of_one_that_comes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "model.nbt"
    rows = [("ham", f"lunch in the garden {n}") for n in range(9)]
    rows += [("spam", f"cheap pills for money {n}") for n in range(9)]
    nbtext.train_on(rows, path)
    nbtext.forget(path, [text for label, text in rows if label == "spam"])

    nbtext.learn(path, "spam", [f"the judge heard the court {n}" for n in range(3)])

    held_out = calibrations_of(open_model(str(path)).tables)[0].documents
    assert held_out == {"ham": 9, "spam": 3}
