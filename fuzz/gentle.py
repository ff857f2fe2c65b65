"""
Models that were made at random, and changed so that most of them stay sound.

A value that is changed anywhere is damage more often than not, and what comes behind
the checks is hardly reached. So here models are made as users make them; then one thing
or two of them are changed that nothing speaks against, or with what speaks against it.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias

from fuzz import forge
from fuzz.forge import Table
from fuzz.models import HAM, HEAD, MESSAGE, OTHER, SPAM
from nbtext import Policy, set_policy, train_on, undo
from nbtext.document import Document
from nbtext.errors import NbtextError
from nbtext.learning import LearnRequest, SettingsOverrides, learn_documents
from nbtext.store import compact
from nbtext.store.compacting import compact_tail

WORDS: Final = ("cheap", "pills", "lunch", "friday", "code", "now", "then", "for")


def _mail(number: int) -> bytes:
    """Return a mail of so many distinct words, some of them several times."""
    words = [f"{WORDS[n % len(WORDS)]}{n // len(WORDS) or ''}" for n in range(number)]
    some = " ".join(words[:: 1 + number % 3] * (1 + number % 4))
    return HEAD % (b"e", b"%d" % number) + b"mail\n\n" + some.encode() + b"\n"


MAILS: Final = (
    SPAM, HAM, OTHER, MESSAGE, b"Subject: only\n\n",
    *map(_mail, (1, 2, 3, 5, 8, 15, 16, 17, 33, 70)),
    b"Subject: x\n\n" + b"pills " * 300,
    b"Subject: =?utf-8?q?caf=C3=A9?=\n\n\xff\xfe caf\xc3\xa9\n",
)  # fmt: skip
"""What models are made of, and taught."""

Change: TypeAlias = Callable[[Table, Random], None]
"""What changes something about a table, in place, if it has it."""

LABELS: Final = ("ham", "spam")
KEPT: Final = (None, None, None, 0, 1, 2)
STRANGE: Final = (LookupError, TypeError, ValueError, OverflowError, AttributeError)
"""What is raised where a header of the pool is none, or has no place for a value."""

SMALL: Final = (0, 1, 2, 3, 127, 128, 255, 256)


def made(choice: Random, path: Path) -> bytes:
    """Return a model that was trained, taught and compacted at random."""
    path.unlink(missing_ok=True)
    smoothing = choice.choice((None, None, 1e-9, 0.5, 1e9))
    some = [choice.choice(MAILS) for _ in range(choice.choice((0, 1, 3, 9, 20)))]
    pairs = [("ham", HAM), ("spam", SPAM)]
    pairs += [(choice.choice(LABELS), one) for one in some]
    pairs += pairs[: choice.choice((0, 0, 1))]
    if choice.random() < 0.9:
        train_on(pairs, str(path), overrides=SettingsOverrides(smoothing=smoothing))
    for _ in range(choice.choice((0, 1, 2, 4, 8))):
        with suppress(NbtextError):  # there is no such model, or nothing to undo
            _taught(choice, path)
    return path.read_bytes() if path.exists() else made(choice, path)


def _taught(choice: Random, path: Path) -> None:
    """Do one thing of those that users do with a model."""
    deed = choice.random()
    if deed < 0.7:
        some = [choice.choice(MAILS) for _ in range(choice.choice((1, 1, 1, 2, 4)))]
        request = LearnRequest(
            str(path),
            choice.choice((*LABELS, *LABELS, None)),
            keep=choice.choice(KEPT),
            create=True,
        )
        documents = [Document(f"{n}", (one,)) for n, one in enumerate(some)]
        for _ in learn_documents(
            documents, request, max_bytes=1 << 20, on_problem=lambda _: None
        ):
            pass
    elif deed < 0.8:
        compact_tail(str(path))
    elif deed < 0.85:
        compact(str(path))
    elif deed < 0.95:
        set_policy(str(path), Policy(threshold=choice.choice((0.0, 0.5, 0.9, 1.0))))
    else:
        undo(str(path))


def changed(data: bytes, choice: Random) -> bytes:
    """Return a model file that differs a little from another, and may be sound."""
    tables = forge.taken_apart(data)
    if not tables:
        return data
    for _ in range(choice.choice((1, 1, 1, 2, 3))):
        place = choice.randrange(len(tables))
        table = Table(deepcopy(tables[place].header), list(tables[place].arrays))
        with suppress(*STRANGE):
            choice.choice(CHANGES)(table, choice)
        tables[place] = table
    if len(tables) > 1 and choice.random() < 0.1:
        tables.pop(choice.randrange(1, len(tables)))
    with suppress(*STRANGE):
        return forge.put_together(forge.with_offsets(tables))
    return data


def _arrays_of(
    table: Table, wanted: Callable[[str], object]
) -> Sequence[tuple[int, int]]:
    """Return the places and widths of arrays that have values, by their names."""
    return [
        (place, int(kind[1]))
        for place, (name, kind, length) in enumerate(table.header["arrays"])
        if length and wanted(name)
    ]


def _values(table: Table, place: int) -> list[int]:
    kind = table.header["arrays"][place][1]
    width, array = int(kind[1]), table.arrays[place]
    return [
        int.from_bytes(array[at : at + width], "little", signed=kind[0] == "i")
        for at in range(0, len(array), width)
    ]


def _put(table: Table, place: int, values: Sequence[int]) -> bool:
    """Put other values into an array, if its type has them."""
    kind = table.header["arrays"][place][1]
    width, is_signed = int(kind[1]), kind[0] == "i"
    try:
        packed = [one.to_bytes(width, "little", signed=is_signed) for one in values]
    except OverflowError:
        return False
    table.arrays[place] = b"".join(packed)
    return True


def _change_record(table: Table, choice: Random) -> None:
    """Change a value of the ledger, of undo records or of texts."""
    found = _arrays_of(table, lambda name: name.startswith(("ledger", "undo", "texts")))
    if not found:
        return
    place, width = choice.choice(found)
    values = _values(table, place)
    at = choice.randrange(len(values))
    other = choice.choice(values)
    bit = values[at] ^ 1 << choice.randrange(8 * width)
    values[at] = choice.choice((other, bit, choice.choice(SMALL), -values[at]))
    _put(table, place, values)


def _change_count(table: Table, choice: Random) -> None:
    """Change how often a term occurs, and the total of it."""
    header = table.header
    views = [view["name"] for view in header["settings"]["views"]]
    view = choice.randrange(len(views))
    name = views[view]
    places = {one[0]: place for place, one in enumerate(header["arrays"])}
    column = choice.randrange(2)
    place = places[f"{name}.{('occurrences', 'documents')[column]}"]
    values = _values(table, place)
    if not values:
        return
    at = choice.randrange(len(values))
    step = choice.choice((1, -1, 2, 100, -values[at]))
    values[at] += step
    if _put(table, place, values):
        of_class = _values(table, places[f"{name}.classes"])[at]
        header["totals"][view][of_class][column] += step


def _swap_codes(table: Table, choice: Random) -> None:
    """Swap what two terms of a view say of how often they occur."""
    found = _arrays_of(table, lambda name: name.endswith(".codes"))
    if found:
        place, _ = choice.choice(found)
        values = _values(table, place)
        one, two = choice.randrange(len(values)), choice.randrange(len(values))
        values[one], values[two] = values[two], values[one]
        _put(table, place, values)


def _change_key(table: Table, choice: Random) -> None:
    """Make a term another one, which comes where it came."""
    found = _arrays_of(table, lambda name: name.endswith(".keys"))
    if found:
        place, _ = choice.choice(found)
        values = _values(table, place)
        at = choice.randrange(len(values))
        values[at] += choice.choice((1, -1, 1 << choice.randrange(20)))
        _put(table, place, values)


def _change_calibration(table: Table, choice: Random) -> None:
    """Change what held-out documents have scored."""
    if not table.header["calibrations"]:
        return
    one = table.header["calibrations"][0]
    deed = choice.randrange(5)
    if deed == 0 and one["counts"]:
        row = choice.choice(one["counts"])
        row[2] = choice.choice((0, 1, -1, 2, 1 << 40, -(1 << 40), (1 << 40) + 1))
    elif deed == 1 and one["counts"]:
        row = choice.choice(one["counts"])
        row[0] = choice.choice((0, 4096, -4096, 4097, row[0] + 1))
        one["counts"].sort()
    elif deed == 2:
        row = [choice.randrange(-300, 300), choice.choice((*LABELS, "x")), 1]
        one["counts"] = sorted([*one["counts"], row])
    elif deed == 3 and one["documents"]:
        name = choice.choice(list(one["documents"]))
        one["documents"][name] = choice.choice((0, 1, -1, 5, 1 << 40))
    elif one.get("fit"):
        fit: list[Any] = one["fit"]
        at = choice.randrange(3)
        fit[at] = choice.choice(((0.0, 1e300, fit[0] * 2), (1e300, -3.0), (0, 7)))[0]


def _change_history(table: Table, choice: Random) -> None:
    """Change how the table came to be."""
    history = table.header["history"]
    name = choice.choice(("taught", "keep", "run", "offset"))
    if type(history.get(name)) is int:
        value = history[name]
        history[name] = choice.choice((0, 1, 2, value + 1, 1 << 20))


def _change_documents(table: Table, choice: Random) -> None:
    """Change how often a document is counted, and so how many there are."""
    header = table.header
    places = {one[0]: place for place, one in enumerate(header["arrays"])}
    values = _values(table, places["ledger.counts"])
    at = choice.randrange(len(values))
    step = choice.choice((1, 1, 2, -values[at], 100))
    values[at] += step
    if _put(table, places["ledger.counts"], values):
        of_class = _values(table, places["ledger.classes"])[at]
        header["documents"][of_class] += step


def _change_scoring(table: Table, choice: Random) -> None:
    """Change how the model is scored, or decides."""
    header = table.header
    if choice.random() < 0.5:
        plain = Policy(choice.choice((0.0, 0.5, 1.0))).as_dict()
        plain["prior"] = choice.choice(({}, {}, {"ham": 0.5}, {"ham": 1e-300}))
        header["policy"] = plain
        return
    calibrations = [one["scoring"] for one in header["calibrations"]]
    smoothing = choice.choice((1e-9, 1.0, 1e9, 1))
    least = choice.choice((0.0, 1e-9, 1e9, 3))
    for scoring in (header["scoring"], *calibrations):
        scoring["smoothing"] = smoothing
        scoring["parameters"] = {"min_evidence": least}


CHANGES: Final[tuple[Change, ...]] = (
    _change_record, _change_record, _change_count, _change_count, _swap_codes,
    _change_key, _change_calibration, _change_calibration, _change_history,
    _change_documents, _change_scoring,
)  # fmt: skip
