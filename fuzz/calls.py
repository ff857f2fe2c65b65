"""
The functions and types of the compiled extension, called with whatever arguments.

Sound arguments come first, and then others in their places: of other types and sizes,
buffers that are odd, numbers that are large, functions that fail. Whatever they are, a
call returns, or raises an exception that the caller or its own function has given rise
to; and no sanitizer stops it.

    python -m fuzz.calls                    for a minute, with sanitizers
    python -m fuzz.calls --seconds 900
"""

import argparse
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any, Final

from fuzz import instrumented, mails, models
from fuzz.checked import fuzz_checked, parser_of
from fuzz.laws import expect
from nbtext.learning.lesson import lesson_of
from nbtext.mail.questions import ANSWERS
from nbtext.scoring.stored import packed
from nbtext.settings.reading import KEY_BITS, default_settings
from nbtext.tokens.compiled import described, reader
from nbtext.tokens.kinds import TEXTS, reader_of, tables_of

Call = tuple[Callable[..., Any], tuple[Any, ...]]

EXPECTED: Final = (TypeError, ValueError, OverflowError, IndexError, BufferError)
"""What an argument that is not as it should be may raise."""


class OwnError(BaseException):
    """What a function that was handed over raises: no Exception, as is an interrupt."""


def failing(*_: object) -> bytes:
    """Raise what nothing but this raises."""
    raise OwnError


NUMBERS: Final = (
    0, 1, -1, 2, 15, 16, 47, 48, 64, 255, 256, 65535, 65536, (1 << 31) - 1, 1 << 31,
    (1 << 32) - 1, 1 << 32, (1 << 53) + 1, (1 << 62) - 1, 1 << 62, (1 << 63) - 1,
    1 << 63, (1 << 64) - 1, 1 << 64, 1 << 70, -(1 << 31), -(1 << 63), -(1 << 70),
)  # fmt: skip
REALS: Final = (0.0, -0.0, 1e-320, 0.5, 1e19, 1e308, float("inf"), float("nan"), -1.0)
OTHERS: Final[tuple[object, ...]] = (
    None, True, "", "text", "\ud800", "\0", b"", b"\0", b"bytes", (), [], {}, object,
    failing, (None,), [None], [[("a", "b")]], [[("a", "\udfff")]], ((),), 1j,
    lambda *_: None, lambda *_: -1, lambda *_: 1 << 70, lambda *_: "text",
    lambda *_: b"",
)  # fmt: skip


def odd(choice: Random) -> object:
    """Return an argument that most functions do not expect."""
    kind = choice.randrange(5)
    if kind == 0:
        return choice.choice(NUMBERS)
    if kind == 1:
        return choice.choice(REALS)
    if kind == 2:
        return choice.choice(OTHERS)
    data = bytearray(choice.randbytes(choice.choice((0, 1, 4, 7, 8, 16, 64, 4352))))
    if kind == 3:
        return bytes(data) if choice.random() < 0.5 else data
    view = memoryview(data)
    return view[1:] if choice.random() < 0.5 else view[::2]


def like(value: object, choice: Random) -> object:
    """Return an argument of the type of another, or some other one."""
    if isinstance(value, tuple | list) and value and choice.random() < 0.8:
        changed = list(value)
        place = choice.randrange(len(changed))
        changed[place] = like(changed[place], choice)
        if choice.random() < 0.2:
            changed = changed * choice.choice((0, 2, 20))
        return tuple(changed) if isinstance(value, tuple) else changed
    if isinstance(value, bool) or choice.random() < 0.2:
        return odd(choice)
    if isinstance(value, int):
        return choice.choice(NUMBERS)
    if isinstance(value, float):
        return choice.choice(REALS)
    if isinstance(value, array):
        return _other_array(value, choice)
    if isinstance(value, bytes | memoryview):
        data = bytearray(value)
        for _ in range(choice.choice((1, 1, 4, 40)) if data else 0):
            data[choice.randrange(len(data))] = choice.randrange(256)
        if choice.random() < 0.2:
            del data[choice.randrange(len(data) + 1) :]
        return bytes(data)
    return odd(choice)


