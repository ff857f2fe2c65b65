"""
From a document's bytes to the keys of its terms in each view, and its digest, at once.

`nbtext.tokens.reading.read` and `nbtext.tokens.engine.keys` specify what these are; the
compiled reader finds them without the texts in between. Documents that it refuses are
read in Python, and so are rows of tables with several columns, and documents whose
tokens are the matches of a pattern or have a secret.
"""

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from nbtext.document import Document
from nbtext.errors import NoMemoryError
from nbtext.settings.reading import MAIL_SIZE, Settings
from nbtext.tokens import compiled
from nbtext.tokens.engine import engine

if TYPE_CHECKING:
    from nbtext.tokens.reading import Reading


Packed: TypeAlias = tuple[bytes, bytes, bytes]
"""The terms of documents in a view, as `MailReader.read` returns them."""

PackedTerms: TypeAlias = tuple[Packed, ...]
"""The same, of each view."""


class KeyReading(NamedTuple):
    """
    A document as it is counted and scored, when its texts are no longer needed.

    Attributes:
        packed: its terms in each view of the settings, in any order.
        digest: as in `nbtext.tokens.reading.Reading`, like what follows; empty if the
            document is not to be named.
        size: about how many code points its longest view has.
        is_mail: whether it is mail.
    """

    packed: PackedTerms
    digest: bytes
    size: int
    is_mail: bool = False

    @property
    def views(self) -> tuple[memoryview, ...]:
        """The keys of its terms, one view of 64-bit integers for each of those."""
        return tuple([memoryview(keys).cast("Q") for keys, _, _ in self.packed])


AnyReading: TypeAlias = "Reading | KeyReading"
"""A document with its texts, or with the keys of its terms."""


def read_keys(
    document: Document, settings: Settings, *, is_named: bool = True
) -> AnyReading:
    """
    Take a document apart for the views of the settings, down to keys if that is quick.

    Args:
        document: any document.
        settings: how it is read.
        is_named: whether its digest is wanted, which takes a quarter of the time.

    Raises:
        SettingsError: the pattern of the settings cannot be used.
        SecretError: the secret of the settings is not here.
        SourceError: finding its matches in this document takes too long.
        NoMemoryError: it takes more memory than there is.
    """
    if is_read_to_keys(settings):
        found = _compiled_reading(document, settings, is_named)
        if found is not None:
            return found
    from nbtext.tokens.reading import read  # which most mail does without

    return read(document, settings)


def is_read_to_keys(settings: Settings) -> bool:
    """Return whether the compiled reader is for documents of these settings."""
    is_keyed, is_table = settings.secret is not None, settings.has_attributes
    if settings.format != "mail":  # the names of columns are in keys and digests
        has_names = len(settings.fields) > 1 or any(v.fields for v in settings.views)
        is_table = is_table or has_names
    return not (is_keyed or is_table) and engine().is_compiled


def are_read_together(settings: Settings) -> bool:
    """Return whether `nbtext.tokens.batch_reading` is for these settings."""
    if not is_read_to_keys(settings):
        return False
    return compiled.reader(settings.views, settings.format) is not None


def bytes_of(document: Document, settings: Settings) -> bytes | None:
    """Return what a document is to the compiled reader, None if that is not for it."""
    is_read = len(document.texts) == 1 or settings.format == "mail"
    return b"\n".join(document.texts) if is_read else None  # one is not copied


def is_mail_by(kind: int, document: Document, settings: Settings) -> bool:
    """Return whether a document is mail that the compiled reader has read as `kind`."""
    if document.is_mail is not None:
        return document.is_mail
    if settings.format == "mail":
        return kind > 1
    start = document.texts[0][:_LOOKED_AT].lower()
    if sum([field in start for field in _TELL_TALE]) < 2:  # as of most texts
        return False
    from nbtext.mail import looks_like_mail

    return looks_like_mail(document.texts[0])


_LOOKED_AT = 1 << 16
_TELL_TALE = (b"received", b"date", b"message-id", b"return-path", b"mime-version")
"""What `looks_like_mail` looks for, and in how many bytes."""


def digest_of(document: Document, digest: bytes) -> bytes:
    """Return what names a document that has this digest, or an identity besides."""
    if document.identity is None:
        return digest
    from nbtext.tokens.reading import identity_digest

    return identity_digest(document)


def _compiled_reading(
    document: Document, settings: Settings, is_named: bool
) -> KeyReading | None:
    """Return what the compiled reader makes of a document, None if it refuses it."""
    reader = compiled.reader(settings.views, settings.format)
    data = bytes_of(document, settings)
    if reader is None or data is None:
        return None
    try:
        packed, facts = reader.read((data,), is_named, False)
    except MemoryError as error:
        raise NoMemoryError(document.name) from error
    kind = memoryview(facts).cast("Q")[-1]
    if not kind:
        return None
    is_mail = is_mail_by(kind, document, settings)
    size = min(len(data), MAIL_SIZE) if settings.format == "mail" else len(data)
    digest = digest_of(document, facts[:16]) if is_named else b""
    return KeyReading(packed, digest, size, is_mail)
