"""`nbtext bogofilter`: what users have in their recipes does what it did."""

import json
import os
import re
import select
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nbtext.cli import _terminal
from nbtext.scoring.model import load_model
from tests.cli.conftest import corpus_of, on_a_terminal, trained_of
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.cli.conftest import Run

FIELD = re.compile(
    r"X-Bogosity: (Spam|Ham|Unsure), tests=bogofilter, spamicity=(0\.\d{6}|1\.000000), "
    r"version=nbtext-[\d.]+"
)
STRANGE = b"Subject: xyzzy\n\nplugh\n"


@pytest.fixture
def spam(corpus: Path) -> bytes:
    return (corpus / "spam" / "3.eml").read_bytes()


@pytest.fixture
def ham(corpus: Path) -> bytes:
    return (corpus / "ham" / "3.eml").read_bytes()


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder with spam/ and ham/, enough messages of each for a verdict."""
    return corpus_of(tmp_path, 100)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A model of that corpus."""
    return trained_of(tmp_path_factory.mktemp("corpus"), 100)


@pytest.fixture(autouse=True)
def _model_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BOGOFILTER_DIR", raising=False)
    monkeypatch.setenv("NBTEXT_MODEL", "mail.nbt")


def documents(path: str = "mail.nbt") -> dict[str, int]:
    model = load_model(path)
    return dict(zip(model.classes, model.documents, strict=True))


def mailbox(*messages: bytes) -> bytes:
    line = b"From a@b.example Tue Feb  6 10:00:00 2024\n"
    return b"".join(line + message + b"\n" for message in messages)


@pytest.mark.usefixtures("model")
def test_the_exit_status_is_the_verdict(run: "Run", spam: bytes, ham: bytes) -> None:
    assert run("bogofilter", stdin=spam) == (0, "", "")
    assert run("bogofilter", stdin=ham) == (1, "", "")
    assert run("bogofilter", stdin=STRANGE) == (2, "", "")
    assert run("bogofilter", "-e", stdin=ham) == (0, "", "")


@pytest.mark.usefixtures("model")
def test_a_message_is_passed_with_the_field(run: "Run", ham: bytes) -> None:
    status, out, err = run("bogofilter", "-p", stdin=ham)

    head, _, body = ham.decode().partition("\n\n")
    assert (status, err) == (1, "")
    assert out.startswith(f"{head}\nX-Bogosity: Ham, ")
    assert out.endswith(f"\n\n{body}")
    assert FIELD.fullmatch(out.splitlines()[len(head.splitlines())])
    assert run("bogofilter", "-uep", stdin=ham) == (0, out, "")


@pytest.mark.usefixtures("model")
def test_fields_that_came_with_the_message_are_taken_out(
    run: "Run", spam: bytes
) -> None:
    forged = b"x-bogosity: Ham,\n\ttests=bogofilter\n" + spam.replace(
        b"To:", b"X-BOGOSITY : Ham\nTo:"
    )

    out = run("bogofilter", "-pe", stdin=forged).out

    assert out == run("bogofilter", "-pe", stdin=spam).out
    assert out.lower().count("x-bogosity") == 1


@pytest.mark.usefixtures("model")
def test_the_field_is_printed_and_terse_forms_too(run: "Run", spam: bytes) -> None:
    (line,) = run("bogofilter", "-v", stdin=spam).out.splitlines()
    terse = run("bogofilter", "-t", stdin=spam).out
    script = run("bogofilter", "-T", stdin=spam).out
    figure = run("bogofilter", "-TT", stdin=spam).out

    assert FIELD.fullmatch(line)
    assert re.fullmatch(r"S [01]\.\d{6}\n", terse)
    assert re.fullmatch(r"S (1|0\.9\d*)\n", script)
    assert re.fullmatch(r"0\.9\d{15}\n", figure)
    assert run("bogofilter", "-vvv", stdin=spam).out == f"{line}\n"
    assert run("bogofilter", "-vt", stdin=spam).out == terse
    assert run("bogofilter", "-vT", stdin=spam).out == script


