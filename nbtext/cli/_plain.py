"""
What `classify` and `pass` do with one plain mail by a plain model, and nothing else.

What takes long to import is not imported here (`nbtext.cli._quick`). Where something is
not plain, what was read of standard input is returned, and the modules that the other
commands use begin with it.
"""

import sys

from nbtext.cli import _status as status
from nbtext.cli._streams import bytes_to_stdout, to_stdout
from nbtext.plain_mail import LONGEST, Begun, read_mail
from nbtext.scoring.figures import probability
from nbtext.scoring.stored import open_stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nbtext.scoring.stored import Judgement, StoredClassifier

UNSURE: "Final" = "?"
"""What stands for the label where there is none."""


def classified(
    model: str, wanted: str | None, *, is_quiet: bool
) -> "int | Begun | None":
    """
    Decide about standard input and return the exit status, if that is plain.

    Returns:
        None if the model is not plain, and nothing was read; what is to be read on from
        if the message is not.

    """
    stored = open_stored(model)
    if stored is None or (wanted is not None and wanted not in stored.classes):
        return None
    descriptor = input_descriptor()
    if descriptor is None or not all(map(_is_clear, stored.classes)):
        return None
    mail = read_mail(descriptor, is_one=wanted is not None)
    if isinstance(mail, Begun):
        return mail
    found = stored.classify(mail)
    if found is None:
        return Begun(descriptor, mail)
    if wanted is None or not is_quiet:
        to_stdout([f"{found.label or UNSURE}\t{probability(found.probability)}"])
    if wanted is None:
        return status.DONE
    if found.label is None:
        return status.UNSURE
    return status.IT_IS if found.label == wanted else status.IT_IS_NOT


def _is_clear(label: str) -> bool:
    """Return whether a label is printed as it is."""
    return label.isprintable() and "\\" not in label


def input_descriptor() -> int | None:
    """Return the descriptor of standard input; None if it is no file of the system."""
    try:
        return sys.stdin.fileno()
    except (OSError, ValueError, AttributeError):
        return None


def passed(model: str) -> int | bytes | None:
    """
    Pass standard input on with a field, and return the exit status, if it is plain.

    Returns:
        None if the model is not plain, and nothing was read; the message if it is not.

    """
    from nbtext.filtering.plain_header import FIELD, is_plain_label, with_field

    stored = open_stored(model)
    if stored is None or not all(map(is_plain_label, stored.classes)):
        return None
    message = sys.stdin.buffer.read()
    found = decided(stored, message)
    if found is None:
        return message
    told = f"{found.label or 'unsure'}, probability={probability(found.probability)}"
    marked = with_field(message, FIELD, told)
    if marked is None:
        return message
    bytes_to_stdout(marked)
    return status.DONE


def decided(stored: "StoredClassifier", message: bytes) -> "Judgement | None":
    """Decide about a message that must go on in any case; None if that fails."""
    try:
        return stored.classify(message) if len(message) <= LONGEST else None
    except Exception:  # which is told when it fails again
        return None
