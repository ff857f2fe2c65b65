"""
Options that several commands share.

A group of options reaches its command as one value: `@source_options` gives it
`options`, `@scoring_options` and `@training_options` give it `overrides`, and
`@output_options` gives it `output`. An option stands here and in the class of that
value, and nowhere else.
"""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar

import click

from nbtext.classes import quoted
from nbtext.cli import _completion as completion
from nbtext.cli import _status as status
from nbtext.cli._help import LateHelp
from nbtext.cli._places import default_model
from nbtext.cli._terminal import Output, to_stderr
from nbtext.errors import SettingsError
from nbtext.keyring import name_secret
from nbtext.learning import SettingsOverrides
from nbtext.scoring import event_models
from nbtext.scoring.attributes.parameters import BY_KIND
from nbtext.scoring.models.registry import (
    DEFAULT_FOR_MAIL,
    DEFAULT_FOR_MORE,
    DEFAULT_FOR_TEXT,
    MODULES,
    rival_of,
)
from nbtext.settings.columns import LEVELS
from nbtext.settings.scoring import (
    COUNTINGS,
    NO_PRIOR,
    SHARES,
    SKIP,
    UNIFORM,
    UNK,
    dirichlet_documents,
)
from nbtext.sources import FORMATS, Options, is_delimiter, listed
from nbtext.store.lock import WAIT

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Command], Command]

MAX_BYTES: Final = "16M"
LARGEST_SIZE: Final = 1 << 50
"""Maximum size that an option takes, in bytes."""

LONGEST_WAIT: Final = 1e9
"""Maximum number of seconds that an option takes."""


def bytes_of(size: str) -> int:
    """Return a number of bytes, perhaps written with k, M or G (1024 each)."""
    text = size.strip()
    factor = {"k": 10, "m": 20, "g": 30}.get(text[-1:].lower(), 0)
    digits = (text[:-1] if factor else text).lstrip("0")
    if not (digits.isascii() and digits.isdigit()):
        message = f"{quoted(size)} is not a size such as 500k, 16M or 1048576."
        raise click.BadParameter(message)
    if len(digits) > 16 or int(digits) << factor > LARGEST_SIZE:
        message = (
            f"{quoted(size)} is more than {LARGEST_SIZE >> 30}G, the largest size."
        )
        raise click.BadParameter(message)
    return int(digits) << factor


def share_of(text: str) -> float:
    """Return a probability, from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:  # nor is NaN
        message = f"{quoted(text)} is not a probability from 0 to 1."
        raise click.BadParameter(message)
    return value


def parameter_of(text: str) -> tuple[str, float]:
    """Return a parameter of an event model: its name and its value."""
    name, _, number = text.partition("=")
    try:
        value = float(number)
    except ValueError:
        value = -1.0
    if not name.isidentifier() or not 0 <= value < LONGEST_WAIT:
        message = f"{quoted(text)} is not a name and a number, such as min_evidence=1."
        raise click.BadParameter(message)
    return name, value


def names_of(text: str) -> tuple[str, ...]:
    """Return names with commas between them."""
    return tuple(filter(None, (name.strip() for name in text.split(","))))


def delimiter_of(text: str) -> str:
    """Return what is between two columns: one character, or a tab by its name."""
    found = "\t" if text in ("tab", "\\t") else text
    if not is_delimiter(found):
        message = f"{quoted(text)} is not one ASCII character, such as ';', nor 'tab'."
        raise click.BadParameter(message)
    return found


def seconds_of(text: str) -> float:
    """Return a number of seconds, zero or more."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < LONGEST_WAIT:  # nor is NaN
        message = f"{quoted(text)} is not a number of seconds."
        raise click.BadParameter(message)
    return value


def option_group(
    name: str, gather: Callable[..., Any], *options: Decorator[Any]
) -> Decorator[Any]:
    """
    Return a decorator that adds options to a command and hands it one value of them.

    Args:
        name: the command's parameter.
        gather: makes the value; its keywords are the names of the options.
        options: what `click.option` returns, in the order of the help.

    """
    probe = click.command()(_with(options, lambda **_: None))
    names = [param.name for param in probe.params]

    def add(command: Callable[..., Any]) -> Any:
        @wraps(command)
        def gathered(*arguments: Any, **values: Any) -> Any:
            own = {key: values.pop(key) for key in names}
            return command(*arguments, **values, **{name: gather(**own)})

        return _with(options, gathered)

    return add


