"""
What holds of any bytes as a mail.

Nothing raises; what comes out is bounded, and so is the time; both engines find the
same terms; and the digest is the same wherever the mail is kept.
"""

import re
from collections import Counter as Tally
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from fuzz.laws import Check, drawn_from, expect, within
from nbtext.byte_order import is_wide
from nbtext.document import Document
from nbtext.mail import charsets
from nbtext.mail.charsets import decode
from nbtext.mail.encoded_words import readable
from nbtext.mail.markup import html_text
from nbtext.mail.message import (
    DIGEST_SIZE,
    MAX_HEADER_CHARS,
    RAW_BYTES,
    Mail,
    read_mail,
    text_parts,
)
from nbtext.mail.recognising import looks_like_mail, message_start
from nbtext.mail.transfer import decode_transfer
from nbtext.settings.reading import Settings, default_settings
from nbtext.settings.views import NGRAM_BYTES
from nbtext.tokens import definition
from nbtext.tokens.bag import TermCounts, bag_of, columns_of, fingerprint
from nbtext.tokens.bags import Terms, fingerprints, read_terms, unit_weights
from nbtext.tokens.ngrams import EDGE
from nbtext.tokens.reading import Reading, read

SETTINGS: Final = tuple(
    default_settings(document_format, n_classes, has_threes=n_classes > 2)
    for document_format in ("mail", "text")
    for n_classes in (2, 3)
)

CHARSETS: Final = sorted(set(charsets._CODECS.values()))
ENCODINGS: Final = ("7bit", "base64", "quoted-printable", "x-uuencode")

GROWTH: Final = 24
"""
Bytes of text for a byte of mail, at the most.

A uuencoded line of one character may say that it has 45 bytes.
"""

NEIGHBOUR: Final = Document(
    "a neighbour", (b"Subject: caf\xc3\xa9\n\n\xe2\x82\xac 5\n",)
)

FIELD: Final = re.compile(rb"[!-9;-~]{1,128}[ \t]*+:(?!//)")
"""How the first line of a header begins."""

DELIVERY: Final = (
    b"Received: from a by b; Mon, 1 Jul 2002\n",
    b"Status: RO\n",
    b"X-Spam-Flag: YES\n",
    b"X-NBText: spam\n",
)

PUMPED: Final = 1 << 16
EVERY: Final = 16
"""A piece of one input in sixteen is repeated until it has so many bytes."""

SECONDS: Final = 1.0
"""Fifty times what reading so many takes; the square of the size would show."""


def checker(_folder: Path) -> Check:
    """Return what checks a mail."""
    return check


def check(data: bytes) -> None:
    """
    Refuse a mail of which some law does not hold.

    Raises:
        BrokenLawError: there is one; and whatever else nbtext raises, which it should
            not.
    """
    looks_like_mail(data)
    mail = read_mail(data)
    _check_bounds(data, mail)
    _check_digest(data)
    _check_decoders(data)
    _check_terms(data, drawn_from(data).choice(SETTINGS))
    _check_time(data)


def _check_bounds(data: bytes, mail: Mail) -> None:
    header_size = sum(len(name) + len(text) for name, text in mail.headers)
    room = GROWTH * len(data)
    expect(holds=header_size <= MAX_HEADER_CHARS, law="headers are bounded")
    expect(holds=len(mail.raw) <= RAW_BYTES, law="the raw view is bounded")
    expect(holds=sum(map(len, mail.body)) <= room, law="the body is bounded")
    expect(holds=len(mail.digest) == DIGEST_SIZE, law="a digest has 16 bytes")
    for text in (*mail.body, *(text for _, text in mail.headers)):
        text.encode()  # which has no lone surrogates
    expect(
        holds=sum(len(text) for _, text in text_parts(data)) <= room,
        law="the text parts are bounded",
    )


def _check_digest(data: bytes) -> None:
    unix = data.replace(b"\r", b"")  # of CR CR LF, two line ends are made
    if is_wide(unix):  # a line end of one byte would shift all others
        return
    digest = read_mail(unix).digest
    windows = unix.replace(b"\n", b"\r\n")
    expect(holds=read_mail(windows).digest == digest, law="line ends do not matter")
    start = message_start(unix)
    if FIELD.match(unix, start):
        field = drawn_from(unix).choice((*DELIVERY, b"".join(DELIVERY)))
        delivered = unix[:start] + field + unix[start:]
        is_same = read_mail(delivered).digest == digest
        expect(holds=is_same, law=f"{field!r} does not matter")


