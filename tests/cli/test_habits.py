"""What every command has in common: pipes, terminals, interruptions, places, help."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nbtext import __version__
from nbtext.cli import _other_names as other_names
from nbtext.cli._group import COMMANDS
from nbtext.tokens.engine import engine
from tests.cli.conftest import PROGRAM, read_once
from tests.forking import ended
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.cli.conftest import Run


def on_a_terminal(
    *arguments: str, env: "Mapping[str, str] | None" = None
) -> tuple[int, str]:
    """Run the program with a terminal of 80 columns for everything."""
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80"} | dict(env or {})
    child, terminal = pty.fork()
    if not child:
        os.execve(PROGRAM[0], [*PROGRAM, *arguments], environment)  # noqa: S606  no shell is meant
    printed = b""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        printed += piece
    os.close(terminal)  # which ends what still runs
    return ended(child), printed.decode("utf-8", "backslashreplace").replace(
        "\r\n", "\n"
    )


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize(
    "arguments", [[], ["--json"], ["--jobs", "2"]], ids=["alone", "json", "jobs"]
)
@pytest.mark.usefixtures("model")
def test_a_closed_pipe_ends_quietly(arguments: list[str], unbuffered: str) -> None:
    Path("big").mkdir()
    for number in range(3000):
        os.link("ham/1.eml", f"big/{number:060}")

    command = ("classify", "-m", "mail.nbt", *arguments, "big")

    status, first, complaints = read_once(*command, unbuffered=unbuffered)

    assert b"ham" in first
    assert (status, complaints) == (141, b"")


@pytest.mark.usefixtures("model")
def test_ctrl_c_ends_quietly() -> None:
    with subprocess.Popen(
        [*PROGRAM, "classify", "-m", "mail.nbt", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        assert program.stdin
        assert program.stdout
        program.stdin.write(b'{"text": "meeting"}\n')
        program.stdin.flush()
        answer = program.stdout.readline()
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=PATIENCE)

    assert answer.endswith(b"\t-:1\n")
    assert (program.returncode, out) == (130, b"")
    assert err.strip() == b""


@pytest.mark.parametrize(
    ("wrap", "expected"),
    [
        ('"$@" 2>&-', 0),
        ('"$@" >&-', 74),
        ('"$@" >&- 2>&-', 74),
        ('"$@" </dev/null', 0),
        ('"$@" <&-', 65),
        ('"$@" >/dev/full', 74),
        ('"$@" 2>/dev/full', 0),
    ],
)
@pytest.mark.usefixtures("model")
def test_a_closed_stream_is_no_fault_of_the_program(
    process: "Run", wrap: str, expected: int
) -> None:
    status, _, err = process("classify", "-m", "mail.nbt", wrap=wrap)

    assert status == expected
    assert "fault in nbtext" not in err
    assert "Traceback" not in err


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("pass", "-v", "-m", "mail.nbt"), 0),
        (("pass", "-m", "none.nbt"), 75),
        (("classify", "--is", "ham", "-v", "-m", "mail.nbt"), 1),
        (("classify", "--no-such"), 64),
        (("bogofilter", "-e", "-D", "--model", "mail.nbt"), 0),
        (("bogofilter", "-p", "--model", "none.nbt"), 3),
    ],
)
def test_a_log_on_a_full_disk_does_not_change_the_status(
    process: "Run", corpus: Path, arguments: tuple[str, ...], expected: int
) -> None:
    message = (corpus / "spam" / "3.eml").read_bytes()

    done = process(*arguments, stdin=message, wrap='"$@" 2>/dev/full')

    assert done.status == expected


@pytest.mark.usefixtures("corpus")
def test_train_needs_no_standard_streams(process: "Run") -> None:
    arguments = ("train", "-m", "m.nbt", "spam", "ham")

    silent = process(*arguments, wrap='"$@" <&- >&- 2>&-')

    assert silent == (0, "", "")
    assert process("info", "-m", "m.nbt").status == 0


@pytest.mark.usefixtures("model")
def test_a_terminal_gets_colours_and_a_heading() -> None:
    status, shown = on_a_terminal("classify", "-m", "mail.nbt", "spam", "ham")

    assert status == 0
    lines = shown.splitlines()
    assert len(lines) == 18  # a heading, 16 messages, and how many of each class
    assert re.search(r"class +probability +document", lines[0])
    assert "\x1b[31mspam\x1b[0m" in lines[1]
    assert "\t" not in shown


@pytest.mark.usefixtures("model")
def test_a_terminal_keeps_its_cursor_so_that_a_stopped_run_takes_none_away() -> None:
    status, shown = on_a_terminal("train", "-m", "new.nbt", "spam", "ham")

    assert status == 0
    assert "16 documents" in shown
    assert "\x1b[?25l" not in shown


@pytest.mark.parametrize("name", ["spam and more", "x" * 150, "[bold]y"])
@pytest.mark.usefixtures("model")
def test_a_terminal_gets_names_whole(name: str) -> None:
    Path("spam").rename(name)

    status, shown = on_a_terminal("classify", "-m", "mail.nbt", name)

    assert status == 0
    assert f"{name}/7.eml" in shown


@pytest.mark.usefixtures("model")
def test_a_narrow_terminal_gets_every_name_and_says_what_there_is_no_room_for() -> None:
    _, info = on_a_terminal("info", "-m", "mail.nbt", env={"COLUMNS": "12"})
    _, figures = on_a_terminal(
        "eval", "-m", "mail.nbt", "-q", "spam", "ham", env={"COLUMNS": "30"}
    )

    assert re.search(r"\nham +8 *\n", info)
    assert re.search(r"\nmacro average +1\.0000 +1\.0000\n", figures)
    assert re.search("no room for: precision,", figures)
    assert re.search(r"\n95 % of", figures) is None


@pytest.mark.parametrize("columns", [30, 40, 60, 80, 200])
@pytest.mark.usefixtures("model")
def test_why_and_top_have_terms_on_lines_that_fit(columns: int) -> None:
    env = {"COLUMNS": str(columns), "NO_COLOR": "1"}
    for command in (("why", "--top", "2", "spam/1.eml"), ("top", "--top", "2")):
        status, shown = on_a_terminal(*command, "-m", "mail.nbt", env=env)

        lines = re.sub(r"\x1b\[\d*m", "", shown).split("\n")
        assert status == 0
        assert any(line.rstrip().endswith("  term") for line in lines)
        in_table = [line for line in lines if re.search(r"[+-]\d\.\d{3} ", line)]
        assert len(in_table) >= 2
        assert max(map(len, in_table)) <= columns
        assert "\n\n\n" not in re.sub(" +\n", "\n", shown)


@pytest.mark.parametrize("command", ["", "train", "rename"])
def test_help_breaks_between_words_where_it_is_narrow(
    process: "Run", command: str
) -> None:
    status, out, _ = process("help", *command.split(), env={"COLUMNS": "40"})
    options = out.partition("\nOptions:\n")[2]

    assert status == 0
    described = [one for one in options.splitlines() if not re.match(" *-", one)]
    assert all(len(line) <= 40 for line in described)
    assert max(map(len, described), default=40) > 20


@pytest.mark.usefixtures("model")
def test_no_color_is_honoured() -> None:
    command = ("classify", "-m", "mail.nbt", "spam")

    status, shown = on_a_terminal(*command, env={"NO_COLOR": "1"})

    assert status == 0
    assert re.search(
        r"^class +probability +document$", re.sub(r"\x1b\[1?0?m", "", shown), re.M
    )
    assert not re.search(r"\x1b\[3\dm", shown)


@pytest.mark.usefixtures("model")
def test_a_dumb_terminal_gets_plain_lines(process: "Run") -> None:
    for command in (("classify", "-m", "mail.nbt", "spam"), ("info", "-m", "mail.nbt")):
        status, shown = on_a_terminal(*command, env={"TERM": "dumb"})

        assert (status, shown) == process(*command)[:2]
        assert "\x1b" not in shown


@pytest.mark.usefixtures("model")
def test_a_terminal_gets_tables_from_info_and_eval() -> None:
    status, known = on_a_terminal("info", "-m", "mail.nbt")
    done, measured = on_a_terminal("eval", "-m", "mail.nbt", "spam", "ham")

    assert (status, done) == (0, 0)
    known, measured = (re.sub(r"\x1b\[\d*m", "", text) for text in (known, measured))
    assert re.search(r"^class +documents +tokens +last learnt *$", known, re.M)
    assert re.search(r"^truth +ham +spam +\? *$", measured, re.M)
    assert re.search(r"^accuracy +1\.0000 +0\.7941 to 1\.0000 *$", measured, re.M)
    headings = re.findall("^(accuracy|class|truth|probability) ", measured, re.M)
    assert headings == ["accuracy", "class", "truth", "probability"]


def test_the_names_of_classes_are_no_markup(run: "Run") -> None:
    for label in ("[red]a", "[bold]b"):
        Path(label).mkdir()
        for number in range(3):
            Path(label, str(number)).write_text(f"{label} {number}")
    assert run("train", "-q", "-m", "m.nbt", "[red]a", "[bold]b") == (0, "", "")

    for command in (
        ("info", "-m", "m.nbt"),
        ("eval", "-m", "m.nbt", "[red]a", "[bold]b"),
    ):
        status, shown = on_a_terminal(*command, env={"NO_COLOR": "1"})

        assert status == 0
        assert "[red]a" in shown
        assert "[bold]b" in shown


@pytest.mark.usefixtures("model")
def test_many_classes_fit_a_terminal(run: "Run") -> None:
    for number in range(12):
        Path("all", f"class{number}").mkdir(parents=True)
        for name in ("1", "2"):
            Path("all", f"class{number}", name).write_text(f"all w{number // 2} {name}")

    status, shown = on_a_terminal("eval", "--folds", "2", "all")

    assert status == 0
    plain = re.sub(r"\x1b\[\d*m", "", shown)
    assert max(map(len, plain.splitlines())) <= 80
    assert re.search(r"^truth +decided +documents *$", plain, re.M)


@pytest.mark.usefixtures("model")
def test_a_terminal_of_another_charset_gets_every_result() -> None:
    Path("spam").rename("東京 é")

    status, shown = on_a_terminal(
        "classify", "-m", "mail.nbt", "東京 é", env={"PYTHONIOENCODING": "latin-1"}
    )

    assert status == 0
    assert shown.count("\\u6771\\u4eac") == 8


@pytest.mark.usefixtures("corpus")
def test_progress_is_for_terminals_only(process: "Run") -> None:
    status, shown = on_a_terminal("train", "-m", "m.nbt", "spam", "ham")
    piped = process("train", "-m", "m.nbt", "spam", "ham")

    assert status == 0
    assert "read 16 documents of mail" in shown
    assert "\x1b" not in piped.err


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("train", "making the model of 16 documents"),
        ("doctor", "examining 16 documents"),
    ],
)
@pytest.mark.usefixtures("corpus")
def test_once_all_is_read_no_bar_stands_still(command: str, line: str) -> None:
    _, shown = on_a_terminal(command, "spam", "ham", env={"NBTEXT_MODEL": "m.nbt"})

    plain = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", shown).replace("\r", "\n")
    drawn = [one.rstrip() for one in plain.split("\n") if line in one]
    assert set(drawn) == {line}


@pytest.mark.usefixtures("corpus")
def test_what_is_left_to_read_is_not_said_to_be_left_of_folds() -> None:
    _, shown = on_a_terminal("eval", "--folds", "3", "spam", "ham")

    plain = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", shown).replace("\r", "\n")
    first = [one for one in plain.split("\n") if "fold 1 of 3" in one]
    assert first
    assert first[0].rstrip().endswith("left -:--:--")


@pytest.mark.usefixtures("model")
def test_a_terminal_gets_columns_that_line_up(process: "Run") -> None:
    costs = ("--cost", "ham:spam=100", "--cost", "ham:unsure=5")
    assert process("policy", "-m", "mail.nbt", *costs).status == 0
    plain = {"NO_COLOR": "1", "COLUMNS": "120"}

    _, policy = on_a_terminal("policy", "-m", "mail.nbt", env=plain)
    _, tokens = on_a_terminal("tokens", "-m", "mail.nbt", "spam/1.eml", env=plain)
    _, found = on_a_terminal("doctor", "-q", "spam", "ham", env=plain)

    shown = [re.sub(r"\x1b\[\d*m", "", text) for text in (policy, tokens, found)]
    assert "cost    ham  spam    100\ncost    ham  unsure  5\n" in shown[0]
    heading, *lines = shown[1].splitlines()
    assert heading.split() == ["view", "field", "times", "term"]
    places = [heading.index(one) for one in heading.split()]
    assert all(line[place - 1] == " " for line in lines for place in places[1:])
    assert all(line[place] != " " for line in lines for place in places)
    assert "\t" not in "".join(shown)
    assert "\t" in process("tokens", "-m", "mail.nbt", "spam/1.eml").out


@pytest.mark.usefixtures("corpus")
def test_progress_fits_a_narrow_terminal() -> None:
    command = ("train", "-m", "m.nbt", "spam", "ham")

    status, shown = on_a_terminal(*command, env={"COLUMNS": "40"})

    assert status == 0
    drawn = re.sub(r"\x1b\[[\d?]*[a-zA-Z]", "", shown).split("read 16")[0]
    assert re.search(r"documents +\d+% left [-\d]:[-\d]{2}:[-\d]{2}", drawn)
    assert "…" not in drawn


@pytest.mark.parametrize("command", ["classify", "tokens"])
@pytest.mark.usefixtures("model")
def test_nobody_is_left_to_type_a_document_by_hand(command: str) -> None:
    status, shown = on_a_terminal(command, "-m", "mail.nbt")

    assert status == 64
    assert shown.splitlines() == [
        f"Usage: nbtext {command} [OPTIONS] [SOURCES]...",
        f"Try 'nbtext {command} --help' for help.",
        "",
        "Error: Name a source, or pipe a document in.",
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["train", "-m", "new.nbt", "spam", "Maildir"], id="train"),
        pytest.param(["train", "-j2", "-m", "new.nbt", "spam", "Maildir"], id="jobs"),
        pytest.param(["classify", "-m", "mail.nbt", "Maildir"], id="classify"),
        pytest.param(["classify", "-j2", "-m", "mail.nbt", "Maildir"], id="with jobs"),
        pytest.param(["eval", "-m", "mail.nbt", "spam", "Maildir"], id="eval"),
        pytest.param(["eval", "--folds", "2", "spam", "Maildir"], id="folds"),
        pytest.param(["tokens", "-m", "mail.nbt", "Maildir"], id="tokens"),
    ],
)
@pytest.mark.usefixtures("model")
def test_every_command_says_what_of_a_maildir_it_left_out(
    run: "Run", arguments: list[str]
) -> None:
    Path("ham").rename("Maildir")
    messages = sorted(Path("Maildir").iterdir())
    for part in ("cur", "new", ".Junk/cur", ".Junk/new"):
        Path("Maildir", part).mkdir(parents=True)
    for message in messages:
        message.rename(Path("Maildir", "new", message.name))

    status, _, err = run(*arguments)

    assert status == 0
    assert err.count("left out (.Junk); name one to read it: Maildir/.Junk\n") == 1
    if arguments[0] != "tokens":
        assert "left out" not in run(*arguments, "-q").err


def test_a_label_that_is_not_utf_8_is_written_alike_everywhere(process: "Run") -> None:
    for label, word in ((b"sp\xff", "money"), (b"ham", "lunch")):
        folder = Path(os.fsdecode(label))
        folder.mkdir()
        Path(folder, "1").write_text(word)
        Path(folder, "2").write_text(f"{word} more")
    bad = os.fsdecode(b"sp\xff")

    trained = process("train", "-m", "m.nbt", bad, "ham")
    decided = process("classify", "-m", "m.nbt", "--is", bad, stdin=b"money")
    evaluated = process("eval", "-m", "m.nbt", "--positive", bad, bad, "ham")

    assert "ham 2, sp\\xff 2" in trained.err
    assert "class\tsp\\xff\t2\t" in process("info", "-m", "m.nbt").out
    assert (decided.status, decided.out[:7]) == (0, "sp\\xff\t")
    assert "positive class\tsp\\xff\n" in evaluated.out
    assert "\ntruth\tham\tsp\\xff\t?\n" in evaluated.out


@pytest.mark.parametrize(
    "command", sorted(set(COMMANDS) - {"merge", "pass", "bogofilter", "help", "doctor"})
)
def test_an_empty_name_of_the_model_is_a_usage_error(run: "Run", command: str) -> None:
    sources = [] if command == "info" else ["a", "b"]

    status, out, err = run(command, "-m", "", *sources)

    assert (status, out) == (64, "")
    assert "'--model': it is empty; name a file, or leave it out." in err


def test_a_wrong_command_is_a_usage_error(run: "Run") -> None:
    status, out, err = run("clasify")

    assert (status, out) == (64, "")
    assert "No such command 'clasify'" in err
    assert "Did you mean" in err
    assert "classify" in err.rpartition("Did you mean")[2]


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ("predict mail", "'nbtext classify'?"),
        ("cross_validate rows.csv", "'nbtext eval --folds 10'?"),
        ("train -o m.nbt rows.csv", "'--model'?"),
        ("train --labels kind rows.csv", "'--label-column'?"),
        ("train --test-size 0.2 rows.csv", "'nbtext eval --folds 10 SOURCE...'?"),
        ("classify --proba rows.csv", "'nbtext classify --json'?"),
        ("classify --text hello", "'nbtext classify < FILE'?"),
        ("classify --output-format json mail", "'--json'?"),
        ("eval --cv 5 rows.csv", "'--folds'?"),
        ("sa-learn --spam mail", "'nbtext learn CLASS SOURCE...'?"),
        ("supervised -input rows.txt", "'nbtext train SOURCE...'?"),
        ("clear", "'nbtext train --replace'?"),
        ("spam mail", "'nbtext learn spam'?"),
        ("-s", "'nbtext bogofilter -s'?"),
        ("-e -p", "'nbtext bogofilter -e'?"),
        ("--spam mail", "'nbtext learn spam'?"),
        ("learn --ham mail", "'nbtext learn ham'?"),
        ("train --spam mail --ham box", "'nbtext train spam=SOURCE ham=SOURCE'?"),
        ("dump --magic", "'nbtext info'?"),
        ("train --input rows.csv", "What is to be read stands without one: nbtext train"
         " SOURCE..."),
    ],
)  # fmt: skip
def test_names_of_other_programs_are_answered_by_those_of_nbtext(
    run: "Run", arguments: str, meant: str
) -> None:
    status, out, err = run(*arguments.split())

    assert (status, out) == (64, "")
    assert meant in err


def test_names_of_other_programs_stand_for_what_there_is() -> None:
    commands = {name: import_module(f"nbtext.cli.{name}_command").command
                for name in COMMANDS}  # fmt: skip
    options = {option for command in commands.values() for param in command.params
               for option in param.opts}  # fmt: skip
    lines = [line for one in other_names.LINES.values() for line in one.values()]
    meant = {one.split()[0] for one in [*other_names.COMMANDS.values(), *lines]}
    taken = {(name, option) for name, one in other_names.LINES.items() if name
             for option in one} & {(name, option) for name, command in commands.items()
             for param in command.params for option in param.opts}  # fmt: skip

    assert not taken
    assert not set(other_names.COMMANDS) & set(COMMANDS)
    assert meant <= {*COMMANDS, "--version"}
    assert set(other_names.OPTIONS.values()) <= options


def test_no_command_shows_the_help_as_a_usage_error(process: "Run") -> None:
    status, out, err = process()

    assert (status, out) == (64, "")
    assert "nbtext train spam/ ham/" in err
    assert err.endswith(
        "\nError: Name a command: nbtext classify says what is piped in.\n"
    )
    assert "Error" not in on_a_terminal()[1]


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_is_a_result(run: "Run", command: tuple[str, ...], option: str) -> None:
    status, out, err = run(*command, option)

    assert (status, err) == (0, "")
    assert out.startswith("Usage: nbtext ")


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_version_is_a_result(run: "Run", option: str) -> None:
    code, printed, complaint = run(option)

    assert (code, complaint) == (0, "")
    assert printed == f"nbtext {__version__} ({engine().description})\n"


def places(run: "Run", env: dict[str, str], *arguments: str) -> str:
    """Where the program looks for its model, in vain."""
    status, out, err = run("info", *arguments, env=env)

    assert (status, out) == (66, "")
    return err.removeprefix("Error: ").partition(": no model there")[0]


def test_the_model_is_where_one_says(run: "Run", tmp_path: Path) -> None:
    env = {"NBTEXT_MODEL": "env.nbt", "XDG_DATA_HOME": "/data", "HOME": "/home/me"}

    assert places(run, env, "-m", "option.nbt") == "option.nbt"
    assert places(run, env, "--model=~/my.nbt") == "/home/me/my.nbt"
    assert places(run, env) == "env.nbt"
    assert places(run, env | {"NBTEXT_MODEL": "~/my.nbt"}) == "/home/me/my.nbt"
    assert places(run, env | {"NBTEXT_MODEL": ""}) == "/data/nbtext/model.nbt"
    del env["NBTEXT_MODEL"]
    assert places(run, env) == "/data/nbtext/model.nbt"
    in_home = "/home/me/.local/share/nbtext/model.nbt"
    assert places(run, env | {"XDG_DATA_HOME": ""}) == in_home
    assert places(run, env | {"XDG_DATA_HOME": "not/absolute"}) == in_home


def test_the_model_has_a_place_without_a_home(process: "Run") -> None:
    status, _, err = process("info", wrap='unset HOME; "$@"')

    assert status == 66
    assert "/.local/share/nbtext/model.nbt: no model there" in err


def test_nothing_is_made_in_a_home_that_nobody_knows(
    run: "Run", corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user without a name, as in a container: `~` stays what it is."""
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)

    status, _, err = run("train", "-q", "spam", "ham")

    assert status == 73
    assert err.startswith("Error: ~/.local/share/nbtext/model.nbt: the model cannot be")
    assert "~ was left as it is, by the shell or for want of a home; write it" in err
    assert not Path("~").exists()
    status, _, err = run("train", "-q", "--model=~/m.nbt", "spam", "ham")
    assert status == 73  # no shell has put a home behind that `=`
    assert err.startswith("Error: ~/m.nbt: the model cannot be written: ~ was left")
    Path("~").mkdir()  # whoever has such a folder means it
    assert run("train", "-q", "-m", "~/m.nbt", "spam", "ham") == (0, "", "")


