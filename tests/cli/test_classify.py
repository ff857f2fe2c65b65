"""`nbtext classify`: one honest line a document, and an exit status to rely on."""

import json
import math
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import nbtext
from nbtext import SettingsOverrides
from tests.build import confusing

if TYPE_CHECKING:
    from tests.cli.conftest import Run

FROM_LINE = b"From a@example.org Tue Jun 14 19:52:09 2005\n"
ODD_NAME = b"a\tb\nc\\d\xff\xe2\x80\xa8e"
ODD_NAME_SHOWN = r"a\tb\nc\\d\xff\u2028e"


def rows(out: str) -> list[list[str]]:
    return [line.split("\t") for line in out.splitlines()]


def objects(out: str) -> list[Any]:
    return [json.loads(line) for line in out.split("\n")[:-1]]


@pytest.mark.usefixtures("model")
def test_classify_prints_label_and_probability_of_standard_input(run: "Run") -> None:
    message = Path("spam/3.eml").read_bytes()

    status, out, err = run("classify", "-m", "mail.nbt", stdin=message)

    assert (status, err) == (0, "")
    [[label, probability]] = rows(out)
    assert label == "spam"
    assert 0.5 < float(probability) < 1


@pytest.mark.usefixtures("model")
def test_classify_prints_one_line_a_document_in_order(run: "Run") -> None:
    mbox = b"".join(FROM_LINE + p.read_bytes() + b"\n" for p in Path("ham").iterdir())

    status, out, err = run(
        "classify", "-m", "mail.nbt", "spam", "-", "ham/3.eml", stdin=mbox
    )

    assert (status, err) == (0, "")
    in_spam = [f"spam/{number}.eml" for number in range(8)]
    in_mbox = [f"-:{number}" for number in range(1, 9)]
    assert [name for _, _, name in rows(out)] == [*in_spam, *in_mbox, "ham/3.eml"]
    assert [label for label, _, _ in rows(out)] == ["spam"] * 8 + ["ham"] * 9


@pytest.mark.usefixtures("model")
def test_classify_prints_json_lines_for_programs(run: "Run") -> None:
    status, out, err = run("classify", "-m", "mail.nbt", "--json", "spam", "ham")

    assert (status, err) == (0, "")
    assert len(objects(out)) == 16
    for one in objects(out):
        assert list(one) == [
            "name", "label", "probability", "posterior", "log_posterior", "tokens",
            "truncated", "from", "subject",
        ]  # fmt: skip
        assert one["label"] == one["name"].split("/")[0]
        assert list(one["posterior"]) == list(one["log_posterior"]) == ["ham", "spam"]
        assert sum(one["posterior"].values()) == pytest.approx(1, abs=1e-9)
        assert one["probability"] == max(one["posterior"].values())
        assert one["probability"] <= 9 / 10  # eight documents of the other class
        before_cap = {label: math.exp(n) for label, n in one["log_posterior"].items()}
        assert sum(before_cap.values()) == pytest.approx(1, abs=1e-9)
        assert before_cap[one["label"]] >= one["probability"] - 1e-12
        assert 0 < one["tokens"]["known"] <= one["tokens"]["total"]
        assert one["truncated"] is False


def test_a_probability_short_of_certainty_never_prints_as_1(run: "Run") -> None:
    Path("a.txt").write_text("a b c " * 9999)
    Path("z.txt").write_text("x y z " * 9999)
    arguments = ("--score", "sum", "a=a.txt", "z=z.txt")
    assert run("train", "-q", "-m", "m.nbt", *arguments) == (0, "", "")

    assert run("classify", "-m", "m.nbt", "a.txt").out == "a\t0.9999\ta.txt\n"

    status, out, err = run("classify", "-m", "m.nbt", "--json", "a.txt")
    assert (status, err) == (0, "")
    [one] = objects(out)
    assert one["probability"] < 1
    assert one["log_posterior"]["a"] <= 0
    assert one["log_posterior"]["z"] < -1000  # far below what exp can tell from 0


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("--is", "spam"), 0),
        (("--is", "ham"), 1),
        (("--is", "ham", "--unsure", "1"), 2),
        (("--is", "spam", "--unsure", "1"), 2),
    ],
    ids=["it is", "it is another", "unsure", "unsure all the same"],
)
@pytest.mark.usefixtures("model")
def test_is_answers_by_the_exit_status(
    run: "Run", arguments: tuple[str, ...], status: int
) -> None:
    message = Path("spam/3.eml").read_bytes()
    command = ("classify", "-m", "mail.nbt", *arguments)

    answer = run(*command, stdin=message)
    in_a_file = run(*command, "spam/3.eml")
    quiet = run(*command, "-q", stdin=message)

    assert answer.status == in_a_file.status == status
    assert quiet == (status, "", "")
    assert answer.out.startswith("?\t" if status == 2 else "spam\t")
    assert answer.err == ""


