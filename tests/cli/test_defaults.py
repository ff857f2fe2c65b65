"""
A law: the documented default of an option, given explicitly, changes nothing.

Every option of every command is taken from the command line itself, and its default
from its help. Whoever adds an option says there what its default is, or here why it has
none.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
import pytest

from nbtext.cli import _serve
from nbtext.cli._group import COMMANDS, nbtext
from tests.build import HAM, SPAM, mail, maildir
from tests.cli.conftest import Outcome, Run

PREPARED: Final = "mail.nbt"
THREE: Final = ("spam", "ham", "work")

LINES: Final[dict[str, dict[str, list[str]]]] = {
    "train": {
        "two": ["--replace", "spam", "ham"],
        "three": ["--replace", *THREE],
        "text": ["--replace", "rows.csv"],
    },
    "classify": {"two": ["spam", "ham"], "three": ["-m", "three.nbt", *THREE]},
    "eval": {
        "model": ["spam", "ham"],
        "two": ["--folds", "3", "spam", "ham"],
        "three": ["--folds", "3", *THREE],
        "text": ["--folds", "3", "rows.csv"],
    },
    "doctor": {"two": ["spam", "ham"]},
    "tune": {"two": ["spam", "ham"]},
    "pass": {"two": []},
    "filter": {"two": ["--move", "spam=.Junk", "Maildir"]},
    "learn": {"two": ["spam", "work"], "begun": ["-m", "new.nbt", "--create", "spam"]},
    "forget": {"two": ["spam"]},
    "info": {"two": []},
    "top": {"two": ["spam"]},
    "policy": {"two": []},
    "tokens": {"two": ["spam"]},
    "why": {"two": ["spam/1.eml"], "three": ["-m", "three.nbt", "spam/1.eml"]},
    "merge": {"two": [PREPARED, "other.nbt", "-o", "both.nbt", "--documents", "spam"]},
    "undo": {"taught": ["-m", "taught.nbt"]},
    "rename": {"two": ["spam=junk"]},
    "compact": {"two": []},
    "prune": {"two": []},
    "check": {"two": []},
    "dump": {"two": []},
    "weights": {"textbook": ["-m", "textbook.nbt"]},
    "load": {"two": ["--replace", "model.jsonl"]},
    "serve": {"two": []},
}
"""Commands, and lines that show what they write: of two classes, of three, of text."""

VALUES: Final[dict[str, dict[str, list[str]]]] = {
    "$NBTEXT_MODEL, else $XDG_DATA_HOME/nbtext/model.nbt": {"": [PREPARED]},
    "mean for two classes of mail, weighted of text (contrast where it is found to be "
    "better), contrast for more": {
        "": ["mean"],
        "text": ["weighted"],
        "three": ["contrast"],
    },
    "0.01 mean, 0.1 weighted, 1 sum, 0.01 bernoulli, 0.01 kary, 0.01 poisson, 0.03 "
    "complement, 0.03 wcnb, 0.01 tfidf, 0.03 contrast": {
        "": ["0.01"],
        "text": ["0.1"],
        "three": ["0.03"],
    },
    "as before, at first 1000": {"": ["1000"]},
    "the model file's name with .decided behind": {"": [f"{PREPARED}.decided"]},
    "half of what there is": {"": ["1G"]},
    "ham, else the other of two": {"": ["ham"]},
    "spam, else the rarer": {"": ["spam"]},
}
"""Defaults that are described in words, and what they are for a line, or for all."""

MEASURED: Final = "measured on the model"
UNSET: Final = "a variable of the environment that is not set here"
NO_RECORDS: Final = "it is refused where no such columns are read"
FOUND: Final = "the columns are found by their names"
WITHOUT: Final[dict[str, str]] = {
    "--label-column": FOUND,
    "--delimiter": "it is found in the table",
    "--category-smoothing": NO_RECORDS,
    "--variance-smoothing": NO_RECORDS,
    "--categorical-column": FOUND,
    "--numeric-column": FOUND,
    "--prior": "the shares of the training documents",
    "--cost": "every error costs the same",
    "--costs": "no file of costs",
    "--unsure": "the policy of the model",
    "--max-false-positives": "no share of mistakes is asked for",
    "--report": "no report is written",
    "--from": "terms have no texts",
    "--views": "all views are counted",
    "--parameter": "the numbers are the event model's own",
    "--levels": "the kary score alone has levels",
    "--files-from": "no file of names",
    "--class": "the most probable class is explained",
    "--against": "one document is explained",
    "--counted": "probabilities rest on all terms, as before",
    "--text-column": FOUND,
    "--id-column": "rows have no identity but what is in them",
    "--as": "documents are read as the model says",
    "--is": "it asks a question",
    "--folds": "without it, a model is evaluated",
    "--subject-tag": "no tag is added",
    "--move": "nothing is moved",
    "--flag": "nothing is flagged",
    "--min-probability": MEASURED,
    "--keyed": UNSET,
    "--since": "all messages",
    "--limit": "all messages",
    "--pattern": "tokens are those of the alphabet",
    "--output": "it must be given, or the model's name decides",
    "--documents": "no documents",
    "--cluster": "this machine does the work",
    "--users": "all have one model",
    "--shared": "the folder of the model, which tests of clusters use",
    "--allow": "no network but this machine",
}
"""Options whose default is no value that could be given, and why."""

DOCUMENTED = re.compile(r"\[default: ([^]]+)\]")


class Unopened(NamedTuple):
    """What a server would listen on."""

    how: tuple[Any, ...]

    def close(self) -> None:
        """Do nothing: it is not open."""


def record(served: tuple[Any, ...]) -> None:
    """Write what a server would serve, and how."""
    Path("served").write_text(repr(served))


class Case(NamedTuple):
    """An option, and how it is given in a line of its command."""

    command: str
    line: str
    option: click.Option

    @property
    def name(self) -> str:
        """The option's long name."""
        return max(self.option.opts, key=len)

    @property
    def documented(self) -> str | None:
        """The default that the help gives, if any."""
        if self.option.show_default:
            value = self.option.default
            values = value if isinstance(value, list | tuple) else [value]
            return " ".join(map(str, values))
        found = DOCUMENTED.search(self.option.help or "")
        return found[1] if found else None

    @property
    def explicit(self) -> list[str]:
        """The arguments that give the default explicitly."""
        documented = self.documented or ""
        of_lines = VALUES.get(documented, {"": [documented]})
        (value,) = of_lines.get(self.line, of_lines[""])
        return [self.name, value]