@pytest.mark.usefixtures("model")
def test_the_verdict_is_that_of_classify(run: "Run", corpus: Path) -> None:
    files = sorted(map(str, corpus.glob("*/*.eml")))
    one_each = json.loads(
        "[" + ",".join(run("classify", "--json", *files).out.splitlines()) + "]"
    )

    lines = run("bogofilter", "-TT", "-B", *files).out.splitlines()

    assert [line.split() for line in lines] == [
        [one["name"], f"{one['posterior']['spam']:.16f}"] for one in one_each
    ] or [float(line.split()[1]) for line in lines] == pytest.approx(
        [one["posterior"]["spam"] for one in one_each], abs=1e-12
    )


@pytest.mark.usefixtures("model")
def test_cutoffs_are_the_users(run: "Run") -> None:
    assert run("bogofilter", "-o", "0.4", stdin=STRANGE).status == 0
    assert run("bogofilter", "-o0.6,0", stdin=STRANGE).status == 1
    assert run("bogofilter", "--ham-cutoff=0.6", stdin=STRANGE).status == 1


def test_a_model_is_begun_and_unsure_until_it_knows_both(
    run: "Run", spam: bytes, ham: bytes
) -> None:
    unsure = "X-Bogosity: Unsure, tests=bogofilter, spamicity=0.500000, "
    assert run("bogofilter", "-s", "-d", "new/one", stdin=spam) == (0, "", "")

    status, out, err = run("bogofilter", "-v", "-d", "new/one", stdin=spam)

    assert (status, out[: len(unsure)]) == (2, unsure)
    assert "it knows spam alone" in err
    assert run("bogofilter", "-n", "-dnew/one", stdin=ham) == (0, "", "")
    assert documents("new/one/nbtext.nbt") == {"ham": 1, "spam": 1}
    assert run("bogofilter", "-d", "new/one", stdin=spam).status in (0, 2)


def test_without_a_model_that_is_an_error_unless_it_is_to_learn(
    run: "Run", spam: bytes
) -> None:
    passed = run("bogofilter", "-p", stdin=spam)
    updated = run("bogofilter", "-u", stdin=spam)

    assert (passed.status, passed.out) == (3, spam.decode())
    assert "mail.nbt: no model there" in passed.err
    assert (updated.status, updated.out) == (2, "")
    assert "mail.nbt: no model yet" in updated.err
    assert run("bogofilter", "-S", stdin=spam).status == 3
    assert not Path("mail.nbt").exists()


def test_without_a_model_that_is_an_error_even_if_there_is_nothing_to_read(
    run: "Run",
) -> None:
    assert run("bogofilter", "-b").status == 3
    assert run("bogofilter", "-B").status == 3
    assert run("bogofilter", "-ub").status == 2


@pytest.mark.usefixtures("model")
def test_learning_twice_is_learning_once(run: "Run", spam: bytes) -> None:
    new = spam.replace(b"Message-ID: <", b"Message-ID: <new")

    for _ in range(2):
        assert run("bogofilter", "-s", stdin=new) == (0, "", "")
    assert documents() == {"ham": 100, "spam": 101}
    assert run("bogofilter", "-sv", stdin=new).err == (
        "# 1 message, 1 document known as spam already\n"
    )


@pytest.mark.parametrize("options", [["-Sn"], ["-nS"], ["-S", "-n"], ["-n"]])
@pytest.mark.usefixtures("model")
def test_a_correction_moves(run: "Run", spam: bytes, options: list[str]) -> None:
    marked = run("bogofilter", "-pe", stdin=spam).out.encode()

    assert run("bogofilter", *options, stdin=marked) == (0, "", "")
    assert documents() == {"ham": 101, "spam": 99}


@pytest.mark.usefixtures("model")
def test_undoing_takes_out_what_was_learnt_and_nothing_else(
    run: "Run", spam: bytes
) -> None:
    not_ham = run("bogofilter", "-Nv", stdin=spam)
    undone = run("bogofilter", "-Sv", stdin=spam)
    again = run("bogofilter", "-S", stdin=spam)

    assert not_ham == (0, "", "not known: -, as ham\n# 1 message\n")
    assert undone == (0, "", "# 1 message, forgot 1 document\n")
    assert again == (0, "", "not known: -, as spam\n")
    assert documents() == {"ham": 100, "spam": 99}


