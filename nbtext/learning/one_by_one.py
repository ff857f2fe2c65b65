"""
A few documents learnt or forgotten: a plan goes in, the bytes of a table come out.

This is the plain engine, on the standard library and msgpack; `nbtext.learning.in_bulk`
does the same for many documents.
"""

from typing import NamedTuple

from nbtext.counts import Calibration
from nbtext.learning.correction_change import CorrectionChange
from nbtext.learning.delta import Delta, UndoRecord, with_delta
from nbtext.learning.delta_writing import pack_delta
from nbtext.learning.plan import Plan, Step, calibrated, history_of, keep_of, why_not
from nbtext.learning.teaching import teach
from nbtext.scoring import Model
from nbtext.scoring.models.registry import is_one_number
from nbtext.scoring.observed import bins_of, losses_taken_back, observed, taken_back
from nbtext.store import Row, record_of, rows_of
from nbtext.store.appending import WRITER, now
from nbtext.store.blocks import Buffer
from nbtext.store.ledger import FORGOTTEN, Record
from nbtext.tokens import Bag, bag_of, fingerprint


class Removal(NamedTuple):
    """
    What is taken away before a document is learnt anew, or for good.

    Attributes:
        delta: the counts.
        records: what it left where that is kept, each with its class.
        refusal: why it cannot be taken away, empty if it can.
    """

    delta: Delta
    records: list[tuple[str, Record]]
    refusal: str = ""

    def include(self, other: "Removal") -> None:
        """Take away another document as well, if there is a record of it."""
        if other.records:
            self.delta.include(other.delta)
            self.records.extend(other.records)


def learn_few(plan: Plan) -> list[Buffer]:
    """
    Carry out a plan for a few documents.

    Returns:
        The bytes of the table to append, none if nothing changes.

    Raises:
        DamagedError: the model does not hold what its ledger says.
    """
    model = plan.model
    if model is not None:  # terms are looked up for scoring and for checking
        model = model.remembering()
        plan = plan._replace(model=model)
    delta = Delta(plan.batch.settings, model)
    taught = CorrectionChange(plan.batch.settings)
    seen: list[tuple[Calibration, ...]] = []
    removed = Removal(Delta(plan.batch.settings, model), [])
    n_changed = 0
    for step in plan.steps:
        bag = bag_of(plan.batch.readings[step.place], plan.batch.settings)
        removal = removal_of(plan, step, bag, delta)
        plan.enter(step, removal.refusal)
        if not removal.refusal:
            n_changed += 1
            removed.include(removal)
            delta.include(removal.delta)
            if step.label is not None and not step.is_there:
                seen.append(_learn(plan, step, bag, removal.delta, delta))
                if model is not None:
                    _teach(model, removal.delta, delta, taught)
    if not n_changed:
        return []
    if model is not None:
        seen += scores_taken_back(model, removed)
        delta.correction.include(taught)
        delta.check_sums(model)
    found = calibrated(
        plan, seen, {label: delta.sums(label) for label in delta.classes}
    )
    keep = keep_of(plan)
    delta.records = delta.records[max(len(delta.records) - keep, 0) :]
    return pack_delta(
        delta,
        scoring=found.scoring,
        calibrations=found.calibrations,
        fit=found.fit,
        correction=model.file.correction if model else None,
        policy=model.policy if model else None,
        history=history_of(plan, n_changed, delta.new_terms(model) if model else ()),
        histograms=(
            delta.histograms(model) if model and model.file.keeps_histograms else None
        ),
        written=now(),
        writer=WRITER,
    )


def removal_of(plan: Plan, step: Step, bag: Bag, so_far: Delta) -> Removal:
    """Gather what a document left where it is not to be counted any more."""
    removal = Removal(Delta(plan.batch.settings, plan.model), [])
    model = plan.model
    if model is None or not step.rows:
        return removal
    delta, digest = removal.delta, plan.batch.readings[step.place].digest
    own = fingerprint(bag)
    to = destination(plan, step, own)
    for row, count in step.rows.items():
        record = record_of(model.file, digest, row)
        counted = bag if record is None else record.bag
        if record is not None:
            delta.add(digest, row, counted, -count)
            removal.records.append((row.label, record))
        elif row.fingerprint == own:
            delta.add(digest, row, bag, -count)
        elif row.fingerprint == FORGOTTEN and plan.request.approximate:
            delta.take_what_is_left(model, so_far, digest, row, bag, count)
        else:
            return removal._replace(refusal=why_not(row, step.rows))
        delta.correction.take(model, digest, row, counted, to)
    return removal


def scores_taken_back(model: Model, removed: Removal) -> list[tuple[Calibration, ...]]:
    """Return what undoes the observation of the scores of documents on record."""
    if is_one_number(model.scoring):
        return [
            taken_back(model, record.bins, label) for label, record in removed.records
        ]
    without = with_delta(model, removed.delta) if removed.records else model
    return [
        losses_taken_back(model, record.bins, record.bag, label, without)
        for label, record in removed.records
    ]


def destination(plan: Plan, step: Step, mark: int) -> Row | None:
    """Return where a document is counted afterwards by its terms; None if nowhere."""
    model = plan.model
    if step.label is None or model is None:
        return None
    to = Row(step.label, mark)
    digest = plan.batch.readings[step.place].digest
    return to if not step.is_there or to in rows_of(model.file, digest) else None


def _learn(
    plan: Plan, step: Step, bag: Bag, removal: Delta, delta: Delta
) -> tuple[Calibration, ...]:
    """Add a document to a change; return what its scores say for calibration."""
    digest, label = plan.batch.readings[step.place].digest, step.label or ""
    observation: tuple[Calibration, ...] = ()
    if plan.model is not None and not plan.request.regime.is_choosy:
        observation = observation_of(plan.model, removal, bag, label)
    bins = bins_of(observation)
    row = Row(label, fingerprint(bag))
    delta.add(digest, row, bag)
    delta.records.append(UndoRecord(digest, row, bag, bins))
    return observation


def _teach(
    model: Model, removal: Delta, delta: Delta, taught: CorrectionChange
) -> None:
    """Have the document that was learnt last teach the correction, if there is one."""
    if model.correction is None:
        return
    last = delta.records[-1]
    label = last.row.label
    known = dict(zip(model.classes, model.documents, strict=True)).get(label, 0)
    if known + delta.documents[label] < 2:
        return  # it is all that its class has
    without = with_delta(model, removal) if removal.ledger else model
    teach(without, last.digest, last.row, last.bag, taught)


def observation_of(
    model: Model, removal: Delta, bag: Bag, label: str
) -> tuple[Calibration, ...]:
    """Return what the model says of a document that it does not know."""
    without = with_delta(model, removal) if removal.ledger else model
    if len(model.classes) < 2 or not all(without.documents):
        return ()
    return observed(without, bag, label)
