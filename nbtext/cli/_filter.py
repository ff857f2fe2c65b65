"""What `nbtext filter` does, apart from reading its command line."""

import os
from _blake2 import blake2b  # hashlib would load OpenSSL too, for 2 ms
from collections import Counter as Tally
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from nbtext.cli import _status as status
from nbtext.cli._drift import warn_of_drift
from nbtext.cli._keyed import check_keyed
from nbtext.cli._report import UNSURE, class_name, counted, escaped, json_line
from nbtext.cli._terminal import (
    CutShort,
    Output,
    name_losses,
    name_rest,
    problem_handler,
    to_stderr,
    to_stdout,
)
from nbtext.document import Note, OnProblem, Skipped, Unreadable, readable
from nbtext.errors import BusyError, MailboxError, SourceError
from nbtext.filtering import (
    FilterOptions,
    FilterReport,
    FilterRules,
    Outcome,
    Rule,
    Run,
    check_classes,
    filter_mailbox,
    open_mailbox,
    open_seen,
    rules_of,
)
from nbtext.filtering.mailboxes import UNMARKED, marks_of
from nbtext.filtering.rules import before_cap
from nbtext.policy import PolicyOverrides
from nbtext.scoring import Classifier, Model, load_model, threshold_of
from nbtext.scoring.drift import DriftMeter
from nbtext.scoring.figures import probability, rounded
from nbtext.scoring.threshold import LEAST, Threshold, reach_of

OF_FOLDERS = (SourceError, MailboxError, BusyError)
"""What keeps one mailbox from being filtered, and not the others."""


class FilterRequest(NamedTuple):
    """
    What is asked of `nbtext filter`; the options are those of the command.

    Attributes:
        flags: classes and what their messages are marked with; one may come twice.
        memory: the file of what was decided.
        least: how probable a class must be, None for what the model says.
        wanted: which messages are decided about, and how.
        limit: how many at the most, None for all.
    """

    model: str
    folders: tuple[str, ...]
    moves: dict[str, str]
    flags: tuple[tuple[str, str], ...]
    memory: str
    least: float | None
    policy: PolicyOverrides
    wanted: FilterOptions
    limit: int | None = None
    output: Output = Output()
    keyed: str | None = None


def run(request: FilterRequest) -> int:
    """Filter what is asked for and return the exit status."""
    model = load_model(request.model)
    check_keyed(request.keyed, model)
    if request.output.verbose:
        to_stderr(f"model: {request.model}")
    name_losses(model)
    policy = request.policy.chosen(model.policy)
    classifier = Classifier(model, policy=policy)  # before anything is changed
    failures = Skipped()
    on_problem = problem_handler(failures, quiet=request.output.quiet)
    all_rules = list(_rules_of_all(request, _rules(request, model), on_problem))
    wanted = request.wanted
    with open_seen(request.memory, wait=wanted.wait, is_kept=not wanted.is_dry) as seen:
        if seen.damaged:
            records = counted(seen.damaged, "record")
            to_stderr(f"WARNING: {seen.path}: {records} damaged and passed over")
        worst = _filter_all(
            all_rules, Run(classifier, seen, wanted, on_problem), request
        )
    name_rest(failures)
    return worst or status.outcome(failures)


def _rules_of_all(
    request: FilterRequest, rules: Mapping[str, Rule], on_problem: OnProblem
) -> Iterator[FilterRules]:
    """Yield what is to be done, of those mailboxes that can be opened."""
    for folder in request.folders:
        try:
            found = rules_of(open_mailbox(folder), rules)
        except SourceError as error:
            on_problem(Unreadable(folder, error))
        else:
            if len(request.folders) == 1:  # of several, one may well be the target
                _note_own_target(found, on_problem)
            yield found


def _note_own_target(rules: FilterRules, on_problem: OnProblem) -> None:
    """Say which classes stay because their target is the mailbox itself."""
    own = [
        class_name(label)
        for label, rule in rules.by_class.items()
        if rule.target is not None and label not in rules.targets
    ]
    if own:
        text = (
            f"{rules.source.path}: --move names this mailbox itself, where "
            f"{', '.join(own)} stays; name another"
        )
        on_problem(Note(text))


