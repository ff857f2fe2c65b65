"""Runs of three within words, as scikit-learn cuts them out of text of ASCII."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from nbtext.settings.views import NGRAMS
from nbtext.tokens.ngrams import ngrams

RUNS = NGRAMS._replace(threes=4000)
WORDS = st.lists(st.text("abcz.!", min_size=1, max_size=9), min_size=1, max_size=8)


@given(WORDS)
def test_they_are_those_of_words_with_a_space_about_them(words: list[str]) -> None:
    from sklearn.feature_extraction.text import CountVectorizer

    text = " ".join(words)
    analyze = CountVectorizer(
        analyzer="char_wb", ngram_range=(3, 3), lowercase=False
    ).build_analyzer()

    runs = [run for run in ngrams(RUNS, [("body", text)]) if len(run) == 3]
    spaced = [run.decode().replace("\n", " ") for run in runs]

    assert Counter(spaced) == Counter(analyze(text))
