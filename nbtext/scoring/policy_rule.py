"""
A policy and a model, to the rule by which the model decides.

A prior is a share for each class. Calibrated probabilities are for documents of the
classes' shares in the held-out sample. Divided by these shares they are scaled
likelihoods, P(document | class) but for a factor, and times the prior they are
probabilities where the prior holds (Murphy 2006, equations 3 and 4; Saerens, Latinne
and Decaestecker 2002, equation 2.4). The cap comes after that.
"""

from math import exp, log
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from nbtext.scoring.threshold import HeldOut
    from nbtext.store import Contents

from nbtext import wording
from nbtext.counts import Calibration, Fit
from nbtext.errors import ModelFileError, SettingsError, UnknownClassError
from nbtext.policy import UNSURE, FalsePositives, Policy
from nbtext.scoring.costs import costs_of
from nbtext.scoring.decide import DecisionRule
from nbtext.scoring.held_out import fit_of, fitted, fitted_by, held_out, held_out_by
from nbtext.scoring.model import Model
from nbtext.scoring.models.registry import (
    choice_of,
    event_models,
    is_one_number,
    scoring_of,
)
from nbtext.scoring.posterior import log_prior, normalised
from nbtext.settings.scoring import Scoring

NEAR: Final = 1e-6
"""How far from 1 the shares of all classes may add up."""


class Basis(NamedTuple):
    """
    What a policy is held against: the facts of a model that it needs.

    Attributes:
        name: what the model is called in messages.
        classes: sorted.
        documents: for each class, how many documents.
        calibration: what held-out documents scored.
        fit: what turns scores into probabilities.
        scoring: how they are scored; calibrated probabilities are capped.
        pooled_shares: the shares below, where the documents of one model do not tell
            them (`nbtext.scoring.combining`); empty otherwise.
    """

    name: str
    classes: tuple[str, ...]
    documents: tuple[int, ...]
    calibration: Calibration
    fit: Fit
    scoring: Scoring
    pooled_shares: tuple[float, ...] = ()

    @property
    def shares(self) -> tuple[float, ...]:
        """
        Return the shares of the classes for which probabilities are true.

        They are those of the held-out documents; of all documents if none of a class
        was held out, as in a sum of models. One more is reckoned for each class, so
        that none has a share of 0. If probabilities are the textbook's own, the shares
        are those of the class prior that is in them.
        """
        if self.pooled_shares:
            return self.pooled_shares
        if self.classes and not self.scoring.calibrated:
            logs = log_prior(self.scoring.class_prior, self.documents)
            return tuple(map(exp, normalised(logs)))
        held_out = self.calibration.documents
        known = [max(held_out.get(name, 0), 0) for name in self.classes]
        if any(known) and not all(known):
            known = [*self.documents]
        whole = sum(known) + len(known)
        return tuple((count + 1) / whole for count in known)


def basis_of(model: Model) -> Basis:
    """
    Return what a policy needs of a model.

    Raises:
        NotAModelError: what the file keeps for calibration is damaged.
    """
    return Basis(
        name=model.path,
        classes=model.classes,
        documents=model.documents,
        calibration=held_out(model),
        fit=fitted(model),
        scoring=model.scoring,
    )


def basis_of_contents(contents: "Contents", name: str) -> Basis:
    """Return what a policy needs of a model in memory, which is called so."""
    table, scoring = contents.counts, contents.scoring
    kept, correction = contents.calibrations, contents.correction
    is_corrected = correction is not None and len(table.classes) == 2
    found = held_out_by(scoring, kept, is_corrected=is_corrected)
    return Basis(
        name=name,
        classes=table.classes,
        documents=table.documents,
        calibration=found or Calibration(scoring.of_scores()),
        fit=fit_of(correction.info)
        if correction is not None
        else fitted_by(scoring, kept, table.classes),
        scoring=scoring,
    )


