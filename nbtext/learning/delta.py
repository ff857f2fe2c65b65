"""
A delta: documents added to a model and taken away.

Bags of terms go in; what they change of the counts is gathered, on the standard library
and msgpack alone. What a change would make of a model is looked at before it is
written: nothing may fall below zero. `nbtext.learning.delta_writing` makes a table of
it.
"""

from collections import Counter as Tally
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from nbtext.counts.histograms import ByClass, Histograms

from nbtext.classes import quoted
from nbtext.errors import DamagedError, SettingsError
from nbtext.exact import are_sums
from nbtext.learning.correction_change import CorrectionChange
from nbtext.scoring import Model
from nbtext.scoring.frozen_idf import counted_columns
from nbtext.scoring.stored_view import Entry
from nbtext.scoring.tail import ChangesView
from nbtext.settings.columns import FROZEN
from nbtext.settings.reading import Settings
from nbtext.store import Row
from nbtext.tokens import Bag
from nbtext.tokens.bag import TermCounts, columns_of

Columns: TypeAlias = tuple[int, ...]


class UndoRecord(NamedTuple):
    """
    A document whose counts are kept, so that it can be undone.

    Attributes:
        digest: 16 bytes that name it.
        row: its class, and what its counts are known by.
        bag: its terms in each view.
        bins: where its scores fell before it was learnt, as in
            `nbtext.store.ledger.Record`.
    """

    digest: bytes
    row: Row
    bag: Bag
    bins: tuple[int, ...]


