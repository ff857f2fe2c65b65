"""
Scores for calibration of documents that cannot be scored before they are learnt.

A document that is learnt is scored before, as one that the model does not know. That
cannot be done where many documents begin a class: there is nothing to score them for.
And where they are more than the model knows of their class, it would say little of what
the model says afterwards: by five mails of a class another scores otherwise than by
five and a thousand more. So they are scored afterwards, as in training, each as if it
alone had not been learnt (`nbtext.scoring.leave_one_out`); and so are the other
documents of which the model keeps the counts, if their class has no scores, or those
of a model that has been outgrown.
"""

from __future__ import annotations

from collections import Counter as Tally
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from nbtext.counts import Calibration, CountTable, Sample
    from nbtext.counts.sample import Block
    from nbtext.scoring import Model
    from nbtext.scoring.leave_one_out import Labelled

    Digests: TypeAlias = Collection[bytes]

from nbtext.counts.calibration import calibration_for
from nbtext.counts.sample import DOCUMENTS
from nbtext.scoring import event_model
from nbtext.scoring.batch_model import batch_model_of
from nbtext.scoring.leave_one_out import left_out
from nbtext.store import UndoRecords
from nbtext.store.calibrations import calibrations_of
from nbtext.store.undo import last_records

ENOUGH: Final = 50
"""So many documents of a class that are scored anew take the place of any before."""

MOST: Final = 4
"""For so many of its class a document stands at the most."""

MOST_LOST: Final = 4
"""One document may have no score any more for so many that are scored anew."""

LEAST: Final = 5
"""Where no losses are known, fewer documents than so many have none: how the first of a
class are misjudged says nothing of the others."""


class Afterwards(NamedTuple):
    """
    What scores say that were found when documents had been learnt.

    Attributes:
        calibrations: of each candidate, one after the other to be added up.
        rescored: the records of documents whose scores before are no longer counted.
    """

    calibrations: Sequence[tuple[Calibration, ...]] = ()
    rescored: UndoRecords = UndoRecords()


