"""
Options of what is counted, and of how documents are scored.

They reach a command as one value: `@scoring_options` and `@training_options` give it
`overrides`. An option stands here and
in `SettingsOverrides`, and nowhere else.
"""

import click

from nbtext.cli._help import LateHelp
from nbtext.cli._option_groups import option_group
from nbtext.cli._values import names_of, parameter_of
from nbtext.errors import SettingsError
from nbtext.learning import SettingsOverrides
from nbtext.scoring import event_models
from nbtext.scoring.models.parameters import BY_KIND
from nbtext.scoring.models.registry import (
    DEFAULT_FOR_MAIL,
    DEFAULT_FOR_MORE,
    DEFAULT_FOR_TEXT,
    MODULES,
    rival_of,
)
from nbtext.settings.columns import LEVELS
from nbtext.settings.scoring import (
    COUNTINGS,
    NO_PRIOR,
    SHARES,
    SKIP,
    UNIFORM,
    UNK,
    dirichlet_documents,
)


def _class_prior_of(
    _context: click.Context, _option: click.Parameter, prior: str | None
) -> str | None:
    """Refuse what is no class prior."""
    if prior is not None and prior not in (SHARES, UNIFORM, NO_PRIOR):
        try:
            dirichlet_documents(prior)
        except SettingsError as error:
            raise click.BadParameter(f"{error}.") from error
    return prior


_SCORING = (
    click.option(
        "--score",
        cls=LateHelp,
        type=click.Choice(list(MODULES)),
        tell=lambda: (
            "How terms make a score: "
            + "; ".join(f"{model.name}, {model.about}" for model in event_models())
            + f" [default: {DEFAULT_FOR_MAIL} for two classes of mail, "
            f"{DEFAULT_FOR_TEXT} of text ({rival_of(DEFAULT_FOR_TEXT)} where it is "
            f"found to be better), {DEFAULT_FOR_MORE} for more]."
        ),
    ),
    click.option(
        "--smoothing",
        cls=LateHelp,
        type=click.FloatRange(1e-9, 1e9),
        metavar="A",
        tell=lambda: (
            "Added to every count [default: "
            + ", ".join(f"{model.smoothing:g} {model.name}" for model in event_models())
            + "]. Training chooses that of "
            + ", ".join(model.name for model in event_models() if model.smoothings)
            + " where it is corrected, unless another than this is given."
        ),
    ),
    click.option(
        "--count",
        "counting",
        type=click.Choice(COUNTINGS),
        metavar="HOW",
        help="What a token that occurs n times counts: n (occurrences), 1 (once; by "
        "mean, weighted, sum and poisson), or by sum alone ln(1 + n) (log) or "
        f"min(n, K) ({COUNTINGS[3]} to {COUNTINGS[-1]}) [default: occurrences].",
    ),
    click.option(
        "--calibrate",
        is_flag=True,
        help="Fit a textbook's posterior, such as that of sum, to held-out documents; "
        "other scores always are.",
    ),
    click.option(
        "--class-prior",
        metavar="PRIOR",
        callback=_class_prior_of,
        help="What a textbook's score takes for the probability of a class before any "
        "token: its share of the documents (shares), the same for all (uniform), its "
        "share with A documents more in each class (dirichlet:A), or nothing (none) "
        "[default: shares].",
    ),
    click.option(
        "--unknown",
        type=click.Choice([SKIP, UNK]),
        help="What tokens count that the model does not know: nothing (skip), or, in "
        "the scores sum and poisson, as one term whose probability is learnt from "
        "those that were seen once (unk) [default: skip].",
    ),
    click.option(
        "--levels",
        type=click.IntRange(2, len(LEVELS) + 2),
        metavar="K",
        help="How many numbers of occurrences the kary score tells apart: none, once, "
        f"... and K - 1 or more; from 2 to {len(LEVELS) + 2}, else 3.",
    ),
    click.option(
        "--category-smoothing",
        type=click.FloatRange(0, 1e9),
        metavar="L",
        help="Added to the count of each value of a category "
        f"[default: {BY_KIND['value'].default:g}].",
    ),
    click.option(
        "--variance-smoothing",
        type=click.FloatRange(0, 1),
        metavar="SHARE",
        help="The share of the largest variance of any column of numbers that is added "
        f"to all [default: {BY_KIND['number'].default:g}].",
    ),
)

scoring_options = option_group("overrides", SettingsOverrides, *_SCORING)
"""How documents are scored: `overrides`."""

training_options = option_group(
    "overrides",
    SettingsOverrides,
    click.option(
        "--ngrams",
        type=click.IntRange(1, 2),
        metavar="N",
        help="1 counts single tokens alone, 2 pairs of neighbours too [default: 2].",
    ),
    click.option(
        "--byte-ngrams/--no-byte-ngrams",
        default=True,
        help="Whether to count all runs of five bytes of text, too; they are not "
        "counted of mail, nor with --ngrams 1 or --pattern.",
    ),
    click.option(
        "--threes/--no-threes",
        default=None,
        help="Whether to count runs of three characters beside those of five bytes, at "
        "the beginning of a text and within words [default: with three classes and "
        "more that have few documents, most of them short and nearly ASCII].",
    ),
    click.option(
        "--alphabet",
        type=click.Choice(["words", "marks"]),
        help="Tokens of the text: words and emoji, or punctuation and symbols besides "
        "[default: marks].",
    ),
    click.option(
        "--pattern",
        metavar="REGEX",
        help="Tokens of the text are the matches of this regular expression, or of its "
        "one group; of mail, in the body.",
    ),
    *_SCORING,
    click.option(
        "--parameter",
        "parameters",
        multiple=True,
        type=parameter_of,
        metavar="NAME=X",
        help="A number of the score's own, such as min_evidence=1; may be repeated.",
    ),
    click.option(
        "--views",
        type=names_of,
        metavar="NAME,...",
        default="",
        help="Count only these views; `info` names those of a model.",
    ),
    click.option(
        "--no-correction",
        "correction",
        flag_value=False,
        type=bool,
        default=True,
        help="Keep pure counts: learn no correction of the scores beside them.",
    ),
)
"""What is counted, and how documents are scored: `overrides`."""
