"""
Renaming: a model whose classes have other names, and everything else as it was.

Classes are kept in the order of their names. Where that order changes, their counts
change places; of two classes the scores that were kept for calibration, which speak of
the second class against the first, change sign.
"""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nbtext.counts import Calibration, CountTable
    from nbtext.counts.correction_table import Correction
    from nbtext.policy import Policy
    from nbtext.store import Contents, History, UndoRecords

import numpy as np

from nbtext import wording
from nbtext.classes import quoted
from nbtext.counts.calibration import FARTHEST_BIN
from nbtext.errors import SettingsError, UnknownClassError
from nbtext.learning.new_classes import check_name
from nbtext.policy import UNSURE
from nbtext.store.ledger import NO_BIN

Value = TypeVar("Value")


def rename(contents: Contents, names: Mapping[str, str], path: str) -> Contents:
    """
    Return a model with other names of classes.

    Args:
        contents: the model.
        names: old name to new name; the names of two classes may be exchanged.
        path: what the model is called in messages.

    Raises:
        UnknownClassError: the model has no class of an old name.
        SettingsError: a new name is none, or two classes would have it.
    """
    old = contents.counts.classes
    new = [names.get(name, name) for name in old]
    _check(names, old, new, path)
    order = sorted(range(len(new)), key=new.__getitem__)
    is_reversed = order == [1, 0]
    _check_policy(contents.policy, new, path)
    renamed = dict(zip(old, new, strict=True))
    return replace(
        contents,
        counts=_counts(contents.counts, tuple(new[place] for place in order), order),
        calibrations=tuple(
            _calibration(one, renamed, is_reversed) for one in contents.calibrations
        ),
        history=_history(contents.history, renamed),
        records=_records(contents.records, renamed, is_reversed),
        terms=None,
        fit=None,
        correction=_correction(contents.correction, renamed),
        policy=contents.policy and contents.policy.renamed(renamed),
    )


def _check(
    names: Mapping[str, str], old: Sequence[str], new: Sequence[str], path: str
) -> None:
    for name, wanted in names.items():
        if name not in old:
            raise UnknownClassError(path, name, old)
        check_name(wanted)
    twice = sorted(name for name, count in Tally(new).items() if count > 1)
    if twice:
        ask = wording.call("learn", label=twice[0])
        message = (
            f"{path}: two classes would be called {quoted(twice[0])}; documents move "
            f"to another class with `{ask}`"
        )
        raise SettingsError(message)


def _check_policy(policy: Policy | None, new: Sequence[str], path: str) -> None:
    """Refuse a name that the policy gives to the decision for no class."""
    costs = () if policy is None else policy.costs
    if UNSURE in new and any(one.decision is None for one in costs):
        message = (
            f"{path}: a class cannot be called {UNSURE!r}, which the costs of its "
            "policy call the decision for no class; choose another name, or change the "
            f"costs first (`{wording.call('set_policy')}`)"
        )
        raise SettingsError(message)


def _counts(
    counts: CountTable, classes: tuple[str, ...], order: Sequence[int]
) -> CountTable:
    """Return the counts of classes under their new names, in the order of these."""

    def ordered(values: Sequence[Value]) -> tuple[Value, ...]:
        return tuple(values[place] for place in order)

    return replace(
        counts,
        classes=classes,
        documents=ordered(counts.documents),
        runs=tuple(map(ordered, counts.runs)),
        ledger=ordered(counts.ledger) if counts.ledger else (),
    )


def _calibration(
    calibration: Calibration, renamed: Mapping[str, str], is_reversed: bool
) -> Calibration:
    counts: dict[tuple[int, str], int] = {}
    for (bin_, name), number in calibration.counts.items():
        place = _turned(bin_) if is_reversed else bin_, renamed.get(name, name)
        counts[place] = counts.get(place, 0) + number
    documents = {
        renamed.get(name, name): number
        for name, number in calibration.documents.items()
    }
    return calibration._replace(counts=counts, documents=documents)


def _turned(bin_: int) -> int:
    """Return the bin of a score with the other sign; bins have their lower end."""
    return bin_ if bin_ == NO_BIN else max(-FARTHEST_BIN, -bin_ - 1)


def _correction(
    correction: Correction | None, renamed: Mapping[str, str]
) -> Correction | None:
    """Return a correction of the same values under other names of its classes."""
    if correction is None:
        return None
    names = tuple(renamed.get(name, name) for name in correction.classes)
    ordered = correction._replace(classes=names).of_classes(sorted(names))
    rows = ordered.amounts
    high, low, mark = rows.entries.T
    order = np.lexsort((rows.classes, mark, rows.labels, low, high))
    return ordered._replace(amounts=rows.take(order))


def _history(history: History, renamed: Mapping[str, str]) -> History:
    learnt = {renamed.get(name, name): when for name, when in history.learnt.items()}
    return history._replace(learnt=learnt)


def _records(
    records: UndoRecords, renamed: Mapping[str, str], is_reversed: bool
) -> UndoRecords:
    rows = [
        row._replace(label=renamed.get(row.label, row.label)) for row in records.rows
    ]
    bins = records.bins
    if is_reversed:
        bins = [tuple(map(_turned, of_record)) for of_record in bins]
    return replace(records, rows=rows, bins=bins)
