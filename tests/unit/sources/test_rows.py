"""Rows of JSON lines and tables: texts, labels, identities, and what is wrong."""

import os
import shutil
import subprocess
import tracemalloc
from functools import partial
from io import BytesIO
from pathlib import Path
from select import select
from threading import Thread
from typing import Any

import pytest

from nbtext.document import PAUSE, Document, Item, Note, Unreadable
from nbtext.errors import SettingsError
from nbtext.settings.views import Field
from nbtext.sources import Options, _rows, documents
from nbtext.sources.guess import ColumnGuess
from tests.items import errors, notes, read
from tests.waiting import wait_until


def rows(
    data: bytes,
    form: str = "jsonl",
    *,
    argument: str = "-",
    labelled: bool = False,
    **said: Any,
) -> list[Item]:
    options = Options(format=form, **said)
    return read(argument, labelled=labelled, stdin=data, options=options)


def without_pauses(items: list[Item]) -> list[Item]:
    return [item for item in items if item is not PAUSE]


def without_notes(items: list[Item]) -> list[Item]:
    return [item for item in items if not isinstance(item, Note)]


def texts(items: list[Item]) -> list[tuple[bytes, ...]]:
    assert all(isinstance(item, Document) for item in items), items
    return [item.texts for item in items if isinstance(item, Document)]


def labels(items: list[Item]) -> list[str | None]:
    return [item.label for item in items if isinstance(item, Document)]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        pytest.param(b'{"text": "a"}', b"a", id="text"),
        pytest.param(b'{"body": "b", "message": "m"}', b"b", id="the first default"),
        pytest.param(b'{"text": 1.50}', b"1.50", id="number, as it is written"),
        pytest.param(b'{"text": -1e400}', b"-1e400", id="number of any size"),
        pytest.param(b'{"text": ' + b"9" * 5000 + b"}", b"9" * 5000, id="and length"),
        pytest.param(b'{"text": null}', b"", id="null"),
        pytest.param(b'{"text": true}', b"true", id="boolean"),
        pytest.param(b'{"text": "\\u00e9"}', "é".encode(), id="escape"),
        pytest.param(b'{"text": "\xff"}', b"\xff", id="not UTF-8"),
        pytest.param(b'{"text": "a\\ud800b"}', "a\ufffdb".encode(), id="surrogate"),
        pytest.param(b'\xef\xbb\xbf{"text": "a"}\r\n', b"a", id="byte order mark"),
        pytest.param(b'\n \n{"text": "a"}\n\n', b"a", id="blank lines"),
    ],
)
def test_a_json_line_is_a_document(line: bytes, text: bytes) -> None:
    (document,) = rows(line)
    assert isinstance(document, Document)
    assert document == Document("-:1", (text,), columns=document.columns)
    assert document.columns in [("text",), ("body",)]
    assert texts(rows(line, "jsonl")) == [(text,)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param(b"{", "not JSON", id="broken"),
        pytest.param(b"[1]", "an object was expected", id="array"),
        pytest.param(b'{"a": "b"}', "no column text, body", id="no text"),
        pytest.param(b'{"text": []}', "a JSON list found", id="list"),
        pytest.param(b"[" * 100_000, "not JSON", id="nested"),
        pytest.param(b"\x1f", "not JSON", id="white space of text alone"),
        pytest.param(b'{"text": "' + b"x" * 2**21, "too long", id="too long"),
    ],
)
def test_a_bad_line_is_named_and_the_rest_goes_on(line: bytes, reason: str) -> None:
    good = b'{"text": "good"}\n'

    first, bad, last = rows(good + line + b"\n" + good, max_bytes=100)

    assert [getattr(first, "texts", 0), getattr(last, "texts", 0)] == [(b"good",)] * 2
    assert isinstance(bad, Unreadable)
    assert bad.name == "-:2"
    assert str(bad.error).startswith("-:2: ")
    assert reason in str(bad.error)


def test_objects_of_other_keys_are_refused_by_what_they_have() -> None:
    line = b'{"kind": "x", "words": "y"}'

    (text,) = errors(rows(line, "jsonl"))
    (label,) = errors(rows(line, "jsonl", labelled=True))

    assert "no column text, body, content or message (there are kind, words)" in text
    assert "to learn from (there are kind, words); name another with label_c" in label


@pytest.mark.parametrize(
    "line",
    [
        b'{"text": {"0": "a", "1": "b"}, "label": {"0": "x", "1": "y"}}',
        b'{"text": ["a", "b"], "label": [0, 1]}',
    ],
)
def test_a_table_by_its_columns_is_told_how_to_be_made_of_rows(line: bytes) -> None:
    (error,) = errors(rows(line, "jsonl", labelled=True))

    assert error == (
        "-:1: one document was expected, and the columns of 2 found (text, label); "
        "`jq -c '(.text | keys_unsorted[]) as $k | map_values(.[$k])'` makes lines of "
        "the rows (pandas: to_json(FILE, orient='records'))"
    )
    jq = shutil.which("jq")
    if jq is not None:
        made = subprocess.run(
            [jq, "-c", "(.text | keys_unsorted[]) as $k | map_values(.[$k])"],
            input=line, capture_output=True, check=True,
        ).stdout  # fmt: skip
        assert texts(rows(made, "jsonl")) == [(b"a",), (b"b",)]