@pytest.mark.usefixtures("model")
def test_is_refuses_a_class_that_the_model_does_not_have(run: "Run") -> None:
    for source in ((), ("spam/1.eml",)):
        status, out, err = run("classify", "-m", "mail.nbt", "--is", "eggs", *source)

        assert (status, out) == (64, "")
        assert (
            err == "Error: --is: no class 'eggs'; the model's classes are ham, spam\n"
        )


@pytest.mark.parametrize(
    "sources", [("spam",), ("spam/1.eml", "spam/2.eml")], ids=["folder", "files"]
)
@pytest.mark.usefixtures("model")
def test_is_takes_one_document_only(run: "Run", sources: tuple[str, ...]) -> None:
    status, out, err = run("classify", "-m", "mail.nbt", "--is", "spam", *sources)

    assert (status, out) == (64, "")
    assert err == "Error: --is takes one document, and there are more\n"


@pytest.mark.usefixtures("model")
def test_is_takes_a_document_of_a_file_by_its_number(run: "Run") -> None:
    parts = [
        b"From a@b.example Thu Jan  1 00:00:00 2026\n"
        + Path(f"{name}.eml").read_bytes()
        for name in ("ham/1", "spam/1")
    ]
    Path("box.mbox").write_bytes(b"\n".join(parts))
    Path("box").write_bytes(b"\n".join(parts))
    command = ("classify", "-m", "mail.nbt", "--is", "spam")

    for name in ("box.mbox", "box"):
        assert run(*command, f"{name}:1").status == 1
        assert run(*command, f"{name}:2").status == 0
        assert run(*command, f"{name}:3").status == 66
    status, out, err = run(*command, "box.mbox")

    assert (status, out) == (64, "")
    assert err == "Error: --is takes one document, and there are more\n"
    assert run(*command, "box").status in (0, 1)  # one message, whatever it looks like


@pytest.mark.usefixtures("model")
def test_is_needs_a_document(run: "Run") -> None:
    Path("empty").mkdir()

    status, out, err = run("classify", "-m", "mail.nbt", "--is", "spam", "empty")

    assert (status, out) == (64, "")
    assert err == (
        "note: empty: no document there\n"
        "Error: --is takes one document, and there is none\n"
    )


@pytest.mark.usefixtures("model")
def test_is_never_takes_a_failure_for_a_verdict(run: "Run") -> None:
    Path("broken").mkdir()
    Path("broken/link").symlink_to("nothing")
    command = ("classify", "-m", "mail.nbt", "--is", "spam")

    missing = run(*command, "nowhere")
    beside = run(*command, "spam/1.eml", "nowhere")
    broken = run(*command, "broken")

    assert (missing.status, missing.out) == (66, "")
    assert (beside.status, beside.out) == (66, "")
    assert (broken.status, broken.out) == (65, "")
    assert missing.err.startswith("skipped: nowhere: no such file or folder")


@pytest.mark.usefixtures("model")
def test_is_reads_one_message_whatever_it_looks_like(run: "Run") -> None:
    message = FROM_LINE + Path("spam/3.eml").read_bytes()
    two = message + b"\n" + message

    status, out, _ = run("classify", "-m", "mail.nbt", "--is", "spam", stdin=two)

    assert status == 0
    assert out.startswith("spam\t")


@pytest.mark.usefixtures("model")
def test_unsure_withholds_labels_that_are_not_probable_enough(run: "Run") -> None:
    sources = ("-m", "mail.nbt", "spam", "ham")
    plain = rows(run("classify", *sources).out)
    probabilities = sorted(float(row[1]) for row in plain)
    threshold = probabilities[8]

    status, out, err = run("classify", "--unsure", threshold, *sources)

    assert (status, err) == (0, "")
    for before, after in zip(plain, rows(out), strict=True):
        assert after[1:] == before[1:]
        if float(before[1]) != threshold:  # printed, it has lost its last digits
            is_sure = float(before[1]) > threshold
            assert after[0] == (before[0] if is_sure else "?")


