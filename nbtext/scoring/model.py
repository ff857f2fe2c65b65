"""
A model, read in place: which counts a term has, without reading the others.

An open model file goes in; what comes out is what scoring needs: the classes, their
documents and totals, and the counts of a key. Several tables are summed as they are
read (`nbtext.scoring.stored_view`). Nothing here is ever written to.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from nbtext.counts.histograms import Histogram, Histograms
    from nbtext.policy import Policy

from nbtext.counts.correction import CorrectionInfo
from nbtext.scoring.stored_view import (
    GONE,
    Entry,
    Stored,
    StoredView,
    Value,
    damaged,
    summed,
)
from nbtext.scoring.tail import TailView, keeps_tail
from nbtext.settings.reading import Settings
from nbtext.settings.scoring import Scoring
from nbtext.store import ModelFile, open_model
from nbtext.store.calibrations import scoring_of
from nbtext.store.schema import correction_arrays, term_arrays

LogOdds: TypeAlias = Callable[[int, Collection[int]], dict[int, float] | None]
"""Returns what known terms of a view say, in nats, by key; None if it does not know."""


class StoredCorrection(NamedTuple):
    """
    A correction, where it lies in the file.

    Attributes:
        info: what it says of itself.
        biases: for each class of the model what all documents get, in 1/256.
        stored: for each view the values in each of the tables that have any.
    """

    info: CorrectionInfo
    biases: tuple[int, ...]
    stored: tuple[tuple[Stored, ...], ...]

    def found(self, view: int, keys: Collection[int]) -> dict[int, list[Value]]:
        """
        Return the values of those terms of a view that have any.

        Args:
            view: which of the views.
            keys: the terms, a set or the keys of a dictionary.

        Returns:
            Key to the term's values by class, in the order of the keys.

        Raises:
            NotAModelError: some are in no class of the model.
        """
        stored = self.stored[view]
        if len(stored) == 1:
            return stored[0].values(keys)
        return {
            key: [(class_, value) for class_, (value,) in entries]
            for key, entries in summed(stored, keys).items()
        }


class Model(NamedTuple):
    """
    What scoring needs of a model.

    Attributes:
        path: the file it was read from.
        settings: how documents are read.
        scoring: how counts become a score.
        classes: the names of the classes, sorted.
        documents: for each class, how many documents.
        totals: for each view, for each class, the sum of each column.
        notes: what its user should know.
        file: the open file.
        stored: for each view the counts in each of its tables.
        correction: what training has learnt beside the counts for this scoring, None
            if there is none.
        more_terms: for each view how many distinct terms more than in the file are
            stored; empty if there are none.
        more_histograms: how the histograms differ from those of the file, None if they
            do not.
        policy: how decisions are to be made, None if nothing is said.
    """

    path: str
    settings: Settings
    scoring: Scoring
    classes: tuple[str, ...]
    documents: tuple[int, ...]
    totals: tuple[tuple[tuple[int, ...], ...], ...]
    notes: tuple[str, ...]
    file: ModelFile
    stored: tuple[tuple[Stored, ...], ...]
    correction: "StoredCorrection | None" = None
    more_terms: tuple[int, ...] = ()
    more_histograms: "Histograms | None" = None
    policy: "Policy | None" = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what of its file is lost, in a sentence, if anything is."""
        return self.file.warnings

    def scored_by(self, scoring: Scoring) -> "Model":
        """Return the model scored otherwise, without what corrects other scores."""
        correction = self.correction
        if correction is not None and correction.info.scoring != scoring.of_scores():
            correction = None
        return self._replace(scoring=scoring, correction=correction)

    def of_text(self) -> "Model":
        """Return the same model without the views of attributes, for event models."""
        if not self.settings.has_attributes:
            return self
        n_texts = self.settings.n_texts
        return self._replace(
            settings=self.settings.of_text(),
            scoring=self.scoring._replace(attributes=()),
            totals=self.totals[:n_texts],
            stored=self.stored[:n_texts],
        )

    def found(self, view: int, keys: Collection[int]) -> dict[int, list[Entry]]:
        """
        Return the counts of those terms of a view that the model knows.

        Args:
            view: which of the views.
            keys: the terms, a set or the keys of a dictionary.

        Returns:
            Key to the term's counts by class, in the order of the keys.

        Raises:
            NotAModelError: some are below zero, or in no class of the model.
        """
        views = self.stored[view]
        if len(views) == 1:
            known = views[0].found(keys)
            if not views[0].is_signed:
                return known
        else:
            known = summed(views, keys)
        for found in known.values():
            if any(min(columns) < 0 for _, columns in found):
                raise damaged(self.path, "a term's counts are below zero")
        return known

    def log_odds(self, view: int, keys: Collection[int]) -> dict[int, float] | None:
        """
        Return what each known term of a view says, in nats, by its key.

        None if nobody but the event model says that, by the counts.
        """
        stored = self.stored[view]
        return stored[0].log_odds(keys) if len(stored) == 1 else None

    def remembering(self, log_odds: LogOdds | None = None) -> "Model":
        """
        Return the same model; it looks every term up once.

        Args:
            log_odds: returns what `Model.log_odds` does by this model's scoring.
        """
        return self._replace(
            stored=tuple(
                (_Remembered(self, view, log_odds),) if stored else ()
                for view, stored in enumerate(self.stored)
            )
        )

    def as_stored(self) -> "Model":
        """Return the same model; it remembers nothing."""
        return self._replace(stored=tuple(map(_as_stored, self.stored)))

    def n_terms(self, view: int) -> int:
        """
        Return how many distinct terms a view has, over all tables.

        Raises:
            NotAModelError: the tables contradict one another.
        """
        first, *tail = [table.header for table in self.file.tables]
        here = self.more_terms[view] if self.more_terms else 0
        if self.file.is_in_order:
            # each tells how many terms it brought to the file as it was
            more = sum(header.history.new_terms[view] for header in tail)
            if first.terms[view] + more < 0:
                raise damaged(self.path, "it has fewer terms than none")
            return first.terms[view] + more + here
        return _count_terms(self.file)[view] + here

    def histograms(self, view: int) -> "list[Histogram]":
        """
        Return for each class how many terms of a view are in how many documents.

        They are counted if the file does not keep them, or if tables were joined.

        Raises:
            NotAModelError: the tables contradict one another.
        """
        from nbtext.counts.histograms import Histogram, added  # few models need them

        whole = _histograms(self.file)
        if self.more_histograms is not None:
            whole = added([whole, self.more_histograms])
        found = [whole[view].get(name, Histogram()) for name in self.classes]
        for one in found:
            if min((one.singletons, *one.documents.values())) < 0:
                raise damaged(self.path, "its histograms have fewer terms than none")
        return found