@pytest.mark.parametrize(
    "line", [b'{"tokens": ["a", "b"], "tags": ["x", "y"]}', b'{"a": {"text": "b"}}']
)
def test_other_lists_and_objects_are_no_table(line: bytes) -> None:
    (error,) = errors(rows(line, "jsonl"))

    assert "the columns of" not in error


def test_objects_over_several_lines_are_refused_once() -> None:
    (error,) = errors(rows(b'{\n "text": "a"\n}\n{\n "text": "b"\n}', "jsonl"))

    assert error.startswith("-: JSON over several lines found, where JSON lines were ")
    assert "or one array of objects; `jq -c .` makes lines of it" in error


@pytest.mark.parametrize("begun", [b"\x1f", b"{", b'{"text": "a",', b'{"text": "a'])
def test_a_first_line_that_is_cut_short_is_no_json_over_several(begun: bytes) -> None:
    first, second = rows(begun + b'\n{"text": "good"}\n', "jsonl")
    broken = rows(begun + b'\n{"text": "bad\n{"text": "good"}', "jsonl")
    (alone,) = rows(begun, "jsonl")

    assert isinstance(first, Unreadable)
    assert str(first.error).startswith("-:1: not JSON")
    assert texts([second]) == [(b"good",)]
    assert texts([one for one in broken if isinstance(one, Document)]) == [(b"good",)]
    assert errors(broken)[0].startswith("-:1: not JSON")
    assert isinstance(alone, Unreadable)


def test_columns_are_chosen_by_name() -> None:
    line = b'{"subject": "s", "text": "t", "kind": " spam ", "n": 7}'

    assert rows(
        line, text_columns=("text", "subject"), label_column="kind", id_column="n"
    ) == [
        Document("-:1", (b"t", b"s"), "spam", identity="7", columns=("text", "subject"))
    ]


def test_texts_are_cut_apart() -> None:
    assert rows(b'{"a": "xxx", "b": "y"}', text_columns=("a", "b"), max_bytes=2) == [
        Document("-:1", (b"xx", b"y"), truncated=True, columns=("a", "b"))
    ]


def test_a_row_without_a_label_is_named_where_labels_are_needed() -> None:
    data = b'{"text": "a", "label": "x"}\n{"text": "b"}\n{"text": "c", "label": ""}\n'

    items = rows(data, labelled=True)

    assert labels(items) == ["x"]
    assert "-:2: no column label" in errors(items)[0]
    assert "-:3: no label in column label" in errors(items)[1]
    assert labels(rows(data)) == ["x", None, None]
    assert labels(rows(data, label_column="label")) == ["x", None, None]


def test_rows_without_any_label_take_that_of_their_source(tmp_path: Path) -> None:
    path = tmp_path / "spam.jsonl"
    path.write_bytes(b'{"text": "a"}\n')

    assert labels(rows(b"", "auto", argument=str(path), labelled=True)) == ["spam"]
    assert "no column label" in errors(rows(b'{"text": "a"}', labelled=True))[0]


def test_a_label_that_is_given_stands_over_a_column_found_by_its_name() -> None:
    data = b'{"text": "a", "label": "x"}\n'

    assert labels(rows(data, argument="y=-", labelled=True)) == ["y"]
    by_option = rows(data, argument="y=-", labelled=True, label_column="label")
    assert labels(by_option) == ["x"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"label,text\nx,a\n", [("x", b"a")], id="header"),
        pytest.param(b"Text,Class\na,x\n", [("x", b"a")], id="capitals"),
        pytest.param(b"\xef\xbb\xbflabel,text\r\nx,a\r\n", [("x", b"a")], id="bom"),
        pytest.param(b"x,a\ny,b\n", [("x", b"a"), ("y", b"b")], id="no header"),
        pytest.param(b'x,"a ""b"", c"\n', [("x", b'a "b", c')], id="quotes"),
        pytest.param(b'x,"a\r\n\nb"\r\n', [("x", b"a\r\n\nb")], id="line feeds"),
        pytest.param(
            b"y,c\nx,a, b\n", [("y", b"c"), ("x", b"a, b")], id="a stray comma"
        ),
        pytest.param(b"x,\xff\0\n", [("x", b"\xff\0")], id="bytes"),
        pytest.param(b"x,\n\n", [("x", b"")], id="an empty text"),
        pytest.param(b'x,5" b\n', [("x", b'5" b')], id="a quote inside"),
        pytest.param(b'x,"a" b\n', [("x", b"a b")], id="after the quote"),
        pytest.param(
            b"x," + b"a" * 200_000 + b"\n", [("x", b"a" * 200_000)], id="a large field"
        ),
        pytest.param(b"", [], id="empty"),
    ],
)
def test_a_csv_record_is_a_document(
    data: bytes, expected: list[tuple[str, bytes]]
) -> None:
    items = without_notes(rows(data, "csv", labelled=True))

    found = list(zip(labels(items), texts(items), strict=True))
    assert found == [(label, (text,)) for label, text in expected]


