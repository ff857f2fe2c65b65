"""
Counts add up, bit for bit.

However documents are parted into batches, shards, chunks or processes, and in whatever
order they come, the sum of the parts is the whole: keys, columns, documents, ledger and
the sample. Adding is associative and commutative; subtracting takes away what adding
brought, and never leaves a count below zero.
"""

import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from hashlib import blake2b
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from nbtext.counts import counter as counter_module
from nbtext.counts import counting
from nbtext.counts.counter import BATCH, Counter, ReadDocument
from nbtext.counts.counting import Counted, Limits, count, count_with
from nbtext.counts.read_report import ReadReport
from nbtext.counts.sample import TERMS, Sample
from nbtext.counts.sorted_counts import SortedCounts
from nbtext.counts.table import CountTable, LedgerRun, add
from nbtext.document import Document
from nbtext.errors import TrainingError
from nbtext.settings.reading import Settings, default_settings
from nbtext.settings.views import BODY, HEADERS, RAW
from tests.build import ClassCounts, table_of, texts

TWO = Settings(format="mail", views=(HEADERS, RAW, BODY))
MANY = default_settings("text", 3)
NO_LEDGER = Settings(format="mail", views=(HEADERS, RAW, BODY), ledger=False)
SETTINGS = st.sampled_from([TWO, MANY, NO_LEDGER])

WORDS = st.sampled_from(["a", "b", "c", "B", "é", "!", "中", "longer-than-eight-bytes"])
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)
LABELS = st.sampled_from(["ham", "spam", "übrig"])
LABELLED = st.lists(st.tuples(LABELS, TEXTS), max_size=12)
LIMITS = st.integers(0, 6)


def read_document(
    settings: Settings, label: str, text: str, size: int = 1
) -> ReadDocument:
    fields = [("body", text), ("subject", text[:5])]
    return ReadDocument(
        label=label,
        views=tuple(fields for _ in settings.views),
        digest=blake2b(text.encode(), digest_size=16).digest(),
        size=size,
    )


def counted(settings: Settings, labelled: Sequence[tuple[str, str]]) -> CountTable:
    counter = Counter(settings)
    for label, text in labelled:
        counter.add(read_document(settings, label, text))
    return counter.table()


def run_bits(run: SortedCounts) -> tuple[Any, ...]:
    # of nothing the type says nothing
    columns = [(len(c) and c.dtype.str, c.tolist()) for c in run.columns]
    return run.keys.dtype.str, run.keys.tolist(), columns


def ledger_bits(run: LedgerRun) -> tuple[Any, ...]:
    counts = run.counts
    return run.entries.tolist(), len(counts) and counts.dtype.str, counts.tolist()


def bits(table: CountTable) -> tuple[Any, ...]:
    """Return all that the laws speak of, as values that compare."""
    return (
        table.settings,
        table.classes,
        table.documents,
        [list(map(run_bits, runs)) for runs in table.runs],
        list(map(ledger_bits, table.ledger)),
    )


def sample_bits(sample: Sample) -> list[tuple[Any, ...]]:
    """Return the documents of a sample, in the order of their digests."""
    documents = []
    for block in sample.blocks():
        rows = zip(block.digests, block.labels, block.fingerprints, strict=True)
        for place, row in enumerate(rows):
            views = [terms.take(np.array([place])) for terms in block.views]
            terms = [(view.keys.tolist(), view.counts.tolist()) for view in views]
            documents.append((*row, terms))
    return sorted(documents)


@given(SETTINGS, LABELLED, st.data())
def test_shards_add_up_to_the_whole(
    settings: Settings, labelled: list[tuple[str, str]], data: st.DataObject
) -> None:
    shards = data.draw(
        st.lists(st.integers(0, 3), min_size=len(labelled), max_size=len(labelled))
    )
    parts = [
        counted(
            settings,
            [one for one, of in zip(labelled, shards, strict=True) if of == shard],
        )
        for shard in range(4)
    ]

    assert bits(add(parts)) == bits(counted(settings, labelled))


