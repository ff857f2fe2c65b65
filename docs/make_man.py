"""
Write the man pages in man/: one for nbtext, and one for each command, from its help.

    python docs/make_man.py            writes them
    python docs/make_man.py --check    exits with 1 if they are not what it would write

They are installed in share/man, where man(1) finds them for programs in bin. The exit
statuses and variables are those of docs/make_cli.py.
"""

import re
import sys
from pathlib import Path
from textwrap import dedent

import click

sys.path.insert(0, str(Path(__file__).parent))

from make_cli import PREAMBLE

from nbtext import __version__
from nbtext.cli._group import COMMANDS, nbtext

FOLDER = Path(__file__).parents[1] / "man"


def pages() -> dict[str, str]:
    """Return the text of each page, by the name of its file."""
    names = {"help_option_names": nbtext.context_settings["help_option_names"]}
    with click.Context(nbtext, info_name="nbtext", terminal_width=80, **names) as above:
        found = {"nbtext.1": _main_page(above)}
        for name in COMMANDS:
            command = nbtext.get_command(above, name)
            if command is None:
                message = f"nbtext has no command {name}"
                raise ValueError(message)
            with click.Context(command, parent=above, info_name=name) as context:
                found[f"nbtext-{name}.1"] = _page(command, context)
    return found


def _main_page(context: click.Context) -> str:
    lines = [*_top("nbtext", nbtext), *_synopsis(nbtext, context)]
    lines += _description(nbtext)
    lines += [".SH COMMANDS"]
    for name in COMMANDS:
        command = nbtext.get_command(context, name)
        if command is not None:
            about = command.get_short_help_str(limit=200)
            lines += [".TP", rf"\fB{_escaped(f'nbtext-{name}')}\fR(1)", _line(about)]
    lines += _options(nbtext, context)
    lines += ["", ".SH EXIT STATUS", *_table("Exit status")]
    lines += [".SH ENVIRONMENT", *_table("Environment")]
    lines += [".SH SEE ALSO", ", ".join(_reference(name) for name in COMMANDS)]
    return "\n".join(filter(None, lines)) + "\n"


def _page(command: click.Command, context: click.Context) -> str:
    lines = [*_top(f"nbtext-{context.info_name}", command)]
    lines += [*_synopsis(command, context), *_description(command)]
    lines += _options(command, context)
    if command.epilog:
        lines += [".SH NOTES", *_paragraphs(command.epilog)]
    lines += [".SH EXIT STATUS", "Those of", r"\fBnbtext\fR(1)."]
    lines += [".SH SEE ALSO", r"\fBnbtext\fR(1)"]
    return "\n".join(lines) + "\n"


def _top(title: str, command: click.Command) -> list[str]:
    about = command.get_short_help_str(limit=200).removesuffix(".")
    return [
        r".\" Written by docs/make_man.py; change that, or the help of the command.",
        f'.TH {_escaped(title.upper())} 1 "" "nbtext {__version__}" "nbtext"',
        ".SH NAME",
        rf"{_escaped(title)} \- {_line(about)}",
    ]


def _synopsis(command: click.Command, context: click.Context) -> list[str]:
    words = " ".join(command.collect_usage_pieces(context))
    return [
        ".SH SYNOPSIS",
        rf"\fB{_escaped(context.command_path)}\fR {_line(words)}",
    ]


def _description(command: click.Command) -> list[str]:
    _, _, rest = (command.help or "").strip().partition("\n\n")  # NAME has the first
    return [".SH DESCRIPTION", *_paragraphs(rest)]


def _paragraphs(text: str) -> list[str]:
    """Return help as man reads it; what click keeps as it is has its own lines."""
    lines: list[str] = []
    for block in re.split(r"\n[ \t]*\n", text.strip()):
        plain = block.strip("\n")
        is_kept = plain.lstrip().startswith("\b")
        if is_kept:
            kept = dedent(plain.lstrip().removeprefix("\b").strip("\n")).splitlines()
            lines += [".PP", ".nf", ".RS 4", *map(_line, kept), ".RE", ".fi"]
        else:
            joined = " ".join(map(str.strip, plain.splitlines()))
            lines += [".PP", _line(joined)]
    return lines


def _options(command: click.Command, context: click.Context) -> list[str]:
    lines = [".SH OPTIONS"]
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is not None and isinstance(param, click.Option):
            lines += [".TP", rf"\fB{_escaped(record[0])}\fR", _line(record[1])]
    return lines


def _table(heading: str) -> list[str]:
    """Return the rows of a table of docs/cli.md as a list of definitions."""
    _, _, rest = PREAMBLE.partition(f"\n## {heading}\n")
    section = rest.partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", section, re.MULTILINE)
    lines: list[str] = []
    for first, second in rows:
        if set(first) <= set("-") or first == "status":
            continue
        lines += [".TP", rf"\fB{_escaped(first.strip('`'))}\fR"]
        lines += [_line(second.replace("`", "").replace("\\\\|", "|"))]
    return lines


def _reference(name: str) -> str:
    return rf"\fB{_escaped(f'nbtext-{name}')}\fR(1)"


def _line(text: str) -> str:
    """Return text that is no request of roff, whatever it begins with."""
    escaped = _escaped(text)
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _escaped(text: str) -> str:
    characters = {"\\": r"\e", "-": r"\-", "~": r"\(ti", "^": r"\(ha", "`": r"\(ga"}
    return "".join(characters.get(character, character) for character in text)


def main(arguments: list[str]) -> int:
    """Write the pages, or with `--check` compare them."""
    wanted = pages()
    if arguments == ["--check"]:
        found = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*")}
        if found == wanted:
            return 0
        sys.stderr.write(f"{FOLDER}: not what --help says; run make docs\n")
        return 1
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.1"):
        path.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
