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

This is the plain engine, on the standard library alone; `nbtext.bulk` does the same for
many documents, and a property test holds them together.
"""

from collections import Counter as Tally
from collections.abc import Iterable, Sequence
from math import exp, log, log1p, sqrt
from typing import NamedTuple, TypeAlias

from nbtext.calibrate import Calibration, Fit, fit, softplus, total
from nbtext.errors import NotAModelError, SettingsError
from nbtext.model import Model
from nbtext.settings import UNIT, Scoring, Settings

Terms: TypeAlias = dict[int, int]
"""A document in one view: key to how often it occurs."""


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
        SettingsError: it needs another number of classes, or a column that is missing.

    """
    if len(classes) < 2:
        message = f"the model knows only the class {', '.join(classes)}; it needs two"
        raise SettingsError(message)
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
    if model.scoring.score == "sum":
        return Fit()
    try:
        calibrations = [Calibration.from_dict(plain) for plain in model.calibrations]
    except ValueError as error:
        message = f"{model.path}: damaged: {error}; restore a copy or train again"
        raise NotAModelError(message) from error
    calibration = total(calibrations)
    if calibration.scoring != model.scoring.as_dict():
        return Fit()
    return fit(calibration, model.classes)


def score(model: Model, views: Sequence[Iterable[int]], calibration: Fit) -> Scored:
    """
    Score a document.

    Args:
        model: the counts, and how to score with them.
        views: for each view the keys of the document's terms, one an occurrence.
        calibration: what `fitted` returned.

    """
    documents = [Tally(keys) for keys in views]
    tokens = sum(terms.total() for terms in documents)
    formula = {"mean": _mean, "sum": _sum, "complement": _complement}
    log_posterior, known = formula[model.scoring.score](model, documents, calibration)
    if not known:
        log_posterior = log_shares(model.documents)
    return Scored(tuple(log_posterior), known, tokens)


def log_shares(documents: Sequence[int]) -> list[float]:
    """Return the logarithms of the classes' shares of the documents."""
    whole = max(sum(documents), 1)
    return [log(max(count, LEAST_SHARE) / whole) for count in documents]


def _mean(
    model: Model, documents: Sequence[Terms], calibration: Fit
) -> tuple[list[float], int]:
    scoring = model.scoring
    once = scoring.counting == "once"
    column = 1 if once else 0
    least = exp(scoring.weak)
    evidence, known = 0.0, 0
    for view, terms in enumerate(documents):
        sizes = [float(max(by_class[column], 1)) for by_class in model.totals[view]]
        h = 2 * scoring.smoothing / (sizes[0] + sizes[1])
        remembered: dict[tuple[int, int], float] = {}
        sum_, kept = 0.0, 0
        for key, n in terms.items():
            entries = model.entries(view, key)
            if not entries:
                continue
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
    log_odds = calibration.slope * evidence + calibration.offset
    return [-softplus(log_odds), -softplus(-log_odds)], known


def _sum(model: Model, documents: Sequence[Terms], _: Fit) -> tuple[list[float], int]:
    a = model.scoring.smoothing
    once = model.scoring.counting == "once"
    column = 1 if once else 0
    scores = log_shares(model.documents)
    known = 0
    for view, terms in enumerate(documents):
        n_terms = model.n_terms(view)
        found = 0
        for key, n in terms.items():
            entries = model.entries(view, key)
            if not entries:
                continue
            known += n
            times = 1 if once else n
            found += times
            for class_, columns in entries:
                scores[class_] += times * log((columns[column] + a) / a)
        for class_, by_class in enumerate(model.totals[view]):
            scores[class_] += found * log(a / (by_class[column] + a * max(n_terms, 1)))
    return _normalised(scores), known


def _complement(
    model: Model, documents: Sequence[Terms], calibration: Fit
) -> tuple[list[float], int]:
    a = model.scoring.smoothing
    weight = model.settings.columns.index("weight")
    scores = [0.0] * len(model.classes)
    known = 0
    for view, terms in enumerate(documents):
        found = {key: model.entries(view, key) for key in terms}
        squares = sum(terms[key] ** 2 for key, entries in found.items() if entries)
        if not squares:
            continue
        length = sqrt(squares)
        whole = 0.0
        for key, entries in found.items():
            if not entries:
                continue
            known += terms[key]
            x = terms[key] / length
            whole += x
            of_term = sum(columns[weight] for _, columns in entries) / UNIT
            for class_, columns in entries:
                rest = of_term - columns[weight] / UNIT
                scores[class_] += x * log((of_term + a) / (rest + a))
        sizes = [by_class[weight] / UNIT for by_class in model.totals[view]]
        all_sizes, n_terms = sum(sizes), model.n_terms(view)
        for class_, size in enumerate(sizes):
            scores[class_] += whole * log(all_sizes - size + a * n_terms)
    return _normalised([calibration.slope * value for value in scores]), known


LEAST_SHARE = 1e-9
"""Stands for no document at all, which has no logarithm."""


def _normalised(scores: list[float]) -> list[float]:
    # the best one's own term is 1; without it the sum does not round to certainty
    best = max(range(len(scores)), key=scores.__getitem__)
    shifted = [value - scores[best] for value in scores]
    rest = sum(exp(value) for place, value in enumerate(shifted) if place != best)
    return [value - log1p(rest) for value in shifted]
