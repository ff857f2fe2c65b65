"""Which terms have a text in a model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext.learning import texts
from nbtext.learning.texts import most_common


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
