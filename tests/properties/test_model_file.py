"""
A model file gives back what was put into it, and anything else is a `ModelFileError`.

`unpack(open_model(pack(t)))` is t; packing is repeatable byte for byte but for the time
stamp; the tables of files that are joined add up. Bytes that are random, cut off or
changed give a model or a `ModelFileError`: no other exception, no hang, no memory
without bound. A file is replaced whole or not at all; a table that was appended and cut
off anywhere is as if it had not been there.
"""

import os
import stat
from array import array
from collections import Counter as Tally
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgpack
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz import forge
from nbtext.counts.calibration import Calibration
from nbtext.counts.sorted_counts import SortedCounts
from nbtext.counts.table import CountTable, LedgerRun, add
from nbtext.errors import (
    DamagedError,
    ModelFileError,
    ModelVersionError,
    NotAModelError,
)
from nbtext.scoring.batch import score_readings
from nbtext.scoring.batch_model import open_batch_model
from nbtext.scoring.held_out import fitted
from nbtext.scoring.model import load_model
from nbtext.scoring.models.registry import default_scoring
from nbtext.scoring.score import score
from nbtext.settings.reading import Settings
from nbtext.store import (
    History,
    ModelFile,
    Row,
    StoredTable,
    UndoRecords,
    check_sound,
    open_model,
    read_contents,
    record_of,
    rows_of,
)
from nbtext.store.compacting import compact_tail
from nbtext.store.cut_short import END_MISSING
from nbtext.store.file import open_locked
from nbtext.store.header import KEPT_RECORDS
from nbtext.store.ledger import NO_BIN, Record, own_record
from nbtext.store.lock import locked
from nbtext.store.packing import unpack, unpack_table
from nbtext.store.schema import TYPES, Code, array_types
from nbtext.store.undo import last_records
from nbtext.store.writing import pack, replace_file
from nbtext.tokens.bag import bag_of, fingerprint
from nbtext.tokens.bags import terms_of
from nbtext.tokens.reading import Reading
from nbtext.tokens.tokenizer import keys
from tests import build
from tests.build import MAIL, NO_LEDGER, STAMP, WEIGHTS, bounded, values

if TYPE_CHECKING:
    from nbtext.store.blocks import Buffer

NO_SCORES = Calibration(default_scoring("mail", 2).of_scores())
SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


packed = partial(build.packed, calibration=NO_SCORES)

KEYS = st.integers(0, 2**48 - 1) | st.sampled_from([0, 1, 2, 2**47, 2**48 - 1])
COUNTS = [0, 1, 1, 1, 2, 255, 256, 65535, 65536, 2**31, 2**40]


@st.composite
def tables(
    draw: st.DrawFn, fixed: Settings | None = None, *, negative: bool = False
) -> CountTable:
    """Draw any table that could stand in a file; negative ones are to be taken away."""
    reading = fixed or draw(st.sampled_from([MAIL, WEIGHTS, NO_LEDGER]))
    values = st.sampled_from([*COUNTS, -1, -300] if negative else COUNTS)
    names = draw(st.lists(st.text(max_size=5), min_size=1, max_size=5, unique=True))
    width = len(reading.views[0].columns)
    row = st.tuples(*[values] * width).filter(any)
    rows = st.dictionaries(KEYS, row, max_size=8)

    def run() -> SortedCounts:
        found = sorted(draw(rows).items())
        columns = np.array([row for _, row in found], np.int64).reshape(-1, width)
        return SortedCounts(
            np.array([key for key, _ in found], np.uint64),
            tuple(columns[:, place].copy() for place in range(width)),
        )

    def ledger() -> LedgerRun:
        entries = st.dictionaries(
            st.tuples(KEYS, KEYS, KEYS), st.sampled_from([1, 300]), max_size=4
        )
        found = sorted(draw(entries).items() if reading.ledger else [])
        return LedgerRun(
            np.array([entry for entry, _ in found], np.uint64).reshape(-1, 3),
            np.array([count for _, count in found], np.int64),
        )

    return CountTable(
        settings=reading,
        classes=tuple(sorted(names)),
        documents=tuple(draw(st.integers(1, 2**33)) for _ in names),
        runs=tuple(tuple(run() for _ in names) for _ in reading.views),
        ledger=tuple(ledger() for _ in names),
    )


def counted(
    labelled: list[tuple[str, str]], reading: Settings = MAIL, stride: int = 1
) -> CountTable:
    return build.counted(labelled, reading, stride)


