"""
How counts become a score: settings that the model's file has beside those of reading.

They may differ from one use of a model to the next.
"""

from typing import Any, Final, NamedTuple, TypeAlias

from nbtext.errors import SettingsError
from nbtext.settings.columns import LEVELS
from nbtext.settings.plain import any_map, map_of, shown

Counting: TypeAlias = str
"""What a term that occurs n times counts: one of COUNTINGS."""

OCCURRENCES: Final = "occurrences"
ONCE: Final = "once"
LOG: Final = "log"
MIN: Final = "min:"

COUNTINGS: Final = (
    OCCURRENCES,
    ONCE,
    LOG,
    *(f"{MIN}{most}" for most in range(2, len(LEVELS) + 2)),
)
"""A term that occurs n times counts n, 1, ln(1 + n), or min(n, K)."""


Parameters: TypeAlias = tuple[tuple[str, float], ...]

SHARES: Final = "shares"
UNIFORM: Final = "uniform"
NO_PRIOR: Final = "none"
DIRICHLET: Final = "dirichlet:"
"""Class priors; a Dirichlet prior's number of documents follows its name."""

SKIP: Final = "skip"
UNK: Final = "unk"
"""What becomes of terms that a model does not know."""


class Scoring(NamedTuple):
    """
    How counts become a score: deciding settings, which may differ from file to file.

    Attributes:
        score: the name of the event model; nbtext.scoring.models has them.
        smoothing: what is added to every count, in the units of the model's formula.
        counting: what a term that occurs n times counts, one of COUNTINGS.
        parameters: the event model's own numbers, each with its name, sorted by name.
        calibrated: whether the posterior is fitted to held-out scores; otherwise it is
            the event model's own.
        class_prior: what a textbook's score takes for P(class): the "shares" of the
            documents, "dirichlet:A" with A documents more in each class, "uniform", or
            "none", which leaves it out.
        unknown: what a document's terms count that no class knows: nothing ("skip"), or
            as one term ("unk") that is learnt from those that were seen once.
        attributes: the numbers by which columns of values and of numbers are scored,
            each with its name, sorted by name; none where there are no such columns.
    """

    score: str
    smoothing: float
    counting: Counting = "occurrences"
    parameters: Parameters = ()
    calibrated: bool = True
    class_prior: str = SHARES
    unknown: str = SKIP
    attributes: Parameters = ()

    def attribute(self, name: str) -> float:
        """
        Return one of the numbers by which attributes are scored.

        Raises:
            KeyError: there is none of this name; check_scoring refuses such a scoring.
        """
        return dict(self.attributes)[name]

    def parameter(self, name: str) -> float:
        """
        Return one of the event model's own numbers.

        Raises:
            KeyError: there is none of this name; check_scoring refuses such a scoring.
        """
        return dict(self.parameters)[name]

    def with_parameters(self, **values: float) -> "Scoring":
        """Return the same scoring with other numbers under these names."""
        parameters = tuple(sorted((dict(self.parameters) | values).items()))
        return self._replace(parameters=parameters)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for msgpack and JSON."""
        plain = self._asdict() | {"parameters": dict(self.parameters)}
        if self.class_prior == SHARES:
            del plain["class_prior"]
        if self.unknown == SKIP:
            del plain["unknown"]
        if self.attributes:
            plain["attributes"] = dict(self.attributes)
        else:
            del plain["attributes"]
        return plain

    def of_scores(self) -> dict[str, Any]:
        """
        Return as plain values what decides scores of text.

        Calibration has no part in that, and attributes have none: what they say is
        added to what is made of the scores.
        """
        plain = self.as_dict()
        plain.pop("attributes", None)
        del plain["calibrated"]
        return plain

    @classmethod
    def from_dict(cls, plain: Any) -> "Scoring":
        """
        Rebuild a scoring from what `as_dict` gave, believing nothing.

        Whether there is an event model of this name is not known here.

        Raises:
            SettingsError: a part is missing, unknown, or out of its range.
        """
        found = map_of(plain, "the scoring", _KEYS, _KEYS_OF_SOME)
        numbers = {
            name: tuple(sorted(any_map(of, f"the {name} of the scoring").items()))
            for name, of in found.items()
            if name in ("parameters", "attributes")
        }
        scoring = cls(**(found | numbers))
        scoring.check()
        return scoring

    def check(self) -> None:
        """
        Refuse what cannot be scored with.

        Raises:
            SettingsError: a value is unknown or out of its range.
        """
        if not (type(self.score) is str and self.score.isidentifier()):
            message = f"the score is {shown(self.score)}, expected the name of one"
            raise SettingsError(message)
        check_counting(self.counting)
        if type(self.calibrated) is not bool:
            message = f"calibrated is {shown(self.calibrated)}, expected yes or no"
            raise SettingsError(message)
        check_class_prior(self.class_prior)
        if self.unknown not in (SKIP, UNK):
            message = f"unknown is {shown(self.unknown)}, expected {SKIP} or {UNK}"
            raise SettingsError(message)
        check_range("smoothing", self.smoothing, SMALLEST, LARGEST)
        for name, value in (*self.parameters, *self.attributes):
            if type(name) is not str or not name.isidentifier():
                message = f"a parameter is called {shown(name)}, expected a name"
                raise SettingsError(message)
            check_range(name, value, 0, LARGEST)


_KEYS: Final = ("score", "smoothing", "counting", "parameters", "calibrated")
_KEYS_OF_SOME: Final = ("class_prior", "unknown", "attributes")
"""The keys of a scoring as plain values; the latter are there if need be."""


def check_counting(counting: object) -> None:
    """
    Refuse what is no way to count occurrences.

    Raises:
        SettingsError: that is so.
    """
    if counting not in COUNTINGS:
        message = (
            f"counting is {counting!r:.80}, expected {OCCURRENCES}, {ONCE}, {LOG}, or "
            f"{COUNTINGS[3]} to {COUNTINGS[-1]}"
        )
        raise SettingsError(message)


def check_class_prior(class_prior: object) -> None:
    """
    Refuse what is no class prior.

    Raises:
        SettingsError: it is none.
    """
    if class_prior not in (SHARES, UNIFORM, NO_PRIOR):
        dirichlet_documents(class_prior)


def dirichlet_documents(class_prior: object) -> float:
    """
    Return how many documents a Dirichlet prior adds to each class.

    Raises:
        SettingsError: it is no class prior, or its number is out of its range.
    """
    number = 0.0
    if type(class_prior) is str and class_prior.startswith(DIRICHLET):
        try:
            number = float(class_prior.removeprefix(DIRICHLET))
        except ValueError:
            number = 0.0
    if not SMALLEST <= number <= LARGEST:  # nor is NaN
        message = (
            f"the class prior is {class_prior!r:.80}, expected {SHARES}, {UNIFORM}, "
            f"{NO_PRIOR}, or {DIRICHLET}A with A from {SMALLEST} to {LARGEST}"
        )
        raise SettingsError(message)
    return number


SMALLEST: Final = 1e-9
LARGEST: Final = 1e9
"""The range of what may be added."""


def check_range(name: str, value: object, least: float, most: float) -> None:
    """
    Refuse what is no number of a range.

    Raises:
        SettingsError: that is so.
    """
    if type(value) not in (float, int) or not least <= value <= most:  # type: ignore[operator]
        message = f"{name} is {shown(value)}, expected {least} to {most}"
        raise SettingsError(message)
