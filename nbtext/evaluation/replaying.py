"""
Replay: documents in the order of time, each classified before it is learnt.

That is the protocol of the TREC spam track (Cormack and Lynam 2005): a filter
classifies one message after the other, and after each is told what it truly was. What
is judged is what `classify` would have said at that moment, after `learn` of the
documents so far, one by one (`nbtext.learning.growing`). All are read once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbtext.counts import ReadReport, TermCache
    from nbtext.learning import SettingsOverrides
    from nbtext.learning.reading_once import Kept
    from nbtext.policy import Policy
    from nbtext.scoring import Model
    from nbtext.settings.reading import Settings
    from nbtext.tokens import Terms

from nbtext.classes import quoted
from nbtext.document import Note
from nbtext.errors import SettingsError, SourceError
from nbtext.evaluation.documents import DatedNames
from nbtext.evaluation.evaluation import NO_CLASS, Evaluation, evaluate
from nbtext.evaluation.learning_curve import Replay, learning_curve
from nbtext.evaluation.of_model import NOTHING
from nbtext.evaluation.stream import IMMEDIATE, Feedback, OrderName, in_order
from nbtext.learning.growing import GrowingModel, empty_model
from nbtext.learning.judging import Judge
from nbtext.learning.reading_once import LabelledSources, read_once
from nbtext.learning.regimes import EVERYTHING, Regime
from nbtext.learning.training import check_classes
from nbtext.scoring import check_scoring
from nbtext.store import rows_of

PACE: Final = 100
"""After so many documents it is told how far the replay has come."""

OnStep: TypeAlias = Callable[[int, int], None]
"""Told how many documents are judged, and how many there are."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """How documents are replayed."""

    order: OrderName = "name"
    feedback: Feedback = IMMEDIATE
    regime: Regime = EVERYTHING


def replay(
    sources: LabelledSources,
    protocol: Protocol,
    *,
    base: Model | None,
    overrides: SettingsOverrides,
    policy: Policy,
    positive: str | None,
    on_step: OnStep | None,
) -> Evaluation:
    """
    Classify documents one after the other, and learn each.

    Args:
        sources: the documents.
        protocol: in which order, with which feedback, which are learnt.
        base: the model to begin with, None for one that knows nothing.
        overrides: without a model, what differs from the default settings.
        policy: how decisions are made.
        positive: which of two classes is the one looked for.
        on_step: told how far it has come.

    Raises:
        SourceError: not one document can be read.
        TrainingError: there are fewer than two classes.
        SettingsError: the score does not go with the classes or cannot be replayed, the
            policy not with a model of the moment, or the order with the documents.
    """
    kept = _Kept()
    cache, settings, report = read_once(
        sources,
        overrides.settings if base is None else lambda _: base.settings,
        kept.meet,
    )
    with cache:
        if not cache.labels:
            sources.tell(report)
            raise SourceError(NOTHING)
        model = base
        if model is None:
            check_classes(sorted(set(cache.labels)), sources.read)
            model = _began(cache, settings, overrides)
        numbers = [document.number for document in kept.documents]
        names = [document.name for document in kept.documents]
        places = in_order(protocol.order, numbers, names, kept.times)
        new = [one for one in places if not rows_of(model.file, cache.digests[one])]
        _remark(report, protocol, kept, model, cache, len(places) - len(new))
        if base is None:
            n_known = len(set(cache.labels))
            if in_vain := overrides.in_vain(model.scoring, policy, n_known):
                report.remark(Note(in_vain))
        sources.tell(report)
        if not new:
            message = (
                f"{model.path}: it has counted all of these documents; name others"
            )
            raise SettingsError(message)
        run = _Run(model, cache, kept, protocol, policy, len(new))
        for step, place in enumerate(new):
            run.judge(step, place)
            for arrived in protocol.feedback.arrivals(step):
                run.tell(new[arrived], is_judged=arrived == step)
            run.learnt_by[step] = len(run.model.learnt)
            n_judged = step + 1
            if on_step is not None and not (n_judged % PACE and n_judged < len(new)):
                on_step(n_judged, len(new))
    result = evaluate(
        run.truth, run.log_posterior, run.decided, run.model.classes,
        printed=run.printed, positive=positive, costs=run.judge_of.costs,
        prior=run.judge_of.prior,
        documents=[
            kept.documents[place]._replace(number=step)
            for step, place in enumerate(new)
        ],
    )  # fmt: skip
    two = result.two_class
    curve = learning_curve(
        run.truth, run.log_posterior, run.decided, run.learnt_by, run.model.classes,
        None if two is None else two.positive,
    )  # fmt: skip
    told = replace(run.replay(), curve=curve)
    return replace(result, passed_over=len(places) - len(new), replay=told)


def _began(cache: TermCache, settings: Settings, overrides: SettingsOverrides) -> Model:
    """Return the model that knows nothing, as it is scored with the classes to come."""
    classes = sorted(set(cache.labels))
    scoring = overrides.scoring_for(settings, len(classes))
    check_scoring(scoring, settings, classes)
    return empty_model(settings, scoring)


class _Kept(DatedNames):
    """
    What is kept of documents beside their terms, in the order of the cache.

    Attributes:
        is_empty: whether it has not a byte, so that nothing can be learnt of it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.is_empty: list[bool] = []

    def meet(self, kept: Kept | None) -> None:
        """Take in a document; None if all of them are read again."""
        super().meet(kept)
        if kept is None:
            self.is_empty.clear()
            return
        self.is_empty.append(not any(kept.document.texts))