def _other_array(value: "array[Any]", choice: Random) -> object:
    """Return an array with other numbers, or not as long as it should be."""
    kind = choice.randrange(4)
    if kind == 0:
        return value[: choice.randrange(len(value) + 1)]
    if kind == 1:
        return value * 2
    data = bytearray(value.tobytes())
    width = value.itemsize
    for _ in range(choice.choice((1, 1, 2, 8)) if data else 0):
        place = choice.randrange(len(value)) * width
        number = choice.choice(NUMBERS) & ((1 << 8 * width) - 1)
        data[place : place + width] = number.to_bytes(width, sys.byteorder)
    return array(value.typecode, bytes(data))


# --- sound calls ----------------------------------------------------------------------


def _find(extension: Any) -> Call:
    keys = array("Q", [1 << 40, 5 << 40, 6 << 40, (1 << 64) - 1])
    buckets = array("i", [0] * 8)
    wanted, places = array("Q", [5 << 40, 7, 6 << 40]), array("q", [0] * 3)
    return extension.find, (keys, buckets, 45, wanted, places)


def _add_by_class(extension: Any) -> Call:
    places, begins = array("q", [0, 2, 1]), array("q", [0, 2, 3])
    sound = (
        3, array("q", [0, 2, 3, 4]), array("H", [0, 1, 2, 1]), array("i", [1, 2, 3, 4]),
        begins, places, array("d", [1.0, 2.0, 0.5]), array("d", [0.0, 1.0, 0.0]),
        array("q", [0, 2]), array("d", [0.1] * 6), 1.0, array("d", bytes(48)),
        array("d", bytes(48)),
    )  # fmt: skip
    return extension.add_by_class, sound


def _add_means_left_out(extension: Any) -> Call:
    sound = (
        array("i", [3, 1, 0, 2, 5, 0]), 4, array("q", [0, 2, 1]), array("q", [1, 2, 1]),
        array("q", [0, 2, 3]), array("q", [0, 1]), array("q", [1, 2]),
        array("d", [9.0, 9.0]), 0.01, 1.5, array("d", bytes(16)),
    )  # fmt: skip
    return extension.add_means_left_out, sound


def _small_files(extension: Any) -> Call:
    return extension.small_files, (
        (__file__.encode(), b"/dev/null", b"/", b"none"),
        1 << 16,
        1 << 17,
        1 << 40,
    )


def _sum_terms(extension: Any) -> Call:
    sound = (
        ((array("Q", [3, 4, (1 << 48) - 1]), array("H", [1, 65535, 2])),
         (array("Q", [3]), array("H", [7]))),
    )  # fmt: skip
    return extension.sum_terms, sound


def _sum_entries(extension: Any) -> Call:
    sound = (
        4, array("q", [0, 2, 3, 3]), array("H", [0, 1, 1]),
        array("d", [0.5, -1.0, 2.0]), array("q", [0, 2, 3]), array("q", [0, 2, 1]),
        array("d", [1.0, 2.0, 0.5]),
        array("d", bytes(32)),
    )  # fmt: skip
    return extension.sum_entries, sound


def _correct(extension: Any) -> Call:
    # values that leave 32 bits, and come back by a step that has more
    view = (array("q", [0, 2, 3]), array("i", [0, 2, 0]), array("H", [65535, 9, 65535]))
    far = 1 << 24
    sound = (
        [view, view], 3, array("q", [0, 1, 1, 0]), array("q", [0]), array("q", [0, 1]),
        array("q", [256, 640]), array("i", [-far, far, 0, far, -far, 0]), 3, 64.0, 0.01,
        0.5, 0.0, array("h", bytes(12)), array("d", bytes(24)), True,
    )  # fmt: skip
    return extension.correct, sound


DOCUMENTS: Final = [
    [(b"a", b"one two"), (b"b", "caf\xe9 \u4e00".encode())], [],
    [(b"a", b"\xed\xa0\x80 x"), (b"a", b"\xf7\xe4 \xff")],
]  # fmt: skip


def _document_keys(extension: Any) -> Call:
    return extension.MailReader(_views()[:1], answered).document_keys, (DOCUMENTS,)


def _views() -> tuple[tuple[Any, ...], ...]:
    settings = default_settings("mail", 2)
    return tuple(
        (tables_of(alphabet), TEXTS.index(text), *flags, False, limit or 1 << 20, 0)  # type: ignore[arg-type]  # the text is one of them
        for alphabet, text, *flags, limit, _ in described(settings.views)
    )


