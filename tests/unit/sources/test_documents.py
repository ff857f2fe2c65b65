"""Arguments, folders, labels and the pauses between documents."""

import errno
import gzip
import os
import socket
import subprocess
import threading
import tracemalloc
from io import BytesIO
from pathlib import Path

import pytest

from nbtext import train_on
from nbtext.document import PAUSE, Document, Item, Note, Unread, Unreadable
from nbtext.errors import MissingSourceError, SettingsError, SourceError
from nbtext.filtering.seen_records import MAGIC
from nbtext.sources import Options, documents, labels, load, loaded
from nbtext.tokens.reading import is_mail
from tests.build import FROM_LINE
from tests.items import errors, notes, read

MAIL = b"From: a@example.org\nSubject: x\n\nhello\n"


def names(items: list[Item], root: Path) -> list[str]:
    assert all(isinstance(item, Unread) for item in items), items
    return [i.path.removeprefix(f"{root}/") for i in items if isinstance(i, Unread)]


def given_labels(items: list[Item]) -> list[str | None]:
    return [item.label for item in items if isinstance(item, Document | Unread)]


def error_of(item: Item) -> str:
    assert isinstance(item, Unreadable), item
    return str(item.error)


def opened(item: Unread, max_bytes: int) -> list[Document]:
    found = list(loaded(item, max_bytes))
    assert all(isinstance(document, Document) for document in found), found
    return [document for document in found if isinstance(document, Document)]


def write(path: Path, data: bytes = MAIL) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_a_folder_is_walked_in_the_order_of_its_paths(tmp_path: Path) -> None:
    for name in ("b", "a/z", "a-b", "a/c/y", "Z", ".hidden", ".git/config"):
        write(tmp_path / name)

    assert names(read(tmp_path), tmp_path) == ["Z", "a-b", "a/c/y", "a/z", "b"]


def test_an_index_beside_its_mailbox_is_no_document(tmp_path: Path) -> None:
    for name in ("Inbox", "Inbox.msf", "Inbox.sbd/Old", "Inbox.sbd/Old.msf", "a.msf"):
        write(tmp_path / name)

    assert names(read(tmp_path), tmp_path) == ["Inbox", "Inbox.sbd/Old", "a.msf"]


def test_a_dotlock_beside_its_mailbox_is_no_document(tmp_path: Path) -> None:
    for name in ("inbox", "inbox.lock", "poetry.lock"):
        write(tmp_path / name)

    assert names(read(tmp_path), tmp_path) == ["inbox", "poetry.lock"]


def test_what_nbtext_writes_in_a_folder_is_no_document(tmp_path: Path) -> None:
    pairs = [("ham", "a meeting"), ("spam", "cheap pills")]
    train_on(pairs, write(tmp_path / "mail/model.nbt"), replace=True)
    write(tmp_path / "mail/model.nbt.decided", MAGIC)
    for name in ("mail/1.eml", "mail/notes.nbt", "mail/empty.nbt.repaired"):
        write(tmp_path / name, MAIL if name != "mail/empty.nbt.repaired" else b"")
    (tmp_path / "mail/odd.nbt").mkdir()

    first, second, *rest = read(tmp_path / "mail")
    named = read(tmp_path / "mail/model.nbt")

    told = "nbtext wrote this file, which is no document: left out"
    assert [first, second] == [
        Note(f"{tmp_path}/mail/{name}: {told}")
        for name in ("model.nbt", "model.nbt.decided")
    ]
    assert names(rest, tmp_path) == [
        "mail/1.eml", "mail/empty.nbt.repaired", "mail/notes.nbt"
    ]  # fmt: skip
    assert not any(isinstance(item, Note) for item in named)  # as it was asked for


def test_a_model_beside_class_folders_changes_nothing(tmp_path: Path) -> None:
    for name in ("ham/1", "spam/1"):
        write(tmp_path / "mail" / name)
    before = read(tmp_path / "mail", labelled=True)
    pairs = [("ham", "a meeting"), ("spam", "cheap pills")]
    train_on(pairs, tmp_path / "mail/model.nbt")

    assert read(tmp_path / "mail", labelled=True) == before
    assert given_labels(before) == ["ham", "spam"]

    write(tmp_path / "mail/stray")
    warned = read(tmp_path / "mail", labelled=True)[0]
    assert isinstance(warned, Note)
    assert f"because {tmp_path}/mail/stray lies beside" in warned.text


