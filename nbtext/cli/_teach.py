"""
What `nbtext learn` and `nbtext forget` do, apart from reading their command line.

Neither click nor numpy is imported here: a mail reader's key, or a folder that mail is
moved to, starts this program for every message.
"""

from collections import Counter as Tally
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from nbtext.cli import _status as status
from nbtext.cli._report import as_json, counted, readable
from nbtext.cli._terminal import (
    Output,
    cut_short,
    problem_handler,
    to_stderr,
    to_stdout,
)
from nbtext.learning.plan import LearnRequest, LearnResult
from nbtext.learning.stream import learn_documents, text_columns
from nbtext.sources import Options, documents, seen_only

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nbtext.document import Item, Unreadable

DEFAULT: Final = Options()


class Request(NamedTuple):
    """
    What is asked of `nbtext learn` or `nbtext forget`.

    Attributes:
        learn_request: what to learn, or to forget, and in which model.
        sources: the documents; standard input if there is none.
        options: how sources are read.
        output: what is printed of what was done.
        is_seen_only: whether to leave out messages of Maildirs that were not read.
    """

    learn_request: LearnRequest
    sources: tuple[str, ...] = ()
    options: Options = DEFAULT
    output: Output = Output()
    is_seen_only: bool = False


def run(request: Request) -> int:
    """Learn or forget what is asked for and return the exit status."""
    learn_request = request.learn_request
    if learn_request.label is not None:  # as sources read labels
        learn_request = learn_request._replace(label=readable(learn_request.label))
        request = request._replace(learn_request=learn_request)
    if request.output.verbose:
        to_stderr(f"model: {learn_request.path}")
    failures: list[Unreadable] = []
    on_problem = problem_handler(failures, quiet=request.output.quiet)
    options = request.options._replace(
        model_columns=partial(text_columns, learn_request.path)
    )
    items: Iterable[Item] = documents(request.sources, options, labelled=False)
    if request.is_seen_only:
        items = seen_only(items)
    outcomes: Tally[str] = Tally()
    max_bytes = request.options.max_bytes
    try:
        for results in learn_documents(
            items, learn_request, max_bytes=max_bytes, on_problem=on_problem
        ):
            for result in results:
                outcomes[result.outcome] += 1
                tell(result, request)
    finally:  # what was learnt stays learnt, whatever went wrong then
        if outcomes and not request.output.quiet:
            to_stderr(summary(learn_request, outcomes))
    if request.output.as_json:
        to_stdout([as_json(facts(request, outcomes, len(failures)))])
    is_nothing = outcomes.total() > 0 and outcomes["empty"] == outcomes.total()
    if outcomes["refused"] or is_nothing:
        return status.DATA
    return status.outcome(failures)


def tell(result: LearnResult, request: Request) -> None:
    """Name a document that was refused, and of others say what became if asked to."""
    if result.truncated and not request.output.quiet:
        cut_short(result.name)
    if result.outcome == "refused":
        to_stderr(f"refused: {result.name}: {result.reason}")
    elif request.output.verbose:
        to_stderr(f"{result.name}: {told(result, request.learn_request.label)}")


def told(result: LearnResult, label: str | None) -> str:
    """Say what became of a document."""
    before = ", ".join(result.before)
    if result.outcome == "moved":
        return f"moved from {before} to {label}"
    if result.outcome == "empty":
        return "empty, and passed over"
    if result.outcome == "known":
        return f"known as {label}"
    return f"learnt as {label}" if label is not None else f"forgotten as {before}"


def summary(learn_request: LearnRequest, outcomes: Tally[str]) -> str:
    """Say in one line what became of all documents."""
    words = {
        "learnt": ("learnt", f" as {learn_request.label}"),
        "moved": ("moved", f" to {learn_request.label}"),
        "known": ("", f" known as {learn_request.label} already"),
        "forgotten": ("forgot", ""),
        "refused": ("refused", ""),
        "empty": ("passed over", " without a byte"),
    }
    parts = [
        f"{verb} {counted(outcomes[outcome], 'document')}{rest}".lstrip()
        for outcome, (verb, rest) in words.items()
        if outcomes[outcome]
    ]
    return ", ".join(parts)


def facts(request: Request, outcomes: Tally[str], skipped: int) -> dict[str, Any]:
    """Return the same for a program."""
    learn_request = request.learn_request
    names = (
        ["forgotten"] if learn_request.label is None else ["learnt", "moved", "known"]
    )
    return {
        "class": learn_request.label,
        **{name: outcomes[name] for name in names},
        "refused": outcomes["refused"],
        "empty": outcomes["empty"],
        "skipped": skipped,
        "path": learn_request.path,
    }
