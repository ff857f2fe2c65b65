"""
What is said of a model file that something else than a crash has cut short.

The bytes of a file go in, whose last table is not whole but was so once; a sentence or
an error comes out. Readers go on with the tables that are whole, and warn; who would
write the file refuses to: it would look sound, and the table would be gone.
"""

from collections import Counter as Tally
from collections.abc import Iterable
from typing import Final

from nbtext import wording
from nbtext.classes import with_value
from nbtext.errors import DamagedError, ModelFileError
from nbtext.store.header import Header
from nbtext.store.table import read_head

END_MISSING: Final = (
    "its end is missing, and no crash leaves that; the file was cut short, as by a "
    "copy that failed"
)


def warning_of(path: str, whole: memoryview, offset: int) -> str:
    """
    Say what readers of a file have to do without.

    Args:
        path: what the file is called.
        whole: its bytes.
        offset: where its last table begins, which has no end.
    """
    check = wording.call("upkeep.check_model")
    return (
        f"{path}: the table at byte {offset} is passed over: "
        f"{END_MISSING}{_missing(path, whole, offset)}; see `{check}`"
    )


def refusal_of(
    path: str, whole: memoryview, offset: int, headers: Iterable[Header]
) -> DamagedError:
    """Return the error of those who would write a file."""
    left = listed(documents_of(headers))
    repair = wording.call("upkeep.repair_model")
    advice = (
        f"restore a copy, or write what is left to another file with `{repair}`: {left}"
    )
    what = f"{END_MISSING}{_missing(path, whole, offset)}"
    return DamagedError(path, offset, what, advice=advice)


def documents_of(headers: Iterable[Header]) -> dict[str, int]:
    """Return how many documents of each class tables hold, as they say."""
    documents: Tally[str] = Tally()
    for header in headers:
        documents.update(dict(zip(header.classes, header.documents, strict=True)))
    return {name: count for name, count in sorted(documents.items()) if count}


def listed(documents: dict[str, int]) -> str:
    """Return how many documents each class has, in one line."""
    found = ", ".join(with_value(name, f"{n:,}") for name, n in documents.items())
    return found or "no documents"


def _missing(path: str, whole: memoryview, offset: int) -> str:
    """Say how many documents are probably missing, if that is known."""
    try:
        head = read_head(path, whole, offset)
    except ModelFileError:
        return ""
    return f"; missing at least: {listed(documents_of([head[1]]))}" if head else ""