def answered(number: int, first: bytes, second: bytes) -> bytes | None:
    """Answer a question."""
    return ANSWERS[number](first, second)


def _reader(extension: Any) -> Call:
    def read(*arguments: Any) -> None:
        reader = extension.MailReader(*arguments)
        for mail in (mails.NESTED, mails.ASKING):
            reader.read((mail,), True, False)
            reader.read((mail, mail))

    return read, (_views(), answered)


def _read(extension: Any) -> Call:
    reader = extension.MailReader(_views(), answered)
    return reader.read, ((mails.PLAIN, mails.NESTED, b""), True, True)


def _wanted() -> tuple[Any, ...]:
    """Return keys of the mails in each view, sorted, and some that none has."""
    plain = reader(default_settings("mail", 2).views, "mail")
    views = () if plain is None else plain.read((mails.NESTED,), False, False)[0]
    keys = [sorted({*memoryview(view).cast("Q")[::2], 5}) for view, _, _ in views]
    middle = 1 << KEY_BITS - 1
    return tuple(
        (
            array("Q", [*of_view, (1 << 64) - 1]),
            array("q", [0, sum(key < middle for key in of_view)]),
            KEY_BITS - 1,
        )
        for of_view in keys
    )


def _looking(extension: Any) -> Any:
    """Return a reader that looks for texts, and has found some."""
    looking = extension.MailReader(_views(), answered)
    looking.look_for(_wanted())
    looking.find_texts(mails.NESTED)
    return looking


def _look_for(extension: Any) -> Call:
    looking = _looking(extension)

    def find(*arguments: Any) -> None:
        looking.look_for(*arguments)
        for mail in (mails.NESTED, mails.ASKING):
            looking.find_texts(mail)
        for view in range(len(arguments[0])):
            looking.look(view, DOCUMENTS[0])
            looking.found(view)

    return find, (_wanted(),)


def _find_texts(extension: Any) -> Call:
    return _looking(extension).find_texts, (mails.ASKING,)


def _look(extension: Any) -> Call:
    fields = [(b"subject", b"one two one"), (b"b", "caf\xe9 \u4e00".encode())]
    return _looking(extension).look, (2, fields)


def _found(extension: Any) -> Call:
    return _looking(extension).found, (1,)


_models: list[bytes] = []

KEYS: Final = memoryview(array("Q", [1, 1 << 47, 5])).cast("B")


def _stored(extension: Any) -> Call:
    def look(*arguments: Any) -> None:
        stored = extension.StoredModel(*arguments)
        stored.views()
        stored.classes()
        stored.tables()
        stored.header()
        stored.held_out()
        stored.gather(None)
        stored.score(((b"", b"", bytes(8)),) * len(stored.views()))

    return look, (_models[0],)


def _score(extension: Any) -> Call:
    keys = array("Q", [1, 1 << 47, 5, (1 << 64) - 1]).tobytes()
    counts = array("H", [1, 65_535, 2, 3]).tobytes()
    view = keys, counts, array("Q", [0, 3, 4]).tobytes()
    once = keys, b"", array("Q", [2, 2, 4]).tobytes()
    return extension.StoredModel(_models[0]).score, ((view, once, view),)


def _rows(extension: Any) -> Call:
    stored = extension.StoredModel(_models[0])
    _, facts = reader_of(stored.views()).read((models.HAM,))
    return stored.rows, (bytes(facts[:16]),)


def _newton(extension: Any) -> Call:
    rows = array("q", [-8192, 3, -7, 1 << 40, 8193, 2])
    return extension.newton, (rows, 16, 0.5, -0.1, 0.35, 100.0, 1.0)


def _checksums(extension: Any) -> Call:
    return extension.checksums, (bytes(70), bytes(2000))


def _gather(extension: Any) -> Call:
    stored, before = (
        extension.StoredModel(_models[0]),
        extension.StoredModel(_models[0]),
    )
    before.gather(None)

    def gather(*given: Any) -> None:
        stored.gather(*given)
        view = packed(array("Q", [1, 1 << 47, 5]).tobytes())
        for model in (stored, before):
            model.score((view, view, view))

    return gather, (before,)


