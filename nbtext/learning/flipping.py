"""
What learning a document would change: nothing is written.

A model and a document go in; out comes what the model would say of the document if it
had learnt it once in another class, and how many documents like it would have to be
learnt there until it says so. Each is computed from the very table that `learn` would
append, so the probabilities are those that `classify` would print.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from nbtext.classes import quoted
from nbtext.document import Document
from nbtext.errors import TrainingError
from nbtext.learning.one_by_one import learn_few
from nbtext.learning.plan import Batch, LearnRequest, LearnResult, planned
from nbtext.policy import Policy
from nbtext.scoring import Classifier, Decision, Model
from nbtext.scoring.model import model_of
from nbtext.settings.scoring import Scoring
from nbtext.store.file import with_table
from nbtext.tokens import Reading, read

MOST: Final = 64
"""Maximum documents like it that are tried."""


class Flip(NamedTuple):
    """
    What it would take to have a document in another class.

    Attributes:
        label: the class.
        before: what is decided now.
        result: what would become of the document if it were learnt there.
        after: what would be decided then.
        copies: how many documents like it, learnt there besides, are enough; 0 if
            learning it once is, None if not even MOST are.
        decision: what would be decided after so many, or after MOST.
    """

    label: str
    before: Decision
    result: LearnResult
    after: Decision
    copies: int | None
    decision: Decision


def flip(
    model: Model,
    document: Document,
    label: str | None = None,
    *,
    policy: Policy | None = None,
    scoring: Scoring | None = None,
) -> Flip:
    """
    Say what it would take to have a document in another class.

    Args:
        model: the model as its file has it.
        document: the document.
        label: the class; the next most probable one if None, or if the document is
            unsure the most probable.
        policy: how decisions are made, if not by the policy of the model.
        scoring: how they are scored, if not as the file asks.

    Raises:
        SettingsError: the model keeps no ledger, so that nothing can be learnt.
        TrainingError: the class would need other settings than the model has, or the
            model would have no other class any more.
        UnknownClassError: there is no such class.
    """
    trial = _Trial(model, document, policy, scoring)
    before = trial.decided(model)
    label = label or _other(before)
    result, once = trial.learnt(label, trial.reading)
    if len(once.classes) < 2:
        message = (
            f"{document.name}: it is the only document of its class, and learnt as "
            f"{quoted(label)} it would leave the model that class alone; teach the "
            "model more first"
        )
        raise TrainingError(message)
    after = trial.decided(once)
    if after.label == label:
        return Flip(label, before, result, after, 0, after)
    copies, decision = _enough(trial, label)
    return Flip(label, before, result, after, copies, decision)


def _other(decision: Decision) -> str:
    """Return the most probable class that is not decided for."""
    probabilities = decision.posterior
    names = [name for name in decision.classes if name != decision.label]
    return max(names, key=probabilities.__getitem__)


class _Trial:
    """A document that is learnt by a model in memory, in whatever number."""

    def __init__(
        self,
        model: Model,
        document: Document,
        policy: Policy | None,
        scoring: Scoring | None,
    ) -> None:
        self._model = model
        self._document = document
        self._policy = policy
        self._scoring = scoring
        self.reading = read(document, model.settings)

    def decided(self, model: Model) -> Decision:
        """Return what a model decides about the document."""
        if self._scoring is not None:
            model = model.scored_by(self._scoring)
        (decision,) = Classifier(model, policy=self._policy).classify([self._document])
        return decision

    def learnt(self, label: str, *readings: Reading) -> tuple[LearnResult, Model]:
        """Return what becomes of the first of some documents, and the model then."""
        model = self._model
        documents = [self._document] * len(readings)
        batch = Batch(model.settings, documents, readings)
        frozen_idf = model.settings.has_frozen_idf
        request = LearnRequest(model.path, label, frozen_idf=frozen_idf)
        plan = planned(model, batch, request)
        chunks = learn_few(plan) if plan.steps else []
        if chunks:
            model = model_of(with_table(model.file, chunks), self._scoring)
        return plan.results[0], model

    def many(self, label: str, n: int) -> Decision:
        """Return what is decided if the document and n like it were learnt."""
        return self.decided(self.learnt(label, *self._copies(n))[1])

    def _copies(self, n: int) -> Sequence[Reading]:
        """Return the document, and others of the same terms that no model knows."""
        digest = int.from_bytes(self.reading.digest, "big")
        others = [(digest + number) % (1 << 128) for number in range(1, n + 1)]
        copies = [
            self.reading._replace(digest=other.to_bytes(16, "big")) for other in others
        ]
        return [self.reading, *copies]


def _enough(trial: _Trial, label: str) -> tuple[int | None, Decision]:
    """Return how many documents like it are enough, and what is decided then."""
    few, many = 0, 1
    while (decision := trial.many(label, many)).label != label:
        if many == MOST:
            return None, decision
        few, many = many, 2 * many
    while many - few > 1:
        middle = (few + many) // 2
        tried = trial.many(label, middle)
        if tried.label == label:
            many, decision = middle, tried
        else:
            few = middle
    return many, decision
