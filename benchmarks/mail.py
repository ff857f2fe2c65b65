"""
The mail that is timed: SpamAssassin's public corpus, 32 MB, and more made of it.

A copy of the corpus differs from the others as mail of another year would. A share of
the longer words, chosen by their hash, carry the copy's number, and so does each
Message-ID; so the vocabulary grows with the mail about as it does in real mail
(docs/benchmarks.md). Nothing is random: the same copies come out byte for byte on any
machine.
"""

import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import time
from typing import Final
from zlib import crc32

from benchmarks.bench import REPOSITORY, Bench
from benchmarks.figures import Skipped

CORPORA: Final = REPOSITORY.parent / "shared" / "corpora"

SPAMASSASSIN: Final = {
    "ham": ("easy_ham", "easy_ham_2", "hard_ham"),
    "spam": ("spam", "spam_2"),
}

PERCENT_VARIED: Final = 70
"""How many words of four letters and more, in a hundred, differ from copy to copy."""

VARIABLE: Final = re.compile(
    rb"""
    (?P<id> ^Message-I[Dd]:[ ]< )
    | (?P<kept>
        \AFrom[ ][^\n]*                         # the mbox's mark,
        | ^Content-[^\n]*(?:\n[ \t][^\n]*)*      # what says how to read the mail,
        | ^MIME-Version:[^\n]*
        | ^[A-Za-z-]+:                          # the names of fields,
        | ^--[^ \n]+$                           # boundaries,
        | ^[^ \n]{50,}$                         # base64,
        | <[A-Za-z/!][^>@]*>                    # and tags
      )
    | (?P<word> [A-Za-z]{4,} )
    """,
    re.MULTILINE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Mail:
    """
    Folders of mail, by class.

    Attributes:
        name: what it is called in tables.
        ham: the folders of ham, mails without folders between.
        spam: the folders of spam.
    """

    name: str
    ham: tuple[Path, ...]
    spam: tuple[Path, ...]

    @property
    def labelled(self) -> tuple[str, ...]:
        """Return the folders as `nbtext train` takes them."""
        ham = (f"ham={folder}" for folder in self.ham)
        return (*ham, *(f"spam={folder}" for folder in self.spam))

    @property
    def folders(self) -> tuple[str, ...]:
        """Return the folders as they are classified."""
        return tuple(map(str, (*self.ham, *self.spam)))

    @property
    def paths(self) -> list[tuple[str, Path]]:
        """Return every mail with its label, folder by folder, sorted."""
        return [
            (label, path)
            for label, folders in (("ham", self.ham), ("spam", self.spam))
            for folder in folders
            for path in sorted(folder.iterdir())
        ]


def corpus(name: str) -> Path:
    """
    Return the folder of a corpus.

    Raises:
        Skipped: it is not there.
    """
    path = CORPORA / name
    if not path.exists():
        raise Skipped(f"{path} is absent; corpora/README.md says where it is from")
    return path


def spamassassin() -> Mail:
    """Return the public corpus, all five folders."""
    root = corpus("spamassassin")
    ham, spam = (
        tuple(root / folder for folder in SPAMASSASSIN[label])
        for label in ("ham", "spam")
    )
    return Mail("spamassassin, 32 MB", ham, spam)


def real_mail() -> Mail:
    """Return 10,000 mails in time order; their two halves stand for classes."""
    root = corpus("mail-unlabelled")
    return Mail("10,000 real mails, 80 MB", (root / "b",), (root / "a",))


@cache
def generated(bench: Bench, n_copies: int) -> Mail:
    """
    Write copies of the corpus, each with words of its own; the first as it is.

    They are days old: what is new, and begins as an mbox does, may still be growing.
    """
    days_ago = time() - 2 * 24 * 3600
    root = bench.folder / f"mail-{n_copies}"
    folders: dict[str, list[Path]] = {"ham": [], "spam": []}
    for copy in range(n_copies):
        for label, made in folders.items():
            made.append(root / label / f"{copy:03}")
            made[-1].mkdir(parents=True)
    size = 0
    for number, (label, path) in enumerate(spamassassin().paths):
        pieces = varied(path.read_bytes())
        for copy, folder in enumerate(folders[label]):
            mail = (b"%d" % copy if copy else b"").join(pieces)
            written = folder / f"{number:05}"
            written.write_bytes(mail)
            os.utime(written, (days_ago, days_ago))
            size += len(mail)
    name = f"generated, {size / 1e6:,.0f} MB"
    return Mail(name, tuple(folders["ham"]), tuple(folders["spam"]))


@cache
def some_of(bench: Bench, n_mails: int) -> Mail:
    """Copy a number of mails, evenly spread over the corpus."""
    root = bench.folder / f"some-{n_mails}"
    for label in SPAMASSASSIN:
        (root / label).mkdir(parents=True)
    paths = spamassassin().paths
    for place in range(n_mails):
        label, path = paths[place * len(paths) // n_mails]
        (root / label / f"{place:05}").write_bytes(path.read_bytes())
    return Mail(f"{n_mails} mails", (root / "ham",), (root / "spam",))


def varied(mail: bytes) -> list[bytes]:
    """Cut a mail wherever a copy has its number."""
    pieces, start = [], 0
    for match in VARIABLE.finditer(mail):
        word = match["word"]
        is_varied = word and crc32(word.lower()) % 100 < PERCENT_VARIED
        if is_varied or match["id"]:
            pieces.append(mail[start : match.end()])
            start = match.end()
    pieces.append(mail[start:])
    return pieces
