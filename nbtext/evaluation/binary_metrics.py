"""
The measures of a filter: a positive class that is looked for, and a negative one.

In come the true and the decided class and the log posterior of each document, out
comes a `TwoClass`. The measures are those of the TREC spam track (Cormack and Lynam
2005); docs/measures.md has the formulas and says what each is not.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nbtext.classes import quoted
from nbtext.errors import SettingsError, UnknownClassError
from nbtext.evaluation.metrics import Floats, Indices, ratio

NEGATIVES_PER_FALSE_POSITIVE = 1000
"""At the miss rate, at most one in this many negatives is called positive."""


@dataclass(frozen=True, slots=True)
class TwoClass:
    """
    How a positive class is told from a negative one; what would be 0/0 is None.

    Attributes:
        positive, negative: the names of the classes.
        positives, negatives: documents truly of each class.
        positives_unsure, negatives_unsure: of those, the ones left undecided.
        false_positives: negatives decided positive; unsure ones are not among them.
        false_negatives: positives decided negative; unsure ones are not among them.
        false_positive_rate: of all negatives.
        false_negative_rate: of all positives.
        roc_auc: that a positive has larger log odds than a negative, ties half.
        one_minus_auc_percent: 100 (1 - AUC).
        lam_percent: both error rates averaged as logits, each document being called
            its more probable class even if it was left unsure.
        false_positives_allowed: one in a thousand negatives, rounded down.
        missed_at_fpr: positives missed when no more false positives are allowed.
        miss_rate_at_fpr: of all positives.
    """

    positive: str
    negative: str
    positives: int
    negatives: int
    positives_unsure: int
    negatives_unsure: int
    false_positives: int
    false_negatives: int
    false_positive_rate: float | None
    false_negative_rate: float | None
    roc_auc: float | None
    one_minus_auc_percent: float | None
    lam_percent: float | None
    false_positives_allowed: int
    missed_at_fpr: int | None
    miss_rate_at_fpr: float | None


def positive_class(
    classes: tuple[str, ...], asked: str | None, support: Sequence[int]
) -> str | None:
    """
    Find which of two classes is looked for: the one asked for, else `spam`.

    Where neither is, it is the rarer one, or the second of two as rare; of more than
    two classes it is none.

    Args:
        classes: the names, sorted.
        asked: what the user says.
        support: how many documents are truly of each class.

    Raises:
        SettingsError: the class asked for is not one of two.
    """
    if asked is None:
        if len(classes) != 2:
            return None
        rarer = classes[int(support[1] <= support[0])]
        return "spam" if "spam" in classes else rarer
    if len(classes) != 2:
        raise SettingsError(
            f"positive class {quoted(asked)}: expected a model of two classes, found "
            f"{len(classes)}; leave it out"
        )
    if asked not in classes:
        raise UnknownClassError("positive class", asked, classes)
    return asked


def two_class(
    truth: Indices,
    log_posterior: Floats,
    decided: Indices,
    classes: tuple[str, ...],
    positive: str,
) -> TwoClass:
    """
    Measure documents that are truly of one of two classes.

    Args:
        truth: (n_documents,), 0 or 1.
        log_posterior: (n_documents, 2), in nats.
        decided: (n_documents,), 0 or 1; -1 for unsure.
        classes: the two names.
        positive: one of them.
    """
    wanted = classes.index(positive)
    is_positive = truth == wanted
    positives, negatives = int(is_positive.sum()), int((~is_positive).sum())
    false_positives, false_negatives = _count_errors(is_positive, decided, wanted)
    likelier = log_posterior.argmax(axis=1)
    lam_errors = _count_errors(is_positive, likelier, wanted)

    log_odds = log_posterior[:, wanted] - log_posterior[:, 1 - wanted]
    scores = log_odds[is_positive], log_odds[~is_positive]
    pair_halves = 2 * positives * negatives
    inverted_halves = inversions(*scores)
    allowed = negatives // NEGATIVES_PER_FALSE_POSITIVE
    missed = missed_positives(*scores, allowed)
    return TwoClass(
        positive=positive,
        negative=classes[1 - wanted],
        positives=positives,
        negatives=negatives,
        positives_unsure=int((decided[is_positive] < 0).sum()),
        negatives_unsure=int((decided[~is_positive] < 0).sum()),
        false_positives=false_positives,
        false_negatives=false_negatives,
        false_positive_rate=ratio(false_positives, negatives),
        false_negative_rate=ratio(false_negatives, positives),
        roc_auc=ratio(pair_halves - inverted_halves, pair_halves),
        one_minus_auc_percent=ratio(100 * inverted_halves, pair_halves),
        lam_percent=lam_percent(*lam_errors, positives, negatives),
        false_positives_allowed=allowed,
        missed_at_fpr=missed,
        miss_rate_at_fpr=None if missed is None else ratio(missed, positives),
    )


def inversions(positive_scores: Floats, negative_scores: Floats) -> int:
    """
    Count, in halves, the pairs whose negative is ranked above its positive.

    A pair in the wrong order counts two halves, a tie one. As an integer it is exact,
    and so is 1 - AUC, its share of the halves of all pairs, however near 0.
    """
    ranked = np.sort(negative_scores)
    below = np.searchsorted(ranked, positive_scores, side="left")
    not_above = np.searchsorted(ranked, positive_scores, side="right")
    return 2 * len(ranked) * len(positive_scores) - int(below.sum() + not_above.sum())


def missed_positives(
    positive_scores: Floats, negative_scores: Floats, allowed: int
) -> int | None:
    """
    Count the positives below the lowest threshold with few enough false positives.

    Whatever scores at or above the threshold is called positive. Of a tie between a
    positive and the first negative too many both are below: no threshold parts them.

    Args:
        positive_scores: in any order.
        negative_scores: more of them than are allowed, or none, which gives None.
        allowed: how many negatives may be at or above the threshold.
    """
    if not len(negative_scores):
        return None
    first_too_many = np.sort(negative_scores)[-1 - allowed]
    return int((positive_scores <= first_too_many).sum())


def lam_percent(
    false_positives: int, false_negatives: int, positives: int, negatives: int
) -> float | None:
    """
    Average both error rates as logits: 0 is best, 50 chance; None for an empty class.

    The mean of two logits is the logarithm of the geometric mean of the odds. Half an
    error is added to the errors and to the rest of each class, so that a rate of 0 has
    a logit: (fp + .5) / (n + 1), where CEAS 2007 divided by n + .5.
    """
    if not positives or not negatives:
        return None
    odds = math.sqrt(
        (false_positives + 0.5)
        / (negatives - false_positives + 0.5)
        * (false_negatives + 0.5)
        / (positives - false_negatives + 0.5)
    )
    return 100 * odds / (1 + odds)


def _count_errors(
    is_positive: NDArray[np.bool_], called: Indices, wanted: int
) -> tuple[int, int]:
    """Count false positives and false negatives; unsure (-1) is neither."""
    return (
        int((called[~is_positive] == wanted).sum()),
        int((called[is_positive] == 1 - wanted).sum()),
    )
