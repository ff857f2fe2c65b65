from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from nbtext.settings.views import BODY, HEADERS, RAW, View
from nbtext.tokens import definition
from nbtext.tokens.engine import PLAIN, best, document_keys, use
from nbtext.tokens.tokenizer import Field, keys


@pytest.fixture(autouse=True, params=sorted({PLAIN, best()}), ids=str)
def engine(request: pytest.FixtureRequest) -> Iterator[None]:
    use(request.param)
    yield
    use(None)


def keys_of(view: View, documents: list[list[Field]]) -> list[list[int]]:
    found, starts = document_keys(view, documents)
    values = np.frombuffer(found, np.uint64).tolist()
    places = np.frombuffer(starts, np.int64).tolist()
    assert len(values) == places[-1]
    return [values[start:end] for start, end in pairwise(places)]


@pytest.mark.parametrize("view", [HEADERS, RAW, BODY], ids=lambda view: view.name)
def test_no_documents_and_empty_documents_have_no_keys(view: View) -> None:
    empty = [[], [("body", "")], [("body", " \n"), ("body", "")]]

    assert keys_of(view, []) == []
    assert keys_of(view, empty) == [[], [], []]


def test_documents_stand_in_their_order() -> None:
    documents = [[("body", "one")], [], [("body", "two"), ("body", "three")]]

    found = keys_of(HEADERS, documents)

    assert found == [list(keys(HEADERS, fields)) for fields in documents]


def test_the_texts_of_two_fields_do_not_run_together() -> None:
    apart = keys_of(BODY, [[("body", "ab"), ("body", "cd")]])
    together = keys_of(BODY, [[("body", "abcd")]])

    assert [len(apart[0]), len(together[0])] == [2, 1]


def test_one_text_that_is_not_ascii_changes_no_other() -> None:
    ascii_text = [("body", "Plain Words, and Marks!")]

    alone = keys_of(BODY, [ascii_text])
    beside = keys_of(BODY, [ascii_text, [("body", "日本語")]])

    assert beside[0] == alone[0]


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
    view: View, odd: str
) -> None:
    words = "To be, or not to be: that is the question " * 5
    texts = [words[:n] + odd + words[n:end] for n in range(131) for end in (n, n + 70)]
    documents = [[("body", text)] for text in texts]

    found = keys_of(view, documents)

    expected = [[*definition.defined_keys(view, fields)] for fields in documents]
    assert [*map(sorted, found)] == [*map(sorted, expected)]


@pytest.mark.parametrize("limit", [1, 5, 63, 64, 65])
def test_no_more_tokens_are_read_than_allowed(limit: int) -> None:
    view = BODY._replace(limit=limit)
    documents = [[("body", "a b " * n + "."), ("body", "c " * 99)] for n in range(70)]

    found = keys_of(view, documents)

    expected = [[*definition.defined_keys(view, fields)] for fields in documents]
    assert [*map(sorted, found)] == [*map(sorted, expected)]