def test_numbered_files_are_sorted_by_number(tmp_path: Path) -> None:
    for name in ("10", "9", "1", "sub/2"):
        write(tmp_path / name)

    assert names(read(tmp_path), tmp_path) == ["1", "9", "10", "sub/2"]
    assert {i.is_mail for i in read(tmp_path) if isinstance(i, Unread)} == {None}


def test_an_mh_folder_gives_its_numbered_files_as_mail(tmp_path: Path) -> None:
    for name in ("10", "9", ",8", "note", ".mh_sequences"):
        write(tmp_path / name)

    items = read(tmp_path)

    assert names(items, tmp_path) == ["9", "10"]
    assert {item.is_mail for item in items if isinstance(item, Unread)} == {True}


def test_a_maildir_gives_its_messages_but_not_the_deleted(tmp_path: Path) -> None:
    kept = ("cur/1.host:2,S", "cur/2.DT.host:2,", "new/3.host")
    left_out = ("cur/4:2,ST", "cur/5:2,D", "tmp/6", "cur/.7", ".Junk/cur/8", "dovecot")
    for name in (*kept, *left_out):
        write(tmp_path / name)

    items = read(tmp_path)

    assert names(items, tmp_path) == list(kept)
    assert {item.is_mail for item in items if isinstance(item, Unread)} == {True}


@pytest.mark.parametrize(
    ("folders", "said"),
    [
        pytest.param([".Junk"], "1 was left out (.Junk)", id="one"),
        pytest.param(
            [".Sent", ".Junk", ".Old", "Work"],
            "4 were left out (.Junk, .Old, .Sent, ...)",
            id="four",
        ),
    ],
)
def test_a_note_names_the_folders_in_a_maildir(
    folders: list[str], said: str, tmp_path: Path
) -> None:
    write(tmp_path / "new" / "1.host")
    (tmp_path / "cur").mkdir()
    (tmp_path / ".cache").mkdir()
    for folder in folders:
        write(tmp_path / folder / "cur" / "2.host:2,S")
        (tmp_path / folder / "new").mkdir()

    note, message = read(tmp_path)

    assert isinstance(message, Unread)
    assert isinstance(note, Note)
    assert said in note.text
    assert note.text.endswith(f"name one to read it: {tmp_path}/.Junk")


def test_a_folder_in_a_maildir_that_is_a_source_itself_is_not_left_out(
    tmp_path: Path,
) -> None:
    for folder in ("", ".Junk", ".Old"):
        write(tmp_path / folder / "cur" / "1.host:2,S")
        (tmp_path / folder / "new").mkdir()
    inner = [f"spam={tmp_path}/.Junk", f"{tmp_path}/cur/../.Old/"]

    first = [*documents([str(tmp_path), inner[0]], Options(), labelled=False)]
    all_of_them = [*documents([str(tmp_path), *inner], Options(), labelled=False)]

    assert notes(first) == [
        f"{tmp_path}: a Maildir is read without the folders in it, and 1 was left out "
        f"(.Old); name one to read it: {tmp_path}/.Old"
    ]
    assert [type(one) for one in all_of_them] == [Unread] * 3


def test_a_maildir_below_a_folder_is_recognised(tmp_path: Path) -> None:
    for name in ("box/cur/1", "box/new/2", "box/tmp/3", "note"):
        write(tmp_path / name)

    assert names(read(tmp_path), tmp_path) == ["box/cur/1", "box/new/2", "note"]


def test_containers_in_a_folder_are_opened(tmp_path: Path) -> None:
    write(tmp_path / "a.mbox", FROM_LINE + MAIL)
    write(tmp_path / "b.jsonl", b'{"text": "x"}\n')
    write(tmp_path / "c.csv", b"label,text\nspam,y\n")

    items = read(tmp_path)

    texts = [item.texts for item in items if isinstance(item, Document)]
    assert texts == [(MAIL,), (b"x",), (b"y",)]


TWO = FROM_LINE + MAIL + b"\n" + FROM_LINE + MAIL


