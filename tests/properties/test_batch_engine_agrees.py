"""
The keys of a batch are those of its documents one by one, compiled or not.

For any documents and any view, there are for each document the same keys, as often, as
`definition.defined_keys` gives, whatever stands beside it in the batch.
"""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise, product
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbtext.settings.views import BODY, HEADERS, NGRAMS, RAW, TOPIC, View
from nbtext.tokens import definition, ngrams, tokenizer
from nbtext.tokens.definition import defined_keys
from nbtext.tokens.engine import PLAIN, best, document_keys, use
from nbtext.tokens.tokenizer import Field

TRICKY = [
    *("\0", "\n", " ", "<", "(", ".", "!", "_", "a", "Z", "7", "\x7f", "\xa0"),
    *("\u0130", "\u1e9e", "\u212a", "\u01c5", "\u03a3", "\u0345", "\u1f88"),  # folds
    *("e\u0301", "\u0301", "\u200d", "\u200b", "\u0e33", "\u094d"),  # marks, joiners
    *("\u4e2d", "\u3042", "\u30ab", "\u0e01", "\u0e40", "\u1780", "\u1000"),  # single
    *("\ud800", "\udfff", "\U0001f600", "\U00010400", "\U0010ffff", "\ufffe"),
]
CHARACTERS = st.characters(exclude_categories=())
LENGTHS = st.sampled_from(
    [7, 8, 9, 15, 16, 17, 31, 32, 33, 62, 63, 64, 65, 127, 129, 511, 512, 513, 1536]
)
LONG_TOKENS = st.builds(
    str.__mul__, st.sampled_from(["a", "B9", "\u0130", "\u4e2d\u6587x", "--"]), LENGTHS
)
PIECES = st.one_of(
    st.text(CHARACTERS, max_size=20),
    st.lists(st.sampled_from(TRICKY), max_size=20).map("".join),
    st.text(st.characters(max_codepoint=127), max_size=40),
    st.text(st.sampled_from("ab "), min_size=50, max_size=200),
    LONG_TOKENS,
)
TEXTS = st.lists(PIECES, max_size=5).map(" ".join) | PIECES
FIELDS = st.tuples(st.sampled_from(["body", "subject", "from", "", "ü"]), TEXTS)
DOCUMENTS = st.lists(st.lists(FIELDS, max_size=4), max_size=5)

VIEW_IDS = ["headers", "raw", "body", "topic", "ngrams"]

OF_TOKENS = st.builds(
    View,
    name=st.just("view"),
    kind=st.just("text"),
    field=st.just(""),
    text=st.sampled_from(["headers", "raw", "body"]),
    alphabet=st.sampled_from(["fields", "words", "marks", "pattern"]),
    tokens=st.booleans(),
    pairs=st.booleans(),
    fold_tokens=st.booleans(),
    fold_pairs=st.booleans(),
    fields=st.booleans(),
    limit=st.none() | st.integers(1, 12) | st.sampled_from([2**31, 2**63, 2**64 - 1]),
    threes=st.none(),
).filter(lambda view: view.tokens or view.pairs)
OF_NGRAMS = st.builds(
    View,
    name=st.just("view"),
    kind=st.just("text"),
    field=st.just(""),
    text=st.sampled_from(["headers", "raw", "body"]),
    alphabet=st.just("ngrams"),
    fold_tokens=st.booleans(),
    limit=st.none() | st.integers(1, 40) | st.sampled_from([4000, 2**31, 2**64 - 1]),
    threes=st.none() | st.integers(1, 40) | st.sampled_from([4000, 2**31, 2**64 - 1]),
)
VIEWS = OF_TOKENS | OF_NGRAMS
RUNS = NGRAMS._replace(threes=4000)


Engine: TypeAlias = Callable[[View, list[list[Field]]], list[list[int]]]
"""Gives the keys of each document, sorted."""


def of_batch(view: View, documents: list[list[Field]]) -> list[list[int]]:
    found, starts = document_keys(view, documents)
    values = np.frombuffer(found, np.uint64).tolist()
    places = np.frombuffer(starts, np.int64).tolist()
    assert places[-1] == len(values)
    return [sorted(values[start:end]) for start, end in pairwise(places)]


@cache
def defined(view: View, documents: tuple[tuple[Field, ...], ...]) -> list[list[int]]:
    """What every engine is to give; it takes long to find."""
    return [sorted(defined_keys(view, [*fields])) for fields in documents]


@pytest.fixture(params=sorted({PLAIN, best()}), ids=str, scope="module")
def by_document(request: pytest.FixtureRequest) -> Iterator[Engine]:
    use(request.param)
    yield of_batch
    use(None)


