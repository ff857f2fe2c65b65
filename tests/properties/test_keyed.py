"""Keys of keyed models: as specified, and of no use without the secret."""

from _blake2 import blake2b
from collections import Counter as Tally

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext import keyring
from nbtext.counts.counting import Limits, count
from nbtext.document import Document
from nbtext.keyring import fingerprint_of
from nbtext.settings.reading import Settings, default_settings
from nbtext.settings.views import View
from nbtext.tokens import bag_of, read, read_terms
from nbtext.tokens.definition import defined_keys, terms
from nbtext.tokens.engine import document_keys, keys
from nbtext.tokens.keyed import Keyed
from nbtext.tokens.tokenizer import Field, token_hash

SECRET = bytes(range(32))
OTHER = bytes(32)

MAIL = default_settings("mail", 2)
VIEWS = [*MAIL.views, *default_settings("text", 3).views]

FIELDS = st.lists(
    st.tuples(
        st.sampled_from(["body", "subject", "é"]), st.text() | st.just("a b a b")
    ),
    max_size=4,
)


def view_name(view: View) -> str:
    return f"{view.name}-{view.alphabet}{'-folded' * view.fold_tokens}"


def keyed_settings(secret: bytes) -> Settings:
    fingerprint = fingerprint_of(secret)
    keyring._secrets[fingerprint] = secret
    return MAIL._replace(secret=fingerprint)


def hashed(key: bytes, data: bytes) -> int:
    return int.from_bytes(blake2b(data, key=key, digest_size=8).digest(), "little")


def purpose(secret: bytes, name: str) -> bytes:
    return blake2b(key=secret, digest_size=32, person=name.encode()).digest()


def specified(view: View, fields: list[Field], secret: bytes) -> Tally[int]:
    """The keys as docs/model-format.md has them, one after the other."""
    found: Tally[int] = Tally()
    for field, first, second in terms(view, fields):
        key = purpose(secret, "nbtext token")
        if view.alphabet == "ngrams":
            data = first.encode("utf-8", "surrogateescape")
            found[hashed(purpose(secret, "nbtext ngram"), data) >> 16] += 1
            continue
        if view.fields:
            field_key = purpose(secret, "nbtext field")
            name = field.encode()
            key = blake2b(name, key=field_key, digest_size=32).digest()
        value = hashed(key, first.encode("utf-8", "surrogatepass"))
        if second is not None:
            after = hashed(key, second.encode("utf-8", "surrogatepass"))
            both = value.to_bytes(8, "little") + after.to_bytes(8, "little")
            value = hashed(purpose(secret, "nbtext pair"), both)
        found[value >> 16] += 1
    return found


@pytest.mark.parametrize("view", VIEWS, ids=view_name)
@given(FIELDS)
def test_keys_are_those_of_the_specification(view: View, fields: list[Field]) -> None:
    assert Tally(Keyed(SECRET).keys(view, fields)) == specified(view, fields, SECRET)


@pytest.mark.parametrize("view", VIEWS, ids=view_name)
@given(FIELDS)
def test_no_key_is_that_of_another_secret_or_of_none(
    view: View, fields: list[Field]
) -> None:
    ours = set(Keyed(SECRET).keys(view, fields))

    assert not ours & set(Keyed(OTHER).keys(view, fields))
    assert not ours & set(defined_keys(view, fields))


@given(st.lists(st.binary(max_size=200), min_size=1, max_size=5))
def test_a_batch_has_the_keys_of_its_documents(contents: list[bytes]) -> None:
    settings = keyed_settings(SECRET)
    documents = [Document(str(n), (data,)) for n, data in enumerate(contents)]
    readings = [read(document, settings) for document in documents]

    batch = read_terms(settings, [reading.views for reading in readings])

    for place, reading in enumerate(readings):
        bag = bag_of(reading, settings)
        assert [terms.bag(place) for terms in batch] == list(map(dict, bag))


def test_keys_do_not_depend_on_what_was_hashed_before() -> None:
    view, long = MAIL.views[2], "x" * 100
    many = [("body", " ".join(f"w{n} {long}{n % 7}" for n in range(60_000)))]
    few = [("body", "w1 w2 w1 w2 " + long)]
    functions = Keyed(SECRET)

    before = sorted(functions.keys(view, few))
    functions.keys(view, many)

    assert sorted(functions.keys(view, few)) == before
    assert all(len(known) <= 1 << 15 for known in (functions._tokens, functions._pairs))


def test_keys_and_digests_depend_on_the_secret_and_on_it_alone() -> None:
    document = Document("a", (b"From: a@example.org\nSubject: b\n\nc d",), "ham")
    settings = [keyed_settings(SECRET), keyed_settings(OTHER), MAIL]
    tables = [
        count([document], one, Limits(1 << 20, 0)).table
        for one in (*settings, settings[0])
    ]

    digests = [tuple(table.ledger[0].entries[0, :2].tolist()) for table in tables]
    assert len(set(digests)) == 3
    assert digests[0] == digests[3]
    marks = [table.ledger[0].entries[0, 2] for table in tables]
    assert len(set(marks)) == 3
    assert np.array_equal(tables[0].runs[0][0].keys, tables[3].runs[0][0].keys)


def test_public_keys_are_as_before() -> None:
    fields = [("body", "one two one")]
    view = MAIL.views[2]

    assert sorted(keys(view, fields)) == sorted(defined_keys(view, fields))
    found, _ = document_keys(view, [fields])
    assert sorted(np.frombuffer(found, np.uint64)) == sorted(keys(view, fields))


# Found by lattice reduction (LLL): the sum of DIFFERENCES[i] * BASE**i is 0 mod 2**64.
DIFFERENCES = (6, -2, -5, 8, -4, -3, 9, 3, 2, -5, 3, 4, -7, 4, 2, 1)


def test_words_that_collide_in_public_do_not_collide_under_a_secret() -> None:
    one = "".join(chr(ord("m") + by) + "agazine" for by in DIFFERENCES)
    other = "magazine" * len(DIFFERENCES)
    view = MAIL.views[2]
    fields = [[("body", word)] for word in (one, other)]

    assert one != other
    assert token_hash(one) == token_hash(other)
    assert set(defined_keys(view, fields[0])) == set(defined_keys(view, fields[1]))
    keyed = [set(Keyed(SECRET).keys(view, of_one)) for of_one in fields]
    assert not keyed[0] & keyed[1]
