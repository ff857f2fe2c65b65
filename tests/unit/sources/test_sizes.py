"""How many bytes there are to read."""

import os
from pathlib import Path

import pytest

from nbtext.sources import total_bytes


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, size in (("a/1", 10), ("a/b/2", 5), ("one", 7), ("x.gz", 3)):
        Path(name).parent.mkdir(exist_ok=True, parents=True)
        Path(name).write_bytes(b"x" * size)
    os.mkfifo("pipe")


def test_files_and_folders_are_added_up() -> None:
    assert total_bytes(["a", "label=one"]) == 22
    assert total_bytes(["a/b"]) == 5


@pytest.mark.parametrize("source", ["-", "pipe", "x.gz", "none", "one:3"])
def test_what_is_not_known_before_it_is_read_is_none(source: str) -> None:
    assert total_bytes(["a", source]) is None
