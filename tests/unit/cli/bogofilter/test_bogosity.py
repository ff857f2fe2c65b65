"""A probability and cut-offs give bogofilter's verdict, in bogofilter's words."""

from math import log

import pytest

from nbtext import __version__
from nbtext.cli.bogofilter._bogosity import (
    Bogosity,
    Cutoffs,
    bogosity,
    check_classes,
    figure,
    header_value,
    log_value,
    no_idea,
    terse,
    terse_for_scripts,
)
from nbtext.errors import SettingsError
from nbtext.scoring.decide import CERTAIN, Decision
from tests import build


def decision(spamicity: float, *, known: int = 1) -> Decision:
    label = "spam" if spamicity > 0.5 else "ham"
    posterior = (log(1 - spamicity), log(spamicity))
    return build.decision(
        label, log_posterior=posterior, printed=posterior, known=known
    )


@pytest.mark.parametrize(
    ("spamicity", "cutoffs", "expected"),
    [
        (0.995, Cutoffs(), "Spam"),
        (0.98, Cutoffs(), "Unsure"),
        (0.46, Cutoffs(), "Unsure"),
        (0.44, Cutoffs(), "Ham"),
        (0.6, Cutoffs(0.5, 0.3), "Spam"),
        (0.98, Cutoffs(ham=0.0), "Ham"),
        (0.55, Cutoffs(0.6, 0.6), "Ham"),
        (0.65, Cutoffs(0.6, 0.6), "Spam"),
        (0.55, Cutoffs(0.5, 0.6), "Spam"),
    ],
)
def test_cutoffs_decide(spamicity: float, cutoffs: Cutoffs, expected: str) -> None:
    assert bogosity(decision(spamicity), cutoffs).verdict == expected


def test_at_a_cutoff_it_is_decided() -> None:
    half = decision(0.5)

    assert bogosity(half, Cutoffs(0.5, 0.1)).verdict == "Spam"
    assert bogosity(half, Cutoffs(0.9, 0.5)).verdict == "Ham"


def test_a_message_of_which_nothing_is_known_is_unsure_whatever_is_usual() -> None:
    nothing = bogosity(decision(0.0001, known=0), Cutoffs())

    assert nothing == Bogosity("-", "Unsure", 0.5)
    assert nothing == no_idea("-", Cutoffs())
    assert no_idea("-", Cutoffs(0.6, 0.6)).verdict == "Ham"


def test_no_spamicity_is_certain() -> None:
    certain = build.decision(log_posterior=(-99.0, 0.0), printed=(-99.0, 0.0))

    assert bogosity(certain, Cutoffs()).spamicity == CERTAIN
    assert bogosity(certain, Cutoffs(spam=1.0)).verdict == "Unsure"


def test_the_forms_are_those_of_bogofilter() -> None:
    one = Bogosity("-", "Spam", 0.9999876)

    assert header_value(one) == (
        f"Spam, tests=bogofilter, spamicity=0.999988, version=nbtext-{__version__}"
    )
    assert log_value(one) == f"Spam, spamicity=0.999988, version=nbtext-{__version__}"
    assert terse(one) == "S 0.999988"
    assert terse_for_scripts(one) == "S 0.999988"
    assert terse_for_scripts(Bogosity("-", "Ham", 4.66319e-08)) == "H 4.66319e-08"
    assert terse_for_scripts(Bogosity("-", "Unsure", 0.52)) == "U 0.52"
    assert figure(one) == "0.9999876000000000"


@pytest.mark.parametrize("classes", [(), ("ham",), ("spam",), ("ham", "spam")])
def test_a_model_of_spam_and_ham_will_do(classes: tuple[str, ...]) -> None:
    check_classes("m.nbt", classes)


@pytest.mark.parametrize("classes", [("work",), ("ham", "list", "spam"), ("Spam",)])
def test_a_model_of_other_classes_is_refused(classes: tuple[str, ...]) -> None:
    with pytest.raises(SettingsError, match=r"m\.nbt: .*--model"):
        check_classes("m.nbt", classes)
