"""
A field's value goes in, as its bytes are written, and its readable text comes out.

Encoded words are those of RFC 2047, read as they are written rather than as they should
be; bytes that are not ASCII are UTF-8, or else Windows-1252. The compiled reader asks
for those that are odd, so words are found without `re`: to import that takes as long as
a message.
"""

import binascii

from nbtext.mail.charsets import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_CHARSET = 64
"""Characters of a charset's name in an encoded word, at the most."""


def readable(value: str) -> str:
    """Decode a field's value: raw UTF-8 or Windows-1252, then encoded words, if any."""
    if not value.isascii():
        value = decode(value.encode("latin-1"))
    if "=?" in value:
        value = "".join(_decode_words(value))
    return value.strip()


def _decode_words(value: str) -> "Iterator[str]":
    """
    Decode the encoded words of a value, and pass on what is between them.

    White space between two of them goes (RFC 2047 section 6.2). Neighbours of one
    charset are decoded together, because some mailers cut characters in two.
    """
    run: list[bytes] = []
    run_charset = ""
    end = 0
    for start, word in _words(value):
        between = value[end:start]
        named, encoding, encoded = word.split("?")[1:4]
        charset = named.partition("*")[0]  # RFC 2231 adds a language after a star
        is_alone = bool(between) and not between.isspace()
        if run and (is_alone or charset != run_charset):
            yield decode(b"".join(run), run_charset)
            run.clear()
        if is_alone or not end:
            yield between
        run.append(_word_bytes(encoding, encoded))
        run_charset = charset
        end = start + len(word)
    yield decode(b"".join(run), run_charset)
    yield value[end:]


def _words(value: str) -> "Iterator[tuple[int, str]]":
    """Yield the place of each word, `=?charset?encoding?text?=`, and the word."""
    start = value.find("=?")
    while start >= 0:
        behind = start + 1  # where the next may begin
        name_end = value.find("?", start + 2)
        is_like_one = (
            2 < name_end - start <= _LONGEST_CHARSET + 2
            and value[name_end + 1 : name_end + 3] in _ENCODINGS
            and not any(map(str.isspace, value[start + 2 : name_end]))
        )
        end = value.find("?", name_end + 3) if is_like_one else name_end
        if end < 0:
            return  # what follows has no more question marks
        if is_like_one and value.startswith("?=", end):
            behind = end + 2
            yield start, value[start:behind]
        start = value.find("=?", behind)


_ENCODINGS = ("b?", "B?", "q?", "Q?")


def _word_bytes(encoding: str, encoded: str) -> bytes:
    """Undo an encoded word's Q or B encoding; a broken one stays as it stands."""
    data = encoded.encode()
    if encoding in "qQ":
        return binascii.a2b_qp(data, header=True)
    try:
        return binascii.a2b_base64(data + b"==")
    except binascii.Error:
        return data
