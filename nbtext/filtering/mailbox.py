"""
Mailboxes filtered: their new messages are classified, and moved or marked.

A mailbox, rules and a model go in; an outcome for each new message comes out. Every
message is remembered (`nbtext.filtering.seen`) before it is moved and afterwards. An
mbox is classified from end to end and then rewritten once; `nbtext.filtering.folders`
filters the other mailboxes.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from nbtext.document import Unreadable
from nbtext.errors import SourceError
from nbtext.filtering.folders import filter_folder
from nbtext.filtering.interrupted import settle
from nbtext.filtering.mailboxes import (
    MH,
    UNMARKED,
    Carried,
    Content,
    Marks,
    Mbox,
    Plan,
    Span,
    carry_out,
    clean_up,
)
from nbtext.filtering.rules import FilterReport, FilterRules, Outcome, Run, in_batches
from nbtext.filtering.seen import NOTHING, Entry
from nbtext.scoring import Decision

ACTED: Final = ("moved", "flagged")


class _Classified(NamedTuple):
    entry: Entry
    decision: Decision
    action: str


def filter_mailbox(
    rules: FilterRules, run: Run, report: FilterReport
) -> Iterator[Outcome]:
    """
    Classify the new messages of a mailbox, and move and mark them.

    Raises:
        SourceError: the mailbox cannot be read.
        MailboxError: one of the mailboxes cannot be changed.
        BusyError: another program has had one locked all the time.
        MemoryFileError: what was seen cannot be remembered.
    """
    if isinstance(rules.source, Mbox):
        yield from _filter_mbox(rules.source, rules, run, report)
    else:
        if isinstance(rules.source, MH) and not run.options.is_dry:
            rules.source.restore()
        settle(rules, run)
        yield from filter_folder(rules.source, rules, run, report)


def _filter_mbox(
    source: Mbox, rules: FilterRules, run: Run, report: FilterReport
) -> Iterator[Outcome]:
    is_dry = run.options.is_dry
    if not is_dry:
        for mbox in (source, *rules.targets.values()):
            if isinstance(mbox, Mbox):
                _clean_up(mbox, rules, run)
    settle(rules, run)
    digests: set[bytes] = set()
    acted: list[_Classified] = []
    stayed: list[Entry] = []
    with source.opened(run.options.wait) as snapshot:
        key = snapshot.key
        if run.seen.knows_name(key) and not run.options.is_anew:
            report.is_unchanged = True
            return
        wanted = (
            (f"{source.path}:{number}", span.content)
            for number, span in enumerate(snapshot.spans(run.options.max_bytes), 1)
            if _is_wanted(span, rules, run, report, digests)
        )
        for batch in in_batches(wanted, report):
            for message in _classify(batch, rules, run, report):
                if message.action in ACTED and not is_dry:
                    acted.append(message)
                else:
                    stayed.append(message.entry)
                    yield rules.outcome(message.decision, message.action, is_dry=is_dry)
    if not is_dry:  # not before, lest a copy further down be taken for an old one
        run.seen.finish(rules.folder, stayed)
    if acted:
        carried = _carry_out(source, acted, rules, run)
        key = carried.key
        report.is_whole = report.is_whole and carried.digests <= digests
        yield from _outcomes(carried, acted, rules)
    if report.is_whole and not (report.older or report.unreadable or is_dry):
        run.seen.finish(rules.folder, [Entry(key, NOTHING)])
        report.names.append(key)


def _clean_up(mbox: Mbox, rules: FilterRules, run: Run) -> None:
    """See to what earlier runs have left, and name what cannot be dealt with."""
    old_files = run.seen.old_files(rules.folder)
    problems = clean_up(mbox.place, run.options.wait, old_files)
    for problem in problems[:1]:
        more = f" (and {len(problems) - 1:,} more)" if problems[1:] else ""
        error = SourceError(f"{problem}{more}; {mbox.path} is filtered all the same")
        run.on_problem(Unreadable(mbox.path, error))


def _is_wanted(
    span: Span, rules: FilterRules, run: Run, report: FilterReport, digests: set[bytes]
) -> bool:
    entry = rules.entry_of(span.content.digest)
    report.names.append(entry.name)
    since = run.options.since
    if run.seen.knows(entry) and not run.options.is_anew:
        report.known += 1
        digests.add(entry.content)
        return False
    if report.left == 0:
        report.is_whole = False
        return False
    if since is not None and (span.delivered or since) < since:
        report.older += 1
        return False
    if report.left is not None:
        report.left -= 1
    digests.add(entry.content)
    return True


def _classify(
    batch: list[tuple[str, Content]], rules: FilterRules, run: Run, report: FilterReport
) -> list[_Classified]:
    """Classify a batch of messages; those that cannot be read are left out."""
    contents = dict(batch)
    return [
        _Classified(
            rules.entry_of(contents[name].digest), decision, rules.action_of(decision)
        )
        for name, decision in run.decide(contents, report).items()
    ]


def _carry_out(
    source: Mbox, acted: list[_Classified], rules: FilterRules, run: Run
) -> Carried:
    """Move and mark messages of an mbox, in one go."""
    seen = run.seen
    moves: dict[bytes, Mbox] = {}
    marks: dict[bytes, Marks] = {}
    for message in acted:
        label = message.decision.label or ""
        target = rules.targets.get(label)
        if isinstance(target, Mbox):
            moves[message.entry.content] = target
        if rules.by_class[label].marks != UNMARKED:
            marks[message.entry.content] = rules.by_class[label].marks

    by_place = {target.place: target for target in moves.values()}

    def begin(starts: Mapping[str, int]) -> None:
        sizes = {rules.growth_of(by_place[one]): n for one, n in starts.items()}
        seen.begin_appending(rules.folder, sizes)

    def left(target: Mbox) -> int | None:
        return seen.appending_to(rules.growth_of(target))

    plan = Plan(moves, marks, left, begin, seen.old_files(rules.folder))
    seen.begin(rules.folder, [message.entry for message in acted])
    carried = carry_out(source, plan, run.options.wait)
    done = carried.moved + carried.marked
    ended = [Entry(rules.growth_of(target), NOTHING) for target in by_place.values()]
    finished = [message.entry for message in acted if done[message.entry.content]]
    seen.finish(rules.folder, [*ended, *finished])
    seen.sync()
    return carried


def _outcomes(
    carried: Carried, acted: list[_Classified], rules: FilterRules
) -> Iterator[Outcome]:
    left = carried.moved + carried.marked
    for message in acted:
        is_done = left[message.entry.content] > 0
        left[message.entry.content] -= 1
        action = message.action if is_done else "gone"
        yield rules.outcome(message.decision, action, is_dry=False)
