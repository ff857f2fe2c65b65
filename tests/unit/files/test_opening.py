"""Files opened where others may have put anything."""

import os
import socket
from pathlib import Path
from time import monotonic

import pytest

from nbtext.files import open_file, read_file, write_out
from nbtext.files.reading_at import read_at


@pytest.fixture
def anything(tmp_path: Path) -> Path:
    """A folder of what may stand where a file is expected."""
    (tmp_path / "file").write_bytes(b"contents")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "socket"))
    return tmp_path


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_RDWR])
@pytest.mark.parametrize("name", ["link", "folder", "fifo", "socket", "/dev/null"])
def test_what_is_no_file_is_refused_at_once(
    anything: Path, name: str, flags: int
) -> None:
    began = monotonic()
    before = descriptors()

    with pytest.raises(OSError, match=name):
        open_file(str(anything / name), flags)

    assert monotonic() - began < 5
    assert descriptors() == before


def test_a_link_is_followed_where_that_is_asked_for(anything: Path) -> None:
    descriptor = open_file(str(anything / "link"), follow=True)
    with os.fdopen(descriptor, "rb") as file:
        assert file.read() == b"contents"


def test_no_more_is_read_than_asked_for(anything: Path) -> None:
    assert read_file(str(anything / "file"), 4) == b"cont"
    assert read_file(str(anything / "file"), 9) == b"contents"


def descriptors() -> list[str]:
    return sorted(path.name for path in Path("/proc/self/fd").iterdir())


def test_without_fdatasync_all_of_a_file_is_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.delattr(os, "fdatasync")  # as on macOS
    monkeypatch.setattr(os, "fsync", synced.append)

    with (tmp_path / "file").open("wb") as file:
        write_out(file.fileno())

        assert synced == [file.fileno()]


def test_bytes_that_come_in_pieces_are_read_to_the_end(
    anything: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = os.pread
    monkeypatch.setattr(os, "pread", lambda file, n, at: whole(file, min(n, 3), at))
    descriptor = open_file(str(anything / "file"))
    try:
        assert read_at(descriptor, 7, 1) == b"ontents"
        assert read_at(descriptor, 100, 0) == b"contents"
        assert read_at(descriptor, 0, 0) == read_at(descriptor, 5, 50) == b""
    finally:
        os.close(descriptor)
