"""
How good the decisions and the posteriors of a model are, on labelled documents.

In come arrays, one row a document: the true class, the log posterior, the class that
was decided; out comes an `Evaluation`. Decisions are measured on all documents: one
left unsure, or whose label is no class of the model, is not correct. Posteriors are
measured on the documents whose label is a class of the model, unsure ones included,
because a posterior is a statement about those classes only. The formulas are in
`nbtext.evaluation.metrics` and `nbtext.evaluation.binary_metrics`, the sources in
docs/measures.md.
"""

import heapq
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nbtext.evaluation.binary_metrics import TwoClass, positive_class, two_class
from nbtext.evaluation.bootstrap import Interval, Intervals, intervals, judged
from nbtext.evaluation.comparing import Comparison
from nbtext.evaluation.documents import JudgedDocument, Named
from nbtext.evaluation.exact_intervals import widened
from nbtext.evaluation.learning_curve import Replay
from nbtext.evaluation.metrics import (
    Floats,
    Indices,
    PrecisionRecall,
    ReliabilityBin,
    brier_score,
    calibration_error,
    log_loss,
    macro_average,
    precision_recall,
    ratio,
    reliability,
)
from nbtext.evaluation.misjudged import Misjudged
from nbtext.scoring.costs import Costs
from nbtext.scoring.decide import probability_of

NO_CLASS = -1
"""In place of a class: decided unsure, or truly none of the model's classes."""


class Rows(NamedTuple):
    """
    The documents that an evaluation is of, for pictures and `Evaluation.judged`.

    Attributes:
        truth: shape (n_documents,), places of classes; -1 for any other label.
        log_posterior: shape (n_documents, n_classes), in nats; it ranks documents.
        printed: the same where probabilities are told.
        decided: shape (n_documents,), places of classes; -1 for unsure.
        documents: what they are called; empty if nobody knows.
        fold_of: shape (n_documents,), the fold of each; None without folds.
    """

    truth: Indices
    log_posterior: Floats
    printed: Floats
    decided: Indices
    documents: Sequence[Named] = ()
    fold_of: Indices | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """
    All measures of one run; what needs a document and has none is None.

    Attributes:
        classes: the model's, sorted.
        documents: all of them.
        correct: decided, and rightly.
        unsure: left undecided.
        unknown_label: documents whose label is no class of the model.
        confusion: a row a true class, a column a decided class and a last one unsure.
        confusion_unknown_label: the same columns for the unknown labels.
        accuracy: correct of all documents.
        accuracy_decided: correct of those not left unsure.
        per_class: in the order of `classes`; 0/0 is 0.
        macro: the mean over the classes that occur, truly or as a decision.
        micro: from the sums of the classes' counts.
        log_loss: nats a document.
        brier: from 0 to 2, squared errors summed over the classes.
        calibration_error: expected |probability - share right|, from 0 to 1.
        reliability: the bins that it is made of, empty ones left out.
        two_class: None unless there are two classes.
        scored_left_out: documents that the model had counted, scored as if it had not.
        passed_over: documents that it had counted and which cannot be scored so; they
            are in no other figure.
        intervals: the middle 95 % of each figure's bootstrap, by its path of keys.
        against: the same documents by another model, None if there is none.
        replay: how documents came one after the other, None if they did not.
        errors: the documents that were misjudged, the surest first; None if nobody
            asked.
        coverage: decided of all documents.
        error_decided: not correct of those not left unsure.
        mean_cost: of the documents whose label is a class of the model, by the prices
            of the policy; None if it has none.
        prior: class to the share that was expected; None without a prior.
        rows: the documents themselves; `as_dict` leaves them and the prices out.
        costs: the prices of the policy, None if it has none.
    """

    classes: tuple[str, ...]
    documents: int
    correct: int
    unsure: int
    unknown_label: int
    confusion: tuple[tuple[int, ...], ...]
    confusion_unknown_label: tuple[int, ...]
    accuracy: float | None
    accuracy_decided: float | None
    per_class: tuple[PrecisionRecall, ...]
    macro: PrecisionRecall
    micro: PrecisionRecall
    log_loss: float | None
    brier: float | None
    calibration_error: float | None
    reliability: tuple[ReliabilityBin, ...]
    two_class: TwoClass | None
    coverage: float | None
    error_decided: float | None
    scored_left_out: int = 0
    passed_over: int = 0
    mean_cost: float | None = None
    prior: dict[str, float] | None = None
    intervals: Intervals = field(default_factory=dict)
    against: Comparison | None = None
    replay: Replay | None = None
    errors: tuple[Misjudged, ...] | None = None
    rows: Rows | None = field(default=None, compare=False)
    costs: Costs | None = None

    def __repr__(self) -> str:
        """Say how many documents there are, and how many were judged rightly."""
        return f"<Evaluation: {self.correct:,} of {self.documents:,} documents right>"

    def interval(self, *path: str) -> Interval | None:
        """Return the interval of a figure, None if there is none."""
        return self.intervals.get(path)

    def judged(self) -> Iterator[JudgedDocument]:
        """Yield each document, as they came, with what was decided about it."""
        if self.rows is None:
            return
        _, log_posterior, printed, decided, documents, fold_of = self.rows
        came = sorted(range(len(documents)), key=lambda place: documents[place].number)
        for place in came:
            named, chosen = documents[place], decided[place]
            posterior = map(probability_of, printed[place].tolist())
            ranks = log_posterior[place].tolist()
            yield JudgedDocument(
                name=named.name,
                identity=named.identity,
                truth=named.label,
                label=None if chosen == NO_CLASS else self.classes[chosen],
                posterior=dict(zip(self.classes, posterior, strict=True)),
                log_posterior=dict(zip(self.classes, ranks, strict=True)),
                fold=None if fold_of is None else int(fold_of[place]) + 1,
            )

    def as_dict(self) -> dict[str, Any]:
        """Return what `json.dumps` takes; docs/measures.md has the keys."""
        values = asdict(replace(self, errors=None, rows=None, costs=None, replay=None))
        for name in ("errors", "rows", "costs"):
            del values[name]
        values["replay"] = None if self.replay is None else self.replay.as_dict()
        if self.errors is not None:
            values["errors"] = [error.as_dict() for error in self.errors]
        return values | {
            "intervals": _nested(self.intervals),
            "classes": list(self.classes),
            "confusion": [list(row) for row in self.confusion],
            "confusion_unknown_label": list(self.confusion_unknown_label),
            "per_class": {
                name: asdict(measures)
                for name, measures in zip(self.classes, self.per_class, strict=True)
            },
            "reliability": [asdict(one) for one in self.reliability],
        }