@pytest.mark.usefixtures("model")
def test_of_many_messages_that_it_does_not_know_the_first_are_named(
    run: "Run", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_terminal, "MOST_NAMED", 2)
    envelope = b"From a@b Mon Jan  1 00:00:00 2024\nSubject: new\n\n"
    box = b"".join(b"%sline %d\n\n" % (envelope, n) for n in range(5))

    status, out, err = run("bogofilter", "-SM", stdin=box)

    assert (status, out) == (0, "")
    assert err == 2 * "not known: -, as spam\n" + "not known: 3 more\n"
    assert documents() == {"ham": 100, "spam": 100}


@pytest.mark.usefixtures("model")
def test_what_was_decided_is_learnt_unless_unsure(run: "Run", spam: bytes) -> None:
    new = spam.replace(b"Message-ID: <", b"Message-ID: <new")

    assert run("bogofilter", "-u", stdin=STRANGE).status == 2
    assert documents() == {"ham": 100, "spam": 100}
    assert run("bogofilter", "-u", "--thresh-update=0.3", stdin=new).status == 0
    assert documents() == {"ham": 100, "spam": 100}
    assert run("bogofilter", "-u", stdin=new).status == 0
    assert documents() == {"ham": 100, "spam": 101}


@pytest.mark.usefixtures("model")
def test_what_was_decided_does_not_undo_what_the_user_said(
    run: "Run", spam: bytes
) -> None:
    new = spam.replace(b"Message-ID: <", b"Message-ID: <new")
    run("bogofilter", "-n", stdin=new)

    assert run("bogofilter", "-u", "-o0", stdin=new).status == 0
    assert documents() == {"ham": 101, "spam": 100}


@pytest.mark.usefixtures("model")
def test_registering_and_passing_go_together(run: "Run", spam: bytes) -> None:
    new = spam.replace(b"Message-ID: <", b"Message-ID: <new")

    status, out, err = run("bogofilter", "-spv", stdin=new)

    assert (status, err) == (0, "# 1 message, learnt 1 document as spam\n")
    assert "\nX-Bogosity: Spam, " in out
    assert documents() == {"ham": 100, "spam": 101}


@pytest.mark.usefixtures("model")
def test_the_messages_of_an_mbox(run: "Run", spam: bytes, ham: bytes) -> None:
    box = mailbox(spam, ham, STRANGE)
    Path("box").write_bytes(box)

    status, out, err = run("bogofilter", "-MT", stdin=box)

    assert (status, err) == (2, "")
    assert [line[0] for line in out.splitlines()] == ["S", "H", "U"]
    assert run("bogofilter", "-MT", "-I", "box") == (2, out, "")
    assert run("bogofilter", "-MTB", "box").out == "".join(
        f"box {line}\n" for line in out.splitlines()
    )
    assert run("bogofilter", "-Tt", stdin=box).out.count("\n") == 1
    assert run("bogofilter", "-MT", stdin=b"").status == 2


def test_an_mbox_is_learnt_by_message_whether_or_not_it_is_said_to_be_one(
    run: "Run", corpus: Path
) -> None:
    messages = [path.read_bytes() for path in sorted((corpus / "spam").iterdir())]
    Path("box").write_bytes(mailbox(*messages))
    learnt = (0, "", "# 100 messages, learnt 100 documents as spam\n")
    known = (0, "", "# 100 messages, 100 documents known as spam already\n")

    assert run("bogofilter", "-svM", stdin=mailbox(*messages)) == learnt
    assert run("bogofilter", "-sv", stdin=mailbox(*messages)) == known
    assert run("bogofilter", "-sv", "-I", "box") == known
    assert run("bogofilter", "-svB", "box") == known
    assert run("bogofilter", "-svMB", "box") == known
    assert run("bogofilter", "-svB", "spam") == known