@pytest.mark.parametrize("value", ["-0.1", "1.1", "nan", "inf", "much", ""])
@pytest.mark.usefixtures("model")
def test_unsure_takes_a_probability_only(run: "Run", value: str) -> None:
    status, out, err = run("classify", "-m", "mail.nbt", "--unsure", value, "spam")

    assert (status, out) == (64, "")
    assert "Invalid value for '--unsure'" in err


@pytest.mark.parametrize(
    "options",
    [("--jobs", "x"), ("--score", "max"), ("--format", "x"), ("--max-bytes", "1t")],
    ids=" ".join,
)
@pytest.mark.usefixtures("model")
def test_classify_refuses_bad_options(run: "Run", options: tuple[str, ...]) -> None:
    status, out, err = run("classify", "-m", "mail.nbt", *options, "spam")

    assert (status, out) == (64, "")
    assert "Error: Invalid value for '-" in err


@pytest.mark.usefixtures("model")
def test_a_name_is_one_field_of_one_line_whatever_it_holds(run: "Run") -> None:
    Path("odd").mkdir()
    Path("spam/1.eml").rename(os.fsdecode(b"odd/" + ODD_NAME))

    status, out, err = run("classify", "-m", "mail.nbt", "odd")

    assert (status, err) == (0, "")
    assert out.count("\n") == 1
    assert rows(out)[0][2:] == [f"odd/{ODD_NAME_SHOWN}"]

    status, out, err = run("classify", "-m", "mail.nbt", "--json", "odd")
    assert (status, err) == (0, "")
    assert [one["name"] for one in objects(out)] == ["odd/a\tb\nc\\d\\xff\u2028e"]


@pytest.mark.usefixtures("model")
def test_a_complaint_is_one_line_whatever_the_name_holds(run: "Run") -> None:
    status, out, err = run("classify", "-m", "mail.nbt", "no\nwhere\x1b[2J")

    assert (status, out) == (66, "")
    assert err.startswith(r"skipped: no\nwhere\x1b[2J: no such file or folder")
    assert err.count("\n") == 1


@pytest.fixture
def uneven(run: "Run") -> None:
    """A model m.nbt of three documents of a and one of b."""
    for label, n_documents in (("a", 3), ("b", 1)):
        Path(label).mkdir()
        for number in range(n_documents):
            Path(label, str(number)).write_text(f"word{label}{number} {label}")
    assert run("train", "-q", "-m", "m.nbt", "a", "b") == (0, "", "")


@pytest.mark.parametrize(
    "document", [b"", b"\n\n", b"zyzzyvy\n"], ids=["empty", "blank", "unknown"]
)
@pytest.mark.usefixtures("uneven")
def test_what_has_no_known_token_is_unsure(run: "Run", document: bytes) -> None:
    plain = run("classify", "-m", "m.nbt", stdin=document)
    status, out, err = run("classify", "-m", "m.nbt", "--json", stdin=document)

    assert (plain.status, plain.err) == (status, err) == (0, "")
    assert plain.out.startswith("?\t0.")
    [one] = objects(out)
    assert one["label"] is None
    # a word, and eleven n-grams of its seven letters and the edges
    assert one["tokens"] == {"known": 0, "total": 12 if document.strip() else 0}
    assert run("classify", "-m", "m.nbt", "--is", "a", "-q", stdin=document).status == 2


@pytest.mark.usefixtures("uneven")
def test_the_posterior_of_what_has_no_known_token_is_the_class_shares_capped(
    run: "Run",
) -> None:
    [one] = objects(run("classify", "-m", "m.nbt", "--json").out)

    assert one["posterior"] == pytest.approx({"a": 2 / 3, "b": 1 / 3}, abs=1e-9)


