"""
Many documents learnt or forgotten at once: `nbtext.learning.one_by_one` by arrays.

A plan goes in, the bytes of a table come out. Documents are counted and scored by the
batch engine; those that move are left out of their class for it. Only what was counted
with other terms than it has now, or more than once, is dealt with as there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nbtext.counts.correction_table import Correction
    from nbtext.learning.plan import Plan, Step
    from nbtext.scoring import Model
    from nbtext.scoring.batch_model import BatchModel
    from nbtext.store.blocks import Buffer
    from nbtext.tokens import Bag, Terms

from nbtext.counts import Calibration, Counter, CountTable, Sample, bin_of, n_terms
from nbtext.counts.correction_table import add_corrections
from nbtext.counts.count_histograms import histograms_of
from nbtext.counts.counter import BATCH, LEAST_SIZE
from nbtext.counts.histograms import Histograms, added, negative
from nbtext.counts.table import add, with_classes
from nbtext.errors import DamagedError, TrainingError, memory_for_model
from nbtext.learning.delta import Delta, check_sums
from nbtext.learning.delta_table import correction_table, count_table
from nbtext.learning.one_by_one import (
    Removal,
    destination,
    observation_of,
    removal_of,
    scores_taken_back,
)
from nbtext.learning.plan import calibrated, history_of, keep_of
from nbtext.learning.scored_afterwards import scored_afterwards
from nbtext.learning.teaching_in_bulk import Lesson, taught_by
from nbtext.learning.usual_products import usual_products
from nbtext.scoring.batch import keep_memory
from nbtext.scoring.batch_mixed import scores_by
from nbtext.scoring.batch_model import batch_model_of, corrected, open_batch_model
from nbtext.scoring.candidates import candidates
from nbtext.scoring.held_out import no_calibrations
from nbtext.scoring.leave_one_out import (
    check_left_out,
    observed_scores,
    scores_left_out,
    with_corrected,
)
from nbtext.scoring.models.registry import is_one_number
from nbtext.scoring.observed import bins_of
from nbtext.store import Contents, Row, UndoRecords, record_of
from nbtext.store.corrections import read_correction
from nbtext.store.ledger import LOSSES, MOST_TERMS
from nbtext.store.packing import unpack
from nbtext.store.undo import join_records
from nbtext.tokens import fingerprints, read_terms

ALL: Final = 1 << 62
"""More terms than any sample has."""

COPIES: Final = 16
"""A document that was counted more often is taken away by itself, times a number: a
file may say any, and arrays have each copy."""


def learn_many(plan: Plan) -> list[Buffer]:
    """
    Carry out a plan for many documents.

    Returns:
        The bytes of the table to append, none if nothing changes.

    Raises:
        DamagedError: the model does not hold what its ledger says.
    """
    keep_memory()
    changes = _Changes(plan)
    for steps in _parts(plan):
        changes.carry_out(steps)
    return changes.pack() if changes.n_changed else []


def _parts(plan: Plan) -> Iterator[list[Step]]:
    """Yield steps in parts, each of about BATCH code points."""
    done = 0
    while done < len(plan.steps):
        part: list[Step] = []
        size = 0
        for step in plan.steps[done:]:
            part.append(step)
            size += max(plan.batch.readings[step.place].size, LEAST_SIZE)
            if size >= BATCH:
                break
        done += len(part)
        yield part


@dataclass(frozen=True, slots=True)
class _Part:
    """
    Some documents of a plan, and their terms.

    Attributes:
        steps: what is to be done about each.
        digests: what names each.
        views: for each view their terms.
        marks: the fingerprint of each.
    """

    steps: Sequence[Step]
    digests: Sequence[bytes]
    views: Sequence[Terms]
    marks: Sequence[int]

    @classmethod
    def of(cls, plan: Plan, steps: Sequence[Step]) -> _Part:
        """Gather the terms of documents."""
        readings = [plan.batch.readings[step.place] for step in steps]
        views = read_terms(plan.batch.settings, [one.views for one in readings])
        digests = [reading.digest for reading in readings]
        return cls(steps, digests, views, fingerprints(views).tolist())

    def is_as_counted(self, place: int) -> bool:
        """Return whether a document is counted as its terms are now, a few times."""
        rows = self.steps[place].rows
        marks = {row.fingerprint for row in rows}
        return marks == {self.marks[place]} and rows.total() <= COPIES

    def labels(self, places: Sequence[int]) -> list[str]:
        """Return the classes that some of the documents are learnt as."""
        return [self.steps[place].label or "" for place in places]

    def terms(self, places: Sequence[int]) -> list[Terms]:
        """Return for each view the terms of some of the documents."""
        chosen = np.array(places, np.int64)
        return [terms.take(chosen) for terms in self.views]

    def bag(self, place: int) -> Bag:
        """Return one of the documents as the plain engine has it."""
        return tuple(terms.bag(place) for terms in self.views)


class _Changes:
    """
    What a plan has come to so far.

    Attributes:
        n_changed: how many documents were learnt, moved or forgotten.
    """

    def __init__(self, plan: Plan) -> None:
        settings = plan.batch.settings
        self.n_changed = 0
        self._plan = plan
        self._is_scored_afterwards = plan.is_outgrown or plan.begins_class
        # the terms of a batch are few enough; where batches end must not show
        sample = Sample(terms=ALL) if self._is_scored_afterwards else None
        self._counter = Counter(settings, sample=sample)
        self._taken = Counter(settings)
        self._removal = Delta(settings)
        self._unscored = Delta(settings, plan.model)
        self._seen: list[tuple[Calibration, ...]] = []
        self._records: list[UndoRecords] = []
        self._model: BatchModel | None = None
        self._counts: BatchModel | None = None
        self._before: CountTable | None = None  # what the model has counted
        self._lessons: list[Lesson] = []
        self._is_observed = not (
            plan.request.forgets
            or plan.request.regime.is_choosy
            or self._is_scored_afterwards
        )
        model = plan.model
        if self._is_observed and model is not None and len(model.classes) > 1:
            self._model = self._opened(model)

    def _opened(self, model: Model) -> BatchModel:
        """Return the model as many documents are scored by it."""
        with memory_for_model(model.path):
            if len(model.file.tables) > 1:
                self._before = unpack(model.file)
            return open_batch_model(model, self._before)

    def carry_out(self, steps: Sequence[Step]) -> None:
        """Learn or forget some documents."""
        plan = self._plan
        part = _Part.of(plan, steps)
        done: list[int] = []
        # where the scores fell of documents that move
        bins: dict[int, tuple[int, ...]] = {}
        # place of a document that is counted once, in another class, to that class
        left_out: dict[int, str] = {}
        usual = self._usual_products(part)
        recorded = Removal(self._unscored, [])
        for place, step in enumerate(steps):
            removal = None
            if step.rows and not part.is_as_counted(place):
                removal = removal_of(plan, step, part.bag(place), self._removal)
            plan.enter(step, removal.refusal if removal else "")
            if removal and removal.refusal:
                continue
            if removal:
                self._removal.include(removal.delta)
                recorded.include(removal)
            elif step.rows:
                self._take_scores(
                    part, place, recorded, usual[place] if usual else None
                )
            self.n_changed += 1
            if step.is_there:
                continue
            done.append(place)
            label = None if removal else self._only_class(step)
            if label is not None:
                left_out[place] = label
            elif step.rows:
                bins[place] = self._observe_moved(part, place, removal)
        self._take_away(part)
        if plan.model is not None:
            self._seen += scores_taken_back(plan.model, recorded)
        if not plan.request.forgets:
            new = [place for place in done if not steps[place].rows]
            bins |= self._observe(part, new)
            bins |= self._observe(part, [*left_out], left_out)
            self._learn(part, done, bins)
            self._teach(part, done)

    def _teach(self, part: _Part, places: Sequence[int]) -> None:
        """Have documents that are learnt teach the correction, if there is one."""
        model = self._plan.model
        if places and model is not None and model.correction is not None:
            rows = [(part.digests[place], part.marks[place]) for place in places]
            lesson = Lesson(rows, part.labels(places), part.terms(places))
            self._lessons.append(lesson)

    def _take_away(self, part: _Part) -> None:
        """Take away the documents that are as they were counted."""
        # by class, as a counter takes them
        taken = sorted(
            (row.label, place)
            for place, step in enumerate(part.steps)
            if part.is_as_counted(place)
            for row in step.rows.elements()
        )
        if taken:
            places = [place for _, place in taken]
            self._taken.add_terms(
                [label for label, _ in taken],
                [part.digests[place] for place in places],
                part.terms(places),
            )

    def _usual_products(self, part: _Part) -> list[float]:
        """Return what documents give others of a correction; none if all are kept."""
        model = self._plan.model
        if model is None or model.file.correction is None:
            return []
        # they move, but for a few; and there are no scores of one class
        if not self._plan.request.forgets or len(model.classes) < 2:
            return []
        if self._counts is None:
            self._counts = self._opened(model)
        return usual_products(self._counts, part.views)

    def _take_scores(
        self, part: _Part, place: int, recorded: Removal, usual: float | None
    ) -> None:
        """Add a document to those recorded; take back parts of a correction."""
        model, digest = self._plan.model, part.digests[place]
        if model is None:
            return
        to = destination(self._plan, part.steps[place], part.marks[place])
        found = [
            (row, record_of(model.file, digest, row)) for row in part.steps[place].rows
        ]
        records = [(row.label, record) for row, record in found if record]
        recorded.records.extend(records)
        if records and not is_one_number(model.scoring):
            recorded.delta.include(self._removal_of(part, place, model))
        if model.file.correction is not None:
            for row, _ in found:
                bag = part.bag(place)
                self._removal.correction.take(model, digest, row, bag, to, usual)

    def _removal_of(self, part: _Part, place: int, model: Model) -> Delta:
        """Return what takes away a document that is as it was counted."""
        removal = Delta(model.settings, model)
        for row, count in part.steps[place].rows.items():
            removal.add(part.digests[place], row, part.bag(place), -count)
        return removal

    def _only_class(self, step: Step) -> str | None:
        """Return the class of which a document can be left out by arrays."""
        if self._model is None or step.rows.total() != 1:
            return None
        [row] = step.rows
        place = self._model.classes.index(row.label)
        return row.label if self._model.documents[place] > 1 else None

    def _observe_moved(
        self, part: _Part, place: int, removal: Removal | None
    ) -> tuple[int, ...]:
        """Score a document as it was not known; return the bins of its scores."""
        model, label = self._plan.model, part.steps[place].label
        if model is None or label is None or not self._is_observed:
            return ()
        taken = removal.delta if removal else self._removal_of(part, place, model)
        observation = observation_of(model, taken, part.bag(place), label)
        self._seen.append(observation)
        return bins_of(observation)

    def _observe(
        self,
        part: _Part,
        places: Sequence[int],
        left_out: Mapping[int, str] | None = None,
    ) -> dict[int, tuple[int, ...]]:
        """
        Score documents as they were not known; return the bins of their scores.

        Args:
            part: some documents.
            places: which of them.
            left_out: place of a document that is known to its class; None if none is.

        Raises:
            DamagedError: the model does not hold what its ledger says.
        """
        model = self._model
        if model is None or not places:
            return {}
        terms = part.terms(places)
        if left_out is None:
            scores = scores_by(model, candidates(model.scoring), model.find(terms))
        else:
            with np.errstate(all="ignore"):  # what that comes to is looked at
                known_as = [left_out[one] for one in places]
                scores = scores_left_out(model, known_as, terms)
            check_left_out(scores, self._plan.request.path)
        scores = with_corrected(model, scores, terms)
        nothing, labels = no_calibrations(model), part.labels(places)
        self._seen.append(observed_scores(model, nothing, scores, labels))
        columns = [
            [LOSSES] * len(places) if one.losses else [*map(bin_of, values.tolist())]
            for one, values in zip(nothing, scores, strict=True)
        ]
        return dict(zip(places, zip(*columns, strict=True), strict=True))

    def _learn(
        self, part: _Part, places: Sequence[int], bins: Mapping[int, tuple[int, ...]]
    ) -> None:
        """Count documents, and keep what undoes that."""
        if not places:
            return
        # by class, as a counter takes them; records stay in the order of documents
        by_class = sorted(places, key=lambda place: part.steps[place].label or "")
        self._counter.add_terms(
            part.labels(by_class),
            [part.digests[place] for place in by_class],
            part.terms(by_class),
        )
        labels, views = part.labels(places), part.terms(places)
        digests = [part.digests[place] for place in places]
        rows = [*map(Row, labels, (part.marks[place] for place in places))]
        all_bins = [bins.get(place, ()) for place in places]
        sizes = sum((terms.sizes for terms in views), np.zeros(len(places), np.int64))
        kept = np.flatnonzero(sizes <= MOST_TERMS).tolist()
        self._records.append(UndoRecords(digests, rows, all_bins, views).take(kept))

    def pack(self) -> list[Buffer]:
        """
        Return the bytes of the table that does all of it.

        Raises:
            DamagedError: the model does not hold what its ledger says.
        """
        plan = self._plan
        less = -self._taken.table()
        delta = add([self._counter.table(), less, count_table(self._removal)])
        taught: Correction | None = None
        new_terms: tuple[int, ...] = ()
        histograms: Histograms | None = None
        if plan.model is not None:
            with memory_for_model(plan.model.path):
                before = self._before or unpack(plan.model.file)
                after = add([before, delta])
            try:
                after.check()
            except TrainingError as error:
                raise DamagedError(plan.model.path, 0, str(error)) from error
            _check_sums(plan.model, delta)
            self._removal.correction.check(plan.model.path)
            self._score_afterwards(plan.model, after)
            taught = self._taught(plan.model, after)
            new_terms = tuple(
                map(int.__sub__, map(n_terms, after.runs), map(n_terms, before.runs))
            )
            if plan.model.file.keeps_histograms:
                counted = histograms_of(after), negative(histograms_of(before))
                histograms = added(counted)
        more = {
            label: [
                delta.documents[place],
                *(n for runs in delta.runs for n in runs[place].totals()),
            ]
            for place, label in enumerate(delta.classes)
        }
        found = calibrated(plan, self._seen, more)
        info = plan.model.file.correction if plan.model else None
        taken = correction_table(self._removal, info)
        correction = add_corrections([taken, taught], are_changes=True)
        if correction is not None:
            delta = with_classes(delta, correction.classes)
        records = join_records(self._records)
        first = max(len(records) - keep_of(plan), 0)
        records = records.take(range(first, len(records)))
        delta = with_classes(delta, [*delta.classes, *(r.label for r in records.rows)])
        return Contents(
            counts=delta,
            scoring=found.scoring,
            calibrations=found.calibrations,
            fit=found.fit,
            history=history_of(plan, self.n_changed, new_terms),
            records=records,
            correction=correction,
            histograms=histograms,
            policy=plan.model.policy if plan.model else None,
        ).pack()

    def _taught(self, model: Model, after: CountTable) -> Correction | None:
        """Return what documents teach the correction of a model, if it has one."""
        if model.correction is None or not self._lessons:
            return None
        before = read_correction(model.file)
        if before is None or sum(map(bool, after.documents)) < 2:
            return None
        with memory_for_model(model.path):
            counts = batch_model_of(after, model.scoring)
            return taught_by(self._lessons, corrected(counts, before), before.info)

    def _score_afterwards(self, model: Model, after: CountTable) -> None:
        """Score what could not be scored before it was learnt."""
        plan = self._plan
        if plan.request.forgets or plan.request.regime.is_choosy:
            return
        known = [step.place for step in plan.steps if step.rows]
        changed = {plan.batch.readings[place].digest for place in known}
        found = scored_afterwards(
            model,
            after,
            self._counter.sample,
            changed,
            is_outgrown=self._is_scored_afterwards,
        )
        self._seen += found.calibrations
        # the latest record of a document stands
        self._records.insert(0, found.rescored.without_bins())


def _check_sums(model: Model, delta: CountTable) -> None:
    """Refuse to leave fewer documents or tokens than none, as `check_sums` does."""
    for place, label in enumerate(delta.classes):
        runs = [of_view[place] for of_view in delta.runs]
        totals = [run.totals() for run in runs]
        check_sums(model, label, delta.documents[place], totals)
