"""
How right nbtext and its peers are, on the very same splits.

The splits and the floors are those of tests/corpus/splits.py; all classifiers are
measured by `nbtext.evaluation.evaluate`. LinearSVC's margin is no probability: its
log-loss and calibration error are left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from benchmarks.bench import Bench
from benchmarks.classifiers import (
    OF_MAIL,
    SCIKIT_LEARN,
    TITLES,
    Classifier,
    Predicted,
    classes_of,
    fast_text,
    linear_svc,
    nbtext_defaults,
)
from benchmarks.command import main
from benchmarks.figures import Accuracy, Skipped
from benchmarks.mail import corpus

if TYPE_CHECKING:  # numpy would make this process larger than those it measures
    from nbtext.evaluation.evaluation import Evaluation
    from tests.corpus.splits import Contest, Split

FOR_MAIL: Final = frozenset({"SpamAssassin, 5 folds", "enron1, first half trains"})
"""The contests whose documents are files that a filter of mail reads."""


def figures(_bench: Bench) -> Iterator[Accuracy]:
    """Measure nbtext and its peers on every corpus."""
    from tests.corpus.splits import CONTESTS

    for contest in CONTESTS:
        corpus(contest.folder)
        splits = list(contest.splits())
        peers = (*SCIKIT_LEARN, fast_text)
        if contest.name in FOR_MAIL:
            peers = (*OF_MAIL, *peers)
        for classifier in (nbtext_defaults, *peers):
            yield measured(contest, splits, classifier)


def measured(
    contest: "Contest", splits: "Sequence[Split]", classifier: Classifier
) -> Accuracy:
    """Measure a classifier on the pooled predictions of all splits, in percent."""
    try:
        result = pooled(splits, [classifier(split) for split in splits])
    except Skipped as why:
        return Accuracy(contest.name, f"{TITLES[classifier]} (skipped: {why})")
    from tests.corpus.splits import percent

    two = result.two_class
    has_probabilities = classifier is not linear_svc
    found = Accuracy(
        corpus=contest.name,
        classifier=TITLES[classifier],
        one_minus_auc=two.one_minus_auc_percent if two else None,
        lam=two.lam_percent if two else None,
        missed=percent(two.miss_rate_at_fpr) if two else None,
        accuracy=percent(result.accuracy),
        macro_f1=percent(result.macro.f1),
        log_loss=result.log_loss if has_probabilities else None,
        calibration_error=percent(result.calibration_error)
        if has_probabilities
        else None,
    )
    if classifier is not nbtext_defaults:
        return found
    floors = contest.floors
    return replace(found, floor=str(floors), is_met=not floors.unmet_by(result))


def pooled(splits: "Sequence[Split]", predictions: Sequence[Predicted]) -> "Evaluation":
    """Put the predictions of all splits together, and measure them."""
    import numpy as np

    from nbtext.evaluation.evaluation import evaluate

    classes = classes_of(splits[0])
    truth = [classes.index(one.label or "") for _, test in splits for one in test]
    return evaluate(
        np.array(truth),
        np.concatenate([one.log_posterior for one in predictions]),
        np.concatenate([one.decided for one in predictions]),
        classes,
    )


if __name__ == "__main__":
    main(figures)