@pytest.mark.usefixtures("model")
def test_classify_goes_on_without_what_it_cannot_read(run: "Run") -> None:
    Path("spam/4.eml").unlink()
    Path("spam/4.eml").symlink_to("nothing")

    status, out, err = run("classify", "-m", "mail.nbt", "spam", "nowhere", "ham")

    assert status == 65
    assert [name for _, _, name in rows(out)] == [
        *(f"spam/{number}.eml" for number in (0, 1, 2, 3, 5, 6, 7)),
        *(f"ham/{number}.eml" for number in range(8)),
    ]
    first, second = err.splitlines()
    assert first.startswith("skipped: spam/4.eml: the link leads nowhere; ")
    assert second.startswith("skipped: nowhere: no such file or folder; ")


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.usefixtures("model")
def test_classify_says_where_there_is_no_document(run: "Run", jobs: int) -> None:
    Path("empty").mkdir()
    Path("none.mbox").touch()

    outcome = run("classify", "-m", "mail.nbt", "-j", jobs, "empty", "none.mbox")

    assert outcome.err == (
        "note: empty: no document there\nnote: none.mbox: no document there\n"
    )
    assert (outcome.status, outcome.out) == (0, "")
    assert run("classify", "-q", "-m", "mail.nbt", "empty") == (0, "", "")


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        (("-", "-"), "-: standard input can be read once, and is named twice; name it"),
        (("spam", ""), "'': a path was expected, and nothing found; fill it in"),
    ],
)
@pytest.mark.usefixtures("model")
def test_classify_refuses_sources_that_cannot_be_meant(
    run: "Run", sources: tuple[str, ...], said: str
) -> None:
    status, out, err = run("classify", "-m", "mail.nbt", *sources, stdin=b"money")

    assert (status, out) == (64, "")
    assert err.startswith(f"Error: {said}")


@pytest.mark.usefixtures("model")
def test_classify_says_that_a_source_is_missing(run: "Run") -> None:
    status, out, err = run("classify", "-m", "mail.nbt", "nowhere")

    assert (status, out) == (66, "")
    assert err.startswith("skipped: nowhere: no such file or folder; ")


def test_classify_says_that_there_is_no_model(run: "Run") -> None:
    for source in ((), ("spam",)):
        status, out, err = run("classify", "-m", "nowhere.nbt", *source)

        assert (status, out) == (66, "")
        assert err.startswith("Error: nowhere.nbt: no model there; make one with ")


@pytest.mark.parametrize("contents", [b"", b"hello", b"\x93NUMPY" * 99])
def test_classify_refuses_what_is_no_model(run: "Run", contents: bytes) -> None:
    Path("m.nbt").write_bytes(contents)

    for source in ((), ("m.nbt",)):
        status, out, err = run("classify", "-m", "m.nbt", *source)

        assert (status, out) == (65, "")
        assert err.startswith("Error: m.nbt: ")


@pytest.mark.usefixtures("model")
def test_a_long_document_is_cut_and_says_so(run: "Run") -> None:
    head = Path("spam/3.eml").read_bytes()[:200]
    Path("long.eml").write_bytes(head + b" lunch" * 9000)
    Path("short.eml").write_bytes(head)
    arguments = ("--json", "--max-bytes", "200")

    status, out, err = run(
        "classify", "-m", "mail.nbt", *arguments, "long.eml", "short.eml"
    )

    cut = "cut short: long.eml is longer than --max-bytes; its rest was not read\n"
    assert (status, err) == (0, cut)
    long, short = objects(out)
    assert (long["truncated"], short["truncated"]) == (True, False)
    assert long | {"name": "", "truncated": 0} == short | {"name": "", "truncated": 0}


@pytest.mark.usefixtures("model")
def test_an_empty_message_is_unsure(run: "Run") -> None:
    outcome = run("classify", "-m", "mail.nbt", stdin=b"")

    assert outcome == (0, "?\t0.5000\n", "")


@pytest.mark.usefixtures("model")
def test_the_log_posterior_of_a_sure_class_is_short_of_certainty(run: "Run") -> None:
    arguments = ("classify", "-m", "mail.nbt", "--json", "--score", "sum")

    out = run(*arguments, stdin=Path("spam/3.eml").read_bytes() * 40).out

    assert max(objects(out)[0]["log_posterior"].values()) < 0


