"""Small models to begin with, made as nbtext makes them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias

from fuzz import forge
from nbtext import train_on
from nbtext.counts.correction import CorrectionInfo
from nbtext.document import Document
from nbtext.learning import (
    Delta,
    LearnRequest,
    LearnResult,
    SettingsOverrides,
    learn_documents,
)
from nbtext.learning.delta_table import correction_table
from nbtext.scoring.stored import FEW
from nbtext.store import Row, compact, open_model, read_contents
from nbtext.store.compacting import compact_tail
from nbtext.tokens import bag_of, fingerprint, read
from nbtext.upkeep import prune

HEAD: Final = (
    b"From: %s@example.org\nDate: Mon, 1 Jul 2002\nMessage-ID: <%s>\nSubject: "
)
SPAM: Final = HEAD % (b"a", b"1") + b"pills\n\ncheap cheap pills pills\n"
HAM: Final = HEAD % (b"b", b"2") + b"lunch\n\nlunch on friday, cheap\n"
OTHER: Final = HEAD % (b"c", b"3") + b"code\n\nlunch code lunch code\n"
MESSAGE: Final = HEAD % (b"d", b"4") + b"pills\n\npills for lunch now\n"
"""What is taught to, and classified by, whatever model the fuzzer makes up."""

MANY: Final = [f"Subject: {n}\n\ncheap lunch {n}\n".encode() for n in range(FEW + 1)]
"""More messages than the plain engine deals with."""

TWO: Final = (("spam", SPAM), ("ham", HAM), ("ham", OTHER))
THREE: Final = (("spam", SPAM), ("ham", HAM), ("work", OTHER))
TEXTS: Final = (("spam", "cheap pills cheap"), ("ham", "lunch on friday, cheap"))

Pairs: TypeAlias = tuple[tuple[str, bytes | str], ...]

TRAINED: Final[tuple[tuple[Pairs, SettingsOverrides], ...]] = (
    (TWO, SettingsOverrides()),
    (TEXTS, SettingsOverrides()),
    (THREE, SettingsOverrides()),
    (THREE, SettingsOverrides(score="sum", counting="once")),
)
"""What models are made of, and how they ask to be scored."""

WORDS: Final = (
    b"\xa6format", b"\x92\xa3end\xcf", b"\xc6\x00\x00\x00", b"\xc0", b"\xff" * 8,
    b"\xaacalibration", b"\xa7history", b"\xa7records", b"\xaanew_terms", b"\xa6offset",
    b"\xaacorrection",
)  # fmt: skip


def seeds() -> Iterator[bytes]:
    """Yield models that were trained, taught, compacted, joined and cut off."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.nbt")
        trained = [forge.undated(model) for model in _trained(path)]
        yield from trained
        yield from map(forge.undated, _taught(path, trained[0]))
        yield from map(forge.undated, _corrected(path))
    yield trained[0] + trained[0]
    yield trained[0] + trained[0][:-200]


def _trained(path: Path) -> Iterator[bytes]:
    """Yield models as `train` makes them, of two classes first."""
    for pairs, overrides in TRAINED:
        train_on(pairs, str(path), overrides=overrides, replace=True)
        yield path.read_bytes()


def _taught(path: Path, trained: bytes) -> Iterator[bytes]:
    """Yield a model that was trained, after each of some batches and compactings."""
    path.write_bytes(trained)
    learn(path, "spam", [MESSAGE])
    yield path.read_bytes()
    learn(path, "ham", [MESSAGE, OTHER])  # one moves, the other is known
    yield path.read_bytes()
    learn(path, "ham", [SPAM, MESSAGE.replace(b"now", b"then, then")])
    learn(path, None, [HAM])
    yield path.read_bytes()
    compact_tail(str(path))
    yield path.read_bytes()
    compact(str(path))
    yield path.read_bytes()
    learn(path, "spam", MANY)
    yield path.read_bytes()
    pruned = prune(read_contents(open_model(str(path))), 1)
    path.write_bytes(b"".join(map(bytes, pruned.contents.pack())))
    yield path.read_bytes()
    path.unlink()
    learn(path, "spam", [MESSAGE])
    yield path.read_bytes()
    path.write_bytes(_with_large_base(path))
    learn(path, "ham", [MESSAGE])
    yield path.read_bytes()


def _corrected(path: Path) -> Iterator[bytes]:
    """Yield a model of three classes that has a correction, and what changes it."""
    train_on(THREE, str(path), replace=True)
    contents = read_contents(open_model(str(path)))
    delta = Delta(contents.counts.settings)
    for number, (label, message) in enumerate(THREE, 1):
        reading = read(Document(label, (message,), is_mail=True), delta.settings)
        bag = bag_of(reading, delta.settings)
        amounts = {"spam": -5 * number, "work": 128}
        row = Row(label, fingerprint(bag))
        delta.correction.add(reading.digest, row, bag, amounts, 0.125)
    info = CorrectionInfo(contents.scoring.of_scores(), 0.5, 1.25, 3, {"passes": 3})
    correction = correction_table(delta, info)
    if correction is not None:
        correction = correction._replace(info=info)
    pieces = replace(contents, correction=correction).pack()
    path.write_bytes(b"".join(map(bytes, pieces)))
    yield path.read_bytes()
    learn(path, "ham", [SPAM])
    learn(path, None, [OTHER])
    yield path.read_bytes()
    learn(path, "spam", [*MANY, HAM])
    yield path.read_bytes()
    compact_tail(str(path))
    yield path.read_bytes()


def _with_large_base(path: Path) -> bytes:
    """Return a model that is so large that its tail is compacted alone."""
    words = " ".join(f"w{place}" for place in range(700)).encode()
    train_on([*TWO, ("ham", HAM + words)], str(path), replace=True)
    return path.read_bytes()


def learn(
    path: Path,
    label: str | None,
    messages: Iterable[bytes],
    *,
    approximate: bool = False,
) -> list[LearnResult]:
    """Learn messages into a model, or forget them if there is no class."""
    items = [Document(f"{n}", (one,), is_mail=True) for n, one in enumerate(messages)]
    request = LearnRequest(
        str(path), label, wait=0, create=True, approximate=approximate
    )
    batches = learn_documents(
        items, request, max_bytes=1 << 20, on_problem=lambda _: None
    )
    return [result for batch in batches for result in batch]
