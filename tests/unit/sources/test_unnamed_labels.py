"""Tables of known corpora, without a column called label: what is understood."""

import csv
import json
from collections.abc import Iterable
from io import BytesIO, StringIO
from pathlib import Path
from time import process_time

import pytest

from nbtext import load, train
from nbtext.document import Document, Unreadable
from nbtext.errors import NbtextError
from nbtext.sources import Options, documents
from nbtext.sources.guess import ColumnGuess, is_date
from tests.build import bounded
from tests.items import errors, notes, read

TEXTS = [
    (
        k % 2,
        ("a dull plot that goes nowhere %d", "a film of charm and wit %d")[k % 2] % k,
    )
    for k in range(12)
]
"""Texts of two kinds, by turns."""


def table(rows: Iterable[Iterable[object]], *heading: str) -> str:
    """Return rows as CSV, all fields in quotes, as corpora have them."""
    file = StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([heading] if heading else [])
    writer.writerows(rows)
    return file.getvalue()


NEWS = [(kind + 3, f"Title of the {k}", text) for k, (kind, text) in enumerate(TEXTS)]
TWEETS = [
    (kind * 4, 1467810369 + 977 * k, f"Mon Apr 06 22:{k:02}:45 PDT 2009", "NO_QUERY",
     f"user{k}", text)
    for k, (kind, text) in enumerate(TEXTS)
]  # fmt: skip
MAIL = [
    (k, f"Subject of the {k}", text, "ham" if k < 6 else "spam", f"1999-12-{k // 4:02}")
    for k, (kind, text) in enumerate(TEXTS)
]
AIRLINE = [
    (570 + k * k, ("negative", "positive")[kind], f"0.{k % 3}", "Virgin", text,
     "2015-02-24 11:35:52 -0800")
    for k, (kind, text) in enumerate(TEXTS)
]  # fmt: skip
AIRLINE_HEADING = (
    "tweet_id", "airline_sentiment", "airline_sentiment_confidence", "airline", "text",
    "tweet_created",
)  # fmt: skip


@pytest.mark.parametrize(
    ("data", "label", "read_columns"),
    [
        pytest.param(table(NEWS), "1", "2 3", id="AG News"),
        pytest.param(table(NEWS, "Class Index", "Title", "Description"),
                     "Class Index", "Title Description", id="AG News, Kaggle"),
        pytest.param(table([(1, *row[1:]) for row in NEWS]), "1", "2 3",
                     id="DBpedia, sorted"),
        pytest.param(table(MAIL, "ID", "Subject", "Message", "Spam/Ham", "Date"),
                     "Spam/Ham", "", id="Enron-Spam"),
        pytest.param(table(AIRLINE, *AIRLINE_HEADING), "airline_sentiment", "",
                     id="airline tweets"),
        pytest.param(table([(k, text, kind) for k, (kind, text) in enumerate(TEXTS)],
                           "", "tweet", "IsSarcastic"),
                     "IsSarcastic", "tweet", id="an index of pandas"),
    ],
)  # fmt: skip
def test_of_several_columns_one_is_the_label(
    data: str, label: str, read_columns: str
) -> None:
    guess = ColumnGuess()

    items = [*read("-", labelled=True, stdin=data.encode(), options=guessing(guess))]

    assert not errors(items)
    first, *_ = notes(items)
    assert f" the column {label} was taken for the label, because it repeats" in first
    assert " ".join(field.column for field in guess.fields) == read_columns
    rows = [*csv.reader(StringIO(data))]
    place = int(label) - 1 if label.isdecimal() else rows.pop(0).index(label)
    assert [item.label for item in items if isinstance(item, Document)] == [
        row[place] for row in rows
    ]


def guessing(guess: ColumnGuess) -> Options:
    """Return what training has."""
    return Options(format="csv", model_fields=guess.guessed, guess=guess)


