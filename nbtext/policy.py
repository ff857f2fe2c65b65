"""
A policy: what a user wants of decisions, as it is kept in a model.

It has two parts. The *prior* is how common the classes are where documents are
classified. The *rule* says which class is decided for, or none: the most probable one,
perhaps if it is probable enough, or if few held-out documents of other classes score as
high; or the one that is expected to cost least. `nbtext.scoring.policy_rule` makes of a
policy what a model needs to decide.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from nbtext import wording
from nbtext.classes import quoted
from nbtext.errors import SettingsError
from nbtext.settings.plain import any_map, list_of, map_of, shown

UNSURE: Final = "unsure"
"""What the decision for no class is called."""

MOST_EXPENSIVE: Final = 1e9
"""The largest cost."""

MOST_COSTS: Final = 65_536
"""Maximum number of costs."""


class Cost(NamedTuple):
    """
    What a decision costs.

    Attributes:
        truth: the class that a document is of.
        decision: the class that is decided for; None for unsure.
        price: 0 or more, in any unit.
    """

    truth: str
    decision: str | None
    price: float


class FalsePositives(NamedTuple):
    """
    How many documents of other classes may be taken for a class.

    Attributes:
        label: the class.
        rate: their share of all documents of other classes, above 0 and below 1.
    """

    label: str
    rate: float


class Policy(NamedTuple):
    """
    How decisions are made.

    Attributes:
        threshold: the least probability of a label, from 0 to 1.
        prior: classes and their shares of what is classified; classes that are not
            named share the rest as they shared the documents held out.
        costs: what decisions cost, if not 0 where they are right and 1 where they are
            wrong. With none, the most probable class is decided for.
        max_false_positives: whether a class needs a score that so few held-out
            documents of other classes reach; None if it does not.
    """

    threshold: float = 0.0
    prior: tuple[tuple[str, float], ...] = ()
    costs: tuple[Cost, ...] = ()
    max_false_positives: FalsePositives | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for msgpack and JSON."""
        limit = self.max_false_positives
        return {
            "threshold": self.threshold,
            "prior": dict(self.prior),
            "costs": [[*cost] for cost in self.costs],
            "max_false_positives": None if limit is None else [*limit],
        }

    @classmethod
    def from_dict(cls, plain: Any) -> "Policy":
        """
        Rebuild a policy from what `as_dict` gave, believing nothing.

        Whether a model has its classes is not known here.

        Raises:
            SettingsError: it is not one.
        """
        found = map_of(plain, "the policy", cls._fields)
        prior = any_map(found["prior"], "the prior of the policy")
        costs = list_of(found["costs"], "the costs of the policy")
        limit = found["max_false_positives"]
        if limit is not None:
            what = "the share of false positives of the policy"
            limit = FalsePositives._make(list_of(limit, what, 2))
        policy = cls(
            threshold=found["threshold"],
            prior=tuple(prior.items()),
            costs=tuple(
                Cost._make(list_of(cost, "a cost of the policy", 3)) for cost in costs
            ),
            max_false_positives=limit,
        )
        policy.check()
        return policy.arranged()

    def arranged(self) -> "Policy":
        """Return the same policy, its parts in their form and its classes sorted."""
        prior = ((label, _plain(share)) for label, share in self.prior)
        made = map(Cost._make, self.costs)
        costs = (cost._replace(price=_plain(cost.price)) for cost in made)
        limit = self.max_false_positives
        if limit is not None:
            label, rate = limit
            limit = FalsePositives(label, _plain(rate))
        return self._replace(
            threshold=_plain(self.threshold),
            prior=tuple(sorted(prior)),
            costs=tuple(sorted(costs, key=_place_of)),
            max_false_positives=limit,
        )

    def check(self) -> None:
        """
        Refuse what is no policy of any model.

        Raises:
            SettingsError: a number is out of its range, or parts exclude one another.
        """
        _check_number("the threshold", self.threshold, 1)
        for label, share in self.prior:
            _check_name(label)
            _check_number(f"the prior of {quoted(label)}", share, 1, is_open=True)
        names = [label for label, _ in self.prior]
        _check_distinct("the prior", names)
        total = sum(share for _, share in self.prior)
        if total > 1 + 1e-6:
            message = f"the prior adds up to {total:g}; it is a share of 1 for each"
            raise SettingsError(message)
        self._check_costs()
        if self.max_false_positives is not None:
            label, rate = self.max_false_positives
            _check_name(label)
            _check_number("the share of false positives", rate, 1, is_open=True)
        if self.costs and (self.threshold or self.max_false_positives):
            unsure = wording.given(costs=wording.Blank("(Cost(CLASS, None, X),)"))
            instead = map(wording.named, ("threshold", "max_false_positives"))
            message = (
                f"costs decide alone: price unsure by {unsure} in the place of "
                f"{' and '.join(instead)}"
            )
            raise SettingsError(message)

    def _check_costs(self) -> None:
        if len(self.costs) > MOST_COSTS:
            message = f"there are {len(self.costs):,} costs; {MOST_COSTS:,} is the most"
            raise SettingsError(message)
        for truth, decision, price in self.costs:
            _check_name(truth)
            if decision is not None:
                _check_name(decision)
            what = f"the cost of {quoted(truth)}:{quoted(decision or UNSURE)}"
            _check_number(what, price, MOST_EXPENSIVE)
        _check_distinct(
            "the costs",
            [f"{truth}:{decision or UNSURE}" for truth, decision, _ in self.costs],
        )

    def renamed(self, names: Mapping[str, str]) -> "Policy":
        """Return the same policy for classes of other names."""

        def new(label: str) -> str:
            return names.get(label, label)

        costs = (
            Cost(new(truth), decision and new(decision), price)
            for truth, decision, price in self.costs
        )
        limit = self.max_false_positives
        return self._replace(
            prior=tuple((new(label), share) for label, share in self.prior),
            costs=tuple(costs),
            max_false_positives=limit and limit._replace(label=new(limit.label)),
        ).arranged()

    @property
    def labels(self) -> list[str]:
        """Return the classes that it names, sorted."""
        named = {label for label, _ in self.prior}
        for truth, decision, _ in self.costs:
            named |= {truth, truth if decision is None else decision}
        if self.max_false_positives is not None:
            named.add(self.max_false_positives.label)
        return sorted(named)


