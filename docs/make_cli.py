"""
Write docs/cli.md: what is said here, and what each command's `--help` says.

    python docs/make_cli.py            writes it
    python docs/make_cli.py --check    exits with 1 if it is not what would be written
"""

# ruff: noqa: E501 -- a row of a table is one line

import sys
from pathlib import Path
from typing import Any

import click

from nbtext.cli._group import COMMANDS, nbtext

PAGE = Path(__file__).with_name("cli.md")
WIDTH = 80

PREAMBLE = """\
# The command line

<!-- Written by `python docs/make_cli.py` (`make docs`); change that, not this. -->

    nbtext train spam/ ham/          learn two folders of mail
    nbtext classify < email.txt      print the class and its probability
    nbtext eval spam/ ham/           say how good that is
    nbtext pass < email.txt          print it with a field that says what it is
    nbtext learn spam < email.txt    add a message to a class, or move it there
    nbtext forget < email.txt        take a message out again
    nbtext info                      say what the model knows
    nbtext tokens < email.txt        show what the tokenizer saw
    nbtext filter ~/Maildir --move spam=.Junk   move what is new and spam
    nbtext serve --listen localhost:783         answer spamc and other clients of spamd
    nbtext bogofilter -uep           do what bogofilter does

Standard output has results and nothing else; progress, notes and complaints go to
standard error. On a terminal results are tables, in colour; in a pipe they are plain
lines. `--` ends the options, `-` is standard input.

## Sources and labels

A source is a path, or `-` for standard input. What it holds is told by looking, and by
`--format` where that is wrong:

| source | documents | how it is recognised |
|---|---|---|
| a file | one | whatever is none of the others |
| a folder | one a file, sorted by path, hidden ones left out | |
| Maildir | one a message of `cur/` and `new/`; not trash, not drafts; folders in it are left out, with a note | the two folders |
| MH | one a numbered file | `.mh_sequences`, or nothing but numbers |
| mbox | one a message, called `name:1`, `name:2` | `.mbox`, `.mbx`, or a first line `From ` with a date |
| JSON lines | one a line | `.jsonl`, `.ndjson`, `.json`, or a first line that is an object |
| CSV | one a row | `.csv` |
| TSV | one a row, nothing quoted | `.tsv`, or where labels are wanted a label, a tab and a text on each line |
| an index | one a line: a label and a path | lines whose first path exists, as in the TREC spam track |

Each may be compressed: gzip, bzip2, xz, and zstd where the Python package `zstandard`
is there; the bytes tell, not the suffix. `--format mail` and `--format text` make every
file one document.

A file in a folder is an mbox without that suffix only if a second message begins in it,
with such a line, after an empty one, and a header: collections of single messages keep
the line of the mailbox that they came from. Thunderbird's `Inbox.msf` beside `Inbox` is
left out.

Of rows and objects the column `text`, `body`, `content` or `message` is read, or those
that `--text-column` names; `--label-column` and `--id-column` name others. Columns are
named by their heading; if all that are named are numbers, from 1, there is no heading.
The columns that are named when a model is trained are part of it: `classify`, `eval`,
`learn`, `forget` and `tokens` read the same ones, by name and in any order; a column that
is missing is an error, and so is naming others. A model that was trained without
`--text-column`, on files or on rows, reads the column that is found, or those that are
named. What is no table is read whole, whatever the columns of the model.
Where none are named and there are two, a label and a text, a first line such as `v1,v2`
is a heading if the labels below it repeat and `v1` is not among them; a note says so,
and how to have it otherwise. Separators are commas in CSV and tabs in TSV, no others.

`train` and `eval` need a label for each document. It is, in this order: the column of
`--label-column`; the `LABEL` of `LABEL=PATH`; the name of a folder (without the dot of
`.Junk`); a column `label`, `class` or `category`, or the index; the name of the file
without its suffixes. A single folder that holds nothing but folders is a folder a
class; of two that hold the same folders, as `train/` and `test/` may, each is a class
itself, with a warning. A path with `=` in it is a path if there is such a file, or if a `/` stands
before the `=`: write `./a=b`.

Whether documents are read as mail or as text is decided once, when training, by most
of the documents or by `--format`; the model remembers, and `classify`, `eval` and
`tokens` follow it. A document looks like mail if its first header block has two of
Received, Date, Message-ID, Return-Path and MIME-Version, or if it lies in an mbox or a
Maildir.

## Output

**`classify`** prints a line a document, in the order of the input, with tabs between:

| column | |
|---|---|
| 1 | the label, `?` if unsure |
| 2 | the probability of the most probable class, to four places; never `1.0000` |
| 3 | the document's name; left out if there is only standard input and no argument |

Names are escaped, so that a line is a line: `\\t`, `\\n`, `\\r` and `\\\\` for tab, newline,
carriage return and backslash, `\\xHH` for a byte that is not UTF-8 or a control
character, `\\uHHHH` for what else does not print. A label that is not UTF-8 is in the
model as `\\xHH`, and no backslash is doubled there. What is ready is printed whenever input
would block.

`classify --json` prints an object a line:

| key | |
|---|---|
| `name` | the document's name; a byte that is not UTF-8 is written `\\xHH` |
| `label` | its class, null if unsure |
| `probability` | of the most probable class |
| `posterior` | class to probability; they sum to 1 |
| `log_posterior` | class to the natural logarithm of that, however small |
| `tokens` | `known` to the model, and `total` |
| `truncated` | whether the document was longer than `--max-bytes` |

A document without one token that the model knows is unsure.

**`pass`** prints the message on standard input as it came, with the field `X-NBText: LABEL,
probability=P` as the last one of its header. The label is `unsure` where `classify` prints
`?`; what of it is not printable ASCII is escaped. A message without a header gets an empty
line behind the field.

**`filter`** prints a line a folder, and with `--json` an object for each message that was
decided about; [filtering.md](filtering.md#what-it-prints) has both.

**`serve`** prints nothing on standard output; its log is on standard error
([serving.md](serving.md#the-log)).

**`bogofilter`** prints what bogofilter does, a verdict a message with `-v` or `-T` and the
message itself with `-p`; [recipes/bogofilter.md](recipes/bogofilter.md) has its forms, its
exit status and what differs.

**`learn`** and **`forget`** print nothing on standard output; what became of the documents
is said on standard error, those that were refused by name. `--json` prints one object:
`class`, `learnt`, `moved` and `known`, or `forgotten`; `refused`, `skipped` and `path`.
They, and all commands that write a model, wait `--wait` seconds for another writer.
[learning.md](learning.md) says what they promise.

**`merge`**, **`compact`** and **`prune`** say on standard error what they did, and with
`--json` in one object: `merge` has `classes` (name to documents), `doubles` (documents in
more than one model), `taken` (those that are counted once now), `refused`, `conflicts` (a
list of `labels`, of an earlier model and a later one, and `documents`), `path` and `size`;
`compact` has `tables`, `before` and `after` (bytes) and `path`; `prune` has `done`,
`terms`, `tokens` and `bytes`, each with `before` and `after`, and `path`.

**`info`** prints a name, a tab and a value on each line, then `class`, name, documents,
tokens and when the class last learnt, or `-`, for each class. `info --json` prints one
object: `path`, `bytes`, `tables`, `terms`, `classes` (name to `documents`, `tokens` and
`learnt`, a time or null), `settings` (how documents are read), `scoring`, `calibration`,
`trained` (a time or null), `taught` (how many documents were learnt, moved or forgotten
since), `tail` (`tables` and `bytes` behind the first table), `written` and `writer`.

**`eval`** prints four tables with an empty line between: name and value of each figure;
precision, recall, F1 and support of each class; the confusion matrix, its rows the
truth; and reliability. `eval --json` prints one object; [measures.md](measures.md)
defines each of its keys.

**`train`** prints nothing on standard output; what it read and what it wrote is said on
standard error. A new model is readable by its owner alone (mode 0600); one that
replaces another keeps that one's owner, group, mode and access control list. `train --json` prints one object: `documents`, `classes` (name to
documents), `format`, `tokens`, `terms` (distinct ones), `bytes`,
`seconds`, `skipped`, `truncated`, `repeats`, `conflicts` (documents under two labels or
more), `path` and `size`.

**`tokens`** prints view, field, count and term, with tabs between; the two tokens of a
pair have a space between them. A line `# name` precedes each of several documents.
`tokens --json` prints an object a line: `name`, and `views`: view to a list of `field`,
`term` and `count`.

## Exit status

| status | meaning |
|---|---|
| 0 | done; with `classify --is CLASS`: it is of CLASS |
| 1 | with `classify --is CLASS` only: it is of another class |
| 2 | with `classify --is CLASS` only: it is unsure |
| 3 | with `bogofilter` only, where 0, 1 and 2 are spam, ham and unsure: anything failed |
| 64 | the command line is wrong, or contradicts the model |
| 65 | the data is wrong: no model file, one class only, or some documents were skipped or refused |
| 66 | there is no model, or a source is missing |
| 70 | a fault in nbtext itself |
| 73 | the model cannot be written, or was taught and would be lost without `--replace`; a mailbox cannot be changed |
| 74 | input or output failed; `serve` cannot listen where it shall |
| 75 | try again: with `pass`, anything failed, and the message is as it came; another process was writing the model or a mailbox for all of `--wait`, or one of `--jobs` was killed |
| 130 | interrupted (Ctrl-C) |
| 129, 143 | ended by SIGHUP or SIGTERM, which `train`, `eval` and long runs of `classify` clean up after; for `serve`, SIGTERM is the usual end, with status 0 |
| 141 | standard output was closed (`nbtext classify inbox/ \\| head`) |

Those from 64 are of `sysexits.h`, which mail software acts on. A document that cannot
be read is named on standard error and skipped, the rest goes on, and the status at the
end is 65, or 66 if all that was skipped does not exist.

## Environment

| variable | |
|---|---|
| `NBTEXT_MODEL` | the model file, if `--model` does not name another |
| `BOGOFILTER_DIR` | with `bogofilter` only: else the model is `nbtext.nbt` in here |
| `XDG_DATA_HOME` | else the model is `nbtext/model.nbt` in here [default: `~/.local/share`] |
| `NO_COLOR` | anything but nothing: no colours |
| `TERM` | `dumb`: plain lines, as in a pipe |
| `NBTEXT_DEBUG` | anything but nothing: a fault in nbtext shows where it happened |

## Shell completion

    eval "$(_NBTEXT_COMPLETE=bash_source nbtext)"      # in ~/.bashrc
    eval "$(_NBTEXT_COMPLETE=zsh_source nbtext)"       # in ~/.zshrc
    _NBTEXT_COMPLETE=fish_source nbtext | source       # in ~/.config/fish/config.fish
"""


