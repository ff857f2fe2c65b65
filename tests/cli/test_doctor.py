"""`nbtext doctor`: what is wrong with labelled documents."""

import json
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import pytest

from nbtext import examine
from nbtext.doctor import examining
from nbtext.doctor.telling import Told, tell
from tests.build import HAM, SPAM, mail

if TYPE_CHECKING:
    from tests.cli.conftest import Run


@pytest.fixture
def rows() -> Path:
    """A table of 120 texts, of which three stand under the wrong label."""
    path = Path("rows.tsv")
    lines = []
    for number in range(60):
        for label, words in (("spam", SPAM), ("ham", HAM)):
            text = " ".join(words[(number * step) % 8] for step in (1, 3, 5, 7))
            lines.append([label, f"{text} {number}{label[0]}x"])
    for place in (10, 33, 76):
        lines[place][0] = "ham" if lines[place][0] == "spam" else "spam"
    path.write_text("".join("\t".join(line) + "\n" for line in lines))
    return path


def test_wrong_labels_come_first_with_reasons(run: "Run", rows: Path) -> None:
    status, out, err = run("doctor", rows)

    found = [line.split("\t") for line in out.splitlines()]
    assert status == 0
    assert {tuple(row[:4]) for row in found} == {
        ("label", "rows.tsv:11", "ham", "spam"),
        ("label", "rows.tsv:34", "spam", "ham"),
        ("label", "rows.tsv:77", "ham", "spam"),
    }
    assert all(float(row[4]) > 0 and "'" in row[5] for row in found[:3])
    assert err == "120 documents: 3 documents that look like another label\n"


@pytest.mark.parametrize("columns", ["text,city", "size"])
def test_wrong_labels_of_records_are_told_by_their_attributes(
    run: "Run", columns: str
) -> None:
    """The text says nothing; the city, or the size, says all."""
    lines = ["label,text,city,size"]
    for number in range(80):
        is_first = number % 2 == 0
        label = "ba"[is_first != (number == 30)]
        city, size = ("Rome", number) if is_first else ("Oslo", 300 + number)
        lines.append(f"{label},word{number % 5},{city},{size}")
    Path("rows.csv").write_text("\n".join(lines) + "\n")
    options = {"text": "--text-column", "city": "--categorical-column"}
    named = [
        word
        for column in columns.split(",")
        for word in (options.get(column, "--numeric-column"), column)
    ]

    out = run("doctor", "-q", *named, "rows.csv").out

    labels = [line for line in out.splitlines() if line.startswith("label")]
    assert [line.split("\t")[1:4] for line in labels] == [["rows.csv:31", "b", "a"]]


