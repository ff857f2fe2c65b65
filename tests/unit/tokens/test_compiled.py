"""The compiled loops refuse what they cannot read, and let nothing go astray."""

import tracemalloc
from typing import Any, Final

import numpy as np
import pytest

from nbtext.settings.views import BODY, HEADERS
from nbtext.tokens import codepoints, compiled, tokenizer
from nbtext.tokens.engine import COMPILED, best, keys
from nbtext.tokens.kinds import KINDS

_compiled: Any = pytest.importorskip("nbtext._compiled")
pytestmark = pytest.mark.skipif(
    best() != COMPILED, reason="the extension is of another nbtext"
)

TABLES = (
    codepoints.classes().index,
    bytes(codepoints.classes().values),
    codepoints.offsets().index,
    bytes(codepoints.offsets().values),
    bytes(KINDS["marks"]),
)


def keys_of(documents: Any, tables: Any = TABLES) -> Any:
    return reader_of(tables).document_keys(documents)


def reader_of(tables: Any, *, ngrams: bool = False, n_views: int = 1) -> Any:
    view = (tables, 3, False, True, True, False, True, ngrams, 99, 0)
    return _compiled.MailReader((view,) * n_views, bytes)


@pytest.mark.parametrize(
    "documents",
    [
        (),
        [()],
        [[[b"body", b"list"]]],
        [[(b"body",)]],
        [[(b"body", b"text", b"more")]],
        [[(b"body", "text")]],
        [[(b"body", None)]],
        [[(None, b"text")]],
        [[None]],
    ],
    ids=repr,
)
def test_what_is_no_document_is_a_type_error(documents: object) -> None:
    with pytest.raises(TypeError):
        keys_of(documents)


@pytest.mark.parametrize("documents", [(), [()], [[(b"body",)]], [[(b"body", None)]]])
def test_of_what_is_no_document_there_are_no_ngrams(documents: Any) -> None:
    with pytest.raises(TypeError):
        reader_of(TABLES, ngrams=True).document_keys(documents)


@pytest.mark.parametrize("n_views", [0, 2])
def test_documents_are_read_in_one_view(n_views: int) -> None:
    reader = reader_of(TABLES, n_views=n_views)

    with pytest.raises(ValueError, match="one view"):
        reader.document_keys([[(b"body", b"text")]])


@pytest.mark.parametrize(
    ("place", "table"),
    [
        *((place, b"") for place in range(5)),
        *((place, bytes(table)[:-1]) for place, table in enumerate(TABLES)),
        *((place, b"\xff" * len(TABLES[place])) for place in range(3)),
        (4, b"\0\1\2\4\3"),
    ],
)
def test_tables_that_lead_out_of_bounds_are_refused(place: int, table: bytes) -> None:
    changed: Any = (*TABLES[:place], table, *TABLES[place + 1 :])

    with pytest.raises(ValueError, match="not tables of code points"):
        reader_of(changed)


@pytest.mark.parametrize(
    "tables",
    [
        *((), TABLES[:4], (*TABLES, b""), (*TABLES[:4], "kinds"), None),
        [*TABLES],  # from which they can be taken while a view is read
        *((*TABLES[:n], bytearray(TABLES[n]), *TABLES[n + 1 :]) for n in range(5)),
    ],
    ids=range(11),
)
def test_tables_are_five_bytes_objects_in_a_tuple(tables: Any) -> None:
    with pytest.raises(TypeError):
        reader_of(tables)


def test_offsets_that_lead_out_of_unicode_fold_nothing() -> None:
    far = np.full(len(TABLES[3]), 2**31 - 1, np.int32).tobytes()
    near = bytes(len(far))

    folded, _ = keys_of(
        [[(b"body", "Ünï cödé".encode())]], (*TABLES[:3], far, TABLES[4])
    )
    none, _ = keys_of(
        [[(b"body", "Ünï cödé".encode())]], (*TABLES[:3], near, TABLES[4])
    )

    assert folded == none


def test_surrogates_and_nul_are_text_like_any_other() -> None:
    fields = [("from", "a\ud800b \udfff \0 x\0y"), ("", "é\udc80")]

    for view in (HEADERS, BODY):
        assert sorted(keys(view, fields)) == sorted(tokenizer.keys(view, fields))


def test_nothing_is_kept_between_calls() -> None:
    texts = [f"é word{n} \ud800 " * 50 for n in range(50)]
    documents = [compiled.in_bytes([("body", text)]) for text in texts]

    def once() -> None:
        keys_of(documents)
        with pytest.raises(TypeError):
            keys_of([*documents, [(b"body", None)]])

    once()
    tracemalloc.start()
    once()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(20):
        once()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()

    assert grown < 20_000


@pytest.mark.parametrize(
    ("n_keys", "bucket_type", "n_buckets", "shift", "n_wanted", "n_places"),
    [
        (0, np.int32, 2, 63, 1, 1),
        (3, np.int32, 1, 63, 1, 1),
        (3, np.int16, 2, 63, 1, 1),
        (3, np.int32, 2, 0, 1, 1),
        (3, np.int32, 2, 64, 1, 1),
        (3, np.int32, 2, -1, 1, 1),
        (3, np.int32, 2, 63, 2, 1),
    ],
)
def test_places_are_looked_up_in_sound_arrays_only(
    n_keys: int,
    bucket_type: type,
    n_buckets: int,
    shift: int,
    n_wanted: int,
    n_places: int,
) -> None:
    keys = np.zeros(n_keys, np.uint64)
    buckets: Any = np.zeros(n_buckets, bucket_type)
    wanted, places = np.zeros(n_wanted, np.uint64), np.zeros(n_places, np.int64)

    with pytest.raises(ValueError, match="no keys with buckets"):
        _compiled.find(keys, buckets, shift, wanted, places)


