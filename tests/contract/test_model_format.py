"""
docs/model-format.md is enough to read a model, and the values in it are right.

`read_model` and what it calls know that page, msgpack and the standard library, and
nothing of nbtext. What they find in files that nbtext wrote is what nbtext finds.
"""

import json
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import blake2b, sha256
from itertools import accumulate
from math import isqrt
from pathlib import Path
from typing import Any

import msgpack
import pytest

from nbtext import Scoring, train_on
from nbtext.counts import CountTable
from nbtext.mail import read_mail
from nbtext.model import load_model
from nbtext.modelfile import open_model
from nbtext.packing import pack_table, unpack
from nbtext.settings import HEADERS, Alphabet, default_scoring
from nbtext.tokens import fold, keys, pair_key, salt, token_key, tokens

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "model-format.md").read_text(encoding="utf-8")
TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8")
CODES = dict(zip(TYPES, "BHIQbhiq", strict=True))

PARTS = ("entries", "totals", "documents", "ledger")
"""Of the sum of a file's tables."""

# from here to `class_and_fold` nothing is known but the page


def read_model(data: bytes) -> dict[str, Any]:
    """Return the sum of a file's tables, zeros left out."""
    entries: Counter[tuple[str, int, str, str]] = Counter()
    totals: Counter[tuple[str, str, str]] = Counter()
    documents: Counter[str] = Counter()
    ledger: Counter[tuple[bytes, str, int]] = Counter()
    start = 0
    while start < len(data):
        header, arrays, length = read_table(data[start:])
        start += length
        classes, settings = header["classes"], header["settings"]
        documents.update(dict(zip(classes, header["documents"], strict=True)))
        for view, by_class in zip(settings["views"], header["totals"], strict=True):
            for class_, sums in zip(classes, by_class, strict=True):
                for column, total in zip(settings["columns"], sums, strict=True):
                    totals[view["name"], class_, column] += total
            for key, place, columns in entries_of(view["name"], settings, arrays):
                for column, value in columns.items():
                    entries[view["name"], key, classes[place], column] += value
        if settings["ledger"]:
            names = ("high", "low", "fingerprints", "classes", "counts")
            rows = zip(*(arrays[f"ledger.{name}"] for name in names), strict=True)
            for high, low, fingerprint, place, n in rows:
                digest = high.to_bytes(8, "big") + low.to_bytes(8, "big")
                ledger[digest, classes[place], fingerprint] += n
    sums = (entries, totals, documents, ledger)
    kept = [{place: n for place, n in one.items() if n} for one in sums]
    return dict(zip(PARTS, kept, strict=True))


def read_table(data: bytes) -> tuple[dict[str, Any], dict[str, tuple[int, ...]], int]:
    unpacker = msgpack.Unpacker(max_buffer_size=len(data))
    unpacker.feed(data)
    header = unpacker.unpack()
    end = unpacker.tell()
    assert (header["format"], header["version"]) == ("nbtext count table", 1)
    assert data[end - 8 : end] == blake2b(data[: end - 8], digest_size=8).digest()
    arrays, checksum = {}, blake2b(digest_size=16)
    for name, kind, length in header["arrays"]:
        while (found := unpacker.unpack()) is None:
            pass
        assert (unpacker.tell() - len(found)) % 64 == 0
        checksum.update(found)
        arrays[name] = struct.unpack(f"<{length}{CODES[kind]}", found)
    assert checksum.digest() == header["arrays_checksum"]
    while (found := unpacker.unpack()) is None:
        pass
    assert found == ["end", unpacker.tell()]
    assert unpacker.tell() % 64 == 0
    return header, arrays, unpacker.tell()