def _nested(intervals: Intervals) -> dict[str, Any]:
    """Return intervals under the keys that their figures stand under."""
    nested: dict[str, Any] = {}
    for (*keys, last), interval in intervals.items():
        place = nested
        for key in keys:
            place = place.setdefault(key, {})
        place[last] = list(interval)
    return nested


def evaluate(
    truth: Indices,
    log_posterior: Floats,
    decided: Indices,
    classes: tuple[str, ...],
    *,
    printed: Floats | None = None,
    positive: str | None = None,
    costs: Costs | None = None,
    prior: dict[str, float] | None = None,
    documents: Sequence[Named] = (),
    fold_of: Indices | None = None,
) -> Evaluation:
    """
    Measure decisions and posteriors against the truth.

    The most probable class, where a measure needs one, is the first of the sorted
    classes on a tie.

    Args:
        truth: (n_documents,), indices into `classes`; -1 for any other label.
        log_posterior: (n_documents, n_classes), in nats, finite, rows normalised; it
            ranks documents.
        decided: (n_documents,), indices into `classes`; -1 for unsure.
        classes: the names, sorted.
        printed: the log posterior that is told, of which log-loss, Brier score and
            calibration error are; the same if None.
        positive: which of two classes is the one looked for; if not given, `spam`,
            or else the rarer one.
        costs: what decisions cost, if they have prices.
        prior: class to the share that was expected, if that was said.
        documents: what they are called, if that is known.
        fold_of: (n_documents,), the fold of each, if there were any.

    Raises:
        SettingsError: `positive` is not one of two classes.
        ValueError: shapes, indices or posteriors are not as described.
    """
    printed = log_posterior if printed is None else printed
    for one in (log_posterior, printed):
        _check(truth, one, decided, len(classes))
    counts = _count_decisions(truth, decided, len(classes))
    hits = counts.diagonal()[:-1].tolist()
    called = counts.sum(axis=0)[:-1].tolist()
    support = counts.sum(axis=1)[:-1].tolist()
    wanted = positive_class(classes, positive, support)
    per_class = tuple(map(precision_recall, hits, called, support))
    occurring = [
        one for one, n in zip(per_class, called, strict=True) if n or one.support
    ]

    known = truth != NO_CLASS
    known_truth, known_posterior = truth[known], log_posterior[known]
    known_printed = printed[known]
    is_right = known_printed.argmax(axis=1) == known_truth
    bins = reliability(np.exp(known_printed.max(axis=1)), is_right)
    place = None if wanted is None else classes.index(wanted)
    drawn_from = judged(truth, log_posterior, printed, decided, place)
    drawn = intervals(drawn_from, classes, place, costs)
    return Evaluation(
        classes=classes,
        documents=len(truth),
        correct=sum(hits),
        unsure=len(truth) - sum(called),
        unknown_label=len(truth) - sum(support),
        confusion=tuple(map(tuple, counts[:-1].tolist())),
        confusion_unknown_label=tuple(counts[-1].tolist()),
        accuracy=ratio(sum(hits), len(truth)),
        accuracy_decided=ratio(sum(hits), sum(called)),
        per_class=per_class,
        macro=macro_average(occurring),
        micro=precision_recall(sum(hits), sum(called), sum(support)),
        log_loss=log_loss(known_truth, known_printed),
        brier=brier_score(known_truth, np.exp(known_printed)),
        calibration_error=calibration_error(bins),
        reliability=bins,
        two_class=None
        if wanted is None
        else two_class(known_truth, known_posterior, decided[known], classes, wanted),
        coverage=ratio(sum(called), len(truth)),
        error_decided=ratio(sum(called) - sum(hits), sum(called)),
        mean_cost=None if costs is None else mean_cost(counts[:-1], costs),
        prior=prior,
        rows=Rows(truth, log_posterior, printed, decided, documents, fold_of),
        costs=costs,
        intervals=widened(drawn, drawn_from, classes, place, costs),
    )


