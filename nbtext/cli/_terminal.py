"""
The terminal: what is drawn on it, and what problems are named there.

`nbtext.cli._streams` writes it. rich is used, and imported, only where a person looks
on.
"""

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from nbtext.cli._streams import bytes_to_stdout as bytes_to_stdout
from nbtext.cli._streams import to_stderr as to_stderr
from nbtext.cli._streams import to_stdout as to_stdout
from nbtext.document import MOST_NAMED, Unreadable

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn
    from rich.table import Table
    from rich.text import Text

    from nbtext.cli._narrow import NarrowTable
    from nbtext.counts import ReadReport
    from nbtext.document import Note, OnProblem, Skipped
    from nbtext.scoring import Model
    from nbtext.store import ModelFile


class Output(NamedTuple):
    """
    What the user wants to see.

    Attributes:
        as_json: results as JSON, for programs.
        quiet: nothing on standard error but errors and warnings.
        verbose: more than usual on standard error.
    """

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False


WIDE_PROGRESS = 72
"""Fewer columns than these have room for the most important of a progress only."""

LEAST_WIDTH = 20
"""Tables are made no narrower: a terminal that is folds them."""


def name_problems(report: "ReadReport", *, quiet: bool, is_last: bool = True) -> None:
    """
    Name what could not be read, warn, and unless quiet say what else is to be known.

    Args:
        report: what was read.
        quiet: whether to name failures and warnings only.
        is_last: False if the first failure ends the command where nothing was read; it
            is then left to be named as its error.
    """
    first = 0 if is_last or report.documents else 1
    for failure in islice(report.skipped, first, None):
        to_stderr(f"skipped: {failure.error}")
    cut_short = CutShort(quiet=quiet)
    for name in report.truncated:
        cut_short.name(name)
    cut_short.name_rest()
    for remark in report.notes:
        note(remark, quiet=quiet)


def report_handler(
    skipped: "Skipped", *, quiet: bool
) -> "Callable[[ReadReport], None]":
    """Return what names the problems of a report, and gathers what was skipped."""

    def on_read(report: "ReadReport") -> None:
        skipped.extend(report.skipped)
        name_problems(report, quiet=quiet, is_last=False)

    return on_read


def then_busy(
    tell: "Callable[[ReadReport], None]", shown: "Shown | None", doing: str
) -> "Callable[[ReadReport], None]":
    """Return what tells of what was read, and shows what is done with it from then."""

    def on_read(report: "ReadReport") -> None:
        tell(report)
        if shown is not None:
            shown.busy(f"{doing} {report.documents:,} documents")

    return on_read


def note(remark: "Note", *, quiet: bool = False) -> None:
    """Print a warning about a source, or unless quiet a note."""
    if remark.is_warning:
        to_stderr(f"WARNING: {remark.text}")
    elif not quiet:
        to_stderr(f"note: {remark.text}")


def name_losses(opened: "Model | ModelFile") -> None:
    """Print what of a model is lost, if anything is."""
    for text in opened.warnings:
        to_stderr(f"WARNING: {text}")


def name_notes(opened: "Model | ModelFile", *, quiet: bool = False) -> None:
    """Print what of a model is lost, and unless quiet what else is to be known."""
    name_losses(opened)
    say_notes(*opened.notes, quiet=quiet)


def say_notes(*texts: str, quiet: bool) -> None:
    """Print what is to be known, unless quiet; an empty text is none."""
    for text in () if quiet else filter(None, texts):
        to_stderr(f"note: {text}")


class Naming:
    """Names documents on standard error: the first ones each, the rest by number."""

    def __init__(self, what: str, *, quiet: bool = False) -> None:
        self._what = what
        self._quiet = quiet
        self._documents = 0

    def say(self, line: str) -> None:
        """Write a line about one more document, unless there were many."""
        self._documents += 1
        if self._documents <= MOST_NAMED and not self._quiet:
            to_stderr(f"{self._what}: {line}")

    def name_rest(self) -> None:
        """Say how many documents were not named."""
        rest = self._documents - MOST_NAMED
        if rest > 0 and not self._quiet:
            to_stderr(f"{self._what}: {rest:,} more")