def page() -> str:
    """Return the whole page."""
    sections = [PREAMBLE.rstrip("\n"), _section("nbtext", nbtext, None)]
    with click.Context(nbtext, info_name="nbtext", **_settings()) as above:
        for name in COMMANDS:
            command = nbtext.get_command(above, name)
            if command is None:
                message = f"nbtext has no command {name}"
                raise ValueError(message)
            sections.append(_section(name, command, above))
    return "\n\n".join(sections) + "\n"


def _section(name: str, command: click.Command, above: click.Context | None) -> str:
    settings = _settings() if above is None else {}
    with click.Context(command, parent=above, info_name=name, **settings) as context:
        text = command.get_help(context)
    lines = (line.rstrip() for line in text.splitlines())
    title = f"nbtext {name}" if above is not None else name
    return "\n".join([f"## {title}", "", "```text", *lines, "```"])


def _settings() -> dict[str, Any]:
    own = {key: nbtext.context_settings[key] for key in ("help_option_names",)}
    return own | {"terminal_width": WIDTH, "max_content_width": WIDTH}


def main(arguments: list[str]) -> int:
    """Write the page, or with `--check` compare it."""
    wanted = page()
    if arguments == ["--check"]:
        found = PAGE.read_text("utf-8") if PAGE.exists() else ""
        if found == wanted:
            return 0
        sys.stderr.write(f"{PAGE}: not what --help says; run python docs/make_cli.py\n")
        return 1
    PAGE.write_text(wanted, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
