"""
Scores of one document: log posteriors from the counts of its terms.

Three scores, all of them sums of log token probabilities in which repeated tokens count
repeatedly; n is how often term t occurs in the document, n_tc how often in class c.

* `sum`, the textbook's (Manning et al. 2008, section 13.2; Lidstone smoothing):
  ln P(c) + sum of n ln((n_tc + a) / (N_c + a V)) over views and known terms.
* `mean`, for two classes: with theta_tc proportional to n_tc / N_c + h and
  h = 2 a / (N_0 + N_1), each known term says r_t = ln(theta_t1 / theta_t0); those with
  |r_t| < weak are left out; a view says the mean of r over the occurrences that are
  left; F is the sum over views, and the log-odds of the second class are s F + b.
* `complement` (Rennie et al. 2003, section 3.1, without their weight normalisation):
  z_c = -sum of x_t ln((W_t - w_tc + a) / (W - W_c + a V)), where w are the weights of
  documents of unit length and x is this one's; the posterior is softmax(s z).

This is the plain engine, on the standard library alone; `nbtext.scoring.batch` does the
same for many documents, and a property test holds them together.
"""

from collections.abc import Sequence
from math import exp, log, log1p, sqrt
from typing import Final, NamedTuple, TypeAlias

from nbtext.counts.calibration import (
    LOSS_UNIT,
    TEMPERATURES,
    Calibration,
    bin_of,
    total,
)
from nbtext.errors import NotAModelError, SettingsError, TrainingError
from nbtext.scoring.fitting import Fit, fit, softplus
from nbtext.scoring.model import Model
from nbtext.settings import UNIT, Scoring, Settings
from nbtext.tokens.bag import Bag

Raw: TypeAlias = tuple[float, ...]
"""A score as its formula gives it, not calibrated: (F,), or one number a class."""


class Scored(NamedTuple):
    """
    What the counts say of a document.

    Attributes:
        log_posterior: shape (n_classes,), in nats.
        known: how many of its tokens (occurrences of terms) the model knows.
        tokens: how many it has.
    """

    log_posterior: tuple[float, ...]
    known: int
    tokens: int


def check_scoring(scoring: Scoring, settings: Settings, classes: Sequence[str]) -> None:
    """
    Refuse a score that the counts do not support.

    Raises:
        TrainingError: there are not two classes.
        SettingsError: it needs another number of classes, or a column that is missing.

    """
    if len(classes) < 2:
        known = f"only the class {classes[0]!r}" if classes else "no class"
        message = (
            f"the model knows {known}, and two are needed; teach it another with "
            "`nbtext learn CLASS`"
        )
        raise TrainingError(message)
    if scoring.score == "mean" and len(classes) != 2:
        message = (
            f"the mean score is for two classes, the model has {len(classes)}; "
            "use --score complement or --score sum"
        )
        raise SettingsError(message)
    if scoring.score == "complement" and "weight" not in settings.columns:
        message = (
            "the complement score needs the weight column, which this model does not "
            "have; train with --score complement"
        )
        raise SettingsError(message)


def fitted(model: Model) -> Fit:
    """
    Return what turns this model's scores into probabilities.

    Raises:
        NotAModelError: what the file keeps for calibration is damaged.

    """
    return fit(held_out(model), model.classes)


def held_out(model: Model) -> Calibration:
    """
    Return what held-out documents scored; nothing if other scores than this model's.

    Raises:
        NotAModelError: what the file keeps for calibration is damaged.

    """
    if model.scoring.score == "sum":
        return Calibration()
    try:
        calibrations = [Calibration.from_dict(plain) for plain in model.calibrations]
    except ValueError as error:
        message = f"{model.path}: damaged: {error}; restore a copy or train again"
        raise NotAModelError(message) from error
    calibration = total(calibrations)
    if calibration.scoring != model.scoring.as_dict():
        return Calibration()
    return calibration


def score(model: Model, bag: Bag, calibration: Fit) -> Scored:
    """
    Score a document.

    Args:
        model: the counts, and how to score with them.
        bag: the document's terms in each view.
        calibration: what `fitted` returned.

    """
    raw, known = raw_score(model, bag)
    tokens = sum(sum(terms.values()) for terms in bag)
    if known:
        return Scored(_log_posterior(raw, model.scoring, calibration), known, tokens)
    return Scored(tuple(log_shares(model.documents)), known, tokens)


def raw_score(model: Model, bag: Bag) -> tuple[Raw, int]:
    """Return what the formula says of a document, and how many tokens are known."""
    formula = {"mean": _mean, "sum": _sum, "complement": _complement}
    return formula[model.scoring.score](model, bag)


def _log_posterior(raw: Raw, scoring: Scoring, calibration: Fit) -> tuple[float, ...]:
    if scoring.score == "mean":
        log_odds = calibration.slope * raw[0] + calibration.offset
        return -softplus(log_odds), -softplus(-log_odds)
    slope = calibration.slope if scoring.score == "complement" else 1.0
    return tuple(normalised([slope * value for value in raw]))


