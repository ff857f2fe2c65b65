"""
Merging: several models become one, whose counts are their sum.

A document that several of them have counted is counted several times in the sum; which
those are, the ledgers say (`nbtext.upkeep.doubles`). Given the documents themselves,
what they have left too often is taken away exactly, so that each is counted as the last
model has it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter as Tally
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nbtext.counts.texts import TermTexts
    from nbtext.document import Item, OnProblem
    from nbtext.policy import Policy
    from nbtext.settings.scoring import Scoring
    from nbtext.store import ModelFile
    from nbtext.tokens import Bag

    Texts: TypeAlias = tuple[TermTexts, ...] | None

from nbtext import wording
from nbtext.counts import CountTable
from nbtext.counts.adding import Adding
from nbtext.counts.calibration import calibration_for, totals
from nbtext.counts.correction_table import add_corrections
from nbtext.counts.fitting import chosen
from nbtext.counts.table import add
from nbtext.counts.texts import joined
from nbtext.errors import (
    MOST_LISTED,
    ModelFileError,
    NotAModelError,
    SettingsError,
    TrainingError,
)
from nbtext.learning import Delta, count_table, why_not
from nbtext.learning.delta_table import correction_table
from nbtext.learning.inheriting import why_not_by
from nbtext.scoring import Model, batches, check_scoring
from nbtext.scoring.model import model_of
from nbtext.store import (
    Contents,
    Row,
    UndoRecords,
    open_model,
    read_contents,
    record_of,
    rows_of,
)
from nbtext.store.file import check_not_cut_short
from nbtext.store.header import join_histories
from nbtext.store.ledger import halves
from nbtext.store.undo import join_records, last_counted, last_records
from nbtext.tokens import bag_of, fingerprint, read_keys
from nbtext.upkeep.doubles import Double, Doubles


@dataclass(slots=True)
class Merged:
    """
    What became of merging.

    Attributes:
        contents: the sum.
        doubles: how many documents two or more of the models have counted, or two of
            those that one of the files was joined of.
        labels: under which labels those are that not all models have under the same:
            label of one, label of another, and how many.
        policies: those of the models.
        left_out: how many held-out documents say nothing of the sum's scores, because
            their model scores otherwise.
        lost_policy: why that of the last model is not kept; empty if it is.
        taken: how many of the doubles are counted once now.
        refused: the names of those of which that cannot be, and why.
    """

    contents: Contents
    doubles: int = 0
    labels: Tally[tuple[str, str]] = field(default_factory=Tally)
    policies: set[Policy | None] = field(default_factory=set)
    left_out: int = 0
    lost_policy: str = ""
    taken: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)


def open_models(
    paths: Iterable[str], *, drop_correction: bool = False
) -> Iterator[ModelFile]:
    """
    Open models that are to be merged, each when the one before it is done with.

    So there may be more of them than files that a process may have open.

    Raises:
        ModelFileError: one cannot be read, or two do not add up.
    """
    first, settings, corrected = "", None, ""
    for path in paths:
        file = open_model(path, drop_correction=drop_correction)
        check_not_cut_short(file)
        if settings is None:
            first, settings = file.path, file.settings
            _check_mergeable(file)
        if file.settings != settings:
            difference = settings.difference(file.settings)
            message = (
                f"{file.path}: does not add to {first}: {difference}; train both in "
                "the same way"
            )
            raise ModelFileError(message)
        if file.correction is not None:
            if corrected:
                alone = wording.given(drop_correction=True)
                message = (
                    f"{file.path}: has a correction, and so has {corrected}: they do "
                    f"not add up; merge the counts alone with {alone}, or "
                    "train one model on all documents"
                )
                raise ModelFileError(message)
            corrected = file.path
        yield file


def _check_mergeable(file: ModelFile) -> None:
    """Refuse a model whose counts do not add up with those of another."""
    if file.settings.has_frozen_idf:
        message = (
            f"{file.path}: its TF-IDF weights hold for the documents that it was "
            "trained on, and do not add up; train one model on all documents"
        )
        raise ModelFileError(message)


def merge(files: Iterable[ModelFile]) -> Merged:
    """
    Add models up, and look for documents that several of them have counted.

    Args:
        files: one or more, which may be opened in turn.

    Raises:
        ModelFileError: one of them is damaged.
        SettingsError: together they have classes that cannot be scored.
    """
    adding, doubles, parts = Adding(), Doubles(), []
    classes: dict[str, tuple[str, ...]] = {}
    policies = set()
    texts: Texts = None
    for file in files:
        contents = read_contents(file)
        adding.add(contents.counts)
        classes[file.path] = contents.counts.classes
        doubles.add(file)
        policies.add(file.policy)
        # of a model that is added nothing large stays
        nothing = CountTable(contents.counts.settings)
        parts.append(replace(contents, counts=nothing, terms=None, texts=None))
        texts = _joined(texts, contents.texts)
    counts = adding.table() or CountTable(parts[0].counts.settings)
    merged = Merged(_sum_of(parts, counts, texts), policies=policies)
    merged.left_out = sum(map(_n_held_out, parts)) - _n_held_out(merged.contents)
    _check_together(merged.contents.scoring, counts, classes)
    for double in doubles:
        merged.doubles += 1
        merged.labels.update(double.labels)
    return merged


def _check_together(
    scoring: Scoring, counts: CountTable, classes: Mapping[str, Sequence[str]]
) -> None:
    """
    Refuse a sum that cannot be scored.

    Raises:
        SettingsError: it cannot; if each of the models can, it says whose classes are
            not those of the first.
    """
    (first, own), *others = classes.items()
    try:
        check_scoring(scoring, counts.settings, counts.classes)
    except SettingsError as error:
        with suppress(TrainingError):  # of a single class, which may be fewer
            check_scoring(scoring, counts.settings, own)  # if that fails, it is why
        path, these = next(one for one in others if set(one[1]) != set(own))
        listed, known = (", ".join(names[:MOST_LISTED]) for names in (these, own))
        message = (
            f"{path} has the classes {listed}, and {first} {known}: together "
            f"{len(counts.classes)}, which the {scoring.score} score cannot tell "
            "apart; if some mean the same, give them one name first "
            f"(`{wording.call('upkeep.rename')}`)"
        )
        raise SettingsError(message) from error


def check_policy(merged: Merged) -> None:
    """
    Leave the policy of the sum out if it cannot decide by it.

    Args:
        merged: the sum, as it will be written; its contents are replaced.
    """
    policy = merged.contents.policy
    if policy is None:
        return
    reason = why_not_by(policy, merged.contents, "the sum")
    if reason:
        merged.contents = replace(merged.contents, policy=None)
        merged.lost_policy = reason


def _sum_of(parts: Sequence[Contents], counts: CountTable, texts: Texts) -> Contents:
    """Return the sum of models, which is scored as the leading one asks to be."""
    history = join_histories(part.history for part in parts)
    lead = _leading(parts)
    others = (part for part in parts if part is not lead)
    # of what the last of them speaks of
    calibrations = totals(part.calibrations for part in [*others, lead])
    records = join_records(
        part.records
        if [one.scoring for one in part.calibrations]
        == [one.scoring for one in calibrations]
        else part.records.without_bins()
        for part in parts
    )
    correction = add_corrections(part.correction for part in parts)
    scoring = lead.scoring
    if correction is None:  # which stays with its scoring
        scoring = chosen(scoring, calibrations, counts.classes)
    return Contents(
        counts=counts,
        scoring=scoring,
        calibrations=calibrations,
        history=history,
        records=_last_counted(records, counts, history.keep),
        correction=correction,
        keeps_histograms=any(part.keeps_histograms for part in parts),
        policy=parts[-1].policy,
        texts=texts,
    )


def _leading(parts: Sequence[Contents]) -> Contents:
    """
    Return the model that says how the sum is scored.

    It is the one that has a correction, or else the last. But of models that ask for
    the same, smoothing and parameters aside, which training chooses, it is the one with
    the most held-out documents, the last of several.
    """
    for part in parts:
        if part.correction is not None:
            return part
    last = parts[-1].scoring
    alike = [
        part
        for part in parts
        if last
        == part.scoring._replace(smoothing=last.smoothing, parameters=last.parameters)
    ]
    return max(alike[::-1], key=_n_held_out)


def _n_held_out(contents: Contents) -> int:
    """Return how many held-out documents say something of a model's scores."""
    own = calibration_for(contents.scoring, contents.calibrations)
    return 0 if own is None else sum(own.documents.values())


