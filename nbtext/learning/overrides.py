"""
What the user wants otherwise than the default settings.

The defaults follow from the documents and the number of classes. So the differences are
kept apart, and applied once the defaults are known. A value that is the default anyway
changes nothing.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

if TYPE_CHECKING:
    from nbtext.policy import Policy

from nbtext import wording
from nbtext.arguments import instance_of
from nbtext.errors import SettingsError
from nbtext.scoring import changed
from nbtext.scoring.models.registry import (
    check_levels,
    counting_by,
    for_classes,
    scoring_for,
    scoring_of,
    suited_to,
    with_attributes,
)
from nbtext.settings.reading import Settings
from nbtext.settings.scoring import SHARES, Counting, Scoring
from nbtext.settings.views import THREES_BYTES, Alphabet, Field

ATTRIBUTE_FIELDS: Final = ("category_smoothing", "variance_smoothing")
"""The overrides by which attributes are scored, as a scoring calls them."""

SCORING_FIELDS: Final = (
    "score", "smoothing", "counting", "calibrate", "class_prior", "levels",
    "unknown",
    *ATTRIBUTE_FIELDS,
    "parameters",
)  # fmt: skip
"""The overrides that a trained model can be opened with, too."""


SWITCHES: Final = ("byte_ngrams", "ledger", "calibrate", "correction", "texts")
"""The overrides that are True or False."""


NUMBERS: Final = (
    "ngrams", "smoothing", "levels", "category_smoothing", "variance_smoothing",
)  # fmt: skip
"""Those that are numbers, as which Python would take True for 1."""


class SettingsOverrides(NamedTuple):
    """
    Settings that differ from the default ones; None, or True, leaves the default.

    Attributes:
        alphabet: the tokens of the text: "words", or words and punctuation "marks".
        pattern: a regular expression whose matches are the tokens of the text, in place
            of an alphabet; of mail, those of the body.
        ngrams: 1 for single tokens alone, 2 for pairs of neighbours too.
        byte_ngrams: whether byte n-grams of the text are counted where they do good.
        threes: whether runs of three characters are counted beside byte n-grams; None
            for where classes have few documents.
        ledger: whether the model remembers which documents it has counted.
        score: the name of an event model.
        smoothing: what is added to every count.
        counting: what a token that occurs n times counts: n ("occurrences"), 1
            ("once"), ln(1 + n) ("log"), or min(n, K) ("min:2" to "min:9").
        calibrate: whether a textbook's score is calibrated, too.
        class_prior: what a textbook's score takes for P(class): "shares", "uniform",
            "dirichlet:A" with A documents more in each class, or "none".
        unknown: what tokens count that the model does not know: nothing ("skip"), or
            as one term ("unk") that is learnt from those seen once.
        levels: how many numbers of occurrences the K-ary score tells apart.
        category_smoothing: what is added to the count of every value of a category.
        variance_smoothing: which share of the largest variance of any column of numbers
            is added to the variances of all.
        parameters: numbers that an event model has of its own, each with its name.
        views: the views that are counted, by name; all of them if empty.
        correction: whether a correction may be made beside the counts.
        texts: whether the model keeps texts of terms; a keyed one never does.
        fields: the columns of tables that are read, and what they hold. `train` and
            `evaluate_folds` take them from their options.
        guessed: returns those that were guessed of the first documents, if none are
            named; called when these have been read.
        secret: the fingerprint of a secret (`nbtext.keyring.make_secret`) that keys and
            digests are made with. `train` takes it from its argument `keyed`.
    """

    alphabet: Alphabet | None = None
    pattern: str | None = None
    ngrams: int | None = None
    byte_ngrams: bool = True
    threes: bool | None = None
    ledger: bool = True
    score: str | None = None
    smoothing: float | None = None
    counting: Counting | None = None
    calibrate: bool = False
    class_prior: str | None = None
    levels: int | None = None
    unknown: str | None = None
    category_smoothing: float | None = None
    variance_smoothing: float | None = None
    parameters: tuple[tuple[str, float], ...] = ()
    views: tuple[str, ...] = ()
    correction: bool = True
    texts: bool = True
    fields: tuple[Field, ...] = ()
    guessed: Callable[[], tuple[Field, ...]] | None = None
    secret: str | None = None

    @property
    def are_for_training(self) -> tuple[str, ...]:
        """The fields that change what is counted; a trained model keeps that."""
        return tuple(
            name
            for name in self._fields
            if name not in SCORING_FIELDS
            and getattr(self, name) != getattr(DEFAULTS, name)
        )

    def __repr__(self) -> str:
        """Say what differs from the defaults."""
        fields = zip(self._fields, self, strict=True)
        changed_ones = (
            f"{name}={value!r}"
            for name, value in fields
            if value != self._field_defaults[name]
        )
        return f"SettingsOverrides({', '.join(changed_ones)})"

    def check(self) -> None:
        """
        Refuse values whose types would do something else than what was meant.

        Other values are checked where they are used: those come from users, too.

        Raises:
            TypeError: one should be True or False, a name, names, or pairs.
        """
        for name in SWITCHES:
            if not isinstance(value := getattr(self, name), bool):
                _refuse(name, "True or False", value)
        if not isinstance(self.threes, bool | None):
            _refuse("threes", "True, False or None", self.threes)
        for name in NUMBERS:
            if isinstance(value := getattr(self, name), bool):
                _refuse(name, "a number", value)
        for name in ("score", "alphabet", "counting"):
            if not isinstance(value := getattr(self, name), str | None):
                _refuse(name, "a str", value)
        if not _are(str, self.views):
            _refuse("views", "a tuple of names, such as ('body',)", self.views)
        if not _are(Field, self.fields):
            _refuse("fields", "none; `Options` names columns", self.fields)
        if not (self.guessed is None or callable(self.guessed)):
            _refuse("guessed", "none; `Options` guesses columns", self.guessed)
        if not (_are(tuple, self.parameters) and all(map(_is_pair, self.parameters))):
            expected = "pairs of a name and a number, such as (('strength', 1.0),)"
            _refuse("parameters", expected, self.parameters)

    def settings(self, default: Settings) -> Settings:
        """
        Return default settings, changed.

        Raises:
            SettingsError: a value is unknown or out of its range, the pattern cannot be
                used, or an alphabet is named besides.
        """
        views, alphabet, pattern = default.views, self.alphabet, None
        if self.pattern is not None:
            if alphabet is not None:
                one, other = wording.named("pattern"), wording.named("alphabet")
                message = f"a pattern ({one}) stands in place of {other}"
                raise SettingsError(message)
            from nbtext.tokens.pattern import new_pattern  # few models have one

            alphabet, pattern = "pattern", new_pattern(self.pattern)
        if self.ngrams not in (None, 1, 2):
            message = f"ngrams is {self.ngrams!r}, expected 1 or 2"
            raise SettingsError(message)
        if self.threes is not None:
            threes = THREES_BYTES if self.threes else None
            views = tuple(
                view._replace(threes=threes) if view.alphabet == "ngrams" else view
                for view in views
            )
        if self._leaves_out_ngrams():
            views = tuple(view for view in views if view.alphabet != "ngrams")
        if self.ngrams == 1:  # a view of pairs alone has nothing left
            views = tuple(view._replace(pairs=False) for view in views if view.tokens)
        if alphabet is not None:
            views = tuple(
                view._replace(alphabet=alphabet)
                if view.text == "body" and view.alphabet != "ngrams"
                else view
                for view in views
            )
        fields = self.fields
        if not fields and self.guessed is not None:
            fields = self.guessed()
        if self.views:
            names = [view.name for view in views]
            for name in self.views:
                if name not in names:
                    message = f"no view {name!r}; there are {', '.join(names)}"
                    raise SettingsError(message)
            views = tuple(view for view in views if view.name in self.views)
        settings = default._replace(
            views=views, ledger=self.ledger, pattern=pattern, secret=self.secret
        ).reading(fields)
        if self.levels is not None:
            check_levels(self.score)
        if self.score is not None:
            scoring = with_attributes(scoring_of(self.score), settings)
            settings = suited_to(settings, self.scoring(scoring), self.views)
        if self.counting is not None:
            settings = counting_by(settings, self.counting)
        settings.check()
        return settings

    def scoring_for(self, settings: Settings, n_classes: int) -> Scoring:
        """
        Return how counts of so many classes are scored, before anything is held out.

        Raises:
            SettingsError: a value is unknown or out of its range.
        """
        return for_classes(self.scoring(scoring_for(settings, n_classes)), n_classes)

    def scoring(self, default: Scoring) -> Scoring:
        """
        Return a default scoring, or that of a model, changed.

        Raises:
            SettingsError: a value is unknown or out of its range.
        """
        return changed(
            default,
            self.score,
            self.smoothing,
            self.counting,
            calibrate=self.calibrate,
            class_prior=self.class_prior,
            levels=self.levels,
            unknown=self.unknown,
            attributes={
                name: value
                for name in ATTRIBUTE_FIELDS
                if (value := getattr(self, name)) is not None
            },
            parameters=self.parameters,
        )

    def in_vain(
        self, scoring: Scoring, policy: "Policy | None" = None, n_classes: int = 0
    ) -> str:
        """Say what was given and changes nothing; empty if all counts."""
        left_out = self._leaves_out_ngrams()
        if self.threes and left_out:
            threes = wording.named("threes")
            return (
                f"{threes} changes nothing: with {left_out}, no runs of characters are "
                "counted"
            )
        nothing = f"{wording.named('class_prior')} changes nothing"
        prior = wording.named("prior")
        if self.class_prior is None:
            return ""
        if scoring.calibrated and self.class_prior != SHARES:
            return (
                f"{nothing}: the {scoring.score} score is fitted to held-out "
                f"documents, and their shares are in it; {prior} of a policy "
                "moves them"
            )
        named = 0 if policy is None else len(policy.prior)
        if not scoring.calibrated and named and n_classes <= named + 1:
            return f"{nothing}: the prior of the policy ({prior}) takes its place"
        return ""

    def _leaves_out_ngrams(self) -> str:
        """Say what leaves byte n-grams uncounted; empty if nothing does."""
        if self.pattern is not None:
            return wording.named("pattern")
        if self.ngrams == 1:
            return wording.given(ngrams=1)
        return "" if self.byte_ngrams else wording.given(byte_ngrams=False)


DEFAULTS: Final = SettingsOverrides()
"""Overrides that change nothing."""


def checked_overrides(overrides: SettingsOverrides) -> SettingsOverrides:
    """
    Return the overrides that a program gives as they are.

    Raises:
        TypeError: they are none, or the type of a value is not its own.
    """
    overrides = instance_of("overrides", overrides, SettingsOverrides)
    overrides.check()
    return overrides


def _are(kind: type, values: object) -> bool:
    """Return whether something is a tuple, or a list, of values of a type."""
    if not isinstance(values, tuple | list):
        return False
    return all(isinstance(value, kind) for value in values)


def _is_pair(value: tuple[object, ...]) -> bool:
    """Return whether a tuple has two parts, the first of which is a name."""
    return len(value) == 2 and isinstance(value[0], str)


def _refuse(name: str, expected: str, found: object) -> NoReturn:
    message = f"overrides: {name}: expected {expected}, found {found!r:.80}"
    raise TypeError(message)
