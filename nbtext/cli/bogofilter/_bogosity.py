"""
bogofilter's words for a decision: the verdict of a probability, and how it is printed.

Decisions and cut-offs go in, verdicts and lines come out, in the words of
`nbtext.cli.bogofilter._words`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from nbtext.cli.bogofilter._words import (
    HAM,
    HAM_CUTOFF,
    NOTHING_KNOWN,
    SPAM,
    SPAM_CUTOFF,
    VERSION,
    value_of,
    verdict_of,
)
from nbtext.errors import SettingsError
from nbtext.scoring import Decision

if TYPE_CHECKING:
    from nbtext.cli.bogofilter._words import Verdict


class Cutoffs(NamedTuple):
    """
    Where verdicts begin; the defaults are bogofilter's.

    Attributes:
        spam: from this spamicity on a message is spam.
        ham: up to this one it is ham. There is no doubt between them if this is zero,
            or not below the other.
    """

    spam: float = SPAM_CUTOFF
    ham: float = HAM_CUTOFF


class Bogosity(NamedTuple):
    """
    What bogofilter would say of a message.

    Attributes:
        name: the message's.
        verdict: what it is.
        spamicity: the probability that it is spam, from 0 to 1, never 1.
    """

    name: str
    verdict: "Verdict"
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
    return Bogosity(decision.name, verdict_of(spamicity, *cutoffs), spamicity)


def no_idea(name: str, cutoffs: Cutoffs) -> Bogosity:
    """Return the verdict on a message where no model knows both classes."""
    return Bogosity(name, verdict_of(NOTHING_KNOWN, *cutoffs), NOTHING_KNOWN)


def header_value(one: Bogosity) -> str:
    """Return what the field says of a message."""
    return value_of(one.verdict, one.spamicity)


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