def scored_afterwards(
    model: Model,
    after: CountTable,
    new: Sample,
    changed: Digests,
    *,
    is_outgrown: bool = False,
) -> Afterwards:
    """
    Score what could not be scored before.

    Args:
        model: as it was.
        after: its counts and those that are learnt now, added up.
        new: documents that are learnt now, and were not scored before.
        changed: the digests of documents that were known, and are learnt otherwise now.
        is_outgrown: whether what is learnt is more than the model knew of its class.

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
        return Afterwards()
    if event.refusal(model.scoring, model.settings, living):
        return Afterwards()
    kept = calibrations_of(model.file.tables)
    calibration = calibration_for(model.scoring, kept)
    known = {} if calibration is None else calibration.documents
    fresh = Tally(label for block in new.blocks() for label in block.labels)
    unknown = {name for name in living if name in model.classes and not known.get(name)}
    if not (fresh or unknown):
        return Afterwards()
    records = _unchanged(model, changed)
    ready = fresh + Tally(row.label for row in records.rows)
    has_bins = event.calibration == "histogram"
    outdated = _outdated(known, ready, has_bins=has_bins) if is_outgrown else set()
    ready = Tally({name: ready[name] for name in fresh.keys() | unknown | outdated})
    if are_too_few(ready.total(), known, has_bins=has_bins):
        return Afterwards()
    wanted = ready
    if has_bins:
        documents = dict(zip(after.classes, after.documents, strict=True))
        wanted = _in_proportion(ready, known, documents)
    batches: list[Labelled] = [
        (block.labels, block.views) for block in _first(new, fresh & wanted)
    ]
    chosen = _last(records, wanted - fresh)
    if len(chosen):
        batches.append(([row.label for row in chosen.rows], chosen.views))
    if not batches:
        return Afterwards()
    of_counts = [one for one in kept if not one.is_corrected]
    before = tuple(_without(one, outdated) for one in of_counts) if outdated else ()
    counts = batch_model_of(after, model.scoring)
    found = left_out(counts, batches, path=model.path).calibrations
    scores = tuple(_standing_for(one, wanted) for one in found)
    are_outdated = [row.label in outdated for row in records.rows]
    places = [place for place, is_one in enumerate(are_outdated) if is_one]
    return Afterwards([before, scores], records.take(places))


def are_too_few(n: int, known: Mapping[str, int], *, has_bins: bool) -> bool:
    """Return whether documents are too few to say anything of scores."""
    return not has_bins and not any(known.values()) and n < LEAST


def _outdated(
    known: Mapping[str, int], ready: Tally[str], *, has_bins: bool
) -> set[str]:
    """
    Return the classes whose scores before go.

    Args:
        known: how many documents of each have scores.
        ready: how many of each can be scored anew.
        has_bins: whether scores are kept by class; else all of them go or stay, and all
            stay if too many would be lost.
    """
    found = {name for name, n in known.items() if ready[name] >= min(n, ENOUGH)}
    if has_bins:
        return {name for name in found if ready[name]}
    lost = sum(n for name, n in known.items() if name not in found)
    return set(known) if MOST_LOST * lost <= ready.total() else set()


def _unchanged(model: Model, changed: Digests) -> UndoRecords:
    """Return the documents of which the model keeps the counts, and keeps them."""
    records = last_records(model.file, model.file.tables, DOCUMENTS)
    return records.take(
        [place for place, one in enumerate(records.digests) if one not in changed]
    )


def _in_proportion(
    ready: Tally[str], known: Mapping[str, int], documents: Mapping[str, int]
) -> Tally[str]:
    """
    Return how many documents of each class are to count, the same part of each.

    How often a class occurs is fitted to them, too. Of that with the least there is for
    its size, one counts for several.

    Args:
        ready: how many of each class can be scored, whose scores before go.
        known: how many there are already, of any class.
        documents: how many documents of each class are learnt.
    """
    parts = {
        name: (n, documents[name])
        for name, n in {**known, **ready}.items()
        if n > 0 and documents.get(name)
    }
    scored = [parts[name] for name in ready if name in parts]
    others = [parts[name] for name in parts if name not in ready]
    n, of = min(scored, key=_share, default=(1, 1))
    n *= min(max(of // n, 1), MOST)
    n, of = min([(n, of), *others], key=_share)
    return Tally({name: -(-n * documents.get(name, 0) // of) for name in ready})


def _share(part: tuple[int, int]) -> float:
    """Return which share so many of so many are."""
    n, of = part
    return n / of


def _standing_for(calibration: Calibration, wanted: Mapping[str, int]) -> Calibration:
    """
    Return what documents say that stand for more of their class.

    Args:
        calibration: what some say.
        wanted: as how many documents of each class they are to count, if as more.
    """
    counts: dict[tuple[int, str], int] = {}
    documents = dict(calibration.documents)
    seen: Tally[str] = Tally()
    counted: Tally[str] = Tally()
    for (bin_, name), n in sorted(calibration.counts.items()):
        scored = calibration.documents[name]
        documents[name] = max(scored, wanted.get(name, 0))
        seen[name] += n
        counts[bin_, name] = seen[name] * documents[name] // scored - counted[name]
        counted[name] += counts[bin_, name]
    return calibration._replace(counts=counts, documents=documents)


def _first(new: Sample, wanted: Mapping[str, int]) -> list[Block]:
    """Return the documents of smallest digest of each class, so many."""
    blocks = [*new.blocks()]
    rows = [
        (place, number, row)
        for number, block in enumerate(blocks)
        for row, place in enumerate(block.places)
    ]
    left: Tally[str] = Tally(wanted)
    chosen: list[list[int]] = [[] for _ in blocks]
    for (_, label, _), number, row in sorted(rows):
        if left[label] > 0:
            left[label] -= 1
            chosen[number].append(row)
    pairs = zip(blocks, chosen, strict=True)
    return [block.take(sorted(some)) for block, some in pairs if some]


def _last(records: UndoRecords, wanted: Tally[str]) -> UndoRecords:
    """Return the last records of each class, so many."""
    left, places = Tally(wanted), []
    for place in reversed(range(len(records))):
        label = records.rows[place].label
        if left[label] > 0:
            left[label] -= 1
            places.append(place)
    return records.take(places[::-1])


def _without(calibration: Calibration, labels: Collection[str]) -> Calibration:
    """Return what takes away what a calibration has of some classes; losses of all."""
    return calibration._replace(
        counts={
            (bin_, name): -n
            for (bin_, name), n in calibration.counts.items()
            if name in labels
        },
        losses=tuple(-loss for loss in calibration.losses),
        documents={
            name: -n for name, n in calibration.documents.items() if name in labels
        },
    )