@pytest.mark.parametrize(
    ("name", "data", "count"),
    [
        pytest.param("inbox", TWO, 2, id="two messages"),
        pytest.param("inbox.gz", gzip.compress(TWO), 2, id="compressed"),
        pytest.param("sent", TWO.replace(b"\n", b"\r\n"), 2, id="CRLF"),
        pytest.param("large", TWO + b"x" * (1 << 20), 2, id="large"),
        pytest.param("00001.7c53", FROM_LINE + MAIL, 1, id="one message"),
        pytest.param(
            "00002.9c4a", FROM_LINE + MAIL + b"\n" + FROM_LINE + b"he wrote", 1,
            id="a From line without a header",
        ),
        pytest.param("1.eml", TWO, 1, id="called one message"),
        pytest.param("note", MAIL + b"\n" + FROM_LINE + MAIL, 1, id="no mbox"),
    ],
)  # fmt: skip
def test_an_mbox_in_a_folder_is_taken_apart_when_it_is_opened(
    name: str, data: bytes, count: int, tmp_path: Path
) -> None:
    write(tmp_path / "mail" / name, data)

    (item,) = read(tmp_path / "mail")
    assert isinstance(item, Unread)
    loaded = list(opened(item, 1 << 22))

    path = str(tmp_path / "mail" / name)
    wanted = [path] if count == 1 else [f"{path}:1", f"{path}:2"]
    assert [one.name for one in loaded] == wanted
    assert {one.is_mail for one in loaded} == {None if count == 1 else True}


def test_an_mbox_in_a_folder_is_taken_apart_though_its_messages_are_cut(
    tmp_path: Path,
) -> None:
    write(tmp_path / "mail" / "inbox", TWO)

    (item,) = read(tmp_path / "mail")
    assert isinstance(item, Unread)

    assert [one.texts for one in opened(item, 5)] == [(MAIL[:5],), (MAIL[:5],)]


@pytest.mark.parametrize("kind", ["mail", "text"])
def test_the_user_may_say_that_every_file_is_one_document(
    kind: str, tmp_path: Path
) -> None:
    write(tmp_path / "mail" / "inbox", TWO)

    (item,) = read(tmp_path / "mail", options=Options(format=kind))
    assert isinstance(item, Unread)

    assert [one.texts for one in opened(item, 1000)] == [(TWO,)]


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    write(tmp_path / "a" / "1.txt")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "a" / "self").symlink_to("self")

    first, broken = read(tmp_path)

    assert isinstance(first, Unread)
    assert "self: cannot be read" in error_of(broken)


def test_links_to_one_another_do_not_multiply(tmp_path: Path) -> None:
    folders = [tmp_path / f"f{number}" for number in range(12)]
    for folder in folders:
        write(folder / "x.txt")
    for folder in folders:
        for other in folders:
            (folder / f"to-{other.name}").symlink_to(other)

    assert len(read(tmp_path)) == len(folders)


def test_what_is_no_file_is_named_and_not_opened(tmp_path: Path) -> None:
    write(tmp_path / "a.txt")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "broken").symlink_to("nowhere")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "sock"))
        items = read(tmp_path)

    bad = errors(items)
    assert len(items) == 4
    assert ["broken" in bad[0], "fifo" in bad[1], "sock" in bad[2]] == [True] * 3


def test_of_an_empty_folder_a_note_says_so(tmp_path: Path) -> None:
    assert read(tmp_path) == [Note(f"{tmp_path}: no document there")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param([""], "'': a path was expected", id="path"),
        pytest.param(["x", "b="], "b=: a path was expected", id="after ="),
        pytest.param(["-", "-"], "is named twice", id="standard input"),
        pytest.param(["a=-", "b=-"], "is named twice", id="labelled"),
        pytest.param(["x", "\ud800"], "found, which is in none", id="surrogate"),
        pytest.param(["x", "\ud800=x"], "found, which is in none", id="label"),
    ],
)
def test_arguments_that_cannot_be_meant_are_refused(
    arguments: list[str], said: str
) -> None:
    with pytest.raises(SettingsError, match=said):
        read(*arguments, labelled=True)
    with pytest.raises(SettingsError, match=said):
        labels(arguments, Options())


def test_a_deep_folder_is_walked(tmp_path: Path) -> None:
    here = os.getcwd()  # noqa: PTH109 -- to come back to it
    os.chdir(tmp_path)
    try:
        for _ in range(1200):
            os.mkdir("d")  # noqa: PTH102 -- the whole path grows too long for pathlib
            os.chdir("d")
        Path("leaf").write_bytes(MAIL)
    finally:
        os.chdir(here)

    items = read(tmp_path)

    # The standard library's rmtree recurses, so pytest could not clean up.
    subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)
    assert [isinstance(item, Unread) for item in items] == [True]


