"""Sources elsewhere, and files read in parts: the model of the same documents."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nbtext
from nbtext.counts import ReadReport
from nbtext.distributed import items, listing, partitions, train
from nbtext.distributed.items import RemoteFile, items_of
from nbtext.distributed.listing import list_sources
from nbtext.distributed.partitions import Partition
from nbtext.distributed.remote import is_remote, local_path
from nbtext.document import Document, Item, Unreadable
from nbtext.errors import NbtextError, SettingsError
from nbtext.sources import Options, Place, _load
from tests.build import FROM_LINE, HAM, SPAM, mail
from tests.distributed.test_training import set_date_of

pytest.importorskip("distributed", reason="takes the extra dask")


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(listing, "LEAST_CHUNK", 2048)


def rows(n: int = 200) -> list[dict[str, object]]:
    words = SPAM + HAM
    return [
        {"label": f"c{n % 4}", "text": " ".join(words[n * k % 16] for k in range(1, 9))}
        for n in range(n)
    ]


def same_model(
    client: Any,
    there: list[str],
    here: list[str],
    monkeypatch: pytest.MonkeyPatch,
    n_wrong: int = 0,
) -> Any:
    """Train on a cluster and on this machine, and compare the files."""
    wrong: list[str] = []

    def on_read(report: ReadReport) -> None:
        wrong.extend(str(problem.error) for problem in report.skipped)

    made = train(there, client, "cluster.nbt", on_read=on_read)
    assert len(wrong) == n_wrong, wrong
    set_date_of("cluster.nbt", monkeypatch)
    nbtext.train(here, "one.nbt")

    assert Path("cluster.nbt").read_bytes() == Path("one.nbt").read_bytes()
    return made


def test_folders_and_files_of_s3(
    client: Any, s3: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = b"".join(FROM_LINE + mail(n, HAM) + b"\n" for n in range(50, 54))
    files = {
        **{f"spam/{n}.eml": mail(n, SPAM) for n in range(6)},
        **{f"ham/in/{n}.eml": mail(n, HAM) for n in range(6)},
        "ham/packed.gz": gzip.compress(mail(30, HAM)),
        "ham/box.mbox": box,
        "ham/.hidden": b"spam spam",
        "more.mbox.gz": gzip.compress(box.replace(b"lunch", b"review")),
    }
    for name, contents in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(contents)
        s3.pipe(f"mail/{name}", contents)
    Path("more.mbox.gz").rename("../more.mbox.gz")

    made = same_model(
        client,
        ["s3://mail/spam/", "s3://mail/ham", "ham=s3://mail/more.mbox.gz"],
        ["spam", "ham", "ham=../more.mbox.gz"],
        monkeypatch,
    )
    assert made.classes == {"ham": 15, "spam": 6}
    assert not made.report.skipped

    s3.rm("mail/more.mbox.gz")
    whole = train(["s3://mail"], client, "whole.nbt")
    assert whole.classes == {"ham": 11, "spam": 6}


def test_what_s3_has_not_is_said(client: Any, s3: Any) -> None:
    s3.pipe("mail/other/1.txt", b"lunch")

    made: list[str] = []
    with pytest.raises(NbtextError):
        train(
            ["a=s3://mail/nothing", "b=s3://nowhere/x"],
            client,
            "m.nbt",
            on_read=lambda report: made.extend(str(e.error) for e in report.skipped),
        )

    assert len(made) == 2
    assert "s3://mail/nothing: no such file or folder" in made[0]
    with pytest.raises(SettingsError, match="some sources are URLs"):
        train(["s3://mail/other", "here"], client, "m.nbt")
    with pytest.raises(SettingsError, match="no file system for such a URL"):
        train(["a=nonsense://x", "b=nonsense://y"], client, "m.nbt")


def test_names_that_look_like_patterns() -> None:
    """They are names: a file is read that has one, and none is read for another."""
    from fsspec import filesystem

    names = ["[1].eml", "a*.eml", "ab.eml", "c?.eml", "d::e.eml"]
    for number, name in enumerate(names):
        filesystem("memory").pipe(f"/odd/{name}", mail(number, HAM))

    listed = list_sources(["a=memory://odd"], Options(), labelled=True)
    found = [
        (item.name, item.texts[0])
        for item in items_of(listed.items, Options())
        if isinstance(item, Document)
    ]

    assert found == [(f"memory://odd/{n}", mail(i, HAM)) for i, n in enumerate(names)]


def test_a_file_elsewhere_is_as_much_work_as_one_here() -> None:
    from fsspec import filesystem

    filesystem("memory").pipe("/same/1.eml", mail(1, HAM))
    Path("same").mkdir()
    Path("same/1.eml").write_bytes(mail(1, HAM))

    there, here = (
        list_sources([f"a={name}"], Options(), labelled=True)
        for name in ("memory://same", "same")
    )

    assert there.sizes == here.sizes


def test_records_of_parquet(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="Parquet takes pyarrow")
    from pyarrow import parquet

    table = pyarrow.Table.from_pylist(rows())
    parquet.write_table(table, "rows.parquet", row_group_size=30)
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, rows())))

    made = same_model(client, ["rows.parquet"], ["rows.jsonl"], monkeypatch)

    assert made.report.documents == 200
    Path("bad.parquet").write_bytes(b"no parquet")
    with pytest.raises(NbtextError, match=r"bad\.parquet: no Parquet, or damaged"):
        train(["bad.parquet"], client, "m.nbt")


def test_json_lines_in_ranges(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "A_RANGE", 1000)
    text = "\n".join([*map(json.dumps, rows()), "no JSON", *map(json.dumps, rows(9))])
    Path("rows.jsonl").write_text(text)

    made = same_model(client, ["file://" + str(Path("rows.jsonl").resolve())],
                      ["rows.jsonl"], monkeypatch, 1)  # fmt: skip

    assert made.report.documents == 209
    assert made.report.skipped.documents == 1
    assert "rows.jsonl#" in str(made.report.skipped.first)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 10, 17, 30, 100, 300])
@pytest.mark.parametrize("ending", ["", "\n"])
def test_each_line_is_in_one_range(
    size: int, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "A_RANGE", size)
    lines = [json.dumps({"text": "x" * n, "n": n}) for n in (0, 3, 50, 1, 0, 7)]
    Path("t.jsonl").write_text("\n".join(lines) + ending)

    listed = list_sources(["a=t.jsonl"], Options(), labelled=True)
    items = [*items_of(listed.items, Options())]

    assert [_text(item) for item in items] == ["x" * n for n in (0, 3, 50, 1, 0, 7)]
    is_whole = len(Path("t.jsonl").read_bytes()) <= size
    assert all(isinstance(item, Partition) for item in listed.items) != is_whole


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress,
        lambda b: b.decode().encode("utf-16"),
        lambda b: b"[" + b.strip().replace(b"\n", b",\n") + b"]",
    ],
    ids=["gzip", "UTF-16", "an array"],
)
def test_what_has_no_lines_of_utf_8_is_read_as_a_whole(
    packed: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "A_RANGE", 20)
    text = "".join(json.dumps({"text": f"word {n}"}) + "\n" for n in range(9))
    Path("t.jsonl").write_bytes(packed(text.encode()))

    listed = list_sources(["a=t.jsonl"], Options(), labelled=True)
    items = [*items_of(listed.items, Options())]

    assert [_text(item) for item in items] == [f"word {n}" for n in range(9)]


def test_lines_whose_label_may_stand_beside_the_text_are_read_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which column it is, the first objects of the file tell, and not of a range."""
    monkeypatch.setattr(partitions, "A_RANGE", 20)
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "a", "intent": "x"}\n' * 9)
    named = Options(label_column="intent")
    alone = Place(str(path), "rows", labelled=True, is_alone=True)

    assert partitions.partitions(alone, 261, Options()) is None
    parts = partitions.partitions(alone, 261, named)
    assert parts is not None
    (first, *_) = partitions.items_of(parts[0], Options())
    assert isinstance(first, Document)
    assert first.label == "rows"


