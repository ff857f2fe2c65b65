"""
Both readers of documents on the same bytes: any difference between them is a failure.

    python -m fuzz.readers                      for a minute
    python -m fuzz.readers --seconds 900 --seeds ../shared/corpora/mail-misc --kept new

The compiled reader is built with AddressSanitizer and UndefinedBehaviorSanitizer, and
counts the edges of its code that an input takes: what reaches new ones is changed on.
"""

import argparse
import ctypes
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha1
from pathlib import Path
from random import Random
from time import monotonic
from typing import Final

from fuzz import instrumented, mails
from fuzz.checked import fuzz_checked, parser_of
from fuzz.found import inputs
from fuzz.laws import expect
from nbtext.document import Document
from nbtext.settings.reading import Settings, default_settings
from nbtext.settings.views import View
from nbtext.tokens.bags import fingerprints
from nbtext.tokens.batch_reading import read_together
from nbtext.tokens.engine import keys
from nbtext.tokens.key_reading import KeyReading, read_keys
from nbtext.tokens.reading import read

LONGEST: Final = 16_384
"""Maximum bytes of an input."""

MOST_SEEDS: Final = 2_000
"""Maximum seeds that are taken from folders."""

RARE: Final = (
    b"\0", b"\x1c", b"\x80", b"\x85", b"\xa0", b"\xe2\x80\x83", b"\"", b"\\", b"=?",
    b"&#x0", b"&#150;", b"&nbsp;", b"&hellip;", b"&Aacute;", b"!DOCTYPE html", b"<a:b>",
    b"<o:p>", b"</span>", b"\n--x--\n", b"\n__", b"====", b"Mon, 1 Jul 2002 ", b"@a.-b",
    b"windows-1252", b"us-ascii", b"Content-Disposition: ", b"X-UID: ",
)  # fmt: skip
"""Bytes that matter to one of the readers' steps, beside those of `fuzz.mails`."""

NEIGHBOUR: Final = Document("beside it", (mails.PLAIN,))


def settings_of_all() -> list[Settings]:
    """Return settings with views of all kinds."""
    plain = default_settings("mail", 2)
    odd = [
        View("one", "body", "ngrams", fold_tokens=True, threes=300),
        View("two", "headers", "ngrams", limit=50, threes=9),
        View("three", "headers", "marks", pairs=True, fields=True, limit=30),
        View("four", "raw", "fields", fold_tokens=True, pairs=True, fold_pairs=False),
        View("five", "body", "words", tokens=False, pairs=True, limit=7),
    ]
    text = default_settings("text", 2)
    return [
        plain,
        default_settings("mail", 3),
        plain._replace(views=tuple(odd)),
        text,
        text._replace(views=(*odd[:2], odd[4])),
    ]


def check(data: bytes, settings: Settings) -> bool:
    """
    Compare what the readers make of a mail; return whether the compiled one reads it.

    Raises:
        BrokenLawError: it is not the same.
    """
    document = Document("fuzzed", (data,))
    named, nameless = (
        read_keys(document, settings, is_named=is_named) for is_named in (True, False)
    )
    is_read = isinstance(named, KeyReading)
    if not isinstance(nameless, KeyReading):
        expect(holds=not is_read, law="what can be named can be read without a name")
        return False
    reading = read(document, settings)
    views = zip(settings.views, nameless.views, reading.views, strict=True)
    for view, of_view, fields in views:
        is_same = sorted(of_view) == sorted(keys(view, fields))
        expect(holds=is_same, law=f"the keys of the view {view.name} are the same")
    is_same = nameless[1:] == (b"", *reading[2:])
    expect(holds=is_same, law="there is no digest; size and kind are the same")
    if isinstance(named, KeyReading):
        is_same = named == nameless._replace(digest=reading.digest)
        expect(holds=is_same, law="a name is the digest, and changes nothing else")
        _check_together(document, settings, named)
    return is_read


def _check_together(document: Document, settings: Settings, alone: KeyReading) -> None:
    """Compare a mail that is read between others with the same that is read alone."""
    together = [NEIGHBOUR, document, NEIGHBOUR]
    batch = read_together(together, settings)
    if document in batch.others:
        most = max(max(Counter(keys).values(), default=0) for keys in alone.views)
        expect(holds=most >= 1 << 16, law="only counts beyond 16 bits are refused")
        return
    place = batch.documents.index(document)
    is_same = batch.digests[place] == alone.digest
    expect(holds=is_same, law="the digest is the same in a batch")
    for view, terms, found in zip(
        settings.views, batch.views, alone.views, strict=True
    ):
        expected = sorted(Counter(found).items())
        is_same = sorted(terms.bag(place).items()) == expected
        expect(holds=is_same, law=f"the terms of the view {view.name} are the same")
    is_same = batch.fingerprints == fingerprints(batch.views).tolist()
    expect(holds=is_same, law="the fingerprints are those of the terms")
    nameless = read_together(together, settings, are_named=False)
    is_same = nameless.documents == batch.documents and not nameless.digests
    expect(holds=is_same, law="the same documents are read without names")
    for terms, same in zip(nameless.views, batch.views, strict=True):
        is_same = terms.bag(place) == same.bag(place)
        expect(holds=is_same, law="the terms are the same without names")


