"""Models that are changed gently are sound so often that what comes then is reached."""

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from fuzz import gentle, stored
from fuzz.forge import taken_apart

if TYPE_CHECKING:
    from fuzz.stored import Compared

N_MODELS = 60


def numbers(seed: int) -> Random:
    return Random(seed)  # noqa: S311  no secret


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    path = tmp_path_factory.mktemp("gentle") / "m.nbt"
    return [gentle.made(numbers(seed), path) for seed in range(12)]


def test_most_engines_agree_about_models_that_were_changed(
    bases: list[bytes], tmp_path: Path
) -> None:
    path, choice = tmp_path / "m.nbt", numbers(1)
    found: list[Compared] = []

    for _ in range(N_MODELS):
        path.write_bytes(gentle.changed(choice.choice(bases), choice))
        found.append(stored.check(path, choice.sample(gentle.MAILS, 2)))

    assert sum(one.decisions > 0 for one in found) > N_MODELS // 4
    assert sum(one.lessons for one in found) > N_MODELS


@pytest.mark.parametrize("change", sorted({*gentle.CHANGES}, key=str))
def test_each_change_makes_another_model(
    bases: list[bytes], change: gentle.Change
) -> None:
    choice = numbers(2)
    n_changed = 0

    for data in bases:
        for table in taken_apart(data):
            before = repr(table)
            change(table, choice)
            n_changed += repr(table) != before

    assert n_changed


def test_what_is_no_model_stays_as_it_is() -> None:
    assert gentle.changed(b"x", numbers(3)) == b"x"
