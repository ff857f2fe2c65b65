"""Which terms have a text in a model."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext.counts.text_sample import TextSample
from nbtext.document import Document
from nbtext.learning import texts
from nbtext.learning.texts import look_for_texts, most_common
from nbtext.store.packing import arranged
from tests.build import TEXT, counted

One = TypeVar("One")
Other = TypeVar("Other")


@given(
    st.lists(st.integers(0, 9), max_size=60),
    st.integers(1, 5),
    st.integers(1, 20),
    st.integers(1, 16),
)
def test_the_most_common_are_found_range_by_range(
    documents: list[int], least: int, most: int, a_range: int
) -> None:
    ranked = sorted(
        (-number, place) for place, number in enumerate(documents) if number >= least
    )
    expected = sorted(place for _, place in ranked[:most])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "RANGE", a_range)
        found = most_common(np.array(documents, np.int64), least, most)

    assert found.tolist() == expected


def test_texts_are_looked_for_before_they_are_asked_for() -> None:
    words = ["lunch at noon"] * 3
    table = counted([("ham", one) for one in words])
    sample, begun = TextSample(), []
    sample.add(
        [bytes([number] * 16) for number in range(3)],
        [Document(str(number), (b"lunch at noon",)) for number in range(3)],
    )

    def at_once(
        function: Callable[[One], Other], many: Iterable[One]
    ) -> Iterator[Other]:
        begun.append(len(parts := list(many)))
        return iter([function(one) for one in parts])

    found = look_for_texts(TEXT, arranged(table), sample, at_once, jobs=2)

    assert begun == [1]  # three documents are too few for two parts
    of_views = found()
    assert of_views is not None
    assert b"lunch" in of_views[0].texts.tobytes()


def test_no_texts_are_looked_for_where_none_are_kept() -> None:
    table = counted([("ham", "lunch")])

    assert look_for_texts(TEXT, arranged(table), TextSample(documents=0))() is None
