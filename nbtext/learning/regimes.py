"""
Regimes: which of the documents that come one after the other are learnt.

* Everything: all of them.
* Errors: those that the model, as it is when a document comes, does not put into their
  class; one that it leaves unsure is among them. (Train only errors; Yerazunis 2004
  compares it with training everything.)
* Near errors: those, and the ones whose class it finds but hardly: less than a margin
  ahead of the best of the others, in nats of log odds. (The thick threshold of Siefkes,
  Assis, Chhabra and Yerazunis 2004; theirs is of the scores of Winnow.)

What the margin is held against is the posterior before the cap, which few documents
would keep below any margin. docs/experiments/014-regimes.md says what each of them
costs.
"""

from collections.abc import Sequence
from math import inf
from typing import Final, Literal, NamedTuple, TypeAlias

from nbtext import wording
from nbtext.errors import SettingsError

RegimeName: TypeAlias = Literal["everything", "errors", "near-errors"]

REGIMES: Final[tuple[RegimeName, ...]] = ("everything", "errors", "near-errors")

MARGIN: Final = 3.0
"""The margin of near errors, in nats, unless the user says otherwise."""


class Regime(NamedTuple):
    """
    Which documents are learnt.

    Attributes:
        name: one of REGIMES.
        margin: of near errors, in nats.
    """

    name: RegimeName = "everything"
    margin: float = MARGIN

    def check(self) -> None:
        """
        Refuse what is no regime.

        Raises:
            ValueError: there is none of that name, or the margin is not one.
        """
        if self.name not in REGIMES:
            message = (
                f"regime: expected one of {', '.join(REGIMES)}, found {self.name!r}"
            )
            raise ValueError(message)
        if not _is_margin(self.margin):
            message = f"margin: expected nats, 0 or more, found {self.margin!r}"
            raise ValueError(message)

    @property
    def is_choosy(self) -> bool:
        """Whether some documents may be left out."""
        return self.name != "everything"

    def learns(
        self, log_posterior: Sequence[float], decided: int | None, truth: int
    ) -> bool:
        """
        Return whether a document is learnt.

        Args:
            log_posterior: shape (n_classes,), in nats, before the cap.
            decided: the place of the class that was decided for, None if unsure.
            truth: the place of its own.
        """
        if not self.is_choosy or decided != truth:
            return True
        if self.name == "errors":
            return False
        others = [value for place, value in enumerate(log_posterior) if place != truth]
        return log_posterior[truth] - max(others) < self.margin


def _is_margin(margin: object) -> bool:
    return isinstance(margin, int | float) and 0 <= margin < inf


def regime_of(regime: str | None, margin: float | None) -> Regime:
    """
    Return a regime by its name.

    Args:
        regime: one of REGIMES; None for everything.
        margin: of near errors, in nats; None for MARGIN.

    Raises:
        SettingsError: there is no such regime, or it has no margin.
    """
    for known in REGIMES:
        if known != (regime or "everything"):
            continue
        if margin is None or margin == MARGIN:
            return Regime(known)
        if known != "near-errors":
            ask = wording.given(regime="near-errors")
            message = f"{wording.named('margin')} is of near errors; add {ask}"
            raise SettingsError(message)
        if not _is_margin(margin):
            message = f"margin is {margin!r}, expected nats, 0 or more"
            raise SettingsError(message)
        return Regime(known, margin)
    message = f"regime is {regime!r}, expected one of {', '.join(REGIMES)}"
    raise SettingsError(message)


EVERYTHING: Final = Regime()
"""The regime that leaves nothing out."""
