"""The pages hold what they promise: each block is tried, and each rule is so."""

import re
from pathlib import Path

import pytest

from tests.recipes.conftest import FENCED, PAGES, blocks

OURS = [path.name for path in sorted(PAGES.glob("*.md")) if path.stem != "bogofilter"]
TESTS = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("*.py"))


@pytest.mark.parametrize("page", OURS)
def test_each_block_is_named_and_tried(page: str) -> None:
    found = FENCED.findall((PAGES / page).read_text("utf-8"))

    assert len(blocks(page)) == len(found)
    assert [title for title in blocks(page) if f'"{title}"' not in TESTS] == []


def test_the_index_names_each_page() -> None:
    index = (PAGES / "README.md").read_text("utf-8")

    assert sorted(set(re.findall(r"^\| \[(\w+\.md)\]", index, re.MULTILINE))) == [
        name for name in OURS if name != "README.md"
    ]
