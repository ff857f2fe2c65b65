"""
What `bogofilter`, alone, with `-p`, `-v`, `-s`, `-n` ..., does with one plain mail.

What takes long to import is not imported here (`nbtext.cli._quick`). Only the options
that recipes give for each message are read: `-p`, `-e`, `-v`, `-s`, `-n`, `-Ns`, `-Sn`
and the model.
"""

import os
import sys

from nbtext.cli import _status as status
from nbtext.cli._plain import decided, input_descriptor, learnt_now, opened
from nbtext.cli._streams import bytes_to_stdout, to_stdout
from nbtext.cli.bogofilter._words import (
    FIELD,
    FILE,
    HAM,
    NOTHING_KNOWN,
    SPAM,
    value_of,
    verdict_of,
)
from nbtext.plain_mail import Begun, Held, read_mail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nbtext.scoring.stored import StoredClassifier

LETTERS: "Final" = "pev"
"""The options that are read here: pass on, always exit with 0, say the verdict."""

LEARNT: "Final" = {
    "s": SPAM, "n": HAM, "Ns": SPAM, "sN": SPAM, "Sn": HAM, "nS": HAM,
}  # fmt: skip
"""And these, alone: learn the message, or move it, which is the same."""

STATUSES: "Final" = {
    "Spam": status.IT_IS,
    "Ham": status.IT_IS_NOT,
    "Unsure": status.UNSURE,
}


class Asked:
    """What is asked of `bogofilter`."""

    __slots__ = ("letters", "model")

    def __init__(self, model: str, letters: str) -> None:
        self.model = model
        self.letters = letters


def asked(arguments: list[str]) -> Asked | None:
    """Return what a command line asks for; None if it takes more than this to read."""
    model = None
    letters = ""
    rest = iter(arguments)
    for argument in rest:
        if argument in ("-d", "--model"):
            value = next(rest, "")
            if not value or model is not None:
                return None
            model = value if argument == "--model" else in_folder(value)
            if model[0] == "~":  # seldom
                from nbtext.cli._places import with_home

                model = with_home(model)
        elif len(argument) > 1 and not argument.lstrip("-").strip(LETTERS):
            letters += argument[1:]
        elif not letters and argument[:1] == "-" and argument[1:] in LEARNT:
            letters = argument[1:]
        else:
            return None
    if letters in LEARNT:
        return Asked(model or default_file(), letters)
    is_plain = not letters.strip(LETTERS) and len(set(letters)) == len(letters)
    return Asked(model or default_file(), letters) if is_plain else None


def in_folder(folder: str) -> str:
    """Return the model in a folder that is given as bogofilter's."""
    return f"{folder.rstrip('/')}/{FILE}"


def default_file() -> str:
    """Return where the model is if no option says so."""
    from nbtext.cli._places import default_model

    folder = (
        None if os.environ.get("NBTEXT_MODEL") else os.environ.get("BOGOFILTER_DIR")
    )
    return in_folder(folder) if folder else default_model()


def judged(wanted: Asked) -> "int | Held | Begun | None":
    """
    Judge the message on standard input and return the exit status, if it is plain.

    Returns:
        None if the model is not plain, and nothing was read; what was read of standard
        input if the message is not.
    """
    if wanted.letters in LEARNT:
        return _registered(wanted.model, LEARNT[wanted.letters])
    stored = opened(wanted.model)
    if stored is None or set(stored.classes) != {SPAM, HAM}:
        return None
    passes_on = "p" in wanted.letters
    held = Held(sys.stdin.buffer) if passes_on else None
    message = _message() if held is None else held.head
    if not isinstance(message, bytes):
        return message
    spamicity = _spamicity(stored, message)
    if spamicity is None:
        return held or Begun(sys.stdin.fileno(), message)
    verdict = verdict_of(spamicity)
    said = value_of(verdict, spamicity)
    if held is not None:
        from nbtext.filtering.plain_header import with_field

        marked = with_field(message, FIELD, said)
        if marked is None:
            return held
        bytes_to_stdout(marked)
    elif "v" in wanted.letters:
        to_stdout([f"{FIELD}: {said}"])
    return status.DONE if "e" in wanted.letters else STATUSES[verdict]


def _registered(model: str, label: str) -> int | Begun | None:
    """Learn the message on standard input, if all of it is plain."""
    descriptor = input_descriptor()
    mail = None if descriptor is None else read_mail(descriptor, is_one=False)
    if not isinstance(mail, bytes):
        return mail
    if learnt_now(model, label, mail, (HAM, SPAM)) is None:
        return Begun(sys.stdin.fileno(), mail)
    return status.DONE


def _message() -> bytes | Begun | None:
    """Return the message on standard input; if it is not plain, what was read of it."""
    descriptor = input_descriptor()
    return None if descriptor is None else read_mail(descriptor, is_one=True)


def _spamicity(stored: "StoredClassifier", message: bytes) -> float | None:
    """Return the probability that a message is spam; None if Python is to say it."""
    found = decided(stored, message)
    if found is None:
        return None
    return (
        found.probabilities[found.classes.index(SPAM)] if found.known else NOTHING_KNOWN
    )
