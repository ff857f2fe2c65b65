"""What `nbtext why` does, apart from reading its command line."""

import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from nbtext.cli._explained import (
    against_json,
    against_lines,
    flip_json,
    flip_lines,
    why_json,
    why_lines,
)
from nbtext.cli._keyed import check_keyed
from nbtext.cli._report import json_line
from nbtext.cli._status import outcome
from nbtext.cli._terminal import (
    Output,
    is_watched,
    name_notes,
    name_problems,
    say_notes,
    show,
    to_stdout,
)
from nbtext.counts import ReadReport
from nbtext.counts.read_report import documents
from nbtext.document import Document, readable
from nbtext.errors import SettingsError, SourceError
from nbtext.learning import SettingsOverrides
from nbtext.policy import PolicyOverrides
from nbtext.scoring import Classifier, Model, load_model
from nbtext.scoring.comparing import differences
from nbtext.scoring.explanation import Explanation
from nbtext.sources import Options
from nbtext.sources import documents as source_documents

if TYPE_CHECKING:
    from nbtext.learning.flipping import Flip


class WhyRequest(NamedTuple):
    """What is asked of `nbtext why`; the options are those of the command."""

    sources: tuple[str, ...]
    model: str
    top: int
    label: str | None
    against: str | None
    is_flip: bool
    policy: PolicyOverrides
    options: Options
    overrides: SettingsOverrides
    output: Output
    keyed: str | None = None


def run(request: WhyRequest) -> int:
    """Explain what is asked for and return the exit status."""
    opened = load_model(request.model)
    check_keyed(request.keyed, opened)
    name_notes(opened, quiet=request.output.quiet)
    scoring = request.overrides.scoring(opened.scoring)
    policy = request.policy.chosen(opened.policy)
    classifier = Classifier(opened.scored_by(scoring), policy=policy)
    in_vain = request.overrides.in_vain(
        scoring, policy or opened.policy, len(opened.classes)
    )
    say_notes(in_vain, quiet=request.output.quiet)
    if request.label is not None:  # as sources read labels
        request = request._replace(label=readable(request.label))
    report = ReadReport()
    if request.against is None:
        is_first = True
        for document in _read(request.sources, request, opened, report):
            try:
                explanation = classifier.explain(document, label=request.label)
                found = _flip(opened, classifier, document, request)
            except SourceError as error:  # such as a number that is none
                report.remove(document, error)
                continue
            _print(explanation, found, request, is_first=is_first)
            is_first = False
    else:
        first = _only(request.sources, request, opened, report)
        second = _only((request.against,), request, opened, report)
        if first is not None and second is not None:
            _compare(classifier, first, second, request)
    name_problems(report, quiet=request.output.quiet)
    return outcome(report.skipped)


def _read(
    names: tuple[str, ...], request: WhyRequest, model: Model, report: ReadReport
) -> Iterator[Document]:
    """Yield the documents of sources, as a model reads them."""
    options = request.options.for_model(model.settings.fields, model.classes)
    items = source_documents(names, options, labelled=False)
    return documents(items, report, options.max_bytes)


def _only(
    names: tuple[str, ...], request: WhyRequest, model: Model, report: ReadReport
) -> Document | None:
    """
    Return the one document of sources, None if it cannot be read.

    Raises:
        SettingsError: there are more.
    """
    found = [*islice(_read(names, request, model, report), 2)]
    if len(found) > 1:
        where = "standard input" if not names else names[0]
        if len(names) > 1:
            where = f"{where} and {len(names) - 1:,} more"
        message = (
            f"{where}: --against compares one document with one, and here are several; "
            f"name one, such as {found[0].name}"
        )
        raise SettingsError(message)
    return found[0] if found else None


def _flip(
    opened: Model, classifier: Classifier, document: Document, request: WhyRequest
) -> "Flip | None":
    """Return what it would take to have the document elsewhere, if that is asked."""
    if not request.is_flip:
        return None
    from nbtext.learning.flipping import flip

    scoring = classifier.model.scoring
    return flip(
        opened,
        document,
        request.label,
        policy=request.policy.chosen(opened.policy),
        scoring=None if scoring == opened.scoring else scoring,
    )


def _print(
    explanation: Explanation,
    found: "Flip | None",
    request: WhyRequest,
    *,
    is_first: bool,
) -> None:
    top = request.top
    before = [] if is_first else [""]
    if request.output.as_json:
        values = why_json(explanation, top)
        if found is not None:
            values["flip"] = flip_json(found)
        to_stdout([json_line(values)])
        return
    flipped = [] if found is None else ["", *flip_lines(found)]
    if is_watched(sys.stdout):
        from nbtext.cli._explained_tables import why_tables

        show(why_tables(explanation, top, is_first=is_first))
        to_stdout(flipped)
    else:
        to_stdout([*before, *why_lines(explanation, top), *flipped])


def _compare(
    classifier: Classifier, first: Document, second: Document, request: WhyRequest
) -> None:
    one = classifier.explain(first, label=request.label)
    other = classifier.explain(second, label=one.label)
    rows = differences(one, other)
    if request.output.as_json:
        to_stdout([json_line(against_json(one, other, rows, request.top))])
    elif is_watched(sys.stdout):
        from nbtext.cli._explained_tables import against_tables

        show(against_tables(one, other, rows, request.top))
    else:
        to_stdout(against_lines(one, other, rows, request.top))
