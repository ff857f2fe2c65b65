"""`nbtext why`: what it prints adds up, and nothing in a message disturbs a line."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.build import HAM, SPAM

if TYPE_CHECKING:
    from tests.cli.conftest import Run

HOSTILE = (
    b"Subject: \x1b[2J\tmoney \xe2\x80\xae\r\n\r\n\x1b]0;x\x07 money \x9b31m money\n"
)


def sections(out: str) -> tuple[list[str], list[list[str]], dict[str, float]]:
    """Return the first lines, the rows of terms, and the sums by name."""
    head, terms, sums = out.split("\n\n")
    rows = [line.split("\t") for line in terms.splitlines()]
    pairs = [line.split("\t") for line in sums.splitlines()]
    return head.splitlines(), rows[1:], {row[0]: float(row[1]) for row in pairs}


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("top", ["0", "3", "1000"])
def test_what_is_printed_adds_up(run: "Run", top: str) -> None:
    status, out, err = run("why", "-m", "mail.nbt", "--top", top, "spam/1.eml")

    assert (status, err) == (0, "")
    (decision, words), rows, sums = sections(out)
    classified = run("classify", "-m", "mail.nbt", "spam/1.eml").out
    assert f"{decision}\n" == classified
    assert words
    # each number is rounded to three places
    names = list(sums)
    score = sums["score"]
    parts = [sums[name] for name in names[: names.index("score")]]
    assert math.fsum(parts) == pytest.approx(score, abs=0.0005 * (len(parts) + 1))
    terms = [float(row[0]) for row in rows]
    assert len(rows) <= int(top) + 1
    besides = [value for name, value in sums.items() if name.endswith("its terms")]
    assert math.fsum(terms + besides) == pytest.approx(
        score, abs=0.0005 * (len(terms) + 2)
    )
    label = decision.split("\t")[0]
    odds = sums[f"log-odds of {label}"]
    changes = [sums.get(name, 0.0) for name in ("calibration", "cap")]
    assert score + math.fsum(changes) == pytest.approx(odds, abs=0.002)
    probability = sums[f"probability of {label}"]
    assert probability == pytest.approx(1 / (1 + math.exp(-odds)), abs=0.0002)


@pytest.mark.usefixtures("model")
def test_json_adds_up_to_the_last_digit(run: "Run") -> None:
    status, out, _ = run("why", "-m", "mail.nbt", "--json", "--top", 2, "spam/1.eml")

    found = json.loads(out)
    assert status == 0
    classified = json.loads(
        run("classify", "-m", "mail.nbt", "--json", "spam/1.eml").out
    )
    for name in ("label", "probability", "posterior", "tokens", "truncated"):
        assert found[name] == classified[name]
    said = [term["contribution"] for term in found["terms"]]
    assert len(said) == 2
    whole = math.fsum([*said, found["rest"]["contribution"]])
    whole += math.fsum(part["besides_terms"] for part in found["parts"])
    assert whole == pytest.approx(found["score"], abs=1e-10)
    whole = math.fsum(part["contribution"] for part in found["parts"])
    assert whole == pytest.approx(found["score"], abs=1e-10)
    odds = found["score"] + found["calibration"]["contribution"]
    odds += found["other_classes"] + found["cap"]
    assert odds == pytest.approx(found["log_odds"], abs=1e-10)
    assert 1 / (1 + math.exp(-odds)) == pytest.approx(found["probability"], abs=1e-10)


@pytest.mark.usefixtures("model")
def test_a_term_is_as_it_is_in_the_message(run: "Run") -> None:
    _, out, _ = run("why", "-m", "mail.nbt", "--json", "--top", 500, "spam/1.eml")

    def flat(terms: list[Any]) -> list[Any]:
        return [one for term in terms for one in term.get("joined", [term])]

    terms = flat(json.loads(out)["terms"])
    sender = next(term for term in terms if term["term"] == "winner@example.org")
    assert (sender["view"], sender["field"], sender["times"]) == ("headers", "from", 1)
    documents = {name: n["documents"] for name, n in sender["counts"].items()}
    assert documents["spam"] >= 1
    dumped = run("dump", "-m", "mail.nbt").out.splitlines()
    (line,) = [line for line in dumped if f'"term":"{sender["key"]}"' in line]
    assert json.loads(line)["view"] == "headers"


@pytest.mark.usefixtures("model")
def test_the_other_class_is_spoken_for_when_asked(run: "Run") -> None:
    _, out, _ = run("why", "-m", "mail.nbt", "--json", "spam/1.eml")
    _, other, _ = run("why", "-m", "mail.nbt", "--json", "--class", "ham", "spam/1.eml")

    first, second = json.loads(out), json.loads(other)
    assert (first["for"], second["for"], second["label"]) == ("spam", "ham", "spam")
    assert first["score"] == -second["score"]
    status, _, err = run("why", "-m", "mail.nbt", "--class", "sapm", "spam/1.eml")
    assert status == 64 or "did you mean 'spam'" in err


@pytest.mark.usefixtures("model")
def test_nothing_that_a_terminal_obeys_is_printed(run: "Run") -> None:
    for arguments in (["--top", "99"], ["--json"], ["--against", "ham/1.eml"]):
        status, out, _ = run("why", "-m", "mail.nbt", *arguments, stdin=HOSTILE)

        assert status == 0
        assert all(line.replace("\t", "").isprintable() for line in out.splitlines())


def test_json_of_cut_characters_is_utf_8(run: "Run", tmp_path: "Path") -> None:
    """Runs of bytes cut characters in two, and a name need not be UTF-8."""
    odd = tmp_path / "odd\udcff.txt"
    odd.write_text("\u3042\u3044\u3046 \u3042\u3044 \u3048\u304a" * 3)
    for label, text in (
        ("a", "\u3042\u3044\u3046 \u3042\u3044"),
        ("b", "\u3048\u304a \u3044\u3048"),
    ):
        (tmp_path / f"{label}.csv").write_text(f"text\n{text}\n{text} x\n" * 9)
    sources = [f"{label}={tmp_path / label}.csv" for label in "ab"]
    assert run("train", "-q", "-m", "m.nbt", *sources).status == 0

    outs = [
        run("why", "--json", "-m", "m.nbt", odd).out,
        run("why", "--json", "-m", "m.nbt", "--against", odd, odd).out,
        run("top", "--json", "-m", "m.nbt", "--from", odd).out,
        run("eval", "--json", "-q", "--errors", "-m", "m.nbt", f"c={odd}").out,
        run("doctor", "--json", "-q", *sources).out,
    ]

    assert "\\\\xe3" in "".join(outs)
    for out in outs:
        for line in [out] if out.startswith("{\n") else out.splitlines():
            json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8")


@pytest.mark.usefixtures("model")
def test_a_message_of_unknown_tokens_is_told_as_one(run: "Run") -> None:
    status, out, _ = run("why", "-m", "mail.nbt", stdin="\u0937\u0915".encode())

    (decision, words), rows, sums = sections(out)
    assert status == 0
    assert decision.startswith("?\t")
    assert words.startswith("none of its ")
    assert rows == []
    assert sums["shares of the classes"] == sums["score"]


@pytest.mark.usefixtures("model")
def test_two_documents_are_compared(run: "Run") -> None:
    arguments = ("why", "-m", "mail.nbt", "spam/1.eml", "--against", "ham/1.eml")
    status, out, _ = run(*arguments, "--top", 4)

    assert status == 0
    head, table, sums = (part.splitlines() for part in out.split("\n\n"))
    assert [line.split("\t")[0] for line in head] == ["spam", "ham"]
    rows = [line.split("\t") for line in table[1:]]
    assert len(rows) == 5
    for row in (*rows, *(line.split("\t") for line in sums)):
        difference, first, second = map(float, row[:3])
        assert difference == pytest.approx(first - second, abs=0.0011)
    score = next(line for line in sums if line.endswith("\tscore")).split("\t")
    whole = math.fsum(float(row[0]) for row in rows)
    assert whole == pytest.approx(float(score[0]), abs=0.004)
    found = json.loads(run(*arguments, "--json").out)
    assert found["first"]["for"] == found["second"]["for"] == "spam"
    assert found["differences"][0]["difference"] == pytest.approx(
        float(rows[0][0]), abs=0.0005
    )


@pytest.mark.usefixtures("model")
def test_more_than_one_document_cannot_be_compared(run: "Run") -> None:
    status, out, err = run("why", "-m", "mail.nbt", "spam", "--against", "ham/1.eml")

    assert (status, out) == (64, "")
    assert "here are several; name one, such as spam/" in err
    several = run("why", "-m", "mail.nbt", *["ham/1.eml"] * 9, "--against", "ham/1.eml")
    assert several.err.startswith("Error: ham/1.eml and 8 more: --against compares one")


@pytest.mark.usefixtures("model")
def test_what_learning_would_change_is_of_one_document(run: "Run") -> None:
    against = ("spam/1.eml", "--against", "ham/1.eml")

    status, out, err = run("why", "-m", "mail.nbt", "--flip", *against)

    assert (status, out) == (64, "")
    assert "--flip is about one document" in err


@pytest.mark.usefixtures("model")
def test_several_documents_are_explained_one_after_the_other(run: "Run") -> None:
    status, out, _ = run("why", "-m", "mail.nbt", "--json", "spam", "ham")

    names = [json.loads(line)["name"] for line in out.splitlines()]
    assert status == 0
    assert names == [
        json.loads(line)["name"]
        for line in run(
            "classify", "-m", "mail.nbt", "--json", "spam", "ham"
        ).out.splitlines()
    ]


def test_a_missing_document_is_named(run: "Run", model: "Path") -> None:
    status, out, err = run("why", "-m", model, "none.eml")

    assert (status, out) == (66, "")
    assert "none.eml" in err


def probability(run: "Run", model: str, label: str, path: str) -> float:
    found = json.loads(run("classify", "-m", model, "--json", path).out)
    return float(found["posterior"][label])


def flipped(run: "Run", model: str, path: str, *more: str) -> Any:
    status, out, _ = run("why", "-m", model, "--flip", "--json", *more, path)
    assert status == 0
    return json.loads(out)["flip"]


@pytest.fixture
def texts(tmp_path: "Path", run: "Run") -> str:
    """A model of texts that a second message cannot flip, and a text to flip."""
    rows = [f"ham,about the {word} and the {word}" for word in HAM * 4]
    rows += [f"spam,cheap pills and casino cash for {word}" for word in SPAM * 4]
    (tmp_path / "rows.csv").write_text("\n".join(["label,text", *rows]))
    trained = run("train", "-q", "--no-byte-ngrams", "-m", "texts.nbt", "rows.csv")
    assert trained == (0, "", "")
    (tmp_path / "one.txt").write_text("cheap pills and casino cash for the winner")
    return "texts.nbt"


def test_what_learning_would_change_is_what_it_changes(
    run: "Run", texts: str, tmp_path: "Path"
) -> None:
    before = (tmp_path / texts).read_bytes()

    found = flipped(run, texts, "one.txt")

    assert (tmp_path / texts).read_bytes() == before
    assert (found["class"], found["outcome"]) == ("ham", "learnt")
    assert found["before"] == probability(run, texts, "ham", "one.txt")
    (tmp_path / "once.nbt").write_bytes(before)
    run("learn", "-m", "once.nbt", "ham", "one.txt")
    assert found["after"] == probability(run, "once.nbt", "ham", "one.txt")

    # others have the same terms, and are other documents
    copies = found["copies"]
    assert copies is not None
    assert copies >= 1
    text = (tmp_path / "one.txt").read_text()
    for number in range(1, copies + 1):
        (tmp_path / f"like{number}.txt").write_text(text + " " * number)
    for n, is_enough in ((copies - 1, False), (copies, True)):
        (tmp_path / "more.nbt").write_bytes(before)
        like = [f"like{number}.txt" for number in range(1, n + 1)]
        run("learn", "-m", "more.nbt", "ham", "one.txt", *like)
        classified = json.loads(
            run("classify", "-m", "more.nbt", "--json", "one.txt").out
        )
        assert (classified["label"] == "ham") is is_enough
    assert found["probability"] == classified["posterior"]["ham"]


@pytest.mark.usefixtures("model")
def test_a_message_that_is_known_would_move(run: "Run", corpus: "Path") -> None:
    found = flipped(run, "mail.nbt", "spam/1.eml")

    assert (found["class"], found["outcome"]) == ("ham", "moved")
    run("learn", "-m", "mail.nbt", "ham", "spam/1.eml")
    assert found["after"] == probability(run, "mail.nbt", "ham", "spam/1.eml")
    again = flipped(run, "mail.nbt", "spam/1.eml", "--class", "ham")
    assert again["outcome"] == "known"
    _, out, _ = run("why", "-m", "mail.nbt", "--flip", "--class", "ham", "spam/1.eml")
    assert "the model knows it as ham already" in out


def test_of_a_model_without_a_ledger_nothing_can_be_learnt(
    run: "Run", corpus: "Path"
) -> None:
    run("train", "-q", "--no-ledger", "-m", "none.nbt", "spam", "ham")

    status, _, err = run("why", "-m", "none.nbt", "--flip", "spam/1.eml")

    assert status == 64
    assert "keeps no ledger" in err


@pytest.mark.parametrize("score", ["weighted", "sum"])
def test_categories_and_numbers_of_a_record_are_evidence_too(
    run: "Run", tmp_path: "Path", score: str
) -> None:
    rows = [f"spam,red,{n + 9.5},cheap {word}" for n, word in enumerate(SPAM)]
    rows += [f"ham,blue,{n},the {word}" for n, word in enumerate(HAM)]
    (tmp_path / "rows.csv").write_text("\n".join(["label,colour,size,text", *rows]))
    columns = ("--categorical-column", "colour", "--numeric-column", "size")
    kinds = (*columns, "--text-column", "text", "--score", score)
    assert run("train", "-q", "-m", "r.nbt", *kinds, "rows.csv").status == 0
    (tmp_path / "one.csv").write_text("colour,size,text\nred,7.5,the cheap lunch\n")

    status, out, _ = run("why", "-m", "r.nbt", "--json", "--top", 99, "one.csv")

    found = json.loads(out)
    assert status == 0
    terms = {(term["field"], term["term"]): term for term in found["terms"]}
    assert terms["colour", "red"]["counts"]["spam"]["documents"] == len(SPAM)
    assert ("size", "7.5") in terms
    parts = found["parts"]
    assert {"colour", "size"} < {part["name"] for part in parts}
    odds = math.fsum(part["contribution"] for part in parts)
    odds += found["calibration"]["contribution"] + found["other_classes"] + found["cap"]
    assert odds == pytest.approx(found["log_odds"], abs=1e-9)
    said = math.fsum(term["contribution"] for term in found["terms"])
    said += math.fsum(part["besides_terms"] for part in found["parts"])
    whole = math.fsum(part["contribution"] for part in parts)
    assert said == pytest.approx(whole, abs=1e-9)
    classified = json.loads(run("classify", "-m", "r.nbt", "--json", "one.csv").out)
    assert found["posterior"] == classified["posterior"]
    flip = flipped(run, "r.nbt", "one.csv")
    (tmp_path / "taught.nbt").write_bytes((tmp_path / "r.nbt").read_bytes())
    run("learn", "-m", "taught.nbt", flip["class"], "one.csv")
    assert flip["after"] == probability(run, "taught.nbt", flip["class"], "one.csv")


def test_what_would_take_the_only_document_of_a_class_is_said(run: "Run") -> None:
    lines = ['{"label": "a", "text": "alpha"}', '{"label": "b", "text": "gamma"}']
    Path("rows.jsonl").write_text("\n".join(lines))
    run("train", "-q", "-m", "two.nbt", "rows.jsonl")
    Path("one.txt").write_text("alpha")

    status, out, err = run("why", "-m", "two.nbt", "--flip", "one.txt")

    assert (status, out) == (65, "")
    assert err.startswith("Error: one.txt: it is the only document of its class, and ")
    assert "learnt as 'b' it would leave the model that class alone" in err


@pytest.mark.usefixtures("model")
def test_an_option_that_changes_nothing_is_said_as_by_classify(run: "Run") -> None:
    options = ("-m", "mail.nbt", "--class-prior", "uniform", "spam/1.eml")

    said = run("why", *options).err

    assert "note: --class-prior changes nothing" in said
    assert said == run("classify", *options).err
    assert run("why", "-q", *options).err == ""


@pytest.mark.parametrize("policy", [("--cost", "ham:spam=100"), ("--unsure", "1")])
@pytest.mark.usefixtures("model")
def test_the_first_line_is_that_of_classify(
    run: "Run", policy: tuple[str, str]
) -> None:
    """Where costs decide, the label may be of the class that is less probable."""
    options = ("-m", "mail.nbt", *policy, "spam/1.eml")

    assert run("why", *options).out.splitlines()[:1] == [
        run("classify", *options).out[:-1]
    ]
