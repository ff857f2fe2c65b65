"""
What `nbtext learn` and `nbtext forget` do, apart from reading their command line.

Neither click nor numpy is imported here: a mail reader's key, or a folder that mail is
moved to, starts this program for every message.
"""

# ruff: noqa: PTH113 -- importing pathlib costs 10 ms

import os
from collections import Counter as Tally
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from nbtext.classes import quoted, with_value
from nbtext.cli import _status as status
from nbtext.cli._report import as_json, class_name, counted
from nbtext.cli._terminal import (
    CutShort,
    Naming,
    Output,
    name_rest,
    problem_handler,
    to_stderr,
    to_stdout,
)
from nbtext.document import Document, Skipped, Unread, readable
from nbtext.errors import NbtextError, NoModelError, SettingsError, clipped, listed
from nbtext.learning import (
    CHANGED,
    LearnRequest,
    LearnResult,
    learn_documents,
    model_fields,
)
from nbtext.scoring import load_model
from nbtext.sources import Options, documents
from nbtext.sources.seen import SeenOnly

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nbtext.document import Item
    from nbtext.plain_mail import Begun
    from nbtext.scoring import Model

DEFAULT: Final = Options()


class LearnCommand(NamedTuple):
    """
    What is asked of `nbtext learn` or `nbtext forget`.

    Attributes:
        request: what to learn, or to forget, and in which model.
        sources: the documents; standard input if there is none.
        options: how sources are read.
        output: what is printed of what was done.
        is_seen_only: whether to leave out messages of mailboxes that were not read.
        begun: what standard input is read on from, if some of it was.
    """

    request: LearnRequest
    sources: tuple[str, ...] = ()
    options: Options = DEFAULT
    output: Output = Output()
    is_seen_only: bool = False
    begun: "Begun | None" = None


def run(command: LearnCommand) -> int:
    """Learn or forget what is asked for and return the exit status."""
    request = command.request
    if request.label is not None:  # as sources read labels
        request = request._replace(label=readable(request.label))
        command = command._replace(request=request)
    _check_order(command)
    if command.output.verbose:
        to_stderr(f"model: {request.path}")
    failures = Skipped()
    on_problem = problem_handler(failures, quiet=command.output.quiet)
    opened = load_model(request.path) if request.own_labels else _opened(request.path)
    known = () if opened is None else opened.classes
    new = () if request.label is None or request.label in known else (request.label,)
    options = command.options._replace(
        model_fields=partial(model_fields, request.path), model_classes=(*known, *new)
    )
    items: Iterable[Item] = documents(
        command.sources, options, labelled=request.own_labels, stdin=command.begun
    )
    max_bytes = options.max_bytes
    seen = SeenOnly(items, max_bytes) if command.is_seen_only else None
    items = items if seen is None else seen
    labels_found: Tally[str] = Tally()
    if request.label is not None:
        items = _counting_labels(items, labels_found)
    score = None if opened is None else opened.scoring.score
    outcomes: Tally[str] = Tally()
    labels: Tally[str] = Tally()
    cut_short = CutShort(quiet=command.output.quiet)
    refused = Naming("refused")
    is_done = False
    try:
        for results in learn_documents(
            items, request, max_bytes=max_bytes, on_problem=on_problem
        ):
            for result in results:
                outcomes[result.outcome] += 1
                if request.own_labels and result.outcome in CHANGED:
                    labels[result.label or ""] += 1
                _say(result, command, refused, cut_short)
        is_done = True
    finally:  # what was learnt stays learnt, whatever went wrong then
        cut_short.name_rest()
        refused.name_rest()
        if outcomes and not command.output.quiet:
            to_stderr(summary(request, outcomes, labels))
        unread = 0 if seen is None else seen.left_out
        if unread and not command.output.quiet:
            to_stderr(f"left out {counted(unread, 'unread message')}")
        if command.output.as_json and (outcomes or is_done):
            told = facts(command, outcomes, labels, failures.documents, unread)
            to_stdout([as_json(told)])
    if outcomes and not command.output.quiet:
        del labels_found[request.label or ""]
        if labels_found:
            to_stderr(otherwise_labelled(request, labels_found))
        now = _opened(request.path)
        if now is not None and request.frozen_idf:
            to_stderr(idf_kept(now))
        if now is not None and score not in (None, now.scoring.score):
            to_stderr(scored_otherwise(now))
    name_rest(failures)
    is_nothing = outcomes.total() > 0 and outcomes["empty"] == outcomes.total()
    if outcomes["refused"] or is_nothing:
        return status.DATA
    return status.outcome(failures)


def _counting_labels(items: "Iterable[Item]", found: Tally[str]) -> "Iterator[Item]":
    """Pass items on, and count the labels that they carry."""
    for item in items:
        if isinstance(item, Document | Unread) and item.label is not None:
            found[item.label] += 1
        yield item