def test_three_copies_under_two_labels_are_no_near_duplicates(run: "Run") -> None:
    text = " ".join(f"word{number}" for number in range(60))
    rows = [("ham", text), ("spam", text), ("ham", text), ("spam", "a b"), ("ham", "c")]
    Path("rows.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))

    kinds = [line.split("\t")[0] for line in run("doctor", "rows.tsv").out.splitlines()]

    assert "same" in kinds
    assert "near" not in kinds


def test_the_same_and_nearly_the_same_under_two_labels_are_named(run: "Run") -> None:
    words = [f"word{number}" for number in range(60)]
    texts = {
        "spam": [" ".join(words), *(f"{one} pills {n}" for n, one in enumerate(SPAM))],
        "ham": [" ".join(words), " ".join([*words[:58], "other", "end"]), *HAM],
    }
    lines = [f"{label}\t{text}\n" for label, some in texts.items() for text in some]
    Path("rows.tsv").write_text("".join(lines))

    out = run("doctor", "-q", "rows.tsv").out

    found = [line.split("\t") for line in out.splitlines()]
    pairs = [(row[0], {*row[1:5]}) for row in found if row[0] in ("same", "near")]
    assert pairs == [
        ("same", {"rows.tsv:1", "spam", "rows.tsv:10", "ham"}),
        ("near", {"rows.tsv:1", "spam", "rows.tsv:11", "ham"}),
    ]


def test_what_gives_a_class_away_is_named(run: "Run") -> None:
    """A tag in all of one class, and dates."""
    for label, words, year in (("spam", SPAM, 2002), ("ham", HAM, 2005)):
        Path(label).mkdir()
        for number in range(25):
            tag = b"X-Collected: by-the-trap\n" if label == "spam" else b""
            day = f"{number + 1} Jun {year} 10:00:00 +0000"
            date = f"Received: by inbox.example; {day}\n".encode()
            Path(label, f"{number}.eml").write_bytes(tag + date + mail(number, words))

    status, out, _ = run("doctor", "spam", "ham")
    said = json.loads(run("doctor", "--json", "spam", "ham").out)

    found = [line.split("\t") for line in out.splitlines()]
    leaks = [row for row in found if row[0] == "leak"]
    assert status == 0
    assert any("by-the-trap" in row[3] for row in leaks)
    assert all(row[4] == "25 of 25" for row in leaks if "by-the-trap" in row[3])
    (dates,) = (row for row in found if row[0] == "dates")
    assert dates[1] == "ham"
    assert dates[2].startswith("2005-06-02 to 2005-06-2")
    assert dates[4] == "1.000"
    assert said["n_leaks"] >= len(said["leaks"]) == len(leaks)
    assert said["apart"][0]["is_later"]


def test_each_of_many_terms_is_named_in_time_in_proportion(run: "Run") -> None:
    """Looked for one by one in each document, they would take most of a minute."""
    footer = " ".join(f"foot{number}x" for number in range(1500))
    for label, end in (("one", footer), ("other", "")):
        Path(label).mkdir()
        for number in range(12):
            text = f"words of document{number} in {label} {end}\n"
            Path(label, f"{number}.txt").write_text(text)

    start = process_time()
    _, out, _ = run("doctor", "--most", "10000", "one", "other")

    terms = [line.split("\t")[3] for line in out.splitlines() if "leak\t" in line]
    assert process_time() - start < 15
    assert {f"foot{number}x" for number in range(1500)} <= {*terms}


def test_labels_that_look_alike_are_named(run: "Run") -> None:
    labels = ["Spam", "spam", "caf\xe9", "cafe\u0301", "ham", "two  words", "two words"]
    rows = [f"{label}\ttext {n} of it" for n in range(20) for label in labels]
    Path("rows.tsv").write_text("\n".join(rows), "utf-8")

    status, out, err = run("doctor", "rows.tsv")

    found = [line for line in out.splitlines() if line.startswith("alike")]
    assert status == 0
    assert found == [
        "alike\tSpam\t20\tspam\t20",
        "alike\tcafe\u0301\t20\tcaf\xe9\t20",
        "alike\ttwo  words\t20\ttwo words\t20",
    ]
    assert "3 labels like others" in err


@pytest.mark.usefixtures("corpus")
def test_small_classes_and_what_cannot_be_read_are_named(run: "Run") -> None:
    Path("ham/9.eml").symlink_to("nothing")

    status, out, err = run("doctor", "spam", "ham")

    assert status == 65
    assert out.splitlines()[-3:] == ["small\tham\t8", "small\tspam\t8", "unreadable\t1"]
    assert err.startswith("skipped: ham/9.eml: the link leads nowhere; ")
    assert "2 small labels, 1 unreadable document" in err


def test_a_document_that_is_another_by_the_second_reading_ends_nothing(
    rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(*arguments: Any) -> Told:
        lines = rows.read_text().splitlines()
        lines[10] = "ham\tnone of these words was there before"
        rows.write_text("\n".join(lines))
        return tell(*arguments)

    monkeypatch.setattr(examining, "tell", told)

    found = examine([rows])

    told_of = {one.name: bool(one.reasons) for one in found.suspects}
    assert told_of == {"rows.tsv:11": False, "rows.tsv:34": True, "rows.tsv:77": True}


def test_a_file_under_two_labels_has_the_reasons_of_each(run: "Run") -> None:
    for label, words in (("spam", SPAM), ("ham", HAM)):
        for number in range(12):
            Path(label).mkdir(exist_ok=True)
            text = " ".join(words[(number * step) % 8] for step in (1, 3, 5, 7))
            Path(f"{label}/{number}").write_text(f"{text} {number}")
    Path("both").write_text(f"{SPAM[1]} {HAM[1]}")

    _, out, _ = run("doctor", "spam", "ham", "spam=both", "ham=both")

    lines = [line.split("\t") for line in out.splitlines()]
    reasons = {row[2]: row[5] for row in lines if row[:2] == ["label", "both"]}
    assert HAM[1] in reasons["spam"]
    assert SPAM[1] in reasons["ham"]


@pytest.mark.usefixtures("corpus")
def test_the_library_examines_as_the_command_does(run: "Run") -> None:
    said = json.loads(run("doctor", "--json", "--most", "2", "spam", "ham").out)

    found = examine(["spam", "ham"], most=2)

    assert json.loads(json.dumps(found.as_dict())) == said
    assert not found.is_sound


@pytest.mark.parametrize("sources", [("spam",), ("nowhere",), ("empty",), ()], ids=str)
@pytest.mark.usefixtures("corpus")
def test_doctor_needs_two_classes(run: "Run", sources: tuple[str, ...]) -> None:
    Path("empty").mkdir()

    status, out, err = run("doctor", *sources)

    assert status in (64, 65, 66)
    assert out == ""
    assert "Error: " in err


def test_names_cannot_break_a_line(run: "Run") -> None:
    for label, words in (("spam", HAM), ("ham", HAM), ("eggs", SPAM)):
        Path(label).mkdir()
        for number in range(8):
            name = f"tab\there\n{number}.eml"
            Path(label, name).write_bytes(mail(number, words))

    out = run("doctor", "-q", "spam", "ham", "eggs").out

    assert all(len(line.split("\t")) >= 2 for line in out.splitlines())
    assert "\\t" in out


def test_a_label_that_repeats_itself_is_told(run: "Run") -> None:
    words = [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "iota",
        "kappa",
        "lambda",
        "mu",
    ]
    rows = [
        f"{label}\t{' '.join(f'{word}{n}{label}' for word in words)}{more}"
        for label, endings in (("a", ("", " thanks")), ("b", ("",)))
        for n in range(30)
        for more in endings
    ]
    Path("rows.tsv").write_text("\n".join(rows))

    found = run("doctor", "rows.tsv")
    facts = json.loads(run("doctor", "--json", "rows.tsv").out)

    assert "again\ta\t30 of 60\n" in found.out
    assert "1 label that repeats itself" in found.err
    assert facts["repeated"] == {"a": 30}


def test_copies_within_a_label_are_told(run: "Run") -> None:
    rows = [f"{label}\tword{n} of {label}" for label in "ab" for n in range(30)]
    rows += [*rows[:3], rows[0], rows[30].replace("b\t", "a\t", 1)]
    Path("rows.tsv").write_text("\n".join(rows))

    found = run("doctor", "rows.tsv")
    facts = json.loads(run("doctor", "--json", "rows.tsv").out)

    assert [line for line in found.out.splitlines() if line[:6] == "copies"] == [
        "copies\ta\t4 of 35"
    ]
    assert "1 document under two labels, 1 label with copies" in found.err
    assert facts["copies"] == {"a": 4}
