"""
What the columns of a table hold, guessed from its first rows.

Only training guesses, and only if no column is named and none is called text, body,
content or message. The columns that were guessed are settings of the model, as if they
had been named.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from nbtext import wording
from nbtext.errors import clipped, listed
from nbtext.exact import number_in
from nbtext.settings.columns import Kind
from nbtext.settings.views import Field

ROWS: Final = 1000
"""Maximum rows that are looked at."""

MOST_BYTES: Final = 16 << 20
"""Maximum bytes of them, about."""

FEW: Final = 10
"""In fewer rows all values may be different in a column of categories, too."""

LONG: Final = 3
"""Number of words from which on a value is text, even if it repeats."""

LACKING: Final = 0.1
"""The share of records that may lack a column that is guessed, at most."""

_LONGEST_DATE = 40
# Compiling these takes half a millisecond, so it is done only where there is a table.
_DAY_OR_TIME = (
    r"\d{4}-\d\d?-\d\d?|\d\d?[./-]\d\d?[./-]\d\d(?:\d\d)?"
    r"|\d\d?:\d\d|\d\d?,? (?:[A-Z][a-z]+,? )?(?:19|20)\d\d"
)
_LETTERS = r"[^\W\d_]+"
_DATE_WORDS = (
    r"(?:Mon|Tue|Tues|Wed|Wednes|Thu|Thurs|Fri|Sat|Satur|Sun)(?:day)?"
    r"|Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sep(?:t|tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?|[A-Z]{1,4}"
)
"""Days, months, and short words such as `PDT`, `AM` and the `T` before a time."""

KINDS: Final[dict[Kind, str]] = {
    "text": "as text",
    "value": "as a category",
    "number": "as a number",
}


class ColumnGuess:
    """
    The columns that are guessed of the first table, for all that is read.

    Attributes:
        fields: the columns and what they hold; empty until they are guessed.
        notes: what to say of a table, by its name: of the one that was looked at.
    """

    def __init__(self) -> None:
        self.fields: tuple[Field, ...] = ()
        self.notes: dict[str, str] = {}
        self._is_open = True

    def close(self) -> tuple[Field, ...]:
        """Return what has been guessed; from now on nothing more is."""
        self._is_open = False
        return self.fields

    def guessed(self) -> tuple[Field, ...]:
        """Return what is guessed so far."""
        return self.fields

    @property
    def is_wanted(self) -> bool:
        """Whether the columns of the next table are to be guessed."""
        return self._is_open and not self.fields

    def take(
        self,
        source: str,
        rows: Sequence[Mapping[str, Any]],
        others: Collection[str | None],
    ) -> None:
        """
        Guess what the columns of a table hold.

        Args:
            source: what the table is called.
            rows: the first of it.
            others: columns that are read for something else.
        """
        # a column without a name is that of row numbers, as pandas writes it; records
        # without one that is read are skipped, so one that many lack is not read
        least = (1 - LACKING) * len(rows)
        kinds = {
            name: kind_of(values) if len(values) >= least else None
            for name, values in by_column(rows).items()
            if name and name not in others
        }
        # texts first, as where they are named
        self.fields = tuple(
            Field(name, kind) for wanted in KINDS for name, kind in kinds.items()
            if kind == wanted
        )  # fmt: skip
        left_out = [name for name, kind in kinds.items() if kind is None]
        said = _sentence(source, len(rows), self.fields, left_out)
        self.notes = {source: said} if kinds else {}


def by_column(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of each column, of the rows that have it, in one pass."""
    found: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            found.setdefault(name, []).append(value)
    return found


def kind_of(values: Sequence[Any]) -> Kind | None:
    """
    Return what a column holds that has these values; None if it tells nothing.

    It holds numbers if all of its values are numbers, and text if most of the others
    are three words or more. Values that repeat, twice each on average, are categories,
    and so are a few single words; most others of two words are text. A column tells
    nothing that is empty, holds what is no value of a table, or names the rows, with
    another word in each.
    """
    known = [value for value in map(_as_text, values) if value]
    if known and all(map(is_date, known)):
        return None
    if not known or any(isinstance(value, list | dict) for value in values):
        return None
    if all(map(_is_number, known)):
        return None if _are_row_numbers(known) else "number"
    n_distinct, n_words = len(set(known)), [len(value.split()) for value in known]
    if 2 * sum(n >= LONG for n in n_words) > len(known):
        return "text"
    if 2 * n_distinct <= len(known):
        return "value"
    if 2 * sum(n > 1 for n in n_words) > len(known):
        return "text"
    return None if n_distinct == len(known) >= FEW else "value"


def is_date(value: str) -> bool:
    """
    Tell whether a value is a day with its year or a time, and nothing else.

    That is 2024-05-31, 31/5/2024 or `Mon Apr 06 22:19:45 PDT 2009`.
    """
    if len(value) > _LONGEST_DATE or not re.search(_DAY_OR_TIME, value):
        return False
    return all(re.fullmatch(_DATE_WORDS, word) for word in re.findall(_LETTERS, value))


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace").strip()
    return str(value).strip()


def _is_number(value: str) -> bool:
    try:
        number_in(value)
    except ValueError:
        return False
    return True


def _are_row_numbers(values: Sequence[str]) -> bool:
    """Return whether values are integers, each one more than that before."""
    if len(values) < FEW or not all(map(str.isdecimal, values)):
        return False
    first = int(values[0][:20])
    return all(value == str(first + n) for n, value in enumerate(values))


def _sentence(
    source: str, n_rows: int, fields: Sequence[Field], left_out: Sequence[str]
) -> str:
    parts = [
        f"{listed([*map(clipped, names)])} {how}"
        for kind, how in KINDS.items()
        if (names := [field.column for field in fields if field.kind == kind])
    ]
    if left_out:
        parts.append(f"{listed([*map(clipped, left_out)])} not at all")
    found = "; ".join(parts)
    kinds = ("text_columns", "categorical_columns", "numeric_columns")
    return (
        f"{source}: columns are read as its first rows ({n_rows:,}) suggest: {found}; "
        f"to have it otherwise, name them: {', '.join(map(wording.named, kinds))}"
    )
