"""
bogofilter's words for a probability: the verdict, and how it is printed.

Their form is that of bogofilter 1.2.5 (bogofilter(1) and bogofilter.cf), because mail
filters and mail programs look for it.
"""

from nbtext import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, Literal, TypeAlias

    Verdict: TypeAlias = Literal["Spam", "Ham", "Unsure"]

SPAM: "Final" = "spam"
HAM: "Final" = "ham"
"""The classes that a model must have, and no others."""

FIELD: "Final" = "X-Bogosity"

TESTS: "Final" = "bogofilter"
"""What the recipe of bogofilter(1) looks for: `^X-Bogosity: Spam, tests=bogofilter`."""

VERSION: "Final" = f"nbtext-{__version__}"
"""Who says so in truth."""

NOTHING_KNOWN: "Final" = 0.5
"""The spamicity of a message about which the model can say nothing."""

SPAM_CUTOFF: "Final" = 0.99
HAM_CUTOFF: "Final" = 0.45
"""Where verdicts begin, unless the user says otherwise: bogofilter's numbers."""

FILE: "Final" = "nbtext.nbt"
"""The model's name in a folder that is given as bogofilter's."""


def verdict_of(
    spamicity: float, spam: float = SPAM_CUTOFF, ham: float = HAM_CUTOFF
) -> "Verdict":
    """Return the verdict on a message of some spamicity, by cut-offs."""
    if spamicity >= spam:
        return "Spam"
    is_two_state = ham == 0
    return "Ham" if is_two_state or spamicity <= ham else "Unsure"


def value_of(verdict: "Verdict", spamicity: float) -> str:
    """Return what the field says of a message."""
    said = f"{verdict}, tests={TESTS}, spamicity={spamicity:.6f}"
    return f"{said}, version={VERSION}"
