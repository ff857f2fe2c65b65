"""
A model that scores documents, by the engine that is fit for how many there are.

Mails are scored by the compiled engine where the model is plain, however many there
are. Of other documents a few are scored by the plain engine, because importing numpy
takes longer than scoring them; from many at once on the batch engine takes over. All
give the same scores.
"""

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING, Final

from nbtext.document import Document
from nbtext.errors import ModelMemoryError, memory_for_model
from nbtext.scoring.held_out import fitted
from nbtext.scoring.model import Model
from nbtext.scoring.models.registry import event_model
from nbtext.scoring.score import Scored, score
from nbtext.scoring.stored import FEW, FEW_BYTES, log_odds_by, packed, scored_by
from nbtext.scoring.stored_view import StoredView
from nbtext.scoring.tail import TailView
from nbtext.store.reuse import are_kept
from nbtext.tokens import AnyReading, bag_of, read_keys
from nbtext.tokens.engine import engine, keys
from nbtext.tokens.key_reading import KeyReading

if TYPE_CHECKING:
    from nbtext._compiled import StoredModel
    from nbtext.scoring.batch_model import BatchModel
    from nbtext.tokens import Terms
    from nbtext.tokens.batch_reading import ReadBatch
    from nbtext.tokens.key_reading import PackedTerms


A_DOCUMENT: Final = 1 << 17
"""For so many bytes of a model one mail is scored from its file, before the counts of
its terms are put into memory: that takes 2.5 ns a byte, and a mail then takes a tenth
to three tenths of a millisecond less."""


