"""`nbtext eval`: measure a model, or what these documents would make of one."""

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from nbtext.cli._options import (
    json_option,
    model_option,
    quiet_option,
    reading_options,
    rereadable,
    scoring_options,
    source_options,
    training_options,
    unsure_option,
    wishes,
)
from nbtext.cli._report import as_json as json_of
from nbtext.cli._report import counted, evaluation_lines, evaluation_text, readable
from nbtext.cli._status import outcome
from nbtext.cli._terminal import (
    complain,
    is_watched,
    progress,
    show,
    to_stderr,
    to_stdout,
)
from nbtext.errors import SourceError

if TYPE_CHECKING:
    from nbtext.counts.counting import Account
    from nbtext.evaluation.evaluate import Evaluation
    from nbtext.sources import Options


@click.command()
@click.argument("sources", nargs=-1, required=True)
@click.option(
    "--folds",
    type=click.IntRange(2, 1000),
    metavar="N",
    help="Cross-validate: N models, each scoring what it has not seen. No model file "
    "is read.",
)
@click.option(
    "--positive",
    metavar="CLASS",
    help="Of two classes the one that is looked for [default: spam].",
)
@unsure_option
@model_option
@source_options
@training_options
@scoring_options
@json_option
@quiet_option
def command(
    sources: tuple[str, ...],
    folds: int | None,
    positive: str | None,
    threshold: float,
    model: str,
    format_: str,
    label_column: str | None,
    text_columns: tuple[str, ...],
    id_column: str | None,
    max_bytes: int,
    ngrams: int | None,
    alphabet: str | None,
    score: str | None,
    smoothing: float | None,
    count_: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """
    Measure how good a model is on labelled documents.

    \b
    nbtext eval spam/ ham/                the model, on documents it has not seen
    nbtext eval --folds 10 spam/ ham/     ten models, each on a tenth: no model needed
    nbtext eval --json --folds 10 mail/ | jq .two_class.lam_percent

    Prints accuracy, precision, recall, F1, log-loss, Brier score, calibration error
    and, for two classes, the measures of the TREC spam track. docs/measures.md defines
    each of them.
    """  # noqa: D301  click wants a real backspace
    from nbtext.scoring.batch_opening import keep_memory

    keep_memory()
    options = reading_options(format_, label_column, text_columns, id_column, max_bytes)
    if folds is None and (ngrams is not None or alphabet is not None):
        raise click.UsageError("--ngrams and --alphabet go with --folds or `train`")
    if positive is not None:
        positive = readable(positive)  # as sources read labels
    with progress(quiet=quiet) as advance:
        if folds is None:
            asked = (score, smoothing, count_)
            result, account = of_model(
                sources, options, model, asked, threshold, positive, quiet=quiet
            )
        else:
            from nbtext.evaluation.cross_validate import cross_validate
            from nbtext.sources import labels

            known = labels(sources, options)
            n_classes = None if known is None else len(known)
            checked = cross_validate(
                rereadable(sources, options),
                folds,
                n_classes=n_classes,
                adjust=wishes(format_, ngrams, alphabet, score),
                scoring=lambda default: default.changed(score, smoothing, count_),
                max_bytes=max_bytes,
                progress=advance,
                complain=partial(complain, quiet=quiet, is_last=False),
            )
            result, account = of_folds(checked, threshold, positive), checked.account
    if folds is None:
        complain(account, quiet=quiet)
    if not quiet and result.unknown_label:
        to_stderr(
            "note: the model does not know the label of "
            f"{counted(result.unknown_label, 'document')}; each counts as an error"
        )
    if as_json:
        to_stdout([json_of(result.as_dict())])
    elif is_watched(sys.stdout):
        from nbtext.cli._tables import evaluation_tables

        show(evaluation_tables(result, evaluation_lines(result)))
    else:
        to_stdout(evaluation_text(result))
    return outcome(account.skipped)


def of_model(
    sources: tuple[str, ...],
    options: "Options",
    path: str,
    asked: tuple[str | None, float | None, str | None],
    threshold: float,
    positive: str | None,
    *,
    quiet: bool,
) -> "tuple[Evaluation, Account]":
    """Classify labelled documents and compare."""
    import numpy as np

    from nbtext.counts.counting import Account
    from nbtext.evaluation.evaluate import evaluate
    from nbtext.scoring.classifying import Classifier, classify
    from nbtext.scoring.model import load_model
    from nbtext.sources import documents

    opened = load_model(path)
    scoring = opened.scoring.changed(*asked)
    if scoring != opened.scoring:
        opened = load_model(path, scoring=scoring)
    for note in () if quiet else opened.notes:
        to_stderr(f"note: {note}")
    account = Account()
    places = {name: place for place, name in enumerate(opened.classes)}
    rows: list[tuple[int, int, tuple[float, ...]]] = []
    for batch in classify(
        documents(sources, options, labelled=True),
        Classifier(opened),
        threshold=threshold,
        max_bytes=options.max_bytes,
        complain=account.remark,
    ):
        for one in batch:
            truth = places.get(one.expected or "", -1)
            decided = -1 if one.label is None else places[one.label]
            rows.append((truth, decided, one.log_posterior))
            if one.truncated:
                account.truncated.append(one.name)
    if not rows and account.skipped:
        complain(account, quiet=True, is_last=False)
        raise account.skipped[0].error
    if not rows:
        message = f"{' '.join(sources)}: no document there; name folders or files"
        raise SourceError(message)
    result = evaluate(
        np.array([truth for truth, _, _ in rows]),
        np.array([posterior for _, _, posterior in rows]),
        np.array([decided for _, decided, _ in rows]),
        opened.classes,
        positive=positive,
    )
    return result, account


def of_folds(checked: Any, threshold: float, positive: str | None) -> "Evaluation":
    """Decide about each document as its fold's model said, and compare."""
    import numpy as np

    from nbtext.evaluation.evaluate import evaluate
    from nbtext.scoring.decide import CERTAIN

    best = checked.log_posterior.argmax(axis=1)
    probability = np.minimum(np.exp(checked.log_posterior.max(axis=1)), CERTAIN)
    is_sure = (checked.known > 0) & (probability >= min(threshold, CERTAIN))
    return evaluate(
        checked.truth,
        checked.log_posterior,
        np.where(is_sure, best, -1),
        checked.classes,
        positive=positive,
    )
