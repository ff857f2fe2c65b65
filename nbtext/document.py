"""
What flows from the sources to the readers: documents, and what stands in for one.

A source is read as a stream of `Item`s. Most are documents. A file that holds exactly
one document is passed on unread, and opened where it is counted, perhaps in another
process. A document that cannot be read is replaced by the error that says why, so that
none is lost silently. A note says what may surprise. A pause says that input would
block now.
"""

import enum
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from nbtext.errors import MissingSourceError, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


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

    def __repr__(self) -> str:
        """Say what it is called, how long it is, and what it is labelled with."""
        label = "" if self.label is None else f", {self.label!r}"
        size = sum(map(len, self.texts))
        return f"<Document {self.name!r}: {size:,} bytes{label}>"

    @property
    def fields(self) -> list[tuple[str, bytes]]:
        """The texts, each with the name of its column; a whole file is `body`."""
        names = self.columns or ("body",) * len(self.texts)
        return list(zip(names, self.texts, strict=True))


def readable(name: str) -> str:
    r"""Return a name as text: bytes of a path that are not UTF-8 are written \xHH."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


AnyDocument: TypeAlias = bytes | str | Document
"""A raw message, a text, or what `read_documents` gives; text is read as its UTF-8."""


def as_document(document: AnyDocument, name: str = "1") -> Document:
    """
    Return a message or a text as a document.

    Raises:
        TypeError: it is something else, or its texts are no bytes, or none.
    """
    if isinstance(document, Document):
        texts: object = document.texts
        is_right = isinstance(texts, tuple) and all(
            isinstance(text, bytes) for text in texts
        )
        if not texts or not is_right:
            message = (
                f"the texts of a document are a tuple of bytes, not {texts!r:.80}; "
                "write (it,) for one"
            )
            raise TypeError(message)
        return document
    if isinstance(document, str):
        document = document.encode("utf-8", "replace")
    if not isinstance(document, bytes):
        message = f"document {name} is bytes or str, not {type(document).__name__}"
        raise TypeError(message + advice_on(document))
    return Document(name, (document,))


def is_missing(value: object) -> bool:
    """Return whether a value is None, or none of a kind: it does not equal itself."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA says neither
        return True
    except ValueError:  # an array of several values
        return False


def advice_on(value: object) -> str:
    """Return what to write in place of what is no document, if known, for a message."""
    if is_missing(value):
        return "; leave it out"
    if hasattr(value, "as_bytes"):  # of `email` or `mailbox`
        return "; give the bytes that it was read from, or it.as_bytes()"
    if isinstance(value, os.PathLike):
        return "; write it.read_bytes()"
    if isinstance(value, bytearray | memoryview):
        return "; write bytes(it)"
    return "; write it.read()" if hasattr(value, "read") else ""


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
    """
    What stands in a document's place when it cannot be read.

    Attributes:
        name: as that of the document, or of its source if it stands for several.
        error: why it cannot be read.
        documents: number of documents that it stands for.
    """

    name: str
    error: SourceError
    documents: int = 1


class Note(NamedTuple):
    """
    What the user should know of a source, though no document is missing for it.

    Attributes:
        text: where, what was found, what was made of it, and how to have it otherwise.
        is_warning: whether the outcome is probably not what the user wanted.
    """

    text: str
    is_warning: bool = False


MOST_NAMED: Final = 1000
"""Maximum documents that are named of those that cannot be read."""


class Skipped:
    """
    What could not be read: the first of it by name, the rest by number.

    As a list it has `MOST_NAMED` elements and perhaps two more, which stand for all
    others, those that do not exist and those that cannot be read.
    """

    def __init__(self) -> None:
        self._named: list[Unreadable] = []
        self._missing = 0
        self._others = 0

    def add(self, problem: Unreadable) -> bool:
        """Take in a document; return whether it is among those that are named."""
        if len(self._named) < MOST_NAMED:
            self._named.append(problem)
            return True
        if isinstance(problem.error, MissingSourceError):
            self._missing += problem.documents
        else:
            self._others += problem.documents
        return False

    def extend(self, problems: "Iterable[Unreadable]") -> None:
        """Take in several."""
        for problem in problems:
            self.add(problem)

    @property
    def documents(self) -> int:
        """How many documents could not be read."""
        named = sum(problem.documents for problem in self._named)
        return named + self._missing + self._others

    @property
    def unnamed(self) -> list[Unreadable]:
        """What stands for those that are not named."""
        found = []
        if self._missing:
            text = f"{self._missing:,} more that do not exist"
            found.append(Unreadable("", MissingSourceError(text), self._missing))
        if self._others:
            text = f"{self._others:,} more that cannot be read"
            found.append(Unreadable("", SourceError(text), self._others))
        return found

    def __repr__(self) -> str:
        """Say how many there are."""
        return f"<Skipped: {self.documents:,} documents>"

    def __bool__(self) -> bool:
        """Return whether there is anything."""
        return bool(self._named)

    def __iter__(self) -> "Iterator[Unreadable]":
        """Return what is named, and what stands for the rest."""
        return iter([*self._named, *self.unnamed])

    @property
    def first(self) -> SourceError:
        """Why the first one could not be read; there must be one."""
        return self._named[0].error


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

OnProblem: TypeAlias = Callable[[Unreadable | Note], None]
"""Told of what is no document, in the order of the stream."""
