"""`nbtext undo`: take back the last `learn` or `forget`."""

import click

from nbtext.cli._options import dry_run_option, named_model, output_options, wait_option
from nbtext.cli._report import as_json as json_of
from nbtext.cli._report import class_name, counted
from nbtext.cli._terminal import Output, to_stderr, to_stdout
from nbtext.document import readable


@click.command(
    epilog="What was made one table stays, by `compact`, `merge` or many commands of "
    "`learn`: `forget` takes documents out of it."
)
@named_model
@dry_run_option
@wait_option
@output_options
def command(model: str, dry_run: bool, wait: float, output: Output) -> None:
    """
    Take back the last `learn` or `forget`, all of it.

    \b
    nbtext undo --dry-run
    nbtext undo

    The model is then what it was before, byte for byte, and the command before is the
    last, which can be taken back, too.
    """  # noqa: D301  click wants a real backspace
    from nbtext.learning import undo

    done = undo(model, wait=wait, dry_run=dry_run)
    if not output.quiet:
        verb = "would take back" if dry_run else "took back"
        what = "forgotten"
        if done.classes:
            what = f"learnt as {', '.join(map(class_name, done.classes))}"
        documents = counted(done.documents, "document")
        to_stderr(f"{verb} {documents}, {what} at {done.when}")
    if output.as_json:
        facts = {**done._asdict(), "done": not dry_run, "path": readable(model)}
        to_stdout([json_of(facts)])
