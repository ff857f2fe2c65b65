from pathlib import Path

import numpy as np
import pytest

from fuzz import forge
from nbtext.counts.table import CountTable
from nbtext.errors import NotAModelError
from nbtext.settings.columns import Column
from nbtext.settings.reading import Settings, default_settings
from nbtext.settings.views import View
from nbtext.store import Contents, StoredTable, open_model, packing
from nbtext.store.packing import unpack
from nbtext.store.schema import STRIDE
from tests.build import counted, key_of, mean, stored

VIEW = View(name="words", text="body", alphabet="words")
PLAIN: tuple[Column, ...] = ("occurrences", "documents")
WEIGHTS: tuple[Column, ...] = (*PLAIN, "weight")


def words(
    labelled: list[tuple[str, str]],
    columns: tuple[Column, ...] = PLAIN,
    *,
    ledger: bool = True,
) -> CountTable:
    view = VIEW._replace(columns=columns)
    settings = Settings(format="text", views=(view,), ledger=ledger)
    return counted(labelled, settings)


def array(table: StoredTable, name: str) -> list[int]:
    return list(table.arrays[name])


def test_a_term_that_occurs_once_is_its_class_alone(tmp_path: Path) -> None:
    table = words([("ham", "once twice twice both"), ("spam", "both")])

    found = stored(tmp_path / "model.nbt", table).tables[0]

    codes = {"once": 0, "twice": 2, "both": 3}  # a class, one entry, two entries
    keys = {key_of(word): word for word in codes}
    order = [keys[key] for key in sorted(keys)]
    entries = {"once": [], "twice": [(0, 2, 1)], "both": [(0, 1, 1), (1, 1, 1)]}
    rows = [row for word in order for row in entries[word]]
    assert array(found, "words.keys") == sorted(keys)
    assert array(found, "words.buckets") == [0, 3]
    assert array(found, "words.codes") == [codes[word] for word in order]
    assert array(found, "words.starts") == [0]
    for number, name in enumerate(("classes", "occurrences", "documents")):
        assert array(found, f"words.{name}") == [row[number] for row in rows]


def test_the_header_has_documents_totals_and_terms(tmp_path: Path) -> None:
    table = words([("ham", "a b b"), ("ham", "a"), ("spam", "c")], WEIGHTS)

    header = stored(tmp_path / "model.nbt", table).tables[0].header

    assert header.classes == ("ham", "spam")
    assert header.documents == (2, 1)
    assert header.terms == (3,)
    (totals,) = header.totals
    assert [columns[:2] for columns in totals] == [(4, 3), (1, 1)]
    assert totals[1][2] == 65535


def test_arrays_have_the_smallest_type_that_holds_them(tmp_path: Path) -> None:
    small = words([("ham", "a " * 255)])
    large = words([("ham", "a " * 256)])

    kinds = [
        stored(tmp_path / "model.nbt", table)
        .tables[0]
        .arrays["words.occurrences"]
        .format
        for table in (small, large, -large)
        if table.documents[0] > 0
    ]

    assert kinds == ["B", "H"]


def test_a_model_takes_few_bytes_a_term(tmp_path: Path) -> None:
    n_terms = 20_000
    text = " ".join(f"w{n}" for n in range(n_terms))
    table = words([("ham", text), ("spam", "w1 w2 w3")], ledger=False)

    found = stored(tmp_path / "model.nbt", table).tables[0]

    assert found.length <= 9.5 * n_terms  # a key, a class, a part of two places


def test_index_and_starts_lead_to_each_term_of_many_ranges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "RANGE", 1 << 15)
    few, many = range(0, 90_000, 3), range(70_000)
    ham, spam = (" ".join(f"w{n}" for n in some) for some in (few, many))
    table = words([("ham", ham), ("spam", spam)], ledger=False)

    found = stored(tmp_path / "model.nbt", table).tables[0]

    codes = np.array(array(found, "words.codes"))
    sizes = np.maximum(codes - 1, 0)
    keys = np.array(sorted(key_of(f"w{n}") for n in {*few, *many}), np.uint64)
    bits = (len(array(found, "words.buckets")) - 1).bit_length() - 1
    first = keys >> np.uint64(48 - bits)
    assert len(codes) == len(keys) > 2 << 15
    assert array(found, "words.starts") == (np.cumsum(sizes) - sizes)[::STRIDE].tolist()
    assert array(found, "words.buckets") == [
        int((first < value).sum()) for value in range((1 << bits) + 1)
    ]


def test_any_number_of_threads_packs_the_same_bytes() -> None:
    texts = [("ham", "once twice twice"), ("spam", "twice thrice"), ("spam", "once")]
    settings = default_settings("mail", 2)
    assert len(settings.views) > 2  # a thread each
    contents = Contents(counted(texts, settings), mean())

    packed = [contents.pack(written="now", jobs=jobs) for jobs in (1, 3)]

    assert b"".join(packed[0]) == b"".join(packed[1])


@pytest.mark.parametrize("columns", [PLAIN, WEIGHTS], ids=["plain", "weights"])
def test_a_table_without_documents_can_be_packed(
    columns: tuple[Column, ...], tmp_path: Path
) -> None:
    path = tmp_path / "model.nbt"

    file = stored(path, words([], columns))

    assert file.tables[0].header.classes == ()
    assert unpack(file).n_rows == 0


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("words.classes", 0, 9),
        ("words.codes", 1, 200),
        ("words.buckets", 1, 300),
        ("words.starts", 1, 7),
        ("words.keys", 3, 0),
    ],
)
def test_arrays_that_contradict_one_another_are_damage(
    name: str, place: int, value: int, tmp_path: Path
) -> None:
    path = tmp_path / "model.nbt"
    twice = " ".join(f"w{n} w{n}" for n in range(200))
    once = " ".join(f"v{n}" for n in range(200))
    table = words([("ham", twice), ("spam", once)])
    found = stored(path, table).tables[0]
    names = list(found.arrays)
    (plain,) = forge.taken_apart(path.read_bytes())
    changed = np.asarray(found.arrays[name]).copy()
    changed[place] = value
    plain.arrays[names.index(name)] = changed.tobytes()
    path.write_bytes(forge.put_together([plain]))

    with pytest.raises(NotAModelError, match="'words' of the table at byte 0 contra"):
        unpack(open_model(str(path)))