class CutShort(Naming):
    """Names documents whose rest was not read."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__("cut short", quiet=quiet)

    def name(self, name: str) -> None:
        """Say that the rest of a document was not read."""
        self.say(f"{name} is longer than --max-bytes; its rest was not read")


def ignored(_: object) -> None:
    """Say nothing of what others are told of."""


def is_watched(stream: Any) -> bool:
    """Return whether a person looks on at a stream, on a terminal that can draw."""
    if stream is None:  # this process was started without it
        return False
    return bool(stream.isatty()) and os.environ.get("TERM") != "dumb"


def show(results: Iterable["NarrowTable | Table | Text"]) -> None:
    """Draw on standard output, escaping what the terminal's charset lacks."""
    from rich.console import Console
    from rich.text import Text

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    console = Console(file=sys.stdout, highlight=False)
    console.width = max(console.width, LEAST_WIDTH)
    for result in results:
        is_line = isinstance(result, Text)  # the terminal itself wraps lines
        console.print(result, soft_wrap=is_line)


@contextmanager
def progress(
    *, quiet: bool, total: Callable[[], int | None] = lambda: None
) -> Iterator["Shown | None"]:
    """
    Draw on standard error how far reading has come, if a person looks on.

    Args:
        quiet: whether to draw nothing.
        total: returns how many bytes there are to read, None if that is not known.
    """
    if quiet or not is_watched(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        FileSizeColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    n_bytes = total()
    console = Console(file=sys.stderr)
    # else a shell that Ctrl-Z or a kill goes back to would have no cursor
    console.show_cursor = lambda show=True: False  # type: ignore[method-assign]
    text = TextColumn("{task.fields[text]}")
    columns: list[ProgressColumn] = [text]
    is_wide = console.width >= WIDE_PROGRESS
    if n_bytes:
        columns += [BarColumn(20)] if is_wide else []
        columns += [TaskProgressColumn()]
    else:
        columns += [FileSizeColumn()]
    if is_wide:
        columns = [SpinnerColumn(), *columns, TimeElapsedColumn()]
    if n_bytes:
        remaining = TimeRemainingColumn()
        remaining.max_refresh = 0  # else what was left to read is left of the folds
        columns += [TextColumn("left"), remaining]
    # no refreshing thread: processes are forked while this is on the screen
    bar = Progress(*columns, console=console, transient=True, auto_refresh=False)
    with bar:
        yield Shown(bar, text, n_bytes)


class Shown:
    """A line that tells how far reading, and then scoring folds, has come."""

    def __init__(
        self, bar: "Progress", text: "ProgressColumn", n_bytes: int | None
    ) -> None:
        self._bar = bar
        self._text = text
        self._documents = 0
        self._task = bar.add_task("", total=n_bytes or None, text="0 documents")

    def __call__(self, more: int, size: int) -> None:
        """Show that so many more documents and bytes were read."""
        self._documents += more
        text = f"{self._documents:,} documents"
        self._bar.update(self._task, advance=size, text=text, refresh=True)

    def busy(self, text: str) -> None:
        """Show what is done once all is read; nobody knows how long it takes."""
        self._bar.columns = (self._text,)
        self._bar.update(self._task, text=text, refresh=True)

    def trial(self, done: int, trials: int) -> None:
        """Show that so many trials are done, likewise."""
        self.fold(done, trials, noun="trial")

    def step(self, done: int, documents: int) -> None:
        """Show that so many documents of a replay are judged, likewise."""
        self.fold(done, documents, noun="document")

    def fold(self, done: int, folds: int, noun: str = "fold") -> None:
        """Show that so many folds are done, in place of what was read."""
        text = f"{noun} {min(done + 1, folds)} of {folds}"
        if not done:
            self._bar.reset(self._task, total=folds, text=text)
        self._bar.update(self._task, completed=done, text=text, refresh=True)


def problem_handler(failures: "Skipped", *, quiet: bool) -> "OnProblem":
    """Return what names each document that cannot be read, and gathers them."""

    def on_problem(problem: "Unreadable | Note") -> None:
        if isinstance(problem, Unreadable):
            if failures.add(problem):
                to_stderr(f"skipped: {problem.error}")
        else:
            note(problem, quiet=quiet)

    return on_problem


def name_rest(failures: "Skipped") -> None:
    """Say how many documents could not be read that were not named."""
    for failure in failures.unnamed:
        to_stderr(f"skipped: {failure.error}")
