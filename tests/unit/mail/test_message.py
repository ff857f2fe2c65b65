import base64
import binascii
from collections.abc import Callable

import pytest

from nbtext.mail.message import (
    MAX_HEADER_CHARS,
    RAW_BYTES,
    Mail,
    read_mail,
    text_parts,
)
from nbtext.mail.mime import MOST_DEPTH, MOST_PARTS
from nbtext.mail.recognising import looks_like_mail

MAIL = b"""\
Return-Path: <ann@example.org>
Received: from mx (mx.example.org [192.0.2.17]) by mail; Mon, 1 Jul 2002 14:03:09 +0200
Received: by mx (8.12.1); Mon, 1 Jul 2002
From: Ann <ann@example.org>
To: bob@example.net
Subject: a long
 subject
Date: Mon, 1 Jul 2002 14:03:09 +0200
Message-ID: <1@example.org>
X-Spam-Status: No
MIME-Version: 1.0
Content-Type: multipart/alternative;
\tboundary="=_b"

preamble
--=_b
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: base64

TsOhLA==
--=_b
Content-Type: text/html
Content-Transfer-Encoding: quoted-printable

fr<b>=65</b>e<p>b=
eer
--=_b--
epilogue
"""


def texts(mail: Mail, name: str) -> list[str]:
    return [text for field, text in mail.headers if field == name]


def with_type(declared: str, body: str, encoding: str = "8bit") -> bytes:
    return (
        f"From: a\nContent-Type: {declared}\nContent-Transfer-Encoding: {encoding}"
        f"\n\n{body}"
    ).encode()


def test_body_is_the_decoded_text_of_the_parts() -> None:
    assert read_mail(MAIL).body == ["Ná,", "free beer"]


def test_headers_are_unfolded() -> None:
    assert texts(read_mail(MAIL), "subject") == ["a long subject"]


def test_received_loses_its_date_and_gains_the_networks() -> None:
    assert texts(read_mail(MAIL), "received") == [
        "from mx (mx.example.org [192.0.2.17]) by mail 192.0.2. 192.0.",
        "by mx (8.12.1)",
    ]


def test_networks_are_found_in_every_address_of_a_field() -> None:
    mail = read_mail(b"X-Originating-IP: 1.22.3.4, [203.0.113.250], 5.6.7\n\n")

    assert texts(mail, "x-originating-ip") == [
        "1.22.3.4, [203.0.113.250], 5.6.7 1.22.3. 1.22. 203.0.113. 203.0."
    ]


def test_synthetic_fields_tell_what_there_is() -> None:
    mail = read_mail(MAIL)

    assert texts(mail, "has") == [
        "return-path received from to subject date message-id mime-version content-type"
    ]
    assert texts(mail, "hops") == ["received=2"]


def test_fields_of_parts_are_marked_and_boundaries_left_out() -> None:
    mail = read_mail(MAIL)

    assert texts(mail, "content-type") == ["multipart/alternative;"]
    assert texts(mail, "part.content-type") == [
        "text/plain; charset=utf-8",
        "text/html",
    ]


@pytest.mark.parametrize(
    ("date", "text"),
    [
        pytest.param("Mon, 1 Jul 2002 14:03:09 +0200", "mon 14h +0200", id="usual"),
        pytest.param("1 Jul 2002 4:03 GMT (x)", "04h gmt", id="named zone"),
        pytest.param("Tue", "tue", id="weekday alone"),
        pytest.param("yesterday", "undated", id="nothing"),
    ],
)
def test_dates_are_weekday_hour_and_zone(date: str, text: str) -> None:
    assert texts(read_mail(f"Date: {date}\n\n".encode()), "date") == [text]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(b"=?iso-8859-1?Q?a=E9_b?=", "aé b", id="Q"),
        pytest.param(b"=?UTF-8?b?w6k=?= x", "é x", id="B"),
        pytest.param(b"x =?utf-8?q?a?=\n =?utf-8?q?b?= y", "x ab y", id="adjacent"),
        pytest.param(b"=?utf-8?q?=c3?= =?utf-8?q?=a9?=", "é", id="cut character"),
        pytest.param(
            b"=?utf-8?q?a?= =?koi8-r?q?=c1?=",
            "a\N{CYRILLIC SMALL LETTER A}",
            id="two charsets",
        ),
        pytest.param(b"=?utf-8?q?a", "=?utf-8?q?a", id="endless"),
        pytest.param(b"=?utf-8?x?a?=", "=?utf-8?x?a?=", id="unknown encoding"),
        pytest.param(b"=?nonsense?q?=e9?=", "é", id="unknown charset"),
        pytest.param(b"=?utf-8*en?q?a?=", "a", id="with language"),
        pytest.param("é".encode(), "é", id="raw UTF-8"),
        pytest.param(b"\xe9", "é", id="raw Latin-1"),
    ],
)
def test_subjects_are_decoded(value: bytes, text: str) -> None:
    assert texts(read_mail(b"Subject: " + value + b"\n\n"), "subject") == [text]