def observed(model: Model, raw: Raw, label: str) -> Calibration:
    """
    Return what a score says for calibration, once the document's class is known.

    Args:
        model: what scored it; the document was not in it.
        raw: the score.
        label: the class.

    """
    scoring = model.scoring
    if scoring.score == "sum" or label not in model.classes or len(model.classes) < 2:
        return Calibration()
    if scoring.score == "mean":
        counts = {(bin_of(raw[0]), label): 1}
        return Calibration(scoring.as_dict(), counts, (), {label: 1})
    place = model.classes.index(label)
    losses = [-normalised([s * value for value in raw])[place] for s in TEMPERATURES]
    units = tuple(round(loss * LOSS_UNIT) for loss in losses)
    return Calibration(scoring.as_dict(), {}, units, {label: 1})


def taken_back(scoring: Scoring, bin_: int, label: str) -> Calibration:
    """Return what undoes the observation of a score in a bin; for the mean score."""
    return Calibration(scoring.as_dict(), {(bin_, label): -1}, (), {label: -1})


def log_shares(documents: Sequence[int]) -> list[float]:
    """Return the logarithms of the classes' shares of the documents."""
    whole = max(sum(documents), 1)
    return [log(max(count, LEAST_SHARE) / whole) for count in documents]


def _mean(model: Model, bag: Bag) -> tuple[Raw, int]:
    scoring = model.scoring
    once = scoring.counting == "once"
    column = 1 if once else 0
    least = exp(scoring.weak)
    evidence, known = 0.0, 0
    for view, terms in enumerate(bag):
        sizes = [float(max(by_class[column], 1)) for by_class in model.totals[view]]
        h = 2 * scoring.smoothing / (sizes[0] + sizes[1])
        remembered: dict[tuple[int, int], float] = {}
        sum_, kept = 0.0, 0
        for key, entries in model.found(view, terms).items():
            n = terms[key]
            counts = [0, 0]
            for class_, columns in entries:
                counts[class_] = columns[column]
            pair = counts[0], counts[1]
            known += n
            if pair not in remembered:
                ratio = (pair[1] / sizes[1] + h) / (pair[0] / sizes[0] + h)
                # compared before the logarithm, so that both engines keep the same
                is_kept = ratio >= least or ratio * least <= 1.0
                remembered[pair] = log(ratio) if is_kept else 0.0
            r = remembered[pair]
            if r:
                times = 1 if once else n
                sum_ += times * r
                kept += times
        if kept:
            evidence += sum_ / kept
    return (evidence,), known


def _sum(model: Model, bag: Bag) -> tuple[Raw, int]:
    a = model.scoring.smoothing
    once = model.scoring.counting == "once"
    column = 1 if once else 0
    scores = log_shares(model.documents)
    known = 0
    for view, terms in enumerate(bag):
        n_terms = model.n_terms(view)
        found = 0
        for key, entries in model.found(view, terms).items():
            n = terms[key]
            known += n
            times = 1 if once else n
            found += times
            for class_, columns in entries:
                scores[class_] += times * log((columns[column] + a) / a)
        for class_, by_class in enumerate(model.totals[view]):
            scores[class_] += found * log(a / (by_class[column] + a * max(n_terms, 1)))
    return tuple(scores), known


def _complement(model: Model, bag: Bag) -> tuple[Raw, int]:
    a = model.scoring.smoothing
    weight = model.settings.columns.index("weight")
    scores = [0.0] * len(model.classes)
    known = 0
    for view, terms in enumerate(bag):
        found = model.found(view, terms)
        squares = sum(terms[key] ** 2 for key in found)
        if not squares:
            continue
        length = sqrt(squares)
        whole = 0.0
        for key, entries in found.items():
            known += terms[key]
            x = terms[key] / length
            whole += x
            of_term = sum(columns[weight] for _, columns in entries) / UNIT
            for class_, columns in entries:
                rest = of_term - columns[weight] / UNIT
                scores[class_] += x * log((of_term + a) / (rest + a))
        sizes = [by_class[weight] / UNIT for by_class in model.totals[view]]
        all_sizes, n_terms = sum(sizes), max(model.n_terms(view), 1)
        for class_, size in enumerate(sizes):
            scores[class_] += whole * log(all_sizes - size + a * n_terms)
    return tuple(scores), known


LEAST_SHARE: Final = 1e-9
"""Stands for no document at all, which has no logarithm."""


def normalised(scores: Sequence[float]) -> list[float]:
    """Return scores less the logarithm of the sum of their exponentials."""
    # the best one's own term is 1; without it the sum does not round to certainty
    best = max(range(len(scores)), key=scores.__getitem__)
    shifted = [value - scores[best] for value in scores]
    rest = sum(exp(value) for place, value in enumerate(shifted) if place != best)
    return [value - log1p(rest) for value in shifted]
