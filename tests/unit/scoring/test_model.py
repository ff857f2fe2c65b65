from collections.abc import Callable
from math import hypot
from pathlib import Path
from time import process_time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz import forge
from nbtext.counts.table import CountTable
from nbtext.errors import DamagedError, NotAModelError
from nbtext.scoring.model import Model, load_model
from nbtext.scoring.models.registry import default_scoring
from nbtext.scoring.stored_view import Entry, StoredView
from nbtext.settings.scoring import Scoring
from nbtext.store.file import check_sound, open_model
from nbtext.store.header import History
from nbtext.store.packing import unpack
from tests.build import (
    TEXT_WORDS,
    WORD_WEIGHTS,
    ClassCounts,
    counted,
    key_of,
    packed,
    stored,
    table_of,
)

SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
TOP = 2**48 - 1


def counts_of(*labelled: tuple[str, str]) -> CountTable:
    return counted(labelled, WORD_WEIGHTS)


def write(path: Path, *tables: CountTable) -> str:
    return stored(path, *tables).path


def entries_of(model: Model, term: str) -> list[Entry]:
    """The counts of a term, by class; none if it is unknown."""
    return model.found(0, (key_of(term),)).get(key_of(term), [])


def test_a_term_has_its_counts_by_class(tmp_path: Path) -> None:
    table = counts_of(("ham", "x y y"), ("spam", "y z"), ("spam", "y"))

    model = load_model(write(tmp_path / "model.nbt", table))

    assert model.classes == ("ham", "spam")
    assert model.documents == (1, 2)
    assert model.n_terms(0) == 3
    once = int(65535 * 1420 / hypot(1420, 2250))  # ln 2 and ln 3, in 2,048ths
    assert entries_of(model, "x") == [(0, (1, 1, once))]
    assert [(c, n[:2]) for c, n in entries_of(model, "y")] == [
        (0, (2, 1)),
        (1, (2, 2)),
    ]
    assert entries_of(model, "unknown") == []


def test_every_term_of_many_is_found(tmp_path: Path) -> None:
    words = [f"w{n}" for n in range(5000)]
    table = counts_of(("ham", " ".join(words)), ("spam", " ".join(words[::3] * 2)))

    model = load_model(write(tmp_path / "model.nbt", table))

    for n, word in enumerate(words):
        expected = [(0, 1)] if n % 3 else [(0, 1), (1, 2)]
        entries = entries_of(model, word)
        assert [(class_, columns[0]) for class_, columns in entries] == expected
    assert not any(entries_of(model, f"v{n}") for n in range(5000))


def test_tables_are_summed_as_they_are_read(tmp_path: Path) -> None:
    one, other = counts_of(("ham", "x y")), counts_of(("spam", "y"), ("eggs", "x z"))

    model = load_model(write(tmp_path / "model.nbt", one, other))

    assert model.classes == ("eggs", "ham", "spam")
    assert model.documents == (1, 1, 1)
    assert [c for c, _ in entries_of(model, "x")] == [0, 1]
    assert [c for c, _ in entries_of(model, "y")] == [1, 2]
    assert model.n_terms(0) == 3
    assert [columns[0] for columns in model.totals[0]] == [2, 2, 1]


def test_what_a_later_table_takes_away_is_unknown(tmp_path: Path) -> None:
    one, other = counts_of(("ham", "x y"), ("spam", "y")), counts_of(("ham", "x y"))

    model = load_model(write(tmp_path / "model.nbt", one, other, -other, -other))

    assert model.classes == ("spam",)
    assert entries_of(model, "x") == []
    assert entries_of(model, "y") == [(0, (1, 1, 65535))]
    assert model.n_terms(0) == 1


def test_counts_below_zero_are_damage(tmp_path: Path) -> None:
    one, other = counts_of(("ham", "x x"), ("ham", "z")), counts_of(("ham", "y"))

    model = load_model(write(tmp_path / "model.nbt", one, -other))

    with pytest.raises(NotAModelError, match="a term's counts are below zero"):
        entries_of(model, "y")


WORDS_OF = st.lists(
    st.sampled_from(["x", "y", "z", "w", *(f"v{n}" for n in range(30))]), max_size=30
).map(" ".join)
DOCUMENTS = st.lists(
    st.tuples(st.sampled_from(["eggs", "ham", "spam"]), WORDS_OF),
    min_size=1,
    max_size=3,
)