def test_every_command_uses_the_same_place(run: "Run", corpus: Path) -> None:
    env = {"XDG_DATA_HOME": str(corpus / "data")}

    assert run("train", "-q", "spam", "ham", env=env) == (0, "", "")

    assert (corpus / "data/nbtext/model.nbt").exists()
    assert run("info", env=env).out.startswith(f"model\t{corpus}/data/nbtext/")
    assert run("classify", "spam/1.eml", env=env).out.startswith("spam\t")
    assert run("eval", "spam", "ham", env=env).out.startswith("documents\t16\n")
    assert run("tokens", "spam/1.eml", env=env).err == ""
    said = run("classify", "-v", "spam/1.eml", env=env)
    assert said.err == f"model: {corpus}/data/nbtext/model.nbt\n"


def test_two_dashes_end_the_options(run: "Run", model: Path) -> None:
    Path("ham/1.eml").rename("--json")

    status, out, err = run("classify", "-m", model, "--", "--json")

    assert (status, err) == (0, "")
    assert out.startswith("ham\t")
    assert out.endswith("\t--json\n")


def test_a_fault_of_the_program_asks_for_a_report(
    run: "Run", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nbtext.cli._run", lambda _: 1 // 0)

    status, out, err = run("info")

    assert (status, out) == (70, "")
    assert err.startswith("Error: a fault in nbtext itself: ZeroDivisionError: ")
    assert "NBTEXT_DEBUG=1" in err


def test_a_system_that_lacks_what_unix_has_is_no_fault_of_the_program(
    run: "Run", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setattr("nbtext.cli._run", lambda _: import_module("fcntl"))

    status, out, err = run("info")

    assert (status, out) == (70, "")
    assert err == (
        "Error: there is no fcntl in this Python; nbtext runs on Linux, macOS and "
        "other systems like Unix\n"
    )


def test_a_python_of_32_bits_is_refused() -> None:
    code = "import sys; sys.maxsize = 2**31 - 1; import nbtext"

    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )

    assert done.returncode == 1
    assert "nbtext needs a Python of 64 bits" in done.stderr


def test_completion_is_clicks_own(process: "Run") -> None:
    env = {"_NBTEXT_COMPLETE": "bash_complete"}
    env |= {"COMP_WORDS": "nbtext cl", "COMP_CWORD": "1"}

    status, out, _ = process(env=env)

    assert status == 0
    assert "classify" in out


@pytest.mark.parametrize("command", ["info", "check", "dump", "compact", "prune"])
@pytest.mark.usefixtures("model")
def test_the_model_may_be_an_argument(run: "Run", command: str) -> None:
    arguments = ["--dry-run"] if command == "prune" else []

    option = run(command, *arguments, "-m", "mail.nbt")
    argument = run(command, *arguments, "mail.nbt")
    before = run("-m", "mail.nbt", command, *arguments)
    twice = run(command, *arguments, "mail.nbt", "-m", "other.nbt")
    around = run("-m", "other.nbt", command, *arguments, "mail.nbt")
    empty = run(command, *arguments, "")

    assert option.status == 0
    assert argument == before == option
    assert (twice.status, empty.status) == (64, 64)
    assert around == twice
    assert "'mail.nbt' is a second model beside that of --model." in twice.err
    assert "it is empty; name a file" in empty.err


@pytest.mark.usefixtures("model")
def test_the_model_may_stand_before_the_command(process: "Run") -> None:
    message = Path("spam/3.eml").read_bytes()

    decided = process("-m", "mail.nbt", "classify", stdin=message)
    other = process("-m", "none.nbt", "classify", "-m", "mail.nbt", stdin=message)
    passed = process("--model", "mail.nbt", "pass", "--no-such", stdin=message)
    twice = process("-m", "mail.nbt", "-m", "other.nbt", "pass", stdin=message)
    merged = process("-m", "mail.nbt", "merge", "a.nbt", "-o", "b.nbt")

    assert decided == other == process("classify", "-m", "mail.nbt", stdin=message)
    assert (passed.status, passed.out.encode()) == (75, message)
    assert (twice.status, twice.out.encode()) == (75, message)
    assert (merged.status, merged.out) == (64, "")
    assert "'nbtext merge' does not take --model before it." in merged.err
    before = process("-m", "mail.nbt", "bogofilter", "-v", stdin=message)
    assert before == process("bogofilter", "-v", "--model", "mail.nbt", stdin=message)
    assert before.status == 2


@pytest.mark.usefixtures("model")
def test_no_model_is_left_out_without_a_word(run: "Run") -> None:
    behind = run("why", "-m", "mail.nbt", "-m", "other.nbt", "spam/3.eml")
    before = run("-m", "mail.nbt", "-m", "other.nbt", "why", "spam/3.eml")
    together = run("-m", "mail.nbt", "-m", "none.nbt", "classify", "spam/3.eml")

    assert (behind.status, behind.out) == (64, "")
    assert "'other.nbt' is a second model beside 'mail.nbt'." in behind.err
    assert before == behind
    assert (together.status, together.out) == (66, "")
    assert "none.nbt: no model there" in together.err


def test_help_is_a_command(run: "Run") -> None:
    assert run("help") == run("--help")
    for name in COMMANDS:
        assert run("help", name) == run(name, "--help")

    status, out, err = run("help", "trian")

    assert (status, out) == (64, "")
    assert "No such command 'trian'. Did you mean 'train'?" in err


def completed(
    *words: str, env: "Mapping[str, str] | None" = None, shell: str = "bash"
) -> list[str]:
    """What a shell offers for the last word of a line."""
    line = " ".join(["nbtext", *words])
    done = subprocess.run(
        PROGRAM, stdin=subprocess.DEVNULL, capture_output=True, check=True,
        timeout=PATIENCE, text=True,
        env=os.environ
        | {"_NBTEXT_COMPLETE": f"{shell}_complete", "COMP_WORDS": line}
        | {"COMP_CWORD": str(len(words))} | dict(env or {}),
    )  # fmt: skip
    assert done.stderr == ""
    return list(filter(None, done.stdout.splitlines()))


@pytest.mark.usefixtures("model")
def test_completion_offers_classes_models_commands_and_files() -> None:
    Path("folder").mkdir()
    Path("folder", "other.nbt").write_bytes(b"")
    Path("notes.txt").write_text("")
    env = {"NBTEXT_MODEL": "mail.nbt"}

    assert completed("learn", "-m", "mail.nbt", "") == ["plain,ham", "plain,spam"]
    assert completed("learn", "s", env=env) == ["plain,spam"]
    assert completed("-m", "mail.nbt", "learn", "h") == ["plain,ham"]
    assert completed("classify", "--is", "h", env=env) == ["plain,ham"]
    assert completed("filter", "box", "--move", "s", env=env) == ["plain,spam="]
    assert completed("rename", "h", env=env) == ["plain,ham="]
    assert completed("top", "h", env=env) == ["plain,ham"]
    rate = completed("policy", "--max-false-positives", "h", env=env)
    assert rate == ["plain,ham="]
    assert completed("learn", "", env={"NBTEXT_MODEL": "none.nbt"}) == []
    assert completed("info", "m") == ["plain,mail.nbt"]
    assert completed("info", "-m", "folder/") == ["plain,folder/other.nbt"]
    assert "plain,folder/" in completed("classify", "-m", "")
    assert "plain,notes.txt" not in completed("classify", "-m", "")
    assert completed("help", "cla") == ["plain,classify"]
    assert completed("classify", "no") == ["file,no"]
    assert completed("train", "no") == ["file,no"]


@pytest.mark.usefixtures("model")
def test_a_terminal_gets_sender_subject_and_a_last_line_with_counts(
    process: "Run",
) -> None:
    message = b"From: Jo\x1b[31m <jo@b.org>\nSubject: =?utf-8?q?Caf=C3=A9?=\n\nhi"
    Path("a.eml").write_bytes(
        b"Date: Mon, 1 Jan 2024 00:00:00 +0000\nMessage-ID: <1@b>\n" + message
    )

    status, shown = on_a_terminal("classify", "-m", "mail.nbt", "a.eml", "spam")
    piped = process("classify", "-m", "mail.nbt", "a.eml", "spam")
    _, quiet = on_a_terminal("classify", "-q", "-m", "mail.nbt", "a.eml", "spam")
    plain = re.sub(r"\x1b\[\d*m", "", shown)

    assert status == 0
    first = plain.splitlines()[1]
    assert "  a.eml  Jo\\x1b[31m <jo@b.org>: Café" in first
    assert max(map(len, plain.splitlines())) <= 80
    assert re.fullmatch(r"9 documents: (1 ham, )?\d spam", plain.splitlines()[-1])
    assert piped.err == ""
    assert "Caf" not in piped.out
    assert "9 documents" not in quiet


@pytest.mark.parametrize("jobs", [(), ("--jobs", "2")], ids=["alone", "jobs"])
@pytest.mark.usefixtures("model")
def test_json_has_sender_and_subject_of_mail_alone(
    run: "Run", jobs: tuple[str, ...]
) -> None:
    Path("plain").write_text("Subject: not a mail, but a text\n")
    message = b"From: Jo <jo@example.org>\nSubject: x\nDate: y\nMessage-ID: z\n\nhi"
    Path("a.eml").write_bytes(message)

    out = run("classify", "-m", "mail.nbt", "--json", *jobs, "a.eml", "plain").out
    mail_, text = map(json.loads, out.splitlines())
    alone = run("classify", "-m", "mail.nbt", "--json", stdin=message).out

    assert (mail_["from"], mail_["subject"]) == ("Jo <jo@example.org>", "x")
    assert "from" not in text
    assert json.loads(alone)["subject"] == "x"


@pytest.mark.usefixtures("model")
def test_the_last_line_of_eval_says_how_good_the_model_is() -> None:
    few = ["spam/1.eml", "spam/2.eml"]
    lines = ["eval", "-m", "mail.nbt", "ham", *(f"spam={path}" for path in few)]

    _, shown = on_a_terminal(*lines, "ham=spam/3.eml")
    plain = re.sub(r"\x1b\[\d*m", "", shown)

    assert plain.splitlines()[-1] == (
        "10 of 11 right (0.9091), 1 of 9 ham taken for spam, 0 of 2 spam for ham"
    )


@pytest.mark.usefixtures("corpus")
def test_progress_says_which_fold_is_scored_and_what_is_left() -> None:
    status, shown = on_a_terminal("eval", "--folds", "3", "spam", "ham")
    plain = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", shown)

    assert status == 0
    for fold in (1, 2, 3):
        assert f"fold {fold} of 3" in plain
    assert "left" in plain
    assert "fold" not in on_a_terminal("eval", "-q", "--folds", "3", "spam", "ham")[1]


@pytest.mark.usefixtures("model")
def test_eval_is_the_same_with_any_number_of_jobs(process: "Run") -> None:
    for more in (("--folds", "4"), ("-m", "mail.nbt")):
        line = ("eval", "--json", *more, "spam", "ham")

        alone = process(*line)

        assert alone.status == 0
        assert process(*line, "--jobs", "2") == alone
    few = process("eval", "--folds", "4", "--jobs", "2", "a=spam/1.eml", "b=ham")
    assert few.status == 65
    assert "4 folds need two different documents of each class" in few.err
