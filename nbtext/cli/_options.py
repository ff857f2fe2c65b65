"""
Options that several commands share.

A group of options reaches its command as one value: `@source_options` gives it
`options`, and `@output_options` gives it `output`. An option stands here and in the
class of that value, and nowhere else. Those of scores are in
`nbtext.cli._scoring_options`.
"""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import click

from nbtext.classes import quoted
from nbtext.cli import _completion as completion
from nbtext.cli import _status as status
from nbtext.cli._option_groups import Decorator, option_group
from nbtext.cli._places import default_model, with_home
from nbtext.cli._terminal import Output, to_stderr
from nbtext.cli._values import (
    bytes_of,
    delimiter_of,
    each_not_empty,
    not_empty,
    seconds_of,
)
from nbtext.keyring import name_secret
from nbtext.sources import FORMATS, Options, listed
from nbtext.store.lock import WAIT

MAX_BYTES: Final = "16M"

GIVEN: Final = (
    click.core.ParameterSource.COMMANDLINE,
    click.core.ParameterSource.DEFAULT_MAP,  # in front of the command
)
"""Where the user's own word for an option comes from."""

MODEL_HELP: Final = (
    "The model file [default: $NBTEXT_MODEL, else $XDG_DATA_HOME/nbtext/model.nbt]. "
    "`classify` and `eval` take several, which decide together."
)


def _one_model(
    context: click.Context, option: click.Parameter, paths: tuple[str, ...]
) -> str:
    """Refuse two models, of which one would be left out without a word."""
    given = _models(context, option, paths)
    if len(given) > 1:
        message = f"{quoted(given[1])} is a second model beside {quoted(given[0])}."
        raise click.BadParameter(message)
    return given[0]


def _models(
    context: click.Context, option: click.Parameter, paths: tuple[str, ...]
) -> tuple[str, ...]:
    return tuple(map(with_home, each_not_empty(context, option, paths)))


def _model_option(callback: Callable[..., Any]) -> Decorator[Any]:
    """Return the option of the model; of several, a callback makes the value."""
    return click.option(
        "-m",
        "--model",
        metavar="FILE",
        multiple=True,
        default=lambda: (default_model(),),
        callback=callback,
        is_eager=True,  # an argument may take its place
        shell_complete=completion.models,
        help=MODEL_HELP,
    )


model_option = _model_option(_one_model)
models_option = _model_option(_models)


def _as_model(
    context: click.Context, argument: click.Parameter, path: str | None
) -> None:
    """Take an argument for the model."""
    not_empty(context, argument, path)
    if path is None:
        return
    source = context.get_parameter_source("model")
    if source in GIVEN:
        message = f"{quoted(path)} is a second model beside that of --model."
        raise click.BadParameter(message)
    context.params["model"] = path


def named_model(command: Callable[..., Any]) -> Any:
    """Add the model to a command that has no sources: as an argument, or an option."""
    argument = click.argument(
        "named", metavar="[FILE]", required=False, callback=_as_model,
        expose_value=False, shell_complete=completion.models,
    )  # fmt: skip
    return argument(model_option(command))


AGAINST_HELP: Final = (
    "Compare with FILE: of `why` another document, of `eval` another model on the same "
    "documents."
)


def _name_secret(
    _context: click.Context, _option: click.Parameter, path: str | None
) -> str | None:
    if path is not None:
        name_secret(path)
    return path


KEYED_HELP: Final = (
    "The secret of a keyed model [default: $NBTEXT_KEYED]. A new model is keyed if "
    "this is given, and the file made if it is not there."
)

keyed_option = click.option(
    "--keyed",
    metavar="FILE",
    callback=_name_secret,
    help=KEYED_HELP,
)
"""The secret of a model that is only read: `keyed`."""

new_keyed_option = click.option("--keyed", metavar="FILE", help=KEYED_HELP)
"""That of a model that may be made."""

max_bytes_option = click.option(
    "--max-bytes",
    type=bytes_of,
    default=MAX_BYTES,
    show_default=True,
    metavar="SIZE",
    help="Read no more than this of a document.",
)

source_options = option_group(
    "options",
    Options,
    click.option(
        "--format",
        type=click.Choice(FORMATS),
        default="auto",
        show_default=True,
        help="What the sources are; mail and text make each file one document.",
    ),
    click.option(
        "--delimiter",
        type=delimiter_of,
        metavar="CHAR",
        help="What is between the columns of a table, such as ';' or tab, if it is not "
        "what the first lines show.",
    ),
    click.option(
        "--label-column",
        metavar="COLUMN",
        help="The column of a row's label, by name or number (from 1).",
    ),
    click.option(
        "--text-column",
        "text_columns",
        multiple=True,
        metavar="COLUMN",
        help="A column to read, by name or number; may be repeated.",
    ),
    click.option(
        "--categorical-column",
        "categorical_columns",
        multiple=True,
        metavar="COLUMN",
        help="A column of categories, whose values are counted whole; likewise.",
    ),
    click.option(
        "--numeric-column",
        "numeric_columns",
        multiple=True,
        metavar="COLUMN",
        help="A column of numbers; likewise.",
    ),
    click.option(
        "--id-column",
        metavar="COLUMN",
        help="The column of a row's id, by name or number: it is printed with the row, "
        "and tells that it was learnt before.",
    ),
    max_bytes_option,
)
"""How sources are read: `options`."""


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, for programs."
)
quiet_option = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    help="Say nothing on standard error but errors and warnings.",
)
_VERBOSE = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Say more, such as which model file is used.",
)

