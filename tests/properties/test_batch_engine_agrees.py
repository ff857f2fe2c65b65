"""
The batch engine finds what the plain engine finds.

For any documents and any view, `batch_keys` gives for each document the same multiset
of keys as `tokens.keys`, whatever stands beside it in the batch.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbtext.batch import FEW, LONG, WINDOW, batch_keys
from nbtext.settings import BODY, HEADERS, RAW, TOPIC, View
from nbtext.tokens import Field, keys

TRICKY = [
    *("\0", "\n", " ", "<", "(", ".", "!", "_", "a", "Z", "7", "\x7f", "\xa0"),
    *("\u0130", "\u1e9e", "\u212a", "\u01c5", "\u03a3", "\u0345", "\u1f88"),  # folds
    *("e\u0301", "\u0301", "\u200d", "\u200b", "\u0e33", "\u094d"),  # marks, joiners
    *("\u4e2d", "\u3042", "\u30ab", "\u0e01", "\u0e40", "\u1780", "\u1000"),  # single
    *("\ud800", "\udfff", "\U0001f600", "\U00010400", "\U0010ffff", "\ufffe"),
]
CHARACTERS = st.characters(exclude_categories=())
LENGTHS = st.sampled_from([7, 8, 9, 15, 16, 17, LONG - 1, LONG, LONG + 1, 3 * LONG])
LONG_TOKENS = st.builds(
    str.__mul__, st.sampled_from(["a", "B9", "\u0130", "\u4e2d\u6587x", "--"]), LENGTHS
)
PIECES = st.one_of(
    st.text(CHARACTERS, max_size=20),
    st.lists(st.sampled_from(TRICKY), max_size=20).map("".join),
    st.text(st.characters(max_codepoint=127), max_size=40),
    LONG_TOKENS,
)
TEXTS = st.lists(PIECES, max_size=5).map(" ".join) | PIECES
FIELDS = st.tuples(st.sampled_from(["body", "subject", "from", "", "ü"]), TEXTS)
DOCUMENTS = st.lists(st.lists(FIELDS, max_size=4), max_size=5)

VIEW_IDS = ["headers", "raw", "body", "topic"]

VIEWS = st.builds(
    View,
    name=st.just("view"),
    text=st.sampled_from(["headers", "raw", "body", "summary"]),
    alphabet=st.sampled_from(["fields", "words", "marks"]),
    tokens=st.booleans(),
    pairs=st.booleans(),
    fold_tokens=st.booleans(),
    fold_pairs=st.booleans(),
    fields=st.booleans(),
    limit=st.none() | st.integers(1, 12),
).filter(lambda view: view.tokens or view.pairs)


def by_document(view: View, documents: list[list[Field]]) -> list[list[int]]:
    """Return each document's keys, sorted, as the batch engine finds them."""
    found = batch_keys(view, documents)
    bounds = zip(found.starts[:-1].tolist(), found.starts[1:].tolist(), strict=True)
    return [sorted(found.keys[start:end].tolist()) for start, end in bounds]


@given(VIEWS, DOCUMENTS)
@settings(max_examples=300)
def test_any_view_of_any_documents(view: View, documents: list[list[Field]]) -> None:
    assert by_document(view, documents) == [
        sorted(keys(view, fields)) for fields in documents
    ]


@given(VIEWS, DOCUMENTS)
@settings(max_examples=50)
def test_the_neighbours_in_a_batch_change_nothing(
    view: View, documents: list[list[Field]]
) -> None:
    alone = [by_document(view, [fields])[0] for fields in documents]

    assert by_document(view, documents) == alone


@pytest.mark.parametrize("view", [HEADERS, RAW, BODY, TOPIC], ids=VIEW_IDS)
def test_each_code_point_among_letters_and_by_itself(view: View) -> None:
    step = 0x400
    documents = [
        [
            ("body", "".join(f"aB{chr(code)}C" for code in range(first, first + step))),
            ("from", " ".join(map(chr, range(first, first + step)))),
        ]
        for first in range(0, 0x20000, step)
    ]

    assert by_document(view, documents) == [
        sorted(keys(view, fields)) for fields in documents
    ]


@pytest.mark.parametrize("letter", ["a", "é", "中"])
@pytest.mark.parametrize(
    "lengths",
    [
        pytest.param([8 * WINDOW - 1, 8 * WINDOW, 8 * WINDOW + 1], id="one window"),
        pytest.param([24 * WINDOW + 3], id="several windows"),
        pytest.param([LONG + n for n in range(3 * FEW)], id="more than a few"),
    ],
)
def test_tokens_of_any_length_are_hashed_whole(letter: str, lengths: list[int]) -> None:
    text = " ".join(letter * length for length in lengths)
    documents = [[("body", f"{text} {letter}"), ("body", text[1:])]]

    assert by_document(BODY, documents) == [sorted(keys(BODY, documents[0]))]
