import pytest

from nbtext.document import Document
from nbtext.settings.reading import Settings, default_settings
from nbtext.tokens.reading import is_mail, read

MAIL = default_settings("mail", 2)
TEXT = default_settings("text", 2)
MANY = default_settings("mail", 3)

LETTER = b"""From: Joe <joe@example.org>
To: ann@example.org
Subject: =?utf-8?q?Caf=C3=A9?=
Date: Mon, 1 Jan 2024 10:00:00 +0000
Message-ID: <1@example.org>
MIME-Version: 1.0
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Gr=FC=DFe!
"""


def test_a_mail_is_taken_apart_for_each_view() -> None:
    headers, raw, body = read(Document("m", (LETTER,)), MAIL).views

    assert ("subject", "Café") in headers
    assert {name for name, _ in raw} == {"raw"}
    assert "Gr=FC=DFe!" in "".join(text for _, text in raw)
    assert [name for name, _ in body] == ["body"]
    assert body[0][1].strip() == "Grüße!"


def test_with_many_classes_mail_is_read_as_with_two() -> None:
    document = Document("m", (LETTER,))

    assert read(document, MANY).views == read(document, MAIL).views


def test_text_is_a_body_whatever_it_looks_like() -> None:
    reading = read(Document("m", (LETTER,)), TEXT)

    assert reading.views == ([("body", LETTER.decode())],) * 2
    assert reading.size == len(LETTER)


def test_a_row_has_a_body_a_column() -> None:
    document = Document("r", (b"one", "zwölf".encode()))

    assert read(document, TEXT).views == ([("body", "one"), ("body", "zwölf")],) * 2


@pytest.mark.parametrize("settings", [MAIL, TEXT, MANY], ids=["mail", "text", "many"])
@pytest.mark.parametrize("data", [b"", b"\0", b"\xff\xfe", b"no header at all", LETTER])
def test_any_bytes_are_read_by_any_settings(data: bytes, settings: Settings) -> None:
    reading = read(Document("d", (data,)), settings)

    assert len(reading.views) == len(settings.views)
    assert len(reading.digest) == 16


def digest(settings: Settings, *texts: bytes, identity: str | None = None) -> bytes:
    return read(Document("d", texts, identity=identity), settings).digest


def test_the_digest_of_text_is_over_its_bytes_and_their_parts() -> None:
    assert digest(TEXT, b"ab", b"c") == digest(TEXT, b"ab", b"c")
    assert digest(TEXT, b"ab", b"c") != digest(TEXT, b"a", b"bc")
    assert digest(TEXT, b"abc") != digest(TEXT, b"abc", b"")


def test_the_digest_of_mail_stays_from_delivery_to_delivery() -> None:
    delivered = b"Received: from a by b; now\nX-Spam-Status: Yes\n" + LETTER

    assert digest(MAIL, delivered) == digest(MAIL, LETTER)
    assert digest(MAIL, LETTER.replace(b"Gr=FC", b"gr=FC")) != digest(MAIL, LETTER)


@pytest.mark.parametrize("settings", [MAIL, TEXT], ids=["mail", "text"])
def test_an_identity_is_the_digest_where_there_is_one(settings: Settings) -> None:
    one = digest(settings, b"a", identity="row \udcff 7")

    assert one == digest(settings, b"b", identity="row \udcff 7")
    assert one != digest(settings, b"a", identity="row 8")


@pytest.mark.parametrize(
    ("said", "data", "expected"),
    [
        *[(None, LETTER, True), (None, b"hello", False), (True, b"hello", True)],
        (False, LETTER, False),
    ],
)
def test_the_container_tells_mail_and_else_the_bytes(
    said: bool | None, data: bytes, expected: bool
) -> None:
    document = Document("d", (data,), is_mail=said)

    assert is_mail(document) is expected
    assert read(document, MAIL).is_mail is expected
    assert read(document, TEXT).is_mail is expected