@pytest.mark.parametrize("inbox", ["Maildir", "Maildir/cur", "Maildir/new/"])
def test_the_inbox_of_a_maildir_is_ham_beside_its_junk(
    inbox: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("Maildir", "Maildir/.Junk"):
        for part in ("cur", "new", "tmp"):
            (tmp_path / folder / part).mkdir(parents=True)
        write(tmp_path / folder / "cur/1:2,S")
        write(tmp_path / folder / "new/2")
    monkeypatch.chdir(tmp_path)

    items = read("Maildir/.Junk/cur", inbox, labelled=True)

    note, *_ = [item.text for item in items if isinstance(item, Note)]
    assert note.startswith("taking Junk for spam and Maildir for ham; ")
    labels = [item.label for item in items if isinstance(item, Unread)]
    assert labels == ["spam", "ham"] + ["ham"] * (inbox == "Maildir")


def test_a_missing_path_is_told_apart(tmp_path: Path) -> None:
    missing, nul = read(tmp_path / "inbox", "a\0b")

    assert isinstance(missing, Unreadable)
    assert isinstance(missing.error, MissingSourceError)
    assert "inbox: no such file or folder; " in error_of(missing)
    assert "NUL" in error_of(nul)


@pytest.mark.parametrize(
    ("path", "argument", "label"),
    [
        pytest.param("spam/x", "spam", "spam", id="folder"),
        pytest.param("spam/x", "spam/", "spam", id="slash"),
        pytest.param("spam/x", "./spam/.", "spam", id="dot"),
        pytest.param("spam/sub/x", "spam/sub/..", "spam", id="parent"),
        pytest.param(".Junk/cur/x", ".Junk", "spam", id="junk"),
        pytest.param(".Lists/cur/x", ".Lists", "Lists", id="maildir subfolder"),
        pytest.param("f/x", "bad=f", "bad", id="LABEL=PATH"),
        pytest.param("f=g/x", "f=g", "f=g", id="existing path"),
        pytest.param("a/b=c", "a/b=c", "b=c", id="slash before ="),
        pytest.param("spam.txt", "spam.txt", "spam", id="file"),
        pytest.param("spam.mbox.gz", "spam.mbox.gz", "spam", id="suffixes"),
        pytest.param("sp\udcffm/x", "sp\udcffm", "sp\\xffm", id="undecodable"),
    ],
)
def test_labels_come_from_the_argument(
    path: str,
    argument: str,
    label: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = FROM_LINE + MAIL if ".mbox" in path else MAIL
    write(tmp_path / path, data)
    write(tmp_path / "spam/y")
    if argument.startswith("."):
        (tmp_path / argument / "new").mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path)

    items = read(argument, labelled=True)

    assert set(given_labels(items)) == {label}
    assert labels([argument], Options()) == (label,)


def test_a_label_is_the_resolved_name_of_the_dot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "spam" / "x")
    monkeypatch.chdir(tmp_path / "spam")

    assert given_labels(read(".", labelled=True)) == ["spam"]


def test_a_single_folder_of_folders_is_a_folder_a_class(tmp_path: Path) -> None:
    write(tmp_path / "spam" / "1")
    write(tmp_path / "ham" / "1")
    write(tmp_path / ".hidden")

    assert given_labels(read(tmp_path, labelled=True)) == ["ham", "spam"]
    assert labels([str(tmp_path)], Options()) == ("ham", "spam")
    assert given_labels(read(tmp_path)) == [None, None]

    write(tmp_path / "README")

    assert set(given_labels(read(tmp_path, labelled=True))) == {tmp_path.name}


def test_a_maildir_is_no_folder_of_classes(tmp_path: Path) -> None:
    for name in ("cur/1", "new/2", "tmp/3"):
        write(tmp_path / name)

    assert given_labels(read(tmp_path, labelled=True)) == [tmp_path.name] * 2


