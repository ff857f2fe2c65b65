"""
bogofilter's words for a decision: the verdict of a probability, and how it is printed.

Decisions and cut-offs go in, verdicts and lines come out. Their form is that of
bogofilter 1.2.5 (bogofilter(1) and bogofilter.cf), because mail filters and mail
programs look for it.
"""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from nbtext import __version__
from nbtext.errors import SettingsError
from nbtext.scoring import Decision

SPAM: Final = "spam"
HAM: Final = "ham"
"""The classes that a model must have, and no others."""

FIELD: Final = "X-Bogosity"

TESTS: Final = "bogofilter"
"""What the recipe of bogofilter(1) looks for: `^X-Bogosity: Spam, tests=bogofilter`."""

VERSION: Final = f"nbtext-{__version__}"
"""Who says so in truth."""

NOTHING_KNOWN: Final = 0.5
"""The spamicity of a message about which the model can say nothing."""

Verdict: TypeAlias = Literal["Spam", "Ham", "Unsure"]


class Cutoffs(NamedTuple):
    """
    Where verdicts begin; the defaults are bogofilter's.

    Attributes:
        spam: from this spamicity on a message is spam.
        ham: up to this one it is ham. There is no doubt between them if this is zero,
            or not below the other.
    """

    spam: float = 0.99
    ham: float = 0.45


class Bogosity(NamedTuple):
    """
    What bogofilter would say of a message.

    Attributes:
        name: the message's.
        verdict: what it is.
        spamicity: the probability that it is spam, from 0 to 1, never 1.
    """

    name: str
    verdict: Verdict
    spamicity: float


def check_classes(path: str, classes: Sequence[str]) -> None:
    """
    Refuse a model that is not one of spam and ham.

    A class that has learnt nothing yet may be missing.

    Raises:
        SettingsError: there is another class.

    """
    if not set(classes) <= {SPAM, HAM}:
        message = (
            f"{path}: a model of the classes ham and spam was expected, and one of "
            f"{', '.join(classes)} found; name another with --model"
        )
        raise SettingsError(message)


def bogosity(decision: Decision, cutoffs: Cutoffs) -> Bogosity:
    """Return the verdict on a message that a model of spam and ham has classified."""
    spamicity = NOTHING_KNOWN
    if decision.known:
        spamicity = decision.probability_of(SPAM)
    return Bogosity(decision.name, _verdict(spamicity, cutoffs), spamicity)


def no_idea(name: str, cutoffs: Cutoffs) -> Bogosity:
    """Return the verdict on a message where no model knows both classes."""
    return Bogosity(name, _verdict(NOTHING_KNOWN, cutoffs), NOTHING_KNOWN)


def _verdict(spamicity: float, cutoffs: Cutoffs) -> Verdict:
    if spamicity >= cutoffs.spam:
        return "Spam"
    is_two_state = cutoffs.ham == 0
    return "Ham" if is_two_state or spamicity <= cutoffs.ham else "Unsure"


def header_value(one: Bogosity) -> str:
    """Return what the field says of a message."""
    said = f"{one.verdict}, tests={TESTS}, spamicity={one.spamicity:.6f}"
    return f"{said}, version={VERSION}"


def log_value(one: Bogosity) -> str:
    """Return what the system's log says of it."""
    return f"{one.verdict}, spamicity={one.spamicity:.6f}, version={VERSION}"


def terse(one: Bogosity) -> str:
    """Return what `-t` prints: a letter and the spamicity."""
    return f"{one.verdict[0]} {one.spamicity:.6f}"


def terse_for_scripts(one: Bogosity) -> str:
    """Return what `-T` prints: the same, with six significant digits."""
    return f"{one.verdict[0]} {one.spamicity:g}"


def figure(one: Bogosity) -> str:
    """Return what `-TT` prints: the spamicity, to 16 places."""
    return f"{one.spamicity:.16f}"
