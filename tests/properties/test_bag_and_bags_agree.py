"""
A document alone and among many has the same terms, columns and fingerprint.

`nbtext.tokens.bag` reads one document with the standard library, `nbtext.tokens.bags`
many with arrays; what is learnt with one and forgotten with the other must leave
nothing.
"""

from math import isqrt

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from nbtext.settings.columns import (
    COLUMNS,
    LEVELS,
    UNWEIGHTED,
    WEIGHTED,
    Column,
    in_order,
)
from nbtext.settings.reading import Settings
from nbtext.settings.views import BODY, HEADERS, RAW, TOPIC
from nbtext.tokens.bag import Bag, bag_of, columns_of, fingerprint, unit_weight
from nbtext.tokens.bags import (
    Terms,
    fingerprints,
    further_columns,
    read_terms,
    unit_weights,
)
from nbtext.tokens.reading import Reading

MAIL = Settings(format="mail", views=(HEADERS, RAW, BODY))
WEIGHTS = Settings(format="text", views=(TOPIC._replace(columns=WEIGHTED),))

WORDS = st.sampled_from(["a", "B", "b", "!", "$9", "naïve", "日本", "\ud800", "x" * 40])
TEXTS = st.lists(WORDS, max_size=12).map(" ".join) | st.text(max_size=30)
FIELDS = st.lists(st.tuples(st.sampled_from(["from", "subject", "body"]), TEXTS))
MASK = 2**64 - 1


def bag_at(views: list[Terms], place: int) -> Bag:
    """Return one of many documents as the plain engine has it."""
    parts = [slice(*terms.starts[place : place + 2].tolist()) for terms in views]
    return tuple(
        dict(zip(terms.keys[part].tolist(), terms.counts[part].tolist(), strict=True))
        for terms, part in zip(views, parts, strict=True)
    )


@given(st.lists(st.lists(FIELDS, min_size=3, max_size=3), max_size=5))
def test_documents_have_the_same_terms_alone_and_among_many(
    documents: list[list[list[tuple[str, str]]]],
) -> None:
    views = read_terms(MAIL, documents)
    marks = fingerprints(views).tolist()

    assert len(marks) == len(documents)
    for place, fields in enumerate(documents):
        bag = bag_of(Reading(tuple(fields), b"", 0), MAIL)
        assert bag_at(views, place) == bag
        assert marks[place] == fingerprint(bag)


TOP = 2**48 - 1
KEYS = st.integers(0, TOP) | st.sampled_from([0, 1, 2**47, TOP])
LARGE = st.sampled_from([1, 2, 3, 255, 65534, 65535, 65536, 2**20, 2**27])
"""No document is so long that its squares do not add up in 63 bits."""
BAGS = st.dictionaries(KEYS, st.integers(1, 9) | LARGE, max_size=12)


def terms_of(bags: list[dict[int, int]]) -> Terms:
    """Return documents of one view as the batch engine has them."""
    rows = [sorted(bag.items()) for bag in bags]
    terms = [term for row in rows for term in row]
    starts = np.cumsum([0, *map(len, rows)])
    return Terms(
        np.array([key for key, _ in terms], np.uint64),
        np.array([count for _, count in terms], np.int32),
        starts,
    )


@given(st.lists(BAGS, max_size=6))
@example([{}])
@example([{}, {1: 65536, 2: 1}, {}])
def test_terms_have_the_same_columns_alone_and_among_many(
    bags: list[dict[int, int]],
) -> None:
    terms = terms_of(bags)
    weights = unit_weights(terms).tolist()

    alone = [columns_of(bag, WEIGHTED) for bag in bags]
    assert [
        (key, columns) for one in alone for key, columns in sorted(one.items())
    ] == [
        (key, (count, 1, weight))
        for key, count, weight in zip(
            terms.keys.tolist(), terms.counts.tolist(), weights, strict=True
        )
    ]
    for bag in bags:
        without = columns_of(bag, UNWEIGHTED)
        assert without == {key: (count, 1) for key, count in bag.items()}


@given(st.lists(BAGS, max_size=6), st.sets(st.sampled_from(COLUMNS[2:])))
@example([{1: 1, 2: 2, 3: 8, 4: 9}, {}], {"weight", "level1", "level8"})
def test_further_columns_are_the_same_alone_and_among_many(
    bags: list[dict[int, int]], wanted: set[Column]
) -> None:
    columns = in_order([*UNWEIGHTED, *wanted])
    further = [values.tolist() for values in further_columns(terms_of(bags), columns)]

    alone = [columns_of(bag, columns) for bag in bags]
    rows = [values[2:] for one in alone for _, values in sorted(one.items())]
    assert len(further) == len(wanted)
    assert list(map(list, zip(*rows, strict=True))) == further or not rows
    for bag, added in zip(bags, alone, strict=True):
        for key, count in bag.items():
            levels = dict(zip(columns, added[key], strict=True))
            for level, name in enumerate(LEVELS, 1):
                assert levels.get(name, count == level) == (count == level)


@given(st.lists(st.tuples(BAGS, BAGS), max_size=5))
def test_any_counts_have_the_same_fingerprint(
    documents: list[tuple[dict[int, int], dict[int, int]]],
) -> None:
    views = [terms_of([document[view] for document in documents]) for view in (0, 1)]

    assert fingerprints(views).tolist() == [fingerprint(one) for one in documents]


@given(BAGS, BAGS)
def test_a_fingerprint_tells_the_views_apart_and_counts_every_term(
    one: dict[int, int], other: dict[int, int]
) -> None:
    both = fingerprint((one, other))

    assert both + 1 & MASK == fingerprint((one, {})) + fingerprint(({}, other)) & MASK
    assert both == fingerprint((dict(reversed(one.items())), other))
    assert fingerprint(({}, {})) == 1


@given(st.integers(1, 2**15), st.integers(0, 2**62))
def test_a_weight_is_the_floor_of_the_share_of_the_length(log: int, rest: int) -> None:
    squares = log * log + rest

    weight = unit_weight(log, squares)

    assert weight**2 * squares <= (65535 * log) ** 2 < (weight + 1) ** 2 * squares
    assert weight == isqrt((65535 * log) ** 2 // squares)


@given(st.lists(BAGS, min_size=1, max_size=6), st.data())
def test_some_of_many_documents_keep_their_terms(
    bags: list[dict[int, int]], data: st.DataObject
) -> None:
    places = data.draw(st.lists(st.integers(0, len(bags) - 1), unique=True).map(sorted))

    taken = terms_of(bags).take(np.array(places, np.int64))

    assert [bag_at([taken], n)[0] for n in range(len(places))] == [
        bags[place] for place in places
    ]
