"""Labelled sources that are read twice: what a pipe held is there both times."""

import errno
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import pytest

from nbtext.api.training import train
from nbtext.document import Document
from nbtext.sources import Options, _rereadable, rereadable

TABLE = b"label,text\nspam,win a prize\nham,lunch at noon\n"


def pipe(path: Path, content: bytes) -> str:
    """Return the path of a pipe to which something is written once."""
    os.mkfifo(path)

    def write() -> None:
        with suppress(BrokenPipeError):  # who reads may give up
            path.write_bytes(content)

    threading.Thread(target=write, daemon=True).start()
    return str(path)


def test_a_pipe_is_read_twice(tmp_path: Path) -> None:
    table = pipe(tmp_path / "table.csv", TABLE)
    mail = pipe(tmp_path / "ham", b"Subject: lunch\n\nat one\n")
    again = rereadable([table, mail, f"news={mail}"], Options())

    first = [item for item in again() if isinstance(item, Document)]
    second = [item for item in again() if isinstance(item, Document)]

    assert [document.label for document in first] == ["spam", "ham", "ham", "news"]
    assert second == first


def test_few_documents_of_three_classes_are_not_lost_in_a_pipe(tmp_path: Path) -> None:
    """They are read twice, since only all of them tell that they are few."""
    file = tmp_path / "file.csv"
    file.write_bytes(TABLE)
    other = pipe(tmp_path / "pipe", b"label,text\nnews,a minister resigned\n")

    made = train([str(file), other], tmp_path / "model", options=Options(format="csv"))

    assert made.summary().classes == {"ham": 1, "news": 1, "spam": 1}
    assert made.contents.counts.settings.views[-1].threes == 128


def test_a_pipe_that_cannot_be_copied_whole_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(_rereadable, "_copy", full)

    with pytest.raises(OSError, match="No space"):
        rereadable([pipe(tmp_path / "table.csv", TABLE)], Options())
