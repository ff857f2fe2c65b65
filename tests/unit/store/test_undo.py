from dataclasses import replace
from pathlib import Path
from time import process_time

import numpy as np
import pytest

from nbtext import forget, learn, train_on
from nbtext.document import Document
from nbtext.scoring.held_out import fitted
from nbtext.scoring.model import load_model
from nbtext.store import (
    ModelFile,
    Row,
    StoredTable,
    UndoRecords,
    compact,
    open_model,
    read_contents,
    record_of,
    rows_of,
)
from nbtext.store.blocks import Buffer
from nbtext.store.compacting import compact_tail
from nbtext.store.header import KEPT_RECORDS
from nbtext.store.ledger import n_records
from nbtext.store.schema import TYPES
from nbtext.store.undo import join_records, last_records, records_in
from nbtext.store.writing import pack, replace_file
from nbtext.tokens.bag import Bag, bag_of, fingerprint
from nbtext.tokens.bags import joined, terms_of
from nbtext.tokens.reading import read
from tests.build import FEW_TERMS

FILLER = [
    ("ham", " ".join(f"w{n}" for n in range(3000))),  # so that the tail is short
    ("ham", "lunch on friday"),
    ("spam", "cheap pills"),
    ("spam", "cheap cheap"),
]


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = str(tmp_path / "model.nbt")
    train_on(FILLER, path, overrides=FEW_TERMS)
    return path


def taught(path: str, label: str | None, *texts: str, keep: int | None = None) -> None:
    if label is None:
        forget(path, texts)
    else:
        learn(path, label, texts, undo=keep)


def digest_of(text: str, file: ModelFile) -> bytes:
    return read(Document("", (text.encode(),)), file.settings).digest


def texts_of(records: UndoRecords, file: ModelFile, *texts: str) -> list[str]:
    """Return which of some texts records are of, in their order."""
    names = {digest_of(text, file): text for text in texts}
    return [names[digest] for digest in records.digests]


def bags_of(records: UndoRecords) -> list[Bag]:
    return [
        tuple(terms.bag(place) for terms in records.views)
        for place in range(len(records))
    ]


def kept(path: str, keep: int = KEPT_RECORDS) -> list[str]:
    """Return the texts whose records are the last of a file's."""
    file = open_model(path)
    found = last_records(file, file.tables, keep)
    assert n_records(file, keep) == len(found)  # which loads no numpy
    return texts_of(found, file, *"abcdef")


def test_the_last_that_were_learnt_are_kept_in_their_order(path: str) -> None:
    taught(path, "ham", "c")
    taught(path, "spam", "a", "f")
    taught(path, "ham", "b")

    assert kept(path) == ["c", "a", "f", "b"]
    assert kept(path, 3) == ["a", "f", "b"]
    assert kept(path, 0) == []


def test_what_was_trained_has_no_record(path: str) -> None:
    assert kept(path) == []


def test_what_was_forgotten_has_no_record(path: str) -> None:
    taught(path, "ham", "a", "b")
    taught(path, "ham", "c")
    taught(path, None, "b", "c")

    assert kept(path) == ["a"]


def test_what_has_moved_is_kept_where_it_is_now(path: str) -> None:
    taught(path, "ham", "a", "b")
    taught(path, "spam", "a")
    file = open_model(path)

    records = last_records(file, file.tables, KEPT_RECORDS)
    assert n_records(file, KEPT_RECORDS) == len(records)

    assert texts_of(records, file, "a", "b") == ["b", "a"]
    assert [row.label for row in records.rows] == ["ham", "spam"]


def test_what_was_learnt_again_is_kept_once_and_late(path: str) -> None:
    taught(path, "ham", "a")
    taught(path, "ham", "b")
    taught(path, None, "a")
    taught(path, "ham", "a")

    assert kept(path) == ["b", "a"]


def test_records_hold_the_terms_that_were_learnt(path: str) -> None:
    texts = ["a a b", "one document more", "!"]
    taught(path, "ham", *texts[:2])
    taught(path, "spam", texts[2])
    file = open_model(path)
    readings = [read(Document("", (t.encode(),)), file.settings) for t in texts]
    expected = [bag_of(reading, file.settings) for reading in readings]

    records = last_records(file, file.tables, KEPT_RECORDS)
    assert n_records(file, KEPT_RECORDS) == len(records)

    assert bags_of(records) == expected
    assert bags_of(records.take([2, 0])) == [expected[2], expected[0]]
    assert bags_of(records.take([])) == []


def test_many_at_once_have_the_records_of_each_alone(path: str) -> None:
    texts = [f"text number {n} " * (n % 3 + 1) for n in range(30)]
    taught(path, "ham", *texts)
    (table,) = open_model(path).tables[1:]
    readings = [
        read(Document("", (text.encode(),)), table.header.settings) for text in texts
    ]

    records = records_in([table])

    assert table.header.history.records == 30
    assert records.digests == [reading.digest for reading in readings]
    assert bags_of(records) == [
        bag_of(reading, table.header.settings) for reading in readings
    ]


