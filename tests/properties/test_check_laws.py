"""
Checking a model file tells the truth, whatever has become of its bytes.

`check_model` raises nothing but `ModelFileError`, and what it says of a file goes for
its readers: they read what it calls sound, and refuse what it does not, but for a last
table that lost its end, which they pass over. What it calls sound is a table that was
written. After a repair the new file is sound, and is the sum
of the tables that were called so.
"""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nbtext import train_on
from nbtext.counts.table import add
from nbtext.document import Document
from nbtext.errors import ModelFileError, NotAModelError
from nbtext.learning import LearnRequest
from nbtext.scoring.held_out import fitted
from nbtext.scoring.model import load_model
from nbtext.store import check_sound, compact, open_model
from nbtext.store.calibrations import calibrations_of
from nbtext.store.cut_short import END_MISSING
from nbtext.store.packing import unpack, unpack_table
from nbtext.store.table import BEGINNING
from nbtext.upkeep import Checked, check_model, documents_in, repair_model
from tests.build import learnt, values

SAME_FOLDER = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
WORDS = [
    "money", "winner", "lottery", "cash", "prize", "lunch", "meeting", "minutes",
]  # fmt: skip


def text(number: int) -> str:
    words = [WORDS[(number * step) % len(WORDS)] for step in (1, 1, 3, 4, 7)]
    return " ".join([*words, f"n{number}"])


def taught(path: Path, label: str | None, *numbers: int) -> None:
    items = [Document(str(number), (text(number).encode(),)) for number in numbers]
    learnt(LearnRequest(str(path), label), items)


@cache
def contents(name: str) -> bytes:
    """A model that has lived: trained, taught, compacted, taught again."""
    labels = {"two": ["ham", "spam"], "three": ["a", "b", "c"]}[name.split()[0]]
    with TemporaryDirectory() as folder:
        path = Path(folder, "m.nbt")
        train_on([(labels[n % len(labels)], text(n)) for n in range(9)], str(path))
        taught(path, labels[0], 11)
        taught(path, labels[1], 12, 13)
        taught(path, None, 0)
        if "compacted" in name:
            compact(str(path))
        taught(path, labels[0], 14)
        taught(path, labels[1], 14, 1)
        taught(path, None, 11)
        data = path.read_bytes()
    return data * 2 if "joined" in name else data


NAMES = ["two", "three", "two compacted", "three compacted", "two joined"]


def are_read(path: Path) -> bool:
    """Whether the readers take all of a file."""
    try:
        model = load_model(str(path))
        check_sound(model.file)
        unpack(model.file)
        fitted(model)
        calibrations_of(model.file.tables)
    except ModelFileError:
        return False
    return True


REPAIRED: set[int] = set()
"""Which sound tables were repaired, since nothing else goes into the new file."""


def checked(path: Path, data: bytes) -> Checked | None:
    """Check a file and everything that is to hold then; None if it is no model."""
    path.write_bytes(data)
    try:
        found = check_model(str(path))
    except ModelFileError:
        assert not are_read(path)
        return None
    places = [part.offset for part in found.parts]
    assert places == [
        sum(p.length for p in found.parts[:n]) for n in range(len(places))
    ]
    assert sum(part.length for part in found.parts) == found.size == len(data)
    # readers pass over a last table whose end is missing, though something was lost
    is_short = found.parts[-1].what == END_MISSING and len(found.lost) == 1
    assert (found.is_sound or is_short) == are_read(path)
    if not found.is_sound:
        sound = [(n := part.offset, data[n : n + part.length]) for part in found.sound]
        if (once := hash(tuple(sound))) not in REPAIRED:
            is_repaired(found, path.with_suffix(".new"))
            REPAIRED.add(once)
    assert path.read_bytes() == data
    return found


def is_repaired(found: Checked, new: Path) -> None:
    """Repair a file, and look whether that is right."""
    new.unlink(missing_ok=True)
    try:
        size = repair_model(found, str(new))
    except NotAModelError:
        assert not documents_in(found.sound)
        assert not new.exists()
        return
    again = check_model(str(new))
    assert again.is_sound
    assert size == again.size
    total = add([unpack_table(table) for table in found.tables])
    assert values(unpack(open_model(str(new)))) == values(total)


def checksums(found: Checked | None) -> list[bytes]:
    return [table.arrays.checksums for table in found.tables] if found else []


@pytest.mark.parametrize("name", NAMES)
def test_a_model_that_has_lived_is_sound(name: str, tmp_path: Path) -> None:
    found = checked(tmp_path / "m.nbt", contents(name))

    assert found is not None
    assert found.is_sound
    assert len(found.parts) > 3
    assert {part.verdict for part in found.parts} == {"sound"}
    assert any("were joined" in note for note in found.notes) == ("joined" in name)


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_byte_is_found_wherever_readers_look(
    name: str, quick_folder: Path
) -> None:
    data, path = contents(name), quick_folder / "m.nbt"
    written = checksums(checked(path, data))
    for place in range(NAMES.index(name), len(data), len(data) // 50):
        changed = bytearray(data)
        changed[place] ^= 0xFF if place % 9 == 0 else 1 << place % 8

        assert set(checksums(checked(path, bytes(changed)))) <= set(written)


@given(st.sampled_from(NAMES), st.data())
@SAME_FOLDER
def test_stretches_put_in_cut_out_or_changed_are_found(
    quick_folder: Path, name: str, data: st.DataObject
) -> None:
    whole, path = contents(name), quick_folder / "m.nbt"
    written = checksums(checked(path, whole))
    changed = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(changed)))
        length = data.draw(st.integers(0, 200) | st.sampled_from([64, 4096]))
        new = data.draw(
            st.binary(max_size=80)
            | st.sampled_from([b"", bytes(128), BEGINNING, whole[:4096], whole[-500:]])
        )
        changed[place : place + length] = new

    found = checked(path, bytes(changed))

    assert set(checksums(found)) <= set(written)


@given(st.sampled_from(NAMES), st.data())
@settings(SAME_FOLDER, max_examples=60)
def test_a_file_that_ends_early_loses_its_last_table_alone(
    quick_folder: Path, name: str, data: st.DataObject
) -> None:
    whole, path = contents(name), quick_folder / "m.nbt"
    path.write_bytes(whole)
    ends = [table.offset + table.length for table in open_model(str(path)).tables]
    size = data.draw(st.integers(ends[0], len(whole)))

    found = checked(path, whole[:size])

    assert found is not None
    assert found.is_sound == (size in ends)
    assert len(found.tables) == sum(end <= size for end in ends)
    assert (found.parts[-1].verdict == "damaged") == (size not in ends)


@given(st.binary(max_size=300), st.booleans())
@SAME_FOLDER
def test_any_bytes_are_told_from_a_model(
    tmp_path: Path, data: bytes, begins: bool
) -> None:
    found = checked(tmp_path / "m.nbt", b"\x8f" + BEGINNING + data if begins else data)

    assert found is None or not found.is_sound
