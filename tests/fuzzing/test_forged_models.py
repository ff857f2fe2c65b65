"""Models that the fuzzer made up, each of which broke a law once (docs/fuzzing.md)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fuzz.forge import Table, put_together, taken_apart
from fuzz.laws import within
from fuzz.models import HAM, MANY, MESSAGE, SPAM, learn
from nbtext import train_on
from nbtext.errors import DamagedError, ModelFileError, TrainingError
from nbtext.scoring.model import load_model
from nbtext.scoring.stored import open_stored
from nbtext.store import open_model, read_contents

Forge = Callable[[dict[Any, Any]], dict[Any, Any]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A model of two classes, with one document each."""
    path = tmp_path / "model.nbt"
    train_on([("spam", SPAM), ("ham", HAM)], str(path))
    return path


def change(path: Path, forge: Forge) -> None:
    """Change the header of a model's only table, and make all checksums fit."""
    (table,) = taken_apart(path.read_bytes())
    path.write_bytes(put_together([Table(forge(table.header), table.arrays)]))


@pytest.mark.parametrize("learnt", [[], ["ham"], "", "ham", None, 7])
def test_what_each_class_learnt_last_must_be_a_map(path: Path, learnt: object) -> None:
    change(
        path, lambda plain: plain | {"history": {**plain["history"], "learnt": learnt}}
    )

    with pytest.raises(DamagedError, match="header is not complete"):
        open_model(str(path))


def test_sums_that_do_not_fit_into_a_file_are_an_error(path: Path) -> None:
    change(path, lambda plain: plain | {"documents": [(1 << 64) - 1] * 2})
    path.write_bytes(path.read_bytes() * 2)

    with pytest.raises(ModelFileError, match="larger than the 64 bits"):
        read_contents(open_model(str(path))).pack()


@pytest.mark.parametrize("messages", [[SPAM], [SPAM, *MANY]], ids=["few", "many"])
@pytest.mark.parametrize(
    "forge",
    [
        lambda plain: plain | {"documents": [0, 0]},
        lambda plain: plain | {"totals": [[[0, 0]] * 2] * 3},
    ],
    ids=["documents", "totals"],
)
def test_forgetting_does_not_spoil_a_model_that_has_less_than_it_says(
    path: Path, forge: Forge, messages: list[bytes]
) -> None:
    change(path, forge)
    before = path.read_bytes()

    with pytest.raises(DamagedError, match="fewer documents or tokens"):
        learn(path, None, messages)

    assert path.read_bytes() == before


@pytest.fixture
def joined(path: Path, tmp_path: Path) -> Path:
    """Two models of two classes each, of which three are different."""
    other = tmp_path / "other.nbt"
    train_on([("spam", MESSAGE), ("work", HAM)], str(other))
    learn(path, "ham", MANY)
    path.write_bytes(path.read_bytes() + other.read_bytes())
    return path


@pytest.mark.parametrize("messages", [[MESSAGE], [MESSAGE, *MANY]], ids=["few", "many"])
def test_a_model_that_was_joined_to_too_many_classes_is_not_taught(
    joined: Path, messages: list[bytes]
) -> None:
    with pytest.raises(
        TrainingError, match=r"the contrast score needs the weight column.*train"
    ):
        learn(joined, "ham", messages)


@pytest.mark.parametrize("messages", [[SPAM], [SPAM, *MANY]], ids=["few", "many"])
def test_a_model_that_was_joined_to_too_many_classes_still_forgets(
    joined: Path, messages: list[bytes]
) -> None:
    results = learn(joined, None, messages)

    n_learnt = 3 + len(MANY)
    assert {result.outcome for result in results} == {"forgotten"}
    assert sum(load_model(str(joined)).documents) == 1 + n_learnt - len(messages)


def test_time_does_not_grow_with_the_square_of_the_classes(path: Path) -> None:
    names = [f"{place:05}" for place in range(60_000)]
    change(
        path,
        lambda plain: (
            plain
            | {"classes": names, "documents": [1] * len(names)}
            | {"totals": [[[0, 0]] * len(names)] * 3}
        ),
    )

    model = within(5, lambda: load_model(str(path)), "opening 60,000 classes")

    assert len(model.classes) == len(names)


def test_a_class_of_the_ledger_that_has_no_counts_is_damage(path: Path) -> None:
    def without_ham(plain: dict[Any, Any]) -> dict[Any, Any]:
        assert plain["classes"] == ["ham", "spam"]
        totals = [[[0, 0], of_view[1]] for of_view in plain["totals"]]
        return plain | {"documents": [0, 1], "totals": totals}

    (table,) = taken_apart(path.read_bytes())
    place = [name for name, _, _ in table.header["arrays"]].index("ledger.fingerprints")
    arrays = [*table.arrays]
    arrays[place] = bytes(len(arrays[place]))  # as after pruning
    path.write_bytes(put_together([Table(without_ham(table.header), arrays)]))

    with pytest.raises(DamagedError, match="has no counts"):
        learn(path, None, [HAM], approximate=True)


def test_models_that_were_taught_too_often_add_up_to_one_that_can_be_read(
    path: Path,
) -> None:
    often = {"taught": (1 << 63) - 1}
    change(path, lambda plain: plain | {"history": plain["history"] | often})
    path.write_bytes(path.read_bytes() * 2)
    pieces = read_contents(open_model(str(path))).pack()

    path.write_bytes(b"".join(map(bytes, pieces)))

    assert open_model(str(path)).tables[0].header.history.taught == (1 << 63) - 1


@pytest.mark.parametrize("alphabet", ["", "letters", "Fields", "fields\0"])
def test_a_model_of_an_unknown_alphabet_is_left_to_what_says_so(
    path: Path, alphabet: str
) -> None:
    def forge(plain: dict[Any, Any]) -> dict[Any, Any]:
        views = [{**view, "alphabet": alphabet} for view in plain["settings"]["views"]]
        return plain | {"settings": {**plain["settings"], "views": views}}

    change(path, forge)

    assert open_stored(str(path)) is None
    with pytest.raises(DamagedError, match="alphabet is"):
        load_model(str(path))