@pytest.mark.parametrize(
    "table",
    [
        b"text,label\na b,y\nOk, joking,x\nc,y\n",
        b"label,text,note\ny,a b,\nx,Ok, joking,n\ny,c,z,,\n",
    ],
    ids=["the label is last", "another is"],
)
def test_a_record_with_more_fields_than_columns_is_told(table: bytes) -> None:
    first, bad, last = without_notes(rows(table, "csv", labelled=True))

    assert texts([first, last]) == [(b"a b",), (b"c",)]
    assert labels([first, last]) == ["y", "y"]
    (error,) = errors([bad])
    assert "fields found, where" in error
    assert "quotes around a field with ',' in it" in error


def test_what_is_no_number_is_no_label() -> None:
    lines = b'{"label": "x", "text": "a"}\n{"label": NaN, "text": "b"}\n'

    first, bad = rows(lines, labelled=True)

    assert labels([first]) == ["x"]
    assert "no label" in errors([bad])[0]


def test_after_a_quote_that_is_never_closed_the_next_line_is_read() -> None:
    data = b'x,a\nx,"b\ny,c\ny,""\n'

    first, bad, *others = without_notes(rows(data, "csv", labelled=True))

    assert getattr(first, "texts", None) == (b"a",)
    assert "-:2: a quote that is never closed" in errors([bad])[0]
    assert texts(others) == [(b"c",), (b"",)]


def test_labels_are_not_told_by_themselves() -> None:
    with pytest.raises(SettingsError, match="column kind cannot hold both"):
        rows(b"kind,text\nx,a\n", "csv", label_column="kind", text_columns=("kind",))


def test_a_quote_that_a_row_forgets_does_not_take_the_rows_up_to_the_next_quote() -> (
    None
):
    rest = b'y,c\n\ny,d\nx,"no ""e"", yes"\ny,f\n'
    data = b'x,a\nx,"b\n' + rest + b'y,"g\nh"\ny,"i\n"j" k\n'

    items = without_notes(rows(data, "csv", labelled=True))

    assert "-:2: a quote that is never closed" in errors([items[1]])[0]
    read = [items[0], *items[2:]]
    assert texts(read) == [
        (b"a",), (b"c",), (b"d",), (b'no "e", yes',), (b"f",), (b"g\nh",), (b'i\nj" k',)
    ]  # fmt: skip


@pytest.mark.parametrize("end", [b'"  ,x', b'",x', b'" ,"x"'])
def test_spaces_behind_a_closing_quote_do_not_make_a_row_of_its_line(
    end: bytes,
) -> None:
    items = rows(b'text,label\na,y\n"b\nc' + end + b"\n", "csv", labelled=True)

    assert [text.rstrip() for (text,) in texts(items)] == [b"a", b"b\nc"]
    assert [str(label).strip(' "') for label in labels(items)] == ["y", "x"]


def test_a_quoted_field_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rows, "_LEAST_LONGEST", 1000)
    data = b'x,"b\n' + b"y,c\n" * 20_000

    items = rows(data, "csv", labelled=True, max_bytes=10)

    assert len(errors(items)) == 1
    assert len(texts([i for i in items if isinstance(i, Document)])) == 20_000


def test_a_tsv_line_is_a_document_whatever_its_quotes() -> None:
    items = rows(b'ham\t"a\nspam\tb\tc\r\n\nbad\n', "tsv", labelled=True)

    assert texts(items[:2]) == [(b'"a',), (b"b\tc",)]
    assert labels(items) == ["ham", "spam"]
    said = "-:3: the row ends before its text; fill it in or remove it"
    assert errors(items) == [said]


def test_a_tsv_line_that_goes_on_with_a_quoted_field_says_how_to_read_it() -> None:
    data = b'label\ttext\tid\nham\t"a\n\nb "" c\nd"\t1\nspam\t"e\nham\tf\t2\ng\n'
    items = rows(data, "tsv", labelled=True)
    quoted = rows(data, "csv", labelled=True, delimiter="\t")

    goes_on, short, more = errors(items)
    assert goes_on.startswith("-:2: a row was expected, and a line found that goes on ")
    assert goes_on.endswith("format='csv', delimiter='\\t', which has quotes")
    assert short == "-:6: the row ends before its text; fill it in or remove it"
    assert more == goes_on.replace("-:2:", "-: 1 more record (3):")
    assert texts(quoted[:1]) == [(b'a\n\nb " c\nd',)]


def test_numbered_columns_mean_no_header() -> None:
    items = rows(
        b"1,x,a\n2,y,b\n",
        "csv",
        label_column="2",
        text_columns=("3",),
        id_column="1",
    )

    assert items == [
        Document("-:1", (b"a",), "x", identity="1", columns=("3",)),
        Document("-:2", (b"b",), "y", identity="2", columns=("3",)),
    ]


KAGGLE = b'ham,"well, yes"\nspam,win\nham,ok\nham,no\n'


