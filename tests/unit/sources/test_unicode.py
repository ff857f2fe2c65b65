"""UTF-16 and UTF-32: decoded by their mark, refused by name without one."""

import codecs
import gzip
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext.byte_order import as_utf8, text_as_utf8, unmarked_codec
from nbtext.document import Document, Item, Note, Pause, Unreadable
from nbtext.mail import read_mail
from nbtext.settings.reading import default_settings
from nbtext.sources import Options, labels
from nbtext.tokens.reading import read as read_document
from tests.items import read

CSV = 'label,text\nham,"Grüße,\n日本"\nspam,buy 😀 now\n'
JSON_LINES = '{"label": "ham", "text": "Grüße"}\n{"label": "spam", "text": "日本"}\n'
TSV = "ham\tGrüße an alle\nspam\tbuy now\n"
MBOX = (
    "From a@b Thu Jan  1 00:00:00 1970\nSubject: one\n\nfirst\n\n"
    "From a@b Thu Jan  1 00:00:00 1970\nSubject: two\n\nsecond\n"
)
MARKS = {
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


def found(path: str, *, labelled: bool = True) -> list[Item]:
    items = read(path, labelled=labelled)
    return [item for item in items if not isinstance(item, Pause | Note)]


def contents(items: list[Item]) -> list[tuple[str | None, tuple[bytes, ...]]]:
    assert all(isinstance(item, Document) for item in items), items
    return [(item.label, item.texts) for item in items if isinstance(item, Document)]


@pytest.mark.parametrize("codec", MARKS)
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rows.csv", CSV),
        ("rows.jsonl", JSON_LINES),
        ("rows.json", JSON_LINES),
        ("rows", JSON_LINES),
        ("rows.tsv", TSV),
        ("SMSSpamCollection", TSV),
        ("box.mbox", MBOX),
        ("box", MBOX),
    ],
)
def test_what_is_marked_is_read_as_its_utf_8(
    codec: str, name: str, text: str, tmp_path: Path
) -> None:
    narrow, wide = tmp_path / "narrow", tmp_path / "wide"
    narrow.mkdir()
    wide.mkdir()
    (narrow / name).write_text(text, encoding="utf-8")
    (wide / name).write_bytes(MARKS[codec] + text.encode(codec))
    (wide / f"{name}.gz").write_bytes(gzip.compress((wide / name).read_bytes()))

    expected = contents(found(str(narrow / name)))

    assert len(expected) == 2
    assert contents(found(str(wide / name))) == expected
    of_gzip = contents(found(str(wide / f"{name}.gz")))
    assert [texts for _, texts in of_gzip] == [texts for _, texts in expected]


@pytest.mark.parametrize("codec", MARKS)
@pytest.mark.parametrize("form", ["csv", "jsonl", "tsv", "index"])
def test_what_is_wide_and_not_marked_is_refused_by_name(codec: str, form: str) -> None:
    text = {"csv": CSV, "jsonl": JSON_LINES, "tsv": TSV, "index": "ham a\nspam b\n"}
    data = text[form].encode(codec)

    items = read("-", labelled=True, stdin=data, options=Options(format=form))

    (problem,) = [item for item in items if not isinstance(item, Pause)]
    assert isinstance(problem, Unreadable)
    assert "-: UTF-8 was expected, and what looks like UTF-" in str(problem.error)
    assert "iconv -f UTF-" in str(problem.error)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_no_class_has_nul_bytes_in_its_name(codec: str, tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(TSV.encode(codec))

    items = found(str(path))

    assert not any("\0" in (getattr(item, "label", None) or "") for item in items)
    assert "\0" not in "".join(labels([str(path)], Options()) or ())


def test_a_few_stray_nul_bytes_are_not_taken_for_an_encoding() -> None:
    assert unmarked_codec((CSV * 20).encode() + b"\0\0\0") is None
    assert unmarked_codec(b"a,b\0\0\n" * 50) is None
    assert unmarked_codec(b"") is None
    assert unmarked_codec(b"one\0two\0six\0" * 50) is None
    assert unmarked_codec(b"a \0 b \0 c") is None
    assert unmarked_codec(("été \0mat\0".encode() * 300)[:1024]) is None


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text",
    [
        "today the sun shines, and",
        "Всё хорошо, спасибо большое",
        "Καλημέρα, τι κάνεις σήμερα",
        "שלום מה שלומך היום חבר",
        "这里 天气 很好 我们 散步",
        "नमस्ते आप कैसे हैं आज दिन",
    ],
)
def test_unmarked_utf_16_of_many_scripts_is_known(text: str, codec: str) -> None:
    head = text.encode(codec)

    assert text_as_utf8(head) == text_as_utf8(head * 40)[: len(text.encode())]
    assert text_as_utf8(head) == text.encode()


