"""
Evaluating a model on labelled documents that it has not seen.

Documents are classified as they come; their decisions are then compared with their
labels. `nbtext.evaluation.cross_validation` needs no model; it makes one for each fold.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from nbtext.scoring.combining import Decider
    from nbtext.scoring.estimating import EstimatedPrior

import numpy as np

from nbtext import wording
from nbtext.counts import ReadReport
from nbtext.counts.read_report import Progress
from nbtext.document import Item, Note
from nbtext.errors import SettingsError, SourceError
from nbtext.evaluation.documents import Named
from nbtext.evaluation.evaluation import NO_CLASS, Evaluation, evaluate
from nbtext.evaluation.misjudged import Misjudged, misjudged, worst_first
from nbtext.evaluation.unknown_labels import UnknownLabels
from nbtext.scoring import Decision, classify
from nbtext.scoring.in_processes import classify_with
from nbtext.scoring.unseen import AS_COUNTED, LEFT_OUT

NOTHING: Final = "there is no document to evaluate; name labelled folders or files"


def evaluate_model(
    model: "Decider",
    items: Iterable[Item],
    *,
    name: str = "the model",
    sources: Sequence[str] = (),
    is_estimated: bool = False,
    positive: str | None = None,
    max_bytes: int,
    progress: Progress | None = None,
    on_read: Callable[[ReadReport], None] | None = None,
    on_decision: Callable[[Decision], None] | None = None,
    executor: "Executor | None" = None,
    jobs: int = 1,
    elsewhere: "Callable[..., Iterator[list[Decision]]] | None" = None,
) -> Evaluation:
    """
    Classify labelled documents and compare.

    Args:
        model: what is evaluated, and how it decides; an `UnseenClassifier` scores
            documents that it has counted as if it had not, or they are passed over. If
            it tells reasons, so does the evaluation, of each document misjudged.
        items: the documents, with their labels.
        name: what the model is called in notes and errors.
        sources: where they are from, as the user wrote it, to be named in notes.
        is_estimated: whether the prior is estimated from the documents.
        positive: which of two classes is the one looked for; if not given, `spam`,
                or else the rarer one.
        max_bytes: how much of a document is read.
        progress: told now and then how many more documents were read.
        on_read: told what was read and what was skipped, before anything is refused.
        on_decision: told of each decision that is evaluated.
        executor: processes that have the model (`nbtext.scoring.in_processes`).
        jobs: how many they are, or without them how many threads work.
        elsewhere: what decides about the documents in place of all this, as
            `nbtext.scoring.classify` would.

    Raises:
        SourceError: not one document can be read.
        SettingsError: `positive` is not one of two classes, not one label is a class of
            the model, or the model has counted all documents and cannot tell what it
            would be without one of them.
    """
    report, seen = ReadReport(), Seen()
    unknown = UnknownLabels(model.classes, sources, name)
    gathered = _Gathered(model)
    begun = partial(classify, items, model, jobs=jobs)
    if executor is not None:
        begun = partial(classify_with, executor, jobs, items)
    if elsewhere is not None:
        begun = partial(elsewhere)
    batches = begun(max_bytes=max_bytes, on_problem=report.remark)
    found: list[EstimatedPrior] = []
    if is_estimated:
        batches = model.with_estimated_prior(batches, found.append)
    for decision in _watched(batches, progress):
        report.documents += 1
        if not seen.meet(decision):
            continue
        if on_decision is not None:
            on_decision(decision)
        unknown.meet(decision.expected, decision.name)
        gathered.take(decision)
        if decision.truncated:
            report.truncated.append(decision.name)
    n_judged = len(gathered.documents)
    is_any_known = unknown.documents.total() < n_judged
    if unknown.documents and is_any_known:
        text = f"{unknown.sentence()}; until then each counts as an error"
        report.remark(Note(text, is_warning=True))
    if seen and is_any_known:
        report.remark(Note(seen.sentence(name, report.documents)))
    if on_read is not None:
        on_read(report)
    if seen and not n_judged:
        raise SettingsError(seen.sentence(name, report.documents))
    if not n_judged:
        raise report.skipped.first if report.skipped else SourceError(NOTHING)
    if not is_any_known:
        raise SettingsError(unknown.sentence())
    prior = found[0].shares if is_estimated else model.prior
    return replace(
        gathered.evaluation(positive, prior),
        scored_left_out=seen.scored_left_out,
        passed_over=seen.passed_over,
    )


class _Gathered:
    """Decisions as arrays want them, a row a document."""

    def __init__(self, model: "Decider") -> None:
        self.documents: list[Named] = []
        self._model = model
        self._places = {name: place for place, name in enumerate(model.classes)}
        self._truth: list[int] = []
        self._decided: list[int] = []
        self._log_posterior: list[tuple[float, ...]] = []
        self._printed: list[tuple[float, ...]] = []
        self._errors: list[Misjudged] = []

    def take(self, decision: Decision) -> None:
        """Take in a decision about a labelled document."""
        label, truth = decision.label, decision.expected
        if label != truth and self._model.n_reasons:
            self._errors.append(misjudged(decision))
        number = len(self.documents)
        self.documents.append(Named(decision.name, decision.identity, truth, number))
        self._truth.append(self._places.get(truth or "", NO_CLASS))
        self._decided.append(NO_CLASS if label is None else self._places[label])
        self._log_posterior.append(decision.log_posterior)
        self._printed.append(decision.printed)

    def evaluation(
        self, positive: str | None, prior: dict[str, float] | None
    ) -> Evaluation:
        """
        Compare them with the labels.

        Raises:
            SettingsError: `positive` is not one of two classes.
        """
        result = evaluate(
            np.array(self._truth),
            np.array(self._log_posterior),
            np.array(self._decided),
            self._model.classes,
            printed=np.array(self._printed),
            positive=positive,
            costs=self._model.rule.costs,
            prior=prior,
            documents=self.documents,
        )
        if not self._model.n_reasons:
            return result
        return replace(result, errors=worst_first(self._errors))


@dataclass(slots=True)
class Seen:
    """
    How many documents the model had counted, by `nbtext.scoring.unseen`.

    Attributes:
        scored_left_out: those scored as if they had not been counted.
        passed_over: those which cannot be scored so, and are not evaluated.
    """

    scored_left_out: int = 0
    passed_over: int = 0

    def meet(self, decision: Decision) -> bool:
        """Count a document; return whether it is evaluated."""
        self.scored_left_out += decision.seen == LEFT_OUT
        self.passed_over += decision.seen == AS_COUNTED
        return decision.seen != AS_COUNTED

    def __bool__(self) -> bool:
        return bool(self.scored_left_out or self.passed_over)

    def sentence(self, model: str, documents: int) -> str:
        """Say how many documents a model had counted, and what became of them."""
        n_seen = self.scored_left_out + self.passed_over
        whole = "all" if n_seen == documents else f"{n_seen:,} of"
        is_mixed = self.scored_left_out > 0 and self.passed_over > 0
        parts = []
        if self.scored_left_out:
            count = f"{self.scored_left_out:,}" if is_mixed else "they"
            parts.append(f"{count} are scored as if they had not been")
        if self.passed_over:
            count = f"{self.passed_over:,}" if is_mixed else "they"
            why = "what they have brought to it cannot be taken away exactly"
            parts.append(f"{count} are left out, because {why}")
        seen, folds = wording.given(seen=True), wording.given(folds=10)
        return (
            f"{model} has counted {whole} {documents:,} documents; "
            f"{'; '.join(parts)} ({seen} scores them as they are, {folds} makes "
            "models that have not seen them)"
        )


def _watched(
    batches: Iterable[list[Decision]], progress: Progress | None
) -> Iterator[Decision]:
    """Yield decisions, and tell how many there were after each batch."""
    for batch in batches:
        yield from batch
        if progress is not None:
            progress(len(batch), 0)
