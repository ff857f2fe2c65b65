"""Model files whose headers lie about columns of categories and numbers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fuzz import forge
from nbtext import classify_all, load, read_documents, train
from nbtext.errors import NbtextError
from nbtext.sources import Options
from nbtext.upkeep.checking import check_model

ROWS = "class,city,age\n" + "".join(
    f"{'ab'[n % 2]},{('Rome', 'Oslo')[n % 3 % 2]},{n / 7}\n" for n in range(20)
)
OPTIONS = Options(categorical_columns=("city",), numeric_columns=("age",))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("columns")
    (folder / "rows.csv").write_text(ROWS)
    train([folder / "rows.csv"], folder / "m.nbt", options=OPTIONS)
    return folder / "m.nbt"


def test_what_is_only_put_together_again_is_sound(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.nbt"
    path.write_bytes(forge.put_together(forge.taken_apart(model.read_bytes())))

    assert check_model(str(path)).is_sound


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
    number: int, model: Path, tmp_path: Path
) -> None:
    path, rows = tmp_path / "m.nbt", model.with_name("rows.csv")
    (table,) = forge.taken_apart(model.read_bytes())
    CHANGES[number](table.header)
    path.write_bytes(forge.put_together([table]))

    try:
        opened = load(path)
        [*classify_all(opened, read_documents([rows], model=opened))]
        is_refused = False
    except NbtextError:
        is_refused = True
    try:
        is_sound = check_model(str(path)).is_sound
    except NbtextError:
        is_sound = False

    assert is_refused or not is_sound