def test_labels_from_inside_are_not_known_beforehand(tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.jsonl", b'{"text": "x", "label": "a"}\n')
    table = write(tmp_path / "sms.txt", b"ham\tx\nspam\ty\n")

    assert labels([str(rows)], Options()) is None
    assert labels([str(table)], Options()) is None
    assert labels(["-"], Options()) is None
    assert labels([f"spam={rows}"], Options()) == ("spam",)
    assert labels([f"spam={rows}"], Options(label_column="label")) is None


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        pytest.param("a", FROM_LINE + MAIL, [True], id="mbox by its head"),
        pytest.param("a.eml", FROM_LINE + MAIL, ["unread"], id="eml"),
        pytest.param("a.txt", FROM_LINE + MAIL, ["unread"], id="txt"),
        pytest.param("a", b'{"text": 1}\n{"text": 2}', [None, None], id="JSON lines"),
        pytest.param("a", b"{ not JSON\n", ["unread"], id="a brace"),
        pytest.param("a", b"", ["unread"], id="empty"),
        pytest.param("a.mbox", b"", [0], id="empty mbox"),
        pytest.param("a.CSV", b"label,text\nx,y\n", [None], id="csv"),
    ],
)
def test_a_named_file_is_inspected(
    name: str, data: bytes, expected: list[object], tmp_path: Path
) -> None:
    items = read(write(tmp_path / name, data))

    found = [
        "unread" if isinstance(i, Unread) else getattr(i, "is_mail", 0) for i in items
    ]
    assert found == expected


def test_a_file_that_cannot_be_read_for_a_moment_is_not_one_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = write(tmp_path / "rows", b'{"text": "a"}\n{"text": "b"}\n')
    read_on = os.read
    failures = [OSError(errno.ESTALE, "Stale file handle")]

    def read_later(descriptor: int, size: int) -> bytes:
        if failures:
            raise failures.pop()
        return read_on(descriptor, size)

    monkeypatch.setattr(os, "read", read_later)

    [item] = read(rows)

    assert not failures
    assert "Stale file handle" in error_of(item)
    assert len(read(rows)) == 2


@pytest.mark.parametrize(("forced", "is_mail"), [("mail", True), ("text", False)])
def test_a_forced_document_is_one(forced: str, is_mail: bool, tmp_path: Path) -> None:
    data = FROM_LINE + MAIL
    box = write(tmp_path / "a.mbox", data)
    options = Options(format=forced)

    assert read(box, options=options) == [Unread(str(box), str(box), None, is_mail)]
    assert read(tmp_path, options=options) == [
        Unread(str(box), str(box), None, is_mail)
    ]
    assert read("-", stdin=data, options=options) == [
        Document("-", (data,), None, is_mail)
    ]


def test_the_standard_input_is_read_without_arguments() -> None:
    assert read(stdin=MAIL) == [Document("-", (MAIL,))]
    assert read("spam=-", stdin=MAIL, labelled=True) == [Document("-", (MAIL,), "spam")]
    assert "no label" in error_of(read("-", stdin=MAIL, labelled=True)[0])