def otherwise_labelled(request: LearnRequest, labels: Tally[str]) -> str:
    """Say that documents carry other labels than the class that they are learnt as."""
    names = [f"{clipped(class_name(name))} {n:,}" for name, n in sorted(labels.items())]
    return (
        f"note: {counted(labels.total(), 'document')} carried another label "
        f"({listed(names)}) than {class_name(request.label or '')}; --labelled, in "
        "place of a class, learns each as its own"
    )


def _check_order(command: LearnCommand) -> None:
    """
    Refuse a path where the class should be.

    The model is opened only where that is likely: where the class is the path of a
    file, or there is nothing at the path of a source. A folder may well be called as
    the class that is learnt from it.

    Raises:
        SettingsError: the class is a path, or a source is a class.
    """
    label = command.request.label
    if label is None:
        return
    missing = [name for name in command.sources if "/" not in name and not _is(name)]
    is_path = _is(label) and ("/" in label or os.path.isfile(label))
    if not (is_path or missing):
        return
    try:
        classes = load_model(command.request.path).classes
    except NoModelError:
        classes = ()
    if label in classes:
        return
    known = next((name for name in missing if name in classes), None)
    if not (is_path or known):
        return
    from nbtext.cli._words import line_of  # for the error alone

    line = line_of(["learn"], [known or "CLASS", label])
    message = (
        f"{quoted(label)} stands where the class should; the class comes first: {line}"
    )
    raise SettingsError(message)


def _is(path: str) -> bool:
    """Return whether there is something at a path."""
    return path == "-" or os.path.lexists(path)


def _say(
    result: LearnResult, command: LearnCommand, refused: Naming, cut_short: CutShort
) -> None:
    """Name a document that was refused, and of others say what became if asked to."""
    if result.truncated:
        cut_short.name(result.name)
    if result.outcome == "refused":
        refused.say(f"{result.name}: {result.reason}")
    elif command.output.verbose:
        to_stderr(f"{result.name}: {what_became(result)}")


def what_became(result: LearnResult) -> str:
    """Say what became of a document."""
    before, label = ", ".join(result.before), result.label
    if result.outcome == "moved":
        return f"moved from {before} to {label}"
    if result.outcome == "empty":
        return "empty, and passed over"
    if result.outcome == "left out":
        return f"left out; the model finds {label}"
    if result.outcome == "known":
        return f"known as {label}" if label is not None else "a copy, forgotten already"
    return f"learnt as {label}" if label is not None else f"forgotten as {before}"


def summary(
    request: LearnRequest, outcomes: Tally[str], labels: Tally[str] | None = None
) -> str:
    """Say in one line what became of all documents."""
    label = "labelled" if request.own_labels else request.label
    known = ("", f" known as {label} already")
    if request.forgets:
        known = ("passed over", " forgotten with a copy")
    words = {
        "forgotten": ("forgot", ""),
        "learnt": ("learnt", f" as {label}"),
        "moved": ("moved", f" as {label}" if request.own_labels else f" to {label}"),
        "known": known,
        "left out": ("left out", f" that it finds to be {label}"),
        "refused": ("refused", ""),
        "empty": ("passed over", " without a byte"),
    }
    parts = [
        f"{verb} {counted(outcomes[outcome], 'document')}{rest}".lstrip()
        for outcome, (verb, rest) in words.items()
        if outcomes[outcome]
    ]
    by_class = ", ".join(
        with_value(name, f"{n:,}") for name, n in sorted((labels or {}).items())
    )
    return ", ".join(parts) + (f": {by_class}" if by_class else "")


def _opened(path: str) -> "Model | None":
    """Return a model as it is; None if there is none, or it cannot be opened."""
    try:
        return load_model(path)
    except NbtextError:
        return None


def scored_otherwise(model: "Model") -> str:
    """Say what becomes of probabilities where other classes have changed the score."""
    scored = (
        f"note: with {len(model.classes)} classes the model scores by "
        f"{model.scoring.score}"
    )
    if len(model.classes) == 2:
        return f"{scored} again, as before there was a third"
    return (
        f"{scored}, and what it knew of how far its scores are to be "
        "trusted is gone: until it is trained again, probabilities are what is "
        "expected of any model, and a threshold may be met less often"
    )


def idf_kept(model: "Model") -> str:
    """Say by which documents terms are still weighed."""
    number = model.settings.idf_documents or 0
    return f"the idf stays that of the {counted(number, 'document')} of training"


def facts(
    command: LearnCommand,
    outcomes: Tally[str],
    labels: Tally[str],
    skipped: int,
    unread: int,
) -> dict[str, Any]:
    """Return the same for a program."""
    request = command.request
    names = ["forgotten"] if request.forgets else ["learnt", "moved"]
    return {
        "class": request.label,
        **({"classes": dict(sorted(labels.items()))} if request.own_labels else {}),
        **{name: outcomes[name] for name in (*names, "known")},
        **({"left_out": outcomes["left out"]} if request.regime.is_choosy else {}),
        **({"unread": unread} if command.is_seen_only else {}),
        "refused": outcomes["refused"],
        "empty": outcomes["empty"],
        "skipped": skipped,
        "path": request.path,
    }
