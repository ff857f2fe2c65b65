"""
The shares of the classes among documents that are classified, estimated from them.

Probabilities in, shares out, by expectation and maximisation (Saerens, Latinne and
Decaestecker 2002, equations 2.8 and 2.9): documents are given probabilities by the
shares as they are, the mean of these are the next shares, until they change no more.
The paper lets a share become 0, and that of one document 1; here one document more is
reckoned, of the classes' shares in training, so that neither happens.

A stream is decided about when its end is reached, or MOST documents of it, which then
speak for the others; of each the decision is kept in memory, and not its text.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from nbtext.policy import Policy
    from nbtext.scoring.decide import Decision
    from nbtext.scoring.policy_rule import Basis

from nbtext.scoring.decide import decided_anew
from nbtext.scoring.models.arrays import normalised
from nbtext.scoring.policy_rule import rule_of

MOST: Final = 1 << 16
"""Maximum number of documents from which a prior is estimated."""

STEPS: Final = 1000
"""Maximum number of steps."""

NEAR: Final = 1e-9
"""The shares have settled if none of them changes by more."""

WEIGHT: Final = 1.0
"""How many documents of the shares in training are reckoned."""


class EstimatedPrior(NamedTuple):
    """
    What documents say of the shares of the classes.

    Attributes:
        shares: class to share, all above 0; they add up to 1.
        documents: from how many documents with a known token it was estimated.
        is_partial: whether there were more documents than are used.
    """

    shares: dict[str, float]
    documents: int
    is_partial: bool = False

    def policy(self, policy: Policy) -> Policy:
        """Return a policy with this prior."""
        return policy._replace(prior=tuple(sorted(self.shares.items())))


def estimated_shares(
    log_likelihoods: NDArray[np.float64], start: Sequence[float]
) -> list[float]:
    """
    Return the shares of classes under which documents are likeliest.

    Args:
        log_likelihoods: shape (n_documents, n_classes), in nats; each row but for a
            constant.
        start: shape (n_classes,), the shares in training, which are returned if there
            is no document.
    """
    shares = first = np.array(start)
    for _ in range(STEPS):
        posterior = np.exp(normalised(log_likelihoods + np.log(shares)))
        sums = posterior.sum(axis=0) + WEIGHT * first
        before, shares = shares, sums / sums.sum()
        if np.abs(shares - before).max() < NEAR:
            break
    found: list[float] = shares.tolist()
    return found


def with_estimated_prior(
    batches: Iterable[list[Decision]],
    basis: Basis,
    policy: Policy,
    on_prior: Callable[[EstimatedPrior], None],
) -> Iterator[list[Decision]]:
    """Decide anew about a stream, by the prior that its documents speak for."""
    rest = iter(batches)
    kept: list[list[Decision]] = []
    n_documents = 0
    following: list[list[Decision]] = []
    for batch in rest:
        if n_documents >= MOST:
            following = [batch]
            break
        kept.append(batch)
        n_documents += len(batch)
    rows = [one.log_posterior for batch in kept for one in batch if one.known]
    likelihoods = np.array(rows).reshape(-1, len(basis.classes)) - np.log(basis.shares)
    shares = estimated_shares(likelihoods, basis.shares)
    by_class = dict(zip(basis.classes, shares, strict=True))
    prior = EstimatedPrior(by_class, len(rows), is_partial=bool(following))
    on_prior(prior)
    rule = rule_of(prior.policy(policy), basis)
    for batch in chain(kept, following, rest):
        yield [decided_anew(decision, rule) for decision in batch]
