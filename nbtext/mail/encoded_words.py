"""
A field's value goes in, as its bytes are written, and its readable text comes out.

Encoded words are those of RFC 2047, read as they are written rather than as they should
be; bytes that are not ASCII are UTF-8, or else Windows-1252.
"""

import binascii
import re
from collections.abc import Iterator

from nbtext.mail.charsets import decode

_ENCODED_WORD = r"=\?([^?\s]{1,64})\?([bBqQ])\?([^?]*+)\?="


def readable(value: str) -> str:
    """Decode a field's value: raw UTF-8 or Windows-1252, then encoded words, if any."""
    if not value.isascii():
        value = decode(value.encode("latin-1"))
    if "=?" in value:
        value = "".join(_decode_words(value))
    return value.strip()


def _decode_words(value: str) -> Iterator[str]:
    """
    Decode the encoded words of a value, and pass on what is between them.

    White space between two of them goes (RFC 2047 section 6.2). Neighbours of one
    charset are decoded together, because some mailers cut characters in two.
    """
    run: list[bytes] = []
    run_charset = ""
    end = 0
    for word in re.finditer(_ENCODED_WORD, value):
        between = value[end : word.start()]
        charset = word[1].partition("*")[0]  # RFC 2231 adds a language after a star
        is_alone = bool(between) and not between.isspace()
        if run and (is_alone or charset != run_charset):
            yield decode(b"".join(run), run_charset)
            run.clear()
        if is_alone or not end:
            yield between
        run.append(_word_bytes(word[2], word[3]))
        run_charset = charset
        end = word.end()
    yield decode(b"".join(run), run_charset)
    yield value[end:]


def _word_bytes(encoding: str, encoded: str) -> bytes:
    """Undo an encoded word's Q or B encoding; a broken one stays as it stands."""
    data = encoded.encode()
    if encoding in "qQ":
        return binascii.a2b_qp(data, header=True)
    try:
        return binascii.a2b_base64(data + b"==")
    except binascii.Error:
        return data
