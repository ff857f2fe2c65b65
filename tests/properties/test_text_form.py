"""
A model comes back from its text form as it was, and any other text is refused.

`load_text(text_lines(model))` has the arrays of the model byte for byte and its header
but for the time stamp; the text of what was loaded is the same text. Texts that were
cut off or changed anywhere give a `TextFormError`, or a model that opens: no other
exception.
"""

import io
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nbtext.document import Document
from nbtext.errors import ModelVersionError, TextFormError
from nbtext.learning import LearnRequest
from nbtext.settings.columns import WEIGHTED
from nbtext.store import Contents, Header, ModelFile, open_model, read_contents
from nbtext.store.packing import unpack
from nbtext.textform import Loaded, dumping, load_text, text_lines
from tests.build import learnt, values
from tests.properties.drawn_models import models

SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def packed(contents: Contents) -> bytes:
    return b"".join(map(bytes, contents.pack()))


def opened(path: Path, data: bytes) -> ModelFile:
    path.write_bytes(data)
    return open_model(str(path))


def text_of(file: ModelFile) -> bytes:
    return "".join(
        f"{line}\n" for line in text_lines(read_contents(file), file.path)
    ).encode()


def load(text: bytes) -> Loaded:
    return load_text(io.BytesIO(text), "a text")


def bytes_of(loaded: Loaded) -> bytes:
    return packed(loaded.contents)


def contents(file: ModelFile) -> tuple[Header, list[tuple[str, str, bytes]]]:
    """Return all that the only table of a file has, but for its time stamp."""
    (table,) = file.tables
    arrays = [(name, one.format, bytes(one)) for name, one in table.arrays.items()]
    return table.header._replace(written="", writer=""), arrays


@given(models())
@SAME_FOLDER
def test_a_model_comes_back_bit_for_bit(tmp_path: Path, model: Contents) -> None:
    file = opened(tmp_path / "one.nbt", packed(model))
    text = text_of(file)

    found = opened(tmp_path / "other.nbt", bytes_of(load(text)))

    # a table that adds one document is its record; what is written anew has one
    compact = opened(tmp_path / "compact.nbt", packed(read_contents(file)))
    assert contents(found) == contents(compact)
    assert values(unpack(found)) == values(unpack(file))
    assert text_of(found) == text


THREE = [
    ("art", "a picture of the sea, sea, sea"),
    ("law", "the judge and the sea"),
    ("öko\u2028", "green green judge"),
]


def teach_all(path: Path, label: str | None, *texts: str) -> None:
    items = [Document(text, (text.encode(),)) for text in texts]
    results = learnt(LearnRequest(str(path), label), items)
    assert "refused" not in [result.outcome for result in results]


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of three classes with weights, and negative tables and records behind."""
    from nbtext import train_on

    path = tmp_path_factory.mktemp("taught") / "taught.nbt"
    train_on(THREE, str(path))
    teach_all(path, "law", "a green judge", "the sea", "sea sea picture")
    teach_all(path, "art", "the sea")
    teach_all(path, "law", "one more judge")
    teach_all(path, None, "sea sea picture", THREE[1][1])
    return path


@pytest.fixture(scope="module")
def text(taught: Path) -> bytes:
    return text_of(open_model(str(taught)))


def test_a_model_that_was_taught_comes_back_bit_for_bit(
    taught: Path, tmp_path: Path
) -> None:
    file = open_model(str(taught))
    assert len(file.tables) > 3
    assert any(min(table.header.documents) < 0 for table in file.tables)
    assert file.settings.views[0].columns == WEIGHTED
    text = text_of(file)

    found = opened(tmp_path / "found.nbt", bytes_of(load(text)))

    compact = opened(tmp_path / "compact.nbt", packed(read_contents(file)))
    assert contents(found) == contents(compact)
    assert found.tables[0].header.history.records == 3
    assert text_of(found) == text


def test_what_was_loaded_goes_on_being_taught(taught: Path, tmp_path: Path) -> None:
    paths = [tmp_path / "one.nbt", tmp_path / "other.nbt"]
    paths[0].write_bytes(taught.read_bytes())
    paths[1].write_bytes(bytes_of(load(text_of(open_model(str(taught))))))

    for path in paths:
        teach_all(path, "law", "the sea", "new")
        teach_all(path, None, "a green judge")

    one, other = (text_of(open_model(str(path))).splitlines() for path in paths)
    assert one[1:] == other[1:]


def test_a_model_that_has_forgotten_everything_comes_back(tmp_path: Path) -> None:
    from nbtext import train_on

    path = tmp_path / "m.nbt"
    train_on([("ham", "lunch"), ("spam", "cheap")], str(path))
    teach_all(path, None, "lunch", "cheap")
    text = text_of(open_model(str(path)))

    found = opened(tmp_path / "found.nbt", bytes_of(load(text)))

    assert found.tables[0].header.classes == ()
    assert text_of(found) == text


def test_a_long_record_takes_several_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taught: Path
) -> None:
    monkeypatch.setattr(dumping, "PART", 2)
    text = text_of(open_model(str(taught)))
    assert text.count(b'\n{"more":{"body":{') > 3

    found = opened(tmp_path / "found.nbt", bytes_of(load(text)))

    monkeypatch.undo()
    assert text_of(found) == text_of(open_model(str(taught)))


def test_a_text_cut_off_anywhere_is_refused(text: bytes) -> None:
    # of lines of terms, which begin anywhere, every fifth byte, and their ends
    ends = [place for place, byte in enumerate(text[:-1]) if byte == ord("\n")]
    near = (end + n for end in ends for n in (0, 1))
    for length in {*range(ends[0]), *range(ends[0], len(text) - 1, 5), *near}:
        with pytest.raises(TextFormError, match=r"a text: line [0-9]+: expected "):
            load(text[:length])


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value in another, its own first; of many alike to two."""
    yield path
    if isinstance(value, dict | list):
        parts = [*(value.items() if isinstance(value, dict) else enumerate(value))]
        is_long = isinstance(value, list) and len(value) > 8
        for key, part in [parts[0], parts[-1]] if is_long else parts:
            yield from leaves(part, (*path, key))


