"""
Any bytes at all are a mail: nothing raises, and all bounds are kept.

The line ends and the mailbox make no difference, whatever the bytes.
"""

from hypothesis import assume, example, given
from hypothesis import strategies as st

from nbtext.byte_order import MARKS, is_wide
from nbtext.mail.charsets import _CODECS, decode
from nbtext.mail.markup import html_text
from nbtext.mail.message import (
    DIGEST_SIZE,
    MAX_HEADER_CHARS,
    RAW_BYTES,
    read_mail,
)
from nbtext.mail.recognising import looks_like_mail

PIECES = [
    *(b"\n", b"\n\n", b" ", b"\t", b":", b";", b"=", b'"', b"\\", b"--b", b"--", b"'"),
    *(b"From ", b"Subject: ", b"Received: ", b"Date: ", b"1.2.3.4", b"12:30", b"\0"),
    *(b"Content-Type: ", b"multipart/mixed; boundary=b\n\n", b"message/rfc822\n\n"),
    *(b"text/html", b"; charset=", b"utf-7", b"iso-2022-jp", b"gb2312", b"utf-16"),
    *(b"Content-Transfer-Encoding: ", b"base64\n\n", b"quoted-printable\n\n"),
    *(
        b"x-uuencode\n\nbegin 644 x\n",
        b"end\n",
        b"QUJD",
        b"=?utf-8?q?",
        b"=?x?b?",
        b"?=",
    ),
    *(b"<b>", b"<", b">", b"<!--", b"-->", b"&#", b"&amp;", b"\xe9", b"\xc3\xa9"),
]

WIDE = [(mark, codec) for mark, codec in MARKS if is_wide(mark)]
"""UTF-16 and UTF-32, in both orders of bytes."""

mails = st.lists(st.sampled_from(PIECES) | st.binary(max_size=8)).map(b"".join)


@given(mails | st.binary())
def test_any_bytes_are_a_mail_within_bounds(data: bytes) -> None:
    looks_like_mail(data)
    mail = read_mail(data)

    assert sum(len(name) + len(text) for name, text in mail.headers) <= MAX_HEADER_CHARS
    assert len(mail.raw) <= RAW_BYTES
    assert len(mail.digest) == DIGEST_SIZE
    for text in (*mail.body, *(text for _, text in mail.headers)):
        text.encode()  # no lone surrogates


@given(mails)
def test_line_ends_make_no_difference(data: bytes) -> None:
    data = data.replace(b"\r", b"")  # of CR CR LF, two ends are made
    assume(not is_wide(data))  # its line ends are not these bytes: see below

    assert read_mail(data.replace(b"\n", b"\r\n")) == read_mail(data)


@given(mails)
@example(b"\n\xfe\xff")
def test_an_envelope_line_makes_no_difference(data: bytes) -> None:
    assume(not is_wide(data))  # an envelope before it would hide the mark: see below

    assert read_mail(b"From someone\n" + data.lstrip(b"\r\n")) == read_mail(data)


@given(mails, st.sampled_from(WIDE))
def test_nor_do_they_in_wide_text(data: bytes, wide: tuple[bytes, str]) -> None:
    mark, codec = wide
    text = data.decode("latin-1").replace("\r", "")
    text = text.lstrip("\n\0")  # NUL after a mark of UTF-16 makes it one of UTF-32

    def marked(text: str) -> bytes:
        return mark + text.encode(codec)

    mail = read_mail(marked(text))

    assert read_mail(marked(text.replace("\n", "\r\n"))) == mail
    assert read_mail(marked("From someone\n" + text)) == mail


@given(st.binary(), st.sampled_from(sorted(_CODECS)) | st.text())
def test_any_bytes_are_text_in_any_charset(data: bytes, charset: str) -> None:
    decode(data, charset).encode()


@given(st.text(alphabet="<>!-/ab &;#x1\n\"'"))
def test_markup_never_grows(markup: str) -> None:
    assert len(html_text(markup)) <= len(markup)