def _joined(one: Texts, other: Texts) -> Texts:
    """Return the texts that any of two models has, None if neither keeps any."""
    if one is None or other is None:
        return other if one is None else one
    return tuple(joined(of_view) for of_view in zip(one, other, strict=True))


def _last_counted(records: UndoRecords, counts: CountTable, keep: int) -> UndoRecords:
    """Return the last records of documents that are counted, at most `keep`."""
    ledgers = dict(zip(counts.classes, counts.ledger, strict=True))

    def is_counted(digest: bytes, row: Row) -> bool:
        if row.label not in ledgers:
            return False
        entries = ledgers[row.label].entries
        wanted = [*halves(digest), row.fingerprint]
        place = bisect_left(entries, wanted, key=lambda entry: entry.tolist())
        found: list[list[int]] = entries[place : place + 1].tolist()
        return found == [wanted]

    return last_counted(records, keep, is_counted)


def take_doubles(
    merged: Merged,
    files: Sequence[ModelFile],
    items: Iterable[Item],
    *,
    max_bytes: int,
    on_problem: OnProblem,
) -> None:
    """
    Take away what documents have left more than once.

    A document stays where the last of the models has it.

    Args:
        merged: the sum; its contents are replaced.
        files: the models.
        items: the documents; those that are in one model only are passed over.
        max_bytes: how much of a document is read.
        on_problem: told of each document that cannot be read, and of notes.

    Raises:
        NotAModelError: the models do not hold what their ledgers say.
        SettingsError: the models keep no ledger.
    """
    settings, doubles = files[0].settings, Doubles(files)
    if not settings.ledger:
        message = (
            f"{files[0].path}: the models keep no ledger, so nobody knows which "
            "documents both have counted; merge them without "
            f"{wording.named('items')}"
        )
        raise SettingsError(message)
    delta = Delta(settings)
    corrected = [
        model_of(file).remembering() for file in files if file.correction is not None
    ]
    done: set[bytes] = set()
    for batch in batches(items, max_bytes, on_problem):
        for document in batch:
            reading = read_keys(document, settings)
            if reading.digest in done:
                continue
            done.add(reading.digest)
            double = doubles.find(reading.digest)
            if double is None:
                continue
            bag = bag_of(reading, settings)
            reason = _take(delta, files, corrected, reading.digest, double, bag)
            if reason:
                merged.refused.append((document.name, reason))
            else:
                merged.taken += 1
    delta.correction.check(files[0].path)
    merged.contents = _changed(files, merged.contents, delta)


