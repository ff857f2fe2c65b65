"""
Any text has tokens, and a space parts them.

The tokenizer never raises; tokens stand in the text in their order; a space between two
texts separates their tokens; folding keeps every position, and folding twice is folding
once.
"""

from hypothesis import given
from hypothesis import strategies as st

from nbtext.settings.views import Alphabet
from nbtext.tokens.tokenizer import fold, tokens

TEXTS = st.text(st.characters(exclude_categories=()), max_size=60)
ALPHABETS = st.sampled_from(["fields", "words", "marks"])


@given(TEXTS, ALPHABETS)
def test_tokens_stand_in_the_text_in_their_order(text: str, alphabet: Alphabet) -> None:
    place = 0
    for token in tokens(text, alphabet):
        place = text.index(token, place) + len(token)

        assert token


@given(TEXTS, TEXTS, ALPHABETS)
def test_a_space_parts_two_texts(one: str, other: str, alphabet: Alphabet) -> None:
    apart = [*tokens(one, alphabet), *tokens(other, alphabet)]

    assert list(tokens(f"{one} {other}", alphabet)) == apart


@given(TEXTS)
def test_of_a_pattern_tokens_are_what_stands_between_nuls(text: str) -> None:
    assert list(tokens(text, "pattern")) == [*filter(None, text.split("\0"))]


@given(TEXTS)
def test_folding_keeps_positions_and_is_done_once(text: str) -> None:
    folded = fold(text)

    assert len(folded) == len(text)
    assert fold(folded) == folded
    assert "".join(map(fold, text)) == folded
