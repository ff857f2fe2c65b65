"""Small files that are read ahead: what is in them, and what is left to be opened."""

import bz2
import gzip
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from nbtext.document import PAUSE, Document, Item, Note, Unread, Unreadable
from nbtext.plain_mail import is_quiet
from nbtext.sources import loaded
from nbtext.sources._ahead import FILES, encoded, small_files, with_texts
from nbtext.tokens.engine import COMPILED, best
from tests.locking import dotlocked, fcntl_locked

READERS = [pytest.param(small_files, id="plain")]
if best() == COMPILED:
    from nbtext import _compiled

    READERS.append(pytest.param(_compiled.small_files, id="compiled"))

Locked = Callable[[Path], AbstractContextManager[None]]
MAIL = b"From a@b\nSubject: x\n\nHere\n"
MBOX = b"From a@b\nSubject: x\n\nFrom here\n"
OLD, NOW = 10**9, 2**62


@pytest.mark.parametrize("read", READERS)
def test_what_is_simple_is_read_and_all_else_is_left(read: Any, tmp_path: Path) -> None:
    contents = {
        "plain": b"one",
        "empty": b"",
        "most": b"x" * 100,
        "large": b"x" * 101,
        "mbox": MBOX,
        "begun": b"From a@b\nSubject: x\n\nHere\n",
        "no mbox": b"x\nFrom a@b\n",
        "From": b"From ",
    }
    for name, content in contents.items():
        tmp_path.joinpath(name).write_bytes(content)
    os.mkfifo(tmp_path / "pipe")
    tmp_path.joinpath("folder").mkdir()
    names = [*contents, "pipe", "folder", "missing", "nu\0l", "\udcff", "\ud800"]
    paths = tuple(encoded(f"{tmp_path}/{name}") for name in names)

    found = dict(zip(names, read(paths, 100, 1000, NOW), strict=True))

    read_ahead = {"plain", "most", "begun", "no mbox", "From"}
    expected = {name: contents[name] for name in names if name in read_ahead}
    assert {name: text for name, text in found.items() if text is not None} == expected
    assert found.keys() == {*names}


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("locked", [fcntl_locked, dotlocked])
def test_what_begins_like_an_mbox_is_left_while_it_is_young_and_locked(
    read: Any, locked: Locked, tmp_path: Path
) -> None:
    mail = tmp_path / "mail"
    mail.write_bytes(MAIL)
    paths = (encoded(str(mail)),)

    for changed, is_young in ((OLD - 1, False), (OLD, True), (OLD + 1, True)):
        os.utime(mail, (changed, changed))
        with locked(mail):
            assert read(paths, 100, 100, OLD) == [None if is_young else MAIL]
        assert read(paths, 100, 100, OLD) == [MAIL]


@pytest.mark.parametrize("read", READERS)
def test_a_young_file_may_be_locked_by_the_name_that_a_link_leads_to(
    read: Any, tmp_path: Path
) -> None:
    mail, link = tmp_path / "mail", tmp_path / "link"
    mail.write_bytes(MAIL)
    link.symlink_to(mail)

    assert read((encoded(str(link)),), 100, 100, 0) == [None]
    assert read((encoded(str(link)),), 100, 100, NOW) == [MAIL]


@pytest.mark.parametrize("read", READERS)
def test_a_file_whose_name_is_too_long_for_a_dotlock_has_none(
    read: Any, tmp_path: Path
) -> None:
    mail = tmp_path / ("m" * 253)
    mail.write_bytes(MAIL)

    assert read((encoded(str(mail)),), 100, 100, 0) == [MAIL]


def test_a_young_file_that_is_written_to_as_it_is_read_is_left(tmp_path: Path) -> None:
    mail = tmp_path / "mail"
    mail.write_bytes(MAIL)
    with mail.open("rb") as file:
        before = os.fstat(file.fileno())
        assert is_quiet(file.fileno(), str(mail), before)

        os.utime(mail, ns=(0, before.st_mtime_ns + 1))
        assert not is_quiet(file.fileno(), str(mail), before)
        mail.write_bytes(MAIL + b"x")
        os.utime(mail, ns=(0, before.st_mtime_ns))
        assert not is_quiet(file.fileno(), str(mail), before)


@pytest.mark.parametrize("read", READERS)
def test_all_together_are_bounded(read: Any, tmp_path: Path) -> None:
    for name in "abcd":
        tmp_path.joinpath(name).write_bytes(b"x" * (40 if name != "c" else 20))
    paths = tuple(encoded(f"{tmp_path}/{name}") for name in "abcd")

    texts = read(paths, 1000, 100, NOW)

    assert [text and len(text) for text in texts] == [40, 40, 20, None]
    assert read(paths[:1], -1, 100, NOW) == read(paths[:1], 100, -1, NOW) == [None]
    assert read((), 1, 1, NOW) == []


@pytest.mark.skipif(best() != COMPILED, reason="nbtext has no compiled extension")
@pytest.mark.parametrize("paths", [("text",), (1,), (None,), [b"list"], b"bytes"])
def test_only_bytes_are_paths(paths: Any) -> None:
    with pytest.raises(TypeError):
        _compiled.small_files(paths, 1, 1, 1)


def test_items_stay_in_order_and_nothing_is_read_ahead_of_a_pause(
    tmp_path: Path,
) -> None:
    files = [Unread(str(n), f"{tmp_path}/{n}") for n in range(2 * FILES + 3)]
    for file in files:
        Path(file.path).write_bytes(file.name.encode())
    read: list[int] = []

    def count(paths: tuple[bytes, ...], *limits: int) -> list[bytes | None]:
        read.append(len(paths))
        return small_files(paths, *limits)

    document, note = Document("d", (b"",)), Note("n")
    gone: Item = Unread("gone", f"{tmp_path}/gone")

    def items() -> Iterator[Item]:
        yield from [document, *files[:2], note, *files[2:], gone]
        yield PAUSE
        assert sum(read) == len(files) + 1
        yield files[0]

    found = list(with_texts(items(), 100, count))

    texts = [(file, file.name.encode()) for file in files]
    assert found[:4] == [(document, None), *texts[:2], (note, None)]
    assert found[4:] == [*texts[2:], (gone, None), (PAUSE, None), texts[0]]
    assert max(read) == FILES


BEGINNINGS = [
    *(b"", b"\x1f", b"\x1f\x8b", b"BZ", b"(\xb5", b"one", b"nine bytes"),
    *(gzip.compress(b"one"), b"BZh91 is no bzip2", bz2.compress(b"one")),
    *(b"PK\3\4 of a ZIP", b"PAR1\x15", b"\1\1\1\1\nof MMDF", b"%PDF-1.4 is no text"),
    *(b"x" * 257 + b"ustar\x0000", b"x" * 256 + b"ustar\x0000", MAIL),
]


@pytest.mark.parametrize("text", BEGINNINGS)
@pytest.mark.parametrize("is_mail", [None, True])
def test_what_was_read_ahead_is_the_same_document(
    text: bytes, is_mail: bool | None, tmp_path: Path
) -> None:
    path = tmp_path / "1"
    path.write_bytes(text)
    unread = Unread("1", str(path), "spam", is_mail)

    def told(items: Iterable[object]) -> list[object]:
        return [str(one.error) if isinstance(one, Unreadable) else one for one in items]

    assert told(loaded(unread, 1 << 20, text)) == told(loaded(unread, 1 << 20))
