"""
Many documents learnt or forgotten at once: `nbtext.learning.one_by_one` by arrays.

A plan goes in, the bytes of a table come out. Documents that are new are counted and
scored by the batch engine; what has to be taken away before is gathered document by
document, as there, and what moves is scored so, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nbtext.learning.plan import Plan, Step
    from nbtext.scoring import Model
    from nbtext.scoring.batch_model import BatchModel
    from nbtext.store.blocks import Buffer
    from nbtext.tokens import Bag, Terms

from nbtext.counts import Calibration, Counter, CountTable, Sample, bin_of, n_terms
from nbtext.counts.count_histograms import histograms_of
from nbtext.counts.counter import BATCH, LEAST_SIZE
from nbtext.counts.histograms import Histograms, added, negative
from nbtext.counts.sample import DOCUMENTS
from nbtext.counts.table import add, with_classes
from nbtext.errors import DamagedError, TrainingError, memory_for_model
from nbtext.learning.calibrate_new_class import new_class_calibration
from nbtext.learning.delta import Delta, check_sums
from nbtext.learning.delta_table import correction_table, count_table
from nbtext.learning.one_by_one import bins_of, observation_of, removal_of
from nbtext.learning.plan import calibrated, history_of, keep_of
from nbtext.scoring import event_model
from nbtext.scoring.batch import keep_memory, raw_scores
from nbtext.scoring.batch_model import open_batch_model
from nbtext.scoring.candidates import candidates
from nbtext.scoring.leave_one_out import observed_scores
from nbtext.store import Contents, Row, UndoRecords
from nbtext.store.ledger import MOST_TERMS, amounts_of
from nbtext.store.packing import unpack
from nbtext.store.undo import join_records
from nbtext.tokens import fingerprints, read_terms

NO_SAMPLE: Final = 0

ALL: Final = 1 << 62
"""More terms than any sample has."""


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
        self._counter = Counter(settings, sample=_first_sample(plan))
        self._taken = Counter(settings, sample=Sample(documents=NO_SAMPLE))
        self._removal = Delta(settings)
        self._seen: list[tuple[Calibration, ...]] = []
        self._records: list[UndoRecords] = []
        self._model: BatchModel | None = None
        is_learning = plan.request.label is not None
        if is_learning and plan.model is not None and len(plan.model.classes) > 1:
            with memory_for_model(plan.model.path):
                self._model = open_batch_model(plan.model)

    def carry_out(self, steps: Sequence[Step]) -> None:
        """Learn or forget some documents."""
        plan = self._plan
        readings = [plan.batch.readings[step.place] for step in steps]
        views = read_terms(plan.batch.settings, [one.views for one in readings])
        marks = fingerprints(views).tolist()
        done = []
        # place of a document that moves to what its scores say of the class it comes to
        moved: dict[int, tuple[Calibration, ...]] = {}
        for place, step in enumerate(steps):
            if step.rows and set(step.rows) == _rows_left(step, views, place, marks):
                plan.enter(step, "")
                self._take_away(step, readings[place].digest, views, place)
                without = Delta(plan.batch.settings)
                for row, count in step.rows.items():
                    bag = _bag(views, place)
                    without.add(readings[place].digest, row, bag, -count)
                moved[place] = self._observe_moved(step, without, bag)
            elif step.rows:
                bag = _bag(views, place)
                removal = removal_of(plan, step, bag, self._removal)
                plan.enter(step, removal.refusal)
                if removal.refusal:
                    continue
                self._removal.include(removal.delta)
                self._seen += removal.taken_back
                moved[place] = self._observe_moved(step, removal.delta, bag)
            else:
                plan.enter(step, "")
            self.n_changed += 1
            if not step.is_there:
                done.append(place)
        if plan.request.label is not None and done:
            digests = [readings[place].digest for place in done]
            observations = [moved.get(place) for place in done]
            chosen = np.array(done, np.int64)
            terms = [of_view.take(chosen) for of_view in views]
            self._learn(plan.request.label, digests, terms, observations)

    def _take_away(
        self, step: Step, digest: bytes, views: Sequence[Terms], place: int
    ) -> None:
        """Take a large document away, which has the terms that it was counted with."""
        terms = [of_view.take(np.array([place])) for of_view in views]
        for row, count in step.rows.items():
            for _ in range(count):
                self._taken.add_terms([row.label], [digest], terms)
            self._take_correction(digest, row, _bag(views, place))

    def _observe_moved(
        self, step: Step, removal: Delta, bag: Bag
    ) -> tuple[Calibration, ...]:
        """Score a document as it was not known; none if it is not to be counted."""
        model, label = self._plan.model, self._plan.request.label
        if model is None or label is None or step.is_there:
            return ()
        return observation_of(model, removal, bag, label)

    def _take_correction(self, digest: bytes, row: Row, bag: Bag) -> None:
        """Take back what a document has added to the correction of the model."""
        model = self._plan.model
        amounts = amounts_of(model.file, digest, row) if model else {}
        self._removal.correction.take(digest, row, bag, amounts)

    def _learn(
        self,
        label: str,
        digests: Sequence[bytes],
        views: Sequence[Terms],
        observations: Sequence[tuple[Calibration, ...] | None],
    ) -> None:
        """
        Count documents, and add their scores to the calibration.

        Args:
            label: their class.
            digests: what names them.
            views: for each view their terms.
            observations: what the scores of those say that move; None of new ones.

        """
        self._counter.add_terms([label] * len(digests), digests, views)
        are_new = [observation is None for observation in observations]
        bins = self._observe(label, views, np.flatnonzero(are_new))
        for place, observation in enumerate(observations):
            if observation is not None:
                self._seen.append(observation)
                bins[place] = bins_of(observation)
        rows = [Row(label, mark) for mark in fingerprints(views).tolist()]
        sizes = sum((terms.sizes for terms in views), np.zeros(len(digests), np.int64))
        kept = np.flatnonzero(sizes <= MOST_TERMS).tolist()
        self._records.append(UndoRecords(digests, rows, bins, views).take(kept))

    def _observe(
        self, label: str, views: Sequence[Terms], new: np.typing.NDArray[np.int64]
    ) -> list[tuple[int, ...]]:
        """Score documents as they were not known; return the bins of their scores."""
        bins: list[tuple[int, ...]] = [()] * (len(views[0].starts) - 1)
        model = self._model
        if model is None or label not in model.classes or not len(new):
            return bins
        scorings = candidates(model.scoring)
        scores = raw_scores(model, scorings, [terms.take(new) for terms in views])
        labels = [label] * len(new)
        self._seen.append(observed_scores(model, scorings, scores, labels))
        if event_model(model.scoring.score).calibration == "histogram":
            by_document = zip(*(values.tolist() for values in scores), strict=True)
            for place, values in zip(new.tolist(), by_document, strict=True):
                bins[place] = tuple(map(bin_of, values))
        return bins

    def pack(self) -> list[Buffer]:
        """
        Return the bytes of the table that does all of it.

        Raises:
            DamagedError: the model does not hold what its ledger says.

        """
        plan = self._plan
        taken = -self._taken.table()
        delta = add([self._counter.table(), taken, count_table(self._removal)])
        new_terms: tuple[int, ...] = ()
        histograms: Histograms | None = None
        if plan.model is not None:
            with memory_for_model(plan.model.path):
                before = unpack(plan.model.file)
                after = add([before, delta])
            try:
                after.check()
            except TrainingError as error:
                raise DamagedError(plan.model.path, 0, str(error)) from error
            _check_sums(plan.model, delta)
            self._seen.append(self._first_scores(plan.model, after))
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
        correction = correction_table(self._removal, info)
        if correction is not None:
            delta = with_classes(delta, correction.classes)
        records = join_records(self._records)
        first = max(len(records) - keep_of(plan), 0)
        return Contents(
            counts=delta,
            scoring=found.scoring,
            calibrations=found.calibrations,
            fit=found.fit,
            history=history_of(plan, self.n_changed, new_terms),
            records=records.take(range(first, len(records))),
            correction=correction,
            histograms=histograms,
        ).pack()

    def _first_scores(self, model: Model, after: CountTable) -> tuple[Calibration, ...]:
        """Score what could not be scored before it was learnt, nor then."""
        plan = self._plan
        if plan.request.label is None:
            return ()
        known = [step.place for step in plan.steps if step.rows]
        changed = {plan.batch.readings[place].digest for place in known}
        return new_class_calibration(model, after, self._counter.sample, changed)


def _first_sample(plan: Plan) -> Sample:
    """Return what samples documents that begin a class, and no others."""
    # the terms of a batch are few enough; where batches end must not show
    return Sample(documents=DOCUMENTS if plan.begins_class else NO_SAMPLE, terms=ALL)


def _check_sums(model: Model, delta: CountTable) -> None:
    """Refuse to leave fewer documents or tokens than none, as `check_sums` does."""
    for place, label in enumerate(delta.classes):
        runs = [of_view[place] for of_view in delta.runs]
        totals = [run.totals() for run in runs]
        check_sums(model, label, delta.documents[place], totals)


def _rows_left(
    step: Step, views: Sequence[Terms], place: int, marks: Sequence[int]
) -> set[Row]:
    """
    Return which rows of a large document hold the counts that it has now.

    One that is not large is taken away by its record, if there is one, which knows
    more: what its score said for calibration.
    """
    n_terms = sum(int(np.diff(terms.starts[place : place + 2])[0]) for terms in views)
    if n_terms <= MOST_TERMS:
        return set()
    return {row for row in step.rows if row.fingerprint == marks[place]}


def _bag(views: Sequence[Terms], place: int) -> Bag:
    """Return one of many documents as the plain engine has it."""
    parts = [slice(*terms.starts[place : place + 2].tolist()) for terms in views]
    return tuple(
        dict(zip(terms.keys[part].tolist(), terms.counts[part].tolist(), strict=True))
        for terms, part in zip(views, parts, strict=True)
    )
