"""
Writing model files: tables to bytes, and bytes into the place of a file.

What is written, and why so, is in docs/model-format.md. A file is replaced whole or not
at all. Callers hold the lock of `nbtext.store.lock`. `nbtext.store.appending` puts a
table behind those of a file.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from nbtext.errors import ModelWriteError, advice_on
from nbtext.settings.views import View
from nbtext.store.blocks import Buffer, Checksums, n_blocks
from nbtext.store.header import Header
from nbtext.store.plain_table import (
    FORMAT,
    MOST_HEADER,
    VERSION,
    lead_of,
    round_up,
    trailer_of,
)
from nbtext.store.schema import array_types
from nbtext.store.table import pack_header

LARGE: Final = 1 << 24
"""From how many bytes on an array may be in a temporary file."""


def pack(header: Header, arrays: dict[str, tuple[str, Buffer]]) -> Iterator[Buffer]:
    """
    Yield the bytes of a table.

    Args:
        header: what the table says of itself.
        arrays: name to type and contents, in any order, without the checksums.

    Raises:
        ModelWriteError: the classes' names, or an array, are too long for the format.
    """
    # the last array has the checksums of what stands between the header and it
    *others, checksums = array_types(
        header.settings,
        header.history.records,
        is_corrected=header.correction is not None,
        has_texts=header.texts is not None,
    )
    sizes = [len(memoryview(arrays[name][1]).cast("B")) for name in others]
    if max(sizes) >= 1 << 32:
        message = "an array of the model is larger than the 4 GiB that msgpack holds"
        raise ModelWriteError(message)
    specification = [
        (name, arrays[name][0], size // int(arrays[name][0][1]))
        for name, size in zip(others, sizes, strict=True)
    ]
    end = 0  # where the last array does, from where the first begins
    for size in sizes:
        end = (round_up(end + 5) if end else 0) + size
    specification.append((checksums, "u4", n_blocks(end)))
    packed = _packed_header(header, specification)
    yield packed
    length = len(packed)
    blocks = Checksums()
    for number, name in enumerate(others):
        contents = memoryview(arrays[name][1]).cast("B")
        lead = lead_of(length, len(contents))
        if number:  # blocks are counted from the first byte of the first array
            blocks.add(lead)
        blocks.add(contents)
        yield lead
        yield contents
        if len(contents) >= LARGE:
            _let_go(contents)
        length += len(lead) + len(contents)
    sums = blocks.packed()
    lead = lead_of(length, len(sums))
    yield lead
    yield sums
    length += len(lead) + len(sums)
    yield trailer_of(length)


def _let_go(contents: Buffer) -> None:
    """Let go of the memory of an array that is in a temporary file."""
    import numpy as np  # which whoever made an array as large as that has loaded

    from nbtext.counts.room import release

    release(np.frombuffer(contents, np.uint8))


def _totals_of(view: View, by_class: Sequence[Sequence[int]]) -> Sequence[Any]:
    """Return the totals of a view as plain values."""
    if view.kind != "number":
        return by_class
    from nbtext.exact import packed  # only records of tables need it

    return [*map(packed, by_class)]


def _packed_header(header: Header, arrays: list[tuple[str, str, int]]) -> bytes:
    plain: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "writer": header.writer,
        "written": header.written,
        "settings": header.settings.as_dict(),
        "scoring": header.scoring.as_dict(),
        "classes": header.classes,
        "documents": header.documents,
        "totals": [*map(_totals_of, header.settings.views, header.totals)],
        "terms": header.terms,
        "calibrations": header.calibrations,
        "history": header.history.as_dict(),
    }
    if header.histograms is not None:
        from nbtext.counts.histograms import as_plain  # few models have them

        views = [view.name for view in header.settings.views]
        plain["histograms"] = as_plain(header.histograms, views)
    if header.correction is not None:
        biases = {"biases": header.biases}
        plain["correction"] = header.correction.as_dict() | biases
    if header.policy is not None:
        plain["policy"] = header.policy.as_dict()
    if header.texts is not None:
        plain["texts"] = header.texts
    plain["arrays"] = arrays
    try:
        packed = pack_header(plain)
    except UnicodeEncodeError as error:
        message = f"a name in the model cannot be written: {error}; rename that class"
        raise ModelWriteError(message) from error
    except OverflowError as error:
        message = (
            "the sums of the model's counts are larger than the 64 bits that msgpack "
            "holds, so it must be damaged; restore a copy or train again"
        )
        raise ModelWriteError(message) from error
    if len(packed) > MOST_HEADER:
        message = (
            f"the header of the model has {len(packed):,} bytes, and {MOST_HEADER:,} "
            "is the most; give the classes shorter names, or have fewer of them"
        )
        raise ModelWriteError(message)
    return packed


def replace_file(
    path: str, chunks: Iterable[Buffer], *, exclusively: bool = False
) -> int:
    """
    Put a whole model in a file's place, or nothing at all, and return its size.

    It keeps the owner, group, mode and ACL of the file that it replaces; a new one is
    for its owner alone (`nbtext.files.replace_file`).

    Args:
        path: the model file.
        chunks: the model, in pieces.
        exclusively: whether there must be no file yet.

    Raises:
        FileExistsError: there is one.
        ModelWriteError: it cannot be written; the old file is as it was.
    """
    # not at the head: to append one message to a model takes less
    from nbtext.files import NotDurableError, replace_file

    try:
        return replace_file(path, chunks, exclusively=exclusively)
    except FileExistsError as error:
        if not os.path.lexists(path):  # else those who try again would do so for ever
            message = (
                f"{path}: the model cannot be written: there is no such path, though "
                f"it can be shortened to {os.path.realpath(path)}; name that"
            )
            raise ModelWriteError(message) from error
        raise
    except NotDurableError as error:
        message = (
            f"{path}: the model is written, but may not outlast a crash of the "
            f"machine: {error.strerror}; look after the disk, and write it again"
        )
        raise ModelWriteError(message) from error
    except (OSError, ValueError, RuntimeError) as error:
        message = (
            f"{path}: the model cannot be written: "
            f"{getattr(error, 'strerror', None) or error}; what was there before is "
            f"unchanged{advice_on(error, path)}"
        )
        raise ModelWriteError(message) from error