@pytest.mark.usefixtures("model")
def test_an_mbox_is_passed_byte_for_byte(run: "Run", spam: bytes, ham: bytes) -> None:
    box = mailbox(spam, ham + b"\n>From the start\nFrom the end\n", STRANGE)

    status, out, err = run("bogofilter", "-pMu", stdin=box)

    assert (status, err) == (2, "")
    assert re.findall(r"X-Bogosity: (\w+)", out) == ["Spam", "Ham", "Unsure"]
    assert re.sub(r"X-Bogosity: .*\n", "", out).encode() == box


@pytest.mark.usefixtures("model")
def test_a_quoted_line_of_an_mbox_is_read_alike_by_all(run: "Run", ham: bytes) -> None:
    box = mailbox(
        ham.replace(b"Message-ID: <", b"Message-ID: <new") + b"\n>From here\n"
    )

    assert run("bogofilter", "-npM", stdin=box).status == 1
    assert run("bogofilter", "-nvM", stdin=box).err == (
        "# 1 message, 1 document known as ham already\n"
    )


@pytest.mark.usefixtures("model")
def test_folders_and_files_by_name(run: "Run", spam: bytes, ham: bytes) -> None:
    for path, message in (
        ("md/cur/1:2,S", spam), ("md/new/2", ham), ("mh/1", ham), ("mh/10", spam),
    ):  # fmt: skip
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(message)
    for part in ("md/tmp", "md/cur", "md/new"):
        Path(part).mkdir(exist_ok=True)
    Path("mh/.mh_sequences").touch()
    wanted = [
        "md/cur/1:2,S S", "md/new/2 H", "mh/1 H", "mh/10 S", "spam/3.eml S",
    ]  # fmt: skip

    by_argument = run("bogofilter", "-TB", "md", "mh", "spam/3.eml")
    by_line = run("bogofilter", "-Tb", stdin=b"md\nmh\n\nspam/3.eml")

    assert [line.rpartition(" ")[0] for line in by_argument.out.splitlines()] == wanted
    assert by_argument == by_line
    assert by_argument.status == 0
    assert (
        run("bogofilter", "-MTB", "md").out.splitlines()
        == (by_argument.out.splitlines()[:2])
    )


@pytest.mark.usefixtures("model")
def test_what_is_missing_is_named_and_the_rest_goes_on(run: "Run") -> None:
    status, out, err = run("bogofilter", "-TB", "spam/3.eml", "none", "ham/3.eml")

    assert status == 3
    assert [line[:12] for line in out.splitlines()] == ["spam/3.eml S", "ham/3.eml H "]
    assert err.startswith("skipped: none: no such file")
    assert run("bogofilter", "-sB", "none").status == 3
    assert run("bogofilter", "-e", "-I", "none").status == 3
    assert run("bogofilter", "-p", "-I", "none").status == 3


@pytest.mark.usefixtures("model")
def test_nothing_at_all_is_no_spam(run: "Run") -> None:
    assert run("bogofilter", "-vb", stdin=b"") == (2, "", "")
    assert run("bogofilter", "-vB") == (2, "", "")
    assert run("bogofilter", "-sb", stdin=b"") == (0, "", "")
    assert run("bogofilter", "-s", stdin=b"") == (0, "", "")
    assert run("bogofilter", stdin=b"").status == 2


