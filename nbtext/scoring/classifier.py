"""
A model that is ready to classify: documents in, decisions out.

Which engine scores them is the affair of `nbtext.scoring.scorer`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from nbtext.document import AnyDocument, Document, OnProblem, as_document
from nbtext.errors import SettingsError, TrainingError, UnknownClassError
from nbtext.keyring import secret_of
from nbtext.scoring.decide import DEFAULT, Decision, decide
from nbtext.scoring.model import Model, load_model
from nbtext.scoring.models.registry import check_scoring
from nbtext.scoring.score import Scored
from nbtext.scoring.scorer import Scorer
from nbtext.scoring.stored import FEW
from nbtext.settings.scoring import Scoring
from nbtext.settings.views import Field
from nbtext.store.calibrations import scoring_of
from nbtext.tokens import AnyReading, bag_of, read_keys
from nbtext.tokens.key_reading import are_read_together

if TYPE_CHECKING:
    from nbtext.mail import Heading
    from nbtext.policy import Policy
    from nbtext.scoring.estimating import EstimatedPrior
    from nbtext.scoring.explanation import Explanation, Reason
    from nbtext.scoring.top import TopTerm
    from nbtext.tokens.batch_reading import ReadBatch

LISTED: Final = 4
"""Up to so many classes are named where a model is printed."""


class Classifier:
    """
    A model that is ready to classify.

    Attributes:
        model: what it was opened from.
        scorer: what scores documents by it.
        rule: how decisions are made.
        prior: class to the share that is expected, None without a prior.
        n_reasons: how many reasons are told of a document whose label is another than
            the one it carries.
    """

    _names_documents = False  # which takes time

    def __init__(
        self, model: Model, *, policy: "Policy | None" = None, n_reasons: int = 0
    ) -> None:
        """
        Make an open model ready.

        Args:
            model: the model.
            policy: how decisions are made, if not by the policy that it keeps.
            n_reasons: see above.

        Raises:
            SettingsError: the model does not support its score, or the policy.
            TrainingError: it does not have two classes.
            ModelFileError: the policy that the model keeps does not go with it.
        """
        try:
            check_scoring(model.scoring, model.settings, model.classes)
        except (SettingsError, TrainingError) as error:  # there may be several models
            raise type(error)(f"{model.path}: {error}") from None
        if model.settings.secret is not None:
            secret_of(model.settings.secret)  # before the first document is read
        self.model = model
        self.n_reasons = n_reasons
        self.scorer = Scorer(model)
        self._policy = policy
        self.rule = DEFAULT
        self.prior: dict[str, float] | None = None
        if policy is not None or model.policy is not None:
            self._decide_by(policy)

    def __repr__(self) -> str:
        """Say of which file it is, and what it tells apart."""
        classes = ", ".join(self.classes)
        if len(self.classes) > LISTED:
            classes = f"{len(self.classes)} classes"
        score = self.model.scoring.score
        return f"<Classifier {self.model.path!r}: {classes}; {score}>"

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes, sorted."""
        return self.model.classes

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns of tables that are read; none if they are not named."""
        return self.model.settings.fields

    def classify(
        self, documents: list[Document], *, headings: bool = False
    ) -> list[Decision]:
        """
        Decide about documents, in their order.

        Args:
            documents: what to classify.
            headings: whether decisions say who mail is from, and what it is about.

        Raises:
            TypeError: one is no `Document`.
        """
        if not all(isinstance(document, Document) for document in documents):
            message = (
                "documents: expected a list of nbtext.Document; "
                "nbtext.classify(model, it) and classify_all take texts and messages"
            )
            raise TypeError(message)
        is_quick = len(documents) > FEW and self.reads_together
        decide_all = self._decide_together if is_quick else self._decide_each
        return decide_all(documents, headings=headings)

    @property
    def reads_together(self) -> bool:
        """Whether many documents are read at once, without the interpreter."""
        return are_read_together(self.model.settings)

    def _decide_together(
        self, documents: list[Document], *, headings: bool
    ) -> list[Decision]:
        """Decide about many documents, which are read at once but for a few."""
        from nbtext.tokens.batch_reading import read_together

        settings = self.model.settings
        batch = read_together(documents, settings, are_named=self._names_documents)
        found = self._decide_batch(batch, headings=headings) if batch.documents else []
        found += self._decide_each(batch.others, headings=headings)
        in_turn = map(id, [*batch.documents, *batch.others])
        decisions = dict(zip(in_turn, found, strict=True))
        return [decisions[id(document)] for document in documents]

    def _decide_batch(self, batch: "ReadBatch", *, headings: bool) -> list[Decision]:
        """Decide about documents that were read at once, one or more."""
        scores = self.scorer.scored_batch(batch)
        return [
            self.decide_one(document, scored, headings=headings)
            for document, scored in zip(batch.documents, scores, strict=True)
        ]

    def _decide_each(
        self, documents: list[Document], *, headings: bool
    ) -> list[Decision]:
        """Decide about documents, which are read one after the other."""
        settings = self.model.settings
        readings = [read_keys(one, settings, is_named=False) for one in documents]
        return self.decide_readings(documents, readings, headings=headings)

    def decide_readings(
        self,
        documents: Sequence[Document],
        readings: Sequence[AnyReading],
        *,
        headings: bool = False,
    ) -> list[Decision]:
        """Decide about documents that are taken apart already."""
        return [
            self.decide_one(document, scored, headings=headings)
            for document, scored in zip(
                documents, self.scorer.scored(readings), strict=True
            )
        ]

    def decide_one(
        self,
        document: Document,
        scored: Scored,
        *,
        headings: bool = False,
        counted_in: int | None = None,
    ) -> Decision:
        """
        Decide about a document that is scored already.

        Args:
            document: the document.
            scored: what the counts say of it.
            headings: whether the decision says who mail is from, and what it is about.
            counted_in: the place of the class in which the model has counted it, if it
                was scored as if that had not been so.
        """
        decision = decide(
            document,
            scored,
            self.model.classes,
            rule=self.rule,
            heading=_heading_of(document) if headings else None,
        )
        if not self.n_reasons or decision.label == decision.expected:
            return decision
        reasons = self._reasons(document, decision.label, counted_in)
        return decision._replace(reasons=reasons)

    def _reasons(
        self, document: Document, label: str | None, counted_in: int | None
    ) -> "tuple[Reason, ...]":
        """Return the strongest reasons for what is decided about a document."""
        from nbtext.scoring.explaining import explain
        from nbtext.scoring.without import without
        from nbtext.tokens import read  # and not keys, which say nothing

        model = self.model
        reading = read(document, model.settings)
        if counted_in is not None:
            model = without(model, bag_of(reading, model.settings), counted_in)
        found = explain(
            model,
            reading,
            self.scorer.calibration,
            document=document,
            rule=self.rule,
            label=label,
            top=self.n_reasons,
        )
        return found.reasons

    def top(
        self,
        label: str | None = None,
        n: int = 20,
        documents: Iterable[AnyDocument] = (),
        on_problem: OnProblem | None = None,
    ) -> "list[TopTerm]":
        """
        Return the terms that most speak for a class, the strongest first.

        Args:
            label: the class; None for each of them.
            n: how many terms of a class.
            documents: where the texts of these terms are looked for that the model
                does not keep; no more are read than needed.
            on_problem: told of each document that cannot be read; without it, the
                first is raised.

        Raises:
            UnknownClassError: the model has no such class.
            SourceError: a document cannot be read.
            TypeError: the label is no string, or the documents are a single one.
            ValueError: `n` is below 0.
        """
        from nbtext.arguments import count_of, documents_of
        from nbtext.scoring.top import top_terms
        from nbtext.store.texts import read_texts

        n = count_of("n", n, least=0)
        labels = self.model.classes if label is None else (self._class_of(label),)
        found = map(as_document, documents_of(documents))
        texts = read_texts(self.model.file) or ()
        return top_terms(self.scorer.arranged(), labels, n, texts, found, on_problem)

    def joint_log_likelihoods(
        self, documents: Sequence[Document]
    ) -> list[tuple[float, ...]]:
        """
        Return ln P(class, document) of documents, up to what is the same for all.

        It is neither calibrated, nor corrected, nor capped
        (`nbtext.scoring.EventModel.joint_log_likelihood`). Only text of records that
        have attributes too, which add up with a fitted score alone, is calibrated, and
        corrected if the model is (`nbtext.scoring.mixed`), but for that of a textbook's
        score.

        Args:
            documents: what to score.

        Returns:
            For each document, for each class, nats.

        Raises:
            SourceError: the model's pattern takes too long to search a document.
        """
        return self.scorer.joint_log_likelihoods(documents)

    def explain(
        self, document: AnyDocument, *, label: str | None = None, top: int | None = None
    ) -> "Explanation":
        """
        Say why a document is of a class: evidence that adds up to its score.

        Args:
            document: a raw message, a text, or what `read_documents` gives.
            label: the class to speak for; the most probable one if None.
            top: how many terms are told, the strongest ones; all of them if None.

        Raises:
            UnknownClassError: the model has no such class.
            SourceError: the model's pattern takes too long to search it.
            TypeError: the document is none, or the label no string.
            ValueError: `top` is below 0.
        """
        from nbtext.arguments import count_of
        from nbtext.scoring.explaining import explain
        from nbtext.tokens import read  # and not keys, which say nothing

        if top is not None:
            top = count_of("top", top, least=0)
        if label is not None:
            self._class_of(label)
        document = as_document(document)
        return explain(
            self.model,
            read(document, self.model.settings),
            self.scorer.calibration,
            document=document,
            rule=self.rule,
            label=label,
            top=top,
            says=self.scorer.log_odds,
        )

    def _class_of(self, label: str) -> str:
        """
        Return the name of a class as it is.

        Raises:
            UnknownClassError: the model has no such class.
            TypeError: the label is no string.
        """
        if not isinstance(label, str):
            message = f"a label is a str, not {type(label).__name__}"
            raise TypeError(message)
        if label not in self.model.classes:
            raise UnknownClassError(self.model.path, label, self.model.classes)
        return label

    def arrange(self, samples: Iterable[Document]) -> None:
        """
        Arrange the counts for the batch engine, which few documents have, too, then.

        Args:
            samples: documents that are classified by it before it is used: what it
                loads for their like, or works out once, is there then.
        """
        self.scorer.arrange(samples)

    @property
    def policy(self) -> "Policy":
        """Return how decisions are made."""
        from nbtext.policy import Policy

        return self._policy or self.model.policy or Policy()

    def deciding_by(self, policy: "Policy | None") -> "Classifier":
        """
        Return the same model, deciding by another policy.

        Args:
            policy: the policy; None for that which is kept in the model.

        Raises:
            SettingsError: it does not go with the classes.
        """
        return type(self)(self.model, policy=policy, n_reasons=self.n_reasons)

    def with_estimated_prior(
        self,
        batches: Iterable[list[Decision]],
        on_prior: "Callable[[EstimatedPrior], None]",
    ) -> Iterator[list[Decision]]:
        """
        Decide anew about a stream, by the prior that its documents speak for.

        Args:
            batches: what this model has decided.
            on_prior: told the prior, before the first batch is given out.
        """
        from nbtext.scoring.estimating import with_estimated_prior
        from nbtext.scoring.policy_rule import basis_of

        basis = basis_of(self.model)
        return with_estimated_prior(batches, basis, self.policy, on_prior)

    def _decide_by(self, policy: "Policy | None") -> None:
        """Decide by a policy, or if it is None by that of the model."""
        from nbtext.scoring.policy_rule import (
            basis_of,
            own_rule,
            prior_by_class,
            rule_of,
        )

        basis = basis_of(self.model)
        if policy is not None:
            self.rule = rule_of(policy, basis)
        elif self.model.policy is not None:
            self.rule = own_rule(self.model.policy, basis)
        self.prior = prior_by_class(self.policy, basis)

    def __reduce__(self) -> tuple[Any, ...]:
        """
        Return what opens the same model elsewhere: its counts stay in the file.

        It is scored as the file asks then, which may have learnt a class, unless it was
        opened to be scored otherwise.
        """
        model = self.model
        is_own = model.scoring == scoring_of(model.file, model.classes)
        scoring = None if is_own else model.scoring
        facts = (type(self), model.path, scoring, self._policy, self.n_reasons)
        return _opened, facts

    def opened_at(self, path: str) -> "Classifier":
        """
        Return the same, opened from a copy of the model's file.

        Raises:
            ModelFileError: it cannot be opened.
        """
        model = load_model(path, scoring=self.model.scoring)
        return type(self)(model, policy=self._policy, n_reasons=self.n_reasons)


def _opened(
    kind: type[Classifier],
    path: str,
    scoring: Scoring | None,
    policy: "Policy | None",
    n_reasons: int,
) -> Classifier:
    model = load_model(path, scoring=scoring)
    return kind(model, policy=policy, n_reasons=n_reasons)


def _heading_of(document: Document) -> "Heading | None":
    """Return who mail is from, and what it is about; None for what is no mail."""
    from nbtext.tokens import is_mail  # which loads the reader of mail in Python

    if not is_mail(document):
        return None
    from nbtext.mail import heading_of

    return heading_of(document.texts[0])
