"""
Whatever is added and taken away, both engines write the same bytes for it.

`nbtext.learning.delta` writes what few documents change with the standard library
alone, `nbtext.store.packing` any counts from arrays: header, arrays and padding are
equal.
"""

from collections import Counter as Tally
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext.counts.calibration import Calibration, Prior
from nbtext.counts.correction import CorrectionInfo
from nbtext.counts.fitting import Fit
from nbtext.counts.table import CountTable, with_classes
from nbtext.learning import Delta, count_table
from nbtext.learning.delta import UndoRecord
from nbtext.learning.delta_table import correction_table
from nbtext.learning.delta_writing import pack_delta
from nbtext.policy import Cost, Policy
from nbtext.scoring.models.registry import default_scoring
from nbtext.settings.reading import Settings
from nbtext.settings.views import BODY, RAW
from nbtext.store import History, Row, UndoRecords
from nbtext.store.ledger import NO_BIN
from nbtext.tokens.bag import Bag, columns_of, fingerprint
from nbtext.tokens.bags import terms_of
from tests.build import WEIGHTS, ClassCounts, Rows, packed, table_of

PLAIN = Settings(format="text", views=(BODY, RAW))
LEVELS = PLAIN.counting(("occurrences", "documents", "level1", "level3", "logs"))
CALIBRATION = Calibration(
    default_scoring("mail", 2).of_scores(),
    Prior(),
    {(-3, "ham"): 1, (4, "b"): -1},
    (),
    {"ham": 1},
)
FIT = Fit(0.5, -2.25, 77)
INFO = CorrectionInfo(
    default_scoring("mail", 3).of_scores(),
    0.75,
    1.25,
    9,
    {"passes": 3},
    b"16 by" * 3 + b"t",
)
HISTORY = History(taught=3, learnt={"ham": "then"}, offset=640, new_terms=(5, -2))


class Taught(NamedTuple):
    """A document that is added or taken away, and how often."""

    digest: bytes
    label: str
    bag: Bag
    times: int

    @property
    def row(self) -> Row:
        return Row(self.label, fingerprint(self.bag))


KEYS = st.sampled_from([0, 1, 2, 2**32, 2**47, 2**48 - 1]) | st.integers(0, 2**48 - 1)
COUNTS = st.sampled_from([1, 1, 1, 2, 3, 255, 256, 40_000, 70_000])


def taught(settings: Settings) -> st.SearchStrategy[list[Taught]]:
    terms = st.dictionaries(KEYS, COUNTS, max_size=6)
    return st.lists(
        st.builds(
            Taught,
            st.sampled_from([bytes(16), bytes(15) + b"\1", b"\xff" * 16])
            | st.binary(min_size=16, max_size=16),
            st.sampled_from(["", "a", "b", "ham", "spam", "é"]),
            st.tuples(*[terms] * len(settings.views)),
            st.sampled_from([1, 1, -1, -1, 2, -300]),
        ),
        max_size=6,
    )


def summed(settings: Settings, documents: list[Taught]) -> CountTable:
    """Return the sum of what documents add, counted term by term."""
    n_documents: Tally[str] = Tally()
    ledger: Tally[tuple[str, int, int, int]] = Tally()
    cells: dict[tuple[int, str, int], list[int]] = {}
    for one in documents:
        n_documents[one.label] += one.times
        high, low = (int.from_bytes(one.digest[n : n + 8], "big") for n in (0, 8))
        ledger[one.label, high, low, one.row.fingerprint] += one.times
        for view, terms in enumerate(one.bag):
            for key, columns in columns_of(terms, settings.views[view].columns).items():
                cell = cells.setdefault((view, one.label, key), [0] * len(columns))
                cell[:] = [
                    n + one.times * m for n, m in zip(cell, columns, strict=True)
                ]
    labels = {label for label, *_ in (row for row, n in ledger.items() if n)}
    classes = sorted(labels | {label for label, n in n_documents.items() if n})

    def rows(view: int, label: str) -> Rows:
        return {
            key: cell
            for (where, name, key), cell in cells.items()
            if (where, name) == (view, label) and any(cell)
        }

    return table_of(
        {
            label: ClassCounts(
                n_documents[label],
                [rows(view, label) for view in range(len(settings.views))],
                {row[1:]: n for row, n in ledger.items() if n and row[0] == label},
            )
            for label in classes
        },
        settings,
    )