def answers(options: str, names: list[bytes]) -> list[bytes]:
    """What the program answers to each name before it is told the next."""
    process = subprocess.Popen(
        [sys.executable, "-m", "nbtext", "bogofilter", options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
    )
    found = []
    try:
        assert process.stdin
        assert process.stdout
        for name in names:
            process.stdin.write(name + b"\n")
            is_ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
            assert is_ready, "no answer"
            found.append(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()
    return found


@pytest.mark.usefixtures("model")
def test_a_name_is_answered_before_the_next_is_asked_for() -> None:
    found = answers("-Tb", [b"spam/1.eml", b"ham/2.eml", b"spam/3.eml"])

    assert [answer[:12] for answer in found] == [
        b"spam/1.eml S", b"ham/2.eml H ", b"spam/3.eml S",
    ]  # fmt: skip


@pytest.mark.usefixtures("model")
def test_what_was_learnt_is_known_to_the_next_batch(spam: bytes) -> None:
    Path("new").write_bytes(spam.replace(b"number 3", b"of another kind"))
    names = [b"ham/3.eml", b"new", b"ham/3.eml"]

    once, _, twice = answers("-TTb", names)
    before, _, after = answers("-uTTb", names)

    assert once == twice == before
    # there is one spam more, so ham may be a little more certain
    assert float(after.split()[1]) < float(before.split()[1])
    assert documents() == {"ham": 100, "spam": 101}


@pytest.mark.usefixtures("model")
def test_many_messages_come_in_order(run: "Run") -> None:
    names = [
        f"{label}/{number}.eml" for number in range(100) for label in ("spam", "ham")
    ]
    names *= 40

    out = run("bogofilter", "-Tb", stdin="\n".join(names).encode()).out

    assert [line.split()[0] for line in out.splitlines()] == names
    assert [line.split()[1] for line in out.splitlines()] == ["S", "H"] * 4000


@pytest.mark.usefixtures("model")
def test_a_file_in_place_of_the_standard_streams(run: "Run", spam: bytes) -> None:
    passed = run("bogofilter", "-p", stdin=spam).out

    assert run("bogofilter", "-p", "-I", "spam/3.eml", "-O", "out") == (0, "", "")
    assert Path("out").read_text() == passed
    assert run("bogofilter", "-v", "-O", "other", stdin=spam).err == (
        "note: -O other has no effect without -p\n"
    )
    assert not Path("other").exists()
    assert run("bogofilter", "-p", "-O", "none/x", stdin=spam).status == 3


@pytest.mark.usefixtures("model")
def test_field_and_tags_are_the_users(run: "Run", spam: bytes) -> None:
    options = ["--spam-header-name=X-Junk", "--spam-subject-tag=[junk]"]

    out = run("bogofilter", "-pe", *options, stdin=spam).out

    assert "\nX-Junk: Spam, tests=bogofilter, " in out
    assert "\nSubject: [junk] " in out
    assert "X-Bogosity" not in out
    assert run("bogofilter", "-v", *options, stdin=spam).out.startswith("X-Junk: Spam")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-p", "--model", "none.nbt"], "none.nbt: no model there"),
        (["-pu", "--model", "bad.nbt"], "bad.nbt: not an nbtext model"),
        (["-ps", "--model", "bad.nbt"], "bad.nbt: not an nbtext model"),
        (["-p", "--model", "cut.nbt"], "cut.nbt: "),
        (["-p", "--model", "topics.nbt"], "topics.nbt: a model of the classes ham"),
        (["-ps", "--model", "topics.nbt"], "topics.nbt: a model of the classes ham"),
        (["-p", "--model", "spam"], "spam: "),
        (["-Zp"], "-Z is not known"),
        (["-p", "--bogus"], "--bogus is not known"),
        (["-pus"], "-u cannot be had together"),
        (["-p", "rest"], "'rest' is no option"),
        (["-p", "-m", "mail.nbt"], "numbers were expected"),
        (["-p", "-o", "x"], "a number from 0 to 1"),
        (["-p", "-d"], "-d needs a value"),
        (["-p", "--stats-in-header=no"], "cannot be had here"),
        (["-p", "--spam-header-name=a b"], "the field name 'a b'"),
    ],
)
@pytest.mark.usefixtures("model")
def test_whatever_fails_the_message_is_as_it_came(
    run: "Run", spam: bytes, arguments: list[str], complaint: str
) -> None:
    Path("bad.nbt").write_bytes(b"junk" * 99)
    Path("cut.nbt").write_bytes(Path("mail.nbt").read_bytes()[:-9])
    run("train", "-q", "-m", "topics.nbt", "work=spam", "ham")

    status, out, err = run("bogofilter", *arguments, stdin=spam)

    assert (status, out) == (3, spam.decode())
    assert complaint in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "arguments", [["-Z"], ["rest"], ["--model", "bad.nbt"], ["-d"], ["-R"], ["-sn"]]
)
def test_without_passing_a_failure_prints_nothing(
    run: "Run", spam: bytes, arguments: list[str]
) -> None:
    Path("bad.nbt").write_bytes(b"junk" * 99)

    status, out, err = run("bogofilter", *arguments, stdin=spam)

    assert (status, out) == (3, "")
    assert err.startswith("Error: ")