output_options = option_group("output", Output, json_option, quiet_option)
"""What is printed: `output`."""

verbose_output_options = option_group(
    "output", Output, json_option, quiet_option, _VERBOSE
)
"""What is printed, with --verbose: `output`."""

message_output_options = option_group("output", Output, quiet_option, _VERBOSE)
"""What is printed where results are no lines: `output`."""

memory_option = click.option(
    "--memory",
    type=bytes_of,
    metavar="SIZE",
    help="About how much memory counts may take, such as 512M; what is more goes to "
    "the temporary folder (TMPDIR) [default: half of what there is].",
)


def within_memory(command: Callable[..., Any]) -> Any:
    """Add the bound on memory to a command, which is carried out within it."""

    @wraps(command)
    def bound(*arguments: Any, memory: int | None, **values: Any) -> Any:
        if memory is None:
            return command(*arguments, **values)
        from nbtext.counts.room import bounded

        with bounded(memory):
            return command(*arguments, **values)

    return memory_option(bound)


jobs_option = click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    metavar="N",
    help="How many processes, or threads, read and score documents.",
)

cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    callback=not_empty,
    help="Have a Dask cluster do the work: that of the scheduler at tcp://HOST:PORT. "
    "It must read the sources by the same paths. Takes nbtext[dask].",
)

shared_option = click.option(
    "--shared",
    metavar="FOLDER",
    callback=not_empty,
    help="With --cluster, the folder where its workers put what they have counted, if "
    "not that of the model; all of them must see it.",
)


def check_cluster(
    cluster: str | None, shared: str | None, given: dict[str, bool]
) -> None:
    """
    Refuse what a cluster does not do.

    Args:
        cluster: the address of its scheduler, None if it has no part in it.
        shared: the folder that its workers see, if it was named.
        given: the options that it does not support, and whether they are given.

    Raises:
        UsageError: it was asked for.
    """
    if cluster is None:
        if shared is not None:
            message = "--shared is for --cluster."
            raise click.UsageError(message)
        return
    for name, is_given in given.items():
        if is_given:
            message = f"{name} is for work on this machine; leave out --cluster."
            raise click.UsageError(message)


wait_option = click.option(
    "--wait",
    type=seconds_of,
    default=f"{WAIT:g}",
    show_default=True,
    metavar="SECONDS",
    help="Wait so long while another process writes; then exit with 75.",
)

dry_run_option = click.option(
    "-n",
    "--dry-run",
    is_flag=True,
    help="Only say what would be done; change nothing.",
)

replace_option = click.option(
    "--replace",
    is_flag=True,
    help="Replace a model even if it was taught since it was trained.",
)

approximate_option = click.option(
    "--approximate",
    is_flag=True,
    help="Of documents older than a `prune`, take away what it has left of them.",
)

frozen_idf_option = click.option(
    "--frozen-idf",
    is_flag=True,
    help="Change a model of --score tfidf, its idf kept as it was trained.",
)


def sources_argument(*, is_required: bool = False) -> Decorator[Any]:
    """
    Return a decorator that adds sources to a command, named on its line or in files.

    Args:
        is_required: whether the command does not read standard input without any.
    """
    argument = click.argument(
        "sources",
        nargs=-1,
        metavar="SOURCES..." if is_required else "[SOURCES]...",
        shell_complete=completion.files,
    )
    lists = click.option(
        "--files-from",
        "lists",
        multiple=True,
        metavar="FILE",
        shell_complete=completion.files,
        help="Read names of sources from FILE, one a line, or from standard input (-); "
        "LABEL=FILE gives all of them a label. May be repeated.",
    )
    null = click.option(
        "-0",
        "--null",
        "is_null",
        is_flag=True,
        help="Names in --files-from end in a NUL byte, as `find -print0` writes them.",
    )

    def add(command: Callable[..., Any]) -> Any:
        @wraps(command)
        def gathered(
            *arguments: Any,
            sources: tuple[str, ...],
            lists: tuple[str, ...],
            is_null: bool,
            **values: Any,
        ) -> Any:
            if is_null and not lists:
                message = "--null is for --files-from."
                raise click.UsageError(message)
            named = (*sources, *listed(lists, is_null=is_null))
            if "-" in [name.rpartition("=")[2] for name in named] and "-" in [
                path.rpartition("=")[2] for path in lists
            ]:
                message = "'-' is read for the names, and cannot be a source, too."
                raise click.UsageError(message)
            if named or not (lists or is_required):
                return command(*arguments, sources=named, **values)
            if is_required:
                message = "Missing argument 'SOURCES...'."
                raise click.UsageError(message)
            if not values.get("quiet"):
                to_stderr("note: --files-from names no source; there is nothing to do")
            return status.DONE

        return argument(lists(null(gathered)))

    return add


def needs_sources(
    context: click.Context, sources: tuple[str, ...], what: str = "a document"
) -> None:
    """
    Refuse to wait for input that could only be typed by hand.

    Raises:
        click.UsageError: there is no source, and standard input is a terminal.
    """
    if not sources and sys.stdin is not None and sys.stdin.isatty():
        message = f"Name a source, or pipe {what} in."
        raise click.UsageError(message, context)