def test_raw_is_the_visible_lines_without_dates_and_the_body_as_sent() -> None:
    raw = read_mail(MAIL).raw

    assert b"by mail\nReceived: by mx (8.12.1)\nFrom: Ann" in raw
    assert b"X-Spam" not in raw
    assert raw.endswith(b"\n\npreamble" + MAIL.partition(b"\n\npreamble")[2])
    assert len(read_mail(MAIL + bytes(RAW_BYTES)).raw) == RAW_BYTES


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda m: m.replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(lambda m: m.replace(b"\n", b"\r"), id="CR"),
        pytest.param(lambda m: b"From ann Mon Jul 1\n" + m, id="mbox"),
        pytest.param(lambda m: b"\n\n" + m, id="empty lines"),
        pytest.param(
            lambda m: (
                b"Delivered-To: b\nx-nbtext: spam\nLines: 3\nX-UID: 4\n"
                b"Status: RO\nX-Bogosity: Yes,\n tests\n" + m
            ),
            id="invisible fields",
        ),
        pytest.param(
            lambda m: (
                b"X-TUID: 3EXImGUnpEM5\nX-OfflineIMAP: 1-2\n"
                b"X-getmail-retrieved-from-mailbox: Junk\n" + m
            ),
            id="fields of programs that fetch mail",
        ),
    ],
)
def test_nothing_changes_with_the_mailbox(change: Callable[[bytes], bytes]) -> None:
    assert read_mail(change(MAIL)) == read_mail(MAIL)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(b"a long\n subject", b"a\n\tlong subject", id="folding"),
        pytest.param(b"Return-Path", b"Received: by y; 1\nReturn-Path", id="Received"),
        pytest.param(b"TsOhLA==", b"TsOh\nLA==", id="encoding"),
        pytest.param(b"epilogue\n", b"epilogue\n\n", id="lines at the end"),
    ],
)
def test_the_digest_is_over_what_is_stable(old: bytes, new: bytes) -> None:
    assert read_mail(MAIL.replace(old, new)).digest == read_mail(MAIL).digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(b"Ann", b"Anne", id="From"),
        pytest.param(b"eer", b"ear", id="text"),
        pytest.param(b"To: bob@example.net\n", b"", id="missing field"),
        pytest.param(b"To: bob@example.net\n", b"To:\n", id="empty field"),
    ],
)
def test_the_digest_tells_messages_apart(old: bytes, new: bytes) -> None:
    assert read_mail(MAIL.replace(old, new)).digest != read_mail(MAIL).digest


def test_moving_text_between_fields_changes_the_digest() -> None:
    one = read_mail(b"From: a b\nTo: c\n\n").digest
    other = read_mail(b"From: a\nTo: b c\n\n").digest

    assert one != other


@pytest.mark.parametrize(
    ("data", "body"),
    [
        pytest.param(b"", [""], id="nothing"),
        pytest.param(b"just text\n\nmore", ["just text\n\nmore"], id="no header"),
        pytest.param(b"http://a.b/\n\nx", ["http://a.b/\n\nx"], id="begins with a URL"),
        pytest.param(b"\nbody", ["body"], id="empty line first"),
        pytest.param(b"From: a", [""], id="no body"),
        pytest.param(
            b"From: a\nhello\nyou\n\nx", ["hello\nyou", "x"], id="stray lines"
        ),
        pytest.param(b"From: a\n>From b c\nTo: c\n\nx", ["x"], id="quoted From line"),
        pytest.param(b"?\nDate: a\nMIME-Version: b\n\nx", ["?", "x"], id="bad start"),
        pytest.param(b"From: a\n\n <HTML>a<b>b", ["  ab"], id="undeclared HTML"),
        pytest.param(b"From: a\n\n\x00\xe9", ["\x00é"], id="NUL and 8-bit"),
    ],
)
def test_malformed_messages_lose_no_text(data: bytes, body: list[str]) -> None:
    assert read_mail(data).body == body


