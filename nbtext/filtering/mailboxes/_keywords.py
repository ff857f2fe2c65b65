"""
Keywords in a Maildir, as Dovecot keeps them: small letters, named in a file.

A line of `dovecot-keywords` is a number from 0 to 25 and a name; the number stands for
a letter from a to z among the flags (doc.dovecot.org, "Maildir Mailbox Format").
Dovecot reads the file again when its time has changed, in whole seconds, and writes it
while it holds `dovecot-uidlist.lock` (maildir-keywords.c in Dovecot's source).
"""

import os
from collections.abc import Iterable
from time import time
from typing import Final

from nbtext.files import keep_access, make_durable, new_file, read_file, write_all
from nbtext.filtering.mailboxes._locks import dotlocked
from nbtext.filtering.mailboxes._transfer import remove_abandoned

FILE: Final = "dovecot-keywords"
LOCKED: Final = "dovecot-uidlist"
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"

LONGEST: Final = 1 << 16
"""Maximum bytes of the file that are read."""

WAIT: Final = 10.0
"""Maximum seconds to wait for Dovecot, which writes a few lines."""


def keywords_in(maildir: str) -> dict[str, str]:
    """Return the keywords of a Maildir: letter to name."""
    try:
        text = read_file(f"{maildir}/{FILE}", LONGEST)
    except FileNotFoundError:
        return {}
    found = {}
    for line in text.decode("utf-8", "surrogateescape").split("\n"):
        number, _, name = line.partition(" ")
        is_number = number.isascii() and number.isdigit() and len(number) < 3
        if name and is_number and int(number) < len(LETTERS):
            found[LETTERS[int(number)]] = name
    return found


def letters_for(maildir: str, names: Iterable[str]) -> dict[str, str]:
    """
    Return name to letter, and assign letters to names that have none.

    When all letters are taken, the remaining names get none.

    Raises:
        BusyError: Dovecot has had the file locked all the time.
        OSError: the file cannot be read or written.
    """
    wanted = list(dict.fromkeys(names))
    found = _by_name(keywords_in(maildir))
    if all(name in found for name in wanted):
        return {name: found[name] for name in wanted}
    remove_abandoned(maildir)
    with dotlocked(f"{maildir}/{LOCKED}", WAIT):
        taken = keywords_in(maildir)
        found = _by_name(taken)
        last = max(taken, default="a")
        # letters after the last one first: Dovecot does not look for new names in a gap
        free = sorted({*LETTERS} - {*taken}, key=lambda letter: (letter < last, letter))
        new = (name for name in wanted if name not in found)
        added = dict(zip(free, new, strict=False))
        if added:
            _write(maildir, taken | added)
    found |= _by_name(added)
    return {name: found[name] for name in wanted if name in found}


def _by_name(keywords: dict[str, str]) -> dict[str, str]:
    return {name: letter for letter, name in sorted(keywords.items(), reverse=True)}


def _write(maildir: str, keywords: dict[str, str]) -> None:
    path = f"{maildir}/{FILE}"
    aside = f"{maildir}/.{FILE}.{os.urandom(6).hex()}.tmp"
    is_there = os.path.exists(path)
    like = path if is_there else maildir
    lines = (
        f"{LETTERS.index(letter)} {keywords[letter]}\n" for letter in sorted(keywords)
    )
    with new_file(aside) as descriptor:
        write_all(descriptor, "".join(lines).encode("utf-8", "surrogateescape"))
        keep_access(descriptor, like)
        os.fchmod(descriptor, os.fstat(descriptor).st_mode & 0o666)
        if is_there:  # otherwise Dovecot would not see that it has changed
            changed = max(int(time()), int(os.stat(path).st_mtime) + 1)
            os.utime(descriptor, (changed, changed))
    os.replace(aside, path)
    make_durable(maildir)
