"""
The files of reports: whether they can be written, and writing them.

An evaluation may take hours. So what can be known of a file is known before it, and
what fails after it costs no figure: the errors of all files are one, to be raised when
the results are printed.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from nbtext.classes import quoted
from nbtext.errors import ReportError, advice_on

if TYPE_CHECKING:
    from nbtext.evaluation import Evaluation
    from nbtext.scoring.top import TopTerm

ADVICE: Final = "name another file with --report"


def check_kinds(
    _context: click.Context, _option: click.Parameter, paths: tuple[str, ...]
) -> tuple[str, ...]:
    """Refuse a file of another kind before anything is measured."""
    if not paths:
        return paths
    from nbtext.report import SUFFIXES

    for path in paths:
        if Path(path).suffix.lower() not in SUFFIXES:
            known = ", ".join(SUFFIXES)
            message = f"{quoted(path)} is not a file of one of the kinds {known}."
            raise click.BadParameter(message)
    return paths


def check_places(paths: Sequence[str], read: Sequence[str]) -> None:
    """
    Refuse, before anything is measured, a file that cannot be made or must not be.

    Args:
        paths: the files.
        read: the files and folders that are read: documents and models.

    Raises:
        ReportError: its place is no file, its folder cannot be written to, it is there
            and one of what is read, or another report is to go there.
    """
    for place, path in enumerate(paths):
        own = os.path.realpath(path)
        reason = _obstacle(own)
        if own in map(os.path.realpath, paths[:place]):
            reason = "another report is to go there"
        elif reason is None and any(_holds(one, own) for one in read):
            reason = "it is there, and among what is read"
        if reason is not None:
            message = f"{path}: the report cannot be written: {reason}; {ADVICE}"
            raise ReportError(message)


def _holds(read: str, target: str) -> bool:
    """Return whether a file is there and is what is read, or lies in it."""
    try:
        is_same = Path(read).samefile(target)
    except (OSError, ValueError):  # one of the two is not there
        return False
    return is_same or target.startswith(os.path.realpath(read) + os.sep)


def _obstacle(target: str) -> str | None:
    """Return why a file cannot be made, None if that cannot be seen."""
    path = Path(target)
    if os.path.lexists(path) and not path.is_file():
        return "a file was expected, and a folder or device found"
    folder = path.parent
    while not os.path.lexists(folder):  # folders that are not there are made
        folder = folder.parent
    if not folder.is_dir():
        return f"{folder} is no folder"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"nothing can be written to the folder {folder}"
    return None


def write_reports(
    result: "Evaluation", paths: Sequence[str], terms: "Sequence[TopTerm]"
) -> ReportError | None:
    """Write each report, whole or not at all; return what has failed, if anything."""
    failures = [*filter(None, (_write(result, path, terms) for path in paths))]
    if not failures:
        return None
    return ReportError(f"{'; '.join(failures)}; {ADVICE}")


def _write(result: "Evaluation", path: str, terms: "Sequence[TopTerm]") -> str | None:
    """Write one report; return what has failed."""
    from nbtext.files import replace_file
    from nbtext.report import report_pieces

    pieces = report_pieces(result, path, terms)
    try:
        replace_file(path, (piece.encode() for piece in pieces))
    except OSError as error:
        reason = f"{path}: the report cannot be written: {error.strerror or error}"
        return f"{reason}{advice_on(error, path)}"
    return None