def cases() -> Iterator[Case]:
    for name in COMMANDS:
        if name == "bogofilter":  # its options are bogofilter's, and have no defaults
            continue
        command = nbtext.get_command(click.Context(nbtext), name)
        assert command is not None
        for option in command.params:
            if isinstance(option, click.Option) and not option.is_flag:
                for line in LINES[name]:
                    yield Case(name, line, option)


CASES: Final = list(cases())
GIVEN: Final = [
    case
    for case in CASES
    if case.documented is not None
    and case.name not in WITHOUT
    # what is counted is decided when a model is trained
    and not (case.line == "model" and case.name in ("--ngrams", "--alphabet"))
    # with --folds no model is read
    and not (case.command == "eval" and case.line != "model" and case.name == "--model")
    # only of two classes one is looked for
    and not (case.line == "three" and case.name == "--positive")
    # a line that names the model already
    and not (case.name == "--model" and "-m" in LINES[case.command][case.line])
]


def test_an_option_without_a_documented_default_is_known() -> None:
    undocumented = {case.name for case in CASES if case.documented is None}
    given_elsewhere = (MEASURED, UNSET, NO_RECORDS)
    documented = {name for name, why in WITHOUT.items() if why in given_elsewhere}

    assert undocumented == WITHOUT.keys() - documented


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with mail of three classes, a Maildir, rows and models of them."""
    folder = tmp_path_factory.mktemp("prepared")
    words = {"spam": SPAM, "ham": HAM, "work": (*HAM[4:], *SPAM[:4])}
    for label, chosen in words.items():
        (folder / label).mkdir()
        for number in range(8):
            (folder / label / f"{number}.eml").write_bytes(mail(number, chosen))
    maildir(
        folder / "Maildir",
        {f"new/{n}.x": mail(n, (SPAM, HAM)[n % 2]) for n in range(4)},
    )
    rows = [f"{label},about {word}!" for label in words for word in words[label]]
    (folder / "rows.csv").write_text("\n".join(["label,text", *rows[:16]]))
    return folder


@pytest.fixture(scope="module")
def plainly() -> dict[str, Any]:
    """What was written by a line without the option: it is run once."""
    return {}


@pytest.fixture
def written(
    prepared: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> Callable[[list[str]], tuple[Outcome, dict[str, bytes]]]:
    """Run a line in a new copy of the folder: what it prints and leaves there."""
    monkeypatch.setenv("NBTEXT_MODEL", PREPARED)
    monkeypatch.setattr("nbtext.store.appending.gmtime", lambda: (2026, 1, 1, *[0] * 6))
    monkeypatch.setattr("nbtext.cli.train_command.time.monotonic", lambda: 0.0)

    monkeypatch.setattr(_serve, "listen", lambda *how, **more: [Unopened((*how, more))])
    monkeypatch.setattr(_serve, "supervise", lambda *how: record(how[:-1]))
    if not (prepared / PREPARED).exists():
        monkeypatch.chdir(prepared)
        run("train", "-q", "spam", "ham")
        run("train", "-q", "-m", "other.nbt", "spam", "ham=work")
        run("train", "-q", "-m", "three.nbt", *THREE)
        run("train", "-q", "-m", "textbook.nbt", "--score", "sum", "spam", "ham")
        run("train", "-q", "-m", "taught.nbt", "spam", "ham")
        run("learn", "-q", "-m", "taught.nbt", "spam", "work")
        Path("model.jsonl").write_text(run("dump").out)

    def written(arguments: list[str]) -> tuple[Outcome, dict[str, bytes]]:
        folder = tmp_path / "copy"
        shutil.copytree(prepared, folder)
        monkeypatch.chdir(folder)
        message = (folder / "spam" / "0.eml").read_bytes()
        outcome = run(*arguments, stdin=message)
        files = {
            # what `filter` remembers are the inodes of this copy
            str(path): b"" if path.suffix == ".decided" else path.read_bytes()
            for path in Path().rglob("*")
            if path.is_file()
        }
        monkeypatch.chdir(tmp_path)
        shutil.rmtree(folder)
        return outcome, files

    return written


@pytest.mark.parametrize(
    "case", GIVEN, ids=[f"{case.command}-{case.line}{case.name}" for case in GIVEN]
)
def test_a_default_given_explicitly_changes_nothing(
    case: Case, written: Any, plainly: dict[str, Any]
) -> None:
    line = [case.command, *LINES[case.command][case.line]]

    if " ".join(line) not in plainly:
        plainly[" ".join(line)] = written(line)
    plain = plainly[" ".join(line)]
    explicit = written([line[0], *case.explicit, *line[1:]])

    assert plain[0].status == 0, plain[0]
    assert explicit[0] == plain[0]
    assert explicit[1].keys() == plain[1].keys()
    for path, contents in plain[1].items():
        assert explicit[1][path] == contents, path
