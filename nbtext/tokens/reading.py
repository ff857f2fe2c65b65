"""
From a document's bytes to the fields that a model's views read, and its digest.

A document is taken apart as the settings say, mail or text, whatever its own bytes look
like, so that no single odd document is read differently from how its class was learnt.
"""

from _blake2 import blake2b  # hashlib would load OpenSSL too, for 2 ms
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from nbtext.mail import Mail

from nbtext.byte_order import text_as_utf8
from nbtext.document import Document
from nbtext.errors import NoMemoryError
from nbtext.settings.reading import MAIL_SIZE, Settings
from nbtext.settings.views import View
from nbtext.tokens.tokenizer import Field


class Reading(NamedTuple):
    """
    A document as it is counted and scored.

    Attributes:
        views: its fields, one list for each view of the settings.
        digest: 16 bytes that name it: its identity if it has one, else for mail what
            stays the same from delivery to delivery, else its bytes.
        size: about how many code points its longest view has.
        is_mail: whether it is mail, by its container or by its bytes.
    """

    views: tuple[list[Field], ...]
    digest: bytes
    size: int
    is_mail: bool = False


def is_mail(document: Document) -> bool:
    """Return whether a document is mail, by its container or by its bytes."""
    if document.is_mail is not None:
        return document.is_mail
    from nbtext.mail import looks_like_mail

    return looks_like_mail(document.texts[0])


def read(document: Document, settings: Settings) -> Reading:
    """
    Take a document apart for the views of the settings.

    Raises:
        SettingsError: the pattern of the settings cannot be used.
        SecretError: the secret of the settings is not here.
        SourceError: finding its matches in this document takes too long, it lacks a
            column, or holds another thing there than a number.
        NoMemoryError: it takes more memory than there is.
    """
    reading = _read_mail if settings.format == "mail" else _read_text
    if settings.has_attributes:
        reading = _read_record
    try:
        found = reading(document, settings)
    except MemoryError as error:
        raise NoMemoryError(document.name) from error
    if settings.secret is None:
        return found
    from nbtext.tokens.keyed import keyed

    return found._replace(digest=keyed(settings.secret).digest(found.digest))


def _read_text(document: Document, settings: Settings) -> Reading:
    from nbtext.mail import decode

    body = [(name, decode(text_as_utf8(text))) for name, text in document.fields]
    is_named = document.identity is not None
    digest = identity_digest(document) if is_named else _of_texts(document)
    size = sum(map(len, document.texts))
    views = tuple(
        _matched(body, view, settings, document.name) for view in settings.views
    )
    return Reading(views, digest, size, is_mail(document))


def _read_mail(document: Document, settings: Settings) -> Reading:
    from nbtext.mail import read_mail  # the compiled reader does without it

    data = b"\n".join(document.texts)  # of one text it is that, not copied
    mail = read_mail(data)
    digest = mail.digest if document.identity is None else identity_digest(document)
    views = tuple(
        [
            _matched(VIEWS[view.text](mail), view, settings, document.name)
            for view in settings.views
        ]
    )
    is_mail = mail.is_typical if document.is_mail is None else document.is_mail
    return Reading(views, digest, min(len(data), MAIL_SIZE), is_mail)


def _read_record(document: Document, settings: Settings) -> Reading:
    from nbtext.tokens.attributes import attribute_fields, in_order, of_kind

    record = in_order(document, settings)
    attributes = attribute_fields(record, settings)
    reading = _read_mail if settings.format == "mail" else _read_text
    texts = of_kind(record, settings, "text")
    of_text = Reading((), b"", 0)
    if texts.texts:
        of_text = reading(texts, settings.of_text())
    # what is distinct in any column is another document
    digest = _of_texts(record) if record.identity is None else identity_digest(record)
    views = (*of_text.views, *attributes)
    size = sum(map(len, record.texts))
    return of_text._replace(views=views, digest=digest, size=size)


def _matched(
    fields: list[Field], view: View, settings: Settings, name: str
) -> list[Field]:
    """Return the fields with the matches of the pattern, if the view reads those."""
    if view.alphabet != "pattern" or settings.pattern is None:
        return fields
    from nbtext.tokens.pattern import matches  # which loads regex, only for this

    pattern = settings.pattern
    return [(field, matches(pattern, text, name)) for field, text in fields]


VIEWS: Final[dict[str, Callable[["Mail"], list[Field]]]] = {
    "headers": lambda mail: mail.headers,
    "raw": lambda mail: [("raw", mail.raw.decode("latin-1"))],
    "body": lambda mail: [("body", text) for text in mail.body],
}


def identity_digest(document: Document) -> bytes:
    """Return the digest of a document that is known by its identity."""
    identity = (document.identity or "").encode("utf-8", "surrogatepass")
    return blake2b(identity, digest_size=16, person=b"nbtext identity").digest()


def _of_texts(document: Document) -> bytes:
    hashed = blake2b(digest_size=16)
    for text in document.texts:
        hashed.update(len(text).to_bytes(8, "little"))
        hashed.update(text)
    return hashed.digest()