@given(SETTINGS, LABELLED, st.data())
def test_the_order_of_documents_is_irrelevant(
    settings: Settings, labelled: list[tuple[str, str]], data: st.DataObject
) -> None:
    permuted = data.draw(st.permutations(labelled))

    assert bits(counted(settings, permuted)) == bits(counted(settings, labelled))


@given(SETTINGS, LABELLED, st.integers(1, 50))
def test_the_sizes_of_batches_and_piles_are_irrelevant(
    settings: Settings, labelled: list[tuple[str, str]], pile: int
) -> None:
    counter = Counter(settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counter_module, "PILE", pile)
        for place, (label, text) in enumerate(labelled):
            size = 1 if place % 3 else BATCH  # which fills its batch
            counter.add(read_document(settings, label, text, size))

        table = counter.table()

    assert bits(table) == bits(counted(settings, labelled))


@given(SETTINGS, LABELLED)
def test_asking_for_the_table_early_changes_nothing(
    settings: Settings, labelled: list[tuple[str, str]]
) -> None:
    counter = Counter(settings)
    for label, text in labelled:
        counter.add(read_document(settings, label, text))
        counter.table()

    assert bits(counter.table()) == bits(counted(settings, labelled))


@given(SETTINGS, LABELLED, LABELLED)
def test_subtracting_restores_what_was_before(
    settings: Settings, mine: list[tuple[str, str]], others: list[tuple[str, str]]
) -> None:
    before, more = counted(settings, mine), counted(settings, others)

    assert bits((before + more) - more) == bits(before)


@given(SETTINGS, LABELLED, LABELLED)
def test_taking_away_what_was_never_counted_is_refused(
    settings: Settings, mine: list[tuple[str, str]], others: list[tuple[str, str]]
) -> None:
    assume(others)
    before, more = counted(settings, mine), counted(settings, others)

    with pytest.raises(TrainingError, match="would fall below zero"):
        before - (before + more)


@given(SETTINGS, LABELLED, LABELS)
def test_a_class_that_loses_everything_is_gone(
    settings: Settings, labelled: list[tuple[str, str]], label: str
) -> None:
    of_class = [one for one in labelled if one[0] == label]
    rest = [one for one in labelled if one[0] != label]

    left = counted(settings, labelled) - counted(settings, of_class)

    assert label not in left.classes
    assert bits(left) == bits(counted(settings, rest))


VALUES = st.sampled_from([-(2**40), -3, -1, 0, 1, 2, 255, 2**31 - 1, 2**31, 2**40])
KEYS = st.sampled_from([0, 1, 2, 5, 2**47, 2**48 - 2, 2**48 - 1])


ENTRIES = st.dictionaries(
    st.tuples(KEYS, KEYS, KEYS), st.integers(-3, 3).filter(bool), max_size=4
)


@st.composite
def tables(draw: st.DrawFn, settings: Settings = MANY) -> CountTable:
    """Draw any table, negative ones too, with no class that is gone."""
    rows = [
        st.dictionaries(
            KEYS, st.tuples(*[VALUES] * len(view.columns)).filter(any), max_size=5
        )
        for view in settings.views
    ]
    class_counts = st.builds(
        ClassCounts,
        documents=st.integers(-5, 5).filter(bool),
        views=st.tuples(*rows),
        ledger=ENTRIES,
    )
    return table_of(draw(st.dictionaries(LABELS, class_counts)), settings)


@given(tables(), tables(), tables())
def test_adding_is_associative_and_commutative(
    one: CountTable, two: CountTable, three: CountTable
) -> None:
    total, pair = bits(add([one, two, three])), one + two

    assert bits(pair + three) == total
    assert bits(one + (two + three)) == total
    assert bits(two + one) == bits(pair)


@given(tables(), tables())
def test_what_was_added_is_taken_away_again_from_any_table(
    one: CountTable, other: CountTable
) -> None:
    nothing = counted(one.settings, [])

    assert bits(one + nothing) == bits(nothing + one) == bits(one)
    assert bits(one + -one) == bits(nothing)
    assert bits(add([add([one, other]), -other])) == bits(one)