def remembered(
    labelled: list[tuple[str, str]], reading: Settings = MAIL, bin_: int = NO_BIN
) -> UndoRecords:
    """Return the records of the documents that `counted` counts."""
    bags = [
        bag_of(Reading(tuple([("body", text)] for _ in reading.views), b"", 9), reading)
        for _, text in labelled
    ]
    return UndoRecords(
        digests=[place.to_bytes(16, "big") for place in range(1, len(bags) + 1)],
        rows=[
            Row(label, fingerprint(bag))
            for (label, _), bag in zip(labelled, bags, strict=True)
        ],
        bins=[(bin_,)] * len(bags),
        views=[*map(terms_of, zip(*bags, strict=True))],
    )


SMALL = [
    ("ham", "lunch on friday? the usual place"),
    ("ham", "Re: lunch lunch on monday"),
    ("spam", "cheap pills! cheap! cheap!"),
    ("spam", "the cheap place on friday"),
]
WORDS = [("body", "lunch cheap friday pills on the place ! unknown")]


@given(tables())
@SAME_FOLDER
def test_a_table_comes_back_as_it_was(tmp_path: Path, table: CountTable) -> None:
    file = open_file(tmp_path / "model.nbt", packed(table))

    assert values(unpack(file)) == values(table)
    file.tables[0].arrays.verify_all()
    assert not file.notes


@given(tables(WEIGHTS), tables(WEIGHTS, negative=True))
@SAME_FOLDER
def test_a_table_behind_the_first_may_be_negative(
    tmp_path: Path, first: CountTable, second: CountTable
) -> None:
    file = open_file(tmp_path / "model.nbt", packed(first) + packed(second))

    assert values(unpack_table(file.tables[1])) == values(second)


@given(st.lists(tables(WEIGHTS), min_size=2, max_size=3), st.data())
@SAME_FOLDER
def test_a_negative_table_takes_away_what_was_added(
    tmp_path: Path, parts: list[CountTable], data: st.DataObject
) -> None:
    later = data.draw(st.permutations([*parts[1:], -parts[0]]))
    contents = b"".join(map(packed, [parts[0], *later]))

    file = open_file(tmp_path / "model.nbt", contents)

    assert values(unpack(file)) == values(add(parts[1:]))


def test_a_table_of_hundreds_of_classes_comes_back_as_it_was(tmp_path: Path) -> None:
    labelled = [(f"class {place:03}", f"all w{place % 7}") for place in range(600)]
    table = counted(labelled, WEIGHTS)
    path = tmp_path / "model.nbt"
    path.write_bytes(packed(table))

    assert values(unpack(open_model(str(path)))) == values(table)


def test_a_table_comes_back_in_the_types_that_it_had(tmp_path: Path) -> None:
    table = counted([("ham", "a"), ("spam", "b b"), ("spam", "c")], WEIGHTS)
    path = tmp_path / "model.nbt"
    path.write_bytes(packed(table))

    found = unpack(open_model(str(path)))

    assert [[c.dtype for c in run.columns] for run in found.runs[0]] == [
        [c.dtype for c in run.columns] for run in table.runs[0]
    ]


@given(tables())
def test_packing_is_repeatable_but_for_the_time_stamp(table: CountTable) -> None:
    later = STAMP.replace("2026", "2031")

    assert packed(table) == packed(table)
    assert unstamped(packed(table)) == unstamped(packed(table, written=later))