@lru_cache(maxsize=1)
def _count_terms(file: ModelFile) -> list[int]:
    """Count the terms of files that were joined, for each view."""
    from nbtext.counts import n_terms
    from nbtext.store.packing import unpack

    return [n_terms(runs) for runs in unpack(file).runs]


@lru_cache(maxsize=1)
def _histograms(file: ModelFile) -> "Histograms":
    """Return the histograms of a file, counted if it does not say them."""
    found = file.histograms
    if found is None:
        from nbtext.counts.count_histograms import histograms_of
        from nbtext.store.packing import unpack

        found = histograms_of(unpack(file))
    return found


def load_model(path: str, *, scoring: Scoring | None = None) -> Model:
    """
    Open a model for scoring.

    Args:
        path: the model file.
        scoring: how to score, if not as the file asks.

    Raises:
        ModelFileError: there is no model, or it is damaged.
    """
    return model_of(open_model(path), scoring)


def model_of(file: ModelFile, scoring: Scoring | None = None) -> Model:
    """
    Return the model in a file that is open.

    Raises:
        NotAModelError: it is damaged.
    """
    path, settings = file.path, file.settings
    if settings.has_frozen_idf and not file.is_in_order:
        raise damaged(path, "files of TF-IDF weights were joined, which do not add up")
    classes = tuple(
        sorted({name for table in file.tables for name in table.header.classes})
    )
    documents, totals, places = _added_up(file, classes)
    # what is below zero was never there
    lowest = [*documents]
    for view, by_class in zip(settings.views, totals, strict=True):
        lowest += map(_lowest_of_numbers if view.kind == "number" else min, by_class)
    if min(lowest, default=0) < 0:
        raise damaged(path, "the sums of its counts are below zero")
    # a class that later tables took away is gone
    kept = [
        place
        for place, count in enumerate(documents)
        if count or any(any(view[place]) for view in totals)
    ]
    names = tuple(classes[place] for place in kept)
    renumbered = {place: number for number, place in enumerate(kept)}
    places = [tuple(renumbered.get(place, GONE) for place in table) for table in places]
    scoring = scoring or scoring_of(file, names)
    is_tail_kept = keeps_tail(file)
    return Model(
        path=path,
        settings=settings,
        scoring=scoring,
        classes=names,
        documents=tuple(documents[place] for place in kept),
        totals=tuple(
            tuple(tuple(by_class[place]) for place in kept) for by_class in totals
        ),
        notes=(*file.notes, *_pattern_notes(settings)),
        file=file,
        stored=tuple(
            _stored(file, number, places, names, is_tail_kept=is_tail_kept)
            for number in range(len(settings.views))
        ),
        correction=stored_correction(file, names, scoring),
        policy=file.policy,
    )


