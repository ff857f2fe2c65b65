"""
Scores for calibration of classes that nothing has been scored for yet.

A document that is learnt is scored before, as one that the model does not know. That
cannot be done where many documents begin a class: there is nothing to score them for.
So they are scored afterwards, as in training, each as if it alone had not been learnt
(`nbtext.scoring.leave_one_out`); and so are, when a second class makes scores possible,
the documents of the first of which the model keeps the counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from nbtext.counts import Calibration, CountTable, Sample
    from nbtext.scoring import Model
    from nbtext.scoring.leave_one_out import Labelled

    Digests: TypeAlias = Collection[bytes]

from nbtext.counts.calibration import calibration_for
from nbtext.counts.sample import DOCUMENTS
from nbtext.scoring import event_model
from nbtext.scoring.batch_model import batch_model_of
from nbtext.scoring.leave_one_out import left_out
from nbtext.store.calibrations import calibrations_of
from nbtext.store.undo import last_records


def new_class_calibration(
    model: Model, after: CountTable, new: Sample, changed: Digests
) -> tuple[Calibration, ...]:
    """
    Score what could not be scored before.

    Args:
        model: as it was.
        after: its counts and those that are learnt now, added up.
        new: documents of a class that begins with them.
        changed: the digests of documents that were known, and are learnt otherwise now.

    Returns:
        What the scores say for calibration, none if there is no need of any.

    Raises:
        DamagedError: what the model keeps for calibration is none.

    """
    living = [
        name
        for name, count in zip(after.classes, after.documents, strict=True)
        if count
    ]
    event = event_model(model.scoring.score)
    if len(living) < 2:
        return ()
    if event.refusal(model.scoring, model.settings, living):
        return ()
    kept = calibrations_of(model.path, model.file.tables)
    calibration = calibration_for(model.scoring, kept)
    known = {} if calibration is None else calibration.documents
    unknown = {name for name in living if name in model.classes and not known.get(name)}
    batches: list[Labelled] = [(block.labels, block.views) for block in new.blocks()]
    if unknown:
        batches += _kept(model, unknown, changed)
    if not batches:
        return ()
    return left_out(batch_model_of(after, model.scoring), batches).calibrations


def _kept(
    model: Model, labels: Collection[str], changed: Digests
) -> Iterator[Labelled]:
    """Yield the documents of some classes of which the model keeps the counts."""
    records = last_records(model.file, model.file.tables, DOCUMENTS)
    chosen = records.take(
        [
            place
            for place, (digest, row) in enumerate(
                zip(records.digests, records.rows, strict=True)
            )
            if row.label in labels and digest not in changed
        ]
    )
    if len(chosen):
        yield [row.label for row in chosen.rows], chosen.views
