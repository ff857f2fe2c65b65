"""A model that is opened, documents that are read, and decisions about them."""

from __future__ import annotations

from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nbtext.arguments import AnyPath
    from nbtext.document import AnyDocument, Document, OnProblem
    from nbtext.learning import SettingsOverrides
    from nbtext.policy import Policy
    from nbtext.scoring import Decision
    from nbtext.scoring.combining import CombinedClassifier, Decider

from nbtext.api._shared import AUTO, numbered
from nbtext.arguments import (
    decider_of,
    documents_of,
    instance_of,
    is_listing,
    path_of,
    sources_of,
)
from nbtext.document import as_document, raise_unreadable
from nbtext.errors import SettingsError
from nbtext.keyring import name_secret_of
from nbtext.learning.overrides import DEFAULTS, checked_overrides
from nbtext.policy import checked_policy
from nbtext.scoring import Classifier, batches, load_model
from nbtext.scoring.classifying import MANY, readable_of
from nbtext.scoring.stored import FEW
from nbtext.sources import Options, documents


def load(
    path: AnyPath,
    *,
    overrides: SettingsOverrides = DEFAULTS,
    policy: Policy | None = None,
    keyed: AnyPath | None = None,
) -> Classifier:
    """
    Open a model, ready to classify.

    Args:
        path: the model file.
        overrides: how to score, where it differs from what the file asks for; those
            of what is counted are refused.
        policy: how decisions are made, if not by the policy that is kept in the model;
            `Policy()` is the one that decides for the most probable class.
        keyed: file of the secret of a model that was trained with one; this process
            remembers it for all models of that secret, once the model is open.

    Raises:
        ModelFileError: there is no model, or it is damaged.
        SecretError: the secret of the model is not there.
        SettingsError: the counts do not support the score, an override is of what is
            counted, a number of the policy is out of its range, it does not go with
            the classes, or `keyed` is given and the model is not keyed.
        TypeError: the policy, the overrides or a path is none.
    """
    if policy is not None:
        policy = checked_policy(policy)
    overrides = checked_overrides(overrides)
    secret = None if keyed is None else path_of(keyed)
    model = load_model(path_of(path))
    if overrides.are_for_training:
        message = (
            f"{model.path}: a trained model keeps what it counts; leave out "
            f"{', '.join(overrides.are_for_training)}, or train another model"
        )
        raise SettingsError(message)
    if secret is not None:
        if model.settings.secret is None:
            message = f"{model.path}: the model is not keyed; leave out keyed"
            raise SettingsError(message)
        name_secret_of(model.settings.secret, secret)
    model = model.scored_by(overrides.scoring(model.scoring))
    classifier = Classifier(model, policy=policy)
    classifier.scorer.patience = FEW  # who opens it here may have many, one by one
    return classifier


def combine(
    models: Sequence[Classifier], *, policy: Policy | None = None
) -> CombinedClassifier:
    """
    Let models of the same classes decide together, as if each saw another part.

    `Decision.parts` of what it decides has what each of them finds alone.

    Args:
        models: what `load` returned, two or more.
        policy: how decisions are made; None for the policy kept in the first model.

    Raises:
        SettingsError: one is there twice, their classes differ, some read columns of
            tables and some do not, or the policy asks for a share of false positives.
        TypeError: the models are no list of what `load` returned, or the policy is
            none.
    """
    from nbtext.scoring.combining import CombinedClassifier

    if isinstance(models, str | bytes | PathLike) or not is_listing(models):
        message = f"models: expected a list of what `load` returns, found {models!r}"
        raise TypeError(message)
    models = [decider_of("models", model, alone=True) for model in models]
    if policy is not None:
        policy = checked_policy(policy)
    return CombinedClassifier(models, policy=policy)


def classify(model: Decider, document: AnyDocument) -> Decision:
    """
    Decide about one document.

    Args:
        model: what `load` or `combine` returned; it has a policy, by which it decides.
        document: a raw message, a text, or what `read_documents` gives.

    Raises:
        SourceError: the model's pattern takes too long to search it.
        TypeError: the model is none that is open, or the document is none.
    """
    decider_of("model", model)
    return model.classify([as_document(document)])[0]


def joint_log_likelihood(model: Classifier, document: AnyDocument) -> dict[str, float]:
    """
    Return ln P(class, document) of each class, as the event model has it.

    It is neither calibrated nor capped. Of a textbook's score, such as `sum`, it is
    exact; of others it is their score, up to what is the same for all classes.

    Args:
        model: what `load` returned.
        document: a raw message, a text, or what `read_documents` gives.

    Returns:
        Nats, by class.

    Raises:
        SourceError: the model's pattern takes too long to search it.
        TypeError: the model is none that is open, or several, or the document is none.
    """
    decider_of("model", model, alone=True)
    (values,) = model.joint_log_likelihoods([as_document(document)])
    return dict(zip(model.model.classes, values, strict=True))


def classify_all(
    model: Decider,
    documents: Iterable[AnyDocument],
    *,
    on_problem: OnProblem | None = None,
) -> Iterator[Decision]:
    """
    Decide about many documents, in their order.

    Decisions have the names of their documents; raw messages and texts are called 1, 2,
    3, ...

    Args:
        model: what `load` or `combine` returned; it has a policy, by which it decides.
        documents: raw messages, texts, or what `read_documents` gives.
        on_problem: called with each document that the model's pattern takes too long to
            search, which has no decision; without it, the first one is raised.

    Raises:
        SourceError: the model's pattern takes too long to search a document.
        TypeError: the documents are a single one, or the model is none that is open.
    """
    decider_of("model", model)
    named = numbered(documents_of(documents))
    act, tell = model.classify, on_problem or raise_unreadable
    named_batches = iter(lambda: [*islice(named, MANY)], [])
    return (
        decision
        for batch in named_batches
        for decisions in readable_of(batch, act, tell)
        for decision in decisions
    )


def read_documents(
    sources: Sequence[AnyPath],
    *,
    options: Options = AUTO,
    model: Decider | None = None,
    on_problem: OnProblem | None = None,
) -> Iterator[Document]:
    """
    Read documents for `classify_all`, `learn` or `forget`, one after the other.

    Args:
        sources: as on the command line: `inbox/`, `more.mbox`, `rows.csv`.
        options: what the sources are, if not what they look like.
        model: what they are for: tables are read by the columns it was trained on.
        on_problem: told of each document that cannot be read, and of notes; without
            it, the first that cannot be read is raised.

    Raises:
        SourceError: a document cannot be read.
        SettingsError: a source is empty, the standard input is named twice, or the
            model reads other columns.
        TypeError: the sources are one string, or none, the options are none, or the
            model is not open.
    """
    sources, options = sources_of(sources), instance_of("options", options, Options)
    if model is not None:
        fields = decider_of("model", model).fields
        options = options.for_model(fields, model.classes)
    items = documents(sources, options, labelled=False)
    one_each = batches(items, options.max_bytes, on_problem or raise_unreadable, many=1)
    return (document for batch in one_each for document in batch)
