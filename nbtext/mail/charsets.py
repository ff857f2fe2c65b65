"""
Bytes and the charset they claim to be in go in, text comes out, whatever the bytes.

Charset names are read as mail writes them and as browsers understand them (WHATWG
Encoding Standard, section 4.2): `gb2312` is read as its superset GB 18030, `iso-8859-1`
as Windows-1252. Only the codecs listed here are ever used, so that no name in a message
can reach the codecs of Python that are not charsets (`zip`, `rot13`, `idna`).
"""

import codecs

from nbtext.byte_order import marked_codec

_SINGLE_BYTE = (
    "cp437", "cp720", "cp737", "cp775", "cp850", "cp852", "cp855", "cp857", "cp858",
    "cp860", "cp861", "cp862", "cp863", "cp864", "cp865", "cp866", "cp869", "cp874",
    "cp1125", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257",
    "cp1258", "hp_roman8", "iso8859_2", "iso8859_3", "iso8859_4", "iso8859_5",
    "iso8859_6", "iso8859_7", "iso8859_8", "iso8859_10", "iso8859_13", "iso8859_14",
    "iso8859_15", "iso8859_16", "koi8_r", "koi8_t", "koi8_u", "kz1048", "mac_cyrillic",
    "mac_greek", "mac_iceland", "mac_latin2", "mac_roman", "mac_turkish", "ptcp154",
)  # fmt: skip

_MULTI_BYTE = (
    "big5hkscs", "cp932", "cp949", "euc_jis_2004", "euc_jp", "gb18030", "hz",
    "iso2022_jp", "iso2022_jp_1", "iso2022_jp_2", "iso2022_jp_2004", "iso2022_jp_3",
    "iso2022_jp_ext", "iso2022_kr", "johab", "shift_jis_2004", "utf_7", "utf_8",
    "utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_32_be", "utf_32_le",
)  # fmt: skip

_ALIASES = {
    "cp1252": "ansi cp819 cp1252 ibm819 iso88591 l1 latin1 win1252 windows1252",
    "big5hkscs": "big5 cnbig5 cp950 windows950",
    "cp437": "ibm437",
    "cp850": "ibm850",
    "cp852": "ibm852",
    "cp866": "ibm866",
    "cp874": "iso885911 tis620 thai",
    "cp932": "cp943 csshiftjis mskanji shiftjis sjis windows31j",
    "cp949": "cseuckr euckr ksc5601 ksc56011987 ksc56011989 uhc",
    "cp1254": "iso88599 latin5",
    "euc_jp": "eucjp ujis",
    "gb18030": "cp936 chinese csgb2312 euccn gb2312 gb231280 gbk",
    "hz": "hzgb2312",
    "iso2022_jp": "csiso2022jp jis",
    "iso2022_jp_ext": "cp50220 cp50221 cp50222",
    "iso2022_kr": "csiso2022kr",
    "iso8859_2": "latin2",
    "iso8859_5": "cyrillic",
    "iso8859_6": "arabic iso88596e iso88596i",
    "iso8859_7": "greek",
    "iso8859_8": "hebrew iso88598e iso88598i logical visual",
    "iso8859_15": "latin9",
    "koi8_r": "cskoi8r koi koi8",
    "koi8_u": "koi8ru",
    "mac_roman": "mac macintosh",
    "utf_7": "unicode11utf7",
    "utf_8": "unicode11utf8 utf8mb4",
    "utf_16": "ucs2 unicode",
}


def _squeeze(name: str) -> str:
    """Reduce a charset's name to what its spellings have in common."""
    squeezed = "".join(filter(_IN_NAMES.__contains__, name.lower()))
    return squeezed.removeprefix("x")


_LONGEST_NAME = 64

_IN_NAMES = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")

_CODECS = {_squeeze(codec): codec for codec in _SINGLE_BYTE + _MULTI_BYTE}
_CODECS |= {f"windows{n}": f"cp{n}" for n in (874, *range(1250, 1259))}
_CODECS |= {f"win{n}": f"cp{n}" for n in (874, *range(1250, 1259))}
_CODECS |= {name: codec for codec, names in _ALIASES.items() for name in names.split()}
"""Squeezed name -> Python codec. US-ASCII is none: of 8-bit bytes it says nothing."""