@pytest.mark.parametrize("arguments", [[], ["-p"], ["-v"], ["-b"], ["-s"], ["-Mv"]])
@pytest.mark.usefixtures("model")
def test_a_closed_standard_input_is_an_error(
    process: "Run", arguments: list[str]
) -> None:
    status, out, err = process("bogofilter", *arguments, wrap='"$@" <&-')

    assert (status, out) == (3, "")
    assert "standard input is closed" in err


@pytest.mark.usefixtures("model")
def test_a_full_disk_is_bogofilters_failure(process: "Run", spam: bytes) -> None:
    if not os.access("/dev/full", os.W_OK):
        pytest.skip("there is no /dev/full here")

    status, _, err = process("bogofilter", "-p", stdin=spam, wrap='"$@" > /dev/full')

    assert status == 3
    assert "No space left" in err


@pytest.mark.usefixtures("model")
def test_a_terminal_is_no_message() -> None:
    status, out, err = on_a_terminal("bogofilter", "-v")

    assert (status, out) == (3, "")
    assert err.startswith("Usage: nbtext bogofilter")
    assert "--help" in err
    assert err.endswith("Error: Pipe a message in.\n")


@pytest.mark.usefixtures("model")
def test_a_link_of_that_name_is_bogofilter(spam: bytes) -> None:
    program = Path(sys.executable).with_name("nbtext")
    if not program.exists():
        pytest.skip(f"{program} is not installed")
    Path("bogofilter").symlink_to(program)

    done = subprocess.run(
        ["./bogofilter", "-T"],
        input=spam,
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )

    assert (done.returncode, done.stdout[:2], done.stderr) == (0, b"S ", b"")


def test_help_and_version_are_there(run: "Run") -> None:
    assert run("bogofilter", "-h") == run("bogofilter", "--help")
    assert "-p, --passthrough " in run("bogofilter", "-vh").out
    assert run("bogofilter", "-V").out.startswith("nbtext ")


FAKE_SYSLOG = """
LOG_PID, LOG_MAIL, LOG_INFO = 1, 16, 6
entries = open("log", "a", buffering=1)
def openlog(*given): entries.write(f"open {given}\\n")
def syslog(priority, entry): entries.write(f"{priority} {entry}\\n")
"""


@pytest.mark.skipif("syslog" in sys.builtin_module_names, reason="syslog is built in")
@pytest.mark.usefixtures("model")
def test_the_log_says_what_was_done(
    process: "Run", spam: bytes, tmp_path: Path
) -> None:
    (tmp_path / "fake").mkdir()
    (tmp_path / "fake" / "syslog.py").write_text(FAKE_SYSLOG)
    env = {"PYTHONPATH": str(tmp_path / "fake")}
    new = spam.replace(b"Message-ID: <", b"Message-ID: <new")

    for options in ("-l", "-luep", "-lMu", "-Snl", "-lp"):
        assert process("bogofilter", options, stdin=new, env=env).status in (0, 1, 2)

    entries = (tmp_path / "log").read_text().splitlines()
    said = [entry for entry in entries if entry != "open ('bogofilter', 1, 16)"]
    version = r"spamicity=0\.9\d+|spamicity=1\.0+|spamicity=0\.\d+"
    shape = [
        re.sub(rf"(?:{version}), version=nbtext-[\d.]+", "...", one) for one in said
    ]
    assert shape[:4] == [
        "6 X-Bogosity: Spam, ...",
        "6 X-Bogosity: Spam, ..., register-s, 1 messages",
        "6 X-Bogosity: Spam, ...",  # it is known already
        "6 register-Sn, 1 messages",
    ]
    assert len(shape) == 5