class Inline(Executor):
    """Runs what is submitted at once, here."""

    def submit(
        self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def outcome(counted: Counted) -> tuple[Any, ...]:
    report = counted.report
    facts = {name: getattr(report, name) for name in ReadReport.__slots__}
    facts |= {"skipped": [*map(str, report.skipped)]}
    return bits(counted.table), sample_bits(counted.sample), facts


@given(SETTINGS, LABELLED, LIMITS, st.integers(1, 12), st.integers(1, 4))
def test_chunks_and_jobs_change_nothing(
    settings: Settings,
    labelled: list[tuple[str, str]],
    sample: int,
    chunk: int,
    jobs: int,
) -> None:
    items, limits = texts(*labelled), Limits(1 << 20, sample)
    assume(items)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "CHUNK", 8 * chunk)

        apart = count_with(Inline(), jobs, items, settings, limits)

    assert outcome(apart) == outcome(count(items, settings, limits))


def many_documents(n: int) -> list[Document]:
    random = np.random.default_rng(2)
    words = np.array([f"word{i}" for i in range(300)] + ["é", "中文"])
    return texts(
        *[
            ("spam" if i % 3 else "ham", " ".join(random.choice(words, i % 50)))
            for i in range(n)
        ]
    )


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_real_pools_count_what_one_process_counts(
    kind: type[ThreadPoolExecutor | ProcessPoolExecutor],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counting, "CHUNK", 1 << 12)
    items, limits = many_documents(200), Limits(1 << 20, 30)

    with kind(2) as executor:
        apart = count_with(executor, 2, items, MANY, limits)

    assert outcome(apart) == outcome(count(items, MANY, limits))


def test_no_documents_count_the_same_in_processes_and_here() -> None:
    limits = Limits(1 << 20, 30)

    apart = count_with(Inline(), 2, [], MANY, limits)

    assert outcome(apart) == outcome(count([], MANY, limits))


def sample_of(limits: dict[str, int]) -> Sample:
    return Sample(documents=limits["documents"], terms=limits.get("terms", TERMS))


def sampled(labelled: Sequence[tuple[str, str]], limits: dict[str, int]) -> Sample:
    counter = Counter(TWO, sample=sample_of(limits))
    for place, (label, text) in enumerate(labelled):
        counter.add(read_document(TWO, label, text, 1 if place % 3 else BATCH))
    counter.table()
    return counter.sample


def joined(parts: Sequence[Sample], limits: dict[str, int]) -> Sample:
    sample = sample_of(limits)
    for part in parts:
        sample.absorb(part)
    return sample


def pickled(sample: Sample) -> Sample:
    copy: Sample = pickle.loads(pickle.dumps(sample))  # noqa: S301  our own bytes
    return copy


SAMPLE_LIMITS = st.fixed_dictionaries(
    {"documents": LIMITS, "terms": st.integers(0, 80) | st.just(1 << 22)}
)


@pytest.mark.parametrize("carried", [pickled, lambda sample: sample])
@given(LABELLED, SAMPLE_LIMITS, st.data())
@example([("ham", "a")] * 2, {"documents": 1}, None)
@example([("ham", "a"), ("ham", "")], {"documents": 6, "terms": 0}, None)
@example([("ham", "a"), ("ham", "a b c !")], {"documents": 6, "terms": 13}, None)
def test_the_sample_does_not_depend_on_order_threads_or_processes(
    carried: Callable[[Sample], Sample],
    labelled: list[tuple[str, str]],
    limits: dict[str, int],
    data: st.DataObject | None,
) -> None:
    permuted = data.draw(st.permutations(labelled)) if data else labelled
    cut = data.draw(st.integers(0, len(labelled))) if data else 1
    parts = [sampled(permuted[:cut], limits), sampled(permuted[cut:], limits)]

    sample = joined([carried(part) for part in parts], limits)

    assert sample_bits(sample) == sample_bits(sampled(labelled, limits))


@given(LABELLED, SAMPLE_LIMITS)
@example([("ham", "a")] * 2, {"documents": 1})
def test_asking_for_the_sample_twice_gives_the_same(
    labelled: list[tuple[str, str]], limits: dict[str, int]
) -> None:
    sample = sampled(labelled, limits)

    assert sample_bits(sample) == sample_bits(sample)
