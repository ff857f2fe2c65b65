"""Options that several commands share, and what they stand for."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from nbtext.cli import _status as status
from nbtext.cli._places import default_model
from nbtext.cli._terminal import to_stderr
from nbtext.settings import Settings, default_settings
from nbtext.sources import FORMATS, Options, documents
from nbtext.store.lock import WAIT

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from nbtext.document import Item
    from nbtext.settings import Alphabet, Format

Command = TypeVar("Command", bound=Callable[..., Any])

MAX_BYTES = "16M"
LONGEST_WAIT = 1e9


def bytes_of(size: str) -> int:
    """Return a number of bytes, perhaps written with k, M or G (1024 each)."""
    text = size.strip()
    factor = {"k": 10, "m": 20, "g": 30}.get(text[-1:].lower(), 0)
    digits = text[:-1] if factor else text
    if not (digits.isascii() and digits.isdigit() and int(digits[:12])):
        message = f"{size!r} is not a size such as 500k, 16M or 1048576."
        raise click.BadParameter(message)
    return int(digits[:12]) << factor


def share_of(text: str) -> float:
    """Return a probability, from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:  # nor is NaN
        message = f"{text!r} is not a probability from 0 to 1."
        raise click.BadParameter(message)
    return value


def _named(_context: click.Context, _option: click.Parameter, path: str) -> str:
    if not path:
        message = "it is empty; name a file, or leave the option out."
        raise click.BadParameter(message)
    return path


def model_option(command: Command) -> Command:
    """Add the option that names the model file."""
    return click.option(
        "-m",
        "--model",
        "model",
        metavar="FILE",
        default=default_model,
        callback=_named,
        help="The model file [default: $NBTEXT_MODEL, else "
        "$XDG_DATA_HOME/nbtext/model.nbt].",
    )(command)


def source_options(command: Command) -> Command:
    """Add the options that say how sources are read."""
    for option in (
        click.option(
            "--max-bytes",
            type=bytes_of,
            default=MAX_BYTES,
            show_default=True,
            metavar="SIZE",
            help="Read no more than this of a document.",
        ),
        click.option(
            "--id-column",
            metavar="COLUMN",
            help="The column of a row's identity, by name or number.",
        ),
        click.option(
            "--text-column",
            "text_columns",
            multiple=True,
            metavar="COLUMN",
            help="A column to read, by name or number; may be repeated.",
        ),
        click.option(
            "--label-column",
            metavar="COLUMN",
            help="The column of a row's label, by name or number (from 1).",
        ),
        click.option(
            "--format",
            "format_",
            type=click.Choice(FORMATS),
            default="auto",
            show_default=True,
            help="What the sources are; mail and text make each file one document.",
        ),
    ):
        command = option(command)
    return command


def reading_options(
    format_: str,
    label_column: str | None,
    text_columns: tuple[str, ...],
    id_column: str | None,
    max_bytes: int,
) -> Options:
    """Gather what `source_options` added."""
    return Options(
        format=format_,
        label_column=label_column,
        text_columns=text_columns,
        id_column=id_column,
        max_bytes=max_bytes,
    )


def scoring_options(command: Command) -> Command:
    """Add the options that say how documents are scored."""
    for option in (
        click.option(
            "--count",
            "count_",
            type=click.Choice(["occurrences", "once"]),
            help="Whether a token that occurs n times counts n times, or once "
            "[default: occurrences].",
        ),
        click.option(
            "--smoothing",
            type=click.FloatRange(1e-9, 1e9),
            metavar="A",
            help="Added to every count [default: 0.01 mean, 1 sum, 0.03 complement].",
        ),
        click.option(
            "--score",
            type=click.Choice(["mean", "sum", "complement"]),
            help="How token probabilities make a score: mean of the telling ones (two "
            "classes), the textbook's sum, or complement naive Bayes.",
        ),
    ):
        command = option(command)
    return command


