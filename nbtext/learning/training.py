"""
Training: from labelled documents to the bytes of a model.

How documents are read is decided once, by most of them and by the number of classes.
The first documents give a good guess, so that one pass usually does; if all of them say
otherwise in the end, they are counted again.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from nbtext.counts.sorted_counts import Keys

import numpy as np

from nbtext import wording
from nbtext.classes import MOST_CLASSES, quoted
from nbtext.counts import CountTable, ReadReport, ledger_of, n_terms
from nbtext.counts.counting import (
    Counted,
    Limits,
    count,
    count_with,
    guess,
    settings_for,
)
from nbtext.counts.read_report import Progress
from nbtext.counts.sorted_counts import starts_of_runs
from nbtext.counts.table import in_digest_ranges
from nbtext.document import Document, Item, Note, Skipped, Unread
from nbtext.errors import TOO_MANY_CLASSES, TrainingError, clipped
from nbtext.learning.choosing import rival_scoring
from nbtext.learning.finishing import finish, sample_limits
from nbtext.learning.overrides import DEFAULTS, SettingsOverrides
from nbtext.learning.reading_once import (
    LabelledSources,
    check_found_labels,
    notes_on_labels,
)
from nbtext.learning.regimes import EVERYTHING, Regime
from nbtext.learning.second_pass import settings_scored, weighed_by_idf
from nbtext.learning.summary import TrainingSummary
from nbtext.learning.texts import keeps_texts, look_for_texts
from nbtext.parallel import threads
from nbtext.scoring import check_scoring
from nbtext.scoring.batch_model import batch_model_of
from nbtext.scoring.models.registry import keeps_histograms
from nbtext.store import Contents
from nbtext.tokens.key_reading import are_read_together

Workers: TypeAlias = "Callable[[], AbstractContextManager[Executor | None]]"
"""Starts what works elsewhere, such as processes; None if nothing does."""


MANY_VALUES: Final = 100
"""Number of values of a category from which on they are warned of, if they are more
than half as many as the rows."""

NO_NAME: Final = "?"
"""What is printed where a document is of no class, so that no class can have it."""

MAX_BYTES: Final = 16 << 20
"""How much of a document is read, unless the user says otherwise."""


class Trained(NamedTuple):
    """
    What training made, and what became of the documents.

    Attributes:
        contents: the model.
        report: what was read.
        losses: the event models that were tried, and their held-out losses in nats a
            document; empty if nothing was held out.
        repeats: how many documents had been counted before, under the same label.
        conflicts: how many documents were counted under two labels or more.
        notes: what became of the policy of the model that was replaced.
        left_out: how many documents were not learnt, because of the regime.
    """

    contents: Contents
    report: ReadReport
    losses: dict[str, float]
    repeats: int = 0
    conflicts: int = 0
    notes: tuple[str, ...] = ()
    left_out: int = 0

    def __repr__(self) -> str:
        """Say of how many documents it is made, and of which score."""
        table, n = self.contents.counts, self.report.documents
        score = self.contents.scoring.score
        return f"<Trained: {n:,} documents of {len(table.classes)} classes; {score}>"

    def summary(self) -> TrainingSummary:
        """Return the same without the model."""
        contents, table = self.contents, self.contents.counts
        return TrainingSummary(
            format=table.settings.format,
            classes=dict(zip(table.classes, table.documents, strict=True)),
            n_tokens=contents.n_tokens,
            n_terms=contents.n_terms,
            scoring=contents.scoring,
            report=self.report,
            repeats=self.repeats,
            conflicts=self.conflicts,
            losses=self.losses,
            notes=self.notes,
            left_out=self.left_out,
        )


def train(
    sources: Callable[[], Iterable[Item]],
    *,
    n_classes: int | None = None,
    overrides: SettingsOverrides = DEFAULTS,
    max_bytes: int = MAX_BYTES,
    workers: "Workers" = nullcontext,
    jobs: int = 1,
    progress: Progress | None = None,
    on_read: Callable[[ReadReport], None] | None = None,
    regime: Regime = EVERYTHING,
    are_labels_found: bool = False,
) -> Trained:
    """
    Count labelled documents and calibrate their scores.

    Args:
        sources: gives the documents, from the beginning each time it is called.
        n_classes: how many classes there will be, if that is known.
        overrides: what differs from the default settings and the default scoring.
        max_bytes: how much of a document is read.
        workers: starts what chunks of documents are counted by, where threads would
            not do; None for here and now.
        jobs: how many of them, or threads, work side by side.
        progress: told now and then how many more documents and bytes were read.
        on_read: told what was read, and what was skipped, before anything is refused.
        regime: which of the documents are learnt; those of one that leaves any out
            wait for one another, and are read here.
        are_labels_found: whether the labels are of a column that nobody has named.

    Raises:
        TrainingError: fewer than two classes, not one token, or labels that nobody has
            named, and of which nearly each document has another.
        SettingsError: the score does not go with the number of classes, or with the
            regime.
    """
    to_read = LabelledSources(
        sources, max_bytes, n_classes, progress, on_read, are_labels_found
    )
    if regime.is_choosy:
        return _trained_on_some(to_read, regime, overrides)
    return trained_on(
        count_sources(to_read, overrides, workers, jobs), to_read, overrides, jobs
    )


def trained_on(
    counted: Counted,
    sources: LabelledSources,
    overrides: SettingsOverrides,
    jobs: int = 1,
) -> Trained:
    """
    Calibrate the scores of documents that are counted; see `train`.

    What nobody else has of them takes no memory once it has been used.
    """
    table, report = counted.table, counted.report
    sample, beginnings = counted.sample, counted.texts
    del counted
    report.notes += notes_on_columns(table)
    n_classes, documents = len(table.classes), sum(table.documents)
    report.notes += notes_on_labels(sources, n_classes, documents)
    sources.tell(report)
    check_trainable(table, report.skipped, sources.read)
    check_found_labels(sources, n_classes, documents)
    scoring = overrides.scoring_for(table.settings, len(table.classes))
    weighed = settings_scored(table.settings, scoring, sum(table.documents))
    if weighed != table.settings:
        table = weighed_by_idf(table, sources.read(), max_bytes=sources.max_bytes)
    check_scoring(scoring, table.settings, table.classes)
    repeats, conflicts = repeated(table)
    rival = rival_scoring(scoring, table.settings, table.classes, overrides)
    with threads(jobs) as map_:
        counts = batch_model_of(table, scoring, map_)
        if not any(keeps_histograms(one) for one in (scoring, rival) if one):
            table = table.without_rows()  # which `counts` has by term
        found = look_for_texts(table.settings, counts.terms, beginnings, map_, jobs)
        del beginnings
        finished = finish(
            counts, sample, rival=rival, may_correct=overrides.correction, map_=map_
        )
        texts = found()
    return Trained(
        contents=replace(finished.contents(table), texts=texts),
        report=report,
        repeats=repeats,
        conflicts=conflicts,
        losses=finished.losses,
    )


def _trained_on_some(
    sources: LabelledSources, regime: Regime, overrides: SettingsOverrides
) -> Trained:
    """Learn the documents that a regime learns."""
    from nbtext.learning.selective import select

    selected = select(sources, regime, overrides=overrides, check=check_classes)
    table, finished = selected.table, selected.finished
    check_trainable(table, selected.report.skipped, sources.read)
    found = look_for_texts(table.settings, finished.counts.terms, selected.texts)
    return Trained(
        contents=replace(finished.contents(table), texts=found()),
        report=selected.report,
        repeats=selected.copies,
        losses=finished.losses,
        left_out=selected.left_out,
    )


def count_sources(
    sources: LabelledSources,
    overrides: SettingsOverrides,
    workers: "Workers",
    jobs: int,
) -> Counted:
    """Count labelled documents, read as most of them ask for; see `train`."""
    read, max_bytes, n_classes, progress, *_ = sources
    settings, items = guess(read(), n_classes, max_bytes)
    settings = overrides.settings(settings)
    while True:
        sample, terms = sample_limits(settings, may_correct=overrides.correction)
        limits = Limits(max_bytes, sample, terms, keeps_texts=keeps_texts(overrides))
        if are_read_together(settings):
            counted = count(items, settings, limits, progress, jobs)
        else:
            with workers() as executor:
                counted = (
                    count(items, settings, limits, progress)
                    if executor is None
                    else count_with(executor, jobs, items, settings, limits, progress)
                )
        wanted = overrides.settings(settings_for(counted.report))
        if settings == wanted or not counted.report.documents:
            return counted
        settings, items = wanted, iter(read())


def check_trainable(
    table: CountTable,
    skipped: Skipped | None = None,
    sources: Callable[[], Iterable[Item]] | None = None,
) -> None:
    """
    Refuse counts that tell no class from another.

    Raises:
        TrainingError: fewer than two classes, or not one token.
    """
    check_classes(table.classes, sources)
    if not table.n_rows:
        message = "the documents have not one token; are they empty, or not text?"
        if any(one.alphabet == "words" for one in table.settings.views):
            marks = wording.given(alphabet="marks")
            message += f" ({marks} takes marks and symbols for tokens)"
        if skipped:
            message = (
                f"{skipped.documents:,} documents were skipped, and those that are "
                f"left have not one token; the first was {skipped.first}"
            )
        raise TrainingError(message)


def check_classes(
    classes: Sequence[str], sources: Callable[[], Iterable[Item]] | None = None
) -> None:
    """
    Refuse classes that no model can have.

    Args:
        classes: their names.
        sources: gives all documents once more, so that what is wrong can be named.

    Raises:
        TrainingError: fewer than two, too many, or one with the name of unsure.
    """
    if not classes:
        message = (
            "there is no document to learn from; name sources that hold some, of two "
            f"classes or more ({_folders()})"
        )
        raise TrainingError(message)
    if len(classes) < 2:
        is_table = sources is not None and _are_rows(sources())
        message = (
            f"the documents have only the class {quoted(clipped(classes[0]))}, and "
            f"two are needed; {_label_rows() if is_table else _label_files()}"
        )
        raise TrainingError(message)
    if NO_NAME in classes:
        where = "" if sources is None else _first_of(NO_NAME, sources())
        message = (
            f"{where}a class cannot be called '{NO_NAME}', which means unsure; write "
            "another label there, or name the class by LABEL=PATH"
        )
        raise TrainingError(message)
    if len(classes) > MOST_CLASSES:
        raise TrainingError(TOO_MANY_CLASSES)


def _folders() -> str:
    """Return how folders are named that are classes."""
    return wording.call("", sources=["spam/", "ham/"])


def _label_files() -> str:
    """Return what to do where documents have one label."""
    ask = wording.named("label_column")
    return f"name a folder a class ({_folders()}) or label them (LABEL=PATH, {ask})"


def _label_rows() -> str:
    """Return what to do where the rows of a table have one label."""
    ask = wording.given(label_column=wording.Blank("COLUMN"))
    return (
        f"name the column of the table that holds the labels ({ask}; without a heading "
        "its number, from 1), or a table for each class (LABEL=PATH)"
    )


def _are_rows(items: Iterable[Item]) -> bool:
    """Return whether the first document is a row of a table."""
    found = (item for item in items if isinstance(item, Document | Unread))
    first = next(found, None)
    return isinstance(first, Document) and bool(first.columns)


def _first_of(label: str, items: Iterable[Item]) -> str:
    """Return the name of the first document of a class, and a colon, if any is."""
    for item in items:
        if isinstance(item, Document | Unread) and item.label == label:
            return f"{item.name}: "
    return ""


def notes_on_columns(table: CountTable) -> list[Note]:
    """Return warnings of columns of categories that have too many values to tell."""
    notes = []
    documents = sum(table.documents)
    for number, view in table.settings.attributes:
        values = n_terms(table.runs[number]) if view.kind == "value" else 0
        if values >= MANY_VALUES and 2 * values > documents:
            columns = [wording.named(name) for name in ("text_columns", "id_column")]
            text = (
                f"column {view.field}: {values:,} different values in {documents:,} "
                "rows, so that most of them tell nothing; is it text, or the name of a "
                f"row? ({', '.join(columns)})"
            )
            notes.append(Note(text, is_warning=True))
    return notes


def repeated(table: CountTable) -> tuple[int, int]:
    """
    Return how many documents are repeats, and how many are in two classes or more.

    Without a ledger nobody knows: (0, 0).
    """
    if not any(map(len, table.ledger)):
        return 0, 0
    repeats = conflicts = 0
    for runs in in_digest_ranges(table.ledger):
        digests = np.concatenate([_digests(run.entries) for run in runs])
        together = ledger_of(digests, np.ones(len(digests), np.int64))
        repeats += sum(int(run.counts.sum()) for run in runs) - len(digests)
        conflicts += int((together.counts > 1).sum())
    return repeats, conflicts


def _digests(entries: "Keys") -> "Keys":
    """Return the distinct digests of sorted entries, as entries of no fingerprint."""
    digests = entries.take(starts_of_runs(*entries[:, :2].T), axis=0)
    digests[:, 2] = 0
    return digests