def entries_of(
    view: str, settings: dict[str, Any], arrays: dict[str, tuple[int, ...]]
) -> Iterator[tuple[int, int, dict[str, int]]]:
    """Yield the key, the place of the class, and the columns of each entry."""
    columns = settings["columns"]
    once, rest = arrays[f"{view}.once.keys"], arrays[f"{view}.keys"]
    assert all(list(part) == sorted(set(part)) for part in (once, rest))
    assert not set(once) & set(rest)
    for number, key in enumerate(once):
        counts = {"occurrences": 1, "documents": 1}
        if "weight" in columns:
            counts["weight"] = arrays[f"{view}.once.weight"][number]
        yield key, arrays[f"{view}.once.classes"][number], counts
    sizes = arrays[f"{view}.sizes"]
    starts = list(accumulate(sizes, initial=0))
    assert list(arrays[f"{view}.starts"]) == starts[:-1][::64]
    for key, start, size in zip(rest, starts, sizes, strict=False):
        for entry in range(start, start + size):
            counts = {name: arrays[f"{view}.{name}"][entry] for name in columns}
            yield key, arrays[f"{view}.classes"][entry], counts


def class_and_fold(code: int) -> tuple[int, int]:
    """Return the class and the folded form of a code point."""
    table = (ROOT / "nbtext" / "codepoints-1.bin").read_bytes()
    c, f = struct.unpack_from("<HH", table)
    assert len(table) == 2 * (2 + 4352) + 256 * c + 1024 * f
    class_ = table[4 + 4352 + 256 * table[4 + (code >> 8)] + (code & 255)]
    second = 4 + 4352 + 256 * c
    place = second + 4352 + 1024 * table[second + (code >> 8)] + 4 * (code & 255)
    return class_, code + struct.unpack_from("<i", table, place)[0]


