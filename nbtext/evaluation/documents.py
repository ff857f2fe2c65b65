"""Which documents an evaluation is of, and what was decided about each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from nbtext.learning.reading_once import Kept

from nbtext.mail import date_of
from nbtext.scoring.figures import decided


class Named(NamedTuple):
    """
    A document, by what it is called.

    Attributes:
        name: its path, with its place in a mailbox or table.
        identity: what else names it: a row's id.
        label: the label that it carries.
        number: how many came before it.
    """

    name: str
    identity: str | None
    label: str | None
    number: int


class Names:
    """What documents whose terms are kept are called, in the order of the cache."""

    def __init__(self) -> None:
        self.documents: list[Named] = []

    def meet(self, kept: Kept | None) -> None:
        """Take note of a document; None if all of them are read again."""
        if kept is None:
            self.documents.clear()
            return
        document = kept.document
        name, identity, label = document.name, document.identity, document.label
        self.documents.append(Named(name, identity, label, kept.number))


class DatedNames(Names):
    """
    Names of documents, and their times.

    Attributes:
        times: when mail was received, or else written, in seconds since 1970; None
            where it is not known.
    """

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float | None] = []

    def meet(self, kept: Kept | None) -> None:
        """Take note of a document; None if all of them are read again."""
        super().meet(kept)
        if kept is None:
            self.times.clear()
            return
        text, is_mail = kept.document.texts[0], kept.reading.is_mail
        self.times.append(date_of(text) if is_mail else None)


class JudgedDocument(NamedTuple):
    """
    A document that was judged by a model which had not seen it.

    Attributes:
        name: its path, with its place in a mailbox or table.
        identity: what else names it: a row's id.
        truth: the label that it carries.
        label: the class that was decided, None if unsure.
        posterior: class to probability, as it is told, below 1.
        log_posterior: class to what ranks documents, in nats.
        fold: which fold of a cross-validation it was in, from 1; None without one.
    """

    name: str
    identity: str | None
    truth: str | None
    label: str | None
    posterior: dict[str, float]
    log_posterior: dict[str, float]
    fold: int | None

    @property
    def probability(self) -> float:
        """That of the label, or if unsure of the most probable class, below 1."""
        if self.label is None:
            return max(self.posterior.values())
        return self.posterior[self.label]

    def as_dict(self) -> dict[str, Any]:
        """Return what `json.dumps` takes, by the keys of `classify` in JSON."""
        carried = {"id": self.identity, "truth": self.truth}
        known = {name: text for name, text in carried.items() if text is not None}
        found = decided(
            self.label, self.probability, self.posterior, self.log_posterior
        )
        fold = {} if self.fold is None else {"fold": self.fold}
        return {"name": self.name, **known, **found, **fold}