@given(st.lists(st.tuples(DOCUMENTS, st.booleans()), min_size=1, max_size=6), st.data())
@SAME_FOLDER
def test_terms_of_many_tables_have_the_sums_that_unpacking_gives(
    tmp_path: Path, parts: list[tuple[list[tuple[str, str]], bool]], data: st.DataObject
) -> None:
    added = [counts_of(*documents) for documents, _ in parts]
    gone = [-table for table, (_, is_gone) in zip(added, parts, strict=True) if is_gone]
    model = load_model(write(tmp_path / "model.nbt", *added, *gone))
    table = unpack(model.file)
    sums: dict[int, dict[int, tuple[int, ...]]] = {}
    for class_, run in enumerate(table.runs[0]):
        for key, *columns in zip(
            run.keys.tolist(), *(c.tolist() for c in run.columns), strict=True
        ):
            sums.setdefault(key, {})[class_] = tuple(columns)

    unknown = {0, 1, TOP, key_of("unknown")}
    wanted = data.draw(st.sets(st.sampled_from(sorted({*sums, *unknown})), max_size=40))
    some = model.found(0, wanted)
    everything = model.found(0, {*sums, *unknown})

    assert model.classes == table.classes
    assert {key: dict(entries) for key, entries in everything.items()} == sums
    assert some == {key: everything[key] for key in wanted if key in sums}
    assert all(entries == sorted(entries) for entries in everything.values())
    assert model.remembering().found(0, wanted) == some
    for key in wanted:  # one at a time is looked up, many are passed through
        assert model.found(0, (key,)).get(key) == some.get(key)
    assert model.n_terms(0) == len(sums)


def appended(first: CountTable, *later: tuple[CountTable, int]) -> list[bytes]:
    """Return tables that say where they stand and what terms they bring."""
    tables, offset = [packed(first, history=History())], 0
    for table, new_terms in later:
        offset += len(tables[-1])
        tables.append(
            packed(table, history=History(offset=offset, new_terms=(new_terms,)))
        )
    return tables


ONE, OTHER = counts_of(("ham", "x y"), ("spam", "y")), counts_of(("ham", "y z z"))


def test_tables_that_stand_where_they_were_put_say_how_many_terms(
    tmp_path: Path,
) -> None:
    path = tmp_path / "model.nbt"
    # false, to see what is believed
    path.write_bytes(b"".join(appended(ONE, (OTHER, 7), (-OTHER, -2))))

    assert load_model(str(path)).n_terms(0) == 2 + 7 - 2


@pytest.mark.parametrize(
    "joined",
    [
        pytest.param(lambda tables: [*tables, tables[0]], id="one more"),
        pytest.param(lambda tables: [tables[0], *tables], id="one before"),
        pytest.param(lambda tables: [tables[0], tables[2], tables[1]], id="otherwise"),
        pytest.param(lambda tables: [*tables, *tables], id="twice"),
        pytest.param(lambda tables: [tables[0], tables[2]], id="one less"),
    ],
)
def test_terms_of_tables_that_were_moved_are_counted(
    joined: Callable[[list[bytes]], list[bytes]], tmp_path: Path
) -> None:
    path = tmp_path / "model.nbt"
    path.write_bytes(b"".join(joined(appended(ONE, (OTHER, 7), (OTHER, 7)))))
    n_terms = len(
        {
            key
            for run in unpack(open_model(str(path))).runs[0]
            for key in run.keys.tolist()
        }
    )

    assert load_model(str(path)).n_terms(0) == n_terms < 7


def test_a_model_of_fewer_terms_than_none_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    path.write_bytes(b"".join(appended(ONE, (OTHER, -3))))

    with pytest.raises(NotAModelError, match="it has fewer terms than none"):
        load_model(str(path)).n_terms(0)