@given(view=VIEWS, documents=DOCUMENTS)
@settings(max_examples=300)
def test_any_view_of_any_documents(
    by_document: Engine, view: View, documents: list[list[Field]]
) -> None:
    assert by_document(view, documents) == [
        sorted(defined_keys(view, fields)) for fields in documents
    ]


@given(view=VIEWS, documents=DOCUMENTS, bounds=st.tuples(*[st.integers(1, 5)] * 5))
@settings(max_examples=200)
def test_no_bound_of_the_plain_tokenizer_changes_a_key(
    view: View, documents: list[list[Field]], bounds: tuple[int, ...]
) -> None:
    names = ("PIECE", "LANES", "REMEMBERED", "REMEMBERED_OF_FIELD", "SHORT")
    tokenizer._token_hashes.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        for name, bound in zip(names, bounds, strict=True):
            patch.setattr(tokenizer, name, bound)
        patch.setattr(ngrams, "LANES", bounds[1])
        found = [sorted(definition.keys(view, fields)) for fields in documents]
    tokenizer._token_hashes.cache_clear()

    assert found == [sorted(defined_keys(view, fields)) for fields in documents]


@given(view=VIEWS, documents=DOCUMENTS)
@settings(max_examples=50)
def test_the_neighbours_in_a_batch_change_nothing(
    by_document: Engine, view: View, documents: list[list[Field]]
) -> None:
    alone = [by_document(view, [fields])[0] for fields in documents]

    assert by_document(view, documents) == alone


@pytest.mark.parametrize("view", [HEADERS, RAW, BODY, TOPIC, RUNS], ids=VIEW_IDS)
def test_each_code_point_among_letters_and_by_itself(
    by_document: Engine, view: View
) -> None:
    step = 0x400
    documents = tuple(
        (
            ("body", "".join(f"aB{chr(code)}C" for code in range(first, first + step))),
            ("from", " ".join(map(chr, range(first, first + step)))),
        )
        for first in range(0, 0x20000, step)
    )

    assert by_document(view, [*map(list, documents)]) == defined(view, documents)


@pytest.mark.parametrize("text", ["a", "é", "中", "\U00010400", "a  \t", " \u3000"])
@pytest.mark.parametrize("length", [3999, 4000, 4001, 5999, 6000, 6001, 2**17])
def test_of_a_long_text_the_same_ngrams_are_read(
    by_document: Engine, text: str, length: int
) -> None:
    whole = (text * length)[:length]
    documents = (
        (("body", whole),),
        (("title", whole[:7]), ("empty", ""), ("body", whole[7:]), ("more", whole)),
    )

    runs = NGRAMS._replace(threes=9999)
    for view in (NGRAMS, runs, runs._replace(limit=None, fold_tokens=False)):
        assert by_document(view, [*map(list, documents)]) == defined(view, documents)


LONG, VERY_LONG = [2**17 - 1, 2**17, 2**17 + 1], [3 * 2**17 + 3]
MANY = [512 + n for n in range(12)]


@pytest.mark.parametrize(
    ("letter", "lengths"),
    [
        *product(["a", "é"], [LONG, VERY_LONG, MANY]),
        ("中", [2**17 + 3]),  # as many tokens
        ("中", MANY),
    ],
)
def test_tokens_of_any_length_are_hashed_whole(
    by_document: Engine, letter: str, lengths: list[int]
) -> None:
    text = " ".join(letter * length for length in lengths)
    fields = ("body", f"{text} {letter}"), ("body", text[1:])

    assert by_document(BODY, [[*fields]]) == defined(BODY, (fields,))


ODD = [
    "",
    ".",
    "--",
    "\xe9",
    "\u4e2d",
    " \xe9 ",
    "\0",
    "(",
    "x" * 64,
    "y" * 65,
    "\ud800",
]
"""What stands between words of ASCII, of which 64 bytes are read at a time."""


@pytest.mark.parametrize("view", [HEADERS, RAW, BODY], ids=lambda view: view.name)
@pytest.mark.parametrize("odd", ODD, ids=ascii)
def test_wherever_something_stands_the_tokens_are_the_same(
    by_document: Engine, view: View, odd: str
) -> None:
    words = "To be, or not to be: that is the question " * 5
    texts = [words[:n] + odd + words[n:end] for n in range(131) for end in (n, n + 70)]
    documents = [[("body", text)] for text in texts]

    assert by_document(view, documents) == [
        sorted(defined_keys(view, fields)) for fields in documents
    ]


@pytest.mark.parametrize("limit", [1, 5, 63, 64, 65])
def test_no_more_tokens_are_read_than_allowed(by_document: Engine, limit: int) -> None:
    view = BODY._replace(limit=limit)
    documents = [[("body", "a b " * n + "."), ("body", "c " * 99)] for n in range(70)]

    assert by_document(view, documents) == [
        sorted(defined_keys(view, fields)) for fields in documents
    ]