_SEVEN_BIT = frozenset(
    codec
    for codec in _MULTI_BYTE
    if codec.startswith(("iso2022", "hz", "utf_7", "utf_16", "utf_32"))
)
"""Charsets that write other characters in ASCII bytes."""

_SNIFFED_FIRST = frozenset(_SINGLE_BYTE) - {"cp874"} | {"cp1252"}
"""
Single-byte charsets that give way to UTF-8 where the bytes are valid UTF-8.

In these, what UTF-8 needs (a letter of an upper row followed by characters from 0x80
to 0xBF, throughout) is no text in any language; mislabelled UTF-8 is common. In Thai
both halves are letters, so Thai is believed.
"""

_LATIN_1 = bytes(range(256)).decode("latin-1")
_WINDOWS_1252 = (
    _LATIN_1[:0x80]
    + "\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021"
    + "\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f"
    + "\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014"
    + "\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178"
    + _LATIN_1[0xA0:]
)
"""Windows-1252 as browsers read it: the five bytes it lacks are Latin-1's."""


def decode(data: bytes, charset: str | None = None) -> str:
    """
    Decode bytes as what they are said to be, or else as what they look like.

    A byte order mark is believed first, then the charset (what does not fit becomes
    U+FFFD), except that valid UTF-8 is not read as a single-byte charset. Without a
    known charset, valid UTF-8 is UTF-8 and all else is Windows-1252.

    Args:
        data: any bytes.
        charset: the name given in the message, however spelled; None if there is none.

    Returns:
        Text without lone surrogates.
    """
    codec = _CODEC_OF[charset[:_LONGEST_NAME]] if charset else None
    if data.isascii() and codec not in _SEVEN_BIT:
        return data.decode("ascii")
    marked = marked_codec(data)
    if marked is not None:
        marked_as, length = marked
        return data[length:].decode(marked_as, "replace")
    if codec is None or codec in _SNIFFED_FIRST:
        return _sniffed(data, codec or "cp1252")
    return _replacing(data, codec)


def upper_half(charset: str) -> str | None:
    """
    Return the characters that the bytes from 0x80 on stand for in a charset.

    None unless each byte stands for one, those below for ASCII's, and valid UTF-8 comes
    first: then `decode` says no more of text without a mark.
    """
    codec = _CODEC_OF[charset[:_LONGEST_NAME]]
    if codec is None or codec == "cp1252":
        return _WINDOWS_1252[0x80:]
    if codec not in _SNIFFED_FIRST:
        return None
    text = _by_codec(bytes(range(256)), codec)
    return text[0x80:] if text[:0x80] == _LATIN_1[:0x80] else None


class _CodecOf(dict[str, str | None]):
    """A charset's name, however spelled -> its codec, None if it is not known."""

    def __missing__(self, charset: str) -> str | None:
        if len(self) >= _MOST_SPELLINGS:
            self.clear()  # somebody makes them up
        self[charset] = codec = _CODECS.get(_squeeze(charset))
        return codec


_MOST_SPELLINGS = 1024

_CODEC_OF = _CodecOf()


def _sniffed(data: bytes, codec: str) -> str:
    """Decode as UTF-8 if the bytes are that, else by the single-byte codec."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    if codec == "cp1252":
        return codecs.charmap_decode(data, "strict", _WINDOWS_1252)[0]
    return _by_codec(data, codec)


def _replacing(data: bytes, codec: str) -> str:
    """Decode by a codec, with U+FFFD for what is not in it."""
    text = _by_codec(data, codec)
    if codec == "utf_7":  # the one decoder that lets lone surrogates through
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _by_codec(data: bytes, codec: str) -> str:
    """
    Decode by one of the codecs of Python, with U+FFFD for what is not in it.

    Raises:
        MemoryError: there is not enough to load it; Python says that it knows none.
    """
    try:
        return data.decode(codec, "replace")
    except LookupError as error:
        message = f"the codec {codec} cannot be loaded"
        raise MemoryError(message) from error