@given(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from([*MARKS]))
def test_marked_bytes_become_the_utf_8_of_their_text(text: str, codec: str) -> None:
    data = MARKS[codec] + text.encode(codec)
    is_utf_32 = codec == "utf-16-le" and text.startswith("\0")  # as its mark looks

    assert is_utf_32 or as_utf8(data) == text.encode()


@given(st.binary())
def test_any_bytes_in_any_encoding_give_items(data: bytes) -> None:
    for mark in (b"", *MARKS.values(), codecs.BOM_UTF8):
        for form in ("auto", "csv", "jsonl", "tsv", "index", "mbox"):
            for item in read(stdin=mark + data, options=Options(format=form)):
                for text in getattr(item, "texts", ()):
                    assert isinstance(text, bytes)


@pytest.mark.parametrize("codec", MARKS)
def test_a_mail_that_was_saved_as_utf_16_is_the_same_mail(codec: str) -> None:
    text = "From: jo@example.org\nSubject: Grüße\n\nLunch on Friday?\n"
    mail = read_mail(text.encode())

    assert read_mail(MARKS[codec] + text.encode(codec)) == mail


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ["cheap pills now\n", "Subject: x\n\ncheap pills\n"])
def test_one_document_that_is_not_marked_is_warned_of(
    codec: str, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "saved.txt"
    name = codec.upper().replace("6-", "6").replace("2-", "2")

    path.write_bytes(text.encode(codec))
    notes = [item for item in read(str(path)) if isinstance(item, Note)]
    path.write_bytes(MARKS[codec] + text.encode(codec))
    marked = [item for item in read(str(path)) if isinstance(item, Note)]

    assert [note.is_warning for note in notes] == [True]
    assert f"looks like {name} without a byte order mark" in notes[0].text
    assert notes[0].text.endswith(f"`iconv -f {name} -t UTF-8`")
    assert marked == []


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        *product(MARKS, ["cheap pills now\n", "Subject: x\n\ncheap pills\n"]),
        *product(["utf-16-le", "utf-16-be"], ["Привет, как дела?", "Grüße"]),
    ],
)
def test_a_text_is_read_the_same_without_a_mark(codec: str, text: str) -> None:
    settings = default_settings("text", 2)
    saved, plain = (Document("1", (text.encode(one),)) for one in (codec, "utf-8"))

    found = read_document(saved, settings)

    assert found.views == read_document(plain, settings).views
    assert found.digest != read_document(plain, settings).digest  # other bytes


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(256)) * 8,
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + b"\x03\0\x3e\0"
        + bytes(99)
        + b"\x40\0\xff\xd0",
        b"\x40\0\0\0\0\0\0\0" * 40,
        b"\xff\0\0\0\xff\xff\0\xff" * 40,
    ],
    ids=["all", "program", "numbers", "beyond Unicode"],
)
def test_bytes_that_are_no_text_are_read_as_they_are(
    tmp_path: Path, data: bytes
) -> None:
    path = tmp_path / "some.bin"
    path.write_bytes(data)

    assert text_as_utf8(data) == data

    assert not [item for item in read(str(path)) if isinstance(item, Note)]
