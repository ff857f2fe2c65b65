"""
What `nbtext classify` does, apart from reading its command line.

Neither click nor numpy is imported here: a mail filter starts this program for every
message.
"""

import sys
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from nbtext.cli import _status as status
from nbtext.cli._keyed import check_keyed
from nbtext.cli._report import (
    as_json_lines,
    as_tsv,
    class_name,
    counted,
    escaped,
    prior_in_words,
)
from nbtext.cli._terminal import (
    CutShort,
    Output,
    ignored,
    is_watched,
    name_notes,
    name_rest,
    problem_handler,
    say_notes,
    show,
    to_stderr,
    to_stdout,
)
from nbtext.document import Skipped, readable
from nbtext.errors import SettingsError, UnknownClassError
from nbtext.scoring import Classifier, Decision, classify, load_model
from nbtext.scoring.classifying import works_in_threads
from nbtext.sources import Options, container_format, documents, split_number

if TYPE_CHECKING:
    from nbtext.document import Item
    from nbtext.learning import SettingsOverrides
    from nbtext.plain_mail import Begun
    from nbtext.policy import Policy, PolicyOverrides
    from nbtext.scoring import Model
    from nbtext.scoring.combining import Decider
    from nbtext.scoring.estimating import EstimatedPrior


IMPORTS: Final = ("nbtext.counts.counting", "nbtext.scoring.batch")
"""What processes import that classify."""


class ClassifyRequest(NamedTuple):
    """
    What is asked of `nbtext classify`; the options are those of the command.

    Attributes:
        wanted: the class that `--is` asks for.
        output: what is printed; with `--is` and quiet, nothing at all.
        further: more models, which decide together with the first.
        begun: what standard input is read on from, if some of it was.
    """

    model: str
    sources: tuple[str, ...] = ()
    wanted: str | None = None
    policy: "PolicyOverrides | None" = None
    options: Options = Options()
    overrides: "SettingsOverrides | None" = None
    output: Output = Output()
    further: tuple[str, ...] = ()
    begun: "Begun | None" = None
    cluster: str | None = None
    shared: str | None = None
    keyed: str | None = None


def run(request: ClassifyRequest, jobs: int = 1) -> int:
    """Classify what is asked for and return the exit status."""
    opened = _opened(request.model, request)
    policy = None if request.policy is None else request.policy.chosen(opened.policy)
    classifier: Decider
    if request.further:
        classifier = _together(opened, policy, request)
    else:
        check_keyed(request.keyed, opened)
        classifier = Classifier(opened, policy=policy)
    options = request.options.for_model(classifier.fields, classifier.classes)
    if request.wanted is not None:
        wanted = readable(request.wanted)  # as sources read labels
        request = request._replace(wanted=wanted)
        _check_wanted(wanted, opened.classes)
        if options.format == "auto" and not any(map(_is_container, request.sources)):
            # one document, even if it looks like several
            options = Options(
                format=opened.settings.format, max_bytes=options.max_bytes
            )
    failures = Skipped()
    on_problem = problem_handler(failures, quiet=request.output.quiet)
    are_wanted = request.output.as_json or _is_for_people(request)
    with _classifying(classifier, options, request, jobs) as begun:
        batches = begun(
            headings=are_wanted, max_bytes=options.max_bytes, on_problem=on_problem
        )
        if request.policy is not None and request.policy.is_estimated:
            tell = ignored if request.output.quiet else _tell_prior
            batches = classifier.with_estimated_prior(batches, tell)
        if request.wanted is not None:
            return _verdict(batches, failures, request)
        if request.output.verbose and not request.further:
            from nbtext.cli._drift import metered

            batches = metered(batches, opened)
        tally = _write(batches, request)
    name_rest(failures)
    if tally.total() > 1 and is_watched(sys.stderr) and not request.output.quiet:
        to_stderr(_summary(tally, failures))
    return status.outcome(failures)


def _is_container(source: str) -> bool:
    """Return whether a source is said to hold several documents, or is one of those."""
    return container_format(source) is not None or split_number(source) is not None


def _opened(path: str, request: ClassifyRequest) -> "Model":
    """Open a model, and say what should be known of it."""
    opened = load_model(path)
    in_vain = ""
    if request.overrides is not None:
        scoring = request.overrides.scoring(opened.scoring)
        opened = opened.scored_by(scoring)
        policy = None
        if not request.further:  # of several, each has its own class prior
            given = request.policy and request.policy.chosen(opened.policy)
            policy = opened.policy if given is None else given
        in_vain = request.overrides.in_vain(scoring, policy, len(opened.classes))
    if request.output.verbose:
        to_stderr(f"model: {path}")
    say_notes(in_vain, quiet=request.output.quiet)
    name_notes(opened, quiet=request.output.quiet)
    return opened


