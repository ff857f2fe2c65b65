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

    nbtext train spam/ ham/          train on two folders of mail
    nbtext classify < email.txt      print the class and its probability
    nbtext eval spam/ ham/           measure the model
    nbtext pass < email.txt          print the message with a field for its class
    nbtext learn spam < email.txt    add a message to a class, or move it there
    nbtext forget < email.txt        take a message out again
    nbtext info                      print what the model holds
    nbtext weights                   write the weights of terms, where scores are sums of them
    nbtext tokens < email.txt        print what the tokenizer sees
    nbtext filter ~/Maildir --move spam=.Junk   move new spam
    nbtext serve --listen localhost:783         answer spamc and other clients of spamd
    nbtext bogofilter -uep           behave as bogofilter

Standard output has results and nothing else; progress, notes and errors go to standard
error. On a terminal results are tables, in colour, which leave out their least columns where it is
narrow and say which; in a pipe they are plain lines. `--`
ends the options, `-` is standard input.

## Sources and labels

A source is a path, or `-` for standard input. Its format is recognised as follows, unless
`--format` names it:

| source | documents | recognised by |
|---|---|---|
| a file | one | none of the following |
| a folder | one for each file, sorted by path, without hidden files | |
| Maildir | one for each message, without trash and drafts | `cur/` and `new/` |
| MH | one for each numbered file | `.mh_sequences`, or only numbers |
| mbox | one for each message: `name:1`, `name:2` | `.mbox`, `.mbx`, or a first line `From ` with a date |
| JSON lines | one for each line; objects over several lines are refused | `.jsonl`, `.ndjson`, `.json`, or an object on the first line |
| JSON array | one for each object in it | the same names, or a first `[` with a whole object behind it |
| CSV | one for each row | `.csv` |
| TSV | one for each row, without quoting (`--format csv --delimiter tab` reads quotes) | `.tsv`, or lines with a label, a tab and a text |
| lines of text | one for each line, perhaps behind a label as fastText has it | `--format lines`, or a first line `__label__CLASS text` |
| an index | one for each line: a label and a path | lines whose first path exists (TREC spam track) |

A source may be compressed: gzip, bzip2, xz, and zstd if the Python package `zstandard` is
installed (`pip install 'nbtext[zst]'`). Compression is recognised by the first bytes, not by the suffix. `--format mail`
and `--format text` make every file one document. An archive (tar, ZIP, 7z, RAR) is refused, whatever
its name says: unpack it; so is what is compressed twice, and Parquet without `--cluster`: save it as CSV or JSON lines.
Pictures (PNG, JPEG), PDF, documents of Microsoft Office and programs are refused, too, but with `--is`, which has an answer for
whatever comes. The folders inside a Maildir are left out, with a note. Lines with a label, a tab and a text are a table only if
labels are needed. A blank line is no row; of lines of text it is a document, unless labels are needed, so that
there is a line of output for each, and counts in the numbers of documents (`lines.txt:12`) either way.

A file in a folder that has no such suffix is an mbox only if it contains a second message:
a `From ` line after an empty line, followed by a header. (Single messages often keep the
`From ` line of the mailbox that they came from; so a file called `.eml` or `.txt` is never an mbox unless `--format`
says so.) A `.json` in a folder is one document. What
lies beside a mailbox for programs is left out: Thunderbird's `Inbox.msf`, and `inbox.lock`.

An mbox is read as it was at a moment when no program had it locked, by `fcntl` or by a file
`MBOX.lock`; nothing is copied, locked for longer or written. If others have had it locked
for 10 seconds (less, if several are), its last message, which may be incomplete, is left out, and a
warning says so. What is appended later is not read. If a program rewrites the mbox
meanwhile, reading ends there with an error (status 65), and the messages before that are used.
So do not lock an mbox yourself while `nbtext` reads it. Compressed mboxes, and those that come
through a pipe, are read without a look at locks.

Of rows and objects, nbtext reads the column `text`, `body`, `content` or `message`, or those
given with `--text-column`; `--label-column` and `--id-column` name the others, each time anew. The id is printed with the row, and
tells that it was learnt before, whatever its text is now. Columns are
named by their heading; if all names are numbers (from 1), the table has no heading. The
columns that were read in training are settings of the model: `classify`, `eval`, `learn`, `forget`
and `tokens` read the same columns, by name and in any order. A missing column is an error,
and so is naming other columns. A model trained without `--text-column` reads the column
that is found, or those that are named. Documents that are not rows are read whole.

