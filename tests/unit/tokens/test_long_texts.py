"""Long texts, with and without separators, have the keys that the definition says."""

import tracemalloc

import pytest

from nbtext.settings.views import BODY, TOPIC, View
from nbtext.tokens import compiled, tokenizer
from nbtext.tokens.tokenizer import LONG, defined_keys, keys, limit_of

MB = 1 << 20


@pytest.mark.parametrize("unit", ["a!", "Ab?\u4e2d", "\u00e9"], ids=ascii)
@pytest.mark.parametrize("view", [BODY, TOPIC], ids=["as written", "folded"])
def test_a_text_without_separators_is_read_in_parts(view: View, unit: str) -> None:
    fields = [("body", unit * (LONG // len(unit) + 9))]

    assert sorted(keys(view, fields)) == sorted(defined_keys(view, fields))


@pytest.mark.parametrize("unit", ["a! ", "a!", "\u4e2d"], ids=ascii)
def test_no_more_than_so_many_tokens_of_a_document_are_read(
    monkeypatch: pytest.MonkeyPatch, unit: str
) -> None:
    monkeypatch.setattr(tokenizer, "MOST_TOKENS", 100)
    fields = [("body", unit * LONG), ("body", "more")]

    found = sorted(keys(BODY, fields))

    assert len(found) == 100 + 99
    assert found == sorted(defined_keys(BODY, fields))
    if not compiled.unfit():
        in_c, _ = compiled.document_keys(BODY, [fields])
        assert sorted(memoryview(in_c).cast("Q")) == found
    assert limit_of(BODY._replace(limit=7)) == 7


@pytest.mark.parametrize("unit", ["ab!!", "\u4e2d"], ids=ascii)
def test_the_plain_tokenizer_lists_few_tokens_at_a_time(unit: str) -> None:
    fields = [("body", unit * (MB // len(unit.encode())))]
    tracemalloc.start()
    try:
        for _ in keys(BODY, fields):
            pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 16 * MB
