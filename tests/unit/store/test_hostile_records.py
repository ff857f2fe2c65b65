"""Model files whose headers lie about columns of categories and numbers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import pytest

from nbtext import classify_all, load, read_documents, train
from nbtext.errors import NbtextError
from nbtext.sources import Options
from nbtext.store.contents import read_contents
from nbtext.store.file import open_model
from nbtext.store.table import header_checksum
from nbtext.upkeep.checking import check_model

ROWS = "class,city,age\n" + "".join(
    f"{'ab'[n % 2]},{('Rome', 'Oslo')[n % 3 % 2]},{n / 7}\n" for n in range(20)
)
OPTIONS = Options(categorical_columns=("city",), numeric_columns=("age",))


ROOM = 60_000
"""How long the name of the writer is, which makes room for other changes."""


def forged(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the header of a model, its size kept by what the writer is called."""
    data = path.read_bytes()
    unpacker = msgpack.Unpacker()
    unpacker.feed(data)
    header = unpacker.unpack()
    size = unpacker.tell()
    del header["header_checksum"]
    change(header)
    for _ in range(2):  # once to see how long it is, once to have it as long as before
        packed = b"\xde" + (len(header) + 1).to_bytes(2, "big")
        for name, value in header.items():
            packed += msgpack.packb(name) + msgpack.packb(value)
        packed += msgpack.packb("header_checksum") + b"\xc4\x08"
        header["writer"] = "w" * (ROOM + size - len(packed) - 8)
    assert len(packed) + 8 == size
    path.write_bytes(packed + header_checksum(packed) + data[size:])


def totals(age: list[Any]) -> Callable[[dict[str, Any]], None]:
    def change(header: dict[str, Any]) -> None:
        header["totals"][1][0] = age

    return change


def view(**changes: Any) -> Callable[[dict[str, Any]], None]:
    def change(header: dict[str, Any]) -> None:
        header["settings"]["views"][1].update(changes)

    return change


def attributes(value: Any) -> Callable[[dict[str, Any]], None]:
    def change(header: dict[str, Any]) -> None:
        header["scoring"]["attributes"] = value

    return change


def fields(value: Any) -> Callable[[dict[str, Any]], None]:
    def change(header: dict[str, Any]) -> None:
        header["settings"]["fields"] = value

    return change


CHANGES = [
    totals([-1, 0, 0]),
    totals([10, 5, 1]),
    totals([0, 1, 0]),
    totals([10, [0, b"\x03"], 100]),
    totals([10, [1 << 60, b"\x03"], 100]),
    totals([10, [-1074, b"\x01" * 9000], 100]),
    totals([10, "5", 100]),
    totals([1 << 62, 0, 0]),
    totals([]),
    view(kind="text"),
    view(kind=[]),
    view(kind="value"),
    view(field="other"),
    view(field=7),
    view(columns=["occurrences", "documents"]),
    view(name="ledger"),
    attributes({}),
    attributes({"category_smoothing": -1.0, "variance_smoothing": 1e-9}),
    attributes({"category_smoothing": 1.0, "variance_smoothing": float("nan")}),
    attributes([]),
    fields({"city": "value"}),
    fields({"age": "number", "city": "value"}),
    fields({"city": "value", "age": "date"}),
    fields({"city": "value", "age": "number", "notes": "text"}),
]


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_what_a_header_says_of_columns_is_not_believed(
    number: int, tmp_path: Path
) -> None:
    path, table = tmp_path / "m.nbt", tmp_path / "rows.csv"
    table.write_text(ROWS)
    train([str(table)], str(path), options=OPTIONS)
    contents = read_contents(open_model(str(path)))
    path.write_bytes(b"".join(contents.pack(writer="w" * ROOM)))
    assert check_model(str(path)).is_sound
    forged(path, CHANGES[number])

    try:
        model = load(str(path))
        [*classify_all(model, read_documents([str(table)], model=model))]
        is_refused = False
    except NbtextError:
        is_refused = True
    try:
        is_sound = check_model(str(path)).is_sound
    except NbtextError:
        is_sound = False

    assert is_refused or not is_sound
