"""
Writing model files: tables to bytes, bytes behind a file or into the place of one.

What is written, and why so, is in docs/model-format.md. A file is replaced whole or not
at all, and a table that was appended whole is one that readers see. Whoever calls these
functions holds the lock of `nbtext.store.lock`. Only the standard library is used, and
little of it: learning one message comes through here.
"""

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
from time import time
from typing import Final

import msgpack

from nbtext.errors import ModelWriteError
from nbtext.store.header import Header
from nbtext.store.table import (
    FORMAT,
    MOST_HEADER,
    NIL,
    TRAILER,
    TRAILER_SIZE,
    VERSION,
    Buffer,
    arrays_checksum,
    header_checksum,
    lead_of,
    round_up,
)

LEFTOVER: Final = 60.0
"""A file aside that nobody holds is litter of a crash when it is so old, in seconds."""


def pack(header: Header, arrays: dict[str, tuple[str, Buffer]]) -> Iterator[Buffer]:
    """
    Yield the bytes of a table.

    Args:
        header: what the table says of itself.
        arrays: name to type and contents, in the order of `array_names`.

    Raises:
        ModelWriteError: the classes' names, or an array, are too long for the format.

    """
    plain = {
        "format": FORMAT,
        "version": VERSION,
        "writer": header.writer,
        "written": header.written,
        "settings": header.settings.as_dict(),
        "scoring": header.scoring.as_dict(),
        "classes": header.classes,
        "documents": header.documents,
        "totals": header.totals,
        "terms": header.terms,
        "calibration": header.calibration,
        "history": header.history.as_dict(),
        "arrays": [
            (name, kind, len(memoryview(buffer).cast("B")) // int(kind[1]))
            for name, (kind, buffer) in arrays.items()
        ],
        "arrays_checksum": arrays_checksum(buffer for _, buffer in arrays.values()),
        "header_checksum": bytes(8),
    }
    try:
        packed = msgpack.packb(plain)[:-8]
    except UnicodeEncodeError as error:
        message = f"the name of a class cannot be written: {error}; rename the class"
        raise ModelWriteError(message) from error
    except OverflowError as error:
        message = (
            "the sums of the model's counts are larger than the 64 bits that msgpack "
            "holds, so it must be damaged; restore a copy or train again"
        )
        raise ModelWriteError(message) from error
    packed += header_checksum(packed)
    if len(packed) > MOST_HEADER:
        message = (
            f"the header of the model has {len(packed):,} bytes, and {MOST_HEADER:,} "
            "is the most; give the classes shorter names, or have fewer of them"
        )
        raise ModelWriteError(message)
    yield packed
    length = len(packed)
    for _, buffer in arrays.values():
        contents = memoryview(buffer).cast("B")
        if len(contents) >= 1 << 32:
            message = (
                "an array of the model is larger than the 4 GiB that msgpack holds"
            )
            raise ModelWriteError(message)
        lead = lead_of(length, len(contents))
        yield lead
        yield contents
        length += len(lead) + len(contents)
    whole = round_up(length + TRAILER_SIZE)
    yield NIL * (whole - length - TRAILER_SIZE)
    yield TRAILER + whole.to_bytes(8, "big")


def append_table(path: str, descriptor: int, offset: int, chunks: list[Buffer]) -> None:
    """
    Put a table behind those of a model file, durably.

    The first byte comes last, when the others are durable: a table without it was never
    there, whatever a crash of the machine has left of the others, and in what order.

    Args:
        path: what the file is called.
        descriptor: the file, open and locked.
        offset: where its last table ends, in bytes, and with it the file.
        chunks: the table's bytes, in pieces.

    Raises:
        ModelWriteError: it cannot be written; readers pass over what was.

    """
    table = memoryview(b"".join(chunks))
    try:
        _write_at(descriptor, offset + 1, table[1:])
        os.fsync(descriptor)
        _make_valid(descriptor, offset, table[:1])
    except OSError as error:
        reason = error.strerror
        if error.errno == errno.EBADF:  # it was opened for reading
            reason = "it may only be read"
        message = (
            f"{path}: the model cannot be written: {reason}; it is as good as before, "
            "and nothing was learnt"
        )
        raise ModelWriteError(message) from error


def _write_at(descriptor: int, offset: int, rest: Buffer) -> None:
    while rest:
        written = os.pwrite(descriptor, rest, offset)
        offset += written
        rest = rest[written:]


def _make_valid(descriptor: int, offset: int, first: Buffer) -> None:
    """Write the first byte of a table, durably; or leave a zero there and raise."""
    try:
        _write_at(descriptor, offset, first)
        os.fdatasync(descriptor)  # the file is no longer than before
    except OSError:
        with suppress(OSError):
            os.pwrite(descriptor, b"\0", offset)
        raise


def replace_file(
    path: str, chunks: Iterable[Buffer], *, exclusively: bool = False
) -> int:
    """
    Put new contents in a file's place, whole or not at all, and return their size.

    The contents are written aside, made durable, and renamed over the old ones; then
    the rename is made durable. Only the owner may read the file, and if root replaces
    somebody's, it stays theirs. A symbolic link stays one: what it points to is
    replaced.

    Args:
        path: the file.
        chunks: the new contents, in pieces.
        exclusively: whether there must be no file yet.

    Raises:
        FileExistsError: there is one.
        ModelWriteError: it cannot be written; the old file is as it was.

    """
    try:
        target = os.path.realpath(path)
        _check_is_file(path, target)
        with _written_aside(target, chunks) as (aside, size):
            if exclusively:
                _put_in_free_place(aside, target)
            else:
                os.replace(aside, target)
            # still locked: what others add to it must not go with an undone rename
            _make_name_durable(path, os.path.dirname(target))
    except FileExistsError as error:
        if not os.path.lexists(path):  # else those who try again would do so for ever
            message = (
                f"{path}: the model cannot be written: there is no such path, though "
                f"it can be shortened to {target}; name that"
            )
            raise ModelWriteError(message) from error
        raise
    except (OSError, ValueError, RuntimeError) as error:
        message = (
            f"{path}: the model cannot be written: "
            f"{getattr(error, 'strerror', None) or error}; what was there before is "
            "unchanged"
        )
        raise ModelWriteError(message) from error
    return size


def _check_is_file(path: str, target: str) -> None:
    if os.path.lexists(target) and not os.path.isfile(target):
        message = (
            f"{path}: the model cannot be written: a file was expected, and a "
            "folder or device found; name another file"
        )
        raise ModelWriteError(message)


def _make_name_durable(path: str, folder: str) -> None:
    try:
        _make_durable(folder)
    except OSError as error:
        message = (
            f"{path}: the model is written, but may not outlast a crash of the "
            f"machine: {error.strerror}; look after the disk, and write it again"
        )
        raise ModelWriteError(message) from error


def _make_folder(folder: str) -> None:
    """Make a folder, and those above it, durably; the owner alone may look into it."""
    if os.path.isdir(folder):
        return
    above = os.path.dirname(folder)
    if above == folder:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)
    _make_folder(above)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise NotADirectoryError(
                errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder
            ) from None
    _make_durable(above)


