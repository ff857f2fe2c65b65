import errno
import os
from io import BytesIO
from mmap import ACCESS_READ
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz import forge
from nbtext.counts.counter import Counter, ReadDocument
from nbtext.errors import (
    DamagedError,
    ModelFileError,
    ModelMemoryError,
    NoModelError,
    NotAModelError,
)
from nbtext.scoring.models.registry import default_scoring
from nbtext.settings.reading import Settings
from nbtext.settings.scoring import Scoring
from nbtext.settings.views import BODY, RAW
from nbtext.store import Contents, History, open_model, searching
from nbtext.store.file import Mapped
from nbtext.store.header import joined_history
from nbtext.store.plain_table import FORMAT, VERSION
from nbtext.upkeep import check_model
from tests.build import STAMP, TEXT


def packed(
    settings: Settings = TEXT,
    scoring: Scoring | None = None,
    history: History | None = None,
) -> bytes:
    counter = Counter(settings)
    for place, (label, text) in enumerate([("ham", "a b b"), ("spam", "b c")]):
        views = tuple([("body", text)] for _ in settings.views)
        counter.add(ReadDocument(label, views, bytes([place] * 16), 9))
    pieces = Contents(
        counter.table(),
        scoring or default_scoring("mail", 2),
        history=history or History(),
    ).pack(written=STAMP, writer="a test")
    return b"".join(map(bytes, pieces))


