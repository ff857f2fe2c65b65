"""Which terms have a text in a model."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext.counts.text_sample import TextSample
from nbtext.document import Document
from nbtext.learning import SettingsOverrides, texts
from nbtext.learning.texts import look_for_texts, most_common
from nbtext.settings.reading import default_settings
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


def sampled(n: int) -> TextSample:
    """Return a sample of copies of a text, each with its own digest."""
    sample = TextSample()
    sample.add(
        [bytes([number] * 16) for number in range(n)],
        [Document(str(number), (b"lunch at noon",)) for number in range(n)],
    )
    return sample


class AtOnce:
    """A `map` that begins before anyone asks for what it gives, as threads do."""

    def __init__(self) -> None:
        self.begun: list[int] = []

    def __call__(
        self, function: Callable[[One], Other], many: Iterable[One], /
    ) -> Iterator[Other]:
        parts = list(many)
        self.begun.append(len(parts))
        return iter([function(one) for one in parts])


def test_texts_are_looked_for_before_they_are_asked_for() -> None:
    table, at_once = counted([("ham", "lunch at noon")] * 3), AtOnce()

    found = look_for_texts(TEXT, arranged(table), sampled(200), at_once, jobs=2)

    assert at_once.begun == [1, 2]  # one view, two parts of the documents
    of_views = found()
    assert of_views is not None
    assert b"lunch" in of_views[0].texts.tobytes()


def test_a_pattern_is_matched_beside_nothing_else() -> None:
    settings = SettingsOverrides(pattern=r"\w+").settings(default_settings("text", 2))
    table, at_once = counted([("ham", "lunch\0at\0noon")] * 3, settings), AtOnce()

    found = look_for_texts(settings, arranged(table), sampled(200), at_once, jobs=2)

    assert at_once.begun == []  # whatever runs beside it takes from its time
    of_views = found()
    assert of_views is not None
    assert b"lunch" in of_views[0].texts.tobytes()


def test_no_texts_are_looked_for_where_none_are_kept() -> None:
    table = counted([("ham", "lunch")])

    assert look_for_texts(TEXT, arranged(table), TextSample(documents=0))() is None