def _with(
    options: tuple[Decorator[Any], ...], command: Callable[..., Any]
) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command


def not_empty(
    _context: click.Context, _option: click.Parameter, path: str | None
) -> str | None:
    """Refuse an empty path, as an empty variable of the shell makes it."""
    if path is not None and not path:
        message = "it is empty; name a file, or leave it out."
        raise click.BadParameter(message)
    return path


def each_not_empty(
    context: click.Context, option: click.Parameter, paths: tuple[str, ...]
) -> tuple[str, ...]:
    """Refuse an empty path among several."""
    for path in paths:
        not_empty(context, option, path)
    return paths


MODEL_HELP: Final = (
    "The model file [default: $NBTEXT_MODEL, else $XDG_DATA_HOME/nbtext/model.nbt]. "
    "`classify` and `eval` take several, which decide together."
)

model_option = click.option(
    "-m",
    "--model",
    metavar="FILE",
    default=default_model,
    callback=not_empty,
    is_eager=True,  # an argument may take its place
    shell_complete=completion.models,
    help=MODEL_HELP,
)


models_option = click.option(
    "-m",
    "--model",
    metavar="FILE",
    multiple=True,
    default=lambda: (default_model(),),
    callback=each_not_empty,
    is_eager=True,
    shell_complete=completion.models,
    help=MODEL_HELP,
)


def _as_model(
    context: click.Context, argument: click.Parameter, path: str | None
) -> None:
    """Take an argument for the model."""
    not_empty(context, argument, path)
    if path is None:
        return
    source = context.get_parameter_source("model")
    if source is click.core.ParameterSource.COMMANDLINE:
        message = f"{quoted(path)} is a second model beside that of --model."
        raise click.BadParameter(message)
    context.params["model"] = path


def named_model(command: Command) -> Command:
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


def _name_secret(_context: click.Context, _option: click.Parameter, path: str) -> None:
    if path is not None:
        name_secret(path)


KEYED_HELP: Final = (
    "The secret of a keyed model [default: $NBTEXT_KEYED]. A new model is keyed if "
    "this is given, and the file made if it is not there."
)

keyed_option = click.option(
    "--keyed",
    metavar="FILE",
    callback=_name_secret,
    expose_value=False,
    help=KEYED_HELP,
)
"""The secret of a model that is only read."""

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
        help="The column of a row's identity, by name or number.",
    ),
    max_bytes_option,
)
"""How sources are read: `options`."""


def _class_prior_of(
    _context: click.Context, _option: click.Parameter, prior: str | None
) -> str | None:
    """Refuse what is no class prior."""
    if prior is not None and prior not in (SHARES, UNIFORM, NO_PRIOR):
        try:
            dirichlet_documents(prior)
        except SettingsError as error:
            raise click.BadParameter(f"{error}.") from error
    return prior