@pytest.mark.parametrize(
    ("declared", "body", "texts"),
    [
        pytest.param("boundary=b", "--b\n\nx", ["--b\n\nx"], id="no type"),
        pytest.param("multipart/x; boundary=b", "--b\n\nx", ["x"], id="no end"),
        pytest.param("multipart/x;boundary=b", "--b  \n\nx\n--b--", ["x"], id="blanks"),
        pytest.param("multipart/x", "a\n--??\n\nx\n--??--", ["x"], id="guessed"),
        pytest.param("multipart/x; boundary=b", "text", ["text"], id="never occurs"),
        pytest.param("multipart/x; boundary=b", "--bc\nx", ["--bc\nx"], id="prefix"),
        pytest.param("multipart/x; boundary=b", "--b\n--b\n\nx", ["", "x"], id="empty"),
        pytest.param(
            "multipart/x; boundary*0=a; boundary*1=b", "--ab\n\nx", ["x"], id="pieces"
        ),
        pytest.param("image/png", "x", [], id="no text"),
        pytest.param("message/delivery-status", "a: b", ["a: b"], id="report"),
        pytest.param("message/rfc822", "Subject: s\n\nx", ["s", "x"], id="message"),
        pytest.param("text/plain; charset*=u'en'koi8-r", "x", ["x"], id="extended"),
    ],
)
def test_parts(declared: str, body: str, texts: list[str]) -> None:
    assert read_mail(with_type(declared, body)).body == texts


LONG = "The quick brown fox jumps over the lazy dog."
BASE64 = base64.encodebytes(LONG.encode()).decode()


@pytest.mark.parametrize(
    ("encoding", "body", "text"),
    [
        pytest.param("BASE64", BASE64, LONG, id="base64"),
        pytest.param("base64", BASE64.rstrip("=\n"), LONG, id="without padding"),
        pytest.param("base64", BASE64 + "\n" + BASE64, LONG + LONG, id="joined"),
        pytest.param("base64", "!" + BASE64, LONG, id="junk"),
        pytest.param(
            "base64", BASE64 + "___\nfoot er", LONG + "___\nfoot er", id="foot"
        ),
        pytest.param("base64", "not at all encoded", "not at all encoded", id="prose"),
        pytest.param("quoted-printable", "a=3D=\nb=ZZ", "a=b=ZZ", id="qp"),
        pytest.param(
            "x-uuencode",
            f"x\nbegin 644 f\n{binascii.b2a_uu(LONG.encode()).decode()}`\nend\ny",
            f"x\n{LONG}y",
            id="uuencode",
        ),
    ],
)
def test_transfer_encodings(encoding: str, body: str, text: str) -> None:
    found = read_mail(with_type("text/plain", body, encoding)).body

    assert [part.replace("\n___", "___") for part in found] == [text]


def test_depth_and_number_of_parts_are_bounded() -> None:
    heads = [
        b"Content-Type: multipart/x; boundary=%d\n\n--%d\n" % (n, n)
        for n in range(MOST_DEPTH + 1)
    ]
    many = b"Content-Type: multipart/x; boundary=b\n\n" + b"--b\n\nx\n" * 2000

    assert read_mail(b"".join(heads[1:]) + b"\nword").body == ["word"]
    assert read_mail(b"".join(heads) + b"\nword").body == []
    assert len(read_mail(many).body) == MOST_PARTS


def test_header_text_is_bounded() -> None:
    mail = read_mail(b"X: " + b"a" * 2 * MAX_HEADER_CHARS + b"\nY: b\n\nbody")

    assert sum(len(name) + len(text) for name, text in mail.headers) == MAX_HEADER_CHARS
    assert mail.body == ["body"]


def test_text_parts_keep_their_tags() -> None:
    assert text_parts(MAIL) == [("plain", "Ná,"), ("html", "fr<b>e</b>e<p>beer")]


@pytest.mark.parametrize(
    ("data", "is_mail"),
    [
        pytest.param(MAIL, True, id="mail"),
        pytest.param(MAIL.replace(b"\n", b"\r\n"), True, id="CRLF"),
        pytest.param(b"From a b\nDATE: x\nmime-version: y", True, id="mbox"),
        pytest.param(b"From: a\nSubject: b\nDate: c\n\n", False, id="news"),
        pytest.param(b"Received: a\nReceived: b\n\n", False, id="one field twice"),
        pytest.param(b"x\n\nDate: a\nMIME-Version: b", False, id="not the first block"),
        pytest.param(b"", False, id="nothing"),
    ],
)
def test_looks_like_mail(data: bytes, is_mail: bool) -> None:
    assert looks_like_mail(data) is is_mail


def test_mails_that_say_nothing_are_told_apart_by_their_other_fields() -> None:
    one = b"Received: from a\nX-Mailer: mutt\nReply-To: a@b.example\n\n"
    other = b"Received: from a\nX-Mailer: mutt\nReply-To: c@d.example\n\n"
    delivered = b"Received: from elsewhere\nStatus: RO\n" + one.replace(b"\n", b"\r\n")

    assert read_mail(one).digest != read_mail(other).digest
    assert read_mail(one).digest == read_mail(delivered).digest
