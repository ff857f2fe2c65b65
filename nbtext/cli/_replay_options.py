"""The options of a replay, as one value."""

from typing import Final, NamedTuple

import click

from nbtext.cli._option_groups import option_group
from nbtext.cli._regime_options import REGIME_OPTIONS
from nbtext.evaluation.stream import ORDERS, Feedback, OrderName, feedback_of
from nbtext.learning.regimes import (
    EVERYTHING,
    MARGIN,
    Regime,
    RegimeName,
    regime_of,
)


class ReplayOptions(NamedTuple):
    """How documents are replayed, if they are."""

    is_asked_for: bool
    order: OrderName
    feedback: Feedback
    regime: Regime


DEFAULTS: Final = {
    "order": "name",
    "feedback": "immediate",
    "regime": EVERYTHING.name,
    "margin": MARGIN,
}


def _gathered(
    *,
    is_replay: bool,
    order: OrderName | None,
    feedback: str | None,
    regime: RegimeName | None,
    margin: float | None,
) -> ReplayOptions:
    """
    Return the options as one value.

    Raises:
        click.UsageError: one is given that has no use without another.
        SettingsError: the feedback is none, or the margin without near errors.
    """
    given = {"order": order, "feedback": feedback, "regime": regime, "margin": margin}
    for name, value in given.items():
        if not is_replay and value not in (None, DEFAULTS[name]):
            message = f"--{name} is about a replay; add --replay."
            raise click.UsageError(message)
    return ReplayOptions(
        is_replay,
        order or "name",
        feedback_of(feedback or "immediate"),
        regime_of(regime, margin),
    )


REFUSED: Final = {
    "folds": "each document is judged once, by what came before it",
    "seen": "what the model has counted is left out of a replay, always",
    "against": "the models of two replays change with each document, and errors that "
    "follow from one another are no independent trials, as McNemar's test wants; "
    "replay twice, and compare the figures and their intervals",
    "errors": "the models that misjudged them are gone when they would be explained",
    "prior estimate": "it is estimated from all documents, and most are still to come",
    "jobs": "each document waits for the one before it",
}
"""What does not go with --replay, and why."""


def check_replay(given: dict[str, bool], model: tuple[str, ...]) -> None:
    """
    Refuse what has no meaning in a replay.

    Raises:
        click.UsageError: it was asked for.
    """
    for name, is_given in given.items():
        if is_given:
            message = f"--{name} does not go with --replay: {REFUSED[name]}."
            raise click.UsageError(message)
    if len(model) > 1:
        message = "--replay begins with one model, and there are several."
        raise click.UsageError(message)


replay_options = option_group(
    "replay",
    _gathered,
    click.option(
        "--replay",
        "is_replay",
        is_flag=True,
        help="Take the documents one after the other: each is classified, then learnt. "
        "Begins with nothing, or with the model that -m names; nothing is written.",
    ),
    click.option(
        "--order",
        type=click.Choice(ORDERS),
        help="In which order they come: by file name, by the date of mail, or as the "
        "sources, such as a TREC index, have them [default: name].",
    ),
    click.option(
        "--feedback",
        metavar="WHEN",
        help="When labels are told: immediate, delay:N (N documents later), or first:N "
        "(of the first N alone) [default: immediate].",
    ),
    *REGIME_OPTIONS,
)
