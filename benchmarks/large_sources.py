"""
A source larger than memory: an mbox, JSON lines, both compressed, a folder.

Each is made, trained on within a bound, and removed before the next is made: with
--large an mbox and a file of JSON lines of 20 GB, and a folder of 10,000,000 files;
otherwise of a fortieth of that. What is compressed has a tenth of the bytes.
"""

import gzip
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import IO, Final, TypeAlias, cast

from benchmarks.bench import Bench
from benchmarks.command import main
from benchmarks.figures import Figure, Skipped, megabytes, seconds
from benchmarks.growth import BOUND, WITHIN_BOUND
from benchmarks.harness import run
from benchmarks.mail import spamassassin, varied

BYTES: Final = 20_000_000_000
FILES: Final = 10_000_000
"""How large a source is, and of how many files, with --large."""

LESS: Final = 40
"""The part of that which is made without --large."""

COMPRESSED: Final = 10
"""The part of it which is made of what is compressed."""

SPARE: Final = 2
"""How many times the bytes of a source must be free on the disk."""

LINKED: Final = 1000
"""How many short mails the files of the folder are links to: so they take no room, and
what is measured is what a file costs, not what is in it."""

QUOTED: Final = re.compile(rb"^>*From ", re.MULTILINE)

Mail: TypeAlias = tuple[str, bytes]
"""Its label, and its bytes."""


def figures(bench: Bench) -> Iterator[Figure]:
    """Train on one large source of each kind."""
    size, n_files = BYTES, FILES
    if not bench.is_large:
        size, n_files = size // LESS, n_files // LESS
    for name, write in (("large.mbox", write_mbox), ("large.jsonl", write_rows)):
        yield trained_on(bench, name, write, size)
        yield trained_on(bench, f"{name}.gz", write, size // COMPRESSED)
    yield trained_on_folder(bench, n_files)


def trained_on(
    bench: Bench, name: str, write: Callable[[IO[bytes], int], int], size: int
) -> Figure:
    """Train on one file of so many bytes, uncompressed."""
    with room(bench, size) as folder:
        path = folder / name
        with opened(path) as file:
            n_documents = write(file, size)
        what = f"train, {name}, {megabytes(size)}"
        sources = [str(path)] if "jsonl" in name else [f"spam={path}", other_class()]
        return figure(bench, what, sources, f"{n_documents:,} documents")


def opened(path: Path) -> IO[bytes]:
    """Open a file for writing, compressed if its name says so."""
    if path.suffix == ".gz":
        return cast("IO[bytes]", gzip.open(path, "wb", compresslevel=1))
    return path.open("wb")


def trained_on_folder(bench: Bench, n_files: int) -> Figure:
    """Train on a folder of so many files."""
    mails = sorted((path.read_bytes() for _, path in spamassassin().paths), key=len)
    mails = mails[:LINKED]
    with room(bench, sum(map(len, mails))) as folder:
        originals, large = folder / "originals", folder / "spam"
        originals.mkdir()
        large.mkdir()
        paths = [originals / f"{number:04}" for number in range(len(mails))]
        for path, mail in zip(paths, mails, strict=True):
            path.write_bytes(mail)
        for number in range(n_files):
            os.link(paths[number % LINKED], large / f"{number:08}")
        what = f"train, a folder of {n_files:,} files"
        return figure(bench, what, [f"spam={large}", other_class()], "links to 1,000")


def figure(bench: Bench, name: str, sources: list[str], details: str) -> Figure:
    """Train within the bound; say what it took."""
    took = run(bench.train(*WITHIN_BOUND, *sources))
    return Figure(
        f"{name}, --memory {BOUND}",
        f"{took.wall:,.0f} s",
        "",
        None,
        f"{details}; CPU {seconds(took.cpu)}, memory without files "
        f"{megabytes(took.own)}",
    )


@contextmanager
def room(bench: Bench, size: int) -> Iterator[Path]:
    """
    Give a folder for files of so many bytes, and remove it.

    Raises:
        Skipped: there is no room for them.
    """
    free = shutil.disk_usage(bench.folder).free
    if free < SPARE * size:
        raise Skipped(f"{megabytes(SPARE * size)} of disk are needed for a source")
    folder = bench.folder / "large"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def other_class() -> str:
    """Return the source of the other class, which is small."""
    return f"ham={spamassassin().ham[1]}"


@cache
def pieces_of_mails() -> list[tuple[str, list[bytes]]]:
    """Return the mails of the corpus with their labels, cut where copies differ."""
    paths = spamassassin().paths
    return [(label, varied(path.read_bytes())) for label, path in paths]


def copies() -> Iterator[Mail]:
    """Yield the mails of copy after copy with their labels, without an end."""
    for copy in count():
        number = b"%d" % copy if copy else b""
        for label, pieces in pieces_of_mails():
            yield label, number.join(pieces)


def write_mbox(file: IO[bytes], size: int) -> int:
    """Write mails until there are so many bytes; return how many mails there are."""
    return written(file, size, (as_in_mbox(mail) for _, mail in copies()))


def write_rows(file: IO[bytes], size: int) -> int:
    """Write mails as labelled JSON lines, likewise."""
    return written(file, size, (as_row(*mail) for mail in copies()))


def written(file: IO[bytes], size: int, documents: Iterable[bytes]) -> int:
    """Write documents until there are so many bytes; return how many there are."""
    n_bytes = 0
    for number, document in enumerate(documents, 1):
        file.write(document)
        n_bytes += len(document)
        if n_bytes >= size:
            return number
    return 0


def as_in_mbox(mail: bytes) -> bytes:
    """Return a mail between the marks of an mbox (mboxrd)."""
    body = QUOTED.sub(rb">\g<0>", mail)
    return b"From a@example.org Thu Jan  1 00:00:00 2026\n%s\n\n" % body


def as_row(label: str, mail: bytes) -> bytes:
    """Return a mail as a line of JSON, read as Latin-1."""
    row = {"label": label, "text": mail.decode("latin-1")}
    return json.dumps(row).encode() + b"\n"


if __name__ == "__main__":
    main(figures)
