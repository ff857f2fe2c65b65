"""
What `classify`, `pass` and `learn` do with one plain mail, and nothing else.

What takes long to import is not imported here (`nbtext.cli._quick`). Where something is
not plain, what was read of standard input is returned, and the modules that the other
commands use begin with it.
"""

# ruff: noqa: PTH113 -- importing pathlib costs 10 ms

import os
import sys

from nbtext.cli import _status as status
from nbtext.cli._streams import bytes_to_stdout, to_stderr, to_stdout
from nbtext.plain_mail import ENVELOPE, LONGEST, Begun, Held, read_mail
from nbtext.scoring.stored import open_stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nbtext.scoring.stored import Judgement, StoredClassifier

UNSURE: "Final" = "?"
"""What stands for the label where there is none."""


def classified(
    model: str, wanted: str | None, threshold: float | None, *, is_quiet: bool
) -> "int | Begun | None":
    """
    Decide about standard input and return the exit status, if that is plain.

    Args:
        model: the model file.
        wanted: the class that is asked for, None if that is any.
        threshold: the least probability of a label, in place of the model's rule.
        is_quiet: whether nothing is printed if a class is asked for.

    Returns:
        None if the model is not plain, and nothing was read; what is to be read on from
        if the message is not.
    """
    stored = open_stored(model, threshold)
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
        from nbtext.scoring.figures import probability  # who learns needs none

        to_stdout([f"{found.label or UNSURE}\t{probability(found.probability)}"])
    if wanted is None:
        return status.DONE
    if found.label is None:
        return status.UNSURE
    return status.IT_IS if found.label == wanted else status.IT_IS_NOT


SAID: "Final" = {
    "learnt": "learnt 1 document as {}",
    "known": "1 document known as {} already",
    "moved": "moved 1 document to {}",
    "forgotten": "forgot 1 document",
    "refused": "refused 1 document",
}
"""What is said of a message, by what has become of it, as `nbtext.cli._learn` does."""


def learnt(
    model: str, label: str | None, file: str | None, *, is_quiet: bool
) -> "int | Begun | None":
    """
    Learn or forget a message, and return the exit status, if all of it is plain.

    Args:
        model: the model file.
        label: the class, None to forget.
        file: the message, None for standard input.
        is_quiet: whether to say nothing of what was done.

    Returns:
        None if the message is to be read from its beginning; or what of standard input
        is to be read on from. Then nothing was learnt.
    """
    if label is not None and ("/" in label or os.path.isfile(label)):
        return None  # a path where the class should be is told at once
    mail = _read_file(file) if file is not None else _read_input()
    if not isinstance(mail, bytes):
        return mail
    outcome = learnt_now(model, label, mail)
    if outcome is None:
        return None if file is not None else Begun(sys.stdin.fileno(), mail)
    if outcome == "refused":
        from nbtext.learning.lesson import UNKNOWN

        to_stderr(f"refused: {file or '-'}: {UNKNOWN}")
    if not is_quiet:
        to_stderr(SAID[outcome].format(label))
    return status.DATA if outcome == "refused" else status.DONE


def learnt_now(
    model: str, label: str | None, mail: bytes, classes: tuple[str, str] | None = None
) -> str | None:
    """
    Learn or forget a mail, in a model of some classes or of any.

    Returns:
        What has become of it, None if nothing was done.
    """
    from nbtext.learning.stored import learn_stored

    if label is not None and not _is_clear(label):
        return None
    found = learn_stored(model, label, [mail], classes)
    return None if found is None else found[0]


def _read_input() -> "bytes | Begun | None":
    descriptor = input_descriptor()
    return None if descriptor is None else read_mail(descriptor, is_one=False)


def _read_file(path: str) -> bytes | None:
    """Return the mail in a file; None if it may be anything else."""
    try:
        # not to wait for the other end if it is a pipe
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        mail = read_mail(descriptor, is_one=True)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    if isinstance(mail, Begun) or mail.startswith(ENVELOPE):
        return None
    return mail


def _is_clear(label: str) -> bool:
    """Return whether a label is printed as it is."""
    return label.isprintable() and "\\" not in label


def input_descriptor() -> int | None:
    """Return the descriptor of standard input; None if it is no file of the system."""
    try:
        return sys.stdin.fileno()
    except (OSError, ValueError, AttributeError):
        return None


def passed(model: str, threshold: float | None) -> "int | Held | None":
    """
    Pass standard input on with a field, and return the exit status, if it is plain.

    Args:
        model: the model file.
        threshold: the least probability of a label, in place of the model's rule.

    Returns:
        None if the model is not plain, and nothing was read; what is held of the
        message if that is not.
    """
    from nbtext.filtering.plain_header import FIELD, is_plain_label, with_field
    from nbtext.scoring.figures import probability

    stored = opened(model, threshold)
    if stored is None or not all(map(is_plain_label, stored.classes)):
        return None
    message = Held(sys.stdin.buffer)
    found = decided(stored, message.head)
    if found is None:
        return message
    told = f"{found.label or 'unsure'}, probability={probability(found.probability)}"
    marked = with_field(message.head, FIELD, told)
    if marked is None:
        return message
    bytes_to_stdout(marked)
    return status.DONE


def opened(model: str, threshold: float | None = None) -> "StoredClassifier | None":
    """Open a model for a message that must go on in any case; None if that fails."""
    try:
        return open_stored(model, threshold)
    except Exception:  # which is told when it fails again
        return None


def decided(stored: "StoredClassifier", message: bytes) -> "Judgement | None":
    """Decide about a message that must go on in any case; None if that fails."""
    try:
        return stored.classify(message) if len(message) <= LONGEST else None
    except Exception:  # which is told when it fails again
        return None