@pytest.mark.usefixtures("corpus")
def test_documents_are_read_as_the_model_was_trained(run: "Run") -> None:
    Path("note").write_text("The money of a winner.")
    sources = ("spam/3.eml", "note")
    read = {}
    for kind in ("mail", "text"):
        trained = run("train", "-q", "-m", kind, "--format", kind, "spam", "ham")
        assert trained == (0, "", "")

        result = run("classify", "-m", kind, "--json", *sources)
        assert (result.status, result.err) == (0, "")
        read[kind] = [one["tokens"]["total"] for one in objects(result.out)]

    mail_as_mail, note_as_mail = read["mail"]
    mail_as_text, note_as_text = read["text"]
    assert mail_as_mail != mail_as_text
    assert note_as_mail != note_as_text
    # five words and a full stop, the pairs of them, and n-grams of text and edges
    assert note_as_text == 11 + len("The money of a winner.") + 4


@pytest.mark.usefixtures("model")
def test_processes_print_what_one_prints(process: "Run") -> None:
    arguments = ("classify", "-m", "mail.nbt", "--json", "spam", "nowhere", "ham")

    alone = process(*arguments)
    together = process(*arguments, "--jobs", "2")

    assert alone == together
    assert alone.status == 66
    assert alone.out.count("\n") == 16