def _stored(
    file: ModelFile,
    number: int,
    places: Sequence[tuple[int, ...]],
    classes: Sequence[str],
    *,
    is_tail_kept: bool,
) -> tuple[Stored, ...]:
    """
    Return the counts of one view, in each table or in the first and in the tail.

    Args:
        file: the model file.
        number: which of the views.
        places: for each table the places of its classes among those of the model.
        classes: those of the model.
        is_tail_kept: whether the sum of the tables behind the first is in memory.
    """
    view = file.settings.views[number]
    if view.kind == "number":  # which has no terms
        return ()
    names = term_arrays(view)
    first = StoredView(file.path, file.tables[0], names, places[0])
    if is_tail_kept:
        place_of = {name: place for place, name in enumerate(classes)}
        return first, TailView(file, number, place_of)
    tail = zip(file.tables[1:], places[1:], strict=True)
    return first, *(StoredView(file.path, table, names, at) for table, at in tail)


def _lowest_of_numbers(sums: Sequence[int]) -> int:
    """Return a number below zero if no numbers have these sums."""
    from nbtext.exact import are_sums

    return 0 if are_sums(sums) else -1


def stored_correction(
    file: ModelFile, classes: Sequence[str], scoring: Scoring
) -> StoredCorrection | None:
    """
    Return the correction of a file, None if it has none for a scoring.

    Args:
        file: the model file.
        classes: those of a model, which need not be all that the file knows.
        scoring: that of the model.
    """
    info = file.correction
    if info is None or info.scoring != scoring.of_scores():
        return None
    place_of = {name: place for place, name in enumerate(classes)}
    tables = [
        (table, tuple(place_of.get(name, GONE) for name in table.header.classes))
        for table in file.tables
        if table.header.correction is not None
    ]
    biases = [0] * len(classes)
    for table, place in tables:
        for class_, bias in zip(place, table.header.biases, strict=True):
            if class_ != GONE:
                biases[class_] += bias
    stored = tuple(
        tuple(
            StoredView(file.path, table, correction_arrays(view), place)
            for table, place in tables
        )
        for view in file.settings.views
    )
    return StoredCorrection(info, tuple(biases), stored)


def _pattern_notes(settings: Settings) -> Iterator[str]:
    """Yield what to know where the pattern was used with another version of `regex`."""
    if settings.pattern is not None:
        from nbtext.tokens.pattern import version_note  # which loads regex

        note = version_note(settings.pattern)
        if note:
            yield note


def _added_up(
    file: ModelFile, classes: Sequence[str]
) -> tuple[list[int], list[list[list[int]]], list[tuple[int, ...]]]:
    """
    Add up what the headers of a file's tables say.

    Returns:
        For each class its documents; for each view and class its totals; and for each
        table the places of its classes among all of them.
    """
    place_of = {name: place for place, name in enumerate(classes)}
    settings = file.settings
    documents = [0] * len(classes)
    totals = [[[0] * len(view.columns) for _ in classes] for view in settings.views]
    places = []
    for table in file.tables:
        header = table.header
        place = tuple(place_of[name] for name in header.classes)
        places.append(place)
        for here, there in enumerate(place):
            documents[there] += header.documents[here]
            for view, by_class in zip(totals, header.totals, strict=True):
                for column, total in enumerate(by_class[here]):
                    view[there][column] += total
    return documents, totals, places


class _Remembered(Stored):
    """The counts of one view of a model, looked up once."""

    is_signed = False

    def __init__(self, model: Model, view: int, log_odds: LogOdds | None) -> None:
        self._model = model
        self._view = view
        self._log_odds = log_odds
        self._known: dict[int, list[Entry]] = {}

    def found(self, keys: Collection[int]) -> dict[int, list[Entry]]:
        """Return the counts of those terms that are here, in the order of the keys."""
        missing: dict[int, list[Entry]] = {
            key: [] for key in keys if key not in self._known
        }
        found = self._model.found(self._view, missing) if missing else {}
        self._known |= missing
        self._known |= found
        if len(missing) == len(keys):
            return found
        return {key: self._known[key] for key in keys if self._known[key]}

    def log_odds(self, keys: Collection[int]) -> dict[int, float] | None:
        """Return what known terms say, in nats, by key; None if nobody says it."""
        return None if self._log_odds is None else self._log_odds(self._view, keys)

    def as_stored(self) -> tuple[Stored, ...]:
        """Return what is looked up: the counts in each of the tables."""
        return _as_stored(self._model.stored[self._view])


def _as_stored(stored: tuple[Stored, ...]) -> tuple[Stored, ...]:
    """Return the counts of a view without those that remember."""
    return tuple(
        beneath
        for one in stored
        for beneath in (one.as_stored() if isinstance(one, _Remembered) else (one,))
    )