def _changed(files: Sequence[ModelFile], contents: Contents, delta: Delta) -> Contents:
    """Return the sum of models with a delta, which takes documents away."""
    counts = add([contents.counts, count_table(delta)])
    try:
        counts.check()
    except TrainingError as error:
        check = wording.call("upkeep.check_model")
        message = f"{files[0].path}: damaged: {error}; see `{check}`"
        raise NotAModelError(message) from error
    keep = contents.history.keep
    kept = join_records(last_records(file, file.tables, keep) for file in files)
    records = _last_counted(kept, counts, keep)
    info = None if contents.correction is None else contents.correction.info
    change = correction_table(delta, info)
    correction = add_corrections([contents.correction, change])
    return replace(contents, counts=counts, records=records, correction=correction)


def _take(
    delta: Delta,
    files: Sequence[ModelFile],
    corrected: Sequence[Model],
    digest: bytes,
    double: Double,
    bag: Bag,
) -> str:
    """Take away what counts a document too often, or say why that cannot be."""
    own = fingerprint(bag)
    removed: list[tuple[Row, Bag, int]] = []
    for row, count in (double.rows - double.kept).items():
        having = [file for file in files if row in rows_of(file, digest)]
        records = (record_of(file, digest, row) for file in having)
        record = next((record for record in records if record is not None), None)
        if record is None and row.fingerprint != own:
            return f"{having[0].path}: {why_not(row, double.rows)}"
        removed.append((row, bag if record is None else record.bag, count))
    for row, counted, count in removed:
        delta.add(digest, row, counted, -count)
        # what the document has added to a correction stays as long as the row does, and
        # is that of the other row then
        same = (kept for kept in double.kept if kept.fingerprint == row.fingerprint)
        to = next(same, None)
        for model in corrected if count == double.rows[row] else ():
            delta.correction.take(model, digest, row, counted, to)
    return ""