def rule_of(policy: Policy, basis: Basis) -> DecisionRule:
    """
    Return how a model decides by a policy.

    Raises:
        UnknownClassError: the policy names a class that the model does not have.
        SettingsError: the policy does not go with the model's classes.
    """
    limit = policy.max_false_positives
    if limit is not None:
        _check_held_out(basis)
    for label in policy.labels:
        if label not in basis.classes:
            advice = "a policy names classes of the model"
            if limit is not None and label == limit.label:
                advice = "name the class that documents are falsely put in: CLASS=RATE"
            raise UnknownClassError(basis.name, label, basis.classes, advice=advice)
    if UNSURE in basis.classes and any(cost.decision is None for cost in policy.costs):
        message = (
            f"{basis.name}: the model has a class called {UNSURE!r}, so a cost cannot "
            "tell it from the decision; give it another name "
            f"(`{wording.call('upkeep.rename')}`)"
        )
        raise SettingsError(message)
    shares = zip(prior_of(policy, basis), basis.shares, strict=True)
    least = None
    if limit is not None:
        place = basis.classes.index(limit.label)
        least = place, held_out_of(limit, basis).log_odds
    return DecisionRule(
        threshold=policy.threshold,
        shift=tuple(log(p) - log(q) for p, q in shares) if policy.prior else (),
        documents=basis.documents if basis.scoring.calibrated else (),
        costs=costs_of(policy.costs, basis.classes) if policy.costs else None,
        least=least,
    )


def own_rule(policy: Policy, basis: Basis) -> DecisionRule:
    """
    Return how a model decides by the policy that is kept in it.

    Raises:
        ModelFileError: the policy does not go with the model.
    """
    try:
        return rule_of(policy, basis)
    except SettingsError as error:
        without = wording.given(policy=wording.Blank("MOST_PROBABLE"))
        message = (
            f"{error}; that is the policy kept in the model: change it with "
            f"`{wording.call('set_policy')}`, or do without it ({without})"
        )
        raise ModelFileError(message) from error


def prior_of(policy: Policy, basis: Basis) -> tuple[float, ...]:
    """
    Return the share of each class that is expected; those of `basis` without a prior.

    Raises:
        SettingsError: the shares do not add up to 1, or leave nothing for a class.
    """
    given = dict(policy.prior)
    shares = dict(zip(basis.classes, basis.shares, strict=True))
    if not given:
        return basis.shares
    left = 1 - sum(given.values())
    rest = sum(share for name, share in shares.items() if name not in given)
    if rest and left <= NEAR:
        names = ", ".join(name for name in basis.classes if name not in given)
        message = f"the prior leaves nothing for {names}; give smaller shares"
        raise SettingsError(message)
    if not rest and abs(left) > NEAR:
        message = f"the prior of all classes adds up to {1 - left:g}, expected 1"
        raise SettingsError(message)
    return tuple(
        given[name] if name in given else left * share / rest
        for name, share in shares.items()
    )


def prior_by_class(policy: Policy, basis: Basis) -> dict[str, float] | None:
    """Return the share of each class that a policy expects, None if it says nothing."""
    if not policy.prior:
        return None
    return dict(zip(basis.classes, prior_of(policy, basis), strict=True))


def _check_held_out(basis: Basis) -> None:
    """
    Refuse a share of false positives where no threshold can be found for one.

    Raises:
        SettingsError: there are more classes than two, or fewer, or the scores of
            held-out documents are not kept, or are those of the text of records alone.
    """
    what = "a share of false positives needs a model of two classes, whose held-out "
    if len(basis.classes) != 2:
        message = f"{what}scores are kept; {basis.name} has {len(basis.classes)}"
        raise SettingsError(message)
    is_kept = basis.scoring.calibrated and basis.calibration.is_corrected
    if not (is_kept or keeps_scores(basis.scoring)):
        choice = choice_of(
            one for one in event_models() if keeps_scores(scoring_of(one.name))
        )
        message = (
            f"{what}scores are kept, as with {choice}; {basis.name} is scored "
            f"by {basis.scoring.score}: train another, or say what an error costs "
            f"({wording.named('costs')})"
        )
        raise SettingsError(message)
    if basis.scoring.attributes:
        message = (
            f"{what}scores are those of all that is read; {basis.name} reads columns "
            "of categories or numbers besides the text, which alone was held out: say "
            f"what an error costs ({wording.named('costs')})"
        )
        raise SettingsError(message)


def keeps_scores(scoring: Scoring) -> bool:
    """Return whether a model that is scored so keeps what held-out documents scored."""
    return scoring.calibrated and is_one_number(scoring)


def held_out_of(limit: FalsePositives, basis: Basis) -> "HeldOut":
    """
    Return what held-out documents say of a share of false positives.

    If they say nothing, it is the lowest threshold of `filter`, from no documents.
    """
    from fractions import Fraction  # here, because it takes 2 ms, and few limit that

    from nbtext.scoring.threshold import LEAST, HeldOut, held_out_threshold

    found = held_out_threshold(
        basis.calibration,
        basis.fit,
        basis.classes,
        limit.label,
        Fraction(str(limit.rate)),
    )
    return found or HeldOut(log(LEAST) - log(1 - LEAST), 0)
