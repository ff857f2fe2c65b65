"""
What the command line calls the parameters and functions of the library.

It is loaded by the first message that says what to do (`nbtext.wording`).
"""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from nbtext.wording import Blank

OPTIONS: Final[Mapping[str, str]] = {
    "address": "--cluster",
    "categorical_columns": "--categorical-column",
    "client": "--cluster",
    "costs": "--cost",
    "counting": "--count",
    "ham": "--ham-class",
    "is_null": "-0",
    "items": "--documents",
    "lists": "--files-from",
    "marks": "--flag",
    "numeric_columns": "--numeric-column",
    "path": "-m",
    "target": "--move",
    "text_columns": "--text-column",
    "threshold": "--unsure",
    "trusts_names": "--trust-names",
}
"""The options that are not called like their parameters, with hyphens."""


class Command(NamedTuple):
    """
    A command that does what a function of the library does.

    Attributes:
        name: what it is called.
        positional: the parameters that are arguments and no options, in their order.
    """

    name: str
    positional: tuple[str, ...] = ()


OF_COMMAND: Final[Mapping[tuple[str, str], str]] = {
    ("check", "path"): "--output",
    ("filter", "names"): "--flag",
    ("filter", "path"): "--decided",
    ("serve", "address"): "--listen",
    ("serve", "folder"): "--users",
}
"""Those that a command calls in another way, by it and the parameter."""

WHOLE: Final[Mapping[tuple[str, object], str]] = {
    ("costs", "(Cost(CLASS, None, X),)"): "--cost CLASS:unsure=X",
    ("policy", "MOST_PROBABLE"): "--no-policy",
    ("policy", "Policy()"): "--clear",
}
"""The options that stand for one value of a parameter."""

VALUES: Final[Mapping[object, str]] = {"\t": "tab"}
"""The values that are typed in another way."""

COMMANDS: Final[Mapping[str, Command]] = {
    "filtering.filter_mailbox": Command("filter"),
    "forget": Command("forget", ("documents",)),
    "learn": Command("learn", ("label",)),
    "set_policy": Command("policy"),
    "store.compact": Command("compact"),
    "upkeep.check_model": Command("check"),
    "upkeep.merge": Command("merge"),
    "upkeep.open_models": Command("merge FILE -o NEW"),
    "upkeep.rename": Command("rename", ("names",)),
    "upkeep.repair_model": Command("check --repair"),
    "upkeep.take_doubles": Command("merge FILE -o NEW --documents SOURCE"),
    "evaluate": Command("eval", ("sources",)),
    "train": Command("train", ("sources",)),
}
"""By the names of the functions."""


def named(name: str, /) -> str:
    """Return the option of a parameter."""
    own = OF_COMMAND.get((_running(), name)) or OPTIONS.get(name)
    return own or f"--{name.replace('_', '-')}"


def given(**values: object) -> str:
    """Return options with their values, as they are typed."""
    return " ".join(_typed(name, value) for name, value in values.items())


def call(name: str, /, **values: object) -> str:
    """Return a command, as it is typed; the running one if none is named."""
    command = COMMANDS[name] if name else Command(_running(), ("sources",))
    options = {key: values[key] for key in values if key not in command.positional}
    arguments = [values[key] for key in command.positional if key in values]
    words = [f"nbtext {command.name}", *([given(**options)] if options else [])]
    if any(_is_like_option(one) for value in arguments for one in _several(value)):
        words.append("--")
    return " ".join([*words, *map(_values, arguments)])


def line_of(words: Sequence[str], arguments: Sequence[str] = ()) -> str:
    """Return the line that runs a command with options, and then arguments, to type."""
    end = ["--"] if any(map(_is_like_option, arguments)) else []
    return " ".join(["nbtext", *map(typed, (*words, *end, *arguments))])


def typed(word: str) -> str:
    """Return a word to type; what a terminal would obey is in $'...' (bash(1))."""
    return shlex.quote(word) if word.isprintable() else _ansi_quoted(word)


def _ansi_quoted(word: str) -> str:
    """Return a word that the shell reads as it is, in printable characters."""
    quoted = "".join(
        one if one.isascii() and one.isprintable() and one not in "'\\"
        else "".join(f"\\x{byte:02x}" for byte in os.fsencode(one))
        for one in word
    )  # fmt: skip
    return f"$'{quoted}'"


def _is_like_option(argument: str) -> bool:
    """Return whether an argument would be an option if it stood among them."""
    return argument.startswith("-") and argument != "-"


def _running() -> str:
    """Return the name of the command that runs; `train` where click does not know."""
    if "click" not in sys.modules:
        return "train"
    from click import get_current_context

    context = get_current_context(silent=True)
    if context is None or not context.info_name:
        return "train"
    words = [context.info_name]
    if context.params.get("own_labels"):
        words.append("--labelled")
    if folds := context.params.get("folds"):
        words.append(f"--folds {folds}")
    return " ".join(words)


def _typed(name: str, value: object) -> str:
    if isinstance(value, Blank) and (name, str(value)) in WHOLE:
        return WHOLE[name, str(value)]
    option = named(name)
    if value is True:
        return option
    if value is False:
        return OPTIONS.get(f"no_{name}") or f"--no-{option.removeprefix('--')}"
    several = value if isinstance(value, tuple) else (value,)
    return " ".join(f"{option} {_values(one)}" for one in several)


def _several(value: object) -> list[str]:
    """Return a value, or several, as a command gets them."""
    if isinstance(value, Mapping):
        return [f"{old}={new}" for old, new in value.items()]
    return [*value] if isinstance(value, list) else [str(value)]


def _values(value: object) -> str:
    """Return a value, or several, as the shell takes them."""
    if isinstance(value, Mapping | list):
        return " ".join(map(_values, _several(value)))
    if isinstance(value, Blank):
        return str(value)
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return VALUES.get(text) or typed(text)
