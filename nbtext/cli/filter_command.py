"""`nbtext filter`: sort what is new in mailboxes, once."""

import re
from time import time
from typing import Any, Final

import click

from nbtext.classes import quoted
from nbtext.cli import _completion as completion
from nbtext.cli._filter import FilterRequest, run
from nbtext.cli._options import (
    dry_run_option,
    keyed_option,
    max_bytes_option,
    model_option,
    verbose_output_options,
    wait_option,
)
from nbtext.cli._policy_options import message_policy_options
from nbtext.cli._values import share_of
from nbtext.filtering import FilterOptions

UNITS: Final = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def moment_of(text: str) -> float:
    """Return a moment in seconds of the epoch: a date, or so long ago."""
    found = re.fullmatch(r"(\d{1,6})([mhdw])", text)
    if found:
        return time() - int(found[1]) * UNITS[found[2]]
    from datetime import datetime

    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError) as error:
        message = (
            f"{quoted(text)} is not a date such as 2026-11-01, nor a time such as 7d."
        )
        raise click.BadParameter(message) from error


def pair_of(text: str) -> tuple[str, str]:
    """Return a class and what stands behind it."""
    label, _, rest = text.partition("=")
    if not (label and rest):
        message = f"{quoted(text)} has not the form CLASS=..."
        raise click.BadParameter(message)
    return label, rest


@click.command(epilog="A message is decided about once; --all does it again.")
@click.argument(
    "folders",
    nargs=-1,
    required=True,
    metavar="FOLDER...",
    shell_complete=completion.files,
)
@model_option
@keyed_option
@click.option(
    "--move",
    "moves",
    type=pair_of,
    multiple=True,
    metavar="CLASS=TARGET",
    shell_complete=completion.classes_before,
    help="Move messages of CLASS to a mailbox (.Junk is a folder of the Maildir); may "
    "be repeated.",
)
@click.option(
    "--flag",
    "flags",
    type=pair_of,
    multiple=True,
    metavar="CLASS=FLAG",
    shell_complete=completion.classes_before,
    help="Mark messages of CLASS seen, flagged, replied, passed, draft or trashed, or "
    "with a keyword; may be repeated.",
)
@click.option(
    "--min-probability",
    "least",
    type=share_of,
    metavar="P",
    help="Let messages below this probability stay [default: where the model's "
    "calibration expects 0.1 % false positives].",
)
@message_policy_options
@click.option(
    "--since",
    type=moment_of,
    metavar="WHEN",
    help="Only what was delivered since a date, such as 2026-11-01, or in the last 7d "
    "or 12h.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    help="Decide about no more than N messages.",
)
@click.option(
    "--all", "is_anew", is_flag=True, help="Decide anew about what is known, too."
)
@dry_run_option
@click.option(
    "--decided",
    metavar="FILE",
    help="Where to remember what was decided [default: the model file's name with "
    ".decided behind].",
)
@max_bytes_option
@wait_option
@verbose_output_options
@click.pass_context
def command(
    context: click.Context,
    /,
    model: str,
    moves: tuple[tuple[str, str], ...],
    since: float | None,
    is_anew: bool,
    dry_run: bool,
    decided: str | None,
    max_bytes: int,
    wait: float,
    **given: Any,
) -> int:
    """
    Sort what is new in mailboxes: move it, or mark it.

    \b
    nbtext filter ~/Maildir --move spam=.Junk
    nbtext filter ~/Maildir --flag spam=Junk --dry-run
    nbtext filter ~/mbox --move spam=~/junk.mbox

    A FOLDER is a Maildir, without the folders in it, an MH folder or an mbox. What is
    done is printed, a line a FOLDER; with --json a line a message, with --quiet none.
    """  # noqa: D301  click wants a real backspace
    if not (moves or given["flags"]):
        raise click.UsageError("Say what is to be done: --move or --flag.", context)
    if len(dict(moves)) < len(moves):
        message = "a class can be moved to one mailbox only."
        raise click.BadParameter(message, context, param_hint="'--move'")
    wanted = FilterOptions(max_bytes, wait, since, is_anew, dry_run)
    memory = decided or f"{model}.decided"
    request = FilterRequest(
        model, moves=dict(moves), memory=memory, wanted=wanted, **given
    )
    return run(request)
