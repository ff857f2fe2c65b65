"""What is read of a message is bounded, and so is the memory, whatever is in it."""

import base64
import tracemalloc
from collections.abc import Callable

import pytest

from nbtext.filtering.header_field import AddedField, pieces_with_added
from nbtext.mail.headers import HEADER_BYTES
from nbtext.mail.message import BODY_BYTES, read_mail

MB = 1 << 20
SIZE = 2 * MB
HEAD = b"From: a@b.example\nSubject: hi\n"
MIXED = b"Content-Type: multipart/mixed; boundary=b\n\n"
NESTED = [
    b"Content-Type: multipart/x; boundary=%d\n\n--%d\n" % (n, n) for n in range(15)
]
QUOTED = (
    b"Content-Type: message/rfc822\nContent-Transfer-Encoding: quoted-printable\n\n"
)


def filled(start: bytes, unit: bytes) -> bytes:
    return start + unit * ((SIZE - len(start)) // len(unit))


def as_html(unit: bytes) -> bytes:
    return filled(HEAD + b"Content-Type: text/html\n\n", unit)


def as_text(encoding: bytes, unit: bytes) -> bytes:
    start = b"Content-Type: text/plain\nContent-Transfer-Encoding: "
    return filled(HEAD + start + encoding + b"\n\n", unit)


def parameters(unit: bytes) -> bytes:
    return filled(HEAD + b"Content-Type: text/plain", unit) + b"\n\nx\n"


HOSTILE: dict[str, Callable[[], bytes]] = {
    "short fields": lambda: filled(HEAD, b"a:\n"),
    "names": lambda: HEAD + b"".join(b"x%d: y\n" % n for n in range(SIZE // 12)),
    "no fields": lambda: filled(HEAD, b"ab cd\n"),
    "folds": lambda: filled(HEAD + b"X:", b"a\n "),
    "forged fields": lambda: filled(HEAD, b"X-NBText: a\nb: c\n"),
    "CRs in the header": lambda: filled(HEAD + b"X: ", b"\r"),
    "CRs behind words": lambda: filled(HEAD, b"a: b\r"),
    "CRs": lambda: filled(HEAD + b"\n", b"\r"),
    "encoded words": lambda: filled(HEAD + b"Subject: ", b"=?x?q?a?= "),
    "beginnings of encoded words": lambda: filled(HEAD + b"Subject: ", b"=?"),
    "hosts": lambda: filled(HEAD + b"To: ", b"a@b,"),
    "addresses": lambda: filled(HEAD + b"Received: ", b"1.2.3.4 "),
    "charsets": lambda: parameters(b"; charset=a"),
    "a charset in pieces": lambda: parameters(b"; charset*1=a"),
    "backslashes": lambda: parameters(b'; charset="\\\\'),
    "parts": lambda: filled(HEAD + MIXED, b"--b\n\nx\n"),
    "fields of parts": lambda: filled(HEAD + MIXED, b"--b\n" + b"a:\n" * 9999),
    "parts in parts": lambda: filled(HEAD + b"".join(NESTED), b"word "),
    "messages in messages": lambda: filled(HEAD, b"Content-Type: message/rfc822\n\n"),
    "encoded messages": lambda: filled(HEAD + QUOTED * 15, b"word "),
    "a word": lambda: filled(HEAD + b"\n", b"a"),
    "letters and marks": lambda: filled(HEAD + b"\n", b"a!"),
    "soft line ends": lambda: as_text(b"quoted-printable", b"=\n"),
    "base64": lambda: as_text(b"base64", base64.encodebytes(bytes(range(57)))),
    "padding": lambda: as_text(b"base64", b"A="),
    "uuencode": lambda: as_text(b"x-uuencode", b"begin 6 x\n#86)C\nend\n"),
    "tags": lambda: as_html(b"<b>a<p>"),
    "comments": lambda: as_html(b"<!-- -->"),
    "beginnings of comments": lambda: as_html(b"<!--"),
    "references": lambda: as_html(b"&amp"),
    "UTF-16": lambda: filled(b"\xff\xfe", b"a\0!\0"),
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_message_takes_little_more_memory_than_itself(
    hostile: Callable[[], bytes],
) -> None:
    message = hostile()
    tracemalloc.start()
    try:
        read_mail(message)
        _, reading = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        pieces_with_added(message, AddedField("X-NBText", "spam"))
        _, adding = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert reading < 3 * SIZE + 16 * MB
    assert adding < 3 * SIZE + MB


LONG = HEAD + b"X-Long: y\n" * (HEADER_BYTES // 10)


def test_a_long_header_is_cut_and_still_says_what_the_body_is() -> None:
    mail = read_mail(LONG + b"Content-Type: text/html\n\n<b>b</b>ody")

    assert mail.body == ["body"]
    assert ("subject", "hi") in mail.headers


@pytest.mark.parametrize(
    "late",
    [b"To: a\n", b"DATE : 1\n", b"Message-ID:\n <1@b>\n", b"To: " + b"a, " * MB],
    ids=["to", "date", "folded", "long"],
)
def test_fields_behind_the_cut_name_a_message_wherever_it_is(late: bytes) -> None:
    message = LONG + late + b"\n\nbody"
    delivered = b"Received: from mx\n" * 99 + message.replace(b"\n", b"\r\n")

    digest = read_mail(message).digest

    assert digest != read_mail(LONG + b"\nbody").digest
    assert read_mail(delivered).digest == digest


def test_whether_a_header_is_cut_does_not_change_what_names_the_message() -> None:
    message = b"Subject: hi\nTo: a\n\tb\nX: y\n\nbody"
    delivered = b"Received: from mx\n" * (HEADER_BYTES // 10) + message

    assert ("x", "y") not in read_mail(delivered).headers
    assert read_mail(delivered).digest == read_mail(message).digest


@pytest.mark.parametrize("character", ["a", "\xe9", "\u4e2d", "\U0001f600"])
@pytest.mark.parametrize("shift", range(4))
def test_a_long_body_is_cut_between_two_characters(character: str, shift: int) -> None:
    text = "x" * shift + character * (BODY_BYTES // len(character.encode()) + 9)

    mail = read_mail(HEAD + b"\n" + text.encode())

    assert BODY_BYTES - 4 < len(mail.body[0].encode()) <= BODY_BYTES
    assert text.startswith(mail.body[0])


def test_all_text_parts_together_are_bounded() -> None:
    part = b"--b\n\n" + b"x" * (BODY_BYTES // 2) + b"\n"

    mail = read_mail(HEAD + MIXED + part * 3)

    assert sum(map(len, mail.body)) == BODY_BYTES


@pytest.mark.parametrize("size", [1 << 16, (1 << 16) + 1, 1 << 17, 300_000])
@pytest.mark.parametrize("kind", [b"text/plain", b"application/x"])
def test_line_ends_do_not_change_what_names_a_large_part(
    size: int, kind: bytes
) -> None:
    head = HEAD + b"Content-Type: " + kind
    head += b"\nContent-Transfer-Encoding: base64\n\n"
    unix = b"ab\n" * (size // 3) + b" \n" * 99
    windows = unix.replace(b"\n", b"\r\n")

    one, other = (
        read_mail(head + base64.encodebytes(body)) for body in (unix, windows)
    )

    assert (one.digest == other.digest) is (kind == b"text/plain")


LARGE = 4 * SIZE
ENCODED = base64.encodebytes(b"word " * (LARGE // 7))
HELD: dict[str, tuple[bytes, float]] = {
    "base64": (ENCODED, 1.2),
    "base64 ": (ENCODED.replace(b"\n", b"-\n"), 1.2),
    "x-uu": (b"begin 6 x\n" + b"#86)C\n" * (LARGE // 6), 1.8),
    "binary": (b"word\r\r\n" * (LARGE // 7), 1.3),
}
"""Encoding, what has it, and how much Python may hold besides, in sizes of that."""


@pytest.mark.parametrize("media_type", [b"text/plain", b"message/rfc822"])
@pytest.mark.parametrize("encoding", HELD)
def test_nothing_is_held_twice_as_it_is_decoded(
    encoding: str, media_type: bytes
) -> None:
    encoded, most = HELD[encoding]
    head = b"Content-Type: %b\nContent-Transfer-Encoding: %b\n\n"
    message = HEAD + head % (media_type, encoding.encode()) + encoded
    tracemalloc.start()
    try:
        read_mail(message)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < most * len(message)
