"""Single documents of a file, named as the stream of all of them names them."""

import gzip
import re
import shlex
from pathlib import Path

import pytest

from nbtext.document import Document, Item, Note, Unread, Unreadable
from nbtext.errors import MissingSourceError
from nbtext.sources import Options, labels
from nbtext.sources._walk import MOST_STRAY
from tests.items import errors, read

MAIL = "Date: 1 Jan 2026 10:00:00 +0000\nFrom: a@example.org\nSubject: x\n\n"
MBOX = "".join(
    f"From a@example.org Tue Jun 14 19:52:09 2005\n{MAIL}word{number}\n\n"
    for number in range(1, 8)
)
ROWS = "label,text\n" + "".join(f"c{n % 2},row number {n}\n" for n in range(1, 8))


@pytest.fixture(autouse=True)
def _sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("box.mbox").write_text(MBOX)
    Path("folder").mkdir()
    Path("folder/Inbox").write_text(MBOX)
    Path("box.gz").write_bytes(gzip.compress(MBOX.encode()))
    Path("rows.csv").write_text(ROWS)
    Path("lines.jsonl").write_text('{"text": "a"}\n{"text": "b"}\n')
    Path("one.eml").write_text(MAIL)


@pytest.mark.parametrize(
    "source", ["box.mbox", "folder/Inbox", "box.gz", "rows.csv", "lines.jsonl"]
)
@pytest.mark.parametrize("labelled", [False, True])
def test_a_number_gives_the_document_that_has_it(source: str, labelled: bool) -> None:
    written = "x=" if labelled and source == "lines.jsonl" else ""
    whole = read(written + source, labelled=labelled)

    assert len(whole) > 1
    assert all(isinstance(item, Document) for item in whole)
    for number, item in enumerate(whole, 1):
        assert read(f"{written}{source}:{number}", labelled=labelled) == [item]


def test_numbers_come_in_the_order_of_the_arguments() -> None:
    wanted = ["box.mbox:3", "box.mbox:5", "rows.csv:2", "box.mbox:2", "box.mbox:2"]

    assert [item.name for item in read(*wanted) if type(item) is Document] == wanted


def test_numbers_that_ascend_take_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def items(place: object, *_: object) -> list[Item]:
        opened.append(repr(place))
        return [Document(f"box.mbox:{number}", (b"",)) for number in range(1, 8)]

    monkeypatch.setattr("nbtext.sources._documents._path_items", items)

    assert len(read(*(f"box.mbox:{number}" for number in range(1, 8)))) == 7
    assert len(opened) == 1


def test_a_number_that_is_none_is_named() -> None:
    assert errors(read("box.mbox:7", "box.mbox:8", "one.eml:1")) == [
        "box.mbox:8: box.mbox has no document of this number; it holds 7",
        "one.eml:1: one.eml has no document of this number; it is one document",
    ]
    (missing,) = read("box.mbox:9")
    assert isinstance(missing, Unreadable)
    assert isinstance(missing.error, MissingSourceError)


def test_what_keeps_the_file_from_being_read_is_told() -> None:
    Path("cut.gz").write_bytes(Path("box.gz").read_bytes()[:-20])
    Path("bad.csv").write_text("text,n\n" + "a,b,c\n" * 3)
    Path("no.csv").write_text("a,b,c\nd,e,f\n")

    (cut,) = read("cut.gz:7", "cut.gz:8")
    (bad, beyond) = errors(read("bad.csv:2", "bad.csv:4"))
    (none,) = errors(read("no.csv:1"))

    assert isinstance(cut, Unreadable)
    assert "cut.gz: damaged gzip data" in str(cut.error)
    assert cut.documents == 2
    assert bad.startswith("bad.csv:2: 3 fields found")
    assert beyond.endswith("bad.csv has no document of this number; it holds 3")
    assert "no.csv: no column text" in none


def test_a_file_of_that_name_comes_first() -> None:
    Path("box.mbox:3").write_text("a file")

    (item,) = read("box.mbox:3")

    assert isinstance(item, Unread)
    assert item.path == "box.mbox:3"


@pytest.mark.parametrize(
    "path", ["none.mbox:3", "folder:3", "box.mbox:0", "box.mbox:x"]
)
def test_what_is_no_number_is_a_missing_file(path: str) -> None:
    assert errors(read(path)) == [
        f"{path}: no such file or folder; check how the path is spelt"
    ]