def _check_decoders(data: bytes) -> None:
    """Read bytes as each part of a mail could hold them."""
    choice = drawn_from(data)
    text = decode(data, choice.choice(CHARSETS))
    text.encode()
    shown = html_text(text)
    expect(holds=len(shown) <= len(text), law="markup does not grow")
    shown.encode()
    readable(data.decode("latin-1")).encode()
    meant = decode_transfer(data, choice.choice(ENCODINGS))
    is_bounded = len(meant) <= GROWTH * len(data)
    expect(holds=is_bounded, law="a transfer encoding does not grow")


def _check_terms(data: bytes, settings: Settings) -> None:
    """Compare the engines, alone or with another document before this one."""
    reading = read(Document("fuzzed", (data,)), settings)
    neighbour = read(NEIGHBOUR, settings)
    bag = bag_of(reading, settings)
    together = [neighbour.views, reading.views][len(data) % 2 :]
    views = read_terms(settings, together)
    marks = fingerprints(views).tolist()
    expect(holds=marks[-1] == fingerprint(bag), law="the fingerprints are equal")
    for terms, many in zip(bag, views, strict=True):
        _check_view(terms, many, settings)
    for view, fields, terms in zip(settings.views, reading.views, bag, strict=True):
        is_same = Tally(definition.defined_keys(view, fields)) == terms
        expect(holds=is_same, law="the terms are those of the definition")
        is_same = Tally(definition.keys(view, fields)) == terms
        expect(holds=is_same, law="the terms are the same by the plain tokenizer")
    _check_size(reading, bag, settings)


def _check_view(terms: TermCounts, many: Terms, settings: Settings) -> None:
    start = int(many.starts[-2])
    keys, counts = many.keys[start:].tolist(), many.counts[start:].tolist()
    is_same = dict(zip(keys, counts, strict=True)) == terms
    expect(holds=is_same and keys == sorted(terms), law="the terms are equal")
    if "weight" in settings.views[0].columns:
        weights = unit_weights(many)[start:].tolist()
        plain = columns_of(terms, settings.views[0].columns)
        is_same = weights == [plain[key][2] for key in keys]
        expect(holds=is_same, law="the weights are equal")


def _check_size(
    reading: Reading, bag: Sequence[TermCounts], settings: Settings
) -> None:
    expect(holds=len(reading.digest) == DIGEST_SIZE, law="a digest has 16 bytes")
    for view, fields, terms in zip(settings.views, reading.views, bag, strict=True):
        n_characters = sum(len(text) for _, text in fields)
        most = 2 * n_characters
        if view.alphabet == "ngrams":  # of the bytes of UTF-8, a space between fields
            most = min(4 * n_characters + len(fields), NGRAM_BYTES) + len(EDGE)
            most += min(n_characters + len(fields), view.threes or 0) + 1
        law = (
            "a view has two terms a character at the most, n-grams one a byte, and 4, "
        )
        law += "and a run of three for each character where it has them, and 1"
        expect(holds=sum(terms.values()) <= most, law=law)


def _check_time(data: bytes) -> None:
    """Make an input long, and refuse it if reading it takes far longer."""
    choice = drawn_from(data)
    if len(data) < 2 or choice.randrange(EVERY):
        return
    start, end = sorted(choice.sample(range(len(data) + 1), 2))
    times = max((PUMPED - len(data)) // (end - start), 1)
    long = data[:start] + data[start:end] * times + data[end:]
    settings = choice.choice(SETTINGS)
    what = f"reading {len(long)} bytes ({start} to {end}, {times} times) as {settings}"

    def read_all() -> None:
        reading = read(Document("fuzzed", (long,)), settings)
        bag_of(reading, settings)
        read_terms(settings, [reading.views])
        for view, fields in zip(settings.views, reading.views, strict=True):
            sum(1 for _ in definition.keys(view, fields))

    within(SECONDS, read_all, what)
    _check_bounds(long, read_mail(long))
    charset, encoding = choice.choice(CHARSETS), choice.choice(ENCODINGS)
    within(
        SECONDS,
        lambda: html_text(decode(decode_transfer(long, encoding), charset)),
        f"decoding {len(long)} bytes of {charset} in {encoding}",
    )
