"""
docs/model-format.md is enough to read and write a model, and its values are right.

`read_model`, `records_of`, `write_table` and what they call know that page, msgpack and
the standard library, and nothing of nbtext. What they find in files that nbtext wrote
is what nbtext finds, and what they write is what nbtext writes.
"""

import json
import re
import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from hashlib import blake2b, sha256
from itertools import islice, pairwise
from math import isqrt, log
from pathlib import Path
from typing import Any
from zlib import crc32

import msgpack
import numpy as np
import pytest

from nbtext import SettingsOverrides, train, train_on
from nbtext.classes import MOST_CLASSES
from nbtext.counts.calibration import FARTHEST_BIN, MOST
from nbtext.counts.correction import LARGEST_SLOPE, MOST_FACTS, CorrectionInfo
from nbtext.counts.correction_table import Correction, correction_of
from nbtext.counts.fitting import fit
from nbtext.counts.histograms import MOST_NUMBERS, Histogram
from nbtext.counts.table import CountTable
from nbtext.document import Document
from nbtext.errors import DamagedError, ModelFileError
from nbtext.files._replacing import LEFTOVER
from nbtext.learning import LearnRequest
from nbtext.mail.message import read_mail
from nbtext.policy import MOST_COSTS, Cost, Policy
from nbtext.scoring.held_out import fitted, held_out
from nbtext.scoring.model import load_model
from nbtext.scoring.models.registry import default_scoring, scoring_of
from nbtext.settings.columns import UNIT, UNWEIGHTED, WEIGHTED
from nbtext.settings.reading import Settings
from nbtext.settings.scoring import LARGEST, SMALLEST
from nbtext.settings.views import BODY, HEADERS, NGRAMS, Alphabet
from nbtext.sources import Options
from nbtext.store.compacting import compact, compact_tail
from nbtext.store.contents import Contents, read_contents
from nbtext.store.file import open_model
from nbtext.store.header import KEPT_RECORDS, History, joined_history
from nbtext.store.ledger import FORGOTTEN, NO_BIN, Row, record_of, rows_of
from nbtext.store.packing import unpack
from nbtext.store.plain_table import ALIGNMENT, MOST_HEADER, VERSION
from nbtext.store.schema import array_types
from nbtext.store.writing import replace_file
from nbtext.tokens.engine import keys as keys_in_use
from nbtext.tokens.ngrams import ngrams
from nbtext.tokens.tokenizer import (
    KEY_SHIFT,
    fold,
    keys,
    pair_hash,
    salt,
    token_hash,
    tokens,
)
from tests.build import FEW_TERMS, TEXT_WORDS, WEIGHTS, counted, learnt, packed

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "model-format.md").read_text(encoding="utf-8")
TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8")
CODES = dict(zip(TYPES, "BHIQbhiq", strict=True))

PARTS = ("entries", "totals", "documents", "ledger")
"""Of the sum of a file's tables."""

Arrays = dict[str, tuple[int, ...]]
Record = tuple[tuple[int, ...], list[dict[int, int]]]
"""The bins of a document's scores, and its terms in each view."""

# from here to `class_and_fold` nothing is known but the page


class BrokenError(Exception):
    """A table is not as the page says."""


def read_model(data: bytes) -> dict[str, Any]:
    """Return the sum of a file's tables, zeros left out."""
    entries: Counter[tuple[str, int, str, str]] = Counter()
    totals: Counter[tuple[str, str, str]] = Counter()
    documents: Counter[str] = Counter()
    ledger: Counter[tuple[bytes, str, int]] = Counter()
    for _, header, arrays in tables_of(data):
        classes, settings = header["classes"], header["settings"]
        documents.update(dict(zip(classes, header["documents"], strict=True)))
        for view, by_class in zip(settings["views"], header["totals"], strict=True):
            for class_, sums in zip(classes, by_class, strict=True):
                for column, total in zip(view["columns"], sums, strict=True):
                    totals[view["name"], class_, column] += total
            for key, place, columns in entries_of(view, header, arrays):
                for column, value in columns.items():
                    entries[view["name"], key, classes[place], column] += value
        for digest, class_, fingerprint, n in ledger_rows(header, arrays):
            ledger[digest, class_, fingerprint] += n
    sums = (entries, totals, documents, ledger)
    assert min((n for one in sums for n in one.values()), default=0) >= 0
    kept = [{place: n for place, n in one.items() if n} for one in sums]
    return dict(zip(PARTS, kept, strict=True))


def tables_of(data: bytes) -> list[tuple[int, dict[str, Any], Arrays]]:
    """Return the tables of a file, without one that was cut off at its end."""
    tables: list[tuple[int, dict[str, Any], Arrays]] = []
    start = 0
    while start < len(data):
        if tables and not data[start]:
            break
        try:
            header, arrays, length = read_table(data[start:])
        except msgpack.OutOfData:
            if not tables:
                raise
            break
        tables.append((start, header, arrays))
        start += length
    return tables


def read_table(data: bytes) -> tuple[dict[str, Any], Arrays, int]:
    unpacker = msgpack.Unpacker(max_buffer_size=len(data))
    unpacker.feed(data)
    try:
        header = unpacker.unpack()
    except ValueError as error:
        raise BrokenError from error
    end = unpacker.tell()
    demand(isinstance(header, dict) and header["format"] == "nbtext count table")
    demand(header["version"] == 3)
    demand(data[end - 8 : end] == blake2b(data[: end - 8], digest_size=8).digest())
    demand(data[:3] == b"\xde" + len(header).to_bytes(2, "big"))
    demand(next(iter(header)) == "format" and list(header)[-1] == "header_checksum")
    arrays, bounds = {}, []
    for name, kind, length in header["arrays"]:
        while (found := unpacker.unpack()) is None:
            pass
        demand(isinstance(found, bytes))
        demand((unpacker.tell() - len(found)) % 64 == 0)
        bounds.append((unpacker.tell() - len(found), unpacker.tell()))
        arrays[name] = struct.unpack(f"<{length}{CODES[kind]}", found)
    while (found := unpacker.unpack()) is None:
        pass
    demand(found == ["end", unpacker.tell()])
    demand(unpacker.tell() % 64 == 0)
    demand(list(arrays)[-1] == "checksums")
    covered = data[bounds[0][0] : bounds[-2][1]]
    demand(arrays["checksums"] == crc32_of_blocks(covered))
    return header, arrays, unpacker.tell()


def crc32_of_blocks(data: bytes) -> tuple[int, ...]:
    blocks = (data[start : start + 1024] for start in range(0, len(data), 1024))
    return tuple(crc32(block) for block in blocks)


def demand(fact: bool) -> None:
    if not fact:
        raise BrokenError


def ledger_rows(
    header: dict[str, Any], arrays: Arrays, prefix: str = "ledger", last: str = "counts"
) -> Iterator[tuple[bytes, str, int, int]]:
    """Yield digest, class, fingerprint and count; of records the bin instead."""
    names = [f"{prefix}.{one}" for one in ("high", "low", "classes", "fingerprints")]
    columns = [arrays.get(name, ()) for name in (*names, f"{prefix}.{last}")]
    for high, low, place, fingerprint, n in zip(*columns, strict=True):
        digest = high.to_bytes(8, "big") + low.to_bytes(8, "big")
        yield digest, header["classes"][place], fingerprint, n


