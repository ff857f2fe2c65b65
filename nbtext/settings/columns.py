"""What is counted for a term in a class: the columns of views, and their order."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, TypeAlias

Column: TypeAlias = Literal[
    "occurrences", "documents", "weight",
    "level1", "level2", "level3", "level4", "level5", "level6", "level7", "level8",
    "logs", "weight_idf", "frozen_documents", "present", "sum", "squares",
]  # fmt: skip
"""What is counted for a term in a class; `weight` sums documents' vectors of ln(1 + n),
each scaled to unit Euclidean length, in units of 1/65535; `level2` counts the documents
in which the term occurs exactly twice; `logs` sums ln(1 + n) in units of 1/2048.
`weight_idf` sums documents' TF-IDF vectors at unit length, in units of 2^-24;
`frozen_documents` counts those documents of training by which the idf is frozen, and
none that was learnt or forgotten since. Of a column of numbers: how many are `present`,
their sum, and that of their squares (`nbtext.exact`)."""

Kind: TypeAlias = Literal["text", "value", "number"]
"""What a column of a table holds, and what a view of it sees: text, the names of
categories, or numbers."""

UNIT: Final = 65535
"""The weight of the only term of a document; the largest that 16 bits hold."""


UNWEIGHTED: Final[tuple[Column, ...]] = ("occurrences", "documents")
WEIGHTED: Final[tuple[Column, ...]] = (*UNWEIGHTED, "weight")
NUMBERS: Final[tuple[Column, ...]] = ("present", "sum", "squares")

LEVELS: Final[tuple[Column, ...]] = (
    "level1", "level2", "level3", "level4", "level5", "level6", "level7", "level8",
)  # fmt: skip
"""Columns of documents in which a term occurs exactly once, twice, and so on."""

LOGS: Final[Column] = "logs"
TFIDF: Final[Column] = "weight_idf"
FROZEN: Final[Column] = "frozen_documents"

COLUMNS: Final = (*WEIGHTED, *LEVELS, LOGS)
"""Columns that each text adds to by itself, in the order of the file; every view has
the first two."""

ORDER: Final = (*COLUMNS, TFIDF, FROZEN)
"""All columns of a view of text, in the order of the file; the last two go together,
and are made when all documents are counted."""

ATTRIBUTE_COLUMNS: Final[dict[Kind, tuple[Column, ...]]] = {
    "value": UNWEIGHTED,
    "number": NUMBERS,
}
"""The columns of a view of values, and of one of numbers."""


def in_order(columns: Iterable[str]) -> tuple[Column, ...]:
    """Return columns in the order of the file."""
    wanted = [*columns]
    return tuple(column for column in ORDER if column in wanted)


def levels_of(columns: Sequence[str]) -> list[int]:
    """Return the numbers of occurrences that columns tell apart, ascending."""
    return [level for level, name in enumerate(LEVELS, 1) if name in columns]
