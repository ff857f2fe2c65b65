"""
The texts of terms of a model's text form: plain values in, texts with their keys out.

A text is a list of its parts, such as the field and two tokens; or, if its bytes are no
UTF-8, hexadecimal digits. It is verified by the key of its term, which it is hashed to.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from nbtext.settings.views import View
    from nbtext.store import Header
    from nbtext.textform.lines import TextLines

from nbtext.counts.texts import TermTexts, keys_of
from nbtext.textform.lines import shown
from nbtext.tokens.text_finding import MOST_TEXT, PART_END, TEXT_END


def plain_text(text: bytes) -> list[str] | str:
    """Return a text as JSON has it."""
    try:
        return text.decode().split(PART_END.decode())
    except UnicodeDecodeError:
        return text.hex()


class TextsOfTerms:
    """The texts of a model, as they are read."""

    def __init__(self, lines: TextLines, header: Header) -> None:
        self._lines = lines
        self._views = header.settings.views
        self._is_wanted = header.texts is not None
        self._keys = [array("Q") for _ in self._views]
        self._numbers = [array("Q") for _ in self._views]  # of their lines
        self._texts = [bytearray() for _ in self._views]

    def add(self, view: int, key: int, plain: Any) -> None:
        """
        Add the text of a term.

        Raises:
            TextFormError: it is none.
        """
        lines = self._lines
        if not self._is_wanted:
            expected = 'no text, since the first line says "texts": false'
            raise lines.error(expected, shown(plain))
        text = _packed(plain)
        if text is None or len(text) > MOST_TEXT or TEXT_END in text:
            expected = (
                f"the text of a term as a list of strings, or as hexadecimal digits if "
                f"it is no UTF-8, of at most {MOST_TEXT} bytes"
            )
            raise lines.error(expected, shown(plain))
        self._keys[view].append(key)
        self._numbers[view].append(lines.number)
        self._texts[view] += text + TEXT_END

    def texts(self) -> tuple[TermTexts, ...] | None:
        """
        Return all texts, by view, None if the model keeps none.

        Raises:
            TextFormError: one is the text of another term.
        """
        if not self._is_wanted:
            return None
        return tuple(map(self._of_view, range(len(self._views))))

    def _of_view(self, number: int) -> TermTexts:
        view = self._views[number]
        keys = np.array(self._keys[number], np.uint64)
        packed = np.frombuffer(self._texts[number], np.uint8)
        texts = TermTexts(keys, packed)
        try:
            is_own = keys_of(view, packed) == keys
        except ValueError:
            each = zip(keys.tolist(), texts.each(), strict=True)
            is_own = np.array([_is_own(view, *one) for one in each], np.bool_)
        if not is_own.all():
            place = int(np.argmin(is_own))
            expected = f"a text of the term {keys[place]:012x}"
            found = "that of another"
            raise self._lines.error(expected, found, self._numbers[number][place])
        return texts


def _is_own(view: View, key: int, text: bytes) -> bool:
    """Return whether a text is that of a term."""
    try:
        found = keys_of(view, np.frombuffer(text + TEXT_END, np.uint8))
    except ValueError:
        return False
    return bool((found == key).all())


def _packed(plain: Any) -> bytes | None:
    """Return the bytes of a text, None if it is none."""
    try:
        if type(plain) is list and all(type(part) is str for part in plain):
            text = PART_END.join(part.encode() for part in plain)
        elif type(plain) is str:
            text = bytes.fromhex(plain)
        else:
            return None
    except ValueError:  # half of a surrogate pair, or no digits
        return None
    return text if plain_text(text) == plain else None
