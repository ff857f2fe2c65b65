"""Every command has help that says what it does, and the documentation knows it."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

from nbtext.cli import _status as status
from nbtext.cli._group import COMMANDS, nbtext
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "cli.md"


def command_of(name: str) -> click.Command:
    command = nbtext.get_command(click.Context(nbtext), name)
    assert command is not None
    return command


def help_of(name: str) -> str:
    # with its settings, because click remembers a command's first help option
    names = nbtext.context_settings["help_option_names"]
    with click.Context(nbtext, info_name="nbtext", help_option_names=names) as above:
        command = command_of(name)
        with click.Context(
            command, parent=above, info_name=name, terminal_width=80
        ) as context:
            return command.get_help(context)


OPTIONS = [
    pytest.param(name, option, id=f"{name} {option.opts[0]}")
    for name in COMMANDS
    for option in command_of(name).params
    if isinstance(option, click.Option)
]


def test_the_page_is_what_the_commands_say() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "make_cli.py", "--check"],
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )

    assert (done.returncode, done.stderr.decode()) == (0, "")


def test_the_man_pages_are_what_the_commands_say() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "make_man.py", "--check"],
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )

    assert (done.returncode, done.stderr.decode()) == (0, "")


@pytest.mark.parametrize("name", ["nbtext", *(f"nbtext-{name}" for name in COMMANDS)])
def test_a_man_page_can_be_read(name: str) -> None:
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    page = ROOT / "man" / f"{name}.1"

    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-P-cbou", page],
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )

    text = done.stdout.decode()
    assert (done.returncode, done.stderr.decode()) == (0, "")
    assert text.startswith(f"{name.upper()}(1)")
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS"):
        assert f"\n{heading}\n" in text
    assert f"NAME {name} - " in " ".join(text.replace("\u2010", "-").split())


def test_man_pages_are_installed_where_man_looks() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    files = settings["tool"]["setuptools"]["data-files"]

    assert files == {"share/man/man1": ["man/*.1"]}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name: str) -> None:
    assert f"\n## nbtext {name}\n" in PAGE.read_text("utf-8")
    guide = ROOT / "docs" / "guide.md"
    assert re.search(rf"\bnbtext {name}\b", guide.read_text("utf-8"))
    assert re.search(rf"`{name}\b", (ROOT / "README.md").read_text("utf-8"))


@pytest.mark.parametrize("name", COMMANDS)
def test_help_begins_with_what_it_does_and_an_example(name: str) -> None:
    usage, summary, examples, *_ = re.split(r"\n\s*\n", help_of(name))

    assert usage.startswith(f"Usage: nbtext {name} [OPTIONS]")
    assert len(summary.splitlines()) <= 2
    assert summary.endswith(".")
    for line in examples.splitlines():
        assert line.startswith(f"  nbtext {name}"), "the lines have run together"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_does(name: str) -> None:
    listed = command_of(name).get_short_help_str(62)  # what fits in 80 columns

    assert listed.endswith(".")
    assert not listed.endswith("...")


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_every_option_has_help(name: str, option: click.Option) -> None:
    assert option.help
    assert not option.help[0].islower()
    assert option.help.endswith("."), f"{name} {option.opts}"
    assert max(map(len, option.opts)) > 2, "there is no long name"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_that_prints_results_can_print_json(name: str) -> None:
    # JSON lines, a message, a log
    if name in ("dump", "weights", "pass", "serve", "bogofilter", "help"):
        return

    assert any("--json" in param.opts for param in command_of(name).params)


def test_an_option_means_the_same_everywhere() -> None:
    meanings: dict[str, set[str | None]] = {}
    for name in COMMANDS:
        if name == "bogofilter":  # whose options are another program's
            continue
        for option in command_of(name).params:
            if isinstance(option, click.Option):
                for opt in option.opts:
                    meanings.setdefault(opt, set()).add(option.help)

    assert {opt for opt, helps in meanings.items() if len(helps) > 1} == set()


def options_of(name: str) -> set[str]:
    """Return the options of a command, as they are written."""
    options = (one for one in command_of(name).params if isinstance(one, click.Option))
    return {form for one in options for form in (*one.opts, *one.secondary_opts)}


def test_what_stands_for_other_programs_are_commands_and_options() -> None:
    text = (ROOT / "docs" / "switching.md").read_text("utf-8")
    everywhere = set().union(*map(options_of, COMMANDS))
    answers = re.findall(r"^\| .* \| (.*) \|$", text, re.MULTILINE)
    spans = [span for answer in answers for span in re.findall(r"`([^`]+)`", answer)]

    assert len(spans) > 50
    for span in spans:
        words = span.split()
        name = words[1] if words[0] == "nbtext" else None
        known = options_of(name) if name else everywhere
        options = {word for word in words if re.match(r"--?[a-z]", word)}
        if name or words[0].startswith("-"):
            assert options <= known, span


def test_every_exit_status_is_documented() -> None:
    statuses = {value for value in vars(status).values() if isinstance(value, int)}
    documented = re.findall(r"^\| (\d+) \|", PAGE.read_text("utf-8"), re.MULTILINE)

    assert statuses <= set(map(int, documented))


def test_every_environment_variable_is_documented() -> None:
    text = PAGE.read_text("utf-8")
    sources = "".join(
        path.read_text("utf-8") for path in (ROOT / "nbtext").rglob("*.py")
    )
    used = set(re.findall(r'environ(?:\.get\(|\[)"(\w+)"', sources))

    assert used
    assert {name for name in used if f"| `{name}` |" not in text} == set()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_documented_and_works(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nbtext"],
        env={"_NBTEXT_COMPLETE": f"{shell}_complete", "PATH": "/usr/bin:/bin"}
        | {"COMP_WORDS": "nbtext in", "COMP_CWORD": "in" if shell == "fish" else "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=PATIENCE,
    )

    assert b"info" in done.stdout
    assert f"_NBTEXT_COMPLETE={shell}_source nbtext" in PAGE.read_text("utf-8")