def _together(
    first: "Model", policy: "Policy | None", request: ClassifyRequest
) -> "Decider":
    """Let further models decide together with the first, by its policy."""
    from nbtext.policy import MOST_PROBABLE
    from nbtext.scoring.combining import CombinedClassifier

    others = [_opened(path, request) for path in request.further]
    check_keyed(request.keyed, first, *others)
    if policy is None:
        notes = (
            f"the policy kept in {escaped(other.path)} has no part: that of the first "
            "model, or the options, decide"
            for other in others
            if other.policy not in (None, first.policy)
        )
        say_notes(*notes, quiet=request.output.quiet)
    parts = [Classifier(model, policy=MOST_PROBABLE) for model in (first, *others)]
    return CombinedClassifier(parts, policy=policy)


def _tell_prior(prior: "EstimatedPrior") -> None:
    """Say which shares of the classes were found in what is classified."""
    to_stderr(f"prior: {prior_in_words(prior)}")


@contextmanager
def _classifying(
    classifier: "Decider", options: Options, request: ClassifyRequest, jobs: int
) -> "Iterator[Callable[..., Iterator[list[Decision]]]]":
    """Give what decides about the documents: here, or on a cluster."""
    if request.cluster is not None:
        with _on_cluster(classifier, options, request) as begun:
            yield begun
        return
    items: Iterable[Item] = documents(
        request.sources, options, labelled=False, stdin=request.begun
    )
    if jobs == 1 or works_in_threads(classifier):
        yield partial(classify, items, classifier, jobs=jobs)
        return
    from nbtext.processes import processes
    from nbtext.scoring.in_processes import classify_with, initializer_of

    with processes(jobs, IMPORTS, initializer_of(classifier)) as executor:
        assert executor is not None  # noqa: S101  there are several jobs
        yield partial(classify_with, executor, jobs, items)


@contextmanager
def _on_cluster(
    classifier: "Decider", options: Options, request: ClassifyRequest
) -> "Iterator[Callable[..., Iterator[list[Decision]]]]":
    """Give what has the workers of a cluster decide."""
    from nbtext.distributed import connected
    from nbtext.distributed.classifying import classified_on

    with (
        connected(str(request.cluster)) as client,
        classified_on(
            client,
            classifier,
            request.sources,
            options,
            labelled=False,
            shared=request.shared,
        ) as how,
    ):
        yield how["elsewhere"]


def _check_wanted(wanted: str, classes: tuple[str, ...]) -> None:
    if wanted not in classes:
        raise UnknownClassError("--is", wanted, classes)


def _is_for_people(request: ClassifyRequest) -> bool:
    """Return whether results are drawn on a terminal."""
    is_table = bool(request.sources) and not request.output.as_json
    return is_table and is_watched(sys.stdout)


def _summary(tally: "Tally[str]", failures: Skipped) -> str:
    """Say in a line how many documents were decided for each class."""
    parts = [f"{number:,} {label}" for label, number in sorted(tally.items())]
    if failures.documents:
        parts.append(f"{failures.documents:,} skipped")
    return f"{counted(tally.total(), 'document')}: {', '.join(parts)}"


def _write(
    batches: "Iterable[list[Decision]]", request: ClassifyRequest
) -> "Tally[str]":
    """Write each batch of decisions as soon as it is there; return how many of each."""
    tally: Tally[str] = Tally()
    batches = _tallied(batches, tally)
    if _is_for_people(request):
        from nbtext.cli._tables import decision_lines

        show(decision_lines(batches))
        return tally
    cut_short = CutShort(quiet=request.output.quiet)
    for batch in batches:
        to_stdout(_lines(batch, request))
        for decision in batch:
            if decision.truncated:
                cut_short.name(decision.name)
    cut_short.name_rest()
    return tally


def _tallied(
    batches: "Iterable[list[Decision]]", tally: "Tally[str]"
) -> "Iterator[list[Decision]]":
    """Count the decisions for each class on their way."""
    for batch in batches:
        for decision in batch:
            label = decision.label
            tally["unsure" if label is None else class_name(label)] += 1
        yield batch


def _lines(batch: "list[Decision]", request: ClassifyRequest) -> Iterator[str]:
    if request.output.as_json:
        return as_json_lines(batch)
    # what comes from standard input alone has no name
    return as_tsv(batch, named=bool(request.sources))


def _verdict(
    batches: "Iterable[list[Decision]]", failures: "Skipped", request: ClassifyRequest
) -> int:
    """Print the one decision and return the exit status that says what it is."""
    decisions: list[Decision] = []
    for batch in batches:
        decisions += batch
        if len(decisions) > 1:
            raise SettingsError("--is takes one document, and there are more")
    if failures:
        return status.outcome(failures)
    if len(decisions) != 1:
        raise SettingsError("--is takes one document, and there is none")
    if not request.output.quiet:
        to_stdout(_lines(decisions, request))
    label = decisions[0].label
    if label is None:
        return status.UNSURE
    return status.IT_IS if label == request.wanted else status.IT_IS_NOT