If no columns are named and there are two, a label and a text, then a first line such as
`v1,v2` is a heading if the labels below it repeat and `v1` is not one of them; a note says
so, and how to change it. Of a table or JSON lines that are read alone, the one column or key beside the text is the
label, whatever it is called, if it repeats; where a model has classes, if most
are among them, and the file's name is not. The first 100 rows tell, or the first megabyte, which
are waited for where labels are needed. The separator of a CSV file is a comma, or a semicolon, a tab or a bar if
the first lines show one of them and no comma; that of TSV is a tab. `--delimiter` names another,
with quotes as in CSV; so does a first line `sep=;`. A row whose quote is never closed is refused, and
the next line is a row: also where the quote of a later row, with as many fields as the first one,
would close it. Lines end in LF, CR LF, or CR alone. A file
without a suffix whose lines begin with a label and a tab is a table where labels are needed, and one document elsewhere: `classify` says so.

`--files-from FILE` reads names of sources from a file or from standard input, one a line (LF or CR LF), or with
`-0` as `find -print0` writes them; `LABEL=FILE` gives all of them a label:

    find ~/Mail -name '*.eml' -newer last -print0 | nbtext classify -0 --files-from -
    find ~/old -type f -print0 | nbtext train -0 --files-from spam=- ham=~/Maildir/.Archive

Without it, a list of names on standard input is a document; a note says so.

Tables, JSON lines and mbox files are read as UTF-8. Those in UTF-16 or UTF-32 are decoded by
their byte order mark; a table without one is refused, with the command that converts it. A text
that is not UTF-8 is read as Windows-1252, as every document is, without a word: write
`iconv -f ENCODING -t UTF-8` before what is in another encoding. A model of text decodes one
document in UTF-16 or UTF-32 without a mark, too, if its first kilobyte is such a text; mail is not,
and a warning says so of a source that looks like that. A column that is read must be the
only one of its name.

`train` and `eval` need a label for each document. It is the first of these: the column of
`--label-column`; the `LABEL` of `LABEL=PATH`; the name of the folder (without the dot of
`.Junk`, and of `Maildir/cur` that of the Maildir); a column `label`, `class`, `category` or `target`, or the index; the name of the file
without its suffixes. The names of folders that mail programs make stand for spam (Spam, Junk,
Bulk, Junk E-mail) and ham (INBOX, Maildir, Archive, Sent, Sent Items, All Mail), with a note, if one of
them stands for spam, or if the model that is evaluated has these classes and none of that name;
`LABEL=PATH` keeps a name. If a single folder contains only folders, each of them is a class; if
a few files lie beside them, it is one class, with a warning. If two folders contain the same
folders, as `train/` and `test/` may, each of the two is a class, with a warning; there is a warning, too, if one of the folders contains folders that
are called as the others are. An argument with `=` is a path if such a file exists, or if a `/`
stands before the `=`: write `./a=b`.

Training decides once whether documents are read as mail or as text: as most of them look,
or by `--format`. This is a setting of the model, which `classify`, `eval` and `tokens`
follow. A document looks like mail if its first header block has two of Received, Date,
Message-ID, Return-Path and MIME-Version, or if it is in an mbox or a Maildir.

A document of a file that holds several is itself a source, by the name that `classify`
prints: `nbtext learn ham box.mbox:17 rows.csv:12`. A file of that very name comes first.
Standard input is read once, so its documents have no such names. `classify --is` takes one document:
a file, or standard input, is one message or text whatever it looks like, unless its name says that it holds
several (`.mbox`, `.csv`), or is that of one of them.

## Output

**`classify`** prints one line for each document, in the order of the input, with tabs:

| column | |
|---|---|
| 1 | the label, `?` if unsure |
| 2 | that of the label, or if unsure the highest, to four places; never `1.0000` |
| 3 | the document's name; absent if standard input is the only source |

Names are escaped, so that each document is one line: `\\t`, `\\n`, `\\r` and `\\\\` for tab,
newline, carriage return and backslash, `\\xHH` for a byte that is not UTF-8 or a control
character, `\\uHHHH` for other characters that do not print. A label that is not UTF-8 is
stored as `\\xHH`; no backslash is doubled there, nor in messages. Results are printed as soon as input blocks.
What is skipped has no line, so that lines and rows may not agree any more (the status is 65 then): `name` in `--json`
has the number of each, also where standard input is the only source.

`classify --json` prints one object per line:

| key | |
|---|---|
| `name` | the document's name; a byte that is not UTF-8 is written `\\xHH` |
| `label` | its class, null if unsure |
| `probability` | of the label, or if unsure the highest |
| `posterior` | class to probability; they sum to 1 |
| `log_posterior` | class to the natural logarithm of that, however small |
| `tokens` | `known` to the model, and `total` |
| `truncated` | whether the document was longer than `--max-bytes` |
| `id`, `truth` | the id (`--id-column`) and the label of a record that has them |
| `from`, `subject` | of a mail, decoded, 200 characters at most; absent for text |
| `parts` | of several models: what each (`model`) finds alone, by the same keys |

