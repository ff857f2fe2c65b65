"""
From a mail's bytes to the keys of its terms in each view, and its digest, in one pass.

`nbtext.tokens.reading.read` and `nbtext.tokens.engine.keys` specify what these are; the
compiled reader finds them without the texts in between. Mail that it refuses is read in
Python, and so is every document that is no mail, or whose tokens are the matches of a
pattern or have a secret.
"""

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from nbtext.document import Document
from nbtext.errors import NoMemoryError
from nbtext.settings import MAIL_SIZE, Settings
from nbtext.tokens import compiled
from nbtext.tokens.engine import engine

if TYPE_CHECKING:
    from nbtext.tokens.reading import Reading


class KeyReading(NamedTuple):
    """
    A mail as it is counted and scored, when its texts are no longer needed.

    Attributes:
        views: the keys of its terms, one view of 64-bit integers for each view of the
            settings, in any order.
        digest: as in `nbtext.tokens.reading.Reading`, like what follows.
        size: about how many code points its longest view has.
        is_mail: whether it is mail.
    """

    views: tuple[memoryview, ...]
    digest: bytes
    size: int
    is_mail: bool = False


AnyReading: TypeAlias = "Reading | KeyReading"
"""A document with its texts, or with the keys of its terms."""


def read_keys(document: Document, settings: Settings) -> AnyReading:
    """
    Take a document apart for the views of the settings, down to keys if that is quick.

    Raises:
        SettingsError: the pattern of the settings cannot be used.
        SecretError: the secret of the settings is not here.
        SourceError: finding its matches in this document takes too long.
        NoMemoryError: it takes more memory than there is.

    """
    if is_read_to_keys(settings):
        found = _compiled_reading(document, settings)
        if found is not None:
            return found
    from nbtext.tokens.reading import read  # which most mail does without

    return read(document, settings)


def is_read_to_keys(settings: Settings) -> bool:
    """Return whether the compiled reader is for documents of these settings."""
    is_keyed, is_table = settings.secret is not None, settings.has_attributes
    is_plain = settings.format == "mail" and not (is_keyed or is_table)
    return is_plain and engine().is_compiled


def bytes_of(document: Document) -> bytes:
    """Return the message that a document is to the compiled reader."""
    texts = document.texts
    return texts[0] if len(texts) == 1 else b"\n".join(texts)


def digest_of(document: Document, digest: bytes) -> bytes:
    """Return what names a document that has this digest, or an identity besides."""
    if document.identity is None:
        return digest
    from nbtext.tokens.reading import identity_digest

    return identity_digest(document)


def _compiled_reading(document: Document, settings: Settings) -> KeyReading | None:
    """Return what the compiled reader makes of a mail, None if it refuses it."""
    reader = compiled.mail_reader(settings.views)
    if reader is None:
        return None
    data = bytes_of(document)
    try:
        found = reader.read(data)
    except MemoryError as error:
        raise NoMemoryError(document.name) from error
    if found is None:
        return None
    keys, digest, is_typical = found
    is_mail = is_typical if document.is_mail is None else document.is_mail
    views = tuple([memoryview(of_view).cast("Q") for of_view in keys])
    size = min(len(data), MAIL_SIZE)
    return KeyReading(views, digest_of(document, digest), size, is_mail)