_SCORING = (
    click.option(
        "--score",
        cls=LateHelp,
        type=click.Choice(list(MODULES)),
        tell=lambda: (
            "How terms make a score: "
            + "; ".join(f"{model.name}, {model.about}" for model in event_models())
            + f" [default: {DEFAULT_FOR_MAIL} for two classes of mail, "
            f"{DEFAULT_FOR_TEXT} of text ({rival_of(DEFAULT_FOR_TEXT)} where it is "
            f"found to be better), {DEFAULT_FOR_MORE} for more]."
        ),
    ),
    click.option(
        "--smoothing",
        cls=LateHelp,
        type=click.FloatRange(1e-9, 1e9),
        metavar="A",
        tell=lambda: (
            "Added to every count [default: "
            + ", ".join(f"{model.smoothing:g} {model.name}" for model in event_models())
            + "]."
        ),
    ),
    click.option(
        "--count",
        "counting",
        type=click.Choice(COUNTINGS),
        metavar="HOW",
        help="What a token that occurs n times counts: n (occurrences), 1 (once), "
        f"ln(1 + n) (log), or min(n, K) ({COUNTINGS[3]} to {COUNTINGS[-1]}) [default: "
        "occurrences].",
    ),
    click.option(
        "--calibrate",
        is_flag=True,
        help="Fit a textbook's posterior, such as that of sum, to held-out documents; "
        "other scores always are.",
    ),
    click.option(
        "--class-prior",
        metavar="PRIOR",
        callback=_class_prior_of,
        help="What a textbook's score takes for the probability of a class before any "
        "token: its share of the documents (shares), the same for all (uniform), its "
        "share with A documents more in each class (dirichlet:A), or nothing (none) "
        "[default: shares].",
    ),
    click.option(
        "--unknown",
        type=click.Choice([SKIP, UNK]),
        help="What tokens count that the model does not know: nothing (skip), or, in "
        "the scores sum and poisson, as one term whose probability is learnt from "
        "those that were seen once (unk) [default: skip].",
    ),
    click.option(
        "--levels",
        type=click.IntRange(2, len(LEVELS) + 2),
        metavar="K",
        help="How many numbers of occurrences the kary score tells apart: none, once, "
        f"... and K - 1 or more; from 2 to {len(LEVELS) + 2}, else 3.",
    ),
    click.option(
        "--category-smoothing",
        type=click.FloatRange(0, 1e9),
        metavar="L",
        help="Added to the count of each value of a category "
        f"[default: {BY_KIND['value'].default:g}].",
    ),
    click.option(
        "--variance-smoothing",
        type=click.FloatRange(0, 1),
        metavar="SHARE",
        help="The share of the largest variance of any column of numbers that is added "
        f"to all [default: {BY_KIND['number'].default:g}].",
    ),
)

scoring_options = option_group("overrides", SettingsOverrides, *_SCORING)
"""How documents are scored: `overrides`."""

training_options = option_group(
    "overrides",
    SettingsOverrides,
    click.option(
        "--ngrams",
        type=click.IntRange(1, 2),
        metavar="N",
        help="1 counts single tokens alone, 2 pairs of neighbours too [default: 2].",
    ),
    click.option(
        "--byte-ngrams/--no-byte-ngrams",
        default=True,
        help="Whether to count all runs of five bytes of text, too; they are not "
        "counted of mail, nor with --ngrams 1 or --pattern.",
    ),
    click.option(
        "--alphabet",
        type=click.Choice(["words", "marks"]),
        help="Tokens of the text: words only, or words and punctuation marks "
        "[default: marks, but words for more than two classes of text].",
    ),
    click.option(
        "--pattern",
        metavar="REGEX",
        help="Tokens of the text are the matches of this regular expression, or of its "
        "one group; of mail, in the body.",
    ),
    *_SCORING,
    click.option(
        "--parameter",
        "parameters",
        multiple=True,
        type=parameter_of,
        metavar="NAME=X",
        help="A number of the score's own, such as min_evidence=1; may be repeated.",
    ),
    click.option(
        "--views",
        type=names_of,
        metavar="NAME,...",
        default="",
        help="Count only these views; `info` names those of a model.",
    ),
    click.option(
        "--no-correction",
        "correction",
        flag_value=False,
        type=bool,
        default=True,
        help="Keep pure counts: learn no correction of the scores beside them.",
    ),
)
"""What is counted, and how documents are scored: `overrides`."""

_JSON = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, for programs."
)
_QUIET = click.option(
    "-q", "--quiet", is_flag=True, help="Say nothing on standard error but errors."
)
_VERBOSE = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Say more, such as which model file is used.",
)

json_option = _JSON
quiet_option = _QUIET

output_options = option_group("output", Output, _JSON, _QUIET)
"""What is printed: `output`."""

verbose_output_options = option_group("output", Output, _JSON, _QUIET, _VERBOSE)
"""What is printed, with --verbose: `output`."""

message_output_options = option_group("output", Output, _QUIET, _VERBOSE)
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
