from random import Random

import pytest

from nbtext.mail import charsets
from nbtext.mail.charsets import _CODECS, decode, upper_half


@pytest.mark.parametrize(
    ("charset", "data", "text"),
    [
        pytest.param("UTF-8", "žluť".encode(), "žluť", id="as registered"),
        pytest.param("utf8", "žluť".encode(), "žluť", id="without hyphen"),
        pytest.param("cp-1251", "тест".encode("cp1251"), "тест", id="with a hyphen"),
        pytest.param("windows-1251", "тест".encode("cp1251"), "тест", id="windows"),
        pytest.param("'koi8-r'", "тест".encode("koi8-r"), "тест", id="quoted"),
        pytest.param("gb2312", "镕".encode("gbk"), "镕", id="gb2312 is gb18030"),
        pytest.param("ks_c_5601-1987", "한글".encode("cp949"), "한글", id="korean"),
        pytest.param("iso-8859-8-i", "שלום".encode("iso8859-8"), "שלום", id="hebrew"),
        pytest.param("x-sjis", "日本".encode("cp932"), "日本", id="x-"),
        pytest.param("windows-874", "ไทย".encode("cp874"), "ไทย", id="thai"),
        pytest.param("iso-2022-jp", b"\x1b$BF|K\\\x1b(B", "日本", id="seven bits"),
        pytest.param("hz-gb-2312", b"~{VPND~}", "中文", id="hz"),
        pytest.param("utf-7", b"+AOk-", "é", id="utf-7"),
    ],
)
def test_a_declared_charset_is_believed(charset: str, data: bytes, text: str) -> None:
    assert decode(data, charset) == text


@pytest.mark.parametrize("charset", [None, "", "us-ascii", "x-unknown", "8bit"])
def test_without_a_charset_utf_8_is_recognised(charset: str | None) -> None:
    assert decode("naïve".encode(), charset) == "naïve"


@pytest.mark.parametrize("charset", [None, "us-ascii", "iso-8859-1", "windows-1252"])
def test_what_is_nothing_else_is_windows_1252(charset: str | None) -> None:
    assert decode(b"na\xefve \x93\x80\x94", charset) == "naïve “€”"


def test_what_windows_1252_leaves_undefined_is_latin_1() -> None:
    assert decode(b"\x81\x8d\x8f\x90\x9d") == "\x81\x8d\x8f\x90\x9d"


def test_mislabelled_utf_8_is_not_read_as_a_single_byte_charset() -> None:
    assert decode("déjà vu".encode(), "iso-8859-1") == "déjà vu"


def test_thai_is_not_taken_for_utf_8() -> None:
    assert decode(b"\xc2\xa1", "tis-620") == "ยก"


def test_what_does_not_fit_a_declared_charset_is_replaced() -> None:
    assert decode(b"a\xffb", "utf-8") == "a\N{REPLACEMENT CHARACTER}b"


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_wins(codec: str) -> None:
    assert decode("žluť".encode(codec), "iso-8859-2") == "žluť"


@pytest.mark.parametrize("charset", ["zip", "rot13", "idna", "punycode", "mbcs", "hex"])
def test_codecs_that_are_no_charsets_are_never_used(charset: str) -> None:
    assert decode(b"abc\xe9", charset) == "abcé"


def test_half_surrogates_become_replacement_characters() -> None:
    assert (
        decode(b"a+2AA-b", "utf-7").encode() == "a\N{REPLACEMENT CHARACTER}b".encode()
    )


@pytest.mark.parametrize("codec", sorted(set(_CODECS.values())))
def test_every_codec_takes_any_bytes(codec: str) -> None:
    data = bytes(range(256)) + bytes(range(255, -1, -1)) + b"\x1b$B\xff~{\xff+2AA"

    decode(data, codec).encode()


@pytest.mark.parametrize(
    "charset",
    ["iso-8859-2", "koi8-r", "windows-1251", "cp437", "hp-roman8", "l1", "unheard-of"],
)
def test_an_upper_half_says_what_decode_says(charset: str) -> None:
    half = upper_half(charset)
    chance = Random(7)  # noqa: S311  nothing secret

    assert half is not None
    for _ in range(100):
        data = chance.randbytes(40) + b"\xff"  # which no UTF-8 has
        data = b"-" + data  # no mark
        expected = "".join(chr(b) if b < 0x80 else half[b - 0x80] for b in data)
        assert decode(data, charset) == expected
    assert decode("Grüße".encode(), charset) == "Grüße"


@pytest.mark.parametrize("charset", ["gb2312", "utf-8", "utf-7", "cp864", "tis-620"])
def test_other_charsets_have_no_upper_half(charset: str) -> None:
    assert upper_half(charset) is None


def test_made_up_names_of_charsets_are_forgotten() -> None:
    for number in range(5000):
        assert decode(b"\xe9", f"made-up-{number}") == "é"

    assert len(charsets._CODEC_OF) < 2000
    assert decode(b"\xe6", "ISO 8859 2") == "ć"


@pytest.mark.parametrize("codec", ["not_there", "iso8859_99"])
def test_a_codec_that_cannot_be_loaded_is_short_memory(
    codec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python says `LookupError` where there is no room for its module."""
    monkeypatch.setitem(charsets._CODEC_OF, "charset", codec)

    with pytest.raises(MemoryError, match=codec):
        decode(b"\xe9\xe9", "charset")