def records_of(data: bytes) -> dict[tuple[bytes, str, int], Record]:
    """Return the record of each row of a file's ledger that has one."""
    records: dict[tuple[bytes, str, int], Record] = {}
    for _, header, arrays in tables_of(data):
        found = kept_records if header["history"]["records"] else own_record
        for row, record in found(header, arrays):
            counts = [n for terms in record[1] for n in terms.values()]
            if min(counts, default=1) > 0 and fingerprint_of(record[1]) == row[2]:
                records[row] = record
    rows = read_model(data)["ledger"]
    return {row: record for row, record in records.items() if row in rows}


def kept_records(
    header: dict[str, Any], arrays: Arrays
) -> Iterator[tuple[tuple[bytes, str, int], Record]]:
    names = [view["name"] for view in header["settings"]["views"]]
    left = {
        name: iter(
            list(zip(arrays[f"{name}.keys"], arrays[f"{name}.counts"], strict=True))
        )
        for name in (f"undo.{name}" for name in names)
    }
    rows = list(ledger_rows(header, arrays, "undo", "classes"))
    assert len(rows) == header["history"]["records"]
    bins, width = arrays["undo.bins"], len(header["calibrations"])
    assert len(bins) in (0, len(rows) * width)
    for number, (digest, class_, fingerprint, _) in enumerate(rows):
        bag = [
            dict(islice(terms, arrays[f"{name}.sizes"][number]))
            for name, terms in left.items()
        ]
        of_document = (*bins[number * width : (number + 1) * width],)
        yield (digest, class_, fingerprint), (of_document, bag)
    assert not any(list(terms) for terms in left.values())


def own_record(
    header: dict[str, Any], arrays: Arrays
) -> Iterator[tuple[tuple[bytes, str, int], Record]]:
    rows = [row for row in ledger_rows(header, arrays) if row[3] > 0]
    if sum(n for n in header["documents"] if n > 0) != 1 or len(rows) != 1:
        return
    digest, class_, fingerprint, n = rows[0]
    settings = header["settings"]
    bag = [
        {
            key: columns["occurrences"]
            for key, place, columns in entries_of(view, header, arrays)
            if header["classes"][place] == class_
        }
        for view in settings["views"]
    ]
    found = [
        [0][: one["documents"].get(class_) == 1]
        if one["losses"]
        else [bin_ for bin_, name, n in one["counts"] if name == class_ and n > 0]
        for one in header["calibrations"]
    ]
    if n == 1:
        bins = tuple(one[0] if len(one) == 1 else -32768 for one in found)
        yield (digest, class_, fingerprint), (bins, bag)


def fingerprint_of(bag: list[dict[int, int]]) -> int:
    mixed = (
        mix(mix(((2 * v + 1) * key + n) & MASK))
        for v, terms in enumerate(bag, 1)
        for key, n in terms.items()
    )
    return (1 + sum(mixed)) & MASK


def terms_of(data: bytes) -> list[int]:
    """Return how many distinct terms each view has."""
    (_, first, _), *rest = tables_of(data)
    if all(start == header["history"]["offset"] for start, header, _ in rest):
        more = [header["history"]["new_terms"] for _, header, _ in rest]
        return [sum(counts) for counts in zip(first["terms"], *more, strict=True)]
    places = {place[:2] for place in read_model(data)["entries"]}
    views = [view["name"] for view in first["settings"]["views"]]
    return [sum(place[0] == view for place in places) for view in views]


def histograms_of(data: bytes) -> dict[str, dict[str, dict[str, Any]]]:
    """Return what a file says of its histograms, or else what its terms do."""
    tables = tables_of(data)
    _, *rest = tables
    named = [header.get("histograms") for _, header, _ in tables]
    is_moved = any(start != header["history"]["offset"] for start, header, _ in rest)
    if is_moved or None in named:
        return counted_histograms(data)
    sums: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    all_views = [pair for by_view in named if by_view for pair in by_view.items()]
    for view, by_class in all_views:
        for class_, one in by_class.items():
            pairs = zip(one["documents"], one["terms"], strict=True)
            for number, terms in [(0, one["singletons"]), *pairs]:
                sums[view, class_][number] += terms
    return shown_histograms(tables[0][1], sums)


def counted_histograms(data: bytes) -> dict[str, dict[str, dict[str, Any]]]:
    sums: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    occurrences: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for (view, key, class_, column), n in read_model(data)["entries"].items():
        if column == "documents":
            sums[view, class_][n] += 1
        elif column == "occurrences":
            occurrences[view, key][class_] += n
    for (view, _), by_class in occurrences.items():
        if by_class.total() == 1:
            sums[view, next(iter(by_class))][0] += 1
    return shown_histograms(tables_of(data)[0][1], sums)