def unstamped(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the header without its time and checksum, and what follows it."""
    unpacker = msgpack.Unpacker()
    unpacker.feed(data)
    header = unpacker.unpack()
    header.pop("written")
    header.pop("header_checksum")
    return header, data[unpacker.tell() :]


@given(st.lists(tables(WEIGHTS), min_size=1, max_size=3))
@SAME_FOLDER
def test_files_that_are_joined_add_up(tmp_path: Path, parts: list[CountTable]) -> None:
    path = tmp_path / "model.nbt"
    path.write_bytes(b"".join(map(packed, parts)))

    total = add(parts)

    assert values(unpack(open_model(str(path)))) == values(total)


@given(st.lists(tables(WEIGHTS), min_size=2, max_size=3))
@SAME_FOLDER
def test_the_plain_engine_reads_the_sum_of_the_tables(
    tmp_path: Path, parts: list[CountTable]
) -> None:
    joined, whole = tmp_path / "joined.nbt", tmp_path / "whole.nbt"
    total = add(parts)
    joined.write_bytes(b"".join(map(packed, parts)))
    whole.write_bytes(packed(total))

    one, other = load_model(str(joined)), load_model(str(whole))

    assert dict(zip(one.classes, one.documents, strict=True)) == dict(
        zip(other.classes, other.documents, strict=True)
    )
    assert one.totals == other.totals
    assert one.n_terms(0) == other.n_terms(0)
    for key in {key for run in parts[0].runs[0] for key in run.keys.tolist()}:
        assert one.found(0, (key,)) == other.found(0, (key,))


def test_a_class_that_a_later_table_takes_away_is_gone(tmp_path: Path) -> None:
    whole, gone = counted(SMALL), counted(SMALL[:2])
    path = tmp_path / "model.nbt"
    path.write_bytes(packed(whole) + packed(-gone))

    assert unpack(open_model(str(path))).classes == ("spam",)
    assert load_model(str(path)).classes == ("spam",)


def use(path: Path, *, compacting: bool = True) -> None:
    """Do with a model all that nbtext does; each step may raise `ModelFileError`."""
    try:
        model = load_model(str(path))
        calibration = fitted(model)
    except ModelFileError:
        return
    views = tuple(Tally(keys(view, WORDS)) for view in model.settings.views)
    reading = Reading(tuple(WORDS for _ in model.settings.views), b"", 50, False)
    steps: list[Callable[[], object]] = [
        lambda: score(model, views, calibration),
        lambda: list(score_readings(open_batch_model(model), [reading], calibration)),
        lambda: unpack(model.file),
        lambda: [model.n_terms(view) for view in range(len(views))],
        lambda: check_sound(model.file),
        lambda: documents_of(model.file),
        lambda: last_records(model.file, model.file.tables, KEPT_RECORDS),
    ]
    if compacting:
        steps += [lambda: read_contents(model.file).pack(), lambda: fold(model.file)]
    for step in steps:
        with suppress(ModelFileError):
            step()


def documents_of(file: ModelFile) -> dict[tuple[bytes, Row], Record | None]:
    """Return each document of a file's ledger, with its record if there is one."""
    digests = {
        b"".join(half.to_bytes(8, "big") for half in halves)
        for table in file.tables
        if file.settings.ledger
        for halves in zip(
            table.arrays["ledger.high"], table.arrays["ledger.low"], strict=True
        )
    }
    return {
        (digest, row): record_of(file, digest, row)
        for digest in sorted(digests)
        for row in rows_of(file, digest)
    }


def fold(file: ModelFile) -> None:
    """Make one table of those behind the first, if there are any, in a copy."""
    if len(file.tables) == 1:
        return
    copy = Path(f"{file.path}.copy")
    copy.write_bytes(Path(file.path).read_bytes())
    compact_tail(str(copy))


def open_file(path: Path, data: bytes) -> ModelFile:
    path.write_bytes(data)
    return open_model(str(path))


def header_size(data: bytes) -> int:
    unpacker = msgpack.Unpacker()
    unpacker.feed(data)
    unpacker.skip()
    size: int = unpacker.tell()
    return size


FILES = {
    "mail": lambda: packed(counted(SMALL)),
    "weights": lambda: packed(counted(SMALL, WEIGHTS), default_scoring("mail", 3)),
    "two tables": lambda: packed(counted(SMALL)) + packed(counted(SMALL[1:], stride=7)),
    "records": lambda: packed(
        counted(SMALL, WEIGHTS),
        default_scoring("mail", 2),
        records=remembered(SMALL, WEIGHTS),
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_changed_byte_anywhere_raises_nothing_else(name: str, tmp_path: Path) -> None:
    data, path = FILES[name](), tmp_path / "model.nbt"
    last = len(data) - open_file(path, data).tables[-1].length
    arrays = last + header_size(data[last:])  # the headers have their own test
    for place in range(arrays, len(data)):
        changed = bytearray(data)
        changed[place] ^= 0xFF if place % 9 == 0 else 1 << place % 8
        path.write_bytes(changed)

        use(path, compacting=False)  # which begins with looking for changes


@given(st.sampled_from(sorted(FILES)), st.data())
@settings(SAME_FOLDER, max_examples=150)
def test_changed_stretches_raise_nothing_else(
    tmp_path: Path, name: str, data: st.DataObject
) -> None:
    changed, path = bytearray(FILES[name]()), tmp_path / "model.nbt"
    place = data.draw(st.integers(0, len(changed)))
    change = data.draw(st.binary(max_size=80))
    if data.draw(st.booleans()):
        changed[place:place] = change
    else:
        changed[place : place + len(change)] = change
    path.write_bytes(changed)

    use(path)


@pytest.mark.parametrize("name", FILES)
def test_a_header_that_was_changed_is_noticed(name: str, tmp_path: Path) -> None:
    data, path = FILES[name](), tmp_path / "model.nbt"
    for place in range(header_size(data)):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)

        with pytest.raises(ModelFileError, match=r"model\.nbt"):
            open_model(str(path))


def test_changed_arrays_behind_the_first_table_are_noticed(tmp_path: Path) -> None:
    first, second = packed(counted(SMALL)), packed(counted(SMALL[1:]))
    path = tmp_path / "model.nbt"
    path.write_bytes(first + second)
    assert len(open_model(str(path)).tables) == 2
    changed = bytearray(first + second)
    place = second.rindex(bytes(open_model(str(path)).tables[1].arrays["body.keys"]))
    changed[len(first) + place] ^= 1
    path.write_bytes(changed)

    file = open_model(str(path))  # which reads no array
    with pytest.raises(DamagedError, match="are not as they were written") as caught:
        check_sound(file)
    assert 0 <= len(first) + place - caught.value.offset < 1024
    with pytest.raises(DamagedError, match="are not as they were written"):
        read_contents(file)


@pytest.mark.parametrize("name", FILES)
def test_a_file_cut_off_anywhere_is_a_model_or_an_error(
    name: str, tmp_path: Path
) -> None:
    data, path = FILES[name](), tmp_path / "model.nbt"
    first = open_file(path, data).tables[0].length
    lengths = {*range(0, len(data), 7), *range(100), *range(first - 80, first + 80)}
    for length in sorted(lengths & {*range(len(data))}):
        path.write_bytes(data[:length])
        if length < first:
            with pytest.raises(NotAModelError):
                open_model(str(path))
        elif length == first:
            assert not open_model(str(path)).notes
        else:
            cut = open_model(str(path))

            assert len(cut.tables) == 1
            assert (cut.is_cut_short, cut.notes) == (True, ())
            assert f"the table at byte {first} is passed over: " in cut.warnings[0]
            cut.tables[0].arrays.verify_all()


def test_a_cut_off_table_with_another_behind_it_is_an_error(tmp_path: Path) -> None:
    base, last = packed(counted(SMALL)), packed(counted(SMALL[1:]))
    long = packed(counted([("ham", " ".join(f"word{i}" for i in range(2000)))]))
    path = tmp_path / "model.nbt"
    path.write_bytes(base + long[:2500] + last)

    with pytest.raises(NotAModelError):
        open_model(str(path))


def appended(labelled: list[tuple[str, str]], offset: int) -> bytes:
    """Return a table as learning appends it."""
    history = History(
        taught=1, learnt={"ham": STAMP}, offset=offset, new_terms=(1,) * 3
    )
    return packed(counted(labelled), history=history or History())


def test_an_appended_table_cut_off_at_any_byte_is_passed_over(tmp_path: Path) -> None:
    base, path = packed(counted(SMALL)), tmp_path / "model.nbt"
    last = b"\0" + appended(SMALL[1:2], len(base))[1:]
    path.write_bytes(base)
    expected = values(unpack(open_model(str(path))))

    for length in range(1, len(last)):
        path.write_bytes(base + last[:length])
        cut = open_model(str(path))

        assert (cut.size, cut.cut) == (len(base), length)
        assert len(cut.tables) == 1
        assert cut.notes == (
            f"{path}: the last {length} bytes are a table that was not written whole; "
            "they are passed over",
        )
    assert values(unpack(cut)) == expected


def test_of_a_table_that_is_being_written_nothing_is_said(tmp_path: Path) -> None:
    base, path = packed(counted(SMALL)), tmp_path / "model.nbt"
    last = appended(SMALL[1:2], len(base))
    path.write_bytes(base)

    with locked(str(path)):
        for length in range(1, len(last), 50):
            path.write_bytes(base + b"\0" + last[1:length])
            found = open_model(str(path))
            assert (found.notes, found.warnings) == ((), ())
    assert len(open_model(str(path)).notes) == 1


@pytest.mark.parametrize(
    ("left", "missing"),
    [
        pytest.param(-1, "; missing at least: ham 1; see", id="header"),
        pytest.param(100, "copy that failed; see", id="no header"),
        pytest.param(1, "copy that failed; see", id="a byte"),
    ],
)
def test_a_table_that_was_whole_is_missed_by_readers_and_refused_to_writers(
    left: int, missing: str, tmp_path: Path
) -> None:
    base, path = packed(counted(SMALL)), tmp_path / "model.nbt"
    path.write_bytes(base + appended(SMALL[1:2], len(base))[:left])

    (warning,) = open_model(str(path)).warnings
    with locked(str(path)), pytest.raises(DamagedError) as refused:
        open_locked(str(path))

    assert END_MISSING in warning
    assert missing in warning
    assert f"damaged at byte {len(base)}: {END_MISSING}" in str(refused.value)
    assert "with `nbtext.upkeep.repair_model`: ham 2, spam 2" in str(refused.value)


def test_whatever_begins_with_a_zero_behind_a_table_is_passed_over(
    tmp_path: Path,
) -> None:
    base, path = packed(counted(SMALL)), tmp_path / "model.nbt"
    last = appended(SMALL[1:2], len(base))

    for length in range(0, len(last), 64):
        zeros = bytes(len(last) - length)
        for rest in (last[:length] + zeros, bytes(length) + last[length:], zeros):
            path.write_bytes(base + b"\0" + rest[1:])
            cut = open_model(str(path))

            assert (cut.size, cut.cut) == (len(base), len(rest))
            assert f"the last {len(rest)} bytes are a table" in cut.notes[0]


@pytest.mark.parametrize(
    "tail",
    [
        pytest.param(lambda last: bytes(64) + last, id="another table behind"),
        pytest.param(lambda last: bytes(64) + last[:100], id="a cut-off one behind"),
        pytest.param(
            lambda last: b"\0" + last[1:640] + last, id="a table within another"
        ),
        pytest.param(lambda last: last[:640] + bytes(len(last)), id="zeros within"),
    ],
)
def test_what_no_crash_leaves_is_damage(
    tail: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    base, path = packed(counted(SMALL)), tmp_path / "model.nbt"
    path.write_bytes(base + tail(appended(SMALL[1:2], len(base))))

    with pytest.raises(DamagedError) as info:
        open_model(str(path))

    assert info.value.offset == len(base)


def test_zeros_in_the_first_table_are_damage(tmp_path: Path) -> None:
    base, path = packed(counted(SMALL)), tmp_path / "model.nbt"

    for length in range(64, len(base), 64):
        path.write_bytes(base[:length] + bytes(len(base) - length))
        with pytest.raises(NotAModelError):
            open_model(str(path))


BEGINNINGS = [b"", b"\x8f", b"\x8f\xa6format", b"\x8f\xa6format\xb2nbtext count table"]


@given(st.sampled_from(BEGINNINGS), st.binary(max_size=400))
@SAME_FOLDER
def test_random_bytes_are_no_model(tmp_path: Path, start: bytes, rest: bytes) -> None:
    path = tmp_path / "model.nbt"
    path.write_bytes(start + rest)

    with pytest.raises(ModelFileError):
        open_model(str(path))


@pytest.mark.parametrize(
    "rest",
    [
        pytest.param(b"\xdc\xff\xff" * 100, id="deep lists"),
        pytest.param(b"\xde\xff\xff" * 5000, id="deep maps"),
        pytest.param(b"\xdd\xff\xff\xff\xff" * 9, id="long lists"),
        pytest.param(b"\xdf\xff\xff\xff\xff" * 9, id="large maps"),
        pytest.param(b"\xc6\xff\xff\xff\xff", id="a long bin"),
        pytest.param(b"\xdb\xff\xff\xff\xff", id="a long text"),
        pytest.param(b"\xc9\xff\xff\xff\xff\x05", id="a long extension"),
        pytest.param(b"\xd7\xff" + bytes(8), id="a time"),
        pytest.param(b"\xa2\xff\xfe", id="text that is not UTF-8"),
        pytest.param(b"\x00" * 1000, id="zeros"),
    ],
)
def test_lengths_are_not_believed(rest: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    path.write_bytes(b"\x82\xa6format" + rest)

    with bounded(megabytes=64), pytest.raises(ModelFileError):
        open_model(str(path))


def forged(**changes: object) -> bytes:
    """Return a file whose checksums are right and whose header says what it likes."""
    (table,) = forge.taken_apart(packed(counted(SMALL)))
    return forge.put_together([forge.Table(table.header | changes, table.arrays)])


def test_what_the_tests_forge_is_what_pack_writes() -> None:
    assert forged() == packed(counted(SMALL))


JUNK: list[object] = [
    *(None, True, -1, 0, 7, 2**63, 1.5, float("nan"), "", "x", b"x"),
    *([], [[]], [None], ["a", "b"], [1, 2], [[1, 2, 3]], {}, {"x": None}),
]
FIELDS: list[Any] = [
    *("format", "version", "writer", "written", "settings", "scoring", "classes"),
    *("documents", "totals", "terms", "calibrations", "history", "arrays"),
]


@pytest.mark.parametrize("field", FIELDS)
def test_a_forged_header_is_a_model_or_an_error(field: str, tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    for junk in JUNK:
        path.write_bytes(forged(**{field: junk}))

        use(path)


HISTORY = History(trained=STAMP).as_dict()


@pytest.mark.parametrize("field", sorted(HISTORY))
def test_a_forged_history_is_a_model_or_an_error(field: str, tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    for junk in [*JUNK, 2**62, {"ham": "then"}, {"ham": 1}, [0, 0, 0], [2**62] * 3]:
        path.write_bytes(forged(history=HISTORY | {field: junk}))

        use(path)


@pytest.mark.parametrize(
    "changes",
    [
        *({"taught": -1}, {"taught": 2**63}, {"taught": True}, {"taught": 1.0}),
        *({"trained": None}, {"trained": 2026}, {"keep": -1}, {"keep": "1000"}),
        *({"learnt": []}, {"learnt": None}, {"learnt": {"ham": 1}}, {"learnt": "x"}),
        *({"offset": -64}, {"offset": 2**63}, {"offset": "0"}, {"offset": 1.5}),
        *({"offset": 0}, {"offset": 0, "new_terms": [1, 2]}, {"new_terms": [1, 2, 3]}),
        *({"offset": 0, "new_terms": [1, 2, None]}, {"new_terms": None}),
        *({"run": -1}, {"run": "0"}, {"run": True}, {"run": 1}, {"run": 2**63}),
        *({"records": 1}, {"records": -1}, {"records": None}),
    ],
    ids=str,
)
def test_what_is_no_history_is_an_error(
    changes: dict[str, object], tmp_path: Path
) -> None:
    path = tmp_path / "model.nbt"
    path.write_bytes(forged(history=HISTORY | changes))

    with bounded(megabytes=16), pytest.raises(DamagedError, match="damaged at byte 0"):
        open_model(str(path))


@pytest.mark.parametrize("history", [None, [], 7, "x", {1: 2}, [["trained", ""]]])
def test_a_history_that_is_no_map_is_an_error(history: object, tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    path.write_bytes(forged(history=history))

    with pytest.raises(NotAModelError):
        open_model(str(path))


Spoilt = dict[str, tuple[Code, list[int]]]


def respelt(table: StoredTable, arrays: Spoilt) -> bytes:
    """Return a table with other arrays, its checksums right."""
    names = array_types(table.header.settings, table.header.history.records)
    kinds: dict[str, str] = {code: kind for kind, code in TYPES.items()}
    contents: dict[str, tuple[str, Buffer]] = {}
    for name in [*names][:-1]:
        if name in arrays:
            code, values = arrays[name]
            contents[name] = (kinds[code], array(code, values).tobytes())
        else:
            kept = table.arrays[name]
            contents[name] = (kinds[kept.format], kept.tobytes())
    return b"".join(map(bytes, pack(table.header, contents)))


def values_of(table: StoredTable, name: str) -> list[int]:
    found: list[int] = table.arrays[name].tolist()
    return found


BODY_SIZES, BODY_KEYS, BODY_COUNTS = (
    f"undo.body.{part}" for part in ("sizes", "keys", "counts")
)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        pytest.param(
            lambda table: {"undo.low": ("Q", [1, 2, 3])},
            "undo.low does not have 4 places",
            id="a digest too few",
        ),
        pytest.param(
            lambda table: {"undo.bins": ("h", [1, 2, 3, 4, 5])},
            "undo.bins does not have 4 places, nor none",
            id="a bin too many",
        ),
        pytest.param(
            lambda table: {BODY_SIZES: ("I", values_of(table, BODY_SIZES)[:3])},
            "undo.body.sizes does not have 4 places",
            id="a size too few",
        ),
        pytest.param(
            lambda table: {
                BODY_SIZES: ("I", [values_of(table, BODY_SIZES)[0] + 1, 0, 0, 0])
            },
            "the records of the view body are not as long",
            id="sizes that do not sum up",
        ),
        pytest.param(
            lambda table: {BODY_SIZES: ("Q", [2**64 - 1] * 4)},
            "the records of the view body are not as long",
            id="huge sizes",
        ),
        pytest.param(
            lambda table: {BODY_KEYS: ("Q", [])},
            "the records of the view body are not as long",
            id="no keys",
        ),
        pytest.param(
            lambda table: {BODY_COUNTS: ("B", values_of(table, BODY_COUNTS)[1:])},
            "the records of the view body are not as long",
            id="a count too few",
        ),
        pytest.param(
            lambda table: {"undo.bins": ("i", [1, 2, 3, 4])},
            "its array undo.bins cannot be 4 i4",
            id="another type",
        ),
    ],
)
def test_records_that_are_not_as_long_as_they_say_are_damage(
    spoil: Callable[[StoredTable], Spoilt], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.nbt"
    (table,) = open_file(path, FILES["records"]()).tables
    path.write_bytes(respelt(table, spoil(table)))

    with bounded(megabytes=16), pytest.raises(DamagedError, match=message):
        open_model(str(path))


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(
            lambda table: {"undo.classes": ("B", [255] * 4)}, id="no such class"
        ),
        pytest.param(
            lambda table: {"undo.classes": ("H", [1, 1, 0, 0])}, id="other classes"
        ),
        pytest.param(
            lambda table: {"undo.low": ("Q", [9, 9, 9, 9])}, id="other documents"
        ),
        pytest.param(
            lambda table: {"undo.fingerprints": ("Q", [0] * 4)}, id="other fingerprints"
        ),
        pytest.param(
            lambda table: {BODY_COUNTS: ("B", [0] * len(table.arrays[BODY_COUNTS]))},
            id="counts of zero",
        ),
        pytest.param(
            lambda table: {BODY_COUNTS: ("b", [-1] * len(table.arrays[BODY_COUNTS]))},
            id="negative counts",
        ),
        pytest.param(
            lambda table: {
                BODY_COUNTS: ("Q", [2**64 - 1] * len(table.arrays[BODY_COUNTS]))
            },
            id="huge counts",
        ),
        pytest.param(
            lambda table: {BODY_KEYS: ("Q", [7] * len(table.arrays[BODY_KEYS]))},
            id="a key many times",
        ),
        pytest.param(
            lambda table: {
                BODY_SIZES: ("I", [sum(values_of(table, BODY_SIZES)), 0, 0, 0])
            },
            id="all terms in one document",
        ),
    ],
)
def test_records_that_no_document_left_are_never_used(
    spoil: Callable[[StoredTable], Spoilt], tmp_path: Path
) -> None:
    path = tmp_path / "model.nbt"
    (table,) = open_file(path, FILES["records"]()).tables
    assert all(documents_of(open_model(str(path))).values())
    path.write_bytes(respelt(table, spoil(table)))

    assert set(documents_of(open_model(str(path))).values()) == {None}
    use(path)


def test_a_single_document_of_more_tokens_than_there_are_is_no_record(
    tmp_path: Path,
) -> None:
    path, base = tmp_path / "model.nbt", packed(counted(SMALL))
    (table,) = open_file(path, packed(counted([("ham", "twice twice")]))).tables
    counts = [2**63 + 5] * len(table.arrays["body.occurrences"])
    bag = [
        {
            key: 2 if code else 1  # the only class, or one entry behind it
            for key, code in zip(
                table.arrays[f"{view.name}.keys"],
                table.arrays[f"{view.name}.codes"],
                strict=True,
            )
        }
        for view in MAIL.views
    ]
    bag[-1] |= {key: counts[0] for key, count in bag[-1].items() if count == 2}
    mark = fingerprint(tuple(bag))
    hostile = respelt(
        table,
        {"body.occurrences": ("Q", counts), "ledger.fingerprints": ("Q", [mark])},
    )
    file = open_file(path, base + hostile)

    assert own_record(file.tables[1]) is None
    use(path)


def test_a_record_of_one_document_is_its_table(tmp_path: Path) -> None:
    path, base = tmp_path / "model.nbt", packed(counted(SMALL))
    file = open_file(path, base + packed(counted([("ham", "twice twice")])))

    found = own_record(file.tables[1])

    assert found is not None
    digest, row, record = found
    assert rows_of(file, digest)[row] == 1
    assert record_of(file, digest, row) == record
    assert fingerprint(record.bag) == row.fingerprint


SPOILT_CALIBRATIONS = [
    pytest.param(
        {"counts": [[0, 0, 60], [0, 1, 60], [0, 2, 1]]},
        id="a third class",
    ),
    pytest.param(
        {"counts": [[0, 0, 60], [0, 1, 60], [1, -3, 1]]},
        id="class -3",
    ),
    pytest.param(
        {"counts": [[0, 0, 60], [0, 1, 60], [1, 0, 10**18]]},
        id="many documents",
    ),
    pytest.param({"counts": [[0, 0, 60], [0, 1, 60], [1, 0, -50]]}, id="negative"),
    pytest.param({"losses": [-(2**60)] * 65, "documents": {"a": 99}}, id="losses"),
    pytest.param({"losses": [*range(65)], "documents": {"a": 2**63}}, id="documents"),
]


@pytest.mark.parametrize("spoilt", SPOILT_CALIBRATIONS)
def test_a_forged_calibration_is_used_or_an_error(
    spoilt: dict[str, object], tmp_path: Path
) -> None:
    plain = NO_SCORES.as_dict() | spoilt
    path = tmp_path / "model.nbt"
    path.write_bytes(forged(calibration=plain))

    use(path)


def array_entry(**changes: object) -> list[object]:
    header, _ = unstamped(packed(counted(SMALL)))
    first = dict(zip(("name", "kind", "length"), header["arrays"][0], strict=True))
    return [list((first | changes).values()), *header["arrays"][1:]]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"length": 2**62}, id="too long"),
        pytest.param({"length": -1}, id="negative"),
        pytest.param({"length": "9" * 5000}, id="digits"),
        pytest.param(
            {"length": float("inf")},
            id="infinite",
        ),
        pytest.param({"length": None}, id="nothing"),
        pytest.param({"kind": "i1"}, id="another type"),
        pytest.param({"kind": "f8"}, id="an unknown type"),
        pytest.param({"name": "other"}, id="another name"),
    ],
)
def test_a_forged_array_is_an_error(change: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    path.write_bytes(forged(arrays=array_entry(**change)))

    with bounded(megabytes=16), pytest.raises(ModelFileError):
        open_model(str(path))


@pytest.mark.parametrize("where", ["header", "settings", "view", "history", "arrays"])
def test_what_this_nbtext_does_not_know_is_refused_by_name(
    where: str, tmp_path: Path
) -> None:
    (table,) = forge.taken_apart(packed(counted(SMALL)))
    header, arrays = table.header, table.arrays
    extended = {
        "header": header,
        "settings": header["settings"],
        "view": header["settings"]["views"][0],
        "history": header["history"],
    }
    if where == "arrays":
        header["arrays"].insert(3, ["body.surprise", "u1", 1])
        arrays.insert(3, b"x")
    else:
        extended[where]["surprise"] = {}
    path = tmp_path / "model.nbt"
    path.write_bytes(forge.put_together([forge.Table(header, arrays)]))

    with pytest.raises(ModelVersionError, match=r"does not know .*surprise.* upgrade"):
        open_model(str(path))


def test_counts_below_zero_are_an_error_not_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    path.write_bytes(packed(-counted(SMALL)))

    use(path)


@pytest.mark.parametrize("version", [0, 2, 4, 99, -1, None, "1", 1.5])
def test_another_version_is_named_and_refused(version: object, tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    path.write_bytes(forged(version=version))

    with pytest.raises(ModelVersionError, match=r"model\.nbt: .*upgrade nbtext"):
        open_model(str(path))


@pytest.mark.parametrize("number", [2, 99])
def test_another_table_of_code_points_is_named_and_refused(
    number: int, tmp_path: Path
) -> None:
    path = tmp_path / "model.nbt"
    settings = counted(SMALL).settings.as_dict() | {"codepoints": number}
    path.write_bytes(forged(settings=settings))

    with pytest.raises(ModelVersionError, match=rf"table {number} of .*train again"):
        open_model(str(path))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def written(*pieces: bytes) -> Iterator[bytes]:
    yield from pieces


def broken_off(error: BaseException) -> Iterator[bytes]:
    yield b"half"
    raise error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError("no space left"), ModelFileError),
        (ModelFileError("too large"), ModelFileError),
        (RuntimeError("a bug"), ModelFileError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (MemoryError(), MemoryError),
    ],
    ids=["OSError", "ModelFileError", "RuntimeError", "Ctrl-C", "MemoryError"],
)
@pytest.mark.parametrize("old", [b"the old one", None], ids=["old", "none"])
def test_a_failure_while_writing_leaves_what_was_there(
    error: BaseException,
    expected: type[BaseException],
    old: bytes | None,
    tmp_path: Path,
) -> None:
    path = tmp_path / "model.nbt"
    if old is not None:
        path.write_bytes(old)

    with pytest.raises(expected):
        replace_file(str(path), broken_off(error))

    assert (path.read_bytes() if path.exists() else None) == old
    assert names(tmp_path) == ([] if old is None else ["model.nbt"])


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o777], ids=oct)
def test_only_the_owner_may_read_whatever_the_umask(umask: int, tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    before = os.umask(umask)
    try:
        size = replace_file(str(path), written(b"new", b"", b"er"))
    finally:
        os.umask(before)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (size, path.read_bytes()) == (5, b"newer")
    assert names(tmp_path) == ["model.nbt"]


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o777], ids=oct)
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o660], ids=oct)
def test_a_replaced_file_keeps_its_mode_whatever_the_umask(
    umask: int, mode: int, tmp_path: Path
) -> None:
    path = tmp_path / "model.nbt"
    path.write_bytes(b"old")
    path.chmod(mode)
    before = os.umask(umask)
    try:
        size = replace_file(str(path), written(b"new", b"", b"er"))
    finally:
        os.umask(before)

    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert (size, path.read_bytes()) == (5, b"newer")
    assert names(tmp_path) == ["model.nbt"]


@pytest.mark.parametrize("exists", [True, False], ids=["to a file", "to nothing yet"])
def test_a_symbolic_link_stays_one(exists: bool, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "target.nbt", tmp_path / "model.nbt"
    if exists:
        target.write_bytes(b"old")
    link.symlink_to(Path("there") / "target.nbt")

    replace_file(str(link), written(b"new"))

    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert names(target.parent) == ["target.nbt"]


def test_folders_that_are_missing_are_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "model.nbt"

    replace_file(str(path), written(b"new"))

    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    path.mkdir()

    with pytest.raises(ModelFileError, match="cannot be written"):
        replace_file(str(path), written(b"new"))

    assert names(tmp_path) == ["model.nbt"]


def test_a_link_that_goes_in_circles_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    path.symlink_to(path)

    with pytest.raises(ModelFileError, match="cannot be written"):
        replace_file(str(path), written(b"new"))


def test_a_link_planted_where_the_file_is_written_aside_is_not_followed(
    tmp_path: Path,
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (tmp_path / f".model.nbt.{os.getpid()}.tmp").symlink_to(victim)

    with suppress(ModelFileError):
        replace_file(str(tmp_path / "model.nbt"), written(b"new"))

    assert victim.read_bytes() == b"precious"