@pytest.mark.parametrize(
    ("table", "first", "said"),
    [
        pytest.param(b"v1,v2\n" + KAGGLE, (b"well, yes",), "taken for a", id="v1"),
        pytest.param(b"v1,v2,,,\nham,a,,,\nham,b\nx,c\nx,d,\n", (b"a",), "taken",
                     id="empty columns"),
        pytest.param(b"Tag,SMS text\n" + KAGGLE, (b"well, yes",), "taken", id="words"),
        pytest.param(b"label,sms\nham,a\n", (b"a",), "", id="label"),
        pytest.param(b"tweet,Class\na,ham\n", (b"a",), "", id="label last"),
        pytest.param(b"target,tweet\nham,a\n", (b"a",), "", id="target"),
        pytest.param(KAGGLE, (b"well, yes",), "", id="recurring"),
        pytest.param(b"x,free entry now!\n" + KAGGLE, (b"free entry now!",), "",
                     id="no name"),
        pytest.param(b"0,ok\n" + KAGGLE, (b"ok",), "", id="number"),
        pytest.param(b"v1,v2\nham,a\n", (b"v2",), "read as a document", id="few"),
        pytest.param(b"x,a\n", (b"a",), "", id="alone"),
        pytest.param(b"a,b\n1,x\n2,x\n3,x\n4,x\n5,x\n", (b"b",), "read as a",
                     id="identities"),
    ],
)  # fmt: skip
def test_the_rows_tell_whether_two_columns_have_a_heading(
    table: bytes, first: tuple[bytes, ...], said: str
) -> None:
    items = rows(table, "csv", labelled=True)

    assert texts(without_notes(items))[0] == first
    assert len(notes(items)) == bool(said)
    assert said in "".join(notes(items))


LAST = b"".join(
    b"what is %d?,%s\n" % (n, label) for n, label in enumerate([b"ham", b"spam"] * 3)
)


@pytest.mark.parametrize(
    ("table", "found", "said"),
    [
        pytest.param(LAST, (b"what is 0?",), "second column was taken", id="bare"),
        pytest.param(b"review,tag\n" + LAST, (b"what is 0?",), "of a text and a label; "
                     "if it is a document, number the columns: label_column='2'",
                     id="heading"),
        pytest.param(b"review,tag,,\n" + LAST.replace(b"\n", b",,\n"),
                     (b"what is 0?",), "of a text and a label", id="empty columns"),
        pytest.param(b"no name!,tag\n" + LAST, (b"no name!",), "second", id="none"),
        pytest.param(b"a b,x\n" * 9, (b"x",), "", id="one of each"),
        pytest.param(LAST.replace(b"spam", b"ham"), (b"what is 0?",), "second",
                     id="one label, as where rows are sorted"),
        pytest.param(LAST[:31], (b"ham",), "", id="few"),
        pytest.param(b"a b,x\nc d,x\ne f,x\n", (b"a b",), "second", id="few, clear"),
        pytest.param(LAST.replace(b",", b";"), (b"what is 0?",), "second",
                     id="semicolons"),
    ],
)  # fmt: skip
def test_the_label_may_be_the_last_of_two_columns(
    table: bytes, found: tuple[bytes, ...], said: str
) -> None:
    items = rows(table, "csv", labelled=True)

    assert texts(without_notes(items))[0] == found
    assert said in "".join(notes(items))


@pytest.mark.parametrize("n", [1, 2, 30])
@pytest.mark.parametrize("heading", [b"", b"review,tag\n"])
def test_a_model_tells_which_of_two_columns_are_its_classes(
    tmp_path: Path, n: int, heading: bytes
) -> None:
    path = tmp_path / "rows.csv"
    options = Options(model_classes=("ham", "spam"))

    for fields in ([b"x %d", b"ham"], [b"ham", b"x %d"]):
        lines = [b",".join(fields) % number for number in range(n)]
        path.write_bytes(heading + b"\n".join(lines))
        found = without_notes([*documents([str(path)], options, labelled=False)])
        assert labels(found)[-n:] == ["ham"] * n
        assert texts(found)[-1] == (b"x %d" % (n - 1),)
        assert heading or not notes([*documents([str(path)], options, labelled=True)])


@pytest.mark.parametrize(
    ("heading", "label", "is_read"),
    [
        pytest.param(b"text,intent", b"ham", True, id="behind"),
        pytest.param(b"Spam?,Text", b"1", True, id="before"),
        pytest.param(b"text,date", b"%d May", False, id="each another"),
        pytest.param(b"text,lang", b"", False, id="blank"),
        pytest.param(b"text,tag,intent", b"x,ham", False, id="three"),
    ],
)
def test_what_stands_beside_the_text_is_the_label_if_it_repeats(
    tmp_path: Path, heading: bytes, label: bytes, is_read: bool
) -> None:
    path = tmp_path / "rows.csv"
    fields = [b"some words", label]
    if heading.endswith(b"Text"):
        fields.reverse()
    line = b",".join(fields)
    rows_ = [line % n if b"%" in line else line for n in range(5)]
    path.write_bytes(b"\n".join([heading, *rows_]))
    column = heading.decode().split(",")[fields.index(label) - len(fields)]

    items = [*documents([str(path)], Options(), labelled=True)]
    beside = [*documents([str(path), str(path)], Options(), labelled=True)]
    given = [*documents([f"x={path}"], Options(), labelled=True)]

    assert labels(without_notes(items)) == [label.decode() if is_read else "rows"] * 5
    assert texts(without_notes(items)) == [(b"some words",)] * 5
    assert notes(items) == is_read * [
        f"{path}: the column {column} was taken for the label, because it repeats; if "
        f"all are of one class, name that: LABEL={path}"
    ]
    assert labels(without_notes(beside)) == ["rows"] * 10
    assert labels(without_notes(given)) == ["x"] * 5


