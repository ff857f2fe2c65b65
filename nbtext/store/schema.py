"""
The arrays of a count table: their names, types and order, declared once.

Whoever reads or writes an array asks here what it is called and which types it may
have. Columns are found by name. docs/model-format.md says what each array means.
"""

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, TypeAlias

from nbtext.settings.reading import KEY_BITS, Settings
from nbtext.settings.views import View

Code: TypeAlias = Literal["B", "H", "I", "Q", "b", "h", "i", "q"]

TYPES: Final[dict[str, Code]] = {
    "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
    "i1": "b", "i2": "h", "i4": "i", "i8": "q",
}  # fmt: skip
"""The types of arrays, little-endian, and what `memoryview.cast` calls them."""

LIMITS: Final = {
    kind: (0, 256 ** int(kind[1]) - 1)
    if kind[0] == "u"
    else (-(256 ** int(kind[1])) // 2, 256 ** int(kind[1]) // 2 - 1)
    for kind in TYPES
}
"""The least and the greatest value of each type, in the order of trying."""

Types: TypeAlias = tuple[str, ...]

WHOLE: Final[Types] = ("u8",)
KEYS: Final[Types] = ("u4", "u8")
CLASSES: Final[Types] = ("u1", "u2")
CODES: Final[Types] = ("u1", "u2", "u4")
PLACES: Final[Types] = ("u1", "u2", "u4", "u8")
BINS: Final[Types] = ("i2",)
BYTES: Final[Types] = ("u1",)
COUNTS: Final[Types] = tuple(TYPES)

STRIDE: Final = 16
"""Terms from one to the next of which it is stored where its entries begin."""

IMPLIED_BITS: Final = 16
"""The bits of a key that an index of as many bits, or more, stands for."""

LOW_BITS: Final = KEY_BITS - IMPLIED_BITS
"""The bits of a key that are stored where the index stands for the others."""

MAX_INDEX_BITS: Final = 32

CHECKSUMS: Final = "checksums"
"""The array of the checksums of all others; it is the last one."""


class TermArrays(NamedTuple):
    """
    The names of the arrays of a family of terms.

    Attributes:
        buckets: where the keys of each value of their top bits begin.
        keys: the keys, sorted; their low 32 bits where the index has 16 bits or more.
        codes: how many entries a term has, or the class of one that counts 1 only.
        starts: where the entries of every 16th term begin.
        classes: the class of each entry.
        columns: one array for each column, a value an entry.
    """

    buckets: str
    keys: str
    codes: str
    starts: str
    classes: str
    columns: tuple[str, ...]


class LedgerArrays(NamedTuple):
    """The names of the arrays of the ledger, a value a row."""

    high: str = "ledger.high"
    low: str = "ledger.low"
    fingerprints: str = "ledger.fingerprints"
    classes: str = "ledger.classes"
    counts: str = "ledger.counts"


class RecordArrays(NamedTuple):
    """The names of the arrays of undo records, a value a document."""

    high: str = "undo.high"
    low: str = "undo.low"
    fingerprints: str = "undo.fingerprints"
    classes: str = "undo.classes"
    bins: str = "undo.bins"


class AmountArrays(NamedTuple):
    """
    The names of the arrays of what documents have added to a correction.

    A value a document, and of the last two a value an amount.
    """

    high: str = "amounts.high"
    low: str = "amounts.low"
    fingerprints: str = "amounts.fingerprints"
    labels: str = "amounts.labels"
    sizes: str = "amounts.sizes"
    classes: str = "amounts.classes"
    values: str = "amounts.values"


class BagArrays(NamedTuple):
    """
    The names of the arrays of undo records in one view.

    Attributes:
        sizes: how many distinct terms each document has.
        keys: the terms, document by document.
        counts: how often each occurs.
    """

    sizes: str
    keys: str
    counts: str


TEXTS: Final = "texts"
"""What the names of the arrays of texts begin with."""

LEDGER: Final = LedgerArrays()
RECORDS: Final = RecordArrays()
AMOUNTS: Final = AmountArrays()


def term_arrays(view: View) -> TermArrays:
    """Return the names of the arrays of a view's terms."""
    return _family(view.name, view.columns)


def correction_arrays(view: View) -> TermArrays:
    """Return the names of the arrays of a view's correction."""
    return _family(f"{view.name}.correction", ("value",))


def _family(prefix: str, columns: Iterable[str]) -> TermArrays:
    return TermArrays(
        buckets=f"{prefix}.buckets",
        keys=f"{prefix}.keys",
        codes=f"{prefix}.codes",
        starts=f"{prefix}.starts",
        classes=f"{prefix}.classes",
        columns=tuple(f"{prefix}.{name}" for name in columns),
    )


def families(settings: Settings, *, is_corrected: bool) -> list[TermArrays]:
    """Return the families of terms that a table has."""
    found = [term_arrays(view) for view in settings.views]
    if is_corrected:
        found += map(correction_arrays, settings.views)
    return found


def bag_arrays(view: View) -> BagArrays:
    """Return the names of the arrays of undo records in a view."""
    return BagArrays(*(f"undo.{view.name}.{part}" for part in BagArrays._fields))


def text_array(view: View) -> str:
    """Return the name of the array of the texts of a view's terms."""
    return f"{TEXTS}.{view.name}"


def array_types(
    settings: Settings,
    records: int = 0,
    *,
    is_corrected: bool = False,
    has_texts: bool = False,
) -> dict[str, Types]:
    """
    Return the arrays that a table has, in order, each with the types it may have.

    Args:
        settings: how its documents were read.
        records: how many documents it keeps to be undone.
        is_corrected: whether it has a correction.
        has_texts: whether it has texts of terms.
    """
    types: dict[str, Types] = {}
    for view in settings.views:
        types |= _family_types(term_arrays(view))
    if settings.ledger:
        types |= {
            LEDGER.high: WHOLE,
            LEDGER.low: WHOLE,
            LEDGER.fingerprints: WHOLE,
            LEDGER.classes: CLASSES,
            LEDGER.counts: COUNTS,
        }
    if is_corrected:
        for view in settings.views:
            types |= _family_types(correction_arrays(view))
        types |= {
            AMOUNTS.high: WHOLE,
            AMOUNTS.low: WHOLE,
            AMOUNTS.fingerprints: WHOLE,
            AMOUNTS.labels: CLASSES,
            AMOUNTS.sizes: PLACES,
            AMOUNTS.classes: CLASSES,
            AMOUNTS.values: COUNTS,
        }
    if records:
        types |= {
            RECORDS.high: WHOLE,
            RECORDS.low: WHOLE,
            RECORDS.fingerprints: WHOLE,
            RECORDS.classes: CLASSES,
            RECORDS.bins: BINS,
        }
        for view in settings.views:
            bag = bag_arrays(view)
            types |= {bag.sizes: PLACES, bag.keys: WHOLE, bag.counts: COUNTS}
    if has_texts:
        types |= dict.fromkeys(map(text_array, settings.views), BYTES)
    types[CHECKSUMS] = ("u4",)
    return types


def _family_types(names: TermArrays) -> dict[str, Types]:
    types = {
        names.buckets: PLACES,
        names.keys: KEYS,
        names.codes: CODES,
        names.starts: PLACES,
        names.classes: CLASSES,
    }
    return types | dict.fromkeys(names.columns, COUNTS)


def smallest_type(low: int, high: int, types: Iterable[str]) -> str:
    """
    Return the first type that holds all values of an array.

    Raises:
        ValueError: none of them does.
    """
    types = [*types]
    for kind in types:
        if LIMITS[kind][0] <= low and high <= LIMITS[kind][1]:
            return kind
    message = f"values from {low} to {high} do not fit into {types}"
    raise ValueError(message)


def index_bits(n_terms: int) -> int:
    """
    Return how many top bits the index of so many keys has.

    A bucket has 8 to 16 keys, and 2 to 8 where more bits make the keys shorter.
    """
    bits = max(n_terms.bit_length() - 4, 0)
    is_near = IMPLIED_BITS - 2 <= bits < IMPLIED_BITS
    return IMPLIED_BITS if is_near else min(bits, MAX_INDEX_BITS)


def index_bits_of(length: int) -> int:
    """
    Return how many top bits an index of so many values has.

    Raises:
        ValueError: no index has as many.
    """
    bits = (length - 1).bit_length() - 1
    if length < 2 or length != (1 << bits) + 1 or bits > MAX_INDEX_BITS:
        message = f"no index has {length} values"
        raise ValueError(message)
    return bits


def stored_bits(bits: int) -> int:
    """Return how many low bits of a key are stored beside an index of so many bits."""
    return LOW_BITS if bits >= IMPLIED_BITS else KEY_BITS


def key_types(bits: int) -> Types:
    """Return the type of keys beside an index of so many bits."""
    return ("u4",) if bits >= IMPLIED_BITS else ("u8",)
