"""
Training by a regime: a model of those documents alone that training has need of.

Documents are read once and judged in the order of their digests, each by the model of
those learnt before it; so neither the order of the sources nor that of the files says
which are learnt. Counted, and entered in the ledger, are those. Calibration rests on
all of them, as far as the sample has them: what is learnt is scored as if it alone had
not been counted, what is left out as it is, which no count knows. Of the learnt ones
alone, chosen for having misled the model, it would say that the model errs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from nbtext.counts import Calibration, CountTable, ReadReport, TermCache
    from nbtext.counts.sample import Block
    from nbtext.document import Item
    from nbtext.learning.overrides import SettingsOverrides
    from nbtext.learning.reading_once import Kept
    from nbtext.learning.regimes import Regime
    from nbtext.scoring.batch_model import BatchModel
    from nbtext.settings.reading import Settings
    from nbtext.settings.scoring import Scoring
from nbtext import wording
from nbtext.counts.calibration import totals
from nbtext.counts.fitting import chosen
from nbtext.counts.sample import TERMS
from nbtext.counts.text_sample import TextSample
from nbtext.errors import SettingsError
from nbtext.learning.finishing import Finished, n_scored
from nbtext.learning.growing import GrowingModel, empty_model
from nbtext.learning.judging import Judge
from nbtext.learning.reading_once import (
    LabelledSources,
    check_found_labels,
    counts_of,
    notes_on_labels,
    read_once,
    sample_of,
)
from nbtext.learning.texts import keeps_texts
from nbtext.policy import MOST_PROBABLE
from nbtext.scoring import check_scoring, event_model
from nbtext.scoring.batch import keep_memory
from nbtext.scoring.batch_mixed import scores_by
from nbtext.scoring.batch_model import batch_model_of
from nbtext.scoring.candidates import candidates
from nbtext.scoring.held_out import fitted_by, no_calibrations
from nbtext.scoring.leave_one_out import left_out, observed_scores


class Selected(NamedTuple):
    """
    What training under a regime made.

    Attributes:
        table: the counts of what was learnt.
        finished: what was made of them.
        report: what was read.
        left_out: how many documents were not learnt, by the regime.
        copies: how many were not learnt, for being copies of learnt ones.
        texts: the beginnings of documents, where texts of terms are looked for.
    """

    table: CountTable
    finished: Finished
    report: ReadReport
    left_out: int
    copies: int
    texts: TextSample


def select(
    sources: LabelledSources,
    regime: Regime,
    *,
    overrides: SettingsOverrides,
    check: Callable[[Sequence[str], Callable[[], Iterable[Item]]], None],
) -> Selected:
    """
    Learn what a regime learns of labelled documents.

    Args:
        sources: the documents.
        regime: which are learnt.
        overrides: what differs from the default settings and the default scoring.
        check: refuses classes that no model can have, given the sources of them.

    Raises:
        TrainingError: fewer than two classes, or not one token.
        SettingsError: the score does not go with the classes, or with regimes.
    """
    keep_memory()
    texts = TextSample() if keeps_texts(overrides) else TextSample(documents=0)

    def keep(kept: Kept | None) -> None:
        if kept is None:
            texts.clear()
        else:
            texts.add([kept.reading.digest], [kept.document])

    cache, settings, report = read_once(sources, overrides.settings, keep)
    with cache:
        classes = sorted(set(cache.labels))
        report.notes += notes_on_labels(sources, len(classes), len(cache.labels))
        sources.tell(report)
        check(classes, sources.read)
        check_found_labels(sources, len(classes), len(cache.labels))
        scoring = overrides.scoring_for(settings, len(classes))
        if event_model(scoring.score).weighs_again:
            message = (
                f"the {scoring.score} score weighs terms by how many of all documents "
                "have them; it cannot be trained on a part that depends on its own "
                f"scores ({wording.named('regime')})"
            )
            raise SettingsError(message)
        check_scoring(scoring, settings, classes)
        learnt, copies = _learnt(cache, settings, scoring, regime)
        table = counts_of(cache, settings, learnt)
        everything = np.ones(len(learnt), np.bool_)
        sample = sample_of(
            cache, settings, overrides._replace(correction=False), everything
        )
        own = {
            (cache.digests[place], cache.labels[place])
            for place in np.flatnonzero(learnt).tolist()
        }
        blocks = sample.head(n_scored(scoring, len(table.classes)), TERMS)
        finished = _finished(batch_model_of(table, scoring), blocks, own)
    n_left_out = len(learnt) - int(learnt.sum()) - copies
    return Selected(table, finished, report, n_left_out, copies, texts)


def _learnt(
    cache: TermCache, settings: Settings, scoring: Scoring, regime: Regime
) -> tuple[NDArray[np.bool_], int]:
    """Return which documents are learnt, and how many copies of them there are."""
    learnt = np.zeros(len(cache.labels), np.bool_)
    model = GrowingModel(empty_model(settings, scoring), cache, ~learnt)
    judge = Judge(model, MOST_PROBABLE)
    digests: set[bytes] = set()
    copies = 0
    places = range(len(learnt))
    for place in sorted(
        places, key=lambda one: (cache.digests[one], cache.labels[one])
    ):
        if cache.digests[place] in digests:
            copies += 1
            continue
        terms = cache.document(place)
        truth = model.classes.index(cache.labels[place])
        if judge.judge(terms).is_learnt(regime, truth):
            model.learn(place, terms, is_observed=False)
            learnt[place] = True
            digests.add(cache.digests[place])
    return learnt, copies


def _finished(
    model: BatchModel, blocks: Sequence[Block], learnt: set[tuple[bytes, str]]
) -> Finished:
    """Calibrate on documents that were learnt, by digest and label, and on others."""
    scorings, nothing = candidates(model.scoring), no_calibrations(model)
    own: list[Block] = []
    seen: list[tuple[Calibration, ...]] = []
    for block in blocks:
        named = zip(block.digests, block.labels, strict=True)
        is_own = np.array([name in learnt for name in named], np.bool_)
        own.append(block.take(np.flatnonzero(is_own).tolist()))
        others = block.take(np.flatnonzero(~is_own).tolist())
        if len(others):
            scores = scores_by(model, scorings, model.find(others.views))
            seen.append(observed_scores(model, nothing, scores, others.labels))
    documents = [(block.labels, block.views) for block in own if len(block)]
    calibrations = totals([left_out(model, documents).calibrations, *seen])
    scoring = chosen(model.scoring, calibrations, model.classes)
    fit = fitted_by(scoring, calibrations, model.classes)
    return Finished(model.scored_by(scoring), calibrations, fit, {}, None)