def test_a_model_tells_whether_its_classes_stand_beside_the_text(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"text,intent\na,ham\nb,spam\nc,eggs\n")
    options = Options(model_classes=("ham", "spam"))

    items = [*documents([str(path), str(path)], options, labelled=True)]

    assert labels(without_notes(items)) == ["ham", "spam", "eggs"] * 2
    assert not notes(items)


JSON_LABELS = "".join(
    f'{{"text": "some words", "intent": {value}}}\n'
    for value in ['"ham"', '"spam"', '"ham"', "null", '"spam"']
)


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        pytest.param(JSON_LABELS, ["ham", "spam", "ham", "spam"], id="repeats"),
        pytest.param(
            JSON_LABELS + "no JSON\n", ["ham", "spam", "ham", "spam"], id="a bad line"
        ),
        pytest.param(JSON_LABELS.replace('"ham"', "[1]"), ["rows"] * 5, id="a list"),
        pytest.param(
            JSON_LABELS + '{"text": "a", "day": "1"}\n', ["rows"] * 6, id="another key"
        ),
        pytest.param(
            '{"text": "a", "lang": "en", "class": "b"}\n' + JSON_LABELS,
            ["b"],
            id="a known key",
        ),
    ],
)
def test_of_json_lines_the_one_key_beside_the_text_is_the_label_if_it_repeats(
    tmp_path: Path, lines: str, found: list[str]
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(lines)

    items = [*documents([str(path)], Options(), labelled=True)]
    beside = [*documents([str(path), str(path)], Options(), labelled=True)]

    assert labels(items) == found
    assert notes(items) == ("ham" in found) * [
        f"{path}: the column intent was taken for the label, because it repeats; if "
        f"all are of one class, name that: LABEL={path}"
    ]
    assert {*labels(beside)} == {"b" if "b" in found else "rows"}


SENTENCES = b"".join(b"%s,%d some words\n" % (b"ab"[n % 2 :][:1], n) for n in range(9))


@pytest.mark.parametrize(
    ("data", "form", "classes"),
    [
        pytest.param(
            b"text,intent\n1,ham\n2,spam\n", "csv", ("ham", "spam"), id="a model"
        ),
        pytest.param(b"text,tag\n" + b"a,b\nc,d\n" * 4, "csv", (), id="it repeats"),
        pytest.param(JSON_LABELS.encode(), "jsonl", (), id="JSON lines"),
        pytest.param(b"v1,v2\n" + SENTENCES, "csv", (), id="a heading of other names"),
        pytest.param(SENTENCES, "csv", (), id="no heading"),
        pytest.param(SENTENCES.replace(b",", b";"), "csv", (), id="semicolons"),
        pytest.param(SENTENCES.replace(b",", b"\t"), "auto", (), id="tabs"),
        pytest.param(
            SENTENCES.replace(b",", b"\t") + b"and so on\n", "auto", (), id="one text"
        ),
        pytest.param(b"\r\n \n" + JSON_LABELS.encode(), "auto", (), id="blank lines"),
        pytest.param(
            b"\xef\xbb\xbf\n" + JSON_LABELS.encode(),
            "auto",
            (),
            id="a mark, and a line",
        ),
        pytest.param(b"\n__label__a b\n__label__c d\n", "auto", (), id="marked lines"),
        pytest.param(
            "a,b c\nd,e f\n".encode("utf-16-le"), "csv", (), id="UTF-16, refused"
        ),
    ],
)
def test_labels_do_not_depend_on_how_fast_a_table_comes(
    data: bytes, form: str, classes: tuple[str, ...]
) -> None:
    options = Options(format=form, model_classes=classes)
    at_once = [*read("-", labelled=True, stdin=data, options=options)]
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stdin, os.fdopen(writing, "wb", 0) as sender:

        def send() -> None:
            with sender:
                for line in data.splitlines(keepends=True):
                    sender.write(line)
                    wait_until(lambda: not select([stdin], [], [], 0)[0])

        sending = Thread(target=send)
        sending.start()
        slowly = [*documents(["-"], options, labelled=True, stdin=stdin)]
        sending.join()

    assert [*map(repr, without_pauses(slowly))] == [*map(repr, at_once)]


@pytest.mark.parametrize("first", [b"", b"\n", b"\r\n \n", b"\xef\xbb\xbf\n\n"])
def test_of_a_live_pipe_blank_lines_tell_no_format_and_nobody_waits_for_a_second_row(
    first: bytes,
) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stdin, os.fdopen(writing, "wb", 0) as sender:

        def begin() -> None:
            for line in first.splitlines(keepends=True):
                sender.write(line)
                wait_until(lambda: not select([stdin], [], [], 0)[0])
            sender.write(b'{"text": "a"}\n')

        beginning = Thread(target=begin)
        beginning.start()
        items = documents(["-"], Options(), labelled=False, stdin=stdin)
        found = next(item for item in items if item is not PAUSE)
        beginning.join()

    assert found == Document("-:1", (b"a",), columns=("text",))


def test_few_rows_are_looked_at_for_a_label_that_stands_beside_the_text() -> None:
    lines = (b'{"text": "%s", "x": "a"}\n' % (b"x" * 10_000) for _ in range(5_000))
    opened: list[Item] = []
    with BytesIO(b"".join(lines)) as stdin:
        options = Options(format="jsonl")
        items = documents(["-"], options, labelled=True, stdin=stdin)
        tracemalloc.start()
        opened.append(next(items))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert isinstance(opened[0], Note)
    assert peak < 8 * 2**20


@pytest.mark.parametrize(
    ("classes", "found"),
    [
        pytest.param(("False", "True"), ["True", "False", "true"], id="of pandas"),
        pytest.param(("FALSE", "TRUE"), ["TRUE", "FALSE", "true"], id="of R"),
        pytest.param(("True", "true"), ["true", "false", "true"], id="both"),
        pytest.param(("TRUE", "True"), ["true", "false", "true"], id="two others"),
        pytest.param((), ["true", "false", "true"], id="no model"),
    ],
)
@pytest.mark.parametrize("key", ["label", "is_spam"])
def test_booleans_are_classes_of_the_model_however_those_are_spelt(
    classes: tuple[str, ...], found: list[str], key: str
) -> None:
    table = b"".join(
        b'{"text": "a", "%s": %s}\n' % (key.encode(), value)
        for value in (b"true", b"false", b'"true"')
    )
    column = None if key == "label" else key

    items = rows(table, labelled=True, label_column=column, model_classes=classes)

    assert labels(items) == found


def test_a_file_that_is_called_like_a_class_of_the_model_has_that(
    tmp_path: Path,
) -> None:
    """What stands beside its texts may be what another program took them for."""
    path = tmp_path / "spam.csv"
    path.write_bytes(b"predicted,text\nham,a\nspam,b\nham,c\n")
    options = Options(model_classes=("ham", "spam"))

    items = [*documents([str(path)], options, labelled=True)]

    assert labels(items) == ["spam"] * 3


def test_a_heading_above_numbered_columns_is_doubted() -> None:
    table = LAST.replace(b"what", b"1,what")
    read = partial(
        rows, form="csv", labelled=True, label_column="3", text_columns=("2",)
    )

    (note,) = notes(read(b"id,review,tag\n" + table))

    assert note == (
        "-: the first line (tag, review) was read as a document, because columns are "
        "numbered; if it is a heading, name them: label_column='tag', "
        "text_columns=('review',)"
    )
    assert not notes(read(table))
    guessed = partial(read, text_columns=(), guess=ColumnGuess())
    note, *_ = notes(guessed(b"id,review,tag\n" + table))
    assert note.endswith("if it is a heading, name them: label_column='tag'")


def test_a_note_on_a_heading_says_how_to_have_it_otherwise() -> None:
    (taken,) = notes(rows(b"v1,v2\n" + KAGGLE, "csv", labelled=True))
    (left,) = notes(rows(b"x,a b\ny,c\n", "csv", labelled=True))

    assert taken == (
        "-: the first line, 'v1,v2', was taken for a heading, of a label and a text; "
        "if it is a document, number the columns: label_column='1', text_columns=('2',)"
    )
    assert left.endswith("the columns: label_column='x', text_columns=('a b',)")
    (text,) = notes(rows(b"x,a b\ny,c\n", "csv"))
    assert text.endswith("if it is a heading, name the column: text_columns=('a b',)")


@pytest.mark.parametrize(
    ("table", "found"),
    [
        pytest.param(b"label;text\nspam;money, now\n", "semicolons", id="heading"),
        pytest.param(b"spam;a\nham;b, c\nham;d\n", "semicolons", id="throughout"),
        pytest.param(b"label\ttext\nspam\ta\n", "tabs", id="tabs"),
        pytest.param(b"label|text\nspam|a,b\n", "bars", id="bars"),
        pytest.param(b"\xef\xbb\xbftext;label\na;spam\n", "semicolons", id="mark"),
    ],
)
def test_another_separator_than_a_comma_is_recognised(table: bytes, found: str) -> None:
    read = rows(table, "csv", labelled=True)
    by_name = {"semicolons": ";", "tabs": "\t", "bars": "|"}
    named = rows(table, "csv", labelled=True, delimiter=by_name[found])
    (error,) = errors(rows(table, "csv", labelled=True, delimiter=","))

    assert texts(without_notes(read))
    assert named == read
    assert error.startswith(f"-: commas were expected between the columns, and {found}")
    assert error.endswith("leave delimiter out")


def test_a_quoted_field_may_hold_any_separator() -> None:
    table = b'label;text\nspam;"money; ""now"""\nham;\'a\';b\n'

    found = rows(table, "csv", labelled=True)

    assert texts(found) == [(b'money; "now"',), (b"'a';b",)]
    assert rows(table.replace(b";", b"\x01"), "tsv", delimiter="\x01") == rows(
        table.replace(b";", b"\x01"), "csv", delimiter="\x01"
    )


def test_columns_are_named_as_what_the_model_reads_them() -> None:
    fields = (Field("title"), Field("size", "number"))
    options = Options(model_fields=lambda: fields)
    swapped = options._replace(text_columns=("size",), numeric_columns=("title",))
    right = options._replace(text_columns=("title",), numeric_columns=("size",))

    assert right.for_table() == options.for_table() == right
    with pytest.raises(SettingsError) as refused:
        swapped.for_table()
    assert str(refused.value) == (
        "the model reads the columns title as text, size as a number, and size as "
        "text, title as a number was asked for; leave the options out, or train a "
        "model on those columns"
    )


def test_a_delimiter_that_is_named_has_quotes_however_the_table_is_called(
    tmp_path: Path,
) -> None:
    """Lines of a label and a tab are known as a table by what is in them."""
    path = tmp_path / "lines"
    path.write_text('ham\t"a ""b"""\nspam\t"c\td"\n')

    found = documents([str(path)], Options(delimiter="\t"), labelled=True)

    texts = [item.texts for item in found if isinstance(item, Document)]
    assert texts == [(b'a "b"',), (b"c\td",)]


@pytest.mark.parametrize("delimiter", ["", ";;", '"', "\n", "\r", "é"])
def test_a_delimiter_is_one_character(delimiter: str) -> None:
    with pytest.raises(ValueError, match="delimiter must be one ASCII character"):
        rows(b"a,b\n", "csv", delimiter=delimiter)


def test_a_text_may_have_a_semicolon() -> None:
    table = b"well; yes\nno\nso; what\n"

    assert texts(rows(table, "csv")) == [(b"well; yes",), (b"no",), (b"so; what",)]


def test_a_number_that_no_column_has_is_one_error() -> None:
    items = rows(b"x,a\ny,b\n", "csv", label_column="3", text_columns=("2",))

    assert errors(items) == ["-: no column 3 (there are 1, 2)"]


def test_a_table_of_one_column_is_a_text_a_line() -> None:
    assert texts(rows(b"a b\nc\n", "tsv")) == [(b"a b",), (b"c",)]
    assert texts(rows(b"text\nc\n", "tsv")) == [(b"c",)]


def test_a_table_without_the_columns_is_one_error() -> None:
    assert errors(rows(b"a,b,c\n1,2,3\n", "csv")) == [
        "-: no column text, body, content or message (there are a, b, c); name "
        "another with text_columns"
    ]
    (error,) = errors(rows(b"a,b\n1,2\n", "csv", text_columns=("c",)))
    numbers = "if the first line is no heading, give all columns by number, from 1"
    assert error == f"-: no column c (there are a, b); {numbers}"
    assert errors(rows(b"a,b\n", "csv", text_columns=("3",)))
    for asked in ("Review", "reviews"):
        (error,) = errors(rows(b"a,review\n1,2\n", "csv", text_columns=(asked,)))
        assert error.endswith(f"no column {asked} (there are a, review); did you mean "
                              "review?")  # fmt: skip


def test_what_is_no_table_is_said_in_few_words() -> None:
    binary = bytes(range(256)) * 100
    wide = ",".join(f"{'x' * 500}{number}" for number in range(900)).encode()

    (error,) = errors(rows(binary, "csv", text_columns=("c",)))
    assert "(its first line is no text; is it a table?)" in error
    (error,) = errors(rows(wide + b"\n1,2\n", "csv", text_columns=("c",)))
    assert "xxx... and 880 more)" in error
    assert len(error) < 1100


def test_a_million_columns_of_one_name_are_a_short_error() -> None:
    (error,) = errors(rows(b"text," * 10**6 + b"x\n1,2\n", "csv"))
    assert "columns 1, 2, 3, 4" in error
    assert "and 999,980 more are called so; rename all but one" in error
    assert len(error) < 200


@pytest.mark.parametrize(
    "row", [b"a", b'"a"', b'a,"\n"'], ids=["plain", "quoted", "of several lines"]
)
@pytest.mark.parametrize("heading", [b"label,text", b"text,label"])
def test_a_row_of_many_columns_takes_bounded_memory(heading: bytes, row: bytes) -> None:
    n_columns = 2**18
    data = heading + b"\n" + row + b"," * n_columns + b"\n"
    tracemalloc.start()
    try:
        found = rows(data, "csv")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found) == 1
    assert peak < 64 * n_columns


