"""
Writing model files: tables to bytes, and bytes into the place of a file.

What is written, and why so, is in `nbtext.modelfile` and docs/model-format.md. A file
is replaced whole or not at all.
"""

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp

import msgpack

from nbtext.errors import ModelWriteError
from nbtext.modelfile import (
    FORMAT,
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
from nbtext.modelheader import Header


def pack(header: Header, arrays: dict[str, tuple[str, Buffer]]) -> Iterator[Buffer]:
    """
    Yield the bytes of a table.

    Args:
        header: what the table says of itself.
        arrays: name to type and contents, in the order of `array_names`.

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
    packed += header_checksum(packed)
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


def replace_file(path: str, chunks: Iterable[Buffer]) -> int:
    """
    Put new contents in a file's place, whole or not at all, and return their size.

    The contents are written aside, made durable, and renamed over the old ones; then
    the rename is made durable. Only the owner may read the file. A symbolic link stays
    one: what it points to is replaced.

    Raises:
        ModelWriteError: it cannot be written; the old file is as it was.

    """
    size = 0
    aside: str | None = None
    try:
        target = Path(path).resolve()
        if target.exists() and not target.is_file():
            message = (
                f"{path}: the model cannot be written: a file was expected, and a "
                "folder or device found; name another file"
            )
            raise ModelWriteError(message)
        folder = target.parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # a new file of an unforeseeable name, for the owner alone whatever the umask
        descriptor, aside = mkstemp(".tmp", f".{target.name}.", folder)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, 0o600)
            for chunk in chunks:
                size += file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        Path(aside).replace(target)
        aside = None
    except (OSError, ValueError, RuntimeError) as error:
        message = (
            f"{path}: the model cannot be written: "
            f"{getattr(error, 'strerror', None) or error}; what was there before is "
            "unchanged"
        )
        raise ModelWriteError(message) from error
    finally:
        if aside is not None:
            with suppress(OSError):
                Path(aside).unlink()
    try:
        _make_durable(folder)
    except OSError as error:
        message = f"{path}: the model is written, but may not outlast a crash: {error}"
        raise ModelWriteError(message) from error
    return size


def _make_durable(folder: Path) -> None:
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