def _append(extension: Any) -> Call:
    stored = extension.StoredModel(_models[0])
    lesson = lesson_of(
        stored,
        reader_of(stored.views()),
        stored.classes()[0],
        (mails.NESTED,),
        {"writer": "fuzz", "written": "2026-01-01T00:00:00+00:00"},
        lambda: None,
    )
    table = lesson[1] if lesson else b""

    def append(*given: Any) -> None:
        stored.gather(None)
        stored.append(*given)
        stored.held_out()
        view = packed(array("Q", [1, 1 << 47, 5]).tobytes())
        stored.score((view, view, view))

    return append, (table,)


CALLS: Final[dict[str, Callable[[Any], Call]]] = {
    "find": _find,
    "add_by_class": _add_by_class,
    "small_files": _small_files,
    "sum_terms": _sum_terms,
    "add_means_left_out": _add_means_left_out,
    "sum_entries": _sum_entries,
    "correct": _correct,
    "checksums": _checksums,
    "newton": _newton,
    "MailReader": _reader,
    "MailReader.document_keys": _document_keys,
    "MailReader.read": _read,
    "MailReader.find_texts": _find_texts,
    "MailReader.look_for": _look_for,
    "MailReader.look": _look,
    "MailReader.found": _found,
    "StoredModel": _stored,
    "StoredModel.score": _score,
    "StoredModel.rows": _rows,
    "StoredModel.append": _append,
    "StoredModel.gather": _gather,
}
"""What can be called, with sound arguments."""

LOOKED_AT: Final = {
    f"StoredModel.{name}"
    for name in ("views", "classes", "tables", "header", "held_out")
}
"""What has no arguments, and is called with each model that can be opened."""


def names_in(extension: Any) -> set[str]:
    """Return what can be called of the extension."""
    found = set()
    for name, value in vars(extension).items():
        is_type = isinstance(value, type)
        is_made = not is_type or "__new__" in vars(value)  # others nobody can make
        if callable(value) and is_made and not name.startswith("_"):
            found.add(name)
        if is_type:
            own = [key for key in vars(value) if not key.startswith("_")]
            found |= {f"{name}.{key}" for key in own}
    return found


def try_one(made: Callable[[Any], Call], extension: Any, choice: Random) -> bool:
    """
    Call something with changed arguments; return whether it came to something.

    Raises:
        BrokenLawError: it has raised what is none of the arguments' doing.
    """
    function, sound = made(extension)
    arguments = [*sound]
    for _ in range(choice.choice((0, 1, 1, 1, 2, 3))):
        place = choice.randrange(len(arguments))
        arguments[place] = like(arguments[place], choice)
    if choice.random() < 0.02:
        arguments = arguments[: choice.randrange(len(arguments) + 1)]
    # a number of passes is how long it takes
    if made is _correct and len(arguments) > 7 and isinstance(arguments[7], int):
        arguments[7] %= 100
    try:
        function(*arguments)
    except OwnError:
        expect(holds="failing" in repr(arguments), law="nobody else raises this")
    except (*EXPECTED, MemoryError):
        return False
    return True


def fuzz(options: argparse.Namespace, library: Path) -> int:
    """Fuzz in this process; return 0 if nothing was found."""
    instrumented.use(library)
    from nbtext import _compiled

    _models.extend(models.seeds())
    choice = Random(options.seed)  # noqa: S311  no secret
    tried: Counter[str] = Counter()
    end = monotonic() + options.seconds
    is_all = names_in(_compiled) == {*CALLS, *LOOKED_AT}
    expect(holds=is_all, law="all that can be called is tried")
    for name, made in CALLS.items():
        function, sound = made(_compiled)
        function(*sound)
        tried[name] += 1
    n_run = 0
    while n_run < options.runs and monotonic() < end:
        name, made = choice.choice([*CALLS.items()])
        tried[name] += try_one(made, _compiled, choice)
        n_run += 1
    sys.stderr.write(f"{n_run} calls; came to something: {dict(tried)}\n")
    return 0


def main(arguments: Sequence[str]) -> int:
    """Fuzz, and return 0 if nothing was found."""
    parser = parser_of("fuzz.calls", "calls")
    return fuzz_checked("fuzz.calls", arguments, parser, fuzz)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
