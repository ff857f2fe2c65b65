"""
Several models that decide together: P(y | x1) P(y | x2) / P(y).

What one model sees of a document is taken for independent, given the class, of what
another one sees; so the likelihoods are multiplied (Murphy 2006, equations 5 to 9). A
model's probabilities divided by the shares P(y) that they are for are its likelihoods,
but for a factor that is the same for all classes. With k models

    ln P(y | x1 ... xk) = ln P(y) + sum of (ln P_j(y | xj) - ln P_j(y))

up to what is the same for all y. P(y) are the shares of all documents that the models
were trained on together, or the prior of a policy. A model that knows not one token of
a document says nothing of it. A probability is capped if any of the models caps its
own, by the class counts of whichever has more documents: they may be the same ones.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from math import inf, log
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from nbtext import wording
from nbtext.counts import Calibration, Fit
from nbtext.document import Document
from nbtext.errors import SettingsError
from nbtext.policy import MOST_PROBABLE, Policy
from nbtext.scoring.classifier import Classifier
from nbtext.scoring.decide import Decision, Part, decide
from nbtext.scoring.policy_rule import Basis, basis_of, prior_by_class, rule_of
from nbtext.scoring.posterior import capped, normalised
from nbtext.scoring.score import Scored
from nbtext.settings.reading import Settings
from nbtext.settings.views import Field

if TYPE_CHECKING:
    from nbtext.scoring.estimating import EstimatedPrior
    from nbtext.settings.columns import Kind


class _Voice(NamedTuple):
    """
    What a model contributes.

    Attributes:
        classifier: the model.
        log_shares: shape (n_classes,), ln P(y) of the shares its probabilities are for.
    """

    classifier: Classifier
    log_shares: tuple[float, ...]


class CombinedClassifier:
    """
    Several models of the same classes that decide together about a document.

    Attributes:
        classes: the names of the classes, sorted.
        parts: the models.
        policy: how decisions are made; that of each model alone has no part in it.
        rule: the same, for the classes.
        prior: class to the share that is expected, None without a prior.
        fields: the columns of tables that any of the models reads.
        n_reasons: how many reasons are told of a decision: none.
    """

    n_reasons = 0

    def __init__(
        self, parts: Sequence[Classifier], *, policy: Policy | None = None
    ) -> None:
        """
        Let models decide together.

        Args:
            parts: two models or more.
            policy: how decisions are made; None for the policy of the first model.

        Raises:
            SettingsError: there are fewer than two models, one is there twice, they
                have different classes, some read columns of tables and some do not,
                or the policy asks for a share of false positives.
        """
        parts = [*map(_alone, _checked(parts))]
        own = parts[0].model.policy
        self.policy = policy if policy is not None else own or MOST_PROBABLE
        bases = [basis_of(part.model) for part in parts]
        self._basis = _basis_of_all(bases)
        if self.policy.max_false_positives is not None:
            unsure = wording.given(threshold=wording.Blank("P"))
            message = (
                "a share of false positives is found by the held-out scores of one "
                f"model; several that decide together have none: give {unsure} or "
                f"{wording.named('costs')} instead"
            )
            raise SettingsError(message)
        self.parts = tuple(parts)
        self.classes = parts[0].classes
        self.rule = rule_of(self.policy, self._basis)
        self.prior = prior_by_class(self.policy, self._basis)
        self._voices = [
            _Voice(part, tuple(map(log, basis.shares)))
            for part, basis in zip(parts, bases, strict=True)
        ]

    def __repr__(self) -> str:
        """Say of which files it is."""
        names = ", ".join(repr(part.model.path) for part in self.parts)
        return f"<CombinedClassifier {names}>"

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns of tables that are read, those of the first model in front."""
        kinds: dict[str, Kind] = {}
        for column, kind in chain(*(one.fields for one in self.parts)):
            is_agreed = kinds.setdefault(column, kind) == kind
            kinds[column] = kind if is_agreed else "text"  # which holds anything
        return tuple(map(Field._make, kinds.items()))

    def classify(
        self, documents: list[Document], *, headings: bool = False
    ) -> list[Decision]:
        """
        Decide about documents, in their order; `Decision.parts` says what each finds.

        Raises:
            SourceError: one of them cannot be read by one of the models.
        """
        by_model = [
            part.classify(
                [_as_read_by(part.model.settings, document) for document in documents],
                headings=headings and not place,
            )
            for place, part in enumerate(self.parts)
        ]
        return [
            self._together(document, decisions)
            for document, *decisions in zip(documents, *by_model, strict=True)
        ]

    def _together(self, document: Document, decisions: list[Decision]) -> Decision:
        """Make one decision of those of all models."""
        found = decide(
            document,
            self._scored(decisions),
            self.classes,
            rule=self.rule,
            heading=decisions[0].heading,
        )
        return found._replace(
            seen=_seen(decisions),
            parts=tuple(
                Part(voice.classifier.model.path, decision)
                for voice, decision in zip(self._voices, decisions, strict=True)
            ),
        )

    def _scored(self, decisions: Sequence[Decision]) -> Scored:
        """Add up what the models find; if no class is possible, nothing is known."""
        joint = prior = [log(share) for share in self._basis.shares]
        known = sum(decision.known for decision in decisions)
        for voice, decision in zip(self._voices, decisions, strict=True):
            if decision.known:
                likelihood = map(
                    float.__sub__, decision.log_posterior, voice.log_shares
                )
                joint = [*map(float.__add__, joint, likelihood)]
        if max(joint) == -inf:
            joint, known = prior, 0
        posterior = tuple(normalised(joint))
        documents = self._basis.documents
        is_capped = self._basis.scoring.calibrated
        printed = capped(posterior, documents) if is_capped else posterior
        tokens = sum(decision.tokens for decision in decisions)
        return Scored(posterior, printed, known, tokens)

    def arrange(self, samples: Iterable[Document]) -> None:
        """Arrange the counts of all models for many documents."""
        documents = list(samples)
        for part in self.parts:
            settings = part.model.settings
            part.arrange(_as_read_by(settings, document) for document in documents)

    def of_changed(
        self, change: Callable[[Classifier], Classifier]
    ) -> "CombinedClassifier":
        """Return what is made of the same models, each of them changed."""
        return CombinedClassifier([*map(change, self.parts)], policy=self.policy)

    def with_estimated_prior(
        self,
        batches: Iterable[list[Decision]],
        on_prior: "Callable[[EstimatedPrior], None]",
    ) -> Iterator[list[Decision]]:
        """Decide anew about a stream, as `Classifier.with_estimated_prior` does."""
        from nbtext.scoring.estimating import with_estimated_prior

        return with_estimated_prior(batches, self._basis, self.policy, on_prior)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what opens the same models elsewhere; counts stay in the files."""
        return partial(CombinedClassifier, policy=self.policy), (self.parts,)


Decider: TypeAlias = Classifier | CombinedClassifier
"""What decides about documents: a model, or several together."""


def _alone(part: Classifier) -> Classifier:
    """Return a model that decides for its most probable class, whatever its policy."""
    is_so = part.policy == MOST_PROBABLE  # and what it has arranged stays with it
    return part if is_so else part.deciding_by(MOST_PROBABLE)


def _checked(parts: Sequence[Classifier]) -> Sequence[Classifier]:
    """Refuse models that cannot decide together."""
    if len(parts) < 2:
        message = f"models that decide together are two or more, not {len(parts)}"
        raise SettingsError(message)
    first = parts[0]
    files = [os.path.realpath(part.model.path) for part in parts]
    for place, part in enumerate(parts):
        if files[place] in files[:place]:
            message = (
                f"{part.model.path} is named twice, and would decide with itself, "
                "surer than it is; name each model once"
            )
            raise SettingsError(message)
    for other in parts[1:]:
        if other.classes != first.classes:
            message = (
                f"{other.model.path} has the classes {', '.join(other.classes)}, and "
                f"{first.model.path} {', '.join(first.classes)}; those of models that "
                "decide together are the same "
                f"(`{wording.call('upkeep.rename')}` changes names)"
            )
            raise SettingsError(message)
    of_tables = [part for part in parts if part.fields]
    if of_tables and len(of_tables) < len(parts):
        whole = next(part for part in parts if not part.fields)
        message = (
            f"{of_tables[0].model.path} reads columns of tables, and "
            f"{whole.model.path} whole documents; train both on columns "
            f"({wording.named('text_columns')}), or neither"
        )
        raise SettingsError(message)
    return parts


def _basis_of_all(bases: Sequence[Basis]) -> Basis:
    """
    Return what a policy needs to know of models that decide together.

    The shares are those of all documents that they were trained on. These may be the
    same ones for each; the cap reckons with that of each class which has most.
    """
    weights = [sum(basis.documents) for basis in bases]
    columns = zip(*(basis.shares for basis in bases), strict=True)
    shares = tuple(
        sum(map(float.__mul__, column, map(float, weights))) / sum(weights)
        for column in columns
    )
    capping = [basis for basis in bases if basis.scoring.calibrated] or bases
    return Basis(
        name=", ".join(basis.name for basis in bases),
        classes=bases[0].classes,
        documents=tuple(
            map(max, zip(*(one.documents for one in capping), strict=True))
        ),
        calibration=Calibration({}),
        fit=Fit(),
        scoring=capping[0].scoring,
        pooled_shares=shares,
    )


def _as_read_by(settings: Settings, document: Document) -> Document:
    """Return a document with the columns alone that a model reads."""
    if not (settings.column_names and document.columns):
        return document
    from nbtext.tokens.attributes import in_order

    return in_order(document, settings)


def _seen(decisions: Sequence[Decision]) -> str:
    """Return whether any of the models had counted a document, and what came of it."""
    found = {decision.seen for decision in decisions}
    return next((word for word in ("yes", "left out") if word in found), "no")
