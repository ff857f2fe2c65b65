"""
What flows from the sources to the readers: documents, and what stands in for one.

A source is read as a stream of `Item`s. Most are documents. A file that holds exactly
one document is passed on unread, and opened where it is counted, perhaps in another
process. A document that cannot be read is replaced by the error that says why, so that
none is lost silently. A note says what may surprise. A pause says that input would
block now.
"""

import enum
from typing import NamedTuple, TypeAlias

from nbtext.errors import SourceError


class Document(NamedTuple):
    """
    One thing to classify or to learn from, as bytes.

    Attributes:
        name: what the user may call it: a path, `path:3`, or `-`. Bytes of a path that
            are not UTF-8 are kept as lone surrogates (PEP 383).
        texts: the bytes to read; one for a file or a mail, one a column for a row.
        label: the class that it is labelled with, if any.
        is_mail: True if its container holds mail (mbox, Maildir), None if only its
            bytes can tell.
        truncated: whether it was longer than what was read.
        identity: what names it for the ledger where its bytes do not (a row's id).
        columns: the names of the columns that the texts are from; none for a file.
    """

    name: str
    texts: tuple[bytes, ...]
    label: str | None = None
    is_mail: bool | None = None
    truncated: bool = False
    identity: str | None = None
    columns: tuple[str, ...] = ()

    @property
    def fields(self) -> list[tuple[str, bytes]]:
        """The texts, each with the name of its column; a whole file is `body`."""
        names = self.columns or ("body",) * len(self.texts)
        return list(zip(names, self.texts, strict=True))


class Unread(NamedTuple):
    """
    A file that has not been opened; fields as above.

    Attributes:
        path: where it is.
        is_one: whether it is one document even if it looks like an mbox.
    """

    name: str
    path: str
    label: str | None = None
    is_mail: bool | None = None
    is_one: bool = False


class Unreadable(NamedTuple):
    """What stands in a document's place when it cannot be read."""

    name: str
    error: SourceError


class Note(NamedTuple):
    """
    What the user should know of a source, though no document is missing for it.

    Attributes:
        text: where, what was found, what was made of it, and how to have it otherwise.
        is_warning: whether the outcome is probably not what the user wanted.
    """

    text: str
    is_warning: bool = False


def raise_unreadable(problem: Unreadable | Note) -> None:
    """
    Raise what keeps a document from being read; pass over notes.

    Raises:
        SourceError: it cannot be read.

    """
    if isinstance(problem, Unreadable):
        raise problem.error


class Pause(enum.Enum):
    """Input would block now: what is ready should be handed on first."""

    PAUSE = "pause"


PAUSE = Pause.PAUSE

Item: TypeAlias = Document | Unread | Unreadable | Note | Pause
"""What a stream of sources is made of."""