Scores are doubles, and printed to 13 digits. The last two may be others for a document in a batch than for the
same alone, without the compiled extension, or with other `--jobs`: sums are formed in another order there, and agree
to 10^-12 of their size.

A document is unsure if the model knows none of its tokens. On a terminal From and Subject of a mail
are shown behind its name, as far as there is room, and the last line, on standard error, says how
many documents were decided for each class.

**`pass`** prints the message from standard input unchanged, with the field `X-NBText: LABEL,
probability=P` as the last one of its header, before any line that is no field. The label is `unsure` where `classify` prints
`?`; characters that are not printable ASCII are escaped. A message without a header gets an
empty line after the field.

**`filter`** prints one line for each folder, and with `--json` an object for each message
that it decided about ([filtering.md](filtering.md#what-it-prints)).

**`serve`** prints nothing on standard output; its log is on standard error
([serving.md](serving.md#the-log)).

**`bogofilter`** prints what bogofilter prints: a verdict with `-v` or `-T`, and the message
itself with `-p`. [recipes/bogofilter.md](recipes/bogofilter.md) has the forms, the exit
status and the differences.

**`learn`** and **`forget`** print nothing on standard output. Standard error has a summary,
and the name of each document that was refused. `--json` prints one object: `class` (with `--labelled`
null, and `classes` has how many each has got),
`learnt` and `moved`, or `forgotten`; `known` (so already, or forgotten with a copy), with `--seen-only` `unread`, with `--regime` `left_out`; `refused`, `empty` (without a byte), `skipped` and `path`. Like all
commands that write a model, they wait up to `--wait` seconds for another writer.
[learning.md](learning.md) lists their promises.

**`undo`** prints with `--json` one object: `documents`, `classes` (those that had learnt), `when`,
`tables`, `done` (false with `--dry-run`) and `path`.

**`rename`** prints with `--json` one object: `renamed` (old name to new name), `classes` and
`path`.

**`merge`**, **`compact`** and **`prune`** report on standard error, and with `--json` in one
object: `merge` has `classes` (name to documents), `doubles` (documents in
more than one model, or in more than one of those that a file was joined of), `taken` (those that are now counted once), `refused`, `left_out`
(held-out documents that say nothing of the sum's probabilities), `conflicts` (a
list of `labels`, of an earlier model and a later one, and `documents`), `path` and `size`;
`compact` has `tables`, `before` and `after` (bytes) and `path`; `prune` has `done`,
`terms`, `tokens` and `bytes`, each with `before` and `after`, `path`, and `scored` (documents of `--counted` that
probabilities were fitted anew to).

**`info`** prints a name, a tab and a value on each line, then `class`, name, documents,
tokens and when the class last learnt, or `-`, for each class. `info --json` prints one
object: `path`, `bytes`, `tables`, `doubles` (documents that are in more than one of the
models that were joined with `cat`), `terms`, `texts` (how many terms have one, or null), `classes` (name to `documents`, `tokens` and
`learnt`, a time or null), `settings` (how documents are read), `scoring`, `calibration`,
`correction` and `policy` (or null), `trained` (a time or null), `taught` (how many documents were learnt, moved or forgotten
since), `undo` (`documents` that `nbtext undo` would take back, and `records`: of how many documents is
kept what they left), `tail` (`tables` and `bytes` behind the first table), `written`, `writer` and `tokenizer`.

**`why --json`** prints one object per line: `name`, `label`, `truth`, `for` and `against` (the classes that are compared), `in_words`,
`probability`, `log_odds`, `score`, what makes up the log odds (`parts`, `calibration`, `other_classes`, `prior`, `cap`), `posterior`,
`documents`, `tokens`, `truncated`, `terms` (`--top` of them) and `rest` (how many others, and their sum); with `--flip` also `flip`. With
`--against` it is one object: `first`, `second` and `differences`. **`top --json`** prints one per line: `class`, `term` (null if
its text is not known), `view`, `field`, `strength` (G²), `log_odds`, `documents` and `of`, `elsewhere` and `of_elsewhere`, `key`.

**`doctor --json`** prints one object: `documents`, `classes`, `unreadable`, the findings (`suspects` are those of labels, `repeated` those
of the kind `again`, `apart` of dates; else by kind), and `n_suspects`, `n_same`, `n_near` and `n_leaks`: how many there are,
shown or not. **`tune --json`** prints one: `measure`, `documents`, `rows` (each with `options`, `how`, `value`, `interval`, `behind`,
`is_best` and `is_chosen`), `options` (the chosen), `train`, `policy` and `threshold`.

**`policy --json`** prints one object: `threshold`, `prior`, `costs`, `max_false_positives` and `in_words`. **`check --json`** prints one:
`path`, `bytes`, `sound`, `tables`, `faults`, `notes`, `classes` and `repaired` (the file that was written, or null).
**`load --json`** prints one: `documents`, `classes`, `format`, `terms`, `undo`, `lines`, `path` and `size`.

**`eval`** prints four tables, separated by empty lines: the name and value of each figure;
precision, recall, F1 and support of each class; the confusion matrix, with true classes as
rows; and reliability. What is asked for besides stands behind them: a comparison, a replay, errors. On a terminal the last line says in a sentence how many were right. `eval --json` prints one object; [measures.md](measures.md)
defines each of its keys.

**`train`** prints nothing on standard output; standard error has a summary. A new model is
readable only by its owner (mode 0600); one that replaces another keeps owner, group, mode
and access control list of the old file, as far as the writer may give them. `train --json` prints one object: `documents`,
`classes` (name to documents), `format`, `tokens`, `terms` (distinct ones), `bytes`,
`seconds`, `skipped`, `empty`, `truncated`, `repeats`, `left_out` (by the regime), `conflicts` (documents with two or more labels),
`held_out_losses` (score to loss in nats a document; two where training has chosen between them), `path` and `size`.

**`tokens`** prints view, field, count and term, separated by tabs (on a terminal in columns, with a heading); the two tokens of a pair
are separated by a space. A line `# name` precedes each of several documents. `tokens --json`
prints one object per line: `name`, and `views`: view to a list of `field`, `term` and
`count`.

## Exit status

| status | meaning |
|---|---|
| 0 | done; with `classify --is CLASS`: it is of CLASS |
| 1 | with `classify --is CLASS` only: it is of another class |
| 2 | with `classify --is CLASS` only: it is unsure |
| 3 | with `bogofilter` only: any error (0, 1 and 2 are spam, ham and unsure) |
| 64 | the command line is wrong, or contradicts the model |
| 65 | wrong data: no model file, only one class, documents skipped or refused |
| 66 | there is no model, or a source or the file of `--costs` is missing |
| 70 | an error in nbtext itself |
| 73 | the model, a report or a mailbox cannot be written, or `--replace` is needed |
| 74 | input or output failed; `serve` cannot listen; the temporary folder is full |
| 75 | try again later: a lock was not free within `--wait`, or memory is short |
| 130 | interrupted (Ctrl-C) |
| 129, 143 | ended by SIGHUP or SIGTERM |
| 141 | standard output was closed (`nbtext classify inbox/ \\| head`) |

Statuses from 64 to 78 are those of `sysexits.h`, which mail software understands. A document
that cannot be read is named on standard error and skipped. Of the records of a table, the first
is named for each reason, and the others are listed or counted in one line at the end; of other
documents that are skipped, refused or cut short the first 1,000 are named. The command continues, and its
status is 65 in the end, or 66 if all skipped documents do not exist. An error that ends it has a status of its own,
whatever was skipped before: `train spam/ ham/` without a folder `ham/` has only one class, which is 65. 75 means that another process had the
model or a mailbox locked for all of `--wait` seconds, or that there is not enough memory for the model. `pass` has status 75 for
every error, and prints the message unchanged, all of it. Only where it cannot be printed, as on a full
disk or without the memory to hold it, the status is 74: what came out is not the whole message, so that the program that delivers it must go
on with its own copy, or try again. 75 is also the status if one of `--jobs` was
killed. SIGTERM is the usual end of `serve`, with status 0; `train`, `eval` and long runs of
`classify` remove their temporary files when they are ended by a signal. Where
Python itself cannot begin, as without any memory or with a folder as standard input, the status is 1, which is its own.

## Environment

| variable | |
|---|---|
| `NBTEXT_MODEL` | the model file, if `--model` does not name another |
| `NBTEXT_KEYED` | the secret of a keyed model, if `--keyed` does not name another |
| `BOGOFILTER_DIR` | with `bogofilter` only: otherwise the model is `nbtext.nbt` in it |
| `XDG_DATA_HOME` | otherwise the model is `nbtext/model.nbt` in it; `~/.local/share` if unset |
| `HOME` | what `~` is [that of the user]; who has no home names the model |
| `NO_COLOR` | not empty: no colours |
| `TERM` | `dumb`: plain lines, as in a pipe |
| `TMPDIR` | where temporary files go [`/tmp`] |
| `NBTEXT_DEBUG` | not empty: an error in nbtext itself prints a traceback |

## Shell completion

    eval "$(_NBTEXT_COMPLETE=bash_source nbtext)"      # in ~/.bashrc
    eval "$(_NBTEXT_COMPLETE=zsh_source nbtext)"       # in ~/.zshrc
    _NBTEXT_COMPLETE=fish_source nbtext | source       # in ~/.config/fish/config.fish

Completed are commands, options, sources, model files, and the classes of the model, where one is
asked for (`nbtext learn <Tab>`, `--is`, `--move`, `rename`).
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