@contextmanager
def _written_aside(target: str, chunks: Iterable[Buffer]) -> Iterator[tuple[str, int]]:
    """
    Write a new file beside another, durably, for its owner alone whatever the umask.

    Yields:
        Its path and its size in bytes. It is locked until the end, under whatever name.

    """
    folder, name = os.path.split(target)
    _make_folder(folder)
    _remove_leftovers(folder, name)
    aside = os.path.join(folder, f".{name}.{os.urandom(6).hex()}.tmp")
    try:
        size = 0
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        file = os.fdopen(descriptor, "wb")
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)  # which also says that it is no litter
            os.fchmod(descriptor, 0o600)
            for chunk in chunks:
                size += file.write(chunk)
            file.flush()
            _give_to_owner_of(target, descriptor)
            os.fsync(descriptor)
            yield aside, size
        finally:
            # what fails here does not change what has become of the file
            with suppress(OSError):
                # not left to closing: a process that was forked may hold it too
                flock(descriptor, LOCK_UN)
            with suppress(OSError):
                file.close()
    finally:
        with suppress(OSError):  # it is in its place
            os.unlink(aside)


def _give_to_owner_of(target: str, descriptor: int) -> None:
    """Let a new file belong to the owner of the old one, which root alone can do."""
    with suppress(OSError):  # it stays ours, as it does where there is no old one
        before = os.stat(target)
        os.fchown(descriptor, before.st_uid, before.st_gid)


def _put_in_free_place(aside: str, target: str) -> None:
    """Name a file, unless there is one of that name."""
    try:
        os.link(aside, target)
    except FileExistsError:
        raise
    except OSError:  # the file system has no links
        if os.path.exists(target):
            raise FileExistsError(errno.EEXIST, "there is one", target) from None
        os.replace(aside, target)


def _remove_leftovers(folder: str, name: str) -> None:
    """Remove what writers that were killed have left beside a file."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            is_ours = entry.name.startswith(f".{name}.")
            is_aside = is_ours and entry.name.endswith(".tmp")
            if is_aside:
                written = entry.stat(follow_symlinks=False).st_mtime
                if time() - written > LEFTOVER:
                    _remove_if_idle(entry.path)


def _remove_if_idle(path: str) -> None:
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
            os.unlink(path)
        finally:
            os.close(descriptor)


def _make_durable(folder: str) -> None:
    """Make a rename in a folder durable, where the file system can do that."""
    with suppress(PermissionError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
        finally:
            os.close(descriptor)
