"""`nbtext tokens`: it shows what is counted, no more and no less."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

NGRAMS = (
    *(r"\n\n\n\ns", r"\n\n\nso", r"\n\nso,", r"\nso, "),
    *("so, s", "o, so", ", so ", " so s", "so so", "o so."),
    *(r" so.\n", r"so.\n\n", r"o.\n\n\n", r".\n\n\n\n"),
)
TEXT = "Free MONEY, free lunch: naïve 東京 !!! free money\n"


def table(out: str) -> list[tuple[str, str, int, str]]:
    rows = [line.split("\t") for line in out.splitlines()]
    return [(view, field, int(count), term) for view, field, count, term in rows]


def objects(out: str) -> list[Any]:
    return [json.loads(line) for line in out.splitlines()]


def test_tokens_shows_words_marks_and_pairs(run: "Run") -> None:
    status, out, err = run("tokens", "-m", "none.nbt", stdin=b"So, so SO.\n")

    assert status == 0
    assert err == "note: none.nbt: no model there; reading by the default settings\n"
    assert table(out) == [
        ("body", "body", 1, "So"),
        ("body", "body", 1, ","),
        ("body", "body", 1, "so ,"),
        ("body", "body", 1, "so"),
        ("body", "body", 1, ", so"),
        ("body", "body", 1, "SO"),
        ("body", "body", 1, "so so"),
        ("body", "body", 1, "."),
        ("body", "body", 1, "so ."),
        *(("ngrams", "body", 1, term) for term in NGRAMS),
    ]


@pytest.mark.usefixtures("model")
def test_tokens_reads_by_the_settings_of_the_model(run: "Run") -> None:
    status, out, err = run("tokens", "-m", "mail.nbt", "spam/1.eml")

    assert (status, err) == (0, "")
    assert {view for view, _, _, _ in table(out)} == {"headers", "raw", "body"}
    assert ("headers", "from", 1, "winner@example.org") in table(out)


@pytest.mark.usefixtures("model")
def test_tokens_reads_as_it_is_told(run: "Run") -> None:
    status, out, err = run("tokens", "-m", "mail.nbt", "--as", "text", "spam/1.eml")

    assert (status, err) == (0, "")
    assert {view for view, _, _, _ in table(out)} == {"body", "ngrams"}


@pytest.mark.usefixtures("model")
def test_tokens_tells_a_program_the_same(run: "Run") -> None:
    plain = run("tokens", "-m", "mail.nbt", "spam/1.eml")

    status, out, err = run("tokens", "-m", "mail.nbt", "--json", "spam/1.eml")

    assert (status, err) == (0, "")
    [one] = objects(out)
    assert one["name"] == "spam/1.eml"
    assert table(plain.out) == [
        (view, row["field"], row["count"], row["term"])
        for view, rows in one["views"].items()
        for row in rows
    ]


@pytest.mark.usefixtures("model")
def test_tokens_names_each_of_several_documents(run: "Run") -> None:
    status, out, err = run("tokens", "-m", "mail.nbt", "spam", "ham/1.eml")

    assert (status, err) == (0, "")
    names = [line for line in out.splitlines() if line.startswith("# ")]
    assert names == [*(f"# spam/{number}.eml" for number in range(8)), "# ham/1.eml"]


@pytest.mark.parametrize("kind", ["mail", "text"])
@pytest.mark.usefixtures("corpus")
def test_tokens_shows_exactly_what_is_counted(run: "Run", kind: str) -> None:
    document = Path("spam/1.eml")
    document.write_bytes(document.read_bytes() + TEXT.encode())
    Path("other").write_text("something else\n")
    arguments = ("train", "-q", "-m", "m.nbt", "--format", kind)
    assert run(*arguments, "a=spam/1.eml", "b=other") == (0, "", "")
    known = json.loads(run("info", "--json", "-m", "m.nbt").out)

    status, out, err = run("tokens", "-m", "m.nbt", "spam/1.eml", "other")
    first, second = (
        table(part.partition("\n")[2]) for part in out.split("# ")[1:]
    )  # fmt: skip

    assert (status, err) == (0, "")
    counted = {name: one["tokens"] for name, one in known["classes"].items()}
    assert counted == {
        "a": sum(count for *_, count, _ in first),
        "b": sum(count for *_, count, _ in second),
    }
    terms = {(view, field, term) for view, field, _, term in (*first, *second)}
    assert known["terms"] == len(terms)


@pytest.mark.usefixtures("model")
def test_tokens_counts_what_classify_counts(run: "Run") -> None:
    sources = ("-m", "mail.nbt", "--json", "spam/1.eml")

    [shown] = objects(run("tokens", *sources).out)
    [decided] = objects(run("classify", *sources).out)

    counts = [row["count"] for rows in shown["views"].values() for row in rows]
    assert decided["tokens"]["total"] == sum(counts)


def test_a_term_is_one_field_of_one_line(run: "Run") -> None:
    text = "a\\b \u2028 c\u200bd \ufeff".encode() + b" \xff\x00 e\r\nf"

    status, out, _ = run("tokens", "--as", "text", stdin=text)

    assert status == 0
    assert all(len(line.split("\t")) == 4 for line in out.split("\n")[:-1])
    assert out.isascii() or out.replace("\n", "").replace("\t", "").isprintable()


@pytest.mark.usefixtures("model")
def test_tokens_goes_on_without_what_it_cannot_read(run: "Run") -> None:
    status, out, err = run("tokens", "-m", "mail.nbt", "nowhere", "spam/1.eml")

    assert status == 66
    assert out.startswith("# spam/1.eml\n")
    assert err.startswith("skipped: nowhere: no such file or folder; ")


@pytest.mark.usefixtures("corpus")
def test_tokens_refuses_a_model_that_is_none(run: "Run") -> None:
    status, out, err = run("tokens", "-m", "spam/1.eml", "spam/2.eml")

    assert (status, out) == (65, "")
    assert err.startswith("Error: spam/1.eml: not an nbtext model; ")


@pytest.mark.parametrize(
    "options", [("--as", "word"), ("--max-bytes", "x"), ("--folds", "2")], ids=" ".join
)
def test_tokens_refuses_bad_options(run: "Run", options: tuple[str, ...]) -> None:
    status, out, err = run("tokens", *options, stdin=b"hello")

    assert (status, out) == (64, "")
    assert "Error: " in err
