"""Sources read as a stream of items, and what that says beside its documents."""

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

from nbtext.document import Item, Note, Unreadable
from nbtext.sources import Options, documents


def read(
    *arguments: str | Path,
    labelled: bool = False,
    stdin: bytes = b"",
    options: Options | None = None,
) -> list[Item]:
    """Return what sources hold, or the standard input if there are none."""
    paths = [str(argument) for argument in arguments]
    options = options or Options()
    return [*documents(paths, options, labelled=labelled, stdin=BytesIO(stdin))]


def errors(items: Iterable[Item]) -> list[str]:
    return [str(item.error) for item in items if isinstance(item, Unreadable)]


def notes(items: Iterable[Item]) -> list[str]:
    return [item.text for item in items if isinstance(item, Note)]
