"""
What `nbtext bogofilter` does, apart from reading its command line.

Neither click nor numpy is imported here: mail is delivered through this program. All
failures have bogofilter's exit status, 3.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from nbtext import __version__
from nbtext.cli import _status as status
from nbtext.cli._pass import MAX_BYTES
from nbtext.cli._report import escaped
from nbtext.cli._terminal import name_rest, problem_handler, to_stderr, to_stdout
from nbtext.cli.bogofilter._bogosity import (
    Bogosity,
    figure,
    header_value,
    terse,
    terse_for_scripts,
)
from nbtext.cli.bogofilter._judge import Judge
from nbtext.cli.bogofilter._options import Parsed
from nbtext.cli.bogofilter._pass import pass_on
from nbtext.cli.bogofilter._request import Request, request_of
from nbtext.document import Skipped
from nbtext.plain_mail import Begun, Held
from nbtext.scoring import batches
from nbtext.scoring.classifying import readable_of
from nbtext.sources.mailboxes import INPUT, Kind, input_items, mailbox_items, names

if TYPE_CHECKING:
    from nbtext.document import Item


def run(parsed: Parsed, read: "Held | Begun | None" = None) -> int:
    """
    Do what a command line asks for and return the exit status.

    Raises:
        NbtextError: it cannot be done, and there is no message to pass on.
    """
    for note in parsed.notes:
        to_stderr(f"note: {note}")
    if parsed.count("version"):
        to_stdout([f"nbtext {__version__}, in the place of bogofilter 1.2.5"])
        return status.DONE
    is_bulk = parsed.count("classify-files") + parsed.count("classify-stdin") > 0
    if parsed.count("passthrough") and not is_bulk:
        return pass_on(parsed, read if isinstance(read, Held) else None)
    request = request_of(parsed)
    if request.output is not None:
        to_stderr(f"note: -O {request.output} has no effect without -p")
    if request.action:
        return _register(request, read if isinstance(read, Begun) else None)
    return _classify(request, read if isinstance(read, Begun) else None)


def _items(request: Request, begun: Begun | None = None) -> "Iterator[Item]":
    """Yield the messages that are to be read, whatever they are in."""
    kind: Kind = "message"
    if request.is_mbox:
        kind = "mbox"
    elif request.action:
        kind = "either"  # as one whole it would be of no use
    if request.objects is None and not request.names_follow:
        yield from input_items(request.input, kind, MAX_BYTES, begun)
        return
    for name in names() if request.objects is None else request.objects:
        if isinstance(name, str):
            yield from mailbox_items(name, kind, MAX_BYTES)
        else:
            yield name


def _classify(request: Request, begun: Begun | None) -> int:
    """Decide about messages one by one, say so, and return the exit status."""
    failures = Skipped()
    on_problem = problem_handler(failures, quiet=False)
    judge = Judge(request)
    last: Bogosity | None = None
    for documents in batches(_items(request, begun), MAX_BYTES, on_problem):
        for readable, found in readable_of(
            documents, lambda some: (some, judge.decide(some)), on_problem
        ):
            last = found[-1]
            to_stdout(_lines(found, request))
            judge.update(readable, found)
    name_rest(failures)
    if last is None:
        judge.decide([])  # a wrong model is an error even if there is nothing to read
    return status.BOGOFILTER_FAILED if failures else judge.status_of(last)


def _lines(found: Iterable[Bogosity], request: Request) -> Iterator[str]:
    """Render verdicts as the options want them, with names where there are any."""
    if request.form == "none":
        return
    forms = {"terse": terse, "script": terse_for_scripts, "figure": figure}
    for one in found:
        if request.form == "line":
            line = f"{request.field}: {header_value(one)}"
        else:
            line = forms[request.form](one)
        yield line if one.name == INPUT else f"{escaped(one.name)} {line}"


def _register(request: Request, begun: Begun | None) -> int:
    """Learn, move or forget messages and return the exit status."""
    from nbtext.cli.bogofilter._learn import register

    failures = Skipped()
    on_problem = problem_handler(failures, quiet=False)
    is_done = register(_items(request, begun), request, on_problem)
    name_rest(failures)
    return status.DONE if is_done and not failures else status.BOGOFILTER_FAILED