class Scorer:
    """
    The scores of documents by one model.

    Attributes:
        calibration: what turns this model's scores into probabilities.
        patience: how many documents more are scored without arrays, before these are
            made for what comes then. A server makes them aside, and has infinite
            patience, as has who scores a few and ends.
    """

    def __init__(self, model: Model) -> None:
        """Load nothing yet that only many documents need."""
        self.patience: float = inf
        self.calibration = fitted(model)
        self._model = model
        self._reads_vocabulary = event_model(model.scoring.score).reads_vocabulary
        self._batch: BatchModel | None = None
        self._stored = _stored_of(model)
        self._until_gathered = model.file.size / A_DOCUMENT

    @property
    def is_quick(self) -> bool:
        """Whether mails need no arrays: the compiled engine has the model."""
        return self._stored is not None

    def scored(self, readings: Sequence[AnyReading]) -> Iterator[Scored]:
        """Score documents that are taken apart, in their order."""
        quick = self._quickly(readings)
        if quick is not None:
            return iter(quick)
        size = sum(reading.size for reading in readings)
        is_few = len(readings) <= FEW and size <= FEW_BYTES
        if is_few and self._batch is None and not self._reads_vocabulary:
            self.patience -= len(readings)
            if self.patience >= 0 or not self._has_room():
                return map(self._plain, readings)
        return self._many(readings)

    def _has_room(self) -> bool:
        """Make arrays, and return whether there was the memory for them."""
        try:
            self.arranged()
        except ModelMemoryError:
            self.patience = inf
        return self._batch is not None

    def log_odds(self, view: int, keys: Collection[int]) -> dict[int, float] | None:
        """
        Return what each known term of a view of mail says, in nats, by its key.

        None if the compiled engine does not say it.
        """
        stored = self._stored_for(int(view == 0))  # a document, whatever its views
        return None if stored is None else log_odds_by(stored, view, keys)

    def scored_batch(self, batch: "ReadBatch") -> Iterable[Scored]:
        """Score the documents of a batch that were read, in their order."""
        stored = self._stored_for(len(batch.documents))
        quick = scored_by(stored, batch.packed) if stored is not None else None
        if quick is None:
            return self.scored_together(batch.views)
        return [Scored(*quick[place]) for place in batch.places]

    def scored_together(self, views: "Sequence[Terms]") -> Iterable[Scored]:
        """Score documents, of which the terms of each view are given."""
        from nbtext.scoring.batch import score_batch

        return score_batch(self.arranged(), views, self.calibration)

    def joint_log_likelihoods(
        self, documents: Sequence[Document]
    ) -> list[tuple[float, ...]]:
        """Return what `nbtext.scoring.Classifier.joint_log_likelihoods` does."""
        settings = self._model.settings
        readings = [read_keys(one, settings, is_named=False) for one in documents]
        event = event_model(self._model.scoring.score)
        if settings.has_attributes and not event.is_textbook:
            plain = not event.reads_vocabulary
            scores = map(self._plain, readings) if plain else self._many(readings)
            return [scored.log_posterior for scored in scores]
        if not event.reads_vocabulary:
            from nbtext.scoring.mixed import joint_log_likelihood

            bags = (bag_of(reading, settings) for reading in readings)
            return [joint_log_likelihood(self._model, bag) for bag in bags]
        from nbtext.scoring.batch import joint_log_likelihoods
        from nbtext.tokens import read_terms

        views = read_terms(settings, [reading.views for reading in readings])
        return [*map(tuple, joint_log_likelihoods(self.arranged(), views).tolist())]

    def arrange(self, samples: Iterable[Document]) -> None:
        """Do what `nbtext.scoring.Classifier.arrange` does."""
        if self._stored is not None:
            self._gather(self._stored)
            return
        from nbtext.scoring.batch import score_readings

        batch = self._arranged()
        settings = self._model.settings
        readings = [read_keys(sample, settings, is_named=False) for sample in samples]
        for _ in score_readings(batch, readings, self.calibration):
            pass
        self._batch = batch  # and not before: other threads may be classifying

    def arranged(self) -> "BatchModel":
        """Return the counts as the batch engine has them."""
        if self._batch is None:
            self._batch = self._arranged()
        return self._batch

    def _arranged(self) -> "BatchModel":
        from nbtext.scoring.batch import keep_memory
        from nbtext.scoring.batch_model import open_batch_model

        with memory_for_model(self._model.path):
            keep_memory()
            return open_batch_model(self._model)

    def _quickly(self, readings: Sequence[AnyReading]) -> list[Scored] | None:
        """Return the scores of mails by the compiled engine; None if it has none."""
        stored = self._stored_for(len(readings))
        if stored is None:
            return None
        scores = []
        for reading in readings:
            found = scored_by(stored, self._packed(reading))
            if found is None:  # damage, and Python says which
                return None
            scores.append(Scored(*found[0]))
        return scores

    def _packed(self, reading: AnyReading) -> "PackedTerms":
        """Return the terms of a document as the compiled engine scores them."""
        if isinstance(reading, KeyReading):
            return reading.packed
        settings = self._model.settings
        return tuple(
            packed(array("Q", keys(view, content, settings.secret)).tobytes())
            for view, content in zip(settings.views, reading.views, strict=True)
        )

    def _stored_for(self, n_documents: int) -> "StoredModel | None":
        """Return what scores documents without arrays; None if there is nothing."""
        if self._stored is None:
            return None
        if len(self._stored.tables()) != len(self._model.file.tables):
            return None  # it stays open, and has learnt since
        if self._until_gathered > 0:
            self._until_gathered -= n_documents
            if self._until_gathered <= 0:
                self._gather(self._stored)
        return self._stored

    def _gather(self, stored: "StoredModel") -> None:
        """Put the counts into memory, or leave it to who asks next."""
        try:
            stored.gather(None)
            self._until_gathered = 0
        except RuntimeError:  # another thread reads it
            self._until_gathered = 1

    def _plain(self, reading: AnyReading) -> Scored:
        bag = bag_of(reading, self._model.settings)
        return score(self._model, bag, self.calibration)

    def _many(self, readings: Sequence[AnyReading]) -> Iterator[Scored]:
        from nbtext.scoring.batch import score_readings

        return score_readings(self.arranged(), readings, self.calibration)


def _stored_of(model: Model) -> "StoredModel | None":
    """Return the compiled engine's view of a model that is as it is in its file."""
    own = StoredView | TailView
    of_file = [isinstance(one, own) for views in model.stored for one in views]
    is_same = all(of_file) and model.scoring == model.file.scoring
    if not (is_same and engine().is_compiled):
        return None
    from nbtext.scoring.stored import stored_in, stored_kept

    file = model.file
    contents = file.contents[: file.size]
    if are_kept(file.path):
        places = [(table.offset, table.length) for table in file.tables]
        return stored_kept(file.path, file.tables, places, contents)
    return stored_in(contents)