def test_a_document_of_a_pipe_is_held_once() -> None:
    n_bytes = 1 << 22
    tracemalloc.start()
    try:
        stdin = BytesIO(b"word " * (n_bytes // 5))
        items = documents([], Options(), labelled=False, stdin=stdin)
        found = [next(items)]
        while not isinstance(found[-1], Document):
            found.append(next(items))
        stdin.close()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert held < 1.2 * n_bytes


def test_the_members_of_a_container_are_counted_from_one() -> None:
    two = (FROM_LINE + MAIL + b"\n") * 2

    items = read("-", stdin=two)

    assert [getattr(item, "name", None) for item in items] == ["-:1", "-:2"]


def test_a_long_document_is_cut(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"x" * 100)
    options = Options(max_bytes=10)

    (item,) = read(path, options=options)
    assert isinstance(item, Unread)
    assert load(item, 10) == Document(str(path), (b"x" * 10,), truncated=True)
    assert load(item, 100) == Document(str(path), (b"x" * 100,))
    assert read("-", stdin=b"x" * 100, options=options) == [
        Document("-", (b"x" * 10,), truncated=True)
    ]


def test_a_huge_file_is_not_read_whole(tmp_path: Path) -> None:
    path = write(tmp_path / "huge", b"")
    os.truncate(path, 10 * 2**30)

    assert load(Unread("huge", str(path)), 1000).texts == (bytes(1000),)


def test_a_message_that_a_mail_program_moved_is_found(tmp_path: Path) -> None:
    path = write(tmp_path / "new" / "1.host")
    write(tmp_path / "cur" / "other:2,S")
    path.rename(tmp_path / "cur" / "1.host:2,S")

    assert load(Unread("m", str(path), None, True), 100).texts == (MAIL,)


def test_load_says_why_it_cannot(tmp_path: Path) -> None:
    with pytest.raises(MissingSourceError, match="x: no such file or folder"):
        load(Unread("x", str(tmp_path / "x")), 100)
    with pytest.raises(SourceError, match="d: a file was expected, and a folder"):
        load(Unread("d", str(tmp_path)), 100)
    with pytest.raises(SourceError, match="NUL"):
        load(Unread("n", "a\0b"), 100)
    with pytest.raises(SourceError, match="cannot be read"):
        load(Unread("l", "a" * 5000), 100)


def test_an_index_names_files_and_their_labels(tmp_path: Path) -> None:
    write(tmp_path / "data" / "inmail.1")
    index = write(
        tmp_path / "full" / "index", b"spam ../data/inmail.1\nham ../data/inmail.2\n"
    )

    first, second = read(index, labelled=True)

    path = f"{tmp_path}/full/../data/inmail.1"
    assert first == Unread(path, path, "spam", is_one=True)
    assert isinstance(second, Unread)
    with pytest.raises(SourceError):
        load(second, 100)
    note, whole = read(index)
    assert isinstance(note, Note)
    assert "format='index' reads these" in note.text
    assert isinstance(whole, Unread)
    assert given_labels(read(f"x={index}", labelled=True)) == ["x"]


def test_what_an_index_names_may_be_text(tmp_path: Path) -> None:
    message = (
        b"Date: Tue, 6 Feb 2024 10:00:00 +0000\nMessage-ID: <1@example.org>\n" + MAIL
    )
    write(tmp_path / "note.txt", b"shall we meet at noon\n")
    write(tmp_path / "two", FROM_LINE + message + b"\n" + FROM_LINE + message)
    index = write(tmp_path / "index", b"ham note.txt\nspam two\n")

    text, mail = (
        document
        for item in read(index, labelled=True, options=Options(format="index"))
        if isinstance(item, Unread)
        for document in opened(item, 1000)
    )

    assert (text.name, is_mail(text)) == (f"{tmp_path}/note.txt", False)
    assert (mail.name, is_mail(mail)) == (f"{tmp_path}/two", True)


def test_a_forced_folder_must_be_one(tmp_path: Path) -> None:
    path = write(tmp_path / "f" / "a")

    for forced in ("maildir", "mh"):
        assert f"format={forced!r}" in error_of(
            read(path, options=Options(format=forced))[0]
        )
    assert "Maildir" in error_of(read(tmp_path, options=Options(format="maildir"))[0])


def test_options_refuse_what_they_do_not_know() -> None:
    with pytest.raises(ValueError, match="format must be one of"):
        Options(format="pdf").check()
    with pytest.raises(ValueError, match="max_bytes must be at least 1"):
        Options(max_bytes=0).check()


def test_a_pause_comes_before_input_is_awaited(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt")
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stdin, os.fdopen(writing, "wb", 0) as sender:
        items = documents([str(path), "-"], Options(), labelled=False, stdin=stdin)

        assert isinstance(next(items), Unread)
        assert next(items) is PAUSE
        sender.write(b'{"text": "one"}\n')
        assert getattr(next(items), "texts", None) == (b"one",)
        assert next(items) is PAUSE
        sender.write(b'{"text": "two"}\n{"text": "thr')
        assert getattr(next(items), "texts", None) == (b"two",)
        assert next(items) is PAUSE
        sender.write(b'ee"}\n')
        assert getattr(next(items), "name", None) == "-:3"
        assert next(items) is PAUSE
        sender.close()
        assert list(items) == []


def test_messages_of_an_mbox_come_out_of_a_pipe_as_they_end() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stdin, os.fdopen(writing, "wb", 0) as sender:
        items = documents(["-"], Options(), labelled=False, stdin=stdin)
        sender.write(FROM_LINE + b"one\n\n" + FROM_LINE + b"two\n")

        assert getattr(next(items), "texts", None) == (b"one\n",)
        assert next(items) is PAUSE
        sender.close()
        assert getattr(next(items), "texts", None) == (b"two\n",)
        assert list(items) == []


def test_nothing_pauses_where_nothing_waits() -> None:
    lines = b'{"text": "x"}\n' * 1000

    assert PAUSE not in read("-", stdin=lines)


def test_a_named_pipe_is_read_once(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    sender = threading.Thread(target=fifo.write_bytes, args=[MAIL])
    sender.start()

    items = read(fifo)

    sender.join()
    assert items == [Document(str(fifo), (MAIL,))]
