"""
Terms that say the same, as one row: what `top` shows people on a terminal.

A run of characters joins a term before it that it overlaps, in a word or in another
run. A word joins a term with a word in common that as many documents have, as a pair
and each of its words, or a header field and its raw text; and it takes the place of a
run in it that as many have.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # which loads numpy
    from nbtext.scoring.top import TopTerm

MOST_BEFORE: Final = 5
"""For so many terms a row is expected at the least."""

_PIECES = (3, 4)
"""Characters that a run has in common with what it joins: 3 where it has no more."""

_CLOSE = 0.02
_CLOSE_RUN = 0.1
"""By what share of documents two terms differ that as many have."""

_WORD = re.compile(r"[^\W_]{2,}")


@dataclass
class Row:
    """
    A term, and others that say the same.

    Attributes:
        term: the one that is shown.
        others: how many others there are.
        is_run: whether it is a run of characters.
    """

    term: "TopTerm"
    others: int = 0
    is_run: bool = False


def joined(
    terms: "Sequence[TopTerm]", n: int, runs: Collection[str]
) -> "list[tuple[TopTerm, int]]":
    """
    Return terms, each with how many others say the same.

    Args:
        terms: those of each class, the strongest first.
        n: maximum terms of a class.
        runs: the names of the views whose terms are runs of characters.
    """
    labels = dict.fromkeys(term.label for term in terms)
    found: list[tuple[TopTerm, int]] = []
    for label in labels:
        rows = _Rows(n, runs)
        for term in terms:
            if term.label == label:
                rows.add(term)
        found += [(row.term, row.others) for row in rows.rows]
    return found


class _Rows:
    """The rows of a class, to which its terms are added one by one."""

    def __init__(self, n: int, runs: Collection[str]) -> None:
        self.rows: list[Row] = []
        self._n = n
        self._runs = runs
        self._of_piece: dict[str, int] = {}
        self._of_word: dict[str, list[int]] = {}

    def add(self, term: "TopTerm") -> None:
        """Add a term: to the row that says the same, or as one if there is room."""
        is_run = term.view in self._runs
        text = (term.text or "").casefold()
        place = self._joined_by(term, text, is_run=is_run)
        if place is None and len(self.rows) >= self._n:
            return
        if place is None:
            place = len(self.rows)
            self.rows.append(Row(term, is_run=is_run))
        else:
            row = self.rows[place]
            row.others += 1
            if row.is_run and not is_run:
                row.term, row.is_run = term, False
        for piece in _pieces(text):
            self._of_piece.setdefault(piece, place)
        if not is_run:
            for word in _WORD.findall(text):
                self._of_word.setdefault(word, []).append(place)

    def _joined_by(self, term: "TopTerm", text: str, *, is_run: bool) -> int | None:
        if is_run:
            size = _PIECES[len(text.strip()) > _PIECES[0]]
            places = [
                self._of_piece[piece]
                for piece in _pieces(text)
                if len(piece) == size and piece in self._of_piece
            ]
            return Counter(places).most_common(1)[0][0] if places else None
        for word in _WORD.findall(text):
            for place in self._of_word.get(word, ()):
                if _are_close(term, self.rows[place].term, _CLOSE):
                    return place
        found = {
            self._of_piece[piece] for piece in _pieces(text) if piece in self._of_piece
        }
        for place in sorted(found):
            row = self.rows[place]
            if row.is_run and _are_close(term, row.term, _CLOSE_RUN):
                return place
        return None


def _pieces(text: str) -> Iterator[str]:
    """Yield what a run of characters may have in common with another."""
    text = text.strip() or text
    for size in _PIECES:
        for start in range(len(text) - size + 1):
            yield text[start : start + size]


def _are_close(one: "TopTerm", other: "TopTerm", share: float) -> bool:
    """Tell whether about as many documents have two terms, in the class and not."""
    pairs = (one.documents, other.documents), (one.elsewhere, other.elsewhere)
    return all(abs(a - b) <= share * max(a, b) for a, b in pairs)