@pytest.mark.parametrize(
    ("data", "columns", "ask"),
    [
        pytest.param(table(TWEETS), "1, 4", "1 6", id="Sentiment140"),
        pytest.param(
            table(
                [(f"{k:x}", text, kind, 0) for k, (kind, text) in enumerate(TEXTS)],
                "id", "comment_text", "toxic", "severe toxic",
            ),
            "toxic, severe toxic", "toxic comment_text",
            id="toxic comments",
        ),
        pytest.param(
            table([(0, kind, text) for kind, text in TEXTS], "up", "likes", "text"),
            "up, likes", "likes text", id="one has one value only",
        ),
        pytest.param(
            table(
                [(text, f"i{k // 2}", "fr" if kind else "en")
                 for k, (kind, text) in enumerate([*TEXTS, *TEXTS[:-1]])],
                "utterance", "intent", "lang",
            ),
            "intent, lang", "intent utterance", id="many intents",
        ),
        pytest.param(
            table(
                [(text, "good" if kind else "", k // 6)
                 for k, (kind, text) in enumerate(TEXTS)],
                "review", "sentiment", "fold",
            ),
            "sentiment, fold", "sentiment review", id="some are empty",
        ),
    ],
)  # fmt: skip
def test_where_several_may_be_the_label_the_parameters_are_said(
    tmp_path: Path, data: str, columns: str, ask: str
) -> None:
    path = tmp_path / "train.csv"
    path.write_text(data)

    with pytest.raises(NbtextError) as refused:
        train([str(path)], str(tmp_path / "m.nbt"))

    label, text = ask.split()
    assert str(refused.value) == (
        f"{path}: the columns {columns} repeat as labels do, and one of them was "
        f"expected to; name it, for instance: label_column={label!r}, "
        f"text_columns=({text!r},)"
    )


def test_a_column_that_few_records_have_is_no_label(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    rows: list[dict[str, object]] = [
        {"review": text, "n": k} | ({"lang": "en"} if k % 2 else {})
        for k, (_, text) in enumerate(TEXTS)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    with pytest.raises(NbtextError, match="only the class 'train'"):
        train([str(path)], str(tmp_path / "m.nbt"))


def test_a_model_of_numbered_columns_finds_the_labels_of_a_test_part(
    tmp_path: Path,
) -> None:
    path, model = tmp_path / "train.csv", str(tmp_path / "m.nbt")
    path.write_text(table(NEWS))
    trained = train([str(path)], model)
    test = tmp_path / "test.csv"
    test.write_text(table(NEWS[5:7]))
    loaded = load(model).model

    options = Options().for_model(loaded.settings.fields, loaded.classes)
    items = [*documents([str(test)], options, labelled=True)]

    assert (trained.report.documents, loaded.classes) == (12, ("3", "4"))
    (note,) = notes(items)
    assert note == (
        f"{test}: has no heading, and the column 1 was taken for the label, because it "
        "holds classes of the model; to have another one, name it: label_column"
    )
    assert [item for item in items if isinstance(item, Document)] == [
        Document(f"{test}:{k}", (b"%b" % row[1].encode(), row[2].encode()), str(row[0]),
                 columns=("2", "3"))
        for k, row in enumerate(NEWS[5:7], 1)
    ]  # fmt: skip


def test_train_and_test_are_parts_of_a_corpus_and_no_classes(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{name}.csv") for name in ("train", "test")]
    for path in paths:
        Path(path).write_text(table(NEWS))
    other = tmp_path / "sport.csv"
    other.write_text(table(NEWS))

    for sources, found in ((paths, {"3", "4"}), ([*paths, str(other)], None)):
        guess = ColumnGuess()
        options = Options(model_fields=guess.guessed, guess=guess)
        items = [*documents(sources, options, labelled=True)]
        labels = {item.label for item in items if isinstance(item, Document)}
        assert labels == (found or {"train", "test", "sport"})


def test_both_readings_of_training_agree_about_the_label(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [{"sentence": text, "mood": "ab"[kind], "n": 7 + k * k} for k, (kind, text)
            in enumerate(TEXTS)]  # fmt: skip
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    guess = ColumnGuess()
    options = Options(model_fields=guess.guessed, guess=guess)

    first = [*documents([str(path)], options, labelled=True)]
    guess.close()
    second = [*documents([str(path)], options, labelled=True)]

    def found(items: object) -> list[Document]:
        assert isinstance(items, list)
        return [item for item in items if isinstance(item, Document)]

    assert found(first) == found(second)
    assert [item.label for item in found(first)] == ["a", "b"] * 6


@pytest.mark.parametrize("heading", [(), ("Class Index", "Title", "Description")])
def test_both_readings_agree_about_a_text_with_a_stray_comma(
    tmp_path: Path, heading: tuple[str, ...]
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(table(NEWS, *heading) + "3,Another title,some words, and more\n")
    guess = ColumnGuess()
    options = Options(model_fields=guess.guessed, guess=guess)

    first = [*documents([str(path)], options, labelled=True)]
    guess.close()
    second = [*documents([str(path)], options, labelled=True)]

    for items in (first, second):
        assert not errors(items)
        last = items[-1]
        assert isinstance(last, Document)
        texts = (b"Another title", b"some words, and more")
        assert last.label == "3"
        assert [text for text in last.texts if text] in ([*texts], [texts[1], texts[0]])


def test_text_beside_the_one_that_is_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "messages.csv"
    path.write_text(table([(row[1], row[2], row[0]) for row in NEWS],
                          "subject", "message", "label"))  # fmt: skip

    trained = train([str(path)], str(tmp_path / "m.nbt"))

    assert [note.text for note in trained.report.notes] == [
        f"{path}: subject is text, too, and is not read; to read it all: "
        "text_columns=('subject', 'message')"
    ]


def test_many_columns_take_little_time_and_long_ones_little_memory() -> None:
    many = [
        json.dumps({f"{n} {k}": "" for k in range(3000)} | {"text": ""})
        for n in range(60)
    ]
    long = [
        json.dumps({"x": [["y" * 2**19]], "z" * 2**19: "", "text": ""})
        for _ in range(60)
    ]
    options = guessing(ColumnGuess())._replace(format="jsonl")
    start = process_time()

    found = [*read("-", labelled=True, stdin=lines(many), options=options)]
    stdin = BytesIO(lines(long))
    with bounded(megabytes=30):
        items = documents(["-"], options, labelled=True, stdin=stdin)
        assert any(isinstance(item, Unreadable) for item in items)

    assert errors(found)[-1].startswith("-: no column label, class, category or ")
    assert process_time() - start < 10


def test_time_is_in_proportion_to_the_number_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    heading = ",".join(f"c{n}" for n in range(40_000))
    path.write_text(f"{heading}\n" + f"{','.join('01' * 20_000)}\n" * 4)
    guess = ColumnGuess()
    start = process_time()

    for _ in range(2):  # as train does
        list(read(str(path), labelled=True, options=guessing(guess)))

    assert len(guess.fields) == 40_000
    assert process_time() - start < 15


def lines(rows: list[str]) -> bytes:
    return "\n".join(rows).encode()


@pytest.mark.parametrize(
    ("names", "is_said"),
    [(["bad", "good"], True), (["bad", "bad"], False), (["0", "1"], False)],
)
def test_names_of_numbered_labels_are_told(names: list[str], is_said: bool) -> None:
    rows = [{"text": text, "label": kind, "label_text": names[kind]}
            for kind, text in TEXTS]  # fmt: skip
    lines = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    options = guessing(ColumnGuess())._replace(format="jsonl")

    items = [*read("-", labelled=True, stdin=lines, options=options)]

    assert {item.label for item in items if isinstance(item, Document)} == {"0", "1"}
    assert notes(items) == is_said * [
        "-: label_text names the labels: label_column='label_text'"
    ]


@pytest.mark.parametrize(
    ("heading", "is_said"),
    [(("label", "file"), True), (("file", "label"), True), (("label", "text"), True),
     ((), True), (("label", "file", "text"), False), (("label", "other"), False)],
)  # fmt: skip
def test_a_column_of_names_of_files_is_told(
    heading: tuple[str, ...], tmp_path: Path, is_said: bool
) -> None:
    rows: list[list[object]] = []
    for kind, text in TEXTS:
        file = tmp_path / f"{len(rows)}.eml"
        if "other" not in heading or rows:  # the first is none then
            file.write_text(text)
        values = {"label": "ab"[kind], "file": file, "other": file, "text": file}
        values |= {"text": text} if "file" in heading else {}
        rows.append([values[name] for name in heading or ("label", "text")])
    lines = table(rows, *heading).encode()
    options = guessing(ColumnGuess())._replace(format="csv")

    items = [*read("-", labelled=True, stdin=lines, options=options)]

    told = [
        one for one in notes(items) if "has names of files, and these are read" in one
    ]
    assert len(told) == is_said


@pytest.mark.parametrize(
    "value",
    ["2024-05-31", "31/5/2024", "2015-02-24 11:35:52 -0800", "May 3, 2018",
     "Mon Apr 06 22:19:45 PDT 2009", "2013-11-07T06:20:48", "12:30 PM"],
)  # fmt: skip
def test_a_date_is_recognised(value: str) -> None:
    assert is_date(value)


@pytest.mark.parametrize(
    "value",
    ["2024", "see you at 12:30", "May the force be with you", "", "1.5", "NO_QUERY",
     "10:30 " * 9],
)  # fmt: skip
def test_other_values_are_no_dates(value: str) -> None:
    assert not is_date(value)
