"""
The contrast of a class with all others: the default for many classes.

A class is judged by what the other classes have of a term, as complement naive Bayes
does, and, with less weight, by what it has itself:

    z_c = sum over the views of  u (complement_c + own own_c)

with complement_c and own_c as in `nbtext.scoring.models.weighted_terms` and u = 1, but
for views of byte n-grams the parameter `ngrams`. With the parameter `scaled`, z is
divided by its standard deviation over the classes, so that a document that is like all
of many classes is not believed more than one that is like few. The posterior is
softmax(s z), with s fitted. `own` and `ngrams` are chosen by held-out scores.
"""

from __future__ import annotations

from math import fsum, sqrt
from operator import mul
from typing import TYPE_CHECKING, Final

from nbtext.counts.calibration import Prior
from nbtext.scoring.models.evidence import Evidence, score_of
from nbtext.scoring.models.parameters import Parameter
from nbtext.scoring.models.weighted_terms import OnWeightedTerms, ViewWeight

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nbtext.scoring.batch_model import BatchModel, FoundTerms, Labels, Scores
    from nbtext.scoring.model import Model
    from nbtext.scoring.models.contrast_sums import ClassSums
    from nbtext.scoring.models.evidence import Raw
    from nbtext.settings.scoring import Scoring
    from nbtext.settings.views import View
    from nbtext.tokens import Bag

NGRAMS: Final = "ngrams"
"""The parameter: the weight of views of byte n-grams."""

OWN: Final = "own"
"""The parameter: the weight of what the class itself has."""

SCALED: Final = "scaled"
"""The parameter: 1 if scores are divided by their standard deviation, else 0."""

MOST_UNSCALED: Final = 10
"""With more classes scores are scaled."""

LEAST_DEVIATION: Final = 1e-12
"""Scores of a smaller deviation say nothing."""


class Contrast(OnWeightedTerms):
    """The contrast of a class with all others."""

    name = "contrast"
    about = "complement naive Bayes, and less of the class itself"
    smoothing = 0.03
    smoothings = ((0.1, 0.3, 1.0), (0.01,))
    reads_ngrams = True
    can_be_corrected = True
    parameters = (
        Parameter(NGRAMS, 0.0, least=0.0, most=10.0, choices=(0.0, 1.0, 2.0)),
        Parameter(OWN, 0.35, least=0.0, most=100.0, choices=(0.0, 0.1, 0.35, 1.0)),
        Parameter(SCALED, 0.0, least=0.0, most=1.0),
    )

    def parameters_for(self, n_classes: int) -> Mapping[str, float]:
        """Return the parameters that follow from the number of classes."""
        return {SCALED: float(n_classes > MOST_UNSCALED)}

    def prior(self, n_classes: int) -> Prior:
        """Return what is expected of a fit before any document was scored."""
        slope = 1.0 if n_classes > MOST_UNSCALED else 0.5
        return Prior(slope=slope, precision=1.0, offset=1.0)

    def evidence(self, model: Model, bag: Bag) -> list[Evidence]:
        """Return for each view what its terms say."""
        parts = super().evidence(model, bag)
        if not model.scoring.parameter(SCALED):
            return parts
        deviation = _deviation(score_of(parts, len(model.classes)))
        return [_scaled(part, deviation) for part in parts]

    def scores(self, model: Model, scorings: Sequence[Scoring], bag: Bag) -> list[Raw]:
        """
        Return one document's score by each scoring, as its evidence gives it.

        What a view says is computed once for scorings that differ in its weight alone.
        """
        n_classes, settings = len(model.classes), model.settings.views[: len(bag)]
        ngrams = float(any(scoring.parameter(NGRAMS) for scoring in scorings))
        views: dict[Scoring, list[Raw]] = {}
        found: list[Raw] = []
        for scoring in scorings:
            whole = scoring.with_parameters(**{NGRAMS: ngrams, SCALED: 0.0})
            if whole not in views:
                parts = super().evidence(model._replace(scoring=whole), bag)
                views[whole] = [score_of([part], n_classes) for part in parts]
            weights = [self.weight_of(view, scoring).view for view in settings]
            by_class = zip(*views[whole], strict=True)
            score = [sum(map(mul, weights, values)) for values in by_class]
            if scoring.parameter(SCALED):
                deviation = _deviation(score)
                is_told = deviation > LEAST_DEVIATION
                score = [value / deviation if is_told else 0.0 for value in score]
            found.append(tuple(score))
        return found

    def many_by(
        self,
        model: BatchModel,
        scorings: Sequence[Scoring],
        documents: FoundTerms,
        labels: Labels | None = None,
    ) -> list[Scores]:
        """Return the scores of many documents by each scoring."""
        from nbtext.scoring.models.weighted_evidence import sums_of_evidence

        if labels is not None or len(scorings) > 1:
            return list(self._scores_by(model, scorings, documents, labels))
        scores = sums_of_evidence(model.scored_by(scorings[0]), documents)
        return [_divided(scores) if scorings[0].parameter(SCALED) else scores]

    def _scores_by(
        self,
        model: BatchModel,
        scorings: Sequence[Scoring],
        documents: FoundTerms,
        labels: Labels | None,
    ) -> Iterator[Scores]:
        """Yield scores by each scoring, of sums that are computed once."""
        from nbtext.scoring.models.contrast_sums import view_sums

        sums: dict[int, ClassSums] = {}
        has_owns = any(scoring.parameter(OWN) for scoring in scorings)
        for scoring in scorings:
            scores = documents.zeros(len(model.classes))
            for view, settings in enumerate(model.settings.views):
                weight, own = self.weight_of(settings, scoring)
                if weight:
                    if view not in sums:
                        sums[view] = view_sums(
                            model, view, documents, labels, has_owns=has_owns
                        )
                    says = sums[view].complements
                    scores += weight * (says + own * sums[view].owns if own else says)
            yield _divided(scores) if scoring.parameter(SCALED) else scores

    def weight_of(self, view: View, scoring: Scoring) -> ViewWeight:
        """Return how much a view weighs, and what the class itself has there."""
        weight = scoring.parameter(NGRAMS) if view.alphabet == "ngrams" else 1.0
        return ViewWeight(weight, scoring.parameter(OWN))


def _divided(scores: Scores) -> Scores:
    """Return scores divided by their standard deviation; zero where there is none."""
    import numpy as np

    deviations = scores.std(axis=1, keepdims=True)
    divisors = np.where(deviations > LEAST_DEVIATION, deviations, np.inf)
    scores = scores / divisors
    return scores


def _deviation(score: Sequence[float]) -> float:
    """Return the standard deviation of a document's score over the classes."""
    mean = fsum(score) / len(score)
    return sqrt(fsum((value - mean) ** 2 for value in score) / len(score))


def _scaled(part: Evidence, deviation: float) -> Evidence:
    """Return a part of a score that is divided by its deviation."""
    if deviation <= LEAST_DEVIATION:
        return Evidence(part.source, known=part.known)
    rest = [value / deviation for value in part.rest]
    return part._replace(divisor=deviation, rest=rest)


MODEL: Final = Contrast()
