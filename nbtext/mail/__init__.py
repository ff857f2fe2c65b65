"""
A message as it travels, to what it says.

In: the bytes of a message, however broken. Out: a `Mail`: its header fields, its raw
text, its body's text and a digest of what stays the same from delivery to delivery.
Any bytes at all give a `Mail`; nothing here raises, or imports the rest of nbtext.

What is exported is loaded when it is first asked for: one message needs little of it.
"""

from nbtext.faces import lazy_face

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbtext.mail.charsets import decode
    from nbtext.mail.dates import date_of
    from nbtext.mail.heading import Heading, heading_of
    from nbtext.mail.message import Mail, read_mail
    from nbtext.mail.recognising import looks_like_mail

__all__ = [
    "Heading",
    "Mail",
    "date_of",
    "decode",
    "heading_of",
    "looks_like_mail",
    "read_mail",
]

_HOMES = {
    "charsets": ["decode"],
    "dates": ["date_of"],
    "heading": ["Heading", "heading_of"],
    "message": ["Mail", "read_mail"],
    "recognising": ["looks_like_mail"],
}

__getattr__ = lazy_face(__name__, _HOMES)