MOST_PROBABLE: Final = Policy()
"""The policy that decides for the most probable class, however probable it is."""

FORM: Final = (
    "Policy(threshold=0.9, prior=(('spam', 0.2),), costs=(Cost('ham', 'spam', 10),), "
    "max_false_positives=FalsePositives('spam', 0.001))"
)
"""The form that the parts of a policy have."""


def checked_policy(policy: Policy) -> Policy:
    """
    Return a policy that a program gives, its parts in their form.

    Costs and a share of false positives may be plain tuples. Classes come out sorted,
    as a model has them.

    Raises:
        TypeError: it is none, or its parts do not have their form.
        SettingsError: a number is out of its range, or parts exclude one another.
    """
    if not isinstance(policy, Policy):
        message = f"policy: expected one like {FORM}, found {policy!r:.80}"
        raise TypeError(message)
    try:
        policy = policy.arranged()
        policy.check()
    except (TypeError, ValueError) as error:
        message = f"policy: expected parts as in {FORM}, found {policy!r:.200}"
        raise TypeError(message) from error
    return policy


class PolicyOverrides(NamedTuple):
    """
    What a user wants to be otherwise than in the policy of a model; None for nothing.

    Attributes:
        prior: as in `Policy`; empty for the shares of training.
        is_estimated: whether the prior is estimated from what is classified.
        threshold: as in `Policy`; it replaces the whole rule, as the next two do.
        costs: as in `Policy`.
        max_false_positives: as in `Policy`.
        is_anew: whether the policy of the model has no part in it.
    """

    prior: tuple[tuple[str, float], ...] | None = None
    is_estimated: bool = False
    threshold: float | None = None
    costs: tuple[Cost, ...] | None = None
    max_false_positives: FalsePositives | None = None
    is_anew: bool = False

    @classmethod
    def rebuilt(cls, plain: Sequence[Any]) -> "PolicyOverrides":
        """Return what msgpack has made lists of as it was."""
        prior, is_estimated, threshold, costs, limit, is_anew = plain
        return cls(
            prior=None if prior is None else tuple(map(tuple, prior)),
            is_estimated=is_estimated,
            threshold=threshold,
            costs=None if costs is None else tuple(map(Cost._make, costs)),
            max_false_positives=limit and FalsePositives._make(limit),
            is_anew=is_anew,
        )

    def chosen(self, policy: Policy | None) -> Policy | None:
        """Return the policy that is wanted, None if it is that of the model."""
        return None if self == PolicyOverrides() else self.policy(policy)

    def policy(self, policy: Policy | None) -> Policy:
        """
        Return the policy that is wanted.

        Args:
            policy: that of the model, None if it has none.

        Raises:
            SettingsError: parts exclude one another.
        """
        found = Policy() if policy is None or self.is_anew else policy
        rule = (self.threshold, self.costs, self.max_false_positives)
        if rule != (None, None, None):
            found = Policy(
                self.threshold or 0.0,
                found.prior,
                self.costs or (),
                self.max_false_positives,
            )
        if self.prior is not None or self.is_estimated:
            found = found._replace(prior=self.prior or ())
        found.check()
        return found


def _plain(number: Any) -> Any:
    """Return a number of numpy, such as a threshold of `roc_curve`, as Python's own."""
    return number.item() if hasattr(number, "item") else number


def _place_of(cost: Cost) -> tuple[str, bool, str]:
    """Return what costs are sorted by: unsure comes behind the classes."""
    return cost.truth, cost.decision is None, cost.decision or ""


def _check_name(label: object) -> None:
    if type(label) is not str or not label:
        message = f"the policy is for a class {shown(label)}, expected a name"
        raise SettingsError(message)


def _check_number(
    what: str, value: object, most: float, *, is_open: bool = False
) -> None:
    """Refuse what is no number from 0 on, or is an end of its range if it is open."""
    is_number = type(value) in (float, int) and 0 <= value <= most  # type: ignore[operator]
    if not is_number or (is_open and value in (0, most)):
        between = "between" if is_open else "from"
        and_ = "and" if is_open else "to"
        message = f"{what} is {shown(value)}, expected {between} 0 {and_} {most:g}"
        raise SettingsError(message)


def _check_distinct(what: str, names: list[str]) -> None:
    known: set[str] = set()
    for name in names:
        if name in known:
            message = f"{what}: {quoted(name)} is given twice"
            raise SettingsError(message)
        known.add(name)