@pytest.mark.parametrize("keep", [0, 1, 2])
@pytest.mark.parametrize("texts", [("a", "b", "c"), tuple("abcdefghijklmnopq")])
def test_a_table_keeps_no_more_than_it_shall(
    keep: int, texts: tuple[str, ...], path: str
) -> None:
    taught(path, "ham", *texts, keep=keep)
    file = open_model(path)

    records = records_in([file.tables[1]])

    assert texts_of(records, file, *texts) == list(texts[len(texts) - keep :])
    assert file.tables[1].header.history.keep == keep


def test_compacting_keeps_as_many_as_was_asked_for_last(path: str) -> None:
    taught(path, "ham", "a", keep=2)
    taught(path, "ham", "b")
    taught(path, "ham", "c")

    compact(path)

    (table,) = open_model(path).tables
    assert table.header.history.records == table.header.history.keep == 2
    assert kept(path) == ["b", "c"]


def test_a_document_that_came_back_to_its_class_keeps_its_record(path: str) -> None:
    known = FILLER[-1][1]
    taught(path, None, known)
    taught(path, "spam", known)
    before = open_model(path)
    digest = digest_of(known, before)
    (row,) = rows_of(before, digest)

    compact_tail(path)  # the tail adds nothing, and no class of it has documents

    first, folded = (table.header for table in open_model(path).tables)
    assert (folded.classes, folded.documents) == (("spam",), (0,))
    assert folded.history.offset == open_model(path).tables[0].length
    assert first.documents == (2, 2)
    record = record_of(before, digest, row)
    assert record is not None
    assert record_of(open_model(path), digest, row) == record


def test_records_of_no_document_join_with_any(path: str) -> None:
    taught(path, "ham", "a", "b")
    file = open_model(path)
    records = records_in([file.tables[1]])

    assert len(UndoRecords()) == len(join_records([])) == 0
    assert bags_of(join_records([UndoRecords(), records])) == bags_of(records)


def test_a_class_that_is_not_there_has_no_row(path: str) -> None:
    taught(path, "ham", "a")
    file = open_model(path)
    digest = digest_of("a", file)

    assert [row.label for row in rows_of(file, digest)] == ["ham"]
    (row,) = rows_of(file, digest)
    assert record_of(file, digest, Row("eggs", row.fingerprint)) is None


def test_a_bin_that_no_score_has_is_not_taken_back(path: str) -> None:
    documents = [Document("", (b"x",), identity=name) for name in "ab"]
    learn(path, "ham", documents)
    first, table = open_model(path).tables
    arrays = {name: stored(table, name) for name in table.arrays}
    arrays["undo.bins"] = ("i2", b"\xff\x7f" * 2)
    data = Path(path).read_bytes()[: first.length]
    Path(path).write_bytes(b"".join([data, *map(bytes, pack(table.header, arrays))]))
    changed = [one._replace(texts=(b"y",)) for one in documents]

    result, _ = forget(path, changed)

    assert result.outcome == "forgotten"
    model = load_model(path)
    (last,) = model.file.tables[-1].header.calibrations
    assert last["counts"] == []
    fitted(model)


def stored(table: StoredTable, name: str) -> tuple[str, Buffer]:
    """Return an array of a table as `pack` takes it."""
    array = table.arrays[name]
    kinds: dict[str, str] = {code: kind for kind, code in TYPES.items()}
    return kinds[array.format], array.tobytes()


def quickest_look_at_one_of(n_records: int, path: str) -> float:
    """Return the least seconds of the processor in which a record is found."""
    train_on(FILLER, path)
    rows = np.arange(2 * n_records, dtype=np.uint64).reshape(-1, 2) + 1
    digests = [row.astype(">u8").tobytes() for row in rows]
    contents = read_contents(open_model(path))
    bag = tuple({7: 1} for _ in contents.counts.settings.views)
    row = Row("ham", fingerprint(bag))
    terms = [joined([terms_of([of_view])] * n_records) for of_view in bag]
    records = UndoRecords(digests, [row] * n_records, [()] * n_records, terms)
    replace_file(path, replace(contents, records=records).pack())
    file = open_model(path)
    seconds = []
    for digest in digests[-300:]:
        start = process_time()
        found = record_of(file, digest, row)
        seconds.append(process_time() - start)
        assert found is not None
        assert found.bag == bag
    return min(seconds)


def test_finding_records_takes_no_time_in_proportion_to_their_number(
    tmp_path: Path,
) -> None:
    of_few = quickest_look_at_one_of(400, str(tmp_path / "few.nbt"))
    of_many = quickest_look_at_one_of(40_000, str(tmp_path / "many.nbt"))

    assert of_many < 20 * of_few  # it is five to seven times as long, was 60