def changed(data: bytes, other: bytes, choice: Random) -> bytes:
    """Return an input with some changes, of which some are pieces of another."""
    for _ in range(choice.choice((1, 1, 2, 3, 5, 8))):
        start = choice.randrange(len(data) + 1)
        end = min(start + choice.choice((0, 0, 1, 1, 4, 30, 300)), len(data))
        data = data[:start] + _put_in(data, other, choice) + data[end:]
    return data[:LONGEST]


def _put_in(data: bytes, other: bytes, choice: Random) -> bytes:
    """Return what replaces a piece of an input."""
    kind = choice.randrange(5)
    if kind == 0:
        return b""
    if kind == 1:
        return bytes([choice.randrange(256)])
    if kind == 2:
        return choice.choice(mails.WORDS + RARE)
    source = data if kind == 3 else other
    start = choice.randrange(len(source) + 1)
    piece = source[start : start + choice.choice((2, 10, 60, 400))]
    return piece * choice.choice((1, 1, 1, 2, 20))


class Fuzzer:
    """
    Inputs that reach edges of the compiled reader which no other has reached.

    Attributes:
        n_run: how many inputs were tried.
        n_read: how many of them the compiled reader has read.
    """

    def __init__(self, library: Path, seed: int) -> None:
        self._edges = (ctypes.c_uint8 * (1 << 16)).in_dll(
            instrumented.use(library), "edges"
        )
        self._known = bytearray(1 << 16)
        self._choice = Random(seed)  # noqa: S311  no secret
        self._settings = settings_of_all()
        self._pool: list[bytes] = []
        self.n_run = self.n_read = 0

    @property
    def n_kept(self) -> int:
        """Return how many inputs have reached something new."""
        return len(self._pool)

    @property
    def n_edges(self) -> int:
        """Return how many edges have been reached."""
        return sum(map(bool, self._known))

    def next(self) -> bytes:
        """Return an input that was not tried yet, or hardly so."""
        data, other = self._choice.choices(self._pool, k=2)
        return changed(data, other, self._choice)

    def run(self, data: bytes) -> bool:
        """
        Try an input; return whether it reaches something new.

        Raises:
            BrokenLawError: the readers do not agree about it.
        """
        ctypes.memset(self._edges, 0, len(self._edges))
        self.n_run += 1
        self.n_read += check(data, self._settings[self.n_run % len(self._settings)])
        reached = bytes(self._edges).translate(_CLASSES)
        known = int.from_bytes(self._known) | int.from_bytes(reached)
        after = known.to_bytes(len(self._known))
        if after == self._known:
            return False
        self._known[:] = after
        self._pool.append(data)
        return True


_CLASSES: Final = bytes(
    [0, 1, 2, 4, *[8] * 4, *[16] * 8, *[32] * 16, *[64] * 96, *[128] * 128]
)
"""How often an edge was reached, told apart coarsely, as AFL does."""


def seeds(folders: Iterable[Path]) -> Iterator[bytes]:
    """Yield inputs to begin with: those of nbtext's own, and small mails of folders."""
    yield from mails.seeds()
    yield from inputs("mail")
    n_read = 0
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if (
                path.is_file()
                and path.stat().st_size <= LONGEST
                and n_read < MOST_SEEDS
            ):
                n_read += 1
                yield path.read_bytes()


def fuzz(options: argparse.Namespace, library: Path) -> int:
    """Fuzz in this process; return 0 if nothing was found."""
    if options.kept:
        options.kept.mkdir(exist_ok=True)
    fuzzer = Fuzzer(library, options.seed)
    waiting = seeds(options.seeds)
    end = monotonic() + options.seconds
    while fuzzer.n_run < options.runs and monotonic() < end:
        data = next(waiting, None)
        is_seed = data is not None
        data = fuzzer.next() if data is None else data
        if options.last:
            Path(options.last).write_bytes(data)
        try:
            is_new = fuzzer.run(data)
        except Exception as error:  # whatever it is, it is to be seen with its input
            name = f"crash-{sha1(data).hexdigest()}"  # noqa: S324  a name, no secret
            place = (options.kept or Path()) / name
            place.write_bytes(data)
            sys.stderr.write(f"{place}: {error!r}\n")
            return 1
        if is_new and not is_seed and options.kept:
            name = sha1(data).hexdigest()  # noqa: S324  a name, no secret
            (options.kept / name).write_bytes(data)
    sys.stderr.write(
        f"{fuzzer.n_run} inputs, {fuzzer.n_read} read compiled, "
        f"{fuzzer.n_edges} edges, {fuzzer.n_kept} inputs with something new\n"
    )
    return 0


def main(arguments: Sequence[str]) -> int:
    """Fuzz, and return 0 if nothing was found."""
    parser = parser_of("fuzz.readers", "inputs")
    parser.add_argument("--seeds", type=Path, action="append", default=[])
    parser.add_argument(
        "--kept", type=Path, help="a folder; without one only what is found is kept"
    )
    parser.add_argument("--last", help="a file that holds each input while it is tried")
    return fuzz_checked("fuzz.readers", arguments, parser, fuzz, *instrumented.COVERAGE)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