def records_of(settings: Settings, documents: list[Taught]) -> UndoRecords:
    """Return the records of documents, their terms by key."""
    return UndoRecords(
        [one.digest for one in documents],
        [one.row for one in documents],
        [bins_at(place) for place in range(len(documents))],
        [
            terms_of([one.bag[view] for one in documents])
            for view in range(len(settings.views))
        ],
    )


POLICY = Policy(prior=(("spam", 0.2),), costs=(Cost("ham", "spam", 100.0),))


def bins_at(place: int) -> tuple[int, ...]:
    return [(NO_BIN,), (-4096,), (7,), ()][place % 4]


def by_change(settings: Settings, documents: list[Taught], *, keep: bool) -> bytes:
    delta = Delta(settings)
    for one in documents:
        delta.add(one.digest, one.row, one.bag, one.times)
    if keep:
        delta.records = [
            UndoRecord(one.digest, one.row, one.bag, bins_at(place))
            for place, one in enumerate(documents)
        ]
    return bytes_of(delta)


def bytes_of(delta: Delta) -> bytes:
    pieces = pack_delta(
        delta,
        scoring=default_scoring("mail", 2),
        calibrations=(CALIBRATION,),
        fit=FIT,
        correction=INFO,
        policy=POLICY,
        history=HISTORY,
        histograms=None,
        written="now",
        writer="a test",
    )
    return b"".join(map(bytes, pieces))


def by_packing(settings: Settings, documents: list[Taught], *, keep: bool) -> bytes:
    return packed(
        summed(settings, documents),
        default_scoring("mail", 2),
        CALIBRATION,
        written="now",
        history=HISTORY,
        fit=FIT,
        policy=POLICY,
        records=records_of(settings, documents) if keep else None,
    )


@pytest.mark.parametrize(
    "settings", [PLAIN, WEIGHTS, LEVELS], ids=["plain", "weights", "levels"]
)
@given(data=st.data())
def test_any_change_is_the_same_bytes_from_both_writers(
    settings: Settings, data: st.DataObject
) -> None:
    documents = data.draw(taught(settings))

    one = by_change(settings, documents, keep=False)

    assert one == by_packing(settings, documents, keep=False)


@given(
    taught(WEIGHTS),
    st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(-300, 300))),
)
def test_a_changed_correction_is_the_same_bytes_from_both_writers(
    documents: list[Taught], amounts: list[dict[str, int]]
) -> None:
    delta = Delta(WEIGHTS)
    for one in documents:
        delta.add(one.digest, one.row, one.bag, one.times)
    for one, by_class in zip(documents, amounts, strict=False):
        delta.correction.add(one.digest, one.row, one.bag, by_class, 0.3, -1)
    correction = correction_table(delta, INFO)

    table = with_classes(count_table(delta), correction.classes if correction else ())

    assert bytes_of(delta) == packed(
        table,
        default_scoring("mail", 2),
        CALIBRATION,
        written="now",
        history=HISTORY,
        fit=FIT,
        correction=correction,
        policy=POLICY,
    )


def distinct(documents: list[Taught]) -> list[Taught]:
    """Return documents that are all added, and of which none is another."""
    return list({one.digest: one._replace(times=1) for one in documents}.values())


@pytest.mark.parametrize(
    "settings", [PLAIN, WEIGHTS, LEVELS], ids=["plain", "weights", "levels"]
)
@given(data=st.data())
def test_records_are_the_same_bytes_from_both_writers(
    settings: Settings, data: st.DataObject
) -> None:
    documents = distinct(data.draw(taught(settings)))

    one = by_change(settings, documents, keep=True)

    # a table that adds one document is its record itself
    assert one == by_packing(settings, documents, keep=len(documents) > 1)


@pytest.mark.parametrize(
    "settings", [PLAIN, WEIGHTS, LEVELS], ids=["plain", "weights", "levels"]
)
def test_many_terms_are_the_same_bytes_from_both_writers(settings: Settings) -> None:
    words = [key * 0x9E37_79B9_7F4A_7C15 % 2**48 for key in range(1, 1000)]
    bags = [
        tuple({key: 1 + key % n for key in words[n::n]} for _ in settings.views)
        for n in (1, 2, 3)
    ]
    labels = ("ham", "spam", "eggs")
    documents = [
        Taught(bytes([n]) * 16, label, bag, times)
        for n, (label, bag) in enumerate(zip(labels, bags, strict=True))
        for times in (1, -1)[: n + 1]
    ]

    assert by_change(settings, documents, keep=False) == by_packing(
        settings, documents, keep=False
    )
    assert len(by_change(settings, documents[:1], keep=False)) > 9000
