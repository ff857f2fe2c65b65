from collections.abc import Mapping
from pathlib import Path

import pytest

from nbtext.counter import Counter, ReadDocument
from nbtext.counts import CountTable
from nbtext.errors import NotAModelError
from nbtext.model import find, load_model
from nbtext.packing import pack_table
from nbtext.settings import Scoring, Settings, View, default_scoring
from nbtext.tokens import token_key

WORDS = View(name="body", text="body", alphabet="words")
TEXT = Settings(
    format="text", views=(WORDS,), columns=("occurrences", "documents", "weight")
)


def counted(*labelled: tuple[str, str]) -> CountTable:
    counter = Counter(TEXT)
    for label, text in labelled:
        counter.add(ReadDocument(label, ([("body", text)],), b"0123456789abcdef", 1))
    return counter.table()


def write(path: Path, *tables: CountTable) -> str:
    path.write_bytes(
        b"".join(
            bytes(piece)
            for table in tables
            for piece in pack_table(
                table,
                scoring=default_scoring(2),
                calibration={},
                written="now",
                writer="a test",
            )
        )
    )
    return str(path)


def test_a_term_has_its_counts_by_class(tmp_path: Path) -> None:
    table = counted(("ham", "x y y"), ("spam", "y z"), ("spam", "y"))

    model = load_model(write(tmp_path / "model.nbt", table))

    assert model.classes == ("ham", "spam")
    assert model.documents == (1, 2)
    assert model.n_terms(0) == 3
    once = int(65535 / 5**0.5)
    assert model.entries(0, token_key("x")) == [(0, (1, 1, once))]
    assert [(c, n[:2]) for c, n in model.entries(0, token_key("y"))] == [
        (0, (2, 1)),
        (1, (2, 2)),
    ]
    assert model.entries(0, token_key("unknown")) == []


def test_every_term_of_many_is_found(tmp_path: Path) -> None:
    words = [f"w{n}" for n in range(5000)]
    table = counted(("ham", " ".join(words)), ("spam", " ".join(words[::3] * 2)))

    model = load_model(write(tmp_path / "model.nbt", table))

    for n, word in enumerate(words):
        expected = [(0, 1)] if n % 3 else [(0, 1), (1, 2)]
        entries = model.entries(0, token_key(word))
        assert [(class_, columns[0]) for class_, columns in entries] == expected
    assert not any(model.entries(0, token_key(f"v{n}")) for n in range(5000))


def test_tables_are_summed_as_they_are_read(tmp_path: Path) -> None:
    one, other = counted(("ham", "x y")), counted(("spam", "y"), ("eggs", "x z"))

    model = load_model(write(tmp_path / "model.nbt", one, other))

    assert model.classes == ("eggs", "ham", "spam")
    assert model.documents == (1, 1, 1)
    assert [c for c, _ in model.entries(0, token_key("x"))] == [0, 1]
    assert [c for c, _ in model.entries(0, token_key("y"))] == [1, 2]
    assert model.n_terms(0) == 3
    assert [columns[0] for columns in model.totals[0]] == [2, 2, 1]


def test_what_a_later_table_takes_away_is_unknown(tmp_path: Path) -> None:
    one, other = counted(("ham", "x y"), ("spam", "y")), counted(("ham", "x y"))

    model = load_model(write(tmp_path / "model.nbt", one, other, -other, -other))

    assert model.classes == ("spam",)
    assert model.entries(0, token_key("x")) == []
    assert model.entries(0, token_key("y")) == [(0, (1, 1, 65535))]
    assert model.n_terms(0) == 1


def test_one_may_ask_for_another_scoring(tmp_path: Path) -> None:
    path = write(tmp_path / "model.nbt", counted(("ham", "x"), ("spam", "y")))
    wanted = Scoring(score="sum", smoothing=1.0)

    assert load_model(path).scoring == default_scoring(2)
    assert load_model(path, scoring=wanted).scoring == wanted


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("sizes", 200, "a term has the entries 0 to 200"),
        ("starts", 2**31, "a term has the entries 2147483648 to"),
        ("classes", 7, "a term is in class 7 of 2"),
        ("once.classes", 7, "a term is in class 7 of 2"),
    ],
)
def test_a_place_that_is_not_there_is_damage(
    name: str, value: int, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.nbt"
    table = counted(("ham", "twice twice"), ("spam", "twice once"))
    model = load_model(write(path, table))
    array = model.file.tables[0].arrays[f"body.{name}"]
    changed = value.to_bytes(array.itemsize, "little") + bytes(array)[array.itemsize :]
    spoilt = bytearray(path.read_bytes())
    place = place_of(model.file.tables[0].arrays, f"body.{name}", bytes(spoilt))
    spoilt[place : place + len(changed)] = changed
    path.write_bytes(spoilt)
    term = "once" if name.startswith("once") else "twice"

    with pytest.raises(NotAModelError, match=f"damaged: {message}"):
        load_model(str(path)).entries(0, token_key(term))


def place_of(arrays: Mapping[str, memoryview], wanted: str, data: bytes) -> int:
    """Return where an array begins, by walking over those before it."""
    place = data.index(bytes(arrays["body.once.keys"]))
    for name, array in arrays.items():
        place = -(-(place) // 64) * 64
        if name == wanted:
            return place
        place += array.nbytes + 5
    raise KeyError(wanted)


TOP = 2**64 - 1


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
        pytest.param([2**63 + n for n in range(500)], id="in the middle"),
    ],
)
def test_keys_are_found_however_they_lie(keys: list[int]) -> None:
    stored = memoryview(b"".join(k.to_bytes(8, "little") for k in keys)).cast("Q")
    near = {k + d for k in [*keys, 0, 2**63, TOP] for d in (-1, 0, 1)}

    for key in sorted(near & {*near, *keys}):
        if 0 <= key <= TOP:
            expected = keys.index(key) if key in set(keys) else None
            assert find(stored, key) == expected