def mean_cost(confusion: NDArray[np.int64], costs: Costs) -> float | None:
    """
    Return what decisions cost on average.

    Args:
        confusion: (n_classes, n_classes + 1), a row a true class, the last column for
            unsure.
        costs: their prices.
    """
    n_classes = len(confusion)
    total = [
        count * costs.price(truth, None if place == n_classes else place)
        for truth, row in enumerate(confusion.tolist())
        for place, count in enumerate(row)
        if count
    ]
    return math.fsum(total) / int(confusion.sum()) if total else None


def stratified_folds(
    labels: Sequence[int], folds: int, digests: Sequence[bytes]
) -> NDArray[np.intp]:
    """
    Assign each document to a fold, each fold a small image of the whole.

    Class by class, in the order of their digests, documents are dealt out, each to the
    fold that has fewest of its class, then fewest of all. Equal digests, the repeats of
    a document, stay together, so that no copy of a test document is trained on; repeats
    under two labels are dealt with the smaller one's class. The order of the documents
    does not matter. A class's shares in two folds differ by at most its largest group
    of repeats; a class with fewer groups than folds is missing from some.

    Args:
        labels: the class of each document.
        folds: how many, at least 2.
        digests: what tells a document from others, and a repeat from none.

    Returns:
        (n_documents,), from 0 to folds - 1.

    Raises:
        ValueError: fewer than 2 folds, or not one digest a label.
    """
    if folds < 2:
        raise ValueError(f"folds: expected at least 2, found {folds}")
    repeats = defaultdict(list)
    for document, (digest, _) in enumerate(zip(digests, labels, strict=True)):
        repeats[digest].append(document)
    groups_of_class = defaultdict(list)
    for _, group in sorted(repeats.items()):
        groups_of_class[min(labels[document] for document in group)].append(group)

    fold_of = np.zeros(len(labels), dtype=np.intp)
    fold_sizes = [0] * folds
    for _, groups in sorted(groups_of_class.items()):
        emptiest = [(0, size, fold) for fold, size in enumerate(fold_sizes)]
        heapq.heapify(emptiest)
        for group in groups:
            of_class, of_others, fold = emptiest[0]
            fold_of[group] = fold
            heapq.heapreplace(emptiest, (of_class + len(group), of_others, fold))
        for of_class, _, fold in emptiest:
            fold_sizes[fold] += of_class
    return fold_of


def _check(
    truth: Indices, log_posterior: Floats, decided: Indices, n_classes: int
) -> None:
    expected = (len(truth), n_classes)
    if log_posterior.shape != expected:
        raise ValueError(
            f"log_posterior: expected shape {expected}, found {log_posterior.shape}"
        )
    if decided.shape != truth.shape:
        raise ValueError(f"decided: expected {len(truth)} rows, found {len(decided)}")
    for name, indices in (("truth", truth), ("decided", decided)):
        if not np.isin(indices, np.arange(NO_CLASS, n_classes)).all():
            raise ValueError(f"{name}: expected indices from -1 to {n_classes - 1}")
    if not np.isfinite(log_posterior).all():
        raise ValueError("log_posterior: expected finite numbers")
    if not np.allclose(np.exp(log_posterior).sum(axis=1), 1, rtol=0, atol=1e-6):
        raise ValueError("log_posterior: expected rows whose probabilities sum to 1")


def _count_decisions(
    truth: Indices, decided: Indices, n_classes: int
) -> NDArray[np.int64]:
    """Count (true, decided) pairs; NO_CLASS is the last row and the last column."""
    counts = np.zeros((n_classes + 1, n_classes + 1), dtype=np.int64)
    np.add.at(counts, (truth, decided), 1)
    return counts
