"""
Making a correction: what documents that the counts misjudge teach beside them.

In: the counts, and the documents of smallest digest. Each is scored as if it alone,
with its copies, had not been counted (`nbtext.learning.base_scores`), and then moves
the classes (`nbtext.learning.passes`). Out: a correction, unless one does harm to
documents that had no part in it: a quarter of them is taken out of the counts (of few
documents, one quarter after the other; of few of a class, a quarter of each class),
corrections are made of the others beside all and beside half of what the counts say,
and if the quarter loses more by the better one than chance may take, and more documents
bring, there is none. Beside half, more than two classes may move twice as far, too, and
in twice as many passes. Of many documents the trial is made twice, at last of more of
them; of very many some are held out of the correction that is kept, and say how steep
its scores are.
(Two halves would not do: the base scores of one hold the labels of the other.
docs/experiments/010-many-classes.md)

Of two classes, what each document scores by the correction is kept for calibration, as
if it had moved no class: its own steps are taken away, and those of others stay that
would have gone further without. So it looks no better than it is, and where classes are
hard to tell apart somewhat worse (Jaakkola and Haussler 1999, section 4;
docs/experiments/042-thresholds-of-text.md).
"""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from nbtext.counts import TermTable
    from nbtext.learning.base_scores import Base
    from nbtext.learning.passes import Vectors
    from nbtext.parallel import Map

from nbtext.counts import Calibration, Sample, bin_of
from nbtext.counts.correction import AMOUNT_UNIT, BIAS, CorrectionInfo
from nbtext.counts.correction_table import Correction, correction_of
from nbtext.counts.room import give_back
from nbtext.counts.sample import VISITED, VISITED_TERMS
from nbtext.counts.sorted_counts import NO_KEYS, starts_of_runs
from nbtext.counts.term_table import in_order
from nbtext.learning.base_scores import BaseScores
from nbtext.learning.passes import Learnt, Pupils, correct
from nbtext.learning.steps import BASE_UNIT, Manner, rate_of
from nbtext.learning.trials import DOUBTS, FURTHER, HELD_OUT, SHARES, Trial, together
from nbtext.learning.usual_products import sums_of_weights
from nbtext.learning.visits import Visits, vectors_of, visits_of, weighted_views
from nbtext.scoring.batch_model import of_documents
from nbtext.scoring.held_out import corrected
from nbtext.scoring.models.arrays import normalised
from nbtext.settings.columns import UNIT

TRIED: Final = 4096
"""Maximum documents that a correction is tried on, and learnt from for that."""

TRIED_AGAIN: Final = 8192
"""The same of the second trial, of many documents: it says how far the counts are
believed beside a correction, and how steep corrected scores are. Both change with
what there is to learn from (docs/experiments/038-tried-again.md)."""

TRIED_AGAIN_TERMS: Final = 1 << 22
"""Maximum distinct terms that they have: with long documents a second trial takes as
long as all the rest, and hardly differs."""

MORE: Final = 1.5
"""There is a second trial if it has so many times the documents of the first; and of so
many times those of the second, some of all decide what it would have."""

APART: Final = 32
"""Of many documents one in so many is held out of the correction that is kept, and
decides how steep its scores are: they go the further, the more there is to learn from
(docs/experiments/081-many-decide.md)."""

MOST_APART: Final = 2048
"""Maximum documents that are held out so."""

DEALT: Final = 50
"""With fewer documents than so many times the classes a trial holds out as many of each
class. Else a class has fewer others by chance just where one of its own is judged; of
many documents that hardly matters (docs/experiments/062-trials-of-few.md)."""

MOST_SCORES: Final = 1 << 26
"""Maximum base scores, a document and class each: of 512 classes fewer documents are
visited."""

MANY_CLASSES: Final = 100
"""With so many classes a trial takes long, and is not made if it is in vain."""

FEWEST_OF_CLASS: Final = 3
"""It is with fewer documents than so many times the classes to decide by: a correction
that is made of one or two of a class does harm (docs/experiments/057-many-classes.md).
So from 2,731 classes on there is no correction."""

AT_A_TIME: Final = 128
"""Base scores of so many documents are rounded at a time."""

USUAL: Final = Manner()
"""Labels are believed, and move classes as far as they mostly do."""

NO_PLACES: Final = np.empty(0, np.int64)


class _Part(NamedTuple):
    """
    Documents without a part of them.

    Attributes:
        base: the scores of all documents by counts without that part.
        order: the others, in the order in which they are visited.
        held_out: the part.
    """

    base: NDArray[np.int32]
    order: NDArray[np.int64]
    held_out: NDArray[np.int64]


