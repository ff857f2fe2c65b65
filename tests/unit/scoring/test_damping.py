"""What a term that occurs n times counts, and which columns that takes."""

from dataclasses import replace
from math import log1p
from pathlib import Path

import pytest

from nbtext import (
    SettingsOverrides,
    classify_all,
    joint_log_likelihood,
    learn,
    load,
    train_on,
)
from nbtext.errors import SettingsError
from nbtext.scoring.models.damping import damping
from nbtext.scoring.stored import FEW
from nbtext.settings.columns import in_order
from nbtext.settings.scoring import COUNTINGS
from nbtext.settings.views import BODY
from nbtext.store import open_model, read_contents
from nbtext.tokens.bag import columns_of

TEXTS = [
    ("a", "x x x x y"),
    ("a", "x z z"),
    ("a", "y"),
    ("b", "z z z z z z z z z z y"),
    ("b", "y y x"),
]
NEW = "x x y z z z z"


@pytest.mark.parametrize("counting", COUNTINGS)
def test_columns_of_documents_sum_up_to_damped_counts(counting: str) -> None:
    damped = damping(counting)
    view = BODY._replace(
        columns=in_order(("occurrences", "documents", *damped.columns))
    )
    numbers = (1, 1, 2, 3, 8, 9, 10, 300)
    rows = [columns_of({7: n}, view.columns)[7] for n in numbers]
    sums = [sum(column) for column in zip(*rows, strict=True)]

    count = damped.count_of(sums, damped.places(view))

    assert count == pytest.approx(sum(map(damped.times, numbers)), rel=1e-12)


def test_min_k_needs_the_levels_below_k() -> None:
    assert damping("min:4").columns == ("documents", "level1", "level2", "level3")
    # of documents with 1, 1, 2, 3 and 9: 1 + 1 + 2 + 3 + 4
    assert damping("min:4").count_of([5, 2, 1, 1], [0, 1, 2, 3]) == 11
    assert [damping("min:4").times(n) for n in (1, 3, 4, 5)] == [1, 3, 4, 4]
    assert damping("log").times(2) == pytest.approx(log1p(2), abs=1 / 4096)


def test_more_documents_by_level_than_documents_count_nothing(tmp_path: Path) -> None:
    """No training leaves such counts; a model file may have any."""
    path = tmp_path / "m.nbt"
    overrides = SettingsOverrides(score="sum", counting="min:3", ngrams=1)
    train_on(TEXTS, path, overrides=overrides)
    contents = read_contents(open_model(str(path)))
    level = contents.counts.settings.views[0].column("level1")
    runs = tuple(
        replace(run, columns=(*run.columns[:level], run.columns[level] + 9))
        for run in contents.counts.runs[0]
    )
    columns = contents.counts.settings.views[0].columns[: level + 1]
    settings = contents.counts.settings.counting(columns)
    scoring = contents.scoring._replace(counting="min:2")
    counts = replace(contents.counts, settings=settings, runs=(runs,))
    damaged = replace(contents, counts=counts, scoring=scoring, calibrations=())
    path.write_bytes(b"".join(map(bytes, damaged.pack())))

    (one,), many = ([*classify_all(load(path), [NEW] * n)] for n in (1, FEW + 1))

    assert 0 < one.probability < 1
    assert many[0].log_posterior == pytest.approx(one.log_posterior, rel=1e-12)


@pytest.mark.parametrize("counting", ["once", "log", "min:3"])
def test_learning_one_by_one_is_training(counting: str, tmp_path: Path) -> None:
    overrides = SettingsOverrides(score="sum", counting=counting, ngrams=1)
    whole, taught = str(tmp_path / "whole.nbt"), str(tmp_path / "taught.nbt")
    train_on(TEXTS, whole, overrides=overrides)
    train_on([TEXTS[1], TEXTS[4]], taught, overrides=overrides)

    for label, text in (TEXTS[3], TEXTS[0], TEXTS[2]):
        learn(taught, label, [text])

    one, other = (joint_log_likelihood(load(path), NEW) for path in (whole, taught))
    assert one == pytest.approx(other, rel=1e-12)


def test_a_missing_column_is_an_error_that_names_the_train_line(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "m.nbt")
    train_on(TEXTS, path, overrides=SettingsOverrides(score="sum"))

    with pytest.raises(SettingsError, match="train with score='sum', counting='log'"):
        load(path, overrides=SettingsOverrides(counting="log"))
    with pytest.raises(SettingsError, match="needs the level1 and the level2 column"):
        load(path, overrides=SettingsOverrides(counting="min:3"))


def test_a_score_that_counts_otherwise_names_those_that_do(tmp_path: Path) -> None:
    overrides = SettingsOverrides(counting="log")

    with pytest.raises(SettingsError, match=r"cannot count by log .*use score sum"):
        train_on(TEXTS, str(tmp_path / "m.nbt"), overrides=overrides)