def shown_histograms(
    header: dict[str, Any], sums: dict[tuple[str, str], Counter[int]]
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return sums of terms by number of documents, 0 for singletons, as in a header."""
    found: dict[str, dict[str, dict[str, Any]]] = {
        view["name"]: {} for view in header["settings"]["views"]
    }
    for (view, class_), terms in sums.items():
        numbers = sorted(number for number in terms if number and terms[number])
        if numbers or terms[0]:
            found[view][class_] = {
                "documents": numbers,
                "terms": [terms[number] for number in numbers],
                "singletons": terms[0],
            }
    return found


def write_table(header: dict[str, Any], arrays: Arrays) -> bytes:
    """Return the bytes of a table; its checksums are made anew."""
    kinds = {name: kind for name, kind, _ in header["arrays"]}
    *contents, _ = [
        struct.pack(f"<{len(values)}{CODES[kinds[name]]}", *values)
        for name, values in arrays.items()
    ]
    data = b"\xde" + len(header).to_bytes(2, "big")
    for key, value in header.items():
        data += msgpack.packb(key)
        if key != "header_checksum":
            data += msgpack.packb(value)
    data += b"\xc4\x08"
    data += blake2b(data, digest_size=8).digest()
    first = 0
    for one in contents:
        data = with_array(data, one)
        first = first or len(data) - len(one)
    sums = crc32_of_blocks(data[first:])
    data = with_array(data, struct.pack(f"<{len(sums)}I", *sums))
    length = 64 * -(-(len(data) + 14) // 64)
    data += b"\xc0" * (length - len(data) - 14)
    return data + bytes.fromhex("92 a3 65 6e 64 cf") + length.to_bytes(8, "big")


def with_array(data: bytes, contents: bytes) -> bytes:
    begin = 64 * -(-(len(data) + 5) // 64)
    data += b"\xc0" * (begin - len(data) - 5)
    return data + b"\xc6" + len(contents).to_bytes(4, "big") + contents


def entries_of(
    view: dict[str, Any], header: dict[str, Any], arrays: Arrays
) -> Iterator[tuple[int, int, dict[str, int]]]:
    """Yield the key, the place of the class, and the columns of each entry."""
    n_classes = len(header["classes"])
    names = ("codes", "starts", "classes", *view["columns"])
    codes, starts, classes, *columns = (arrays[f"{view['name']}.{n}"] for n in names)
    all_keys = keys_of(view["name"], header, arrays)
    entry = 0
    for number, (key, code) in enumerate(zip(all_keys, codes, strict=True)):
        if number % 16 == 0:
            assert starts[number // 16] == entry
        if code < n_classes:
            yield key, code, dict.fromkeys(view["columns"], 1)
            continue
        for _ in range(code - n_classes + 1):
            counts = (column[entry] for column in columns)
            yield key, classes[entry], dict(zip(view["columns"], counts, strict=True))
            entry += 1
    assert len(starts) == -(-len(all_keys) // 16)
    assert entry == len(classes)


def keys_of(view: str, header: dict[str, Any], arrays: Arrays) -> list[int]:
    """Return the keys of a view, the bits that the buckets stand for put back."""
    buckets, stored = arrays[f"{view}.buckets"], arrays[f"{view}.keys"]
    bits = (len(buckets) - 1).bit_length() - 1
    assert len(buckets) == 2**bits + 1
    assert (buckets[0], buckets[-1]) == (0, len(stored))
    kinds = {name: kind for name, kind, _ in header["arrays"]}
    assert kinds[f"{view}.keys"] == ("u4" if bits >= 16 else "u8")
    found = []
    for bucket, (start, end) in enumerate(pairwise(buckets)):
        for key in stored[start:end]:
            whole = key | bucket >> bits - 16 << 32 if bits >= 16 else key
            assert whole >> 48 - bits == bucket
            found.append(whole)
    assert found == sorted(set(found))
    return found


def class_and_fold(code: int) -> tuple[int, int]:
    """Return the class and the folded form of a code point."""
    table = (ROOT / "nbtext" / "tokens" / "codepoints-3.bin").read_bytes()
    c, f = struct.unpack_from("<HH", table)
    assert len(table) == 2 * (2 + 4352) + 256 * c + 1024 * f
    class_ = table[4 + 4352 + 256 * table[4 + (code >> 8)] + (code & 255)]
    second = 4 + 4352 + 256 * c
    place = second + 4352 + 1024 * table[second + (code >> 8)] + 4 * (code & 255)
    return class_, code + struct.unpack_from("<i", table, place)[0]


def nbtext_sums(table: CountTable) -> dict[str, Any]:
    """Return the same from nbtext's own reading."""
    names = [view.name for view in table.settings.views]
    columns = {view.name: view.columns for view in table.settings.views}
    cells = [
        ((view, class_), columns[view], run)
        for view, runs in zip(names, table.runs, strict=True)
        for class_, run in zip(table.classes, runs, strict=True)
    ]
    return {
        "entries": {
            (view, key, class_, column): n
            for (view, class_), names, run in cells
            for column, values in zip(names, run.columns, strict=True)
            for key, n in zip(run.keys.tolist(), values.tolist(), strict=True)
            if n
        },
        "totals": {
            (*place, column): run.total(number)
            for place, names, run in cells
            for number, column in enumerate(names)
            if run.total(number)
        },
        "documents": dict(zip(table.classes, table.documents, strict=True)),
        "ledger": {
            (high.to_bytes(8, "big") + low.to_bytes(8, "big"), class_, fingerprint): n
            for class_, run in zip(table.classes, table.ledger, strict=True)
            for (high, low, fingerprint), n in zip(
                run.entries.tolist(), run.counts.tolist(), strict=True
            )
        },
    }


def demo_mail() -> list[tuple[str, bytes]]:
    folder = ROOT / "corpora" / "demo"
    return [
        (label, path.read_bytes())
        for label in ("ham", "spam")
        for path in sorted((folder / label).iterdir())
    ]


THREE_CLASSES = [
    ("animals", "the quick brown fox and the lazy dog, and the cat"),
    ("animals", "a cat, a cat! my kingdom for a cat"),
    ("plants", "the oak and the birch"),
    ("stars", "the sun, the moon"),
    ("stars", "the sun"),
    ("stars", "the sun"),
]


def write_mail(path: Path) -> None:
    train_on(demo_mail(), str(path))


def write_three_classes(path: Path) -> None:
    overrides = SettingsOverrides(correction=False)  # whose page is another
    train_on(THREE_CLASSES, str(path), overrides=overrides)


def write_two_tables(path: Path) -> None:
    train_on(demo_mail()[:50], str(path))
    first = path.read_bytes()
    train_on(demo_mail()[40:], str(path))
    path.write_bytes(first + path.read_bytes())


def write_negative_table(path: Path) -> None:
    train_on(demo_mail()[30:60], str(path.with_suffix(".part")))
    part = unpack(open_model(str(path.with_suffix(".part"))))
    train_on(demo_mail(), str(path))
    negative = Contents(-part, default_scoring("mail", 2)).pack(written="", writer="")
    path.write_bytes(path.read_bytes() + b"".join(negative))


NOTHING: dict[str, Any] = {
    "scoring": None,
    "counts": [],
    "losses": [],
    "documents": {},
}


def taught(path: Path, label: str | None, mails: Iterable[bytes]) -> None:
    """Learn mails as a class, or forget them."""
    items = [Document(str(n), (mail,)) for n, mail in enumerate(mails)]
    results = learnt(LearnRequest(str(path), label), items)
    assert {result.outcome for result in results} <= {"learnt", "moved", "forgotten"}


def write_taught(path: Path) -> None:
    """Write a file with every kind of table that learning and forgetting append."""
    train_on(demo_mail()[::2], str(path))
    teach(path)


def write_histograms(path: Path) -> None:
    """Write the same, and what each table changes of histograms."""
    train_on(demo_mail()[::2], str(path))
    contents = read_contents(open_model(str(path)))
    replace_file(str(path), replace(contents, keeps_histograms=True).pack())
    teach(path)


def teach(path: Path) -> None:
    mails = [mail for _, mail in demo_mail()]
    known, new = mails[::2], mails[1::2]
    taught(path, "spam", new[:1])
    taught(path, "ham", new[1:4])
    taught(path, "ham", new[:1])  # moves: its record is taken away
    taught(path, "ham", new[4:30])  # so many are learnt by the batch engine
    taught(path, None, known[:2])
    taught(path, "spam", [*known[2:4], *new[1:2]])
    taught(path, None, new[:1])
    taught(path, "spam", new[:1])
    taught(path, "spam", known[4:5])
    taught(path, "spam", new[30:32])


def write_taught_classes(path: Path) -> None:
    """Write a file of three classes, one of which is forgotten, and a new one."""
    write_three_classes(path)
    taught(path, "metals", [b"iron, and the sun", b"lead! lead!"])
    taught(path, "animals", [b"the oak and the birch"])
    taught(path, None, [b"iron, and the sun", b"the sun, the moon"])


def write_folded(path: Path) -> None:
    """Write a file whose tail was made one table, short beside the first."""
    mails = [mail for _, mail in demo_mail()]
    train_on(demo_mail()[2:], str(path))
    taught(path, "ham", mails[:1])
    taught(path, "spam", mails[:1])
    taught(path, None, mails[2:3])
    taught(path, "ham", mails[2:3])
    taught(path, None, mails[3:4])
    compact_tail(str(path))
    assert len(tables_of(path.read_bytes())) == 2
    taught(path, "spam", mails[1:2])


def write_compacted(path: Path) -> None:
    write_taught(path)
    compact(str(path))
    taught(path, "ham", [demo_mail()[1][1]])


def write_joined(path: Path) -> None:
    write_taught(path)
    data = path.read_bytes()
    path.write_bytes(data + data)


TRAINED = [write_mail, write_three_classes, write_two_tables, write_negative_table]
TAUGHT = [
    write_taught,
    write_histograms,
    write_taught_classes,
    write_folded,
    write_compacted,
    write_joined,
]
RECORDS: dict[Callable[[Path], None], int] = {
    write_taught: 35,
    write_histograms: 35,
    write_taught_classes: 2,
    write_folded: 3,
    write_compacted: 35,
    write_joined: 35,
}
"""How many documents were learnt one by one, and are in the model."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Any], Path]:
    """Write a file once for all tests of it."""
    folder = tmp_path_factory.mktemp("files")

    def written(write: Callable[[Path], None]) -> Path:
        path = folder / f"{write.__name__}.nbt"
        if not path.exists():
            write(folder / "unfinished.nbt")
            (folder / "unfinished.nbt").rename(path)
        return path

    return written


Files = Callable[[Callable[[Path], None]], Path]
every_file = pytest.mark.parametrize("write", [*TRAINED, *TAUGHT])


@every_file
def test_a_reader_made_from_the_page_finds_the_same_counts(
    write: Callable[[Path], None], files: Files
) -> None:
    path = files(write)

    found = read_model(path.read_bytes())

    assert found == nbtext_sums(unpack(open_model(str(path))))


@every_file
def test_a_reader_made_from_the_page_finds_the_same_number_of_terms(
    write: Callable[[Path], None], files: Files
) -> None:
    path = files(write)
    model = load_model(str(path))

    found = terms_of(path.read_bytes())

    assert found == [model.n_terms(view) for view in range(len(model.settings.views))]
    entries = read_model(path.read_bytes())["entries"]
    assert sum(found) == len({place[:2] for place in entries})


@every_file
def test_a_reader_made_from_the_page_finds_the_same_histograms(
    write: Callable[[Path], None], files: Files
) -> None:
    data, model = files(write).read_bytes(), load_model(str(files(write)))

    found = histograms_of(data)

    assert found == counted_histograms(data)
    assert found == {
        view.name: {
            name: one.as_dict()
            for name, one in zip(model.classes, model.histograms(place), strict=True)
            if one != Histogram()
        }
        for place, view in enumerate(model.settings.views)
    }
    keys = [row[0] for row in tables_in("Histograms")[0]]
    shown = [[*one] for by_class in found.values() for one in by_class.values()]
    assert shown == [keys] * len(shown)
    _, header, _ = tables_of(data)[-1]
    assert ("histograms" in header) == (write is write_histograms)


@every_file
def test_a_reader_made_from_the_page_finds_the_same_history(
    write: Callable[[Path], None], files: Files
) -> None:
    path = files(write)
    headers = [header for _, header, _ in tables_of(path.read_bytes())]
    histories = [header["history"] for header in headers]
    model = open_model(str(path))

    learnt: dict[str, str] = {}
    for name, time in sorted(
        (name, time) for one in histories for name, time in one["learnt"].items()
    ):
        learnt[name] = time

    assert histories == [
        table.header.history.as_dict()
        | {"new_terms": [*table.header.history.new_terms]}
        for table in model.tables
    ]
    assert joined_history(table.header for table in model.tables) == History(
        trained=max(
            header["written"]
            if one["offset"] is None and not one["taught"] and not one["trained"]
            else one["trained"]
            for header, one in zip(headers, histories, strict=True)
        ),
        taught=sum(one["taught"] for one in histories),
        learnt=learnt,
        keep=histories[-1]["keep"],
    )


@every_file
def test_a_reader_made_from_the_page_finds_the_same_records(
    write: Callable[[Path], None], files: Files
) -> None:
    path = files(write)
    model = open_model(str(path))
    found = records_of(path.read_bytes())

    for digest, label, fingerprint in read_model(path.read_bytes())["ledger"]:
        row = Row(label, fingerprint)
        assert row in rows_of(model, digest)
        record = record_of(model, digest, row)
        if record is None:
            assert (digest, label, fingerprint) not in found
        else:
            own = found[digest, label, fingerprint]
            assert own == (record.bins, list(record.bag))
    assert len(found) == RECORDS.get(write, 0)


@every_file
def test_a_writer_made_from_the_page_writes_the_same_bytes(
    write: Callable[[Path], None], files: Files
) -> None:
    data = files(write).read_bytes()

    assert data == b"".join(
        write_table(header, arrays) for _, header, arrays in tables_of(data)
    )


@every_file
def test_the_stored_fit_is_what_a_reader_would_fit(
    write: Callable[[Path], None], files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = files(write)
    data = path.read_bytes()
    model = load_model(str(path))
    headers = [header for _, header, _ in tables_of(data)]
    starts = [None, *(start for start, _, _ in tables_of(data)[1:])]
    offsets = [header["history"]["offset"] for header in headers]
    stored = [
        calibration["fit"]
        for calibration in headers[-1]["calibrations"]
        if calibration["scoring"] | {"calibrated": True} == headers[-1]["scoring"]
    ]

    computed = fit(held_out(model), model.classes)

    assert fitted(model) == computed
    if offsets == starts:
        assert stored == [[*computed]]
        monkeypatch.setattr(
            "nbtext.scoring.held_out.fit", lambda *_: pytest.fail("it fits")
        )
        assert fitted(model) == computed
    else:
        assert write in (write_two_tables, write_joined, write_negative_table)


@pytest.mark.parametrize(
    "forged",
    [
        *([], [1.0], [1.0, 0.0], [1.0, 0.0, -1], [1.0, 0.0, 2**62], [1.0, 0.0, 1.0]),
        *([float("nan"), 0.0, 9], [1.0, float("inf"), 9], [1, 0.0, 9], "fit", 7, {}),
    ],
    ids=str,
)
def test_a_forged_fit_is_refused(forged: object, tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    write_mail(path)
    header, arrays, _ = read_table(path.read_bytes())
    header["calibrations"][0]["fit"] = forged
    path.write_bytes(write_table(header, arrays))

    with pytest.raises(ModelFileError, match="what was fitted"):
        fitted(load_model(str(path)))


def test_teaching_appends_every_kind_of_table(files: Files) -> None:
    (_, first, _), *rest = tables_of(files(write_taught).read_bytes())
    signs = [
        {n > 0 for n in (*header["documents"], *arrays["ledger.counts"])}
        for _, header, arrays in rest
    ]
    kept = [header["history"]["records"] for _, header, _ in rest]
    bins = [
        n
        for _, header, _ in rest
        for calibration in header["calibrations"]
        for *_, n in calibration["counts"]
    ]

    assert first["history"] == History().as_dict() | {"new_terms": []}
    assert signs.count({True, False}) == 3
    assert {True} in signs
    assert {False} in signs
    assert kept == [0, 3, 0, 26, 0, 3, 0, 0, 0, 2]
    assert min(bins) < 0 < max(bins)


def test_a_table_cut_off_or_without_its_first_byte_is_passed_over_by_both_readers(
    files: Files, tmp_path: Path
) -> None:
    whole = files(write_taught).read_bytes()
    last = tables_of(whole)[-1][0]
    before = read_model(whole[:last])
    path = tmp_path / "model.nbt"

    ends = range(last, len(whole) - ALIGNMENT, 2999)
    cut = [whole[:end] for end in ends]
    without = [whole[:last] + b"\0" + whole[last + 1 : end] for end in (*ends, None)]
    for data in (*cut, *without):
        path.write_bytes(data)

        assert read_model(data) == before
        assert open_model(str(path)).size == last


def test_every_taught_and_joined_model_stays_exact(files: Files) -> None:
    one, both = (
        read_model(files(w).read_bytes()) for w in (write_taught, write_joined)
    )

    assert both == {
        part: {place: 2 * n for place, n in sums.items()} for part, sums in one.items()
    }


def test_what_was_taken_away_is_as_if_it_had_not_been_there(tmp_path: Path) -> None:
    path, kept = tmp_path / "model.nbt", tmp_path / "kept.nbt"
    write_negative_table(path)
    train_on(demo_mail()[:30] + demo_mail()[60:], str(kept))

    assert read_model(path.read_bytes()) == read_model(kept.read_bytes())


def test_a_key_is_found_in_place_with_the_same_counts(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    write_two_tables(path)
    taught(path, "ham", [demo_mail()[-1][1]])
    model = load_model(str(path))
    entries = read_model(path.read_bytes())["entries"]

    for view, key in sorted({place[:2] for place in entries})[::7]:
        number = [one.name for one in model.settings.views].index(view)
        for class_, (occurrences, documents) in model.found(number, (key,))[key]:
            name = model.classes[class_]
            assert entries[view, key, name, "occurrences"] == occurrences
            assert entries[view, key, name, "documents"] == documents


def test_the_header_is_as_the_page_says(files: Files) -> None:
    data = files(write_three_classes).read_bytes()
    header, _, length = read_table(data)
    keys, settings, view, scoring, history = (
        [row[0] for row in table] for table in tables_in("The header")
    )

    begin = bytes.fromhex(in_page(r"bytes `(de .*?)`"))
    assert data.startswith(b"\xde\0" + bytes([begin[2] + 1]) + begin[3:])
    assert length == len(data)
    assert data[-14:-8] == bytes.fromhex(in_page(r"14 bytes: `(.*?)`"))
    # one key more than the page lists, since what is trained has texts
    arrays = keys.index("arrays")
    assert list(header) == [*keys[:arrays], "texts", *keys[arrays:]]
    assert [*header["settings"], "secret", "idf_documents"] == settings
    assert [*header["settings"]["views"][0], "threes"] == view
    optional = ["class_prior", "unknown", "attributes"]
    assert [*header["scoring"], *optional] == scoring
    assert [*header["history"], "run"] == history
    (calibration,) = tables_in("Calibration")
    assert list(header["calibrations"][0]) == [row[0] for row in calibration]
    default = default_scoring("mail", 3)  # but for what held-out documents choose
    chosen = default.with_parameters(**header["scoring"]["parameters"])
    assert header["scoring"] == chosen.as_dict()
    assert (
        header["version"] == VERSION == int(in_page(r"# The model file, version (\d)"))
    )


@pytest.mark.parametrize("weights", [False, True], ids=["plain", "weights"])
@pytest.mark.parametrize("ledger", [False, True], ids=["no ledger", "ledger"])
@pytest.mark.parametrize("records", [0, 3])
@pytest.mark.parametrize("corrected", [False, True], ids=["", "corrected"])
@pytest.mark.parametrize("named", [False, True], ids=["", "texts"])
def test_arrays_and_their_types_are_those_of_the_page(
    weights: bool, ledger: bool, records: int, corrected: bool, named: bool
) -> None:
    _, amounts = tables_in("Corrections")
    counts, documents, undo, last = tables_in("The arrays")
    settings = Settings(
        format="text",
        views=(BODY._replace(columns=WEIGHTED if weights else UNWEIGHTED),),
        ledger=ledger,
    )

    shown: dict[str, tuple[str, ...]] = {}
    for name, types, *_ in counts:
        columns = (
            settings.views[0].columns if name.startswith("one for each") else [name]
        )
        shown |= {f"body.{column}": types_of(types) for column in columns}
    if ledger:
        shown |= {name: types_of(types) for name, types, _ in documents}
    if corrected:
        shown |= {
            f"body.correction.{name}": types_of(types) for name, types, *_ in counts[:5]
        }
        shown |= {"body.correction.value": TYPES}
        shown |= {name: types_of(types) for name, types, _ in amounts}
    if records:
        shown |= {
            name.replace("VIEW", "body"): types_of(types) for name, types, _ in undo
        }
    if named:
        ((name, types, _),), _ = tables_in("Texts")
        shown |= {name.replace("VIEW", "body"): types_of(types)}
    shown |= {name: types_of(types) for name, types, _ in last}
    found = array_types(settings, records, is_corrected=corrected, has_texts=named)
    assert list(found.items()) == list(shown.items())


def test_texts_are_as_the_page_says(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    texts = [("spam", f"win Cash {n}") for n in "abc"]
    train_on([*texts, ("ham", "hello")], str(path), overrides=FEW_TERMS)
    header, arrays, _ = read_table(path.read_bytes())
    (view,) = header["settings"]["views"]
    assert header["texts"] == [3]
    packed_texts = bytes(arrays["texts.body"])
    assert packed_texts.endswith(b"\xff")
    found = [text.split(b"\0") for text in packed_texts[:-1].split(b"\xff")]
    assert sorted(found) == [[b"Cash"], [b"win"], [b"win", b"cash"]]
    keys = [key_of_text(view, parts) for parts in found]
    stored = [key for key, *_ in entries_of(view, header, arrays)]
    assert keys == sorted(set(keys))
    assert set(keys) <= set(stored)
    # and the examples of the page
    _, rows = tables_in("Texts")
    for what, text, key in rows:
        parts = bytes.fromhex(text)[:-1].split(b"\0")
        of_page = {"fields": "fields" in what}
        assert f"{key_of_text(of_page, parts):012x}" == key


def key_of_text(view: dict[str, Any], parts: list[bytes]) -> int:
    """Return the key of a term from the parts of its text."""
    decoded = [part.decode() for part in parts]
    field = salt(decoded.pop(0)) if view["fields"] else 0
    hashes = [token_hash(token, field) for token in decoded]
    return (pair_hash(*hashes) if len(hashes) > 1 else hashes[0]) >> KEY_SHIFT


def test_a_correction_says_of_itself_what_the_page_lists(tmp_path: Path) -> None:
    facts, _ = tables_in("Corrections")
    data = packed(counted(TEXTS, WEIGHTS), correction=a_correction())

    header, arrays, _ = read_table(data)

    keys = [*header]
    assert keys[keys.index("history") : keys.index("arrays") + 1] == [
        "history",
        "correction",
        "arrays",
    ]
    assert sorted(header["correction"]) == sorted(row[0] for row in facts)
    view = header["settings"]["views"][0]
    of_values = view | {"name": "body.correction", "columns": ["value"]}
    entries = [*entries_of(of_values, header, arrays)]
    assert entries == [(7, 0, {"value": 65535}), (7, 1, {"value": -2 * 65535})]
    assert [arrays[f"amounts.{name}"] for name in ("sizes", "classes", "values")] == [
        (2,),
        (0, 1),
        (1, -2),
    ]
    assert header["correction"]["biases"] == [1, -2]
    limit = int(in_page(r"up to 10\^(\d): what these scores"))
    assert 10.0**limit == LARGEST_SLOPE
    assert int(in_page(r"at most (\d+) numbers by name")) == MOST_FACTS


TEXTS = [("ham", "lunch"), ("spam", "cheap pills")]


def a_correction() -> Correction:
    """Return what one document adds that has one term, whose key is 7."""
    scoring = default_scoring("mail", 3).of_scores()
    info = CorrectionInfo(scoring, 0.5, 1.25, 1, {"passes": 3})
    entries = np.array([[1, 2, 3]] * 2, np.uint64)
    amounts = np.array([1, -2])
    view = (np.full(2, 7, np.uint64), np.arange(2), amounts * UNIT)
    of_rows = (entries, np.zeros(2, np.int64), np.arange(2), amounts)
    return correction_of(info, ("ham", "spam"), [view], of_rows)


def types_of(cell: str) -> tuple[str, ...]:
    return TYPES if cell == "any" else tuple(cell.split(", "))


def test_numbers_are_those_of_the_page() -> None:
    ((types, *_),) = [tables_in("A table, byte by byte")[0]]
    limits = dict(tables_in("Limits")[0])

    assert types == [
        "u1",
        "unsigned, 1 byte",
        "i1",
        "signed (two's complement), 1 byte",
    ]
    assert limits["a header"].startswith(f"{MOST_HEADER >> 20} MiB")
    assert limits["classes"] == f"{MOST_CLASSES:,}"
    assert f"{FORGOTTEN} stands for counts that are **not known" in PAGE
    assert f"`calibrations`; {NO_BIN} where there is none" in PAGE
    assert f"between {-FARTHEST_BIN} and {FARTHEST_BIN}." in PAGE
    assert 1 << int(in_page(r"from -2\^\d+ to 2\^(\d+) in a table")) == MOST
    assert f"`keep` {KEPT_RECORDS}" in PAGE
    assert LEFTOVER == 60
    assert "older\n  than a minute" in PAGE
    scoring = {row[0]: row[2] for row in tables_in("The header")[3]}
    assert scoring["smoothing"] == f"from {SMALLEST:.0e} to {LARGEST:.0e}".replace(
        "e-09", "e-9"
    ).replace("e+09", "e9")


def number_of(total: Any) -> Fraction:
    """A sum of numbers, as the page says it is written."""
    if isinstance(total, int):
        return Fraction(total)
    exponent, mantissa = total
    odd = int.from_bytes(mantissa, "big", signed=True)
    demand(odd % 2 == 1)
    whole: Fraction = odd * Fraction(2) ** exponent
    return whole


def test_columns_of_tables_are_as_the_page_says(tmp_path: Path) -> None:
    path, numbers = tmp_path / "model.nbt", [0.1, -3.0, 5e-324, 1e308]
    rows = [
        f"{kind},{city},{number!r}"
        for kind in "xy"
        for city, number in zip(["Rome", "Oslo", "", "Rome"], numbers, strict=True)
    ]
    table = tmp_path / "rows.csv"
    table.write_text("\n".join(["kind,city,age", *rows]))
    options = Options(
        label_column="kind", categorical_columns=("city",), numeric_columns=("age",)
    )

    train([str(table)], str(path), options=options)

    header, arrays, _ = read_table(path.read_bytes())
    (described,) = tables_in("Views of columns")
    names = [row[0] for row in described]
    value, number = header["settings"]["views"]
    assert header["settings"]["fields"] == {"city": "value", "age": "number"}
    assert list(value) == list(number) == names
    assert [value["field"], value["kind"]] == ["city", "value"]
    assert [number["field"], number["kind"]] == ["age", "number"]
    columns = value["columns"] + number["columns"]
    assert set(columns) <= {*re.findall(r"\w+", described[-1][2])}
    assert sorted(arrays["city.keys"]) == sorted(
        token_hash(city) >> KEY_SHIFT for city in ("Rome", "Oslo")
    )
    assert header["terms"] == [2, 0]
    assert not any(arrays[f"age.{name}"] for name in number["columns"])
    of_values, of_numbers = header["totals"]
    assert of_values == [[3, 3], [3, 3]]
    for totals in of_numbers:
        assert [*map(number_of, totals)] == [
            len(numbers),
            sum(map(Fraction, numbers)),
            sum(Fraction(one) ** 2 for one in numbers),
        ]
    assert header["scoring"]["attributes"] == {
        "category_smoothing": 1.0,
        "variance_smoothing": 1e-9,
    }


def test_a_policy_stands_before_the_arrays_and_has_the_keys_of_the_page() -> None:
    policy = Policy(
        prior=(("a", 0.2),), costs=(Cost("a", "b", 9.0), Cost("a", None, 0.5))
    )

    header, _, _ = read_table(packed(counted(TEXTS, WEIGHTS), policy=policy))

    (rows,) = tables_in("Policies")
    keys = [*header]
    assert keys[keys.index("arrays") - 1] == "policy"
    assert sorted(header["policy"]) == sorted(name for name, *_ in rows)
    assert header["policy"] == {
        "threshold": 0.0,
        "prior": {"a": 0.2},
        "costs": [["a", "b", 9.0], ["a", None, 0.5]],
        "max_false_positives": None,
    }
    assert f"At most {MOST_COSTS:,}" in PAGE
    plain, _, _ = read_table(packed(counted(TEXTS, WEIGHTS)))
    assert "policy" not in plain


@pytest.mark.parametrize(
    "forged", [None, 7, {}, {"threshold": 2.0}, {"prior": {"a": 1}}], ids=str
)
def test_a_forged_policy_is_damage(forged: Any, tmp_path: Path) -> None:
    table = packed(counted(TEXTS, WEIGHTS), policy=Policy(prior=(("a", 0.2),)))
    header, arrays, _ = read_table(table)
    if isinstance(forged, dict) and forged:
        forged = header["policy"] | forged
    header["policy"] = forged
    (tmp_path / "model.nbt").write_bytes(write_table(header, arrays))

    with pytest.raises(DamagedError, match="policy"):
        open_model(str(tmp_path / "model.nbt"))


CHECKED = {
    "A table, byte by byte": 1,
    "The header": 5,
    "The arrays": 4,
    "Histograms": 1,
    "Calibration": 1,
    "Corrections": 2,
    "Policies": 1,
    "Keys": 2,
    "Tokens": 2,
    "Byte n-grams": 2,
    "The table of code points": 1,
    "Columns": 1,
    "Views of columns": 1,
    "Digests": 1,
    "Keyed models": 2,
    "Texts": 2,
    "Limits": 1,
    "Room": 1,
}
"""How many tables each section has: all of them are held to the code here."""


def keyed_hash(name: str, secret: bytes, data: bytes, size: int = 8) -> bytes:
    """The hash of a keyed model, for a purpose."""
    key = blake2b(key=secret, digest_size=32, person=name.encode()).digest()
    return blake2b(data, key=key, digest_size=size).digest()


def test_keyed_models_are_as_the_page_says(tmp_path: Path) -> None:
    secret = bytes(range(32))
    (tmp_path / "secret").write_bytes(secret)
    (tmp_path / "secret").chmod(0o600)
    path = str(tmp_path / "model.nbt")
    texts = [("a", "hello world"), ("b", "caf\u00e9"), ("b", "hello")]
    train_on(texts, path, keyed=str(tmp_path / "secret"))
    header, arrays, _ = read_table(Path(path).read_bytes())
    recipe, values = tables_in("Keyed models")
    value_of = {what.replace("`", ""): value for what, value in values}
    tokens = {
        text: keyed_hash("nbtext token", secret, text.encode())
        for text in ("hello", "world", "caf\u00e9")
    }
    pair = keyed_hash("nbtext pair", secret, tokens["hello"] + tokens["world"])
    field = keyed_hash("nbtext field", secret, b"subject", 32)
    in_field = blake2b(b"hello", key=field, digest_size=8).digest()
    digest = keyed_hash(
        "nbtext digest",
        secret,
        bytes.fromhex(tables_in("Digests")[0][0][1].strip("`")),
        16,
    )
    keys = {
        "token hello": tokens["hello"],
        r"token caf\u00e9": tokens["caf\u00e9"],
        "pair hello, world": pair,
        "token hello of the field subject": in_field,
        "n-gram hello": keyed_hash("nbtext ngram", secret, b"hello"),
    }

    assert value_of == {
        what: f"{int.from_bytes(hashed, 'little') >> 16:012x}"
        for what, hashed in keys.items()
    } | {
        "secret of the settings": header["settings"]["secret"],
        "digest of the text hello": digest.hex(),
    }
    in_model = {int.from_bytes(key, "little") >> 16 for key in (*tokens.values(), pair)}
    assert {*arrays["body.keys"]} == in_model
    assert int.from_bytes(digest[:8], "big") in arrays["ledger.high"]
    assert "nbtext secret" in str(recipe)
    fingerprint = blake2b(key=secret, digest_size=16, person=b"nbtext secret")
    assert header["settings"]["secret"] == fingerprint.hexdigest()
    names = re.findall(r"K\(`nbtext (.*?)`\)", str(recipe))
    assert names == ["token", "field", "pair", "ngram", "digest"]
    secret_in_use = header["settings"]["secret"]
    for view, what in (
        (NGRAMS, "n-gram hello"),
        (HEADERS, "token hello of the field subject"),
    ):
        found = keys_in_use(view, [("subject", "hello")], secret_in_use)
        assert value_of[what] in {f"{key:012x}" for key in found}


def test_no_table_of_the_page_goes_unchecked() -> None:
    titles = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)

    found = {title: len(tables_in(title)) for title in titles}

    assert {title: n for title, n in found.items() if n} == CHECKED


RESERVED = re.findall(r"\*`([A-Za-z0-9_.]+)`", PAGE[PAGE.index("## Room") :])


@pytest.mark.parametrize("name", RESERVED)
@pytest.mark.parametrize(
    "where", ["header", "settings", "view", "calibration", "array"]
)
def test_what_is_reserved_is_refused_by_name(
    where: str, name: str, tmp_path: Path
) -> None:
    train_on([("a", "x y"), ("b", "z")], str(tmp_path / "model.nbt"))
    header, arrays, _ = read_table((tmp_path / "model.nbt").read_bytes())
    places = {
        "header": header,
        "settings": header["settings"],
        "view": header["settings"]["views"][0],
        "calibration": header["calibrations"][0],
    }
    if where == "array":
        last = header["arrays"].pop()
        header["arrays"] += [[name, "u1", 1], last]
        sums = arrays.pop("checksums")
        arrays |= {name: (0,), "checksums": sums}
    else:
        places[where][name] = None
        header["header_checksum"] = header.pop("header_checksum")
    arrays["checksums"] = (0,)
    (tmp_path / "model.nbt").write_bytes(write_table(header, arrays))

    with pytest.raises(ModelFileError, match=re.escape(repr(name))):
        fitted(load_model(str(tmp_path / "model.nbt")))


def test_the_example_is_a_table() -> None:
    texts = [("ham", "lunch on friday"), ("spam", "cheap cheap lunch")]
    data = packed(counted(texts, TEXT_WORDS), scoring_of("mean"))
    lines = re.findall(
        r"^    ([0-9a-f]{4})  ((?:[0-9a-f]{2} ?){16})", PAGE, re.MULTILINE
    )

    for start, shown in lines:
        assert data[int(start, 16) :][:16] == bytes.fromhex(shown)
    assert len(lines) == 22
    _, arrays, _ = read_table(data)
    words = ["cheap", "lunch", "friday", "on"]
    assert arrays["body.keys"] == tuple(hash_of(word, 0) >> 16 for word in words)
    assert arrays["checksums"] == (crc32(data[0x340:0x602]),)


def test_histograms_stand_behind_the_history_and_the_example_has_them() -> None:
    texts = [("ham", "lunch on friday"), ("spam", "cheap cheap lunch")]
    contents = Contents(
        counted(texts, TEXT_WORDS), scoring_of("mean"), keeps_histograms=True
    )

    header, _, _ = read_table(b"".join(map(bytes, contents.pack())))

    keys = [*header]
    assert keys[keys.index("history") + 1 : keys.index("arrays")] == ["histograms"]
    shown = in_page(r"it would be `(\{[^`]*)`").replace("\n", " ")
    assert header["histograms"] == json.loads(shown)
    assert f"{MOST_NUMBERS:,}" == in_page(r"more than ([\d,]+) `terms` would")


def test_names_are_reserved() -> None:
    assert "design" in RESERVED


def in_page(pattern: str) -> str:
    found = re.search(pattern, PAGE)
    assert found is not None
    return found[1]


def tables_in(title: str) -> list[list[list[str]]]:
    """Return the tables of a section, row by row, without their headings."""
    section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    tables = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
    return [
        [[cell.strip(" `") for cell in line[1:-1].split("|")] for line in lines]
        for lines in (table.splitlines()[2:] for table in tables)
    ]


def rows_of_table(heading: str) -> list[list[str]]:
    start = PAGE.index(heading) + len(heading)
    lines = PAGE[start : PAGE.index("\n\n", start)].splitlines()
    return [[cell.strip(" `") for cell in line[1:-1].split("|")] for line in lines]


def keys_of_table(heading: str) -> list[str]:
    return [row[0] for row in rows_of_table(heading)]


MASK = 2**64 - 1
BASE, SPREAD, PAIR, MIX = (
    int(in_page(rf"{name} += ([0-9a-f]{{16}})"), 16)
    for name in ("BASE", "SPREAD", "PAIR", "MIX")
)


def mix(x: int) -> int:
    z = (x ^ x >> 32) * MIX & MASK
    return z ^ z >> 29


def hash_of(token: str, salt: int) -> int:
    data = token.encode("utf-8", "surrogatepass")
    words = [data[start : start + 8] for start in range(0, len(data), 8)]
    total = sum(int.from_bytes(w, "little") * BASE**i for i, w in enumerate(words))
    return mix((total + salt) * SPREAD & MASK)


def salt_of(field: str) -> int:
    digest = blake2b(field.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") if field else 0


@pytest.mark.parametrize("row", rows_of_table("| field | salt |\n|---|---|\n"))
def test_salts_are_those_of_the_page(row: list[str]) -> None:
    field, shown = row[0], int(row[1], 16)

    assert salt(field) == salt_of(field) == shown


@pytest.mark.parametrize(
    "row", rows_of_table("| field | token | second token | key |\n|---|---|---|---|\n")
)
def test_keys_are_those_of_the_page(row: list[str]) -> None:
    field, token, second, shown = row[0], json.loads(row[1]), row[2], int(row[3], 16)
    own = hash_of(token, salt_of(field))
    nbtexts = token_hash(token, salt(field) if field else 0)
    if second:
        other = json.loads(second)
        own = mix((own * PAIR + hash_of(other, salt_of(field))) & MASK)
        nbtexts = pair_hash(nbtexts, token_hash(other, salt(field) if field else 0))

    assert own >> 16 == nbtexts >> 16 == shown


def test_a_view_of_fields_salts_its_keys() -> None:
    assert list(keys(HEADERS, [("subject", "Hello")])) == [0x536C_F932_4250]


ALPHABETS: tuple[Alphabet, ...] = ("fields", "words", "marks")
TOKEN_ROWS = rows_of_table("| text | alphabet | tokens | folded |\n|---|---|---|---|\n")
KINDS = {
    row[0]: [int(kind) for kind in row[1:]]
    for row in rows_of_table(
        "| alphabet | space | bracket | punctuation | word | single | picture |\n"
        "|---|---|---|---|---|---|---|\n"
    )
}


def tokens_of(text: str, alphabet: str) -> list[str]:
    found, before = [""], 0
    for character in text:
        kind = KINDS[alphabet][class_and_fold(ord(character))[0]]
        kind = kind if ord(character) else 0
        if kind in (0, 3) or kind != before:
            found.append("")
        if kind:
            found[-1] += character
        before = kind
    return [token for token in found if token]


@pytest.mark.parametrize("row", TOKEN_ROWS)
def test_tokens_are_those_of_the_page(row: list[str]) -> None:
    text = json.loads(row[0])
    alphabet = next(one for one in ALPHABETS if one == row[1])
    shown, shown_folded = json.loads(row[2]), json.loads(row[3])
    folded = [
        "".join(chr(class_and_fold(ord(one))[1]) for one in token) for token in shown
    ]

    found = list(tokens(text, alphabet))
    assert tokens_of(text, alphabet) == found == shown
    assert folded == [fold(token) for token in shown] == shown_folded


NGRAM_ROWS = rows_of_table("| text | n-gram, in hexadecimal | key |\n|---|---|---|\n")


RUN_ROWS = rows_of_table("| text | run, in hexadecimal | key |\n|---|---|---|\n")


def ngrams_of(text: str, threes: int = 0) -> list[bytes]:
    written = ""
    for character in text[:6000]:
        class_, code = class_and_fold(ord(character))
        is_space = class_ == 0
        if not (is_space and (not written or written.endswith(" "))):
            folded = "0" if character in "123456789" else chr(code)
            written += " " if is_space else folded
    data = written.encode()[:4000].rstrip(b" ")
    if data:
        data = b"\n" * 4 + data + b"\n" * 4
    found = [data[start : start + 5] for start in range(len(data) - 4)]
    starts = [n for n, byte in enumerate(data) if not 0x80 <= byte < 0xC0]
    for start, second, _, end in zip(*(starts[n:] for n in range(4)), strict=False):
        begins = threes and 3 <= start < 4 + threes
        if begins and data[second] not in b" \n" and end - start in (3, 4):
            found.append(data[start:end])
    return found


@pytest.mark.parametrize("text", dict.fromkeys(row[0] for row in RUN_ROWS))
def test_runs_of_three_are_those_of_the_page(text: str) -> None:
    rows = [row for row in RUN_ROWS if row[0] == text]
    view, fields = NGRAMS._replace(threes=9), [("body", json.loads(text))]
    found = ngrams_of(json.loads(text), 9)
    numbers = [int.from_bytes(ngram, "little") + 1 for ngram in found]
    keys = [mix(number * SPREAD & MASK) >> 16 for number in numbers]
    runs = [(run.hex(), f"{key:012x}") for run, key in zip(found, keys, strict=True)]

    assert [ngram for ngram in found if len(ngram) == 5] == ngrams_of(json.loads(text))
    assert found == list(ngrams(view, fields))
    assert [run for run in runs if len(run[0]) < 10] == [tuple(row[1:]) for row in rows]
    assert sorted(keys_in_use(view, fields)) == sorted(keys)


@pytest.mark.parametrize("text", dict.fromkeys(row[0] for row in NGRAM_ROWS))
def test_ngrams_are_those_of_the_page(text: str) -> None:
    rows = [row for row in NGRAM_ROWS if row[0] == text]
    shown = [bytes.fromhex(row[1]) for row in rows]
    keys_shown = [int(row[2], 16) for row in rows]
    fields = [("body", json.loads(text))]
    own = [int.from_bytes(ngram, "little") + 1 for ngram in shown]

    assert ngrams_of(json.loads(text)) == list(ngrams(NGRAMS, fields)) == shown
    assert [mix(number * SPREAD & MASK) >> 16 for number in own] == keys_shown
    assert sorted(keys_in_use(NGRAMS, fields)) == sorted(keys_shown)


def test_the_table_of_code_points_is_the_one_named() -> None:
    data = (ROOT / "nbtext" / "tokens" / "codepoints-3.bin").read_bytes()

    assert sha256(data).hexdigest() == in_page(r"`([0-9a-f]{64})`")
    assert f"{len(data):,} bytes" in PAGE


def log_of(n: int) -> int:
    return round(2048 * log(1 + min(n, 2**24 - 1)))


def test_weights_are_those_of_the_page() -> None:
    heading = "| n | l | the document's n | squared length | weight |\n"
    rows = rows_of_table(heading + "|---" * 5 + "|\n")
    for n, one, document, squares, weight in rows:
        logs = [log_of(int(count)) for count in document.split(", ")]
        assert log_of(int(n)) == int(one)
        assert sum(value * value for value in logs) == int(squares)
        assert isqrt(65535**2 * int(one) ** 2 // int(squares)) == int(weight)


def ledger_of(path: Path) -> list[tuple[str, str, int]]:
    rows = read_model(path.read_bytes())["ledger"]
    return sorted((label, digest.hex(), mark) for digest, label, mark in rows)


def test_digests_and_weights_of_texts_are_those_of_the_page(tmp_path: Path) -> None:
    shown = dict(rows_of_table("| document | digest |\n|---|---|\n"))
    path = tmp_path / "model.nbt"
    train_on([("a", "hello"), ("b", "a a b"), ("c", "x")], str(path))
    found = read_model(path.read_bytes())

    assert ledger_of(path)[0][:2] == ("a", shown["text `hello"])
    identity = blake2b(b"42", digest_size=16, person=b"nbtext identity")
    assert identity.hexdigest() == shown["identity `42"]
    columns = b"".join(
        len(text).to_bytes(8, "little") + text for text in (b"hello", b"world")
    )
    both = blake2b(columns, digest_size=16).hexdigest()
    assert both == shown["two columns, `hello` and `world"]
    # a, b, and the pairs a a and a b
    squares = log_of(2) ** 2 + 3 * log_of(1) ** 2
    key = hash_of("a", 0) >> 16
    assert found["entries"]["body", key, "b", "weight"] == isqrt(
        65535**2 * log_of(2) ** 2 // squares
    )


def test_the_digest_of_the_mail_is_that_of_the_page() -> None:
    shown = dict(rows_of_table("| document | digest |\n|---|---|\n"))["the mail below"]
    start = PAGE.index("    From: jo@")
    lines = PAGE[start : PAGE.index("\n## ", start)].splitlines()
    mail = "\n".join(line[4:] for line in lines).encode()

    assert read_mail(mail).digest.hex() == shown
    subject = b"24:Key of the store"
    assert subject[3:] in b" ".join(mail.split())


def test_the_fingerprint_is_that_of_the_page(tmp_path: Path) -> None:
    def scramble(x: int) -> int:
        return mix(mix(x))

    a, b = hash_of("a", 0) >> 16, hash_of("b", 0) >> 16
    views = [{a: 2, b: 1}, {a: 1}]
    total = 1 + sum(
        scramble(((2 * v + 1) * key + n) & MASK)
        for v, terms in enumerate(views, 1)
        for key, n in terms.items()
    )
    path = tmp_path / "model.nbt"
    overrides = SettingsOverrides(byte_ngrams=False)
    train_on([("a", "x y"), ("b", "z")], str(path), overrides=overrides)
    x, y = hash_of("x", 0), hash_of("y", 0)
    pair = mix((x * PAIR + y) & MASK)
    of_terms = sum(
        scramble((3 * key + 1) & MASK) for key in (x >> 16, y >> 16, pair >> 16)
    )
    of_document = (1 + of_terms) & MASK

    assert total & MASK == int(in_page(r"second has\s`([0-9a-f]{16})`"), 16)
    assert ledger_of(path)[0][2] == of_document


def test_a_cut_off_tail_is_passed_over_and_said(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    write_three_classes(path)
    whole = path.read_bytes()

    for size in (1, 7, 8, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole + b"\0" + whole[1:size])
        found = open_model(str(path))
        assert len(found.tables) == 1
        assert f"the last {size} bytes" in found.notes[0]
        path.write_bytes(whole + whole[:size])
        found = open_model(str(path))
        assert (len(found.tables), found.notes) == (1, ())
        assert f"the table at byte {len(whole)} is passed over" in found.warnings[0]