class Delta:
    """
    Documents added and taken away.

    Attributes:
        settings: how the documents were read.
        documents: class to how many documents more, or fewer.
        views: for each view, key to class to the columns that are added.
        ledger: (digest, class and fingerprint) to how often more, or less.
        records: the documents added whose counts are to be kept.
        correction: what of the model's correction goes with the documents.
    """

    def __init__(self, settings: Settings, model: Model | None = None) -> None:
        """
        Have added nothing yet.

        Args:
            settings: how the documents were read.
            model: that they are added to; None is enough if it has no TF-IDF weights.
        """
        self.settings = settings
        self._model = model
        self.documents: Tally[str] = Tally()
        self.views: tuple[dict[int, dict[str, Columns]], ...] = tuple(
            {} for _ in settings.views
        )
        self.ledger: Tally[tuple[bytes, Row]] = Tally()
        self.records: list[UndoRecord] = []
        self.correction = CorrectionChange(settings)

    def add(self, digest: bytes, row: Row, bag: Bag, times: int = 1) -> None:
        """Add a document a number of times; a negative number takes it away."""
        self.documents[row.label] += times
        self.ledger[digest, row] += times
        for view, (by_key, terms) in enumerate(zip(self.views, bag, strict=True)):
            for key, columns in self._counted(view, terms).items():
                self._add(by_key, key, row.label, [times * value for value in columns])

    def _counted(self, view: int, terms: TermCounts) -> dict[int, Columns]:
        """Return what a document adds to the columns of a view."""
        if self._model is not None:
            return counted_columns(self._model, view, terms)
        return columns_of(terms, self.settings.views[view].columns)

    def include(self, other: "Delta") -> None:
        """Add what another change adds and takes away."""
        self.documents.update(other.documents)
        self.ledger.update(other.ledger)
        self.correction.include(other.correction)
        for mine, theirs in zip(self.views, other.views, strict=True):
            for key, by_class in theirs.items():
                for label, columns in by_class.items():
                    self._add(mine, key, label, columns)

    def _add(
        self,
        by_key: dict[int, dict[str, Columns]],
        key: int,
        label: str,
        columns: Iterable[int],
    ) -> None:
        by_class = by_key.setdefault(key, {})
        if label in by_class:
            columns = map(int.__add__, by_class[label], columns)
        by_class[label] = tuple(columns)

    def take_what_is_left(
        self,
        model: Model,
        so_far: "Delta",
        digest: bytes,
        row: Row,
        bag: Bag,
        times: int,
    ) -> None:
        """
        Take a document away whose counts are not known any more, as far as they go.

        Args:
            model: what it is taken from.
            so_far: what other documents take away at the same time.
            digest: 16 bytes that name it.
            row: its class, and what its counts are known by in the ledger.
            bag: its terms in each view, as they are now.
            times: how often it was counted.

        Raises:
            DamagedError: the model has no such class.
        """
        if row.label not in model.classes:
            what = (
                f"its ledger has documents of {quoted(row.label)}, which has no counts"
            )
            raise DamagedError(model.path, 0, what)
        self.documents[row.label] -= times
        self.ledger[digest, row] -= times
        class_ = model.classes.index(row.label)
        for view, terms in enumerate(bag):
            by_key = self.views[view]
            if self.settings.views[view].kind == "number":
                self._take_number(model, so_far, view, row.label, terms, times)
                continue
            columns_by_key = self._counted(view, terms)
            for key, entries in model.found(view, terms).items():
                left = dict(entries).get(class_)
                if left is not None:
                    for added in (so_far.views[view], by_key):
                        left = _after(left, added.get(key, {}).get(row.label))
                    wanted = [times * value for value in columns_by_key[key]]
                    self._add(by_key, key, row.label, map(_less, wanted, left))

    def _take_number(
        self,
        model: Model,
        so_far: "Delta",
        view: int,
        label: str,
        terms: TermCounts,
        times: int,
    ) -> None:
        """Take a document's number away as it is now, if numbers can be left then."""
        left: Columns = model.totals[view][model.classes.index(label)]
        for delta in (so_far, self):
            left = (*map(int.__add__, left, delta.total(view, label)),)
        for key, columns in columns_of(
            terms, self.settings.views[view].columns
        ).items():
            taken = [-times * value for value in columns]
            if are_sums((*map(int.__add__, left, taken),)):
                self._add(self.views[view], key, label, taken)

    @property
    def classes(self) -> tuple[str, ...]:
        """Return the classes of which something changes, sorted."""
        labels = {row.label for (_, row), count in self.ledger.items() if count}
        labels |= {label for label, count in self.documents.items() if count}
        return tuple(sorted(labels | self.correction.classes))

    def total(self, view: int, label: str) -> Columns:
        """Return the sum of each column over the terms of one view in one class."""
        zero = (0,) * len(self.settings.views[view].columns)
        found = [by.get(label, zero) for by in self.views[view].values()]
        return tuple(map(sum, zip(zero, *found, strict=True)))

    def sums(self, label: str) -> list[int]:
        """Return how many documents more a class has, and how much of each column."""
        views = range(len(self.views))
        totals = [value for view in views for value in self.total(view, label)]
        return [self.documents[label], *totals]

    def check_sums(self, model: Model) -> None:
        """
        Refuse to leave fewer documents or tokens than none.

        Raises:
            DamagedError: the model says that it has counted what is taken away, and
                has fewer documents or tokens than that; or its correction has what no
                training adds.
        """
        self.correction.check(model.path)
        views = range(len(self.views))
        for label in self.classes:
            totals = [self.total(view, label) for view in views]
            check_sums(model, label, self.documents[label], totals)
            if model.settings.has_frozen_idf:
                _check_class_stays(model, label, self.documents[label])

    def new_terms(self, model: Model) -> tuple[int, ...]:
        """
        Return for each view how many terms more the model has with this delta.

        Raises:
            DamagedError: the model would have counts below zero, though it says that
                it has counted what is taken away.
        """
        found = []
        for view, changes in enumerate(self.views):
            is_number = self.settings.views[view].kind == "number"
            terms = {} if is_number else changes  # numbers are no terms
            before = model.found(view, terms)
            found.append(
                sum(
                    _is_new(model, by_class, before.get(key, []))
                    for key, by_class in terms.items()
                )
            )
        return tuple(found)

    def histograms(self, model: Model) -> "Histograms":
        """Return how the histograms of the model change with this delta."""
        return tuple(
            self._histograms(model, view, changes)
            if self.settings.views[view].kind == "text"
            else {}
            for view, changes in enumerate(self.views)
        )

    def _histograms(
        self, model: Model, view: int, changes: dict[int, dict[str, Columns]]
    ) -> "ByClass":
        """Return how the histograms of one view change."""
        from nbtext.counts.histograms import ChangingHistograms  # few models have them

        histograms = ChangingHistograms(self.settings.views[view])
        found = model.found(view, changes)
        for key, by_class in changes.items():
            counts = {model.classes[n]: columns for n, columns in found.get(key, [])}
            histograms.enter(counts, -1)
            for label, columns in by_class.items():
                counts[label] = _after(columns, counts.get(label))
            histograms.enter(counts, 1)
        return histograms.by_class()