def _remark(
    report: ReadReport,
    protocol: Protocol,
    kept: _Kept,
    model: Model,
    cache: TermCache,
    n_seen: int,
) -> None:
    """Add to a report what to know of the stream."""
    undated = sum(time is None for time in kept.times)
    if protocol.order == "date" and undated:
        text = (
            f"{undated:,} of {len(kept.times):,} documents have no date; they come "
            "last, in order of their names"
        )
        report.remark(Note(text))
    if n_seen:
        text = (
            f"the model has counted {n_seen:,} of {len(kept.documents):,} documents; "
            "they are left out, since a replay is of what comes after"
        )
        report.remark(Note(text))
    unknown = sorted({*cache.labels} - {*model.classes}) if model.classes else []
    if unknown:
        text = (
            f"the model has no class {quoted(unknown[0])}"
            + (f" and {len(unknown) - 1:,} more" if len(unknown) > 1 else "")
            + "; its documents count as errors, and are not learnt (LABEL=PATH names "
            "the class of a source)"
        )
        report.remark(Note(text, is_warning=True))


class _Run:
    """
    A replay so far.

    Attributes:
        model: the model as it is now.
        judge_of: decides by it.
        truth: shape (n_documents,), places of classes; -1 for an unknown label.
        decided: the same of decisions; -1 for unsure.
        log_posterior: shape (n_documents, n_classes), in nats.
        printed: the same where probabilities are told.
        learnt_by: how many documents were learnt once each was judged.
    """

    def __init__(
        self,
        base: Model,
        cache: TermCache,
        kept: _Kept,
        protocol: Protocol,
        policy: Policy,
        n_documents: int,
    ) -> None:
        wanted = base.classes or tuple(sorted(set(cache.labels)))
        may_learn = np.array([label in wanted for label in cache.labels])
        self.model = GrowingModel(base, cache, may_learn)
        self.judge_of = Judge(self.model, policy)
        self._cache, self._protocol = cache, protocol
        self._regime = protocol.regime
        self._may_learn = may_learn & ~np.array(kept.is_empty, np.bool_)
        self._known_before = sum(base.documents)
        self._left_out = self._copies = self._unscored = self._told = 0
        self._digests: set[bytes] = set()
        self._views: Sequence[Terms] = ()
        shape = n_documents, len(wanted)
        self.truth = np.full(n_documents, NO_CLASS, np.int64)
        self.decided = np.full(n_documents, NO_CLASS, np.int64)
        self.log_posterior = np.full(shape, -np.log(len(wanted)))
        self.printed = self.log_posterior.copy()
        self.learnt_by = np.zeros(n_documents, np.int64)
        self._is_wanted = True

    def judge(self, step: int, place: int) -> None:
        """Classify a document, and compare."""
        self._views = self._cache.document(place)
        self.truth[step] = self._truth(place)
        judged = self.judge_of.judge(self._views)
        if len(self.model.known) < 2:
            self._unscored += 1
        elif self.truth[step] not in self.model.known:
            self.truth[step] = NO_CLASS
        self.log_posterior[step] = judged.log_posterior
        self.printed[step] = judged.printed
        self.decided[step] = NO_CLASS if judged.decided is None else judged.decided
        self._is_wanted = judged.is_learnt(self._regime, self._truth(place))

    def tell(self, place: int, *, is_judged: bool) -> None:
        """
        Tell the label of a document, which is learnt if the regime wants it.

        Args:
            place: which of the cache.
            is_judged: whether it is the last one that was judged.
        """
        self._told += 1
        if not self._may_learn[place]:
            return
        if self._cache.digests[place] in self._digests:
            self._copies += 1
            return
        if not is_judged:
            self._views = self._cache.document(place)
            if self._regime.is_choosy:
                judged = self.judge_of.judge(self._views)
                self._is_wanted = judged.is_learnt(self._regime, self._truth(place))
        if self._regime.is_choosy and not self._is_wanted:
            self._left_out += 1
            return
        self._digests.add(self._cache.digests[place])
        is_observed = not self._regime.is_choosy
        self.model.learn(place, self._views, is_observed=is_observed)

    def _truth(self, place: int) -> int:
        label = self._cache.labels[place]
        classes = self.model.classes
        return classes.index(label) if label in classes else NO_CLASS

    def replay(self) -> Replay:
        """Return what became of all documents."""
        protocol, regime, model = self._protocol, self._regime, self.model
        return Replay(
            order=protocol.order,
            feedback=str(protocol.feedback),
            regime=regime.name,
            margin=regime.margin if regime.name == "near-errors" else None,
            known_before=self._known_before,
            learnt=len(model.learnt),
            left_out=self._left_out,
            copies=self._copies,
            not_told=len(self.truth) - self._told,
            unscored=self._unscored,
            curve=(),
        )
