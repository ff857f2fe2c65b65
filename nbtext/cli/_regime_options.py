"""Which documents are learnt: the options of commands that may leave some out."""

from typing import Final

import click

from nbtext.cli._option_groups import option_group
from nbtext.learning.regimes import REGIMES, regime_of

REGIME_OPTIONS: Final = (
    click.option(
        "--regime",
        type=click.Choice(REGIMES),
        help="Which documents are learnt: everything, those that the model as it is "
        "then misjudges, or these and near errors [default: everything].",
    ),
    click.option(
        "--margin",
        type=click.FloatRange(min=0),
        metavar="NATS",
        help="Of near errors, how far ahead of the next class the right one is at the "
        "most, in nats of log odds [default: 3].",
    ),
)
"""Options of every command that may leave documents out."""

regime_options = option_group("regime", regime_of, *REGIME_OPTIONS)
