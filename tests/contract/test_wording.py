"""The library says what to do in its own words; options and commands are the CLI's."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import click
import pytest

import nbtext
from nbtext import wording
from nbtext.cli import _words
from nbtext.cli._group import COMMANDS
from nbtext.cli._group import nbtext as program
from nbtext.cli._quick import WORDS

PACKAGE = Path(nbtext.__file__).parent
FILES = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if not path.is_relative_to(PACKAGE / "cli") and path.name != "__main__.py"
]

OF_OTHERS = {
    ("errors.py", "-n"): "an option of ulimit",
    ("exact.py", "-0"): "a number",
    ("filtering/header_field.py", "-0"): "a number",
    ("filtering/mailboxes/_opening.py", "-u"): "an option of runuser",
    ("scoring/models/complement_norms.py", "-V"): "a formula",
    ("scoring/models/wcnb.py", "-V"): "a formula",
    ("serving/users.py", "-p"): "an option of mkdir",
    ("sources/_compressed.py", "-d"): "an option of zstd",
    ("sources/_contents.py", "-t"): "an option of iconv",
    ("sources/_names.py", "-l"): "an option of grep",
    ("sources/_unicode.py", "-t"): "an option of iconv",
}
"""What looks like an option of a command of nbtext, and what it is."""

LEFT: dict[str, int] = {
    "tuning/tuned.py": 4,
}
"""How many strings of a file name options or commands still; it may only fall."""


def options_of(name: str) -> set[str]:
    """All options of a command."""
    command = program.get_command(click.Context(program), name)
    assert command is not None
    return {
        option
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in (*parameter.opts, *parameter.secondary_opts)
    }


@cache
def options() -> frozenset[str]:
    """All options of all commands."""
    return frozenset().union(*map(options_of, COMMANDS))


NAMED = re.compile(
    r"(?<![\w-])--[a-z][a-z-]*|(?<![\w-])-[A-Za-z0-9]\b|"
    rf"\bnbtext (?:{'|'.join(COMMANDS)})\b"
)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def strings(path: Path) -> Iterator[str]:
    """All strings in a file, docstrings and pieces of formatted ones among them."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def named_in(path: Path) -> Iterator[str]:
    """The strings of a file that name an option, or a command, of nbtext."""
    name = str(path.relative_to(PACKAGE))
    for text in strings(path):
        found = {
            one for one in NAMED.findall(text) if one[0] != "-" or one in options()
        }
        if any((name, one) not in OF_OTHERS for one in found):
            yield text


def test_the_library_names_no_option_and_no_command() -> None:
    found = Counter(
        str(path.relative_to(PACKAGE)) for path in FILES for _ in named_in(path)
    )

    assert found == LEFT, "what is not named any more is taken out of the list"


def test_what_is_of_others_is_there() -> None:
    for name, one in OF_OTHERS:
        assert any(one in text for text in strings(PACKAGE / name)), (name, one)


def calls() -> Iterator[tuple[str, str, list[str]]]:
    """The function of `wording` that is called, its text, and its parameters."""
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called.startswith("wording.") and path.name != "wording.py":
                first = node.args[0] if node.args else None
                text = first.value if isinstance(first, ast.Constant) else ""
                given = [keyword.arg for keyword in node.keywords if keyword.arg]
                yield called.removeprefix("wording."), str(text), given


@cache
def parameters() -> frozenset[str]:
    """The names of all parameters of functions, and of fields of classes."""
    names = set()
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.arg):
                names.add(node.arg)
            elif isinstance(node, ast.AnnAssign):
                names.add(ast.unparse(node.target))
    return frozenset(names)


USED = sorted(
    {name for function, text, given in calls() for name in given}
    | {text for function, text, _ in calls() if function == "named" and text}
)


@pytest.mark.parametrize("name", USED)
def test_a_parameter_that_is_named_is_one_and_has_an_option(name: str) -> None:
    typed = {
        *_words.given(**{name: True}).split(),
        *_words.given(**{name: False}).split(),
    }

    positional = {name for one in _words.COMMANDS.values() for name in one.positional}
    assert name in parameters()
    whole = {key for key, _ in _words.WHOLE} | {key for _, key in _words.OF_COMMAND}
    assert typed & options() or name in positional | whole


@pytest.mark.parametrize("name", sorted(_words.COMMANDS))
def test_a_function_that_is_named_is_one_and_has_a_command(name: str) -> None:
    home, _, function = f"nbtext.{name}".rpartition(".")

    assert callable(getattr(import_module(home), function))
    assert name in {text for called, text, _ in calls() if called == "call"}
    assert _words.COMMANDS[name].name.split()[0] in COMMANDS


def test_the_options_of_a_call_are_those_of_its_command() -> None:
    for called, text, given in calls():
        if called == "call" and text:
            command = _words.COMMANDS[text]
            for name in set(given) - {*command.positional}:
                typed = {_words.given(**{name: on}) for on in (True, False)}
                typed |= {to for (key, _), to in _words.WHOLE.items() if key == name}
                assert typed & options_of(command.name.split()[0]), (text, name)


def test_words_are_the_readers() -> None:
    sources = ["spam/", "a b/", wording.Blank("...")]

    assert wording.named("text_columns") == "text_columns"
    assert wording.given(text_columns=("a",), jobs=2) == "text_columns=('a',), jobs=2"
    assert wording.given(text_columns=()) == ""
    assert wording.call("train", sources=sources) == (
        "nbtext.train(sources=['spam/', 'a b/', ...])"
    )
    assert wording.call("", sources=sources) == "sources=['spam/', 'a b/', ...]"
    before = wording.speak(WORDS)
    try:
        assert wording.named("text_columns") == "--text-column"
        assert wording.given(text_columns=("a", "b c"), ledger=False) == (
            "--text-column a --text-column 'b c' --no-ledger"
        )
        assert wording.given(text_columns=()) == ""
        assert wording.given(smoothing=0.5, delimiter="\t", frozen_idf=True) == (
            "--smoothing 0.5 --delimiter tab --frozen-idf"
        )
        assert wording.call("train", sources=sources) == (
            "nbtext train spam/ 'a b/' ..."
        )
        assert wording.call("train", sources=["-", "ham"]) == "nbtext train - ham"
        assert wording.call("evaluate", seen=True, sources=["a", "-b c"]) == (
            "nbtext eval --seen -- a '-b c'"
        )
        assert wording.call("train", sources=["a\nb", "it's\udcff"]) == (
            r"nbtext train $'a\x0ab' $'it\x27s\xff'"
        )
        costs = wording.Blank("(Cost(CLASS, None, X),)")
        assert wording.given(costs=costs) == "--cost CLASS:unsure=X"
    finally:
        wording.speak(before)


def test_a_program_that_has_run_a_command_has_its_own_words_back(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from nbtext.cli import main

    with pytest.raises(SystemExit):
        main(["classify", "-m", "missing.nbt", "missing.eml"])
    capsys.readouterr()

    assert wording.spoken() == ""
    wording.speak("tests.words")
    try:
        with pytest.raises(SystemExit):
            main(["classify", "-m", "missing.nbt", "missing.eml"])
        assert wording.spoken() == "tests.words"
    finally:
        wording.speak("")