def _filter_all(
    all_rules: list[FilterRules], filtering: Run, request: FilterRequest
) -> int:
    """Filter one mailbox after the other; return the worst exit status of any."""
    worst = status.DONE
    left = request.limit
    meter = DriftMeter(filtering.classifier.model)
    listed = {}
    for rules in all_rules:
        report = FilterReport(left=left)
        try:
            outcomes = _metered(filter_mailbox(rules, filtering, report), meter)
            _tell(outcomes, rules, report, request)
        except OF_FOLDERS as error:
            to_stderr(f"Error: {error}")
            worst = max(worst, status.status_of(error))
        else:
            if report.is_whole and not report.is_unchanged:
                listed[rules.folder] = report.names
        left = report.left
    warning = _warning_of(request.model)
    if warn_of_drift(meter, lambda: filtering.seen.is_told(*warning)):
        filtering.seen.tell(*warning)
    filtering.seen.tidy(listed)
    return worst


def _warning_of(model: str) -> tuple[bytes, bytes]:
    """Return what names a warning about a model file, and the state it is in."""
    path = os.path.abspath(model)  # noqa: PTH100  as for all other paths here
    try:
        found = os.stat(path)  # noqa: PTH116  likewise
        state = f"{found.st_ino} {found.st_size} {found.st_mtime_ns}"
    except OSError:  # it is gone meanwhile
        state = ""
    name = blake2b(os.fsencode(path), digest_size=16, person=b"nbtext warning")
    number = blake2b(state.encode(), digest_size=16, person=b"nbtext model")
    return name.digest(), number.digest()


def _metered(outcomes: Iterator[Outcome], meter: DriftMeter) -> Iterator[Outcome]:
    """Pass outcomes on; their decisions are held against the held-out documents."""
    for outcome in outcomes:
        meter.add([outcome.decision])
        yield outcome


def _rules(request: FilterRequest, model: Model) -> dict[str, Rule]:
    """
    Return what happens to the messages of each class.

    Raises:
        SettingsError: the model has no such class, or there is no such flag.
    """
    flags: dict[str, list[str]] = {}
    for label, flag in request.flags:
        flags.setdefault(label, []).append(flag)
    check_classes([*request.moves, *flags], model.classes)
    rules = {}
    for label in dict.fromkeys([*request.moves, *flags]):
        marks = marks_of(flags.get(label, ()))
        rule = Rule(LEAST, request.moves.get(label), marks)
        threshold = None
        if request.least is not None:
            rule = rule._replace(least=request.least)
        else:
            threshold = _threshold(request, model, label)
            rule = rule._replace(before_cap=threshold.probability)
        if not request.output.quiet:
            _warn_of_reach(model, label, rule.least, threshold)
        rules[label] = rule
    return rules


def _threshold(request: FilterRequest, model: Model, label: str) -> Threshold:
    """Return the threshold of a class that held-out documents give."""
    threshold = threshold_of(model, label)
    if request.output.verbose:
        to_stderr(f"{label}: from a probability of {threshold.probability:.6g}")
    if not (threshold.documents or request.output.quiet):
        to_stderr(
            f"note: no held-out documents say from which probability on "
            f"{class_name(label)} is safe; taking {LEAST} (--min-probability)"
        )
    return threshold


def _warn_of_reach(
    model: Model, label: str, least: float, threshold: Threshold | None
) -> None:
    """
    Say so if nothing of a class, or not half of it, is as probable as is needed.

    Args:
        model: the model.
        label: the class.
        least: what the probability that is told needs to be.
        threshold: what held-out documents ask for besides, if they are asked.
    """
    reach = reach_of(model, label, least)
    name, others = class_name(label), counted(reach.others, "document")
    if reach.others < reach.wanted:
        to_stderr(
            f"note: nothing will be taken for {name}: with {others} of other classes "
            f"no probability exceeds {reach.most:.4f}, and {least:g} is needed; "
            f"teach the model {reach.wanted - reach.others:,} more of those "
            "(`nbtext learn`), and decide about what has stayed by then with --all; or "
            "lower --min-probability"
        )
    elif threshold is not None and threshold.is_far:
        to_stderr(
            f"note: most of what is {name} will stay: {threshold.reached:,} of "
            f"{threshold.own:,} held out reach a probability of "
            f"{threshold.probability:.6g}, which is needed since some of "
            f"{others} of other classes come near it; if their labels are wrong, "
            "`nbtext doctor` finds them and `nbtext learn` mends them; more documents "
            "of these classes or --min-probability lower it"
        )