def changed(value: Any, path: tuple[Any, ...], new: str) -> str:
    """Return JSON in which one value is another, which may be no JSON."""
    text = json.dumps(value)
    if not path:
        return new
    whole = json.loads(text)
    place = whole
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = "HERE"
    return json.dumps(whole).replace('"HERE"', new)


OTHERS = [
    "null", "true", "-1", "1.5", "1e999", "NaN", "-Infinity", "9" * 30, "9" * 5000,
    "9223372036854775808", '""', '"x"', '"\\ud800"', "[]", "[null]", "{}", '{"x": 1}',
    '{"x": 1, "x": 1}', "[" * 100_000, '{"a":' * 100_000, "0x1", "",
]  # fmt: skip


@pytest.mark.parametrize("new", OTHERS, ids=lambda new: f"{new[:12]} of {len(new)}")
def test_any_value_in_the_place_of_another_raises_nothing_else(
    new: str, text: bytes, tmp_path: Path
) -> None:
    lines = text.decode().splitlines()
    kinds = {next(iter(json.loads(line))): line for line in lines}
    n_refused = 0
    for line in kinds.values():
        place = lines.index(line)
        plain = json.loads(line)
        for path in leaves(plain):
            other = "\n".join(
                [*lines[:place], changed(plain, path, new), *lines[place + 1 :], ""]
            )
            n_refused += is_refused(other.encode("utf-8", "surrogatepass"), tmp_path)

    assert n_refused > 100


def is_refused(text: bytes, folder: Path) -> bool:
    """Return whether a text is refused; if not, it must make a model that opens."""
    error: TextFormError | ModelVersionError
    try:
        loaded = load(text)
    except (TextFormError, ModelVersionError) as caught:
        error = caught
    else:
        text_of(opened(folder / "model.nbt", bytes_of(loaded)))
        return False
    start = "a text: its tokens are those of table "
    if isinstance(error, TextFormError):
        start = f"a text: line {error.line}: expected "
    assert str(error).startswith(start)
    assert len(str(error)) < 1000
    return True


@given(st.data())
@settings(SAME_FOLDER, max_examples=300)
def test_changed_stretches_raise_nothing_else(
    text: bytes, tmp_path: Path, data: st.DataObject
) -> None:
    changed = bytearray(text)
    place = data.draw(st.integers(0, len(text)))
    change = data.draw(
        st.binary(max_size=40) | st.text("0123456789{}[],:-", max_size=9)
    )
    new = change if isinstance(change, bytes) else change.encode()
    changed[place : place + data.draw(st.integers(0, 40))] = new

    is_refused(bytes(changed), tmp_path)


@given(st.binary(max_size=300))
def test_random_bytes_are_refused(text: bytes) -> None:
    with pytest.raises(TextFormError):
        load(text)


@given(st.data())
@settings(SAME_FOLDER)
def test_lines_in_another_order_are_refused(text: bytes, data: st.DataObject) -> None:
    lines = text.splitlines(keepends=True)
    place = data.draw(st.integers(0, len(lines) - 2))
    other = data.draw(st.integers(place + 1, len(lines) - 1))
    lines[place], lines[other] = lines[other], lines[place]
    is_undo = all(b'"undo"' in lines[one][:8] for one in (place, other))

    with suppress(TextFormError) if is_undo else pytest.raises(TextFormError):
        load(b"".join(lines))