def test_two_columns_of_the_name_that_is_read_are_one_error() -> None:
    assert errors(rows(b"label,text,Text\na,b,c\nd,e,f\n", "csv")) == [
        "-: one column text was expected, and columns 2, 3 are called so; "
        "rename all but one"
    ]
    (error,) = errors(rows(b"x,text,text\n1,2,3\n", "csv", label_column="x"))
    assert error.startswith("-: one column text was expected, and columns 2, 3 are")
    (error,) = errors(rows(b"x,x,text\n1,2,3\n", "csv", text_columns=("x",)))
    assert error.startswith("-: one column x was expected, and columns 1, 2 are")
    assert errors(rows(b"x,x,text\n1,2,3\n", "csv")) == []
    (error,) = errors(rows(b"label,Label,text\na,b,c\n", "csv"))
    assert error.startswith("-: one column label was expected, and columns 1, 2 are")
    assert not errors(rows(b"label,label,x,text\n1,2,3,4\n", "csv", label_column="x"))


def test_two_columns_of_a_name_are_one_error_where_what_they_hold_is_guessed() -> None:
    data = b"label,a,a,,\nx,b c d,e f g,,\ny,h i j,k l m,,\n"

    (error,) = errors(rows(data, "csv", labelled=True, guess=ColumnGuess()))
    named = rows(data, "csv", labelled=True, text_columns=("label",), label_column="a")

    assert error.startswith("-: one column a was expected, and columns 2, 3 are called")
    assert errors(named) == [error]
    guess = ColumnGuess()
    fields: dict[str, Any] = {"guess": guess, "model_fields": guess.guessed}
    assert not errors(
        rows(data.replace(b"a,a", b"a,b"), "csv", labelled=True, **fields)
    )


