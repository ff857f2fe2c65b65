"""The page of the benchmarks has a part for each, which a run of it replaces."""

import pytest

from benchmarks.__main__ import BENCHMARKS
from benchmarks.figures import at_most
from benchmarks.page import PAGE, name_of, part, parts, written
from benchmarks.training_mail import figures

TEXT = PAGE.read_text(encoding="utf-8")


def test_each_benchmark_has_its_part() -> None:
    assert parts(TEXT) == [name_of(one) for one in BENCHMARKS]


def test_a_part_is_replaced_with_where_it_comes_from_and_no_other() -> None:
    row = at_most("train, of a peer's time", 0.5, 0.7, "one pair")

    text = written(TEXT, name_of(figures), part(figures, [row]))

    begin = "### Training on raw mail, all views and calibration included, against"
    assert text.count(begin) == TEXT.count(begin) == 1
    assert "| train, of a peer's time | 0.50 | ≤ 0.7 | yes | one pair |" in text
    assert "; commit " in text.partition(row.name)[2].partition("<!--")[0]
    assert "train, spamassassin, 32 MB, --jobs 1, of" not in text
    assert parts(text) == parts(TEXT)
    end = "<!-- training_mail: end -->"
    assert text.partition(end)[2] == TEXT.partition(end)[2]


def test_a_page_without_the_part_is_left() -> None:
    with pytest.raises(LookupError, match="<!-- filtering: begin -->"):
        written("# Benchmarks\n", "filtering", "")