@pytest.mark.parametrize(
    "text", ["cheap pills for you", "who is this?", "こんにちは", "สวัสดีครับ"]
)
def test_a_text_in_place_of_a_name_is_told_where_texts_are_given(text: str) -> None:
    (said,) = errors(read(text))

    assert said.endswith("is spelt, or give a text by standard input")


@pytest.mark.parametrize(
    "name", ["my mail/none.eml", "手紙.eml", "Архив/2024", "inbox"]
)
def test_a_name_in_place_of_a_text_is_told_to_check_it_alone(name: str) -> None:
    assert errors(read(name))[0].endswith("check how the path is spelt")


def test_the_label_is_that_of_the_file() -> None:
    given = ["box.mbox:3", "ham=box.mbox:4", "rows.csv:1"]

    items = read(*given, labelled=True)

    assert [item.label for item in items if type(item) is Document] == [
        "box", "ham", "c1"
    ]  # fmt: skip
    assert labels(given[:2], Options()) == ("box", "ham")


def test_a_folder_like_the_others_beside_it_has_a_warning() -> None:
    for folder in ("demo/ham", "demo/spam", "demo/check/ham", "demo/check/spam"):
        Path(folder).mkdir(parents=True)
        Path(folder, "1").write_text(folder)

    whole = read("demo", labelled=True)[0]
    by_name = read("demo/check", "demo/spam", "demo/ham", labelled=True)[0]
    classes = read("demo/ham", "demo/spam", labelled=True)

    assert whole == Note(
        "demo/check is read as the class check, but holds the folders ham and spam, as "
        "there are beside it; if it is for testing, name the others alone: demo/ham "
        "demo/spam",
        is_warning=True,
    )
    assert isinstance(by_name, Note)
    assert not any(isinstance(item, Note) for item in classes)


def test_a_file_that_lies_beside_class_folders_is_named() -> None:
    for folder in ("mail/ham", "mail/spam"):
        Path(folder).mkdir(parents=True)
        Path(folder, "1").write_text(folder)
    alone = read("mail", labelled=True)
    for name in ("notes.txt", "README"):
        Path("mail", name).write_text("words")

    first, *rest = read("mail", labelled=True)
    labelled = read("all=mail", labelled=True)
    unlabelled = read("mail", labelled=False)

    assert first == Note(
        "mail is read as one class, because mail/README and 1 more lie beside the "
        "folders in it; if those are the classes, name them alone: mail/ham mail/spam",
        is_warning=True,
    )
    assert not any(isinstance(item, Note) for item in (*alone, *labelled, *unlabelled))
    assert len(rest) == 4


def test_sources_that_are_advised_are_written_as_a_shell_takes_them() -> None:
    for folder in ("my mail/ham", "my mail/it's spam"):
        Path(folder).mkdir(parents=True)
        Path(folder, "1").write_text(folder)
    Path("my mail/README").write_text("words")
    Path("my tables").mkdir()
    Path("my tables/a b.csv").write_text(ROWS)

    stray, table = (read(one, labelled=True)[0] for one in ("my mail", "my tables"))

    assert isinstance(stray, Note)
    (typed,) = re.findall("name them alone: (.*)", stray.text)
    assert shlex.split(typed) == ["my mail/ham", "my mail/it's spam"]
    assert isinstance(table, Note)
    assert table.text.endswith("; if the tables in it have labels, name one: "
                               "'my tables/a b.csv'")  # fmt: skip


def test_many_files_beside_folders_are_no_strays() -> None:
    for folder in ("mail/a", "mail/b"):
        Path(folder).mkdir(parents=True)
    for number in range(MOST_STRAY + 1):
        Path("mail", str(number)).write_text("words")

    assert not any(isinstance(item, Note) for item in read("mail", labelled=True))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("spam:mail", "a label stands before =: spam=mail"),
        ("=", "there are no blanks around it in LABEL=PATH"),
        ("http://example.org/a.csv", "fetch it first: curl -LO http://example.org/a.csv"),
        ("mail/*.eml", "no name matches that, or its * or ? is quoted; check how it is "
         "spelt"),
        ("mail/*.txt", "files match that, but no shell has looked: it is quoted, or "
         "stands behind LABEL=; write them to a file (ls mail/*.txt > LIST), and give "
         "lists=(LABEL=LIST,)"),
    ],
)  # fmt: skip
def test_what_is_no_path_is_told_what_to_write(name: str, said: str) -> None:
    Path("mail").mkdir(exist_ok=True)
    Path("mail", "1.txt").write_text("words")

    assert errors(read(name)) == [f"{name}: no such file or folder; {said}"]
