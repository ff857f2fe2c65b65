"""The compiled reader of plain texts finds what the plain one specifies."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fuzz.readers import check
from nbtext.document import Document
from nbtext.settings.reading import Settings, default_settings
from nbtext.settings.views import Field as Column
from nbtext.tokens import fingerprints, read_terms
from nbtext.tokens.batch_reading import read_together
from nbtext.tokens.engine import COMPILED, best
from nbtext.tokens.key_reading import KeyReading, are_read_together, read_keys
from nbtext.tokens.reading import read
from tests.corpus.splits import CORPORA

TWO = default_settings("text", 2)
MANY = default_settings("text", 20)

pytestmark = pytest.mark.skipif(
    best() != COMPILED, reason="nbtext was installed without a C compiler"
)

PIECES = st.sampled_from([
    b"Date: x", b"date :y", b"RECEIVED\t: z", b"Message-ID:", b"mime-version;",
    b"From ", b">From x", b"a b ", b"caf\xc3\xa9", b"caf\xe9", b"\n", b"\n\n", b"\r\n",
    b"\r", b"\0", b"\x80", b"\xed\xa0\x80", b"\xef\xbb\xbf", b" ",
])  # fmt: skip
TEXTS = st.lists(PIECES | st.binary(max_size=9), max_size=20).map(b"".join)


def may_be_wide(data: bytes) -> bool:
    """Return whether a text is read in Python, because it may be UTF-16 or UTF-32."""
    head = data[:1024]
    is_marked = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    return is_marked or (b"\0" in head and bytes(7) not in head)


@given(TEXTS)
@example(b"")
@example(b"\xef\xbb\xbfmarked")
@example(b"a" * 1024 + b"\0")
@example(b"a" + bytes(7) + b"\0b\0c")
@example("\u0a00a\u0100".encode("utf-32-le"))
@example("wide".encode("utf-16-le"))
@example(b"From x\n\nDate: y\nreceived: z")
@example(b"\n\nDate: y\r\nreceived: z")
@example(b"Date: y\n\nreceived: z")
def test_keys_and_digests_are_those_of_the_specification(data: bytes) -> None:
    assert check(data, TWO) is not may_be_wide(data)
    assert check(data, MANY) is not may_be_wide(data)


@pytest.mark.parametrize("n", [65_535, 65_536, 65_537])
def test_a_header_that_is_long_looks_like_mail_for_both(n: int) -> None:
    tale = b"Received: x\r\n"
    data = b"Date: x\r\n" + b"X: y\r\n" * ((n - 20) // 6)
    data += b"z" * (n - len(data) - len(tale)) + b"\n" + tale
    for end in range(len(data) - len(tale) - 2, len(data) + 1):
        assert check(data[:end], TWO)


@pytest.mark.parametrize("is_marked", [True, False])
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-be"])
def test_wide_texts_are_read_in_python(codec: str, is_marked: bool) -> None:
    mark = "\ufeff".encode(codec) if is_marked else b""
    document = Document("wide", (mark + "Date: x\nreceived: y".encode(codec),))

    found = read_keys(document, TWO)

    assert not isinstance(found, KeyReading)
    assert found == read(document, TWO)
    assert found.is_mail == is_marked
    plain = read(Document("wide", (b"Date: x\nreceived: y",)), TWO)
    assert found.views == plain.views


@pytest.mark.parametrize(
    "document",
    [
        Document("named", (b"a b",), identity="name"),
        Document("mail", (b"a b",), is_mail=True),
        Document("column", (b"a b",), columns=("text",)),
    ],
)
def test_documents_that_say_more_are_read_alike(document: Document) -> None:
    found, reading = read_keys(document, MANY), read(document, MANY)

    assert isinstance(found, KeyReading)
    assert found[1:] == reading[1:]


@pytest.mark.parametrize(
    "settings",
    [
        MANY._replace(fields=(Column("a", "text"), Column("b", "text"))),
        MANY._replace(views=tuple(v._replace(fields=True) for v in MANY.views[:1])),
        MANY.reading((Column("a", "text"), Column("b", "number"))),
        MANY.reading((Column("b", "number"),)),
    ],
    ids=["two columns", "names of fields", "a number beside text", "a number"],
)
def test_what_names_its_columns_is_read_in_python(settings: Settings) -> None:
    document = Document("row", (b"a", b"1"), columns=("a", "b"))

    assert not are_read_together(settings)
    assert read_keys(document, settings) == read(document, settings)


def same_together(documents: Sequence[Document], settings: Settings) -> None:
    batch = read_together(documents, settings)

    alone = [read_keys(document, settings) for document in documents]
    assert batch.documents == [*documents]
    assert batch.digests == [reading.digest for reading in alone]
    assert batch.are_mail == [reading.is_mail for reading in alone]
    expected = read_terms(settings, [reading.views for reading in alone])
    assert batch.fingerprints == fingerprints(expected).tolist()
    for found, terms in zip(batch.views, expected, strict=True):
        assert found.starts.tolist() == terms.starts.tolist()
        for number in range(len(documents)):
            assert found.bag(number) == terms.bag(number)


@given(st.lists(TEXTS.filter(lambda text: not may_be_wide(text)), max_size=5))
def test_what_is_read_together_is_what_is_read_alone(texts: list[bytes]) -> None:
    same_together([Document("", (text,)) for text in texts], MANY)


def test_a_row_of_more_columns_leaves_its_batch_to_python() -> None:
    documents = [Document("1", (b"a",)), Document("2", (b"a", b"b"))]

    batch = read_together(documents, MANY)

    assert batch.others == documents
    assert batch.documents == []


@pytest.mark.corpus
@pytest.mark.parametrize("settings", [TWO, MANY], ids=["two", "many"])
def test_all_texts_of_20news(settings: Settings) -> None:
    paths = sorted(Path(CORPORA / "20news" / "train").glob("*/*"))
    if not paths:
        pytest.skip("there is no 20news")

    assert all(check(path.read_bytes(), settings) for path in paths)
