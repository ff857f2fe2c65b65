import numpy as np
import pytest

from nbtext.settings import BODY, HEADERS, RAW
from nbtext.tokens.arrays import batch_keys
from nbtext.tokens.tokenizer import keys


@pytest.mark.parametrize("view", [HEADERS, RAW, BODY], ids=lambda view: view.name)
def test_no_documents_and_empty_documents_have_no_keys(view: object) -> None:
    chosen = BODY if view is BODY else HEADERS if view is HEADERS else RAW

    assert batch_keys(chosen, []).starts.tolist() == [0]
    found = batch_keys(chosen, [[], [("body", "")], [("body", " \n"), ("body", "")]])

    assert found.keys.dtype == np.uint64
    assert found.starts.tolist() == [0, 0, 0, 0]


def test_documents_stand_in_their_order() -> None:
    documents = [[("body", "one")], [], [("body", "two"), ("body", "three")]]

    found = batch_keys(HEADERS, documents)

    assert found.starts.tolist() == [0, 1, 1, 3]
    assert found.keys.tolist() == [
        key for fields in documents for key in keys(HEADERS, fields)
    ]


def test_the_texts_of_two_fields_do_not_run_together() -> None:
    apart = batch_keys(BODY, [[("body", "ab"), ("body", "cd")]])
    together = batch_keys(BODY, [[("body", "abcd")]])

    assert apart.starts.tolist() == [0, 2]
    assert together.starts.tolist() == [0, 1]


def test_one_text_that_is_not_ascii_changes_no_other() -> None:
    ascii_text = [("body", "Plain Words, and Marks!")]

    alone = batch_keys(BODY, [ascii_text])
    beside = batch_keys(BODY, [ascii_text, [("body", "日本語")]])

    assert beside.keys[: beside.starts[1]].tolist() == alone.keys.tolist()
