"""
Texts of terms: each is hashed to its key, and whoever looks for them finds the same.

The compiled finder is held to the plain one, and the keys that are computed of many
texts together to the definition of keys.
"""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbtext.counts.text_sample import BEGINNING, OVERHEAD, TextSample
from nbtext.counts.texts import keys_of, texts_in
from nbtext.document import Document
from nbtext.learning.texts import LEAST_DOCUMENTS
from nbtext.learning.training import train
from nbtext.settings.views import BODY, HEADERS, NGRAMS, RAW, View
from nbtext.tokens import compiled, definition
from nbtext.tokens.engine import COMPILED, best
from nbtext.tokens.text_finding import MOST_TEXT, PlainFinder
from tests.build import FEW_TERMS

VALUE = View(
    name="city", text="body", alphabet="words", kind="value", field="city"
)  # as a column of categories has it
VIEWS = [
    HEADERS, RAW, BODY, NGRAMS, NGRAMS._replace(threes=30), BODY._replace(limit=5),
    BODY._replace(pairs=False),
    BODY._replace(tokens=False, fold_pairs=False), BODY._replace(fold_tokens=True),
    HEADERS._replace(pairs=True), BODY._replace(alphabet="pattern"),
]  # fmt: skip

texts = st.text(
    st.one_of(st.sampled_from("aAbÉ日。 ,.\0\t"), st.characters()), max_size=40
)
names = st.sampled_from(["subject", "to", "Ü", "", "a\0b", "x" * (MOST_TEXT + 3)])
fields = st.lists(st.tuples(names, texts), max_size=4)
documents = st.lists(fields, max_size=4)


def wanted_of(view: View, given_: list[Any], share: int) -> Any:
    """Return some of the keys that documents have, and one that none has."""
    keys = {key for one in given_ for key in definition.defined_keys(view, one)}
    some = {key for key in keys if key % 8 < share} | {12345}
    return np.array(sorted(some), np.uint64)


def found_by(finder: Any, given_: list[Any]) -> tuple[bytes, bytes]:
    for one in given_:
        is_plain = isinstance(finder, PlainFinder)
        finder.look(0, one if is_plain else compiled.in_bytes(one))
    texts, states = finder.found(0)
    return bytes(texts), bytes(state == 1 for state in states)


@pytest.mark.skipif(best() != COMPILED, reason="there is no compiled finder")
@given(st.sampled_from(VIEWS), documents, st.integers(1, 8))
def test_the_compiled_finder_finds_the_same(
    view: View, given_: list[Any], share: int
) -> None:
    wanted = wanted_of(view, given_, share)
    quick = compiled.text_finder((view,), "text", (wanted,))

    assert found_by(quick, given_) == found_by(PlainFinder([view], [wanted]), given_)


@pytest.mark.skipif(best() != COMPILED, reason="there is no compiled finder")
@pytest.mark.parametrize("view", [BODY, NGRAMS], ids=["tokens", "n-grams"])
def test_many_terms_are_found_some_of_whose_keys_begin_alike(
    view: View,
) -> None:
    given_ = [
        [
            (
                "",
                " ".join(
                    f"é{n}" if n % 9 == 0 else f"{n**5:x}" for n in range(at, 2000)
                ),
            )
        ]
        for at in (1500, 1000, 1000, 0)
    ]
    wanted = wanted_of(view, given_, 7)
    quick = compiled.text_finder((view,), "text", (wanted,))

    packed, states = found_by(quick, given_)

    assert (packed, states) == found_by(PlainFinder([view], [wanted]), given_)
    assert len(wanted) > 300
    assert states.count(0) == 1


@given(st.sampled_from([*VIEWS, VALUE]), documents)
def test_each_text_is_hashed_to_its_key(view: View, given_: list[Any]) -> None:
    wanted = wanted_of(view, given_, 8)

    packed, states = found_by(PlainFinder([view], [wanted]), given_)

    having = wanted[np.frombuffer(states, np.bool_)]
    texts = texts_in(view, np.frombuffer(packed, np.uint8))
    assert texts.keys.tolist() == having.tolist()
    assert len(list(texts.each())) == len(having)
    assert all(len(text) <= MOST_TEXT for text in texts.each())
    # of a name with a NUL, and of such a value, none is told
    parts = [name + text * (view is VALUE) for one in given_ for name, text in one]
    if not any("\0" in part or len(part) > 99 for part in parts):
        short = [key for key in wanted.tolist() if key != 12345]
        assert having.tolist() == short


