"""What a stream of items says beside its documents."""

from collections.abc import Iterable

from nbtext.document import Item, Note, Unreadable


def errors(items: Iterable[Item]) -> list[str]:
    return [str(item.error) for item in items if isinstance(item, Unreadable)]


def notes(items: Iterable[Item]) -> list[str]:
    return [item.text for item in items if isinstance(item, Note)]
