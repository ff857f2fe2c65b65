"""`nbtext compact`: make one table of a model file."""

import click

from nbtext.cli._options import named_model, output_options, wait_option, within_memory
from nbtext.cli._report import as_json as json_of
from nbtext.cli._report import counted, escaped, size
from nbtext.cli._room import load_numpy
from nbtext.cli._terminal import Output, to_stderr, to_stdout


@click.command()
@named_model
@wait_option
@within_memory
@output_options
def command(model: str, wait: float, output: Output) -> None:
    """
    Make one table of all that learning has put behind a model.

    \b
    nbtext compact

    It is done by itself when there are many; the sums are the same before and after.
    What was learnt before can then be forgotten, but no longer taken back with undo.
    """  # noqa: D301  click wants a real backspace
    load_numpy()
    from nbtext.store import compact, open_model
    from nbtext.upkeep import about_doubles, count_doubles

    doubles = count_doubles(open_model(model))
    done = compact(model, wait=wait)
    if doubles:
        to_stderr(
            f"WARNING: {escaped(model)}: before it was compacted, "
            f"{about_doubles(doubles)}; of one table nobody can tell"
        )
    if not output.quiet:
        to_stderr(
            f"compacted {counted(done.tables, 'table')}, {size(done.before)}, "
            f"to one of {size(done.after)}"
        )
    if output.as_json:
        to_stdout([json_of({**done._asdict(), "path": model})])
