"""What the columns of a table are taken for, where none is named."""

import json
from pathlib import Path

import pytest

from nbtext import load, train
from nbtext.errors import NbtextError
from nbtext.settings.views import Field
from nbtext.sources import Options
from nbtext.sources.guess import kind_of

CITIES = ["Rome", "Oslo", "New York"] * 4
WORDS = ["alpha", "beta", "gamma", "delta", "eps", "zeta", "eta", "theta", "iota", "k"]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2.5", " 3e4 ", ""], "number"),
        ([1, 2.5, None], "number"),
        (["1", "2", "nan"], "value"),
        (CITIES, "value"),
        ([True, False] * 3, "value"),
        (["a b c", "d e f", "a b c", "a b c"], "text"),
        (["first note", "second note", "third one", "x"], "text"),
        (["m", "s", "q", "q"], "value"),
        (WORDS, None),
        ([str(number) for number in range(7, 30)], None),
        (["", None, b" "], None),
        ([["a"], "b"], None),
        ([b"caf\xe9", b"caf\xe9", b"tea", b"tea"], "value"),
    ],
)
def test_a_column_is_taken_for(values: list[object], kind: str | None) -> None:
    assert kind_of(values) == kind


def table(tmp_path: Path, text: str) -> str:
    path = tmp_path / "rows.csv"
    path.write_text(text)
    return str(path)


def rows(n: int = 12) -> str:
    return "".join(
        f"{place + 1},{chr(120 + place % 2)},said that and this {place},"
        f"{CITIES[place % 12]},{place * 1.5}\n"
        for place in range(n)
    )


def test_a_table_without_text_is_guessed_and_that_is_said(tmp_path: Path) -> None:
    path = table(tmp_path, "id,class,notes,city,age\n" + rows())

    trained = train([path], str(tmp_path / "m.nbt"))

    (note,) = [note.text for note in trained.report.notes if "suggest" in note.text]
    assert "notes as text; city as a category; age as a number; id not at all" in note
    assert load(str(tmp_path / "m.nbt")).model.settings.fields == (
        Field("notes", "text"), Field("city", "value"), Field("age", "number"),
    )  # fmt: skip


def test_of_many_columns_some_are_named(tmp_path: Path) -> None:
    cities = [f"city{n}" for n in range(30)]
    header = ",".join(["class", *cities])
    values = [",".join(["xy"[n % 2], *[CITIES[n]] * 30]) for n in range(12)]
    path = table(tmp_path, "\n".join([header, *values]))

    trained = train([path], str(tmp_path / "m.nbt"))

    (note,) = [note.text for note in trained.report.notes if "suggest" in note.text]
    assert "city18, city19 and 10 more as a category; to have it" in note


def test_a_column_without_a_name_is_left_out(tmp_path: Path) -> None:
    path = table(tmp_path, ",class,notes,city,age\n" + rows())

    train([path], str(tmp_path / "m.nbt"))

    fields = load(str(tmp_path / "m.nbt")).model.settings.fields
    assert [field.column for field in fields] == ["notes", "city", "age"]


def test_a_table_with_a_known_column_of_text_stays_text(tmp_path: Path) -> None:
    path = table(tmp_path, "id,class,text,city,age\n" + rows())

    trained = train([path], str(tmp_path / "m.nbt"))

    assert not [note for note in trained.report.notes if "suggest" in note.text]
    assert load(str(tmp_path / "m.nbt")).model.settings.fields == ()


def test_a_table_with_a_label_and_a_text_stays_text(tmp_path: Path) -> None:
    text = "v1,v2\n" + "".join(f"{'xy'[n % 2]},some words {n}\n" for n in range(12))

    train([table(tmp_path, text)], str(tmp_path / "m.nbt"))

    assert load(str(tmp_path / "m.nbt")).model.settings.fields == ()


def test_columns_are_settings_and_one_cannot_be_two_kinds(tmp_path: Path) -> None:
    path = table(tmp_path, "id,class,notes,city,age\n" + rows())
    options = Options(categorical_columns=("city",), numeric_columns=("city",))

    with pytest.raises(NbtextError, match="named twice"):
        train([path], str(tmp_path / "m.nbt"), options=options)


def test_a_key_that_many_records_lack_is_left_out(tmp_path: Path) -> None:
    """Those without it would be skipped."""
    path = tmp_path / "rows.jsonl"
    path.write_text(
        "".join(
            json.dumps(
                {"kind": "xy"[k % 2], "review": f"said that and this {k}"}
                | ({"lang": "en"} if k % 2 else {})
            )
            + "\n"
            for k in range(12)
        )
    )

    trained = train([str(path)], str(tmp_path / "m.nbt"))

    model = load(str(tmp_path / "m.nbt")).model
    assert model.settings.fields == (Field("review", "text"),)
    assert not trained.report.skipped
