"""Lines of text, with the marks that fastText has before labels."""

from io import BytesIO
from typing import TYPE_CHECKING

import pytest

from nbtext.document import Document
from nbtext.sources import Options, documents
from tests.items import errors

if TYPE_CHECKING:
    from pathlib import Path

    from nbtext.document import Item


def read(
    data: bytes, *, argument: str = "-", labelled: bool = True, form: str = "auto"
) -> "list[Item]":
    options = Options(format=form)
    stdin = BytesIO(data)
    return list(documents([argument], options, labelled=labelled, stdin=stdin))


def pairs(items: "list[Item]") -> list[tuple[str | None, bytes]]:
    return [(i.label, i.texts[0]) for i in items if isinstance(i, Document)]


@pytest.mark.parametrize("labelled", [True, False])
def test_a_line_is_a_document_under_its_label(labelled: bool) -> None:
    items = read(
        b"__label__ham see you\tat ten\r\n \n__label__spam  buy now\n",
        labelled=labelled,
    )

    found = pairs(items)
    assert found[0] == ("ham", b"see you\tat ten")
    assert found[-1] == ("spam", b"buy now")
    assert found[1:-1] == ([] if labelled else [(None, b"")])


def test_a_byte_order_mark_is_no_part_of_the_label() -> None:
    assert pairs(read(b"\xef\xbb\xbf__label__b\xc3\xa9 x")) == [("b\xe9", b"x")]


def test_a_label_alone_has_an_empty_text() -> None:
    assert pairs(read(b"__label__ham\n__label__spam x\n")) == [
        ("ham", b""),
        ("spam", b"x"),
    ]


def test_only_what_stands_before_the_text_is_a_label() -> None:
    items = read(b"__label__ham as in __label__spam\n")

    assert pairs(items) == [("ham", b"as in __label__spam")]


def test_several_labels_are_one_too_many() -> None:
    items = read(b"__label__a __label__b x\n__label__c y\n")

    assert pairs(items) == [("c", b"y")]
    assert errors(items) == [
        "-:1: several labels found, where one was expected; leave the one it is to be "
        "learnt as"
    ]


def test_a_line_without_a_label_is_read_where_none_is_needed() -> None:
    data = b"__label__a x\nno label\n__label__ y\n"

    assert pairs(read(data, labelled=False)) == [
        ("a", b"x"),
        (None, b"no label"),
        (None, b"y"),
    ]
    assert errors(read(data)) == [
        "-:2: no label before the text; write __label__CLASS there or remove the line",
        "-: 1 more record (3): no label before the text; write __label__CLASS there or "
        "remove the line",
    ]


def test_lines_have_the_same_numbers_whether_labels_are_needed_or_not() -> None:
    data = b"\n__label__a x\n\n \n__label__b y\n"

    needed = {i.name: i.texts for i in read(data) if isinstance(i, Document)}
    others = read(data, labelled=False, form="lines")
    unneeded = {i.name: i.texts for i in others if isinstance(i, Document)}

    assert [*needed] == ["-:2", "-:5"]
    assert {name: unneeded[name] for name in needed} == needed


def test_a_million_labels_on_a_line_take_no_longer_than_a_long_line() -> None:
    items = read(b"__label__a " * 1_000_000)

    assert len(errors(items)) == 1


def test_a_file_of_whatever_name_is_recognised(tmp_path: "Path") -> None:
    for name in ("train.txt", "train", "train.fasttext"):
        path = tmp_path / name
        path.write_bytes(b"__label__a x\n")
        assert pairs(read(b"", argument=str(path))) == [("a", b"x")]
        assert pairs(read(b"", argument=f"b={path}")) == [("b", b"x")]


def test_lines_that_do_not_begin_with_a_label_are_read_so_if_asked() -> None:
    data = b"x\n__label__a y\n"

    assert pairs(read(data, labelled=False)) == [(None, data)]
    assert pairs(read(data, labelled=False, form="lines")) == [
        (None, b"x"),
        ("a", b"y"),
    ]


@pytest.mark.parametrize("data", [b"__label__", b"__label__ x", b"__labels__a x"])
def test_the_mark_alone_is_a_text(data: bytes) -> None:
    assert pairs(read(data, labelled=False)) == [(None, data)]


def test_a_line_is_a_text_without_columns_whatever_columns_a_model_reads() -> None:
    def read_columns(**columns: tuple[str, ...]) -> "list[Item]":
        options = Options(format="lines", **columns)  # type: ignore[arg-type]
        stdin = BytesIO(b"__label__x a b\n")
        return list(documents(["-"], options, labelled=True, stdin=stdin))

    expected = [Document("-:1", (b"a b",), "x")]
    assert read_columns(text_columns=("body",)) == expected
    assert read_columns(text_columns=("title", "body")) == expected
    (error,) = errors(read_columns(text_columns=("body",), numeric_columns=("age",)))
    assert error.startswith(
        "-: lines of text found, where the columns body, age are to be read; give them "
    )
