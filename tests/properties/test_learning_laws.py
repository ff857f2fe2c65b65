"""
Learning and forgetting leave what counting the surviving documents from scratch gives.

After any sequence of learning, moving, forgetting, learning again, folding and
compacting, the keys, counts, totals, documents and ledger of a model are, bit for bit,
those of the documents that are left, as they were when they were learnt: their headers
may have changed since. What cannot be taken away exactly is refused, and nothing
changes. The plain engine and the batch engine write the same tables.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from nbtext.counts.counting import Limits, count
from nbtext.document import Document
from nbtext.learning import LearnRequest, LearnResult
from nbtext.learning.in_bulk import learn_many
from nbtext.learning.one_by_one import learn_few
from nbtext.learning.plan import Batch, planned
from nbtext.scoring.model import load_model
from nbtext.scoring.stored import FEW
from nbtext.settings.reading import Settings, default_settings
from nbtext.store import compact, open_model
from nbtext.store.compacting import compact_tail
from nbtext.store.ledger import NO_BIN
from nbtext.store.undo import records_in
from nbtext.tokens.bag import Bag, bag_of
from nbtext.tokens.reading import read
from tests.build import learnt, packed

if TYPE_CHECKING:
    from tests.conftest import Truth

N_DOCUMENTS = FEW + 3
N_TRAINED = 3
"""The first documents are trained, so that no record is kept of them."""

LABELS = ("a", "b", "c")

ADDED = (
    b"Received: from mx.example by inbox.example; Tue, 6 Feb 2024 10:00\n",
    b"Status: RO\n",
    b"X-Spam-Status: Yes, score=7.1\n",
    b"X-NBText: spam 0.98\n",
    b"Received: from relay.example by mx.example; Tue, 6 Feb 2024 09:59\n",
)


class Version(NamedTuple):
    """A document as it is on one day: which it is, and what was done to it."""

    number: int
    added: int = 0
    crlf: bool = False

    def document(self, label: str | None = None, *, is_mail: bool) -> Document:
        name = f"document {self.number}"
        if is_mail:
            return Document(name, (self._mail(),), label)
        words = [f"own{self.number}", "shared", "words", *["added"] * self.added]
        text = " ".join(words).encode()
        return Document(name, (text,), label, identity=f"id {self.number}")

    def _mail(self) -> bytes:
        message = b"".join(ADDED[: self.added]) + (
            b"Date: Tue, 6 Feb 2024 10:%02d:00 +0000\n"
            b"From: someone%d@example.org\n"
            b"Subject: shared words %d\n"
            b"\n"
            b"Shared words, own%d words words.\n"
        ) % (self.number, self.number % 4, self.number, self.number)
        return message.replace(b"\n", b"\r\n") if self.crlf else message


VERSIONS = st.builds(
    Version, st.integers(0, N_DOCUMENTS - 1), st.integers(0, len(ADDED)), st.booleans()
)


class Kind(NamedTuple):
    """A kind of model, and of how many documents it keeps the counts."""

    format: Any
    n_classes: int
    keep: int | None

    @property
    def settings(self) -> Settings:
        return default_settings(self.format, self.n_classes)

    @property
    def labels(self) -> Sequence[str]:
        return LABELS[: self.n_classes]

    def document(self, version: Version, label: str | None = None) -> Document:
        return version.document(label, is_mail=self.format == "mail")

    def bag(self, version: Version) -> Bag:
        return bag_of(read(self.document(version), self.settings), self.settings)


KINDS = [
    pytest.param(Kind(format_, n_classes, keep), id=f"{format_} {n_classes} {keep}")
    for format_, n_classes, keep in [
        ("mail", 2, None),
        ("text", 3, None),
        ("mail", 3, 2),
        ("text", 2, 0),
    ]
]

EVIDENT = [one for one in KINDS if one.id != "mail 3 2"]
"""Those in which the headers that are added are evidence."""

Known = dict[int, tuple[Version, str]]
"""The documents that are counted: each as it was when it was learnt, and its label."""


def trained(kind: Kind) -> list[Document]:
    """Return what a model begins with: documents, and in each class a long one."""
    long = b"Subject: long\n\n" + b" ".join(b"word%d" % n for n in range(300))
    documents = [Document(f"long {n}", (long + n.encode(),), n) for n in kind.labels]
    return documents + [
        kind.document(version, label) for version, label in begun(kind).values()
    ]


def begun(kind: Kind) -> Known:
    return {
        number: (Version(number), kind.labels[number % 2])
        for number in range(N_TRAINED)
    }


def make(path: Path, kind: Kind) -> None:
    """Make a model without any record."""
    table = count(iter(trained(kind)), kind.settings, Limits(1 << 20, 0)).table
    path.write_bytes(packed(table))


def taught(
    path: Path, kind: Kind, label: str | None, versions: Sequence[Version]
) -> list[LearnResult]:
    documents = [kind.document(version) for version in versions]
    return learnt(LearnRequest(str(path), label, keep=kind.keep), documents)


class Life(RuleBasedStateMachine):
    """A model that lives, and the documents that it should have counted."""

    def __init__(self, kind: Kind, truth: "Truth") -> None:
        super().__init__()
        self.kind = kind
        self.truth = truth
        self.folder = TemporaryDirectory()
        self.path = Path(self.folder.name) / "m.nbt"
        self.known = begun(kind)
        self.without_record = set(self.known)
        self.gone: set[int] = set()
        make(self.path, kind)

    def teardown(self) -> None:
        self.folder.cleanup()

    @rule(versions=st.lists(VERSIONS, min_size=1, max_size=3), label=st.integers(0, 2))
    def learn(self, versions: list[Version], label: int) -> None:
        name = self.kind.labels[label % self.kind.n_classes]
        results = taught(self.path, self.kind, name, versions)
        for version, result in zip(versions, results, strict=True):
            self.compare(version, name, result)

    @rule(label=st.integers(0, 2), added=st.integers(0, len(ADDED)))
    def learn_many(self, label: int, added: int) -> None:
        self.learn([Version(number, added) for number in range(N_DOCUMENTS)], label)

    @rule(versions=st.lists(VERSIONS, min_size=1, max_size=3))
    def forget(self, versions: list[Version]) -> None:
        results = taught(self.path, self.kind, None, versions)
        self.gone.clear()
        for version, result in zip(versions, results, strict=True):
            self.compare(version, None, result)
            if result.outcome == "forgotten":
                self.gone.add(version.number)

    @rule(added=st.integers(0, len(ADDED)))
    def forget_many(self, added: int) -> None:
        self.forget([Version(number, added) for number in range(N_DOCUMENTS)])

    @rule()
    def fold(self) -> None:
        compact_tail(str(self.path))

    @rule()
    def compact(self) -> None:
        compact(str(self.path))

    def compare(self, version: Version, label: str | None, result: LearnResult) -> None:
        """Compare what became of a document with what had to, and remember it."""
        then = self.known.get(version.number)
        if label is None and version.number in self.gone:
            # a copy of what the same command has forgotten
            assert (then, result.outcome, result.before) == (None, "known", ())
            return
        if result.outcome == "refused":
            assert self.may_be_refused(version, label)
            assert result.reason
            return
        if then is None:
            assert (result.outcome, result.before) == ("learnt", ())
        elif then[1] == label:
            assert (result.outcome, result.before) == ("known", (label,))
            return
        else:
            outcome = "forgotten" if label is None else "moved"
            assert (result.outcome, result.before) == (outcome, (then[1],))
            del self.known[version.number]
        self.without_record.discard(version.number)
        if label is not None:
            self.known[version.number] = version, label

    def may_be_refused(self, version: Version, label: str | None) -> bool:
        if version.number not in self.known:
            return label is None
        then, label_then = self.known[version.number]
        if label_then == label:
            return False
        has_record = version.number not in self.without_record
        if has_record and self.kind.keep is None:
            return False
        return self.kind.bag(version) != self.kind.bag(then)

    @invariant()
    def holds_what_is_left(self) -> None:
        labels = self.kind.labels
        left = trained(self.kind)[: len(labels)]
        left += [self.kind.document(*one) for one in self.known.values()]
        stored = self.truth.stored(self.path)
        assert stored == self.truth.counted(self.kind.settings, left)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_left_is_what_counting_it_from_scratch_gives(
    kind: Kind, truth: "Truth"
) -> None:
    run_state_machine_as_test(
        lambda: Life(kind, truth),  # type: ignore[arg-type]  # it calls it, no more
        settings=settings(
            max_examples=min(15, settings().max_examples),
            stateful_step_count=12,
            deadline=None,
        ),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_documents_of_several_classes_move_at_once(
    kind: Kind, truth: "Truth", quick_folder: Path
) -> None:
    path, label = quick_folder / "m.nbt", kind.labels[-1]
    make(path, kind)
    versions = [Version(number) for number in range(N_DOCUMENTS)]

    results = taught(path, kind, label, versions)

    assert [one.outcome for one in results[:N_TRAINED]].count("moved") >= 2
    left = trained(kind)[: kind.n_classes]
    left += [kind.document(version, label) for version in versions]
    assert truth.stored(path) == truth.counted(kind.settings, left)


def both_tables(
    path: Path, kind: Kind, request: LearnRequest, batch: Batch
) -> list[Any]:
    """
    Return what either engine says of a batch, and what its table holds.

    Losses are compared here: they are rounded, once for each document.
    """
    before = path.read_bytes()
    found: list[Any] = []
    losses: list[list[int]] = []
    for engine in (learn_few, learn_many):
        plan = planned(load_model(str(path)), batch, request)
        chunks = engine(plan)
        both = path.with_name("both.nbt")
        both.write_bytes(b"".join([before, *chunks]))
        found.append((plan.results, bool(chunks), *last_table(both)))
        calibrations = open_model(str(both)).tables[-1].header.calibrations
        losses.append([loss for one in calibrations for loss in one["losses"]])
    plain, many = losses
    assert plain == pytest.approx(many, abs=len(batch.documents))
    return found


def last_table(path: Path) -> tuple[Any, ...]:
    table = open_model(str(path)).tables[-1]
    header = table.header
    arrays = {name: array.tolist() for name, array in table.arrays.items()}
    kinds = {name: array.format for name, array in table.arrays.items()}
    records = {name: one for name, one in arrays.items() if name.startswith("undo.")}
    counted = {name: one for name, one in arrays.items() if name not in records}
    kept = records_in([table])
    bags = [
        (bags.sizes.tolist(), sorted(zip(bags.keys, bags.counts, strict=True)))
        for bags in kept.views
    ]
    scores = sorted(row for one in header.calibrations for row in one["counts"])
    return (
        header._replace(written="", calibrations=(), history=header.history._replace(
            learnt={}, records=0)),
        counted, {name: kinds[name] for name in counted},
        (kept.digests, kept.rows, bags),
        [[bin_ for bin_ in bins if bin_ != NO_BIN] for bins in kept.bins], scores,
    )  # fmt: skip


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    before=st.lists(st.tuples(VERSIONS, st.integers(0, 2)), max_size=4),
    versions=st.lists(VERSIONS, min_size=1, max_size=5),
    label=st.none() | st.integers(0, 2),
    is_compacted=st.booleans(),
)
@pytest.mark.parametrize("kind", KINDS)
def test_both_engines_write_the_same_table(
    quick_folder: Path,
    kind: Kind,
    before: list[tuple[Version, int]],
    versions: list[Version],
    label: int | None,
    is_compacted: bool,
) -> None:
    path = quick_folder / "m.nbt"
    make(path, kind)
    for version, place in before:
        taught(path, kind, kind.labels[place % kind.n_classes], [version])
    if is_compacted:
        compact(str(path))
    name = None if label is None else kind.labels[label % kind.n_classes]
    documents = [kind.document(version) for version in versions]
    readings = [read(document, kind.settings) for document in documents]
    batch = Batch(kind.settings, documents, readings)

    request = LearnRequest(str(path), name)
    # which are scored afterwards, and all together
    assume(not planned(load_model(str(path)), batch, request).is_outgrown)

    plain, many = both_tables(path, kind, request, batch)

    assert plain == many


@pytest.fixture
def model(quick_folder: Path) -> Callable[[Kind], Path]:
    """Make a model that has learnt a document, and keeps no record of it."""

    def model(kind: Kind) -> Path:
        path = quick_folder / "m.nbt"
        make(path, kind)
        taught(path, kind._replace(keep=0), "a", [Version(9)])
        compact(str(path))
        return path

    return model


@pytest.mark.parametrize("kind", EVIDENT)
@pytest.mark.parametrize("label", [None, "b"])
def test_other_counts_are_never_taken_away(
    model: Callable[[Kind], Path], kind: Kind, label: str | None
) -> None:
    path = model(kind)
    before = path.read_bytes()

    [result] = taught(path, kind, label, [Version(9, added=1)])

    assert (result.outcome, result.before) == ("refused", ("a",))
    assert result.reason.startswith(
        "it was learnt as a with other tokens than it has now, and no record of them"
    )
    assert path.read_bytes() == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("label", [None, "b"])
def test_the_same_counts_are_taken_away_without_a_record(
    model: Callable[[Kind], Path], kind: Kind, label: str | None
) -> None:
    path = model(kind)

    [result] = taught(path, kind, label, [Version(9)])

    assert result.outcome == ("forgotten" if label is None else "moved")


@pytest.mark.parametrize("n_copies", [2, FEW + 2])
def test_copies_of_a_document_that_is_refused_are_refused_too(
    model: Callable[[Kind], Path], n_copies: int
) -> None:
    kind = Kind("text", 2, None)
    path = model(kind)

    results = taught(path, kind, "b", [Version(9, added=1)] * n_copies)

    assert {result.outcome for result in results} == {"refused"}
    assert {result.before for result in results} == {("a",)}


@pytest.mark.parametrize("n_copies", [2, FEW + 2])
def test_copies_of_a_document_are_learnt_and_forgotten_once(
    model: Callable[[Kind], Path], n_copies: int
) -> None:
    kind = Kind("text", 2, None)
    path = model(kind)
    copies = [Version(10)] * n_copies

    learnt = [result.outcome for result in taught(path, kind, "b", copies)]
    forgotten = [result.outcome for result in taught(path, kind, None, copies)]

    assert learnt == ["learnt"] + ["known"] * (n_copies - 1)
    assert forgotten == ["forgotten"] + ["known"] * (n_copies - 1)
    again = taught(path, kind, None, copies)
    assert {result.outcome for result in again} == {"refused"}


@pytest.mark.parametrize("n_more", [0, FEW])
def test_a_document_that_was_trained_under_two_labels_is_left_under_one(
    quick_folder: Path, truth: "Truth", n_more: int
) -> None:
    kind = Kind("text", 2, None)
    path = quick_folder / "m.nbt"
    twice = [kind.document(Version(9), label) for label in ("a", "b")]
    table = count(iter(twice), kind.settings, Limits(1 << 20, 0)).table
    path.write_bytes(packed(table))
    more = [Version(number) for number in range(20, 20 + n_more)]

    results = taught(path, kind, "a", [Version(9), *more])

    assert (results[0].outcome, results[0].before) == ("moved", ("b",))
    left = [kind.document(version, "a") for version in (Version(9), *more)]
    assert truth.stored(path) == truth.counted(kind.settings, left)
