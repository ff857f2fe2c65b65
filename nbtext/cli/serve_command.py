"""`nbtext serve`: classify for the clients of SpamAssassin's spamd."""

from typing import Any, Final

import click

from nbtext.classes import quoted
from nbtext.cli import _completion as completion
from nbtext.cli import _status as status
from nbtext.cli._options import keyed_option, model_option, quiet_option, wait_option
from nbtext.cli._places import with_home
from nbtext.cli._policy_options import message_policy_options
from nbtext.cli._values import bytes_of, seconds_of

MOST: Final = 256 << 20


def mode_of(text: str) -> int:
    """Return the mode of a file, from its octal digits."""
    digits = text.removeprefix("0o")
    if not (1 <= len(digits) <= 4 and set(digits) <= set("01234567")):
        message = f"{quoted(text)} is not a mode such as 600 or 660."
        raise click.BadParameter(message)
    return int(digits, 8) & 0o777


def size_of(text: str) -> int:
    """Return the size of a message, of which spamc sends no larger ones either."""
    size = bytes_of(text)
    if size > MOST:
        message = f"{quoted(text)} is more than 256M, the largest message of spamc."
        raise click.BadParameter(message)
    return size


def patience_of(text: str) -> float:
    """Return how long a client may take; with none at all nobody would be served."""
    seconds = seconds_of(text)
    if not seconds:
        message = f"{quoted(text)} leaves clients no time."
        raise click.BadParameter(message)
    return seconds


@click.command(epilog="It ends at SIGTERM, and reads the model again at SIGHUP.")
@model_option
@keyed_option
@click.option(
    "--listen",
    "addresses",
    multiple=True,
    default=["localhost:783"],
    show_default=True,
    metavar="ADDRESS",
    help="HOST:PORT or unix:PATH; may be repeated.",
)
@click.option(
    "--socket-mode",
    "mode",
    type=mode_of,
    default="600",
    show_default=True,
    metavar="OCTAL",
    help="Who may connect to a Unix socket.",
)
@click.option(
    "--allow",
    "networks",
    multiple=True,
    metavar="NETWORK",
    help="Serve clients of this network, too, and not of this machine only; may be "
    "repeated.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    metavar="N",
    help="How many processes classify.",
)
@click.option(
    "--max-size",
    type=size_of,
    default="4M",
    show_default=True,
    metavar="SIZE",
    help="Refuse messages that are longer.",
)
@click.option(
    "--timeout",
    type=patience_of,
    default="60",
    show_default=True,
    metavar="SECONDS",
    help="How long a client may take to send its request, and to take the answer.",
)
@click.option(
    "--spam-class",
    "spam",
    metavar="CLASS",
    shell_complete=completion.classes,
    help="The class that clients are told is spam [default: spam].",
)
@click.option(
    "--ham-class",
    "ham",
    metavar="CLASS",
    shell_complete=completion.classes,
    help="The class that `spamc -L ham` teaches [default: ham, else the other of two].",
)
@message_policy_options
@click.option(
    "--allow-tell",
    "may_tell",
    is_flag=True,
    help="Let all clients teach the model, and not only those of a Unix socket whose "
    "folder you alone can enter.",
)
@click.option(
    "--users",
    type=with_home,
    metavar="FOLDER",
    shell_complete=completion.files,
    help="Answer for a user whom a client names (`spamc -u NAME`) by the model "
    "FOLDER/NAME.nbt, and teach that, if it is there.",
)
@click.option(
    "--trust-names",
    "trusts_names",
    is_flag=True,
    help="With --users and --allow-tell, let a client over TCP teach the model of any "
    "user that it names: nobody knows who it is.",
)
@wait_option
@quiet_option
def command(**given: Any) -> int:
    """
    Classify mail for spamc and other clients of spamd.

    \b
    nbtext serve
    nbtext serve --listen localhost:783 --listen unix:/run/nbtext/socket --workers 2
    nbtext serve --listen 192.0.2.1:783 --allow 192.0.2.0/24

    The protocol is that of SpamAssassin's spamd: 5.0 points are spam, and 2.5 more
    stand for odds ten times as high. `spamc -L` teaches the model, and a model that has
    changed is read again. Standard error has a line a request.
    """  # noqa: D301  click wants a real backspace
    from nbtext.cli._serve import ServeRequest, run

    run(ServeRequest(**given))
    return status.DONE
