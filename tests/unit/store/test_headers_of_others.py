"""What a header has that this nbtext does not know, or lacks, is refused by name."""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from fuzz import models
from fuzz.forge import Table, put_together, taken_apart, undated
from nbtext import Policy, set_policy, train_on
from nbtext.errors import DamagedError, ModelFileError, ModelVersionError
from nbtext.learning import SettingsOverrides
from nbtext.policy import FalsePositives
from nbtext.store import open_model
from nbtext.store.calibrations import calibrations_of, last_fit

PYTHONS_WORDS = ("argument", "NoneType", "' object", "iterable", "unpack", "zip()")
"""What stands in a message that is an exception of Python's own."""

FREE = {"learnt", "parameters", "attributes", "fields", "made_with", "documents"}
"""Maps whose keys are names of classes, or of numbers."""

OPTIONAL = {
    "run", "secret", "idf_documents", "class_prior", "unknown", "attributes", "fit",
    "histograms", "correction", "policy", "texts", "corrected", "parameters",
    "header_checksum", "version", "format",
}  # fmt: skip
"""Keys that a map need not have, or that have a message of their own."""

PATTERN = SettingsOverrides(score="sum", pattern=r"\w+")
LEVELS = SettingsOverrides(score="kary")


@pytest.fixture(scope="module")
def headers(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Models whose headers have all kinds of parts."""
    path = tmp_path_factory.mktemp("headers") / "m.nbt"
    found = [one for one in models.seeds() if b"\xaacorrection" in one][:1]
    for pairs, overrides in ((models.TWO, LEVELS), (models.TEXTS, PATTERN)):
        train_on(pairs, str(path), overrides=overrides, replace=True)
        found.append(path.read_bytes())
    train_on(models.TWO, str(path), replace=True)
    limit = FalsePositives("spam", 0.1)
    set_policy(str(path), Policy(0.9, (("spam", 0.5),), (), limit))
    found.append(path.read_bytes())
    return [undated(one) for one in found]


def read_all(path: Path) -> None:
    file = open_model(str(path))
    calibrations_of(file.tables)
    last_fit(file)


def maps_in(plain: Any, *where: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the places of all maps in plain values."""
    if isinstance(plain, dict):
        yield where
    places = plain.items() if isinstance(plain, dict) else enumerate(plain)
    for place, value in places:
        if isinstance(value, dict | list):
            yield from maps_in(value, *where, place)


def at(header: dict[Any, Any], where: tuple[Any, ...]) -> Any:
    found: Any = header
    for place in where:
        found = found[place]
    return found


def changes_of(
    data: bytes,
) -> Iterator[tuple[dict[Any, Any], dict[Any, Any], tuple[Any, ...]]]:
    """Yield a copy of a header, and a map in it, once for each map."""
    header = taken_apart(data)[0].header
    for where in maps_in(header):
        if any(part in FREE for part in where[-1:]) and where != ("documents",):
            continue
        if len(where) > 1 and where[0] == "histograms" and len(where) < 3:
            continue
        if where in (("histograms",),) or where[-1:] in (("prior",),):
            continue
        if where[-1:] == ("scoring",) and len(where) > 1:
            continue  # of a calibration or correction: an event model's own
        copy = deepcopy(header)
        yield copy, at(copy, where), where


def refusal_of(path: Path, data: bytes, header: dict[Any, Any]) -> ModelFileError:
    """Return how a model is refused whose first header is another one."""
    first, *rest = taken_apart(data)
    path.write_bytes(put_together([Table(header, first.arrays), *rest]))
    with pytest.raises(ModelFileError) as caught:
        read_all(path)
    assert not any(word in str(caught.value) for word in PYTHONS_WORDS), caught.value
    return caught.value


def test_a_key_of_another_nbtext_is_named(headers: list[bytes], tmp_path: Path) -> None:
    n_maps = 0
    for data in headers:
        for header, found, where in changes_of(data):
            found["colour"] = 1
            error = refusal_of(tmp_path / "m.nbt", data, header)

            assert isinstance(error, ModelVersionError), (where, error)
            assert "this nbtext does not know 'colour' in" in str(error)
            assert "train again, or upgrade nbtext if it is newer" in str(error)
            n_maps += 1
    assert n_maps > 30


def test_a_key_that_is_missing_is_named(headers: list[bytes], tmp_path: Path) -> None:
    for data in headers:
        for header, found, where in changes_of(data):
            whole = dict(found)
            for key in set(whole) - OPTIONAL:
                found.clear()
                found.update((name, whole[name]) for name in whole if name != key)
                error = refusal_of(tmp_path / "m.nbt", data, header)

                assert isinstance(error, DamagedError), (where, key, error)
                assert f"found no {key}" in str(error) or key == "kind", error
                assert "nbtext.upkeep.check_model" in str(error)


@pytest.mark.parametrize("other", [(), {}, "x", 1.5, b"\xff", [[]], {"x": 1}, [{}]])
def test_a_value_of_another_kind_is_refused_in_our_words(
    headers: list[bytes], tmp_path: Path, other: object
) -> None:
    path = tmp_path / "m.nbt"
    for data in headers:
        for header, found, _ in changes_of(data):
            whole = dict(found)
            for key in set(whole) - {"version", "format", "header_checksum"}:
                found.update(whole | {key: other})
                first, *rest = taken_apart(data)
                path.write_bytes(put_together([Table(header, first.arrays), *rest]))
                try:
                    read_all(path)
                except ModelFileError as error:
                    said = str(error)
                    assert not any(word in said for word in PYTHONS_WORDS), (key, said)