def write_and_wait(arguments: list[str], documents: list[bytes]) -> list[str]:
    """Give the program a document only when it has answered the one before."""
    answers = []
    with subprocess.Popen(
        [sys.executable, "-m", "nbtext", "classify", "-m", "mail.nbt", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as program:
        assert program.stdin
        assert program.stdout
        for document in documents:
            program.stdin.write(document)
            program.stdin.flush()
            answers.append(program.stdout.readline().decode())
        program.stdin.close()
        answers += [line.decode() for line in program.stdout]
    assert program.returncode == 0
    return answers


@pytest.mark.parametrize("arguments", [[], ["-"], ["--json"], ["--json", "-", "ham"]])
@pytest.mark.usefixtures("model")
def test_a_line_of_json_is_answered_before_the_next_is_written(
    arguments: list[str],
) -> None:
    texts = [path.read_text() for path in sorted(Path("spam").iterdir())]
    lines = [json.dumps({"text": text}).encode() + b"\n" for text in texts]

    answers = write_and_wait(arguments, lines)

    assert len(answers) == len(lines) + 8 * ("ham" in arguments)
    assert all("spam" in answer for answer in answers[: len(lines)])


@pytest.mark.usefixtures("model")
def test_a_message_of_an_mbox_is_answered_once_the_next_begins() -> None:
    messages = [FROM_LINE + path.read_bytes() for path in sorted(Path("ham").iterdir())]
    # that a message is over shows in the line that begins the next
    pieces = [messages[0] + b"\n" + FROM_LINE]
    pieces += [one.removeprefix(FROM_LINE) + b"\n" + FROM_LINE for one in messages[1:]]

    answers = write_and_wait(["-"], pieces)

    assert [answer.split("\t")[0] for answer in answers[:8]] == ["ham"] * 8
    assert [answer.split("\t")[2] for answer in answers] == [
        f"-:{number}\n" for number in range(1, 10)
    ]


@pytest.mark.usefixtures("model")
def test_each_of_many_lines_has_its_answer_in_order(process: "Run") -> None:
    texts = [
        f"{'money' if number % 3 else 'meeting'} {number}" for number in range(999)
    ]
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    arguments = ("classify", "-m", "mail.nbt", "-")

    whole = process(*arguments, stdin=lines.encode())
    each = [process(*arguments, stdin=json.dumps({"text": texts[5]}).encode())]

    assert whole.status == 0
    assert [name for _, _, name in rows(whole.out)] == [
        f"-:{n + 1}" for n in range(999)
    ]
    assert rows(each[0].out)[0][:2] == rows(whole.out)[5][:2]


def test_the_textbook_example_comes_out_to_the_last_digit(run: "Run") -> None:
    """Manning, Raghavan and Schuetze (2008), example 13.1."""
    Path("rows.tsv").write_text(
        "label\ttext\n"
        "china\tChinese Beijing Chinese\n"
        "china\tChinese Chinese Shanghai\n"
        "china\tChinese Macao\n"
        "other\tTokyo Japan Chinese\n"
    )
    trained = run(
        "train", "-q", "-m", "m.nbt", "--score", "sum", "--smoothing", "1",
        "--ngrams", "1", "--alphabet", "words", "rows.tsv",
    )  # fmt: skip
    assert trained == (0, "", "")
    china = Fraction(3, 4) * Fraction(3, 7) ** 3 * Fraction(1, 14) ** 2
    other = Fraction(1, 4) * Fraction(2, 9) ** 5

    status, out, err = run(
        "classify",
        "-m",
        "m.nbt",
        "--json",
        stdin=b"Chinese Chinese Chinese Tokyo Japan",
    )

    assert (status, err) == (0, "")
    [one] = objects(out)
    assert one["label"] == "china"
    assert one["posterior"] == pytest.approx(
        {
            "china": float(china / (china + other)),
            "other": float(other / (china + other)),
        },
        abs=1e-12,
    )
    for label, likelihood in (("china", china), ("other", other)):
        expected = math.log(likelihood / (china + other))
        assert one["log_posterior"][label] == pytest.approx(expected, abs=1e-12)


@pytest.mark.usefixtures("corpus")
def test_several_models_decide_together(run: "Run") -> None:
    for view in ("headers", "body"):
        run("train", "-q", "-m", f"{view}.nbt", "--views", view, "spam", "ham")
    message = Path("spam/3.eml").read_bytes()
    models = ("-m", "headers.nbt", "-m", "body.nbt")

    status, out, err = run("classify", "--json", *models, stdin=message)
    _, many, _ = run("classify", "--jobs", "2", *models, "spam/3.eml", "ham")
    _, shown, _ = run("eval", "-q", "--seen", *models, "spam", "ham")

    assert (status, err) == (0, "")
    [found] = objects(out)
    assert found["label"] == "spam"
    assert [part["model"] for part in found["parts"]] == ["headers.nbt", "body.nbt"]
    for part in found["parts"]:
        alone = objects(
            run("classify", "--json", "-m", part["model"], stdin=message).out
        )[0]
        assert part == {key: alone.get(key, part["model"]) for key in part}
    assert rows(many)[0] == ["spam", f"{found['probability']:.4f}", "spam/3.eml"]
    assert rows(shown)[0] == ["documents", "16"]


@pytest.mark.usefixtures("corpus")
def test_what_several_models_cannot_do_is_said(run: "Run") -> None:
    run("train", "-q", "-m", "a.nbt", "spam", "ham")
    run("train", "-q", "-m", "b.nbt", "junk=spam", "ham")
    run("policy", "-m", "a.nbt", "--unsure", "0.6")
    run("train", "-q", "-m", "c.nbt", "spam", "ham")
    both = ("-m", "c.nbt", "-m", "a.nbt")

    other = run("classify", "-m", "a.nbt", "-m", "b.nbt", "spam")
    limit = run("classify", *both, "--max-false-positives", "1%", "spam")
    errors = run("eval", *both, "--errors", "spam", "ham")
    noted = run("classify", *both, "spam/3.eml")

    assert (other.status, limit.status, errors.status) == (64, 64, 64)
    assert "b.nbt has the classes ham, junk, and a.nbt ham, spam" in other.err
    assert "held-out scores of one model" in limit.err
    assert "--errors tells the reasons of one model" in errors.err
    assert "policy kept in a.nbt has no part" in noted.err


def test_another_score_than_a_correction_was_made_for_is_not_corrected(
    run: "Run",
) -> None:
    """The counts of both models are the same, so that their other scores are."""
    pairs = confusing()
    nbtext.train_on(pairs, "corrected.nbt")
    nbtext.train_on(pairs, "plain.nbt", overrides=SettingsOverrides(correction=False))
    assert nbtext.load("corrected.nbt").model.correction is not None
    Path("texts").mkdir()
    for number, (_, text) in enumerate(pairs[:20]):
        Path(f"texts/{number}.txt").write_text(f"{text} unseen")

    for options in (("--score", "sum"), ("--smoothing", "0.1")):
        said = [
            run("classify", "-q", "--json", "-m", path, *options, "texts")
            for path in ("corrected.nbt", "plain.nbt")
        ]
        found = [
            [json.loads(line)["posterior"] for line in one.out.splitlines()]
            for one in said
        ]
        assert said[0].status == 0, options
        assert len(found[0]) == 20, options
        assert found[0] == found[1], options
