"""
Explanations: what a decision is the sum of, as plain values.

All contributions are in nats of the log-odds of one class (`label`) against another
(`rival`), above zero if they speak for the first. They add up, in two ways:

    score    = sum of the parts
             = sum of the reasons, and of the parts' `besides`
    log_odds = score + calibration + others + prior + cap
    probability = 1 / (1 + exp(-log_odds))
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """
    What one term says, or several that overlap.

    Attributes:
        text: the term as it is in the document; of several, all of them joined.
        view: the name of the view that it is read in.
        field: the field of the document where it occurs first.
        times: how often it occurs; of several, how often the strongest does.
        contribution: what it says for the label, in nats; of several, their sum.
        correction: how much of that is the model's correction.
        by_class: class to what the term adds to its score, if anything.
        counts: class to column to how much of the term was counted there; of several,
            of the strongest.
        key: what the model calls it, in its text form too; of several, the strongest.
        terms: the overlapping terms, if they are several.
    """

    text: str
    view: str
    field: str
    times: int
    contribution: float
    correction: float
    by_class: dict[str, float]
    counts: dict[str, dict[str, int]]
    key: int
    terms: "tuple[Reason, ...]" = ()

    def __repr__(self) -> str:
        """Say which term it is, where, and how much it says."""
        times = f" x{self.times}" if self.times > 1 else ""
        return f"<Reason {self.contribution:+.2f} {self.view} {self.text!r}{times}>"


@dataclass(frozen=True, slots=True)
class Part:
    """
    A part of the score.

    Attributes:
        name: a view's name, or what else it is: `prior`, `correction`, or
            `smoothing of` the mean of a view.
        contribution: what it says for the label, in nats.
        besides: how much of that no term says.
        by_class: class to what it adds to its score.
    """

    name: str
    contribution: float
    besides: float
    by_class: dict[str, float]


@dataclass(frozen=True, slots=True)
class Explanation:
    """
    Why a document is of a class.

    Attributes:
        name: the document's.
        decision: the label that was decided for, None if unsure.
        label: the class that is spoken for: the most probable, unless another was asked
            for.
        rival: the class that it is held against: the most probable of the others.
        probability: of the label, from 0 to 1, as it is printed.
        log_odds: of the label against all other classes, in nats.
        score: the sum of the parts.
        calibration: what slope and offset, fitted to held-out documents, change.
        slope: by which the score is multiplied.
        offset: which is added then.
        others: what the classes besides these two take away; 0 of two classes.
        prior: what the prior of the policy adds.
        cap: what is taken away because no model of so few documents can be surer; of
            two classes also what a score exceeds all that it can tell by.
        parts: what the score is the sum of.
        reasons: what each term says, the strongest first.
        classes: class to how many of its documents the model knows.
        posterior: class to probability.
        known: how many of the document's tokens the model knows.
        tokens: how many it has.
        views: the names of the model's views.
        truncated: whether the document was longer than what was read.
        expected: the label that the document carries, if any.
    """

    name: str
    decision: str | None
    label: str
    rival: str
    probability: float
    log_odds: float
    score: float
    calibration: float
    slope: float
    offset: float
    others: float
    prior: float
    cap: float
    parts: tuple[Part, ...]
    reasons: tuple[Reason, ...]
    classes: dict[str, int]
    posterior: dict[str, float]
    known: int
    tokens: int
    views: tuple[str, ...]
    truncated: bool = False
    expected: str | None = None

    def __repr__(self) -> str:
        """Say for which class it speaks, and how many terms have a part in it."""
        classes = f"{self.label!r} rather than {self.rival!r}"
        found = f"{self.probability:.4f}, {len(self.reasons):,} reasons"
        return f"<Explanation {self.name!r}: {classes}, {found}>"
