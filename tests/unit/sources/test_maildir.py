"""A Maildir is read while a mail program shows messages and changes their flags."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle, islice, pairwise
from pathlib import Path
from typing import Any

import pytest

from nbtext.document import Unread
from nbtext.errors import MissingSourceError
from nbtext.sources._load import load
from nbtext.sources._maildir import parts_of, unique_of
from nbtext.sources._walk import walk
from tests import build


@pytest.fixture
def maildir(tmp_path: Path) -> Path:
    """Messages 1 and 2 in cur/, 3 and 4 in new/; each has its number for a text."""
    cur = {f"cur/{number}.host:2,S": number.encode() for number in "12"}
    new = {f"new/{number}.host": number.encode() for number in "34"}
    return build.maildir(tmp_path / "md", cur | new)


def show(maildir: Path, number: int) -> None:
    name = f"{number}.host"
    (maildir / "new" / name).rename(maildir / "cur" / f"{name}:2,S")


def texts(items: Iterator[Any]) -> list[bytes]:
    return [load(item, 100).texts[0] for item in items if isinstance(item, Unread)]


def scanning(
    monkeypatch: pytest.MonkeyPatch, scan: Callable[[str], Iterator["os.DirEntry[str]"]]
) -> None:
    """Have another program at work while folders are listed."""

    @contextmanager
    def scandir(path: str) -> Iterator[Iterator["os.DirEntry[str]"]]:
        yield scan(path)

    monkeypatch.setattr(os, "scandir", scandir)


def test_what_is_before_the_flags_stays() -> None:
    assert unique_of(b"1.host:2,FS") == unique_of(b"1.host;2,") == b"1.host"
    assert unique_of(b"1.host") == b"1.host"


def test_a_message_that_is_shown_while_others_are_read_is_read(maildir: Path) -> None:
    items = walk(str(maildir), None)
    first = next(items)
    show(maildir, 3)

    assert texts(iter([first])) == [b"1"]
    assert texts(items) == [b"2", b"3", b"4"]


def test_a_message_that_is_shown_while_folders_are_listed_is_read_once(
    maildir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scandir = os.scandir

    def scan(path: str) -> Iterator["os.DirEntry[str]"]:
        if path.endswith("cur"):
            show(maildir, 3)
        return scandir(path)

    scanning(monkeypatch, scan)
    shown, new = parts_of(str(maildir))

    names = [name for part in (shown, new) for _, name, _ in part.found]
    assert names == [b"1.host:2,S", b"2.host:2,S", b"3.host:2,S", b"4.host"]


def test_a_message_whose_name_is_listed_twice_is_read_once(
    maildir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scandir = os.scandir

    def scan(path: str) -> Iterator["os.DirEntry[str]"]:
        yield from scandir(path)
        if path.endswith("cur"):
            old = maildir / "cur" / "1.host:2,S"
            old.rename(maildir / "cur" / "1.host:2,RS")
            yield from (e for e in scandir(path) if e.name.startswith("1"))

    scanning(monkeypatch, scan)
    shown, _ = parts_of(str(maildir))

    assert [name for _, name, _ in shown.found] == [b"1.host:2,RS", b"2.host:2,S"]


def test_two_messages_of_one_name_are_both_read(maildir: Path) -> None:
    (maildir / "cur" / "1.host:2,").write_text("another")

    assert sorted(texts(walk(str(maildir), None))) == [
        b"1",
        b"2",
        b"3",
        b"4",
        b"another",
    ]


@pytest.mark.parametrize(("times", "is_found"), [(2, True), (1000, False)])
def test_a_message_whose_flags_change_while_it_is_looked_for(
    maildir: Path, monkeypatch: pytest.MonkeyPatch, times: int, *, is_found: bool
) -> None:
    show(maildir, 3)
    unread = Unread("m", str(maildir / "new" / "3.host"), None, True)
    scandir = os.scandir
    names = (f"{maildir}/cur/3.host:2,{flags}" for flags in cycle(["S", "RS"]))
    changes = islice(pairwise(names), times)

    def scan(path: str) -> Iterator["os.DirEntry[str]"]:
        found = list(scandir(path))
        for old, new in islice(changes, 1):
            Path(old).rename(new)
        return iter(found)

    scanning(monkeypatch, scan)

    if is_found:
        assert load(unread, 100).texts == (b"3",)
    else:
        with pytest.raises(MissingSourceError):
            load(unread, 100)


def test_a_part_that_cannot_be_listed_is_named(maildir: Path) -> None:
    (maildir / "new").rename(maildir / "old")
    (maildir / "new").symlink_to("new")

    shown, new = parts_of(str(maildir))

    assert len(list(shown.found)) == 2
    assert not list(new.found)
    assert new.error is not None
