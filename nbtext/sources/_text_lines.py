"""
Lines of text: each is a document, perhaps behind its label, as fastText has it.

A line of several labels is a bad record: a document of nbtext has one class.
"""

from collections.abc import Iterator
from typing import Final

from nbtext.document import Pause
from nbtext.sources._lines import BLANK, BadRecord, Line

MARK: Final = b"__label__"
"""What a label begins with, and is left out of it."""

_SEVERAL: Final = BadRecord(
    "several labels found, where one was expected; leave the one it is to be learnt as"
)


def is_marked(head: bytes) -> bool:
    """Return whether what begins so begins with a label."""
    first = head.split(None, 1)[:1]
    return bool(first) and first[0].startswith(MARK) and first[0] != MARK


def text_records(
    lines: Iterator[Line], *, keeps_blank: bool
) -> Iterator[dict[str, bytes] | BadRecord | Pause]:
    """
    Yield the label and the text of each line.

    The label is empty if the line has none. What looks like a label behind the first
    word of the text is a word of it, though fastText takes it for one.

    Args:
        lines: the lines.
        keeps_blank: whether a blank line is a document, so that there is one for each;
            else `BLANK` stands for it, so that the others are called by the same
            numbers.
    """
    for line in lines:
        if not isinstance(line, bytes):
            yield line
        elif not (text := line.strip()) and not keeps_blank:
            yield BLANK
        else:
            label, text = _split(text)
            is_one = not (label and text.startswith(MARK))
            yield {"label": label, "text": text} if is_one else _SEVERAL


def _split(text: bytes) -> tuple[bytes, bytes]:
    """Return the first word without its mark, if it is a label, and the rest."""
    if not text.startswith(MARK):
        return b"", text
    word, *rest = text.split(None, 1)
    return word.removeprefix(MARK), b"".join(rest)