def test_a_model_that_is_not_there_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NoModelError, match=r"none\.nbt: no model there; make one with"):
        open_model(str(tmp_path / "none.nbt"))


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"", r"model\.nbt: a model was expected, and an empty or sp"),
        (b"\n", "damaged at byte 0"),
        (b"Dear Sir,\n", r"model\.nbt: not an nbtext model; check the path"),
        (bytes(1000), "not an nbtext model"),
        (b"\x1f\x8b" + bytes(100), "not an nbtext model"),
        (
            b"\xde\0\1\xa6format\xa7another",
            "it is not the header",
        ),
        (msgpack.packb({"Format": FORMAT}), "not an nbtext model"),
    ],
    ids=["empty", "a byte", "text", "zeros", "gzip", "another format", "another map"],
)
def test_what_was_never_a_model_is_told_from_one(
    contents: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.nbt"
    path.write_bytes(contents)

    with pytest.raises(NotAModelError, match=message):
        open_model(str(path))


def test_a_folder_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="the model cannot be read"):
        open_model(str(tmp_path))


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "hole"])
def test_what_is_no_file_leaves_nothing_open(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path = Path("/dev/zero")
    else:
        path.touch()
        os.truncate(path, SPARSE)
    before = [*Path("/proc/self/fd").iterdir()]

    with pytest.raises(ModelFileError):
        open_model(str(path))

    assert len([*Path("/proc/self/fd").iterdir()]) == len(before)


SPARSE = 200 << 30
"""Bytes of a file that takes up hardly any."""


def test_a_hole_behind_the_tables_is_passed_over_at_once(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    path.write_bytes(packed())
    size = path.stat().st_size
    os.truncate(path, SPARSE)

    file = open_model(str(path))
    checked = check_model(str(path))

    assert (file.size, file.cut) == (size, SPARSE - size)
    assert "not written whole" in file.notes[0]
    assert [part.verdict for part in checked.parts] == ["sound", "cut off"]


def test_a_table_behind_a_hole_is_found(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    path.write_bytes(packed())
    os.truncate(path, SPARSE)
    with path.open("ab") as file:
        file.write(packed())

    with pytest.raises(DamagedError, match=f"at byte {SPARSE};"):
        open_model(str(path))
    verdicts = [part.verdict for part in check_model(str(path)).parts]
    assert verdicts == ["sound", "damaged", "sound"]


def test_a_file_of_holes_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "MOST_STRETCHES", 4)
    path = tmp_path / "model.nbt"
    path.write_bytes(packed())
    with path.open("rb+") as file:
        for place in range(1, 7):
            file.seek(place << 24)
            file.write(b"\0")

    with pytest.raises(ModelFileError, match=r"holes.*--sparse=never"):
        open_model(str(path))


@given(st.data())
def test_searching_in_pieces_finds_what_searching_at_once_does(
    data: st.DataObject,
) -> None:
    wanted = b"abca"
    contents = data.draw(st.text("abc", max_size=60)).encode() + b"."
    start = data.draw(st.integers(0, len(contents)))
    with NamedTemporaryFile() as file, pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "PIECE", data.draw(st.integers(1, 20)))
        file.write(contents)
        file.flush()
        mapped = Mapped(file.fileno(), len(contents), access=ACCESS_READ)

        found = searching.find(mapped, None, wanted, start)
        assert found == contents.find(wanted, start)


@pytest.mark.parametrize("length", [1 << 29, 1 << 32, 1 << 40, (1 << 63) - 1])
def test_an_array_of_more_than_four_gigabytes_is_damage(
    length: int, tmp_path: Path
) -> None:
    (table,) = forge.taken_apart(packed())
    table.header["arrays"][0][1:] = ["u8", length]
    path = tmp_path / "model.nbt"
    path.write_bytes(forge.put_together([table]))
    os.truncate(path, SPARSE)

    with pytest.raises(DamagedError, match=rf"cannot be {length} u8"):
        open_model(str(path))


def test_a_path_with_a_nul_cannot_be_read() -> None:
    with pytest.raises(ModelFileError, match="the model cannot be read"):
        open_model("a\0b")


def test_any_msgpack_library_can_read_a_file() -> None:
    data = packed() + packed()

    objects = list(msgpack.Unpacker(BytesIO(data), max_buffer_size=len(data)))

    headers = [one for one in objects if isinstance(one, dict)]
    arrays = [one for one in objects if isinstance(one, bytes)]
    assert [header["format"] for header in headers] == [FORMAT] * 2
    assert {header["version"] for header in headers} == {VERSION}
    assert [len(one) for one in arrays] == [
        length * int(kind[1])
        for header in headers
        for _, kind, length in header["arrays"]
    ]
    assert [one for one in objects if isinstance(one, list)] == [
        ["end", len(data) // 2]
    ] * 2
    assert len(data) % 128 == 0


def test_every_array_begins_at_a_multiple_of_64(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    data = packed() + packed()
    path.write_bytes(data)

    for table in open_model(str(path)).tables:
        assert table.offset % 64 == table.length % 64 == 0
        for array in table.arrays.values():
            assert len(array) == 0 or data.find(bytes(array)) >= 0


def test_tables_that_were_read_otherwise_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    other = Settings(format="text", views=(BODY, RAW), ledger=False)
    path.write_bytes(packed() + packed(other))

    with pytest.raises(ModelFileError, match=r"ledger.*: yes in one, no in") as info:
        open_model(str(path))

    assert "the table at byte" in str(info.value)
    assert "the views (" in str(info.value)


def test_the_last_scoring_wins_and_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    last = Scoring(score="sum", smoothing=0.5)
    path.write_bytes(packed() + packed(scoring=last))

    file = open_model(str(path))

    assert file.scoring == last
    assert file.notes == (
        f"{path}: its tables ask to be scored in different ways; the last one wins "
        "(score='sum', smoothing=0.5)",
    )


def test_a_table_that_was_trained_was_so_when_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    path.write_bytes(packed())

    (table,) = open_model(str(path)).tables

    assert table.header.history == History()
    assert joined_history([table.header]) == History(trained=STAMP)


def test_histories_come_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    first = packed()
    history = History(
        taught=2,
        learnt={"ham": STAMP, "spam": "2025-01-01T00:00:00+00:00"},
        offset=len(first),
        new_terms=(-4,),
        keep=17,
    )
    path.write_bytes(first + packed(history=history))

    _, table = open_model(str(path)).tables

    assert table.header.history == history
    assert table.offset == history.offset


def test_every_note_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    other = packed(scoring=Scoring(score="sum", smoothing=0.5))
    path.write_bytes(packed() + packed() + other + packed() + b"\0" + other[1:-1])

    notes = open_model(str(path)).notes

    assert len(notes) == 2
    assert f"the last {len(other) - 1} bytes are a table" in notes[0]
    assert "in different ways" in notes[1]


@pytest.mark.parametrize("rest", [b"some more", b"\xc0" * 64, b"\1" + bytes(99)])
def test_whatever_follows_a_table_and_is_none_is_an_error(
    rest: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "model.nbt"
    path.write_bytes(packed() + rest)

    with pytest.raises(NotAModelError, match="no table begins here"):
        open_model(str(path))


def test_want_of_memory_to_map_a_file_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    path = tmp_path / "model.nbt"
    path.write_bytes(b"something")
    monkeypatch.setattr("nbtext.store.file.Mapped", fail)

    with pytest.raises(ModelMemoryError, match=r"model\.nbt: there is not enough"):
        open_model(str(path))