def test_one_may_ask_for_another_scoring(tmp_path: Path) -> None:
    path = write(tmp_path / "model.nbt", counts_of(("ham", "x"), ("spam", "y")))
    wanted = Scoring(score="sum", smoothing=1.0)

    assert load_model(path).scoring == default_scoring("text", 2)
    assert load_model(path, scoring=wanted).scoring == wanted


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("buckets", 200, "a term's values are those from 200 to 200 of 2"),
        ("codes", 200, "a term's values are those from"),
        ("starts", 200, "a term's values are those from 200 to 202 of 2"),
        ("classes", 7, "a term is in class 7 of 2"),
    ],
)
def test_a_place_that_is_not_there_is_damage(
    name: str, value: int, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.nbt"
    counts = [("ham", "twice twice"), ("spam", "twice once")]
    write(path, counted(counts, TEXT_WORDS))
    (table,) = forge.taken_apart(path.read_bytes())
    names = [array[0] for array in table.header["arrays"]]
    place = names.index(f"body.{name}")
    table.arrays[place] = bytes([value] * len(table.arrays[place]))
    path.write_bytes(forge.put_together([table]))

    with pytest.raises(NotAModelError, match=f"damaged: {message}"):
        load_model(str(path)).found(0, (key_of("twice"),))


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param([], id="none"),
        pytest.param([0], id="zero"),
        pytest.param([TOP], id="the last"),
        pytest.param([0, 1, 2, TOP - 1, TOP], id="both ends"),
        pytest.param(list(range(1000)), id="all low"),
        pytest.param(list(range(TOP - 999, TOP + 1)), id="all high"),
        pytest.param([n * (TOP // 999) for n in range(1000)], id="even"),
        pytest.param([2**47 + n for n in range(500)], id="in the middle"),
    ],
)
def test_keys_are_found_however_they_lie(keys: list[int], tmp_path: Path) -> None:
    one = ClassCounts(1, [dict.fromkeys(keys, (1, 1))])
    model = load_model(write(tmp_path / "m.nbt", table_of({"ham": one}, TEXT_WORDS)))
    near = {k + d for k in [*keys, 0, 2**47, TOP] for d in (-1, 0, 1)}
    wanted = {key for key in near if 0 <= key <= TOP}

    (stored,) = model.stored[0]

    assert isinstance(stored, StoredView)
    assert stored.find_keys(wanted) == {key: place for place, key in enumerate(keys)}
    assert {*model.found(0, wanted)} == {*keys}


def test_a_large_table_stores_the_lower_half_of_its_keys(tmp_path: Path) -> None:
    keys = sorted(n * 0x9E37_79B9_7F4A % 2**48 for n in range(140_000))
    one = ClassCounts(1, [{key: (1 + n % 2, 1) for n, key in enumerate(keys)}])
    path = write(tmp_path / "m.nbt", table_of({"ham": one}, TEXT_WORDS))
    model = load_model(path)
    other = {key ^ 1 << 40 for key in keys[:200]} | {key ^ 1 for key in keys[:200]}

    found = model.found(0, [*keys[::999], *other.difference(keys)])

    assert model.file.tables[0].arrays["body.keys"].format == "I"
    assert found == {key: [(0, (1 + n % 2, 1))] for n, key in [*enumerate(keys)][::999]}
    assert unpack(model.file).runs[0][0].keys.tolist() == keys


def test_keys_that_crowd_one_bucket_take_no_longer_to_find(tmp_path: Path) -> None:
    keys = range(1, 100_000, 2)  # whoever chooses tokens can choose such keys
    one = ClassCounts(1, [dict.fromkeys(keys, (2, 1))])
    model = load_model(write(tmp_path / "m.nbt", table_of({"ham": one}, TEXT_WORDS)))
    model.found(0, [1])

    began = process_time()
    found = model.found(0, range(20_000))

    assert len(found) == 10_000
    assert process_time() - began < 2  # entry by entry it takes minutes


def test_no_answer_rests_on_damaged_bytes_and_opening_reads_none(
    tmp_path: Path,
) -> None:
    keys = [n * 0x9E37_79B9_7F4A % 2**48 for n in range(50_000)]
    one = ClassCounts(1, [dict.fromkeys(keys, (2, 1))])
    path = tmp_path / "m.nbt"
    write(path, table_of({"ham": one}, TEXT_WORDS))
    data = bytearray(path.read_bytes())
    place = data.index(sorted(keys)[25_000].to_bytes(8, "little"))
    data[place] ^= 1
    path.write_bytes(data)

    model = load_model(str(path))
    errors = []
    for key in keys:
        try:
            assert model.found(0, [key]) == {key: [(0, (2, 1))]}
        except DamagedError as error:
            errors.append(error)

    # those in the bucket of the block, and in those that reach into it
    assert 100 < len(errors) < 200
    assert {error.offset <= place < error.offset + 1024 for error in errors} == {True}
    with pytest.raises(DamagedError):
        check_sound(model.file)