@pytest.mark.parametrize(("name", "between"), [("t.csv", ","), ("t.tsv", "\t")])
@pytest.mark.parametrize("delimiter", [None, ";"])
def test_two_columns_of_labels_matter_only_where_no_label_is_given(
    tmp_path: Path, name: str, between: str, delimiter: str | None
) -> None:
    path = tmp_path / name
    lines = ("label,label,text", "ham,eggs,a")
    between = delimiter or between
    path.write_text("".join(f"{line}\n".replace(",", between) for line in lines))
    kind = path.suffix[1:]

    def read(argument: str) -> list[Item]:
        return rows(b"", kind, argument=argument, labelled=True, delimiter=delimiter)

    (error,) = errors(read(str(path)))
    assert "one column label was expected, and columns 1, 2 are called so" in error
    (document,) = read(f"spam={path}")
    assert isinstance(document, Document)
    assert (document.label, document.texts) == ("spam", (b"a",))


def test_lines_of_label_and_text_are_recognised_where_labels_are_wanted(
    tmp_path: Path,
) -> None:
    path = tmp_path / "SMSSpamCollection"
    path.write_bytes(b'ham\tone\tmore\nspam\ttwo, "2\nham\t\n')

    items = rows(b"", "auto", argument=str(path), labelled=True)

    assert labels(items) == ["ham", "spam", "ham"]
    assert texts(items) == [(b"one\tmore",), (b'two, "2',), (b"",)]
    assert not isinstance(rows(b"", "auto", argument=str(path))[0], Document)


