"""
Contents: a whole model in memory.

An open model file goes in, and its tables come out as one sum, with all that the file
says beside its counts; or contents go in, and the bytes of a model file of one table
come out. Training, compacting, merging, pruning, loading and repairing make contents,
and this is the one place that reads a whole model and packs one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext.counts import CountTable, TermTable
    from nbtext.counts.correction_table import Correction
    from nbtext.counts.histograms import Histograms
    from nbtext.counts.texts import TermTexts
    from nbtext.policy import Policy
    from nbtext.settings.scoring import Scoring
    from nbtext.store.blocks import Buffer
    from nbtext.store.file import ModelFile
    from nbtext.store.table import StoredTable
from nbtext.counts import Calibration, Fit, fit, n_terms
from nbtext.counts.calibration import calibration_for
from nbtext.counts.fitting import with_fit
from nbtext.counts.table import add, with_classes
from nbtext.errors import ModelWriteError
from nbtext.parallel import threads
from nbtext.store.appending import WRITER, now
from nbtext.store.calibrations import calibrations_of, last_fit, scoring_of
from nbtext.store.corrections import named, read_correction
from nbtext.store.file import check_sound
from nbtext.store.header import Header, History, joined_history
from nbtext.store.packing import arranged, table_arrays, unpack, unpack_table
from nbtext.store.texts import read_texts
from nbtext.store.undo import UndoRecords, last_records
from nbtext.store.writing import pack


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Contents:
    """
    A whole model in memory, or what a table behind those of a file adds to it.

    Attributes:
        counts: the sum of the counts; their rows need not be there where `terms` are.
        scoring: how the model asks to be scored.
        calibrations: what held-out documents scored, for each candidate scoring.
        history: how the model came to be.
        records: what the last documents left, to be undone.
        terms: the counts by term, for each view, where they are arranged already.
        fit: what was fitted to the calibration of the whole file, where these are the
            contents of a table behind those of a file; else it follows.
        correction: what training has learnt beside the counts, or a change of it; None
            if there is none.
        keeps_histograms: whether the model keeps histograms of its counts, which are
            counted when it is packed.
        histograms: how those of the whole file change, where these are the contents of
            a table behind those of a file; None if that is not kept.
        policy: how decisions are to be made, None if nothing is said.
        texts: those of terms, for each view; perhaps of some that are not counted any
            more. None if the model keeps none.
    """

    counts: CountTable
    scoring: Scoring
    calibrations: tuple[Calibration, ...] = ()
    history: History = field(default_factory=History)
    records: UndoRecords = field(default_factory=UndoRecords)
    terms: tuple[TermTable, ...] | None = None
    fit: Fit | None = None
    correction: Correction | None = None
    keeps_histograms: bool = False
    histograms: Histograms | None = None
    policy: Policy | None = None
    texts: tuple[TermTexts, ...] | None = None

    @property
    def n_tokens(self) -> int:
        """Return the number of tokens that were counted, over all views."""
        return sum(run.total(0) for runs in self.counts.runs for run in runs)

    @property
    def n_terms(self) -> int:
        """Return the number of distinct terms, over all views."""
        if self.terms is None:
            return sum(map(n_terms, self.counts.runs))
        return sum(of_view.n_terms for of_view in self.terms)

    def terms_by_view(self) -> tuple[TermTable, ...]:
        """Return the counts by term, for each view."""
        return arranged(self.counts) if self.terms is None else self.terms

    def header(self, *, written: str = "", writer: str = "") -> Header:
        """
        Return the header of a table that holds these contents, which are arranged.

        Args:
            written: when the table is written, as ISO 8601 in UTC.
            writer: the program that writes it.
        """
        counts = self.counts
        return Header(
            settings=counts.settings,
            scoring=self.scoring,
            classes=counts.classes,
            documents=counts.documents,
            totals=tuple(tuple(run.totals() for run in runs) for runs in counts.runs),
            terms=tuple(of_view.n_terms for of_view in self.terms_by_view()),
            calibrations=with_fit(self.calibrations, self.scoring, self._fit()),
            written=written,
            writer=writer,
            history=self.history._replace(records=len(self.records)),
            histograms=self._histograms(),
            correction=None if self.correction is None else self.correction.info,
            biases=() if self.correction is None else self.correction.biases,
            policy=self.policy,
            texts=None if self.texts is None else tuple(map(len, self.texts)),
        )

    def _histograms(self) -> Histograms | None:
        """Return the histograms that the table keeps, None if it keeps none."""
        kept = self.histograms
        if self.history.offset is None:
            if not self.keeps_histograms:
                return None
            from nbtext.counts.count_histograms import histograms_of

            kept = histograms_of(self.counts)
        if kept is None:
            return None
        from nbtext.counts.histograms import MOST_NUMBERS, size_of  # few keep any

        return None if size_of(kept) > MOST_NUMBERS else kept

    def _fit(self) -> Fit | None:
        """Return what is fitted to the calibration of the file, for its readers."""
        if self.history.offset is not None:
            return self.fit
        calibration = calibration_for(self.scoring, self.calibrations)
        return calibration and fit(calibration, self.counts.classes)

    def pack(
        self, *, written: str | None = None, writer: str = WRITER, jobs: int = 1
    ) -> list[Buffer]:
        """
        Return the bytes of one table that holds these contents, in pieces.

        Args:
            written: when the table is written, as ISO 8601 in UTC; now if None.
            writer: the program that writes it.
            jobs: how many threads work side by side.

        Raises:
            ModelWriteError: the names of the classes, or an array, are too long for
                the format.
        """
        contents = self.arranged()
        header = contents.header(
            written=now() if written is None else written, writer=writer
        )
        n_bins = len(self.calibrations)
        with threads(jobs) as map_:
            arrays = table_arrays(
                self.counts,
                contents.terms_by_view(),
                self.records,
                n_bins,
                contents.correction,
                contents.texts,
                map_,
            )
        return list(pack(header, arrays))

    def arranged(self) -> Contents:
        """
        Return the same as a file or a text has it, arranged by term.

        Its correction is named and of the classes of the counts, and its texts are
        those of terms that it has.

        Raises:
            ModelWriteError: the model keeps no ledger, so it cannot have a correction.
        """
        correction, texts, terms = self.correction, self.texts, self.terms_by_view()
        if correction is not None:
            if not self.counts.settings.ledger:
                message = (
                    "a model without a ledger has no correction; train it with one"
                )
                raise ModelWriteError(message)
            correction = named(correction)
            if correction.classes != self.counts.classes:
                correction = correction.of_classes(self.counts.classes)
        if texts is not None:
            texts = tuple(
                of_view.where(by_term.find(of_view.keys) < by_term.n_terms)
                for of_view, by_term in zip(texts, terms, strict=True)
            )
        return replace(self, terms=terms, correction=correction, texts=texts)


def read_contents(file: ModelFile) -> Contents:
    """
    Return all that a model file holds, every byte of it verified.

    Raises:
        NotAModelError: the file is damaged.
    """
    check_sound(file)
    history = joined_history(table.header for table in file.tables)
    contents = _contents(file, file.tables, unpack(file), history)
    classes = contents.counts.classes
    return replace(
        contents,
        calibrations=tuple(one.of_classes(classes) for one in contents.calibrations),
        correction=read_correction(file),
        keeps_histograms=file.keeps_histograms,
        texts=read_texts(file),
    )


def read_tail(file: ModelFile) -> Contents:
    """
    Return what the tables behind the first add to it.

    Raises:
        NotAModelError: the file is damaged.
    """
    from nbtext.counts.histograms import added  # which training has no use for

    first, *tail = file.tables
    headers = [table.header for table in tail]
    new_terms = zip(*(header.history.new_terms for header in headers), strict=True)
    history = joined_history(headers)._replace(
        offset=first.length, new_terms=tuple(map(sum, new_terms))
    )
    counts = add([unpack_table(table) for table in tail])
    contents = _contents(file, tail, counts, history)
    changes = [header.histograms for header in headers]
    known = [change for change in changes if change is not None]
    # a document that was forgotten and learnt again adds nothing, but has a record
    labels = [row.label for row in contents.records.rows]
    correction = read_correction(file, tail)
    if correction is not None:
        labels += correction.classes
    return replace(
        contents,
        counts=with_classes(counts, labels),
        fit=last_fit(file),
        correction=correction,
        histograms=added(known) if len(known) == len(tail) else None,
    )


def _contents(
    file: ModelFile, tables: Sequence[StoredTable], counts: CountTable, history: History
) -> Contents:
    calibrations = calibrations_of(tables)
    records = last_records(file, tables, history.keep)
    if file.correction is None and calibrations and calibrations[-1].is_corrected:
        calibrations = calibrations[:-1]  # the correction is passed over
        bins = [bins[: len(calibrations)] for bins in records.bins]
        records = replace(records, bins=bins)
    return Contents(
        counts=counts,
        scoring=scoring_of(file, counts.classes),
        calibrations=calibrations,
        history=history,
        records=records,
        policy=file.policy,
    )