def nbtext_sums(table: CountTable) -> dict[str, Any]:
    """Return the same from nbtext's own reading."""
    names = [view.name for view in table.settings.views]
    columns = table.settings.columns
    cells = [
        ((view, class_), run)
        for view, runs in zip(names, table.runs, strict=True)
        for class_, run in zip(table.classes, runs, strict=True)
    ]
    return {
        "entries": {
            (view, key, class_, column): n
            for (view, class_), run in cells
            for column, values in zip(columns, run.columns, strict=True)
            for key, n in zip(run.keys.tolist(), values.tolist(), strict=True)
            if n
        },
        "totals": {
            (*place, column): run.total(number)
            for place, run in cells
            for number, column in enumerate(columns)
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
    train_on(THREE_CLASSES, str(path))


def write_two_tables(path: Path) -> None:
    train_on(demo_mail()[:50], str(path))
    first = path.read_bytes()
    train_on(demo_mail()[40:], str(path))
    path.write_bytes(first + path.read_bytes())


def write_negative_table(path: Path) -> None:
    train_on(demo_mail()[30:60], str(path.with_suffix(".part")))
    part = unpack(open_model(str(path.with_suffix(".part"))))
    train_on(demo_mail(), str(path))
    negative = pack_table(
        -part, scoring=default_scoring(2), calibration=NOTHING, written="", writer=""
    )
    path.write_bytes(path.read_bytes() + b"".join(negative))


NOTHING: dict[str, Any] = {
    "scoring": None,
    "counts": [],
    "losses": [],
    "documents": {},
}


@pytest.mark.parametrize(
    "write", [write_mail, write_three_classes, write_two_tables, write_negative_table]
)
def test_a_reader_made_from_the_page_finds_the_same_counts(
    write: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / "model.nbt"
    write(path)

    found = read_model(path.read_bytes())

    assert found == nbtext_sums(unpack(open_model(str(path))))


def test_what_was_taken_away_is_as_if_it_had_not_been_there(tmp_path: Path) -> None:
    path, kept = tmp_path / "model.nbt", tmp_path / "kept.nbt"
    write_negative_table(path)
    train_on(demo_mail()[:30] + demo_mail()[60:], str(kept))

    assert read_model(path.read_bytes()) == read_model(kept.read_bytes())


def test_a_key_is_found_in_place_with_the_same_counts(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    write_two_tables(path)
    model = load_model(str(path))
    entries = read_model(path.read_bytes())["entries"]

    for view, key in sorted({place[:2] for place in entries})[::7]:
        number = [one.name for one in model.settings.views].index(view)
        for class_, (occurrences, documents) in model.entries(number, key):
            name = model.classes[class_]
            assert entries[view, key, name, "occurrences"] == occurrences
            assert entries[view, key, name, "documents"] == documents


def test_the_header_is_as_the_page_says(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    write_three_classes(path)
    data = path.read_bytes()
    header, arrays, length = read_table(data)

    assert data.startswith(bytes.fromhex(in_page(r"bytes `(8e .*?)`")))
    assert length == len(data)
    assert data[-14:-8] == bytes.fromhex(in_page(r"14 bytes: `(.*?)`"))
    assert list(header) == keys_of_table("| key | type | meaning |\n|---|---|---|\n")
    assert list(header["calibration"]) == keys_of_table(
        "## Calibration\n\nWhat [held-out documents scored](method.md#4-calibration), "
        "so that it can be added up.\n\n| key | type | meaning |\n|---|---|---|\n"
    )
    assert header["scoring"] == Scoring(score="complement", smoothing=0.03).as_dict()
    for key in (*header["settings"], *header["settings"]["views"][0]):
        assert f"| `{key}` |" in PAGE
    for part in {name.partition(".")[2] for name in arrays if "ledger" not in name}:
        assert f"| `{part}` |" in PAGE or part in header["settings"]["columns"]


def in_page(pattern: str) -> str:
    found = re.search(pattern, PAGE)
    assert found is not None
    return found[1]


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


def key_of(token: str, salt: int) -> int:
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
    own = key_of(token, salt_of(field))
    nbtexts = token_key(token, salt(field) if field else 0)
    if second:
        other = json.loads(second)
        own = mix((own * PAIR + key_of(other, salt_of(field))) & MASK)
        nbtexts = pair_key(nbtexts, token_key(other, salt(field) if field else 0))

    assert own == nbtexts == shown


def test_a_view_of_fields_salts_its_keys() -> None:
    assert list(keys(HEADERS, [("subject", "Hello")])) == [0x536C_F932_4250_00B5]


ALPHABETS: tuple[Alphabet, ...] = ("fields", "words", "marks")
TOKEN_ROWS = rows_of_table("| text | alphabet | tokens | folded |\n|---|---|---|---|\n")
KINDS = {
    row[0]: [int(kind) for kind in row[1:]]
    for row in rows_of_table(
        "| alphabet | space | bracket | punctuation | word | single |\n"
        "|---|---|---|---|---|---|\n"
    )
}


def tokens_of(text: str, alphabet: str) -> list[str]:
    found, before = [""], 0
    for character in text:
        kind = KINDS[alphabet][class_and_fold(ord(character))[0]]
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


def test_the_table_of_code_points_is_the_one_named() -> None:
    data = (ROOT / "nbtext" / "codepoints-1.bin").read_bytes()

    assert sha256(data).hexdigest() == in_page(r"`([0-9a-f]{64})`")
    assert f"{len(data):,} bytes" in PAGE


def test_weights_are_those_of_the_page() -> None:
    for row in rows_of_table("| n | d^2 | weight |\n|---|---|---|\n"):
        n, squares, weight = map(int, row)
        assert isqrt(65535**2 * n**2 // squares) == weight


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
    # a, b, and the pairs a a and a b: the squares are 4 + 1 + 1 + 1
    key = key_of("a", 0)
    assert found["entries"]["body", key, "b", "weight"] == isqrt(65535**2 * 4 // 7)


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
        return (x ^ x >> 32) * MIX & MASK

    views = [{key_of("a", 0): 2, key_of("b", 0): 1}, {key_of("a", 0): 1}]
    total = sum(
        scramble(((2 * v + 1) * key + n) & MASK)
        for v, terms in enumerate(views, 1)
        for key, n in terms.items()
    )
    path = tmp_path / "model.nbt"
    train_on([("a", "x y"), ("b", "z")], str(path))
    x, y = key_of("x", 0), key_of("y", 0)
    pair = mix((x * PAIR + y) & MASK)
    of_document = sum(scramble((3 * key + 1) & MASK) for key in (x, y, pair)) & MASK

    assert total & MASK == int(in_page(r"second has `([0-9a-f]{16})`"), 16)
    assert ledger_of(path)[0][2] == of_document


def test_a_cut_off_tail_is_passed_over_and_said(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    write_three_classes(path)
    whole = path.read_bytes()

    for size in (1, 7, 8, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole + whole[:size])
        found = open_model(str(path))
        assert len(found.tables) == 1
        assert f"the last {size} bytes" in found.notes[0]