@pytest.mark.parametrize("bucket_type", [np.int32, np.int64])
def test_buckets_that_lie_lead_nowhere_else(bucket_type: type) -> None:
    keys = np.array([1, 2, 2**64 - 1], np.uint64)
    wanted, places = np.array([1, 2**47], np.uint64), np.zeros(2, np.int64)

    for lie in (-1, 3, 2**31 - 1, np.iinfo(bucket_type).min):
        buckets: Any = np.full(2, lie, bucket_type)
        _compiled.find(keys, buckets, 47, wanted, places)

        assert places.tolist() == [2, 2]


@pytest.mark.parametrize("n_terms", [2**61 - 1, 2**62 - 1, 2**63 - 1])
def test_sizes_that_overflow_are_no_sizes(n_terms: int) -> None:
    arguments: list[Any] = [
        *(n_terms, b"", b"", b"", np.array([0, 1]), np.array([1 << 40])),
        *(np.ones(1), np.zeros(1), np.zeros(1, np.int64), np.ones(1), 1.0),
        *(np.zeros(1), np.zeros(1)),
    ]

    with pytest.raises(ValueError, match="no terms with weights"):
        _compiled.add_by_class(*arguments)


ENTRIES: Final[dict[str, Any]] = {
    "n_starts": 4,
    "starts": np.array([0, 2, 3, 3]),
    "classes": np.array([0, 1, 1], np.uint16),
    "values": np.array([0.5, -1.0, 2.0]),
    "begins": np.array([0, 2, 3]),
    "places": np.array([0, 2, 1]),
    "x": np.array([1.0, 2.0, 0.5]),
}


def sums_of_entries(n_sums: int = 4, **changed: Any) -> list[float]:
    sums = np.zeros(n_sums)
    arguments: list[Any] = [*(ENTRIES | changed).values(), sums]
    _compiled.sum_entries(*arguments)
    return sums.tolist()


def test_entries_are_added_up_by_document_and_class() -> None:
    expected = [0.5, -1.0, 0.0, 1.0]

    assert sums_of_entries() == expected
    assert sums_of_entries(starts=ENTRIES["starts"].astype(np.int32)) == expected


@pytest.mark.parametrize(
    "changed",
    [
        {"n_starts": 0},
        {"n_starts": -1},
        {"n_starts": 3},
        {"n_starts": 2**62},
        {"classes": np.zeros(2, np.uint16)},
        {"classes": np.zeros(3, np.uint8)},
        {"values": np.zeros(4)},
        {"begins": np.array([], np.int64)},
        {"begins": np.array([0, 4, 3])},
        {"begins": np.array([0, 2, 4])},
        {"places": np.zeros(2, np.int64)},
        {"x": np.zeros(4)},
        {"n_sums": 5},
    ],
    ids=str,
)
def test_what_are_no_entries_is_an_error(changed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no documents and entries"):
        sums_of_entries(**changed)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        # no such place, no such entries, no such class
        ({"places": np.array([3, -1, 2**62])}, [0.0] * 4),
        ({"places": np.array([-(2**63)] * 3)}, [0.0] * 4),
        ({"starts": np.array([-1, 2, 4, 2**62])}, [0.0] * 4),
        ({"starts": np.array([0, 2**62, 0, 0])}, [0.0] * 4),
        # where all classes have entries, they are not read
        ({"classes": np.array([9, 9, 65535], np.uint16)}, [0.5, -1.0, 0.0, 0.0]),
    ],
)
def test_entries_that_lie_lead_nowhere_else(
    changed: dict[str, Any], expected: list[float]
) -> None:
    assert sums_of_entries(**changed) == expected


def correction_of(
    times: int, rate: float, decay: float = 1.0, doubt: float = 0.0
) -> Any:
    view = np.array([0, 1]), np.zeros(1, np.int32), np.full(1, 65535, np.uint16)
    first = np.zeros(1, np.int64)
    amounts, logits = np.zeros(2, np.int16), np.zeros(2)
    base = np.zeros(2, np.int32)
    return _compiled.correct(
        *([view], 1, first, first, first, np.array([times]), base, 3, rate, 0.0, decay),
        *(doubt, amounts, logits, True),
    )


@pytest.mark.parametrize("times", [-1, 1 << 32, (1 << 63) - 1, -(1 << 63)])
def test_a_document_that_is_there_too_often_to_be_corrected_is_said(times: int) -> None:
    assert correction_of(1, 4.0)

    with pytest.raises(OverflowError):
        correction_of(times, 4.0)  # far enough for a share of a step to be one


@pytest.mark.parametrize("rate", [-1.0, 128.0, 1e300, float("inf"), float("nan")])
def test_a_rate_of_which_a_step_has_more_than_16_bits_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="no documents"):
        correction_of(1, rate)


@pytest.mark.parametrize("decay", [-0.5, 1.5, float("inf"), float("nan")])
def test_rates_that_would_grow_are_refused(decay: float) -> None:
    assert correction_of(1, 1.0, 0.5)

    with pytest.raises(ValueError, match="no documents"):
        correction_of(1, 1.0, decay)


@pytest.mark.parametrize("doubt", [-0.5, 1.5, float("inf"), float("nan")])
def test_doubts_that_are_no_share_are_refused(doubt: float) -> None:
    assert correction_of(1, 1.0, doubt=0.5)

    with pytest.raises(ValueError, match="no documents"):
        correction_of(1, 1.0, doubt=doubt)
