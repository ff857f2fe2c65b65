"""
What is wrong with labelled documents, as plain values.

All lists are sorted, the worst first, and have as many elements as were asked for; the
numbers say how many there are.
"""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Pair:
    """
    Two documents of different classes that are the same, or nearly.

    Attributes:
        first, second: their names.
        first_label, second_label: their classes.
        similarity: the share of their terms that they have in common, about; 1 for the
            same.
    """

    first: str
    first_label: str
    second: str
    second_label: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Suspect:
    """
    A document that looks like another class than its label says.

    Attributes:
        name: the document's.
        label: its class, as it is labelled.
        likelier: the class that it looks like.
        nats: how much likelier that is than its own, as log odds, by a model that has
            not counted the document.
        reasons: the strongest terms that speak for it, as they are in the document.
    """

    name: str
    label: str
    likelier: str
    nats: float
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Leak:
    """
    A term that is in nearly all documents of a class and in none of any other.

    Attributes:
        label: the class.
        view: the view that the term is read in.
        term: as it is in a document.
        documents: how many of the class have it.
        share: what share of the class that is.
    """

    label: str
    view: str
    term: str
    documents: int
    share: float


@dataclass(frozen=True, slots=True)
class Apart:
    """
    A class whose mail is older or newer than that of the others.

    Attributes:
        label: the class.
        first, last: when the middle 90 % of its mail was received, as dates.
        others_first, others_last: the same of all other classes.
        ordered: the share of pairs, one of the class and one of the others, in the same
            order; from 0.5 to 1.
        is_later: whether the class is the later one.
    """

    label: str
    first: str
    last: str
    others_first: str
    others_last: str
    ordered: float
    is_later: bool


@dataclass(frozen=True, slots=True)
class Findings:
    """
    What `examine` has found.

    Attributes:
        documents: how many were read.
        classes: class to how many documents.
        unreadable: how many could not be read.
        small: classes that are too small to be learnt, or much smaller than the others.
        alike: pairs of classes whose names are the same but for case, blanks, or how
            their characters are composed.
        n_same, same: the same document under two labels.
        n_near, near: near duplicates of different classes.
        copies: class to how many of its documents are copies of others of it, if any.
        repeated: class to how many of its documents are nearly the same as others of
            it, where they are many; what is learnt of one tells the others.
        n_suspects, suspects: documents that look like another class than theirs.
        n_leaks, leaks: terms that tell a class from all others.
        apart: classes that dates part from the others.
    """

    documents: int
    classes: dict[str, int]
    unreadable: int
    small: tuple[str, ...]
    alike: tuple[tuple[str, str], ...]
    n_same: int
    same: tuple[Pair, ...]
    n_near: int
    near: tuple[Pair, ...]
    copies: dict[str, int]
    repeated: dict[str, int]
    n_suspects: int
    suspects: tuple[Suspect, ...]
    n_leaks: int
    leaks: tuple[Leak, ...]
    apart: tuple[Apart, ...]

    def __repr__(self) -> str:
        """Say how many documents there are, and how much was found."""
        pairs = f"{self.n_same:,} same, {self.n_near:,} near"
        found = f"{pairs}, {self.n_suspects:,} suspects, {self.n_leaks:,} leaks"
        return f"<Findings in {self.documents:,} documents: {found}>"

    @property
    def is_sound(self) -> bool:
        """Return whether nothing was found."""
        n_found = self.n_same + self.n_near + self.n_suspects + self.n_leaks
        is_repeated = bool(self.copies or self.repeated)
        of_classes = self.small or self.alike or self.apart
        return not (n_found or self.unreadable or is_repeated or of_classes)

    def as_dict(self) -> dict[str, Any]:
        """Return what `json.dumps` takes."""
        return asdict(self)