@given(
    st.sampled_from([HEADERS, BODY, NGRAMS]),
    st.lists(st.sampled_from([b"\0", b"\xff", b"ab", b"c" * 300, b"\xc3"]), max_size=9),
)
def test_any_bytes_are_texts_or_refused(view: View, pieces: list[bytes]) -> None:
    packed = np.frombuffer(b"".join(pieces), np.uint8)

    try:
        keys = keys_of(view, packed)
    except ValueError as error:
        assert view.name in str(error)  # noqa: PT017  either is right
    else:
        assert len(keys) == b"".join(pieces).count(b"\xff")


words = st.lists(st.sampled_from(["win", "cash", "Lunch", "patch", "é"]), max_size=5)


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.sampled_from(["ham", "spam"]), words), max_size=9),
    st.randoms(use_true_random=False),
)
def test_terms_of_three_documents_are_named_in_any_order(
    drawn: list[tuple[str, list[str]]], random: Any
) -> None:
    rows = [("ham", ["a"]), ("spam", ["b"]), *drawn]
    items = [
        Document(str(n), (" ".join(given_).encode(),), label)
        for n, (label, given_) in enumerate(rows)
    ]
    mixed = [*items]
    random.shuffle(mixed)

    one = train(lambda: items, overrides=FEW_TERMS).contents
    other = train(lambda: mixed, overrides=FEW_TERMS).contents

    assert one.texts is not None
    assert other.texts is not None
    (view,), (these,), (those,) = one.counts.settings.views, one.texts, other.texts
    assert these.texts.tobytes() == those.texts.tobytes()
    having: Counter[int] = Counter()
    for document in items:
        field = [("body", document.texts[0].decode())]
        having.update(set(definition.defined_keys(view, field)))
    enough = sorted(key for key, n in having.items() if n >= LEAST_DOCUMENTS)
    assert texts_in(view, these.texts).keys.tolist() == enough


def test_of_long_documents_the_sample_keeps_and_counts_beginnings() -> None:
    texts = (b"a" * (BEGINNING + 1), b"b" * BEGINNING, b"c")
    kept = tuple(text[:BEGINNING] for text in texts)
    size = sum(map(len, kept)) + OVERHEAD
    rows = [(bytes([n]) * 16, Document(str(n), texts)) for n in range(3)]

    sample = TextSample(most=2 * size)
    sample.add(*zip(*rows, strict=True))

    assert [document.texts for document in sample.documents()] == [kept, kept]


@given(st.lists(st.integers(0, 40), max_size=40), st.integers(1, 9), st.data())
def test_the_sample_of_texts_depends_on_no_order_and_no_chunks(
    numbers: list[int], most: int, data: Any
) -> None:
    def sampled(chunks: list[list[int]]) -> list[bytes]:
        whole = TextSample(documents=most, most=6000)
        for chunk in chunks:
            part = TextSample(documents=most, most=6000)
            for number in chunk:
                text = bytes([number]) * (number * 50)
                digest = bytes([number // 2]) * 16  # two documents share one
                part.add([digest], [Document("", (text,))])
            whole.absorb(part)
        return [document.texts[0] for document in whole.documents()]

    shuffled = data.draw(st.permutations(numbers))
    cut = data.draw(st.integers(0, len(numbers)))

    kept = sampled([numbers])
    assert kept == sampled([shuffled[:cut], shuffled[cut:]])
    assert len(kept) <= most
    assert sum(map(len, kept)) <= 6000
    if len(set(numbers)) <= most and sum(n * 50 + 512 for n in {*numbers}) <= 6000:
        assert len(kept) == len(set(numbers))