def check_sums(
    model: Model, label: str, documents: int, totals: Sequence[Sequence[int]]
) -> None:
    """
    Refuse to leave a class with fewer documents or tokens than none.

    Args:
        model: as it is.
        label: the class.
        documents: how many documents more it would have.
        totals: for each view, what would be added to the sum of each column.

    Raises:
        DamagedError: it would have fewer than none.
    """
    place = model.classes.index(label) if label in model.classes else None
    sums = [documents if place is None else model.documents[place] + documents]
    for view, by_class, more in zip(
        model.settings.views, model.totals, totals, strict=True
    ):
        after = list(more) if place is None else map(int.__add__, by_class[place], more)
        if view.kind == "number":
            after = [0 if are_sums(tuple(after)) else -1]
        sums += after
    if min(sums) < 0:
        what = f"class {quoted(label)} has fewer documents or tokens than it has learnt"
        raise DamagedError(model.path, 0, what)


def _check_class_stays(model: Model, label: str, documents: int) -> None:
    """
    Refuse to leave a class without a document whose counts an idf is frozen by.

    Raises:
        SettingsError: that would be so.
    """
    if label not in model.classes:
        return
    place = model.classes.index(label)
    is_frozen = any(
        by_class[place][view.column(FROZEN)]
        for view, by_class in zip(model.settings.views, model.totals, strict=True)
    )
    if is_frozen and not model.documents[place] + documents:
        message = (
            f"{model.path}: the class {quoted(label)} would be left without a "
            "document, and the idf rests on those that it was trained on; train again"
        )
        raise SettingsError(message)


def _after(columns: Columns, delta: Columns | None) -> Columns:
    return columns if delta is None else (*map(int.__add__, columns, delta),)


def _less(wanted: int, left: int) -> int:
    """Return what is taken away of what is left: not more than there is."""
    return -min(wanted, max(left, 0))


def with_delta(model: Model, delta: Delta) -> Model:
    """Return a model as it would be with a delta, for scoring one document."""
    place_of = {label: place for place, label in enumerate(model.classes)}
    if model.file.keeps_histograms:
        model = model._replace(more_histograms=delta.histograms(model))
    return model._replace(
        more_terms=delta.new_terms(model),
        documents=tuple(
            max(count + delta.documents[label], 0)
            for count, label in zip(model.documents, model.classes, strict=True)
        ),
        totals=tuple(
            tuple(
                tuple(map(int.__add__, columns, delta.total(view, label)))
                for columns, label in zip(by_class, model.classes, strict=True)
            )
            for view, by_class in enumerate(model.totals)
        ),
        stored=tuple(
            (*stored, ChangesView(by_key, place_of)) if stored else stored
            for stored, by_key in zip(model.stored, delta.views, strict=True)
        ),
    )


def _is_new(model: Model, by_class: dict[str, Columns], before: list[Entry]) -> int:
    """Return 1 for a term that comes, -1 for one that goes, and 0 for the others."""
    after = {model.classes[class_]: columns for class_, columns in before}
    for label, columns in by_class.items():
        new = _after(columns, after.get(label))
        if min(new) < 0:
            what = (
                f"a document of class {quoted(label)} has left fewer counts than it had"
            )
            raise DamagedError(model.path, 0, what)
        after[label] = new
    return any(map(any, after.values())) - bool(before)