class Made(NamedTuple):
    """
    What came of making a correction.

    Attributes:
        correction: it, None if it was not worth keeping.
        trial: what it did for documents that were held out; None if it was not tried.
        held_out: what documents score by it that moved no class; None if there are not
            two classes.
    """

    correction: Correction | None
    trial: Trial | None
    held_out: Calibration | None = None


def make_correction(base: Base, sample: Sample, map_: Map = map) -> Made:
    """Make a correction of the scores of a model."""
    n_classes = len(base.model.classes)
    most = MOST_SCORES // n_classes

    def visits_to(documents: int, terms: int = VISITED_TERMS) -> Visits:
        blocks = sample.head(min(documents, most), terms, distinct=True)
        if sum(map(len, blocks)) > most:
            blocks = sample.head(min(documents, most), terms)
        return visits_of(blocks, base.model.classes)

    def making(visits: Visits) -> _Making:
        model = of_documents(base.model, [block.views for block in visits.blocks])
        own = base._replace(model=model)
        return _Making(own, visits, *vectors_of(visits, model), map_)

    try:
        trial = _deciding_trial(visits_to, making, n_classes)
        if trial is None or not trial.is_won:
            return Made(None, trial)
        give_back()
        made = making(visits_to(VISITED)).made(trial)
        give_back()
    except OverflowError:  # of documents that are there millions of times
        return Made(None, None)
    return made


def _deciding_trial(
    visits_to: Callable[..., Visits],
    making: Callable[[Visits], _Making],
    n_classes: int,
) -> Trial | None:
    """Return the trial that decides, None if there are too few documents for one."""
    first = visits_to(TRIED)
    fewest = FEWEST_OF_CLASS * n_classes if n_classes >= MANY_CLASSES else 0
    if len(first.order) < fewest:
        more = visits_to(TRIED_AGAIN, TRIED_AGAIN_TERMS)
        if len(more.order) < max(fewest, MORE * len(first.order)):
            return None
    trial = making(first).trial()
    if trial is None or trial.parts > 1:
        return trial
    second = visits_to(TRIED_AGAIN, TRIED_AGAIN_TERMS)
    if len(second.order) < MORE * len(first.order):
        return trial
    return making(second).trial_again(trial)


