"""
Why a document is of a class: its score taken apart.

A model and a document's reading go in, an `Explanation` comes out. It rests on the
`Evidence` of the event model alone, so that it holds for each of them: what is shown
is what the score is computed from.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from heapq import nsmallest
from math import inf
from typing import Final, NamedTuple

from nbtext.counts import Fit
from nbtext.document import Document
from nbtext.scoring.correction import SOURCE as CORRECTION
from nbtext.scoring.decide import (
    DEFAULT,
    Decision,
    DecisionRule,
    decide,
    log_odds,
    most_probable,
    probability_of,
)
from nbtext.scoring.explanation import Explanation, Part, Reason
from nbtext.scoring.joining import Group, Said, joined
from nbtext.scoring.mixed import is_possible
from nbtext.scoring.model import LogOdds, Model
from nbtext.scoring.models.evidence import Evidence, TermEvidence, score_of
from nbtext.scoring.models.registry import event_model, is_one_number
from nbtext.scoring.posterior import IMPOSSIBLE, log_shares
from nbtext.scoring.score import Account, account_of, is_by_evidence
from nbtext.settings.columns import Column
from nbtext.tokens import Bag, Reading, bag_of
from nbtext.tokens.located import located, text_of

SHARES: Final = "shares of the classes"


class _Term(NamedTuple):
    """
    What a term says.

    Attributes:
        by_class: the place of a class to what is added to its score, of few classes.
        correction: how much of that is the correction.
    """

    by_class: defaultdict[int, float]
    correction: defaultdict[int, float]


class _Rows(NamedTuple):
    """
    What the terms of a view say in one part of a score.

    Attributes:
        terms: what each says for a number of the score, times the divisor.
        divisor: by which that is divided.
        first: the place of the class that the first number is of.
        is_correction: whether it is the correction's.
    """

    terms: Sequence[TermEvidence]
    divisor: float
    first: int
    is_correction: bool = False

    def sums(self, n_classes: int) -> list[float]:
        """Return the sum of what the terms say, by class."""
        sums, divisor = [0.0] * n_classes, self.divisor
        for _, number, value in self.terms:
            sums[number + self.first] += value / divisor
        return sums


class _Sides(NamedTuple):
    """The places of the two classes that are held against each other."""

    label: int
    rival: int

    def of(self, by_class: Sequence[float]) -> float:
        """Return how much more one has than the other."""
        return by_class[self.label] - by_class[self.rival]

    def of_term(self, by_class: Mapping[int, float]) -> float:
        """Return how much more a term says for one than for the other."""
        return by_class.get(self.label, 0.0) - by_class.get(self.rival, 0.0)


class _Taken(NamedTuple):
    """
    A score taken apart, for all classes.

    Attributes:
        parts: for each part its name, what the terms say in it, and what else is.
        rows: for each view what its terms say, part by part.
    """

    parts: list[tuple[str, list[float], list[float]]]
    rows: list[list[_Rows]]

    def contributions(self, view: int, sides: _Sides) -> dict[int, float]:
        """Return how much more each term says for one class than for the other."""
        label: dict[int, float] = {}
        rival: dict[int, float] = {}
        others: dict[int, float] = {}  # of those that say something there alone
        for rows in self.rows[view]:
            place, other = sides.label - rows.first, sides.rival - rows.first
            divisor = rows.divisor
            for key, number, value in rows.terms:
                if number == place:
                    label[key] = label.get(key, 0.0) + value / divisor
                elif number == other:
                    rival[key] = rival.get(key, 0.0) + value / divisor
                else:
                    others[key] = 0.0
        for key, value in label.items():
            others[key] = value - rival.pop(key, 0.0)
        for key, value in rival.items():
            others[key] = 0.0 - value
        return others

    def terms(self, view: int, keys: Iterable[int]) -> dict[int, _Term]:
        """Return what some terms of a view say."""
        found = {key: _Term(defaultdict(float), defaultdict(float)) for key in keys}
        for rows in self.rows[view]:
            for key, number, value in [row for row in rows.terms if row[0] in found]:
                said, class_ = value / rows.divisor, number + rows.first
                found[key].by_class[class_] += said
                if rows.is_correction:
                    found[key].correction[class_] += said
        return found


def explain(
    model: Model,
    reading: Reading,
    calibration: Fit,
    *,
    document: Document,
    rule: DecisionRule = DEFAULT,
    label: str | None = None,
    top: int | None = None,
    says: LogOdds | None = None,
) -> Explanation:
    """
    Say why a document is of a class, as `Classifier.explain` does.

    What terms say is asked of `says`, if it is given, and knows.

    Raises:
        ValueError: the model has no such class.
    """
    bag = bag_of(reading, model.settings)
    model = model.remembering(says)  # the score, its parts and the counts that are told
    account = account_of(model, bag, calibration)
    scored, attributes = account.scored, account.attributes
    decision = decide(document, scored, model.classes, rule=rule)
    sides = _sides(decision, label)
    is_excluded = not is_possible(score_of(attributes, len(model.classes)))
    known = scored.known
    if not event_model(model.scoring.score).is_textbook:  # which scores text alone
        known -= sum(part.known for part in attributes)
    is_scored = not is_excluded and is_by_evidence(model, known)
    taken = _taken(model, account) if is_scored else _shares(model)
    fit = calibration if is_scored else Fit()
    if not is_excluded:
        _add_attributes(taken, model, attributes, fit)
    parts = tuple(_part(model, sides, *part) for part in taken.parts)
    total = sum(part.contribution for part in parts)
    # of a score of one number the offset is the second class's
    is_one = is_one_number(model.scoring)
    offset = fit.offset * (sides.label - sides.rival) if is_one else 0.0
    calibrated = fit.slope * total + offset
    odds = log_odds(scored.log_posterior, sides.label)
    expected = log_odds(rule.with_prior(scored.log_posterior), sides.label)
    printed = log_odds(decision.printed, sides.label)
    others, cap = odds - calibrated, printed - expected
    if len(model.classes) == 2:  # of which there are no others
        others, cap = 0.0, cap + others
    return Explanation(
        name=document.name,
        decision=decision.label,
        label=model.classes[sides.label],
        rival=model.classes[sides.rival],
        probability=probability_of(decision.printed[sides.label]),
        log_odds=printed,
        score=total,
        calibration=calibrated - total,
        slope=fit.slope,
        offset=offset,
        others=others,
        prior=expected - odds,
        cap=cap,
        parts=parts,
        reasons=_reasons(model, reading, bag, taken, sides, top),
        classes=dict(zip(model.classes, model.documents, strict=True)),
        posterior=decision.posterior,
        known=scored.known,
        tokens=scored.tokens,
        views=tuple(view.name for view in model.settings.views),
        truncated=document.truncated,
        expected=document.label,
    )


def _sides(decision: Decision, label: str | None) -> _Sides:
    """Choose the class that is spoken for, and the one it is held against."""
    printed = decision.printed
    place = most_probable(printed) if label is None else decision.classes.index(label)
    others = [other for other in range(len(printed)) if other != place]
    return _Sides(place, max(others, key=printed.__getitem__))


def _shares(model: Model) -> _Taken:
    """Return what is said of a document of which not one token is known."""
    nothing = [0.0] * len(model.classes)
    part = (SHARES, nothing, log_shares(model.documents))
    return _Taken([part], [[] for _ in model.settings.views])


def _add_attributes(
    taken: _Taken, model: Model, attributes: Sequence[Evidence], fit: Fit
) -> None:
    """
    Enter what attributes say.

    They are added to a score once it is fitted, unless all is one sum; but the parts of
    an explanation add up to the score before. So they are divided by its slope here.
    Where a term excludes all classes, each by more than a score can tell, it is what it
    says of each of them less what it says of the best.
    """
    is_sum = event_model(model.scoring.score).is_textbook
    slope = 1.0 if is_sum else fit.slope or 1.0  # 0 is not to be divided by
    places = {view.name: number for number, view in model.settings.attributes}
    for part in attributes:
        n_classes = len(model.classes)
        rows: defaultdict[int, list[float]] = defaultdict(list)
        for key, _, value in part.terms:
            rows[key].append(value)
        levels = {
            key: max(values)
            for key, values in rows.items()
            if len(values) == n_classes and -inf < max(values) < IMPOSSIBLE
        }
        told = [
            (key, class_, max(value - levels.get(key, 0.0), IMPOSSIBLE))
            for key, class_, value in part.terms
        ]
        of_part = _Rows(told, slope, first=0)
        taken.rows[places[part.source]].append(of_part)
        taken.parts.append((part.source, of_part.sums(n_classes), [0.0] * n_classes))


def _taken(model: Model, account: Account) -> _Taken:
    """Take the score of a document's text apart."""
    event = event_model(model.scoring.score)
    taken = _Taken([], [[] for _ in model.settings.views])
    # a score of one number is the second class's; the first class has none
    first = 1 if event.calibration == "histogram" else 0
    n_classes = len(model.classes)
    views = {view.name: place for place, view in enumerate(model.settings.views)}

    def spread(part: Evidence, divisor: float, *, is_correction: bool) -> list[float]:
        """Enter what the terms of a part say; return the sum of it by class."""
        rows = _Rows(part.terms, divisor, first, is_correction)
        if part.terms:
            taken.rows[views[part.source]].append(rows)
        return rows.sums(n_classes)

    parts = taken.parts
    for part in account.evidence:
        whole = part.divisor - part.smoothing
        divisor = whole if whole > 0 else part.divisor
        sums = spread(part, divisor, is_correction=False)
        parts.append((part.source, sums, _rest(part, first, n_classes)))
        if divisor != part.divisor:
            shrunk = [value * (divisor / part.divisor - 1) for value in sums]
            parts.append((f"smoothing of {part.source}", [0.0] * n_classes, shrunk))
    corrected, biases = [0.0] * n_classes, [0.0] * n_classes
    for part in account.correction:
        sums = spread(part, part.divisor, is_correction=True)
        corrected = [*map(float.__add__, corrected, sums)]
        biases = [*map(float.__add__, biases, _rest(part, first, n_classes))]
    if model.correction is not None:
        parts.append((CORRECTION, corrected, biases))
    return taken


