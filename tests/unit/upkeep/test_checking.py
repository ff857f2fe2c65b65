from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzz import forge
from nbtext import forget, learn, train_on
from nbtext.errors import ModelVersionError
from nbtext.scoring.model import load_model
from nbtext.store import compact, open_model
from nbtext.store.plain_table import TRAILER
from nbtext.store.table import BEGINNING
from nbtext.upkeep import Checked, check_model, documents_in, repair_model
from tests.build import FEW_TERMS

LABELLED = [
    ("ham", "lunch on friday"),
    ("ham", "the usual place for lunch, the usual time"),
    ("spam", "cheap pills, cheap cheap"),
    ("spam", "the cheap place"),
]


def taught(path: Path, label: str | None, *texts: str) -> None:
    if label is None:
        forget(path, texts)
    else:
        learn(path, label, texts)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A model of four tables: trained, learnt, moved, forgotten."""
    path = tmp_path / "m.nbt"
    train_on(LABELLED, str(path), overrides=FEW_TERMS)
    taught(path, "ham", "a new place")
    taught(path, "ham", "the cheap place")
    taught(path, None, "lunch on friday")
    return path


def verdicts(checked: Checked) -> list[str]:
    return [part.verdict for part in checked.parts]


def change(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)


def change_arrays(path: Path, number: int) -> None:
    """Change a byte of an array of one of the tables."""
    table = open_model(str(path)).tables[number]
    longest = bytes(max(table.arrays.contents(), key=len))
    change(path, path.read_bytes().index(longest, table.offset))


Plain = dict[str, Any]
Arrays = dict[str, np.ndarray[Any, Any]]


def taken_apart(data: bytes) -> list[tuple[Plain, Arrays]]:
    """Return the headers and the arrays of the tables of a file."""
    tables = []
    for header, arrays in forge.taken_apart(data):
        by_name = {
            name: np.frombuffer(array, f"<{kind}").copy()
            for (name, kind, _), array in zip(header["arrays"], arrays, strict=True)
        }
        tables.append((header, by_name))
    return tables


def put_together(tables: list[tuple[Plain, Arrays]]) -> bytes:
    """Return a file whose checksums are right, whatever it says."""
    return forge.put_together(
        [
            forge.Table(header, [array.tobytes() for array in arrays.values()])
            for header, arrays in tables
        ]
    )


def test_a_model_that_was_taught_is_sound(path: Path) -> None:
    checked = check_model(str(path))

    assert checked.is_sound
    assert verdicts(checked) == ["sound"] * 4
    assert documents_in(checked.sound) == {"ham": 3, "spam": 1}
    assert checked.notes == ()


def test_what_the_tests_put_together_is_what_is_written(path: Path) -> None:
    data = path.read_bytes()

    assert put_together(taken_apart(data)) == data


def test_damaged_arrays_are_found_with_what_would_be_lost(path: Path) -> None:
    table = open_model(str(path)).tables[1]
    change_arrays(path, 1)

    checked = check_model(str(path))

    assert not checked.is_sound
    assert verdicts(checked) == ["sound", "damaged", "sound", "sound"]
    (lost,) = checked.lost
    assert (lost.offset, lost.length) == (table.offset, table.length)
    assert lost.what == "the arrays are not as they were written"
    assert documents_in([lost]) == {"ham": 1}
    assert lost.header is not None
    assert lost.header.written.startswith("20")


def test_a_changed_byte_of_the_padding_is_noted(path: Path) -> None:
    length = open_model(str(path)).tables[0].length
    change(path, length - len(TRAILER) - 9)

    checked = check_model(str(path))

    assert checked.is_sound
    assert "at byte 0: bytes between its arrays were changed" in checked.notes[0]


def test_behind_a_damaged_header_the_next_table_is_found(path: Path) -> None:
    tables = open_model(str(path)).tables
    change(path, tables[1].offset + 100)

    checked = check_model(str(path))

    assert verdicts(checked) == ["sound", "damaged", "sound", "sound"]
    assert checked.lost[0].what.startswith("its header ")
    assert checked.lost[0].header is None
    assert checked.lost[0].length == tables[1].length


@pytest.mark.parametrize("extra", [b"\n", b"Dear Sir,\n", bytes(64), bytes(200)])
def test_bytes_between_tables_are_damage_wherever_they_push_the_rest(
    path: Path, extra: bytes
) -> None:
    data = path.read_bytes()
    place = open_model(str(path)).tables[1].offset
    path.write_bytes(data[:place] + extra + data[place:])

    checked = check_model(str(path))

    assert verdicts(checked) == ["sound", "damaged", "sound", "sound", "sound"]
    assert checked.lost[0].length == len(extra)


def test_what_a_crash_left_of_a_table_is_no_damage(path: Path) -> None:
    data = path.read_bytes()
    last = open_model(str(path)).tables[-1].offset
    path.write_bytes(data[:last] + b"\0" + data[last + 1 : -100])

    checked = check_model(str(path))

    assert checked.is_sound
    assert verdicts(checked) == ["sound", "sound", "sound", "cut off"]
    assert "a table that was not written whole; they are passed" in checked.notes[0]


def test_a_table_that_was_whole_and_lost_its_end_is_damaged(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])

    checked = check_model(str(path))

    assert not checked.is_sound
    assert verdicts(checked) == ["sound", "sound", "sound", "damaged"]
    assert checked.lost[0].what.startswith("its end is missing, and no crash leaves")
    assert documents_in(checked.lost) == {"ham": -1}


def test_a_file_cut_off_within_its_first_table_is_damaged(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1500])

    checked = check_model(str(path))

    assert verdicts(checked) == ["damaged"]
    assert checked.lost[0].what == "the file, or the next table, begins before its end"


def test_joined_models_are_sound_and_a_note_says_what_they_cost(path: Path) -> None:
    path.write_bytes(path.read_bytes() * 2)

    checked = check_model(str(path))

    assert checked.is_sound
    assert "its tables were joined" in checked.notes[0]


def test_what_takes_away_what_is_lost_is_surplus(path: Path) -> None:
    change_arrays(path, 0)

    checked = check_model(str(path))

    assert verdicts(checked) == ["damaged", "sound", "surplus", "surplus"]
    assert "takes away what the sound tables do not have" in checked.lost[1].what


def test_tables_that_were_read_otherwise_are_surplus(path: Path) -> None:
    other = path.with_name("other.nbt")
    train_on([(name, text) for name in "abc" for text in ("one", "two")], str(other))
    path.write_bytes(path.read_bytes() + other.read_bytes())

    checked = check_model(str(path))

    assert verdicts(checked) == ["sound"] * 4 + ["surplus"]
    assert "does not add to the first: " in checked.lost[0].what


def test_a_repaired_model_is_the_sum_of_what_is_sound(path: Path) -> None:
    tables = open_model(str(path)).tables
    change(path, tables[1].offset + 100)
    damaged, new = path.read_bytes(), path.with_name("new.nbt")

    size = repair_model(check_model(str(path)), str(new))

    again = check_model(str(new))
    assert again.is_sound
    assert again.size == size
    assert documents_in(again.sound) == {"ham": 2, "spam": 1}
    assert load_model(str(new)).documents == (2, 1)
    assert path.read_bytes() == damaged


def test_what_was_learnt_stays_undoable_after_a_repair(path: Path) -> None:
    taught(path, "spam", "one", "two", "three")
    change(path, open_model(str(path)).tables[1].offset + 100)
    new = path.with_name("new.nbt")

    repair_model(check_model(str(path)), str(new))
    taught(new, None, "two")

    assert documents_in(check_model(str(new)).sound) == {"ham": 2, "spam": 3}


def test_a_table_of_a_newer_nbtext_is_named(path: Path) -> None:
    tables = taken_apart(path.read_bytes())
    tables[1][0]["version"] = 9
    path.write_bytes(put_together(tables))

    checked = check_model(str(path))

    assert checked.lost[0].what.startswith(
        "a model of format version 9, and this nbtext"
    )


@pytest.mark.parametrize("key", ["version", "codepoints"])
def test_a_model_of_another_nbtext_is_not_called_damaged(path: Path, key: str) -> None:
    tables = taken_apart(path.read_bytes())
    for table in tables:
        (table[0] if key == "version" else table[0]["settings"])[key] = 2
    path.write_bytes(put_together(tables))

    with pytest.raises(ModelVersionError) as opening:
        open_model(str(path))
    with pytest.raises(ModelVersionError) as checking:
        check_model(str(path))

    assert str(checking.value) == str(opening.value)


NESTED: list[Any] = []
for _ in range(1012):
    NESTED = [NESTED]

HEADERS: dict[str, tuple[Any, str]] = {
    "terms": ([99], "its header says that the view body has 99 terms"),
    "documents": ([9, 9], "other documents than in its ledger"),
    "calibrations": ([{}], "the calibration: expected the keys scoring, "),
    "classes": (["spam", "ham"], "the classes are not sorted names"),
    "history": ({"learnt": []}, "the history: expected the keys trained, "),
    "written": (NESTED, "its header is not complete"),
    "version": (NESTED, "its version is not one"),
}


@pytest.mark.parametrize("key", HEADERS)
def test_a_header_that_says_what_is_not_so_is_damage(key: str, path: Path) -> None:
    value, message = HEADERS[key]
    tables = taken_apart(path.read_bytes())
    tables[0][0][key] = value
    path.write_bytes(put_together(tables))

    checked = check_model(str(path))

    assert checked.parts[0].verdict == "damaged"
    assert message in checked.parts[0].what


def test_totals_that_are_not_those_of_the_terms_are_damage(path: Path) -> None:
    tables = taken_apart(path.read_bytes())
    tables[0][0]["totals"][0][1][0] += 1
    path.write_bytes(put_together(tables))

    what = check_model(str(path)).parts[0].what

    assert what.startswith("its header gives totals of occurrences in the view body ")


ARRAYS: dict[str, tuple[Any, Any, str]] = {
    "body.keys": (0, 2**64 - 1, "are not in order"),
    "body.buckets": (0, 1, "are not in order"),
    "body.codes": (0, 200, "have other entries than they say"),
    "body.starts": (0, 1, "have other entries than they say"),
    "body.classes": (0, 9, "entries of classes that there are not"),
    "body.occurrences": (0, 77, "totals of occurrences"),
    "ledger.high": (0, 2**64 - 1, "its ledger is not in order"),
    "ledger.classes": (0, 9, "its ledger has documents of classes"),
    "ledger.counts": (0, 0, "its ledger has counts that no documents leave"),
    "undo.classes": (0, 9, "records of documents of classes that there are not"),
    "undo.bins": (0, 9999, "records of scores that no document has"),
    "undo.fingerprints": (0, 1, "its records are not those of the documents"),
    "undo.body.counts": (0, 0, "its records of the view body have counts of no"),
    "undo.body.keys": (slice(0, 2), [7, 7], "are not in order"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_contradict_one_another_are_damage(name: str, path: Path) -> None:
    place, value, message = ARRAYS[name]
    taught(path, "ham", "one more lunch", "and one more")
    compact(str(path))
    tables = taken_apart(path.read_bytes())
    tables[0][1][name][place] = value
    path.write_bytes(put_together(tables))

    checked = check_model(str(path))

    assert verdicts(checked) == ["damaged"]
    assert message in checked.parts[0].what


def test_the_one_document_of_a_table_has_the_weights_of_a_document(
    tmp_path: Path,
) -> None:
    path = tmp_path / "m.nbt"
    train_on([("a", "one two"), ("b", "two three"), ("c", "four four")], str(path))
    taught(path, "a", "five six seven")
    tables = taken_apart(path.read_bytes())
    header, arrays = tables[1]
    name = next(name for name in arrays if name.endswith(".weight"))
    arrays[name][0] += 1
    header["totals"][0][0][2] += 1
    path.write_bytes(put_together(tables))

    checked = check_model(str(path))

    assert verdicts(checked) == ["sound", "damaged"]
    assert "are not what a document leaves" in checked.parts[1].what


def test_a_first_table_takes_nothing_away(path: Path) -> None:
    data = path.read_bytes()
    forgotten = open_model(str(path)).tables[3]
    path.write_bytes(data[forgotten.offset :] + data)

    checked = check_model(str(path))

    assert verdicts(checked) == ["damaged"] + ["sound"] * 4
    assert checked.parts[0].what == "the first table takes documents away"


def test_a_wrong_number_of_new_terms_is_a_fault_of_the_whole(path: Path) -> None:
    tables = taken_apart(path.read_bytes())
    tables[1][0]["history"]["new_terms"] = [77]
    path.write_bytes(put_together(tables))

    checked = check_model(str(path))

    assert not checked.is_sound
    assert checked.lost == []
    assert "its tables say that there are " in checked.faults[0]


def test_a_search_for_tables_takes_time_in_proportion(tmp_path: Path) -> None:
    path = tmp_path / "m.nbt"
    # each could be taken for the header of a table that has all the others in it
    nested = b"\x82" + BEGINNING + b"\xa1x\xdd\x00\x00\xff\xff"
    path.write_bytes(nested * 20_000)

    checked = check_model(str(path))

    assert len(checked.parts) == 20_000
    assert set(verdicts(checked)) == {"damaged"}


def test_counts_too_large_to_be_added_up_are_damage(path: Path) -> None:
    tables = taken_apart(path.read_bytes())
    header, arrays = tables[0]
    counts = arrays["body.occurrences"].astype("<u8")
    counts[0] = 1 << 63
    arrays["body.occurrences"] = counts
    for one in header["arrays"]:
        if one[0] == "body.occurrences":
            one[1] = "u8"
    path.write_bytes(put_together(tables))

    what = check_model(str(path)).parts[0].what

    assert what == "the view body has counts that no documents leave"


def test_counts_that_are_not_those_of_the_one_document_of_a_table_are_damage(
    path: Path,
) -> None:
    """It would be its record for what forgets it, and for the compiled engine."""
    taught(path, "ham", "one more more lunch")
    tables = taken_apart(path.read_bytes())
    occurrences = tables[-1][1]["body.occurrences"]
    assert occurrences.max() == 2
    occurrences[occurrences.argmax()] = 3
    tables[-1][0]["totals"][0][0][0] += 1
    path.write_bytes(put_together(tables))

    checked = check_model(str(path))

    assert checked.parts[-1].what == (
        "the counts of its one document are not those of its fingerprint"
    )