def _tell(
    outcomes: Iterator[Outcome],
    rules: FilterRules,
    report: FilterReport,
    request: FilterRequest,
) -> None:
    """Say what becomes of each message, and sum up."""
    tally: Tally[str] = Tally()
    cut_short = CutShort(quiet=request.output.quiet)
    try:
        for outcome in outcomes:
            tally[outcome.action] += 1
            if request.output.as_json:
                to_stdout([_as_json(outcome, rules.by_class)])
            if request.output.verbose:
                to_stderr(_as_line(outcome, rules.by_class))
            if outcome.decision.truncated:
                cut_short.name(outcome.decision.name)
    except OF_FOLDERS:
        if tally:  # what is done is done, whatever went wrong then
            _sum_up(tally, rules, report, request)
        raise
    cut_short.name_rest()
    _sum_up(tally, rules, report, request)


def _sum_up(
    tally: Tally[str], rules: FilterRules, report: FilterReport, request: FilterRequest
) -> None:
    if not (request.output.as_json or request.output.quiet):
        to_stdout([f"{escaped(rules.source.path)}: {_summary(tally, report)}"])


def _as_json(outcome: Outcome, rules: Mapping[str, Rule]) -> str:
    decision, target = outcome.decision, outcome.target
    rule = rules.get(decision.label or "")
    return json_line(
        {
            "folder": readable(outcome.folder),
            "name": readable(decision.name),
            "label": decision.label,
            "probability": rounded(decision.probability),
            "min_probability": None if rule is None else rounded(rule.least),
            "before_cap": rounded(before_cap(decision)),
            "min_before_cap": None if rule is None else rounded(rule.before_cap),
            "action": outcome.action,
            "target": None if target is None else readable(target),
            "flags": str(outcome.marks).split(),
        }
    )


def _as_line(outcome: Outcome, rules: Mapping[str, Rule]) -> str:
    decision = outcome.decision
    label = UNSURE if decision.label is None else class_name(decision.label)
    what = outcome.action
    rule = rules.get(decision.label or "")
    if rule is not None and before_cap(decision) < rule.before_cap:
        found = f"{before_cap(decision):.6f} before the cap"
        what += f": {found}, of {rule.before_cap:.6f}"
    if outcome.target is not None:
        what += f" to {escaped(outcome.target)}"
    if outcome.marks != UNMARKED:
        what += f", flagged {outcome.marks}" if outcome.target else f" {outcome.marks}"
    return (
        f"{escaped(decision.name)}: {label} {probability(decision.probability)}, {what}"
    )


def _summary(tally: Tally[str], report: FilterReport) -> str:
    if report.is_unchanged:
        return "nothing new, unchanged since the last run"
    parts = [f"{tally.total():,} new"] if tally else ["nothing new"]
    numbers = tally + Tally(gone=report.gone)
    said = [
        *((numbers[action], words) for action, words in SAID.items()),
        (report.known, "known"),
        (report.older, "older than --since"),
        (report.unreadable, "unreadable"),
        (len(report.refused), "not moved"),
    ]
    parts += [f"{number:,} {words}" for number, words in said if number]
    if not report.is_whole and report.left == 0:
        parts.append("the rest left by --limit")
    return ", ".join(parts)


SAID = {
    "moved": "moved",
    "would move": "would be moved",
    "flagged": "flagged",
    "would flag": "would be flagged",
    "gone": "gone meanwhile",
    "stayed": "stayed",
}
"""What became of messages, in the words of the summary."""