def _rest(part: Evidence, first: int, n_classes: int) -> list[float]:
    rest = [0.0] * n_classes
    for number, value in enumerate(part.rest):
        rest[number + first] += value
    return rest


def _part(
    model: Model, sides: _Sides, name: str, terms: list[float], rest: list[float]
) -> Part:
    by_class = [*map(float.__add__, terms, rest)]
    return Part(
        name=name,
        contribution=sides.of(by_class),
        besides=sides.of(rest),
        by_class=_named(model, enumerate(by_class)),
    )


def _named(model: Model, by_class: Iterable[tuple[int, float]]) -> dict[str, float]:
    """Return numbers by the names of their classes, in their order, but for zeros."""
    classes = model.classes
    return {classes[place]: value for place, value in sorted(by_class) if value}


def _reasons(
    model: Model,
    reading: Reading,
    bag: Bag,
    taken: _Taken,
    sides: _Sides,
    top: int | None,
) -> tuple[Reason, ...]:
    """Return what the terms say, the strongest first."""
    said = [
        taken.contributions(view, sides) for view in range(len(model.settings.views))
    ]
    rows = (
        (-abs(value), view, key)
        for view, terms in enumerate(said)
        for key, value in terms.items()
    )
    strongest = sorted(rows) if top is None else nsmallest(top, rows)
    reasons: list[Reason] = []
    for number, view in enumerate(model.settings.views):
        keys = [key for _, of_view, key in strongest if of_view == number]
        fields = reading.views[number]
        places = located(view, fields, keys, model.settings.secret)
        terms = taken.terms(number, keys)
        groups = joined(
            Said(key, places[key], bag[number][key], said[number][key])
            for key in keys
            if key in places
        )
        counts = model.found(number, keys)
        reasons += [
            _reason(model, number, group, terms, counts, sides) for group in groups
        ]
    # the order of views and places is that of equals
    return tuple(sorted(reasons, key=lambda reason: -abs(reason.contribution)))