def _text(item: Item) -> str:
    assert isinstance(item, Document), item
    return item.texts[0].decode()


def test_values_of_parquet_that_json_does_not_know(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="Parquet takes pyarrow")
    from datetime import date

    from pyarrow import parquet

    rows = {"text": [b"\xff lunch", b"x"], "day": [date(2026, 1, 2), None]}
    parquet.write_table(pyarrow.table(rows), tmp_path / "t.parquet")
    options = Options(text_columns=("text", "day"))
    place = Place(str(tmp_path / "t.parquet"), "a", is_label_given=True, labelled=True)

    parts = partitions.partitions(place, 0, Options())
    assert parts is not None
    (part,) = parts
    found = [*partitions.items_of(part, options)]

    assert [item.texts for item in found if isinstance(item, Document)] == [
        (b"\xff lunch", b"2026-01-02"),
        (b"x", b""),
    ]
    with parquet.ParquetWriter(tmp_path / "empty.parquet", pyarrow.schema([])):
        pass  # as Spark writes what has no rows
    listed = list_sources([f"a={tmp_path}/empty.parquet"], options, labelled=True)
    assert listed.items == []
    gone = part._replace(place=place._replace(name=str(tmp_path / "gone.parquet")))
    (item,) = partitions.items_of(gone, options)
    assert isinstance(item, Unreadable)


def test_memory_that_is_short_for_a_file_elsewhere_is_told_in_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(items, "contents_of", lambda urls: [b"text"] * len(urls))
    monkeypatch.setattr(_load, "small_file", fail)

    (item,) = items_of([RemoteFile("s3://mail/1.eml", "ham")], Options())

    assert isinstance(item, Unreadable)
    assert str(item.error).startswith("s3://mail/1.eml: there is not enough memory")


def test_urls() -> None:
    assert is_remote("s3://a/b")
    assert is_remote("hdfs://host:8020/x")
    assert not any(map(is_remote, ["a/b", "file:///x", "c:", "a=b://x", "://x"]))
    assert local_path("file:///tmp/x") == "/tmp/x"  # noqa: S108  a name
    assert local_path("s3://x") == "s3://x"