@dataclass(frozen=True, slots=True)
class _Making:
    """
    What a correction is made of.

    Attributes:
        base: the scores that are corrected.
        visits: the documents.
        vectors: their vectors in the views that have weights.
        firsts: where the terms' numbers of each of these views begin, with their end.
        map_: deals with parts of the documents, and with trials.
    """

    base: Base
    visits: Visits
    vectors: list[Vectors]
    firsts: list[int]
    map_: Map

    @property
    def _scores(self) -> BaseScores:
        """What computes the scores."""
        return BaseScores(self.base, self.visits, self.vectors, self.firsts, self.map_)

    def trial(self) -> Trial | None:
        """
        Make corrections without a part of the documents, and try them on these.

        Of few documents each part has its turn: together they say more. What is
        returned is the trial of the better share, with the pace, the passes and the
        doubt that went with it best; None if there are too few documents.
        """
        n_visits = len(self.visits.order)
        if n_visits < HELD_OUT:
            return None
        n_parts = min(HELD_OUT, max(1, TRIED // n_visits))
        parts = [self.part(number) for number in range(n_parts)]
        best = self.trial_of_shares(parts, USUAL)
        is_tried = best.share < 1.0 and len(self.base.model.classes) > 2
        for manner in FURTHER if is_tried else ():
            other = self._tried(parts, best.share, manner)
            if other.adjustment.loss >= best.adjustment.loss:
                break
            best = other
        for doubt in DOUBTS:
            manner = best.manner._replace(doubt=doubt)
            other = self._tried(parts, best.share, manner)
            if other.adjustment.loss >= best.adjustment.loss:
                break
            best = other
        return best

    def trial_of_shares(self, parts: list[_Part], manner: Manner) -> Trial:
        """Try each share in one manner, and return the trial of the better one."""

        def tried(share: float) -> Trial:
            trial = self._tried(parts, share, manner)
            _loss_by(trial)  # which is computed where the trial is made
            return trial

        return min(self.map_(tried, SHARES), key=_loss_by)

    def trial_again(self, first: Trial) -> Trial:
        """
        Return the trial of the better share, with the manner that a first one chose.

        If that doubts labels, it is tried without, too: the more documents there are,
        the less often is it the label that is wrong.
        """
        parts = [self.part(0)]
        best = self.trial_of_shares(parts, first.manner)
        if first.manner.doubt:
            undoubted = best.manner._replace(doubt=0.0)
            other = self._tried(parts, best.share, undoubted)
            best = min(best, other, key=_loss_by)
        return best

    def part(self, number: int) -> _Part:
        """Hold out a part of the documents, and score all without it."""
        visits, n_classes = self.visits, len(self.base.model.classes)
        part_of = visits.visit_of % HELD_OUT
        if len(visits.order) < DEALT * n_classes:
            part_of = visits.dealt(HELD_OUT)
        is_held_out = part_of == number
        base = self._scores.without(is_held_out)
        is_first = is_held_out.take(visits.order)
        return _Part(base, visits.order[~is_first], visits.order[is_first])

    def _tried(self, parts: list[_Part], share: float, manner: Manner) -> Trial:
        """Make corrections without each part, and try them on it."""
        trials = []
        for base, order, held_out in parts:
            labels = self.visits.labels.take(held_out)
            loss_without = _loss(base.take(held_out, axis=0) / BASE_UNIT, labels)
            logits = self._learnt(
                base, share, manner, order, held_out, is_kept=False
            ).logits
            counted = self.base.model.documents
            trials.append(
                Trial(share, manner, 1, loss_without, logits, labels, counted)
            )
        return reduce(together, trials)

    def made(self, trial: Trial) -> Made:
        """Make the correction of all documents, as a trial of fewer has found best."""
        visits = self.visits
        base = self._scores.of_all()
        lengths, is_apart = self._lengths(), self._apart()
        trial, learnt = self._learnt_of_all(base, trial, is_apart)
        give_back()
        if not trial.is_won:
            return Made(None, trial)
        share, taken = trial.share, trial.adjustment.t * trial.shares
        trial = trial.without(trial.adjustment.t)
        info = CorrectionInfo(
            self.base.model.scoring.of_scores(),
            self.base.fit.slope * share,
            trial.steepness,
            documents=int((~is_apart).sum()),
            made_with=trial.facts(len(self.base.model.classes)),
        )
        documents, classes = learnt.amounts.nonzero()
        values = learnt.amounts[documents, classes] * visits.times.take(documents)
        labels = visits.labels.take(documents)
        entries = visits.entries.take(documents, axis=0)
        names, n_views = self.base.model.classes, len(self.base.model.terms)
        nothing = [(NO_KEYS, NO_PLACES, NO_PLACES)] * n_views
        amounts = entries, labels, classes, values
        correction = correction_of(info, names, nothing, amounts)
        taken[0] += self.base.fit.offset * share
        less = np.rint(taken * (AMOUNT_UNIT / BIAS)).astype(np.int64).tolist()
        biases = (*map(int.__sub__, correction.biases, less),)
        correction = correction._replace(biases=biases)
        terms = (*self._terms(learnt),)
        level = round(self._level(terms, correction.biases))
        correction = correction._replace(
            biases=tuple(bias - level for bias in correction.biases),
            terms=terms,
        )
        if not len(correction.amounts):
            return Made(None, trial)
        return Made(correction, trial, self._held_out(learnt, info, lengths))

    def _learnt_of_all(
        self, base: NDArray[np.int32], trial: Trial, is_apart: NDArray[np.bool_]
    ) -> tuple[Trial, Learnt]:
        """
        Learn of all documents as a trial has found best.

        Of many some are held out, and decide how steep scores are and what is taken of
        the classes' shares: the trial has learnt from far fewer.

        Returns:
            The trial that has decided so, and what was learnt.
        """
        order, are_two = self.visits.order, base.shape[1] == 2
        held_out = order[is_apart]
        scored = order if are_two else held_out
        learnt = self._learnt(
            base, trial.share, trial.manner, order[~is_apart], scored, is_last=True
        )
        if len(held_out):
            labels = self.visits.labels.take(held_out)
            logits = learnt.logits[is_apart] if are_two else learnt.logits
            loss = _loss(base.take(held_out, axis=0) / BASE_UNIT, labels)
            trial = replace(
                trial, loss_without=loss, logits=logits, labels=labels, parts=1
            )
        return trial, learnt

    def _apart(self) -> NDArray[np.bool_]:
        """
        Return which visits are held out of a correction of all: none of few.

        A class that has no others keeps its own, or would not be told any more.
        """
        n_visits = len(self.visits.order)
        is_apart = np.zeros(n_visits, np.bool_)
        if n_visits >= MORE * TRIED_AGAIN:
            every = max(APART, -(-n_visits // MOST_APART))
            is_apart[every - 1 :: every] = True
        labels = self.visits.labels.take(self.visits.order)
        return is_apart & np.isin(labels, labels[~is_apart])

    def _lengths(self) -> NDArray[np.int64]:
        """Return the squared length of each document's vector, of a unit a view."""
        lengths = np.zeros(len(self.visits.labels), np.int64)
        for vectors in self.vectors:
            lengths += np.diff(vectors.starts) > 0
        return lengths

    def _held_out(
        self, learnt: Learnt, info: CorrectionInfo, lengths: NDArray[np.int64]
    ) -> Calibration | None:
        """
        Return what the documents score by a correction in which they had no part.

        Returns:
            It, None if there are not two classes.
        """
        scoring = self.base.model.scoring
        if len(self.base.model.classes) != 2:
            return None
        order = self.visits.order
        steps = learnt.amounts.take(order, axis=0) / AMOUNT_UNIT
        steps *= (self.visits.times * (lengths + BIAS)).take(order)[:, None]
        logits = learnt.logits - steps
        scores = (logits[:, 1] - logits[:, 0]) / info.slope
        names = [
            self.base.model.classes[place]
            for place in self.visits.labels.take(order).tolist()
        ]
        counts = Tally(zip(map(bin_of, scores.tolist()), names, strict=True))
        return Calibration(
            corrected(scoring), counts=dict(counts), documents=dict(Tally(names))
        )

    def _level(self, terms: Sequence[TermTable], biases: Sequence[int]) -> float:
        """
        Return what the mean class gets of the mean document, as a bias.

        It means nothing to these classes; but one that begins later gets nothing, and
        is to be on a level with them.
        """
        model, of_values = self.base.model, 0.0
        of_views = sums_of_weights(model)
        for view, of_all in zip(weighted_views(model.settings), of_views, strict=True):
            values = terms[view]
            weights = of_all.take(model.terms[view].find(values.keys[:-1]))
            # of a term the values of all classes add up exactly
            products = values.sums(0)[:-1] * weights.astype(np.float64)
            of_values += float(products.sum())
        of_values /= sum(model.documents) * UNIT * UNIT * BIAS
        return (of_values + sum(biases)) / len(biases)

    def _terms(self, learnt: Learnt) -> Iterator[TermTable]:
        """Yield for each view what was learnt, which is in order."""
        weighted = weighted_views(self.base.model.settings)
        ends = np.searchsorted(learnt.places, self.firsts).tolist()
        for view, table in enumerate(self.base.model.terms):
            rows, start = slice(0, 0), 0
            if view in weighted:
                number = weighted.index(view)
                rows, start = slice(*ends[number : number + 2]), self.firsts[number]
            places = learnt.places[rows]
            first = starts_of_runs(places)
            keys = table.keys.take(places.take(first) - start)
            yield in_order(keys, first, learnt.classes[rows], (learnt.values[rows],))

    def _learnt(
        self,
        base: NDArray[np.int32],
        share: float,
        manner: Manner,
        order: NDArray[np.int64],
        scored: NDArray[np.int64],
        *,
        is_kept: bool = True,
        is_last: bool = False,
    ) -> Learnt:
        """
        Learn a correction of documents in an order, and score some with it.

        Args:
            base: the scores that are corrected.
            share: how far they are believed.
            manner: how documents move classes.
            order: those that do.
            scored: those that are scored.
            is_kept: whether what was learnt is wanted, too.
            is_last: whether the vectors are given up for it.
        """
        visits = self.visits
        pupils = Pupils(
            self.vectors,
            visits.labels,
            visits.times,
            base if share == 1.0 else _part_of(base, share),
            self.firsts[-1],
        )
        rate = rate_of(base.shape[1], manner)
        return correct(pupils, order, rate, scored, is_kept=is_kept, is_last=is_last)


def _part_of(base: NDArray[np.int32], share: float) -> NDArray[np.int32]:
    """Return a share of base scores, rounded; floating-point ones are never many."""
    found = np.empty_like(base)
    for start in range(0, len(base), AT_A_TIME):
        part = slice(start, start + AT_A_TIME)
        found[part] = np.rint(base[part] * share)
    return found


def _loss_by(trial: Trial) -> float:
    """Return what trials are compared by."""
    return trial.adjustment.loss


def _loss(logits: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Return the mean log-loss of documents, in nats."""
    losses = -normalised(logits)[np.arange(len(labels)), labels]
    return float(losses.mean())