def training_options(command: Command) -> Command:
    """Add the options that say what is counted."""
    for option in (
        click.option(
            "--alphabet",
            type=click.Choice(["words", "marks"]),
            help="Tokens of the text: words only, or words and punctuation marks "
            "[default: marks for two classes, words for more].",
        ),
        click.option(
            "--ngrams",
            type=click.IntRange(1, 2),
            metavar="N",
            help="1 counts single tokens, 2 pairs of neighbours too [default: 2].",
        ),
    ):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user wants otherwise than the default settings."""

    format: "Format | None"
    ngrams: int | None
    alphabet: "Alphabet | None"
    ledger: bool
    score: str | None

    def __call__(self, settings: Settings) -> Settings:
        """Return the settings as the user wants them."""
        if self.format is not None and self.format != settings.format:
            n_classes = 3 if "weight" in settings.columns else 2
            settings = default_settings(self.format, n_classes)
        views = settings.views
        if self.ngrams is not None:
            views = tuple(
                view._replace(pairs=self.ngrams == 2)
                for view in views
                if view.tokens  # a view of pairs alone has nothing left
            )
        if self.alphabet is not None:
            views = tuple(
                view._replace(alphabet=self.alphabet)
                if view.text != "headers"
                else view
                for view in views
            )
        columns = settings.columns
        if self.score == "complement" and "weight" not in columns:
            columns = (*columns, "weight")
        return settings._replace(views=views, columns=columns, ledger=self.ledger)


def wishes(
    format_: str,
    ngrams: int | None,
    alphabet: Any,
    score: str | None,
    *,
    ledger: bool = True,
) -> Wishes:
    """Gather what `training_options` and the other options of reading ask for."""
    kind: Format | None = None
    if format_ in ("mail", "text"):
        kind = "mail" if format_ == "mail" else "text"
    return Wishes(kind, ngrams, alphabet, ledger, score)


def rereadable(
    sources: tuple[str, ...], options: Options
) -> "Callable[[], Iterable[Item]]":
    """Return what gives labelled documents, from the beginning each time."""
    stdin: Any = None
    is_piped = any(source.rpartition("=")[2] == "-" for source in sources)
    if is_piped and sys.stdin is not None:
        import tempfile
        from shutil import copyfileobj

        stdin = tempfile.TemporaryFile()  # noqa: SIM115  read until the process ends
        copyfileobj(sys.stdin.buffer, stdin)
        stdin.flush()

    def read() -> "Iterable[Item]":
        if stdin is not None:
            stdin.seek(0)
        return documents(sources, options, labelled=True, stdin=stdin)

    return read


def jobs_option(command: Command) -> Command:
    """Add the option that says how many processes read documents."""
    return click.option(
        "-j",
        "--jobs",
        type=click.IntRange(1, 256),
        default=1,
        show_default=True,
        metavar="N",
        help="How many processes read documents.",
    )(command)


def unsure_option(command: Command) -> Command:
    """Add the option that says how probable a label must be."""
    return click.option(
        "--unsure",
        "threshold",
        type=share_of,
        default="0",
        metavar="P",
        help="No label unless a class reaches this probability.",
    )(command)


def seconds_of(text: str) -> float:
    """Return a number of seconds, zero or more."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < LONGEST_WAIT:  # nor is NaN
        message = f"{text!r} is not a number of seconds."
        raise click.BadParameter(message)
    return value


def wait_option(command: Command) -> Command:
    """Add the option that says how long to wait for another writer."""
    return click.option(
        "--wait",
        type=seconds_of,
        default=f"{WAIT:g}",
        show_default=True,
        metavar="SECONDS",
        help="Wait so long while another process writes; then exit with 75.",
    )(command)


def dry_run_option(command: Command) -> Command:
    """Add the option that asks what would be done."""
    return click.option(
        "-n",
        "--dry-run",
        is_flag=True,
        help="Only say what would be done; change nothing.",
    )(command)


def replace_option(command: Command) -> Command:
    """Add the option that gives up what a model was taught."""
    return click.option(
        "--replace",
        is_flag=True,
        help="Replace a model even if it was taught since it was trained.",
    )(command)


def teaching_options(command: Command) -> Command:
    """Add the options that `learn` and `forget` share."""
    approximate = click.option(
        "--approximate",
        is_flag=True,
        help="Of documents older than a `prune`, take away what it has left of them.",
    )
    return wait_option(approximate(command))


def json_option(command: Command) -> Command:
    """Add the option that asks for JSON."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print JSON, for programs."
    )(command)


def quiet_option(command: Command) -> Command:
    """Add the option that silences everything but errors."""
    return click.option(
        "-q", "--quiet", is_flag=True, help="Say nothing on standard error but errors."
    )(command)


def verbose_option(command: Command) -> Command:
    """Add the option that says which model file is used, and whatever else."""
    return click.option(
        "-v",
        "--verbose",
        is_flag=True,
        help="Say more, such as which model file is used.",
    )(command)


@contextmanager
def executor_of(jobs: int) -> "Iterator[Executor | None]":
    """Start processes to read documents with, None for one job."""
    if jobs == 1:
        yield None
        return
    import multiprocessing
    import signal
    from concurrent.futures import ProcessPoolExecutor

    import nbtext.counts.counting
    import nbtext.scoring.batch_opening  # noqa: F401  a forked process has it imported already

    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else None)
    # an interrupt is for this process, which then stops the others
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        executor = ProcessPoolExecutor(
            jobs,
            mp_context=context,
            initializer=_live_with,
            initargs=(os.getpid(),),
        )
        executor.submit(os.getpid).result()  # which starts all of them
    finally:
        signal.signal(signal.SIGINT, before)
    with executor:
        try:
            yield executor
        except BaseException:
            # ended rather than waited for; and seen out, because the interpreter and
            # the executor's own thread would otherwise shut it down at the same time
            for process in multiprocessing.active_children():
                process.terminate()
            executor.shutdown(cancel_futures=True)
            raise


def _live_with(parent: int) -> None:
    """End this process when its parent has ended, however that was."""
    import signal
    from threading import Thread
    from time import sleep

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)

    def watch() -> None:
        while os.getppid() == parent:
            sleep(1)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def needs_sources(
    context: click.Context, sources: tuple[str, ...], what: str = "a document"
) -> None:
    """Print the help, as a usage error, if input could only be typed by hand."""
    if not sources and sys.stdin is not None and sys.stdin.isatty():
        for line in context.get_help().splitlines():
            to_stderr(line)
        to_stderr("")
        to_stderr(f"Error: Name a source, or pipe {what} in.")
        context.exit(status.USAGE)