def test_one_line_without_a_label_makes_it_one_document(tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    path.write_bytes(b"ham\tone\nno label here\n")

    (item,) = rows(b"", "auto", argument=str(path), labelled=True)

    assert getattr(item, "label", None) == "note"


@pytest.mark.parametrize("end", [b"\r", b"\r\n", b"\n"])
@pytest.mark.parametrize("separator", [b",", b";", b"\t"])
def test_a_table_may_have_the_line_ends_of_any_system(
    tmp_path: Path, end: bytes, separator: bytes
) -> None:
    """A spreadsheet on a Mac offers a CSV whose lines end in CR alone."""
    lines = [[b"label", b"text"], [b"spam", b"buy now"], [b"ham", b'"a\nb"']]
    if end == b"\r" or separator == b"\t":
        lines[2][1] = b"hello there"
    path = tmp_path / ("rows.tsv" if separator == b"\t" else "rows.csv")
    path.write_bytes(end.join(map(separator.join, lines)) + end)

    items = list(documents([str(path)], Options(), labelled=True))

    assert labels(items) == ["spam", "ham"]
    assert texts(items)[1] == (
        (b"hello there",) if b'"' not in lines[2][1] else (b"a\nb",)
    )


def test_a_row_that_ends_early_is_told_apart_from_an_object_without_a_text() -> None:
    short = rows(b"label,text\nspam,buy\nham\n", "csv", labelled=True)
    named = rows(b"a,b\nspam,buy\nham\n", "csv", text_columns=("b",))
    without = rows(
        b'{"label": "a", "text": "b"}\n{"label": "a", "body": 1}\n',
        text_columns=("text",),
    )

    assert errors(short) == [
        "-:2: the row ends before its text; fill it in or remove it"
    ]
    assert errors(named) == [
        "-:2: the row ends before column b; fill it in or remove it"
    ]
    assert errors(without) == [
        "-:2: no column text; name another, add it or remove the row"
    ]


def test_the_first_object_without_a_column_tells_which_it_has() -> None:
    data = b'{"topic": "a", "text": "b"}\n{"topic": "a", "more": 1}\n{"text": "c"}\n'

    found = errors(rows(data, labelled=True, label_column="Topic"))

    do = "name another, add it or remove the row"
    assert found == [
        f"-:1: no column Topic (there are topic, text); {do}",
        f"-:2: no column Topic; {do}",
        f"-: 1 more record (3): no column Topic; {do}",
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_table_may_say_what_separates_its_columns(
    tmp_path: Path, end: str, mark: str
) -> None:
    """A spreadsheet reads a first line `sep=;`, and some programs write it."""
    lines = ["sep=|", "label|text", "sport|goal, match", "sep=|opera", "arts|x"]
    path = tmp_path / "rows.csv"
    path.write_bytes((mark + end.join(lines) + end).encode())

    items = list(documents([str(path)], Options(), labelled=True))

    assert labels(items) == ["sport", "sep=", "arts"]
    assert isinstance(items[0], Document)
    assert items[0][:2] == (f"{path}:1", (b"goal, match",))
