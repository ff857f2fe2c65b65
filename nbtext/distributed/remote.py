"""
Files elsewhere, by URLs: S3, Google Cloud Storage, HDFS and all that fsspec knows.

A URL goes in; out come the URLs of the files below it, or a file to read. Credentials
and addresses are those of fsspec and of the library that it has for the scheme, on the
client and on each worker.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

from nbtext.errors import MissingSourceError, NbtextError, SettingsError, SourceError

_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_CHAINED: Final = re.compile(r"(.*?[^:/])(/[^/]*::(?!.*://).*)", re.DOTALL)
"""A folder and a name in it, of which fsspec would take a part for another URL."""

NO_FSSPEC: Final = (
    "sources that are URLs take fsspec, which is not installed here; pip install "
    "'nbtext[dask]'"
)


class RemotePath(NamedTuple):
    """
    A file elsewhere.

    Attributes:
        url: where it is.
        size: its bytes, 0 if that is not known.
    """

    url: str
    size: int


def is_remote(path: str) -> bool:
    """Tell whether a path is a URL of something that is no file of this machine."""
    found = _URL.match(path)
    return found is not None and found[1].lower() != "file"


def local_path(path: str) -> str:
    """Return the path in a URL of a file of this machine; others as they are."""
    return path[len("file://") :] if path.lower().startswith("file:///") else path


def folder_contents(url: str) -> list[RemotePath] | None:
    """
    Return the files below a folder, sorted, without hidden ones; None if it is a file.

    Raises:
        SourceError: it is not there, or cannot be listed.
        SettingsError: the library for such URLs is not installed.
    """
    system, path = _system(url)
    with _failures(url):
        if system.isfile(path):
            return None
        found: dict[str, Any] = system.find(path, detail=True)
        if not found and not system.exists(path):
            raise FileNotFoundError(url)
    begin = path.rstrip("/") + "/"
    below = {
        name.removeprefix(begin): int(facts.get("size") or 0)
        for name, facts in found.items()
        if name.startswith(begin)
    }
    return [
        RemotePath(f"{url.rstrip('/')}/{name}", size)
        for name, size in sorted(below.items(), key=_by_bytes)
        if name and not any(part.startswith(".") for part in name.split("/"))
    ]


def _by_bytes(entry: tuple[str, int]) -> bytes:
    return entry[0].encode("utf-8", "surrogateescape")


def size_of(url: str) -> int:
    """
    Return how many bytes a file has, 0 if that is not known.

    Raises:
        SourceError: it is not there.
        SettingsError: the library for such URLs is not installed.
    """
    system, path = _system(url)
    with _failures(url):
        return int(system.size(path) or 0)


@contextmanager
def opened(url: str) -> Iterator[BinaryIO]:
    """
    Open a file elsewhere, or one of this machine by its path.

    Raises:
        SourceError: it cannot be opened or read.
        SettingsError: the library for such URLs is not installed.
    """
    if not is_remote(url):
        with _failures(url), open(url, "rb") as file:  # noqa: PTH123  a string
            yield file
        return
    system, path = _system(url)
    with _failures(url), system.open(path, "rb") as file:
        yield file


def contents_of(urls: Sequence[str]) -> list[bytes | SourceError]:
    """
    Read small files, side by side where the system can.

    Returns:
        For each its bytes, or why it cannot be read.

    Raises:
        SettingsError: the library for such URLs is not installed.
    """
    by_system: dict[int, tuple[Any, dict[str, str]]] = {}
    for url in urls:
        system, path = _system(url)
        by_system.setdefault(id(system), (system, {}))[1][url] = path
    read: dict[str, Any] = {}
    for system, paths in by_system.values():
        # not by `cat`, to which a name with a star or brackets is a pattern
        found = system.cat_ranges([*paths.values()], None, None)
        read |= zip(paths, found, strict=True)
    return [
        read[url] if isinstance(read[url], bytes) else _cannot_read(url, read[url])
        for url in urls
    ]


def _system(url: str) -> tuple[Any, str]:
    """
    Return what reads such URLs, and the path there.

    Raises:
        SettingsError: it is not installed, or there is no such scheme.
    """
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise SettingsError(NO_FSSPEC) from error
    chained = _CHAINED.match(url)
    folder, rest = (url, "") if chained is None else chained.groups()
    try:
        system, path = url_to_fs(folder)
    except (ImportError, ValueError) as error:
        message = f"{url}: no file system for such a URL here: {error}"
        raise SettingsError(message) from error
    return system, path.rstrip("/") + rest if rest else path


@contextmanager
def _failures(url: str) -> Iterator[None]:
    """Raise what is wrong with a file as an error of a source."""
    try:
        yield
    except NbtextError:
        raise
    except Exception as error:  # libraries for file systems raise errors of their own
        raise _cannot_read(url, error) from error


def _cannot_read(url: str, error: BaseException) -> SourceError:
    if isinstance(error, FileNotFoundError):
        return MissingSourceError(f"{url}: no such file or folder; check the URL")
    return SourceError(f"{url}: cannot be read: {type(error).__name__}: {error}")
