"""The entries of a folder come in order, and few of them are held."""

import errno
import os
import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext.document import Unread, Unreadable
from nbtext.sources import _listing
from nbtext.sources._listing import FILE, FOLDER, Listed, in_order
from nbtext.sources._walk import walk

NAMES = st.binary(min_size=1, max_size=6).map(lambda name: name.replace(b"\0", b"\n"))
ENTRIES = st.lists(
    st.tuples(NAMES, NAMES, st.sampled_from([FILE, FOLDER])), max_size=60
)


@given(ENTRIES, st.integers(1, 20), st.integers(1, 30))
def test_entries_are_sorted_however_many(
    entries: list[Listed], stretch: int, piece: int
) -> None:
    before = _listing.STRETCH, _listing.PIECE
    _listing.STRETCH, _listing.PIECE = stretch, piece  # type: ignore[misc]  # a test
    try:
        assert list(in_order(iter(entries))) == sorted(entries)
    finally:
        _listing.STRETCH, _listing.PIECE = before  # type: ignore[misc]


@pytest.mark.parametrize("n_written", [0, 2])
def test_without_room_for_a_file_memory_does(
    monkeypatch: pytest.MonkeyPatch, n_written: int
) -> None:
    monkeypatch.setattr(_listing, "STRETCH", 4)
    entries = [(b"%03d" % (n * 37 % 100), b"x", FILE) for n in range(100)]
    calls = iter(range(1000))
    real = os.write

    def full(descriptor: int, data: bytes) -> int:
        if next(calls) < n_written:
            return real(descriptor, data)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)

    assert list(in_order(entries)) == sorted(entries)


def test_a_failure_of_the_folder_is_raised_at_once() -> None:
    def entries() -> Iterator[Listed]:
        yield b"a", b"a", FILE
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    with pytest.raises(PermissionError):
        in_order(entries())


def test_many_files_take_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_listing, "STRETCH", 64)
    monkeypatch.setattr(_listing, "PIECE", 256)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / "ham"
    folder.mkdir()
    names = [
        f"{n * 7919 % 10_000:04}-a-name-as-long-as-those-in-a-Maildir"
        for n in range(3000)
    ]
    for name in names:
        (folder / name).touch()
    next(walk(str(folder), "ham"))  # what is imported is no matter

    tracemalloc.start()
    try:
        found = 0
        for item, name in zip(walk(str(folder), "ham"), sorted(names), strict=True):
            assert isinstance(item, Unread)
            assert item.path == f"{folder}/{name}"
            found += 1
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert found == 3000
    assert peak < 300_000  # 100 bytes a file, and a list of them takes 450


def test_a_link_that_leads_to_a_device_is_not_said_to_lead_nowhere(
    tmp_path: Path,
) -> None:
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "nowhere").symlink_to(tmp_path / "none")

    device, nowhere = walk(str(tmp_path), None)

    assert isinstance(device, Unreadable)
    assert "pipe or device found" in str(device.error)
    assert isinstance(nowhere, Unreadable)
    assert "leads nowhere" in str(nowhere.error)
