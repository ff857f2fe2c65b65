"""
A stream of items, to documents: files are opened when their turn comes.

Small ones are read by the engine in use, some at a time.
"""

from collections.abc import Iterable, Iterator

from nbtext.document import Document, Item, Note, OnProblem, Pause, Unread, Unreadable
from nbtext.sources import loaded, small_files, with_texts
from nbtext.tokens.engine import engine

_PASSED_ON = Document, Pause  # a union would be made for each document


def open_documents(
    items: Iterable[Item], max_bytes: int, on_problem: OnProblem
) -> Iterator[Document | Pause]:
    """Yield documents and pauses in their order; open what has not been opened."""
    read = small_files
    if engine().is_compiled:
        from nbtext import _compiled

        read = _compiled.small_files
    for item, text in with_texts(items, max_bytes, read):
        found: Iterable[Document | Unreadable | Note | Pause] = (
            loaded(item, max_bytes, text) if isinstance(item, Unread) else (item,)
        )
        for one in found:
            if isinstance(one, _PASSED_ON):
                yield one
            else:
                on_problem(one)