def _reason(
    model: Model,
    view: int,
    group: Group,
    terms: dict[int, _Term],
    counts: dict[int, list[tuple[int, tuple[int, ...]]]],
    sides: _Sides,
) -> Reason:
    """Return what a group of overlapping terms says."""
    columns = enumerate(model.settings.views[view].columns)
    told = [column for column in columns if column[1] in ("occurrences", "documents")]
    own = [
        Reason(
            text=said.place.text,
            view=model.settings.views[view].name,
            field=said.place.field,
            times=said.times,
            contribution=said.contribution,
            correction=sides.of_term(terms[said.key].correction),
            by_class=_named(model, terms[said.key].by_class.items()),
            counts=_counts(model, told, counts.get(said.key, [])),
            key=said.key,
        )
        for said in group.terms
    ]
    if len(own) == 1:
        return own[0]
    strongest = max(own, key=lambda reason: abs(reason.contribution))
    by_class: defaultdict[str, float] = defaultdict(float)
    for reason in own:
        for name, value in reason.by_class.items():
            by_class[name] += value
    return replace(
        strongest,
        text=text_of(group.parts),
        contribution=sum(reason.contribution for reason in own),
        correction=sum(reason.correction for reason in own),
        by_class=dict(by_class),
        terms=tuple(own),
    )


def _counts(
    model: Model,
    told: Sequence[tuple[int, Column]],
    entries: Sequence[tuple[int, tuple[int, ...]]],
) -> dict[str, dict[str, int]]:
    """Return by class and column how much of a term was counted."""
    return {
        model.classes[class_]: {column: values[place] for place, column in told}
        for class_, values in entries
    }
