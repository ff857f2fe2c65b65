"""
What tests work on, made in a line: counts, count tables, model files, mails.

The arrays of counts and the call that packs them are known here and nowhere else in the
tests, so that a test says which terms are counted and which law must hold.

    table = table_of({"ham": ClassCounts(2, [{7: (3, 2)}])}, TEXT)  # from numbers
    table = counted([("ham", "lunch"), ("spam", "pills")], TEXT)  # from texts
    file = stored(tmp_path / "model.nbt", table, -table)  # a model file of two tables
    model = model_of(tmp_path / "model.nbt", table)  # the same, ready to classify
"""

import tracemalloc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from nbtext.counts.calibration import Calibration
from nbtext.counts.correction_table import Correction
from nbtext.counts.counter import Counter, ReadDocument
from nbtext.counts.fitting import Fit
from nbtext.counts.sorted_counts import SortedCounts
from nbtext.counts.table import CountTable, LedgerRun
from nbtext.document import Document
from nbtext.learning import (
    LearnRequest,
    LearnResult,
    SettingsOverrides,
    learn_documents,
)
from nbtext.policy import Policy
from nbtext.scoring.decide import Decision
from nbtext.scoring.model import Model, load_model
from nbtext.scoring.models.registry import default_scoring, keeps_histograms, scoring_of
from nbtext.settings.columns import WEIGHTED
from nbtext.settings.reading import Settings
from nbtext.settings.scoring import Scoring
from nbtext.settings.views import BODY, HEADERS, RAW, View
from nbtext.sources import Options
from nbtext.store.contents import Contents, read_contents
from nbtext.store.file import ModelFile, open_model
from nbtext.store.header import History
from nbtext.store.undo import UndoRecords
from nbtext.tokens.tokenizer import KEY_SHIFT, pair_hash, token_hash

STAMP: Final = "2026-01-01T00:00:00+00:00"
"""When the models of the tests were written."""

WORDS: Final = View(name="body", text="body", alphabet="words")
"""A view whose terms are single words, for counts that can be told by eye."""

MAIL: Final = Settings(format="mail", views=(HEADERS, RAW, BODY))
TEXT: Final = Settings(format="text", views=(BODY,))
WEIGHTS: Final = Settings(format="text", views=(BODY._replace(columns=WEIGHTED),))
WORD_WEIGHTS: Final = Settings(format="text", views=(WORDS._replace(columns=WEIGHTED),))
NO_LEDGER: Final = Settings(format="text", views=(BODY, RAW), ledger=False)

# fmt: off
SPAM: Final = (
    "money", "winner", "lottery", "cash", "prize", "loan", "casino", "pills",
)
HAM: Final = (
    "meeting", "minutes", "review", "patch", "lunch", "garden", "library", "train",
)
# fmt: on
"""Words of which spam and ham are made."""

FROM_LINE: Final = b"From joe@x.example Tue Feb  6 10:00:00 2024\n"
"""What begins a message in an mbox."""

TEXT_WORDS: Final = Settings(format="text", views=(WORDS,))

Rows: TypeAlias = Mapping[int, Sequence[int]]
"""The columns of each term, by its key."""

Entry: TypeAlias = tuple[int, int, int]
"""A row of the ledger: the halves of a digest, and a fingerprint."""

Values: TypeAlias = tuple[Any, ...]
"""All that a count table holds, as values that compare."""


class Exactly(SettingsOverrides):
    """Settings and a scoring, whatever the defaults are."""

    def __new__(cls, reading: Settings, scoring: Scoring) -> "Exactly":
        made = super().__new__(cls, score=scoring.score)
        made.how = reading, scoring
        return made

    how: tuple[Settings, Scoring]

    def settings(self, _default: Settings) -> Settings:
        """Return the settings that are wanted."""
        return self.how[0]

    def scoring(self, _default: Scoring) -> Scoring:
        """Return the scoring that is wanted."""
        return self.how[1]


FEW_TERMS: Final = Exactly(TEXT, scoring_of("mean"))
"""Words and pairs alone, so that the terms of a text can be told by eye."""


class ClassCounts(NamedTuple):
    """What one class of a table holds; `views` has the rows of each view."""

    documents: int
    views: Sequence[Rows]
    ledger: Mapping[Entry, int] = {}


def key_of(token: str, second: str | None = None) -> int:
    """Return the key of a token without a field, or of a pair of two."""
    value = token_hash(token)
    if second is not None:
        value = pair_hash(value, token_hash(second))
    return value >> KEY_SHIFT


def column(values: Sequence[int]) -> Any:
    """Return a column of counts, in 32 bits if all of them fit."""
    fits = all(-(2**31) <= value < 2**31 for value in values)
    return np.array(values, np.int32 if fits else np.int64)


def sorted_counts(rows: Rows, n_columns: int = 2) -> SortedCounts:
    """Return the counts of one view in one class."""
    keys = sorted(rows)
    return SortedCounts(
        np.array(keys, np.uint64),
        tuple(column([rows[key][n] for key in keys]) for n in range(n_columns)),
    )


def ledger_of(entries: Mapping[Entry, int]) -> LedgerRun:
    """Return the ledger of one class, from how often each entry was made."""
    rows = sorted(entries)
    return LedgerRun(
        np.array(rows, np.uint64).reshape(-1, 3),
        column([entries[row] for row in rows]),
    )


def table_of(
    classes: Mapping[str, ClassCounts], settings: Settings = TEXT
) -> CountTable:
    """Return a table of counts that are given as numbers."""
    names = sorted(classes)
    return CountTable(
        settings=settings,
        classes=tuple(names),
        documents=tuple(classes[name].documents for name in names),
        runs=tuple(
            tuple(
                sorted_counts(classes[name].views[number], len(view.columns))
                for name in names
            )
            for number, view in enumerate(settings.views)
        ),
        ledger=tuple(ledger_of(classes[name].ledger) for name in names),
    )


def counted(
    labelled: Iterable[tuple[str, str]], settings: Settings = TEXT, stride: int = 1
) -> CountTable:
    """
    Return the counts of texts, which are the bodies in each view.

    Args:
        labelled: labels and texts; their digests are 1, 2, 3 ... times the stride.
        settings: how they are read.
        stride: what lies between two digests.
    """
    counter = Counter(settings)
    for number, (label, text) in enumerate(labelled, start=1):
        views = tuple([("body", text)] for _ in settings.views)
        digest = (number * stride).to_bytes(16, "big")
        counter.add(ReadDocument(label, views, digest, len(text)))
    return counter.table()


def rows_of(counts: SortedCounts) -> dict[int, tuple[int, ...]]:
    """Return the columns of each term, by its key."""
    columns = zip(*(column.tolist() for column in counts.columns), strict=True)
    return dict(zip(counts.keys.tolist(), columns, strict=True))


def values(table: CountTable) -> Values:
    """Return all that a table holds, as values that compare."""
    return (
        table.settings,
        table.classes,
        table.documents,
        [
            [(run.keys.tolist(), [c.tolist() for c in run.columns]) for run in runs]
            for runs in table.runs
        ],
        [(run.entries.tolist(), run.counts.tolist()) for run in table.ledger],
    )


def packed(
    table: CountTable,
    scoring: Scoring | None = None,
    calibration: Calibration | None = None,
    *,
    written: str = STAMP,
    history: History | None = None,
    records: UndoRecords | None = None,
    fit: Fit | None = None,
    correction: Correction | None = None,
    policy: Policy | None = None,
) -> bytes:
    """Return a table as the bytes of a model file."""
    scoring = scoring or default_scoring(table.settings.format, len(table.classes))
    contents = Contents(
        table,
        scoring,
        (calibration,) if calibration else (),
        history or History(),
        records or UndoRecords(),
        fit=fit,
        correction=correction,
        keeps_histograms=keeps_histograms(scoring),
        policy=policy,
    )
    return b"".join(map(bytes, contents.pack(written=written, writer="a test")))


def corrected_terms(correction: Correction) -> list[dict[tuple[int, int], int]]:
    """Return for each view the values of a correction by key and class."""
    found = []
    for table in correction.terms:
        entries = table.entries()
        (numbers,) = (column.tolist() for column in entries.columns)
        places = zip(entries.keys.tolist(), entries.classes.tolist(), strict=True)
        found.append(dict(zip(places, numbers, strict=True)))
    return found


def correction_values(correction: Correction | None) -> Values:
    """Return all that a correction holds, as values that compare."""
    if correction is None:
        return ()
    amounts = correction.amounts
    return (
        correction.info,
        correction.classes,
        correction.biases,
        corrected_terms(correction),
        amounts.entries.tolist(),
        amounts.labels.tolist(),
        amounts.classes.tolist(),
        amounts.values.tolist(),
    )


def mean(smoothing: float = 0.01, **changes: Any) -> Scoring:
    """Return a mean score: its counting, or its parameters, may differ."""
    counting = changes.pop("counting", "occurrences")
    return (
        scoring_of("mean")
        ._replace(smoothing=smoothing, counting=counting)
        .with_parameters(**changes)
    )


def stored(path: Path, *tables: CountTable) -> ModelFile:
    """Write tables as a model file, one behind the other, and open it."""
    path.write_bytes(b"".join(map(packed, tables)))
    return open_model(str(path))


def model_of(
    path: Path,
    table: CountTable,
    scoring: Scoring | None = None,
    calibration: Calibration | None = None,
) -> Model:
    """Write a table as a model file, and load it."""
    path.write_bytes(packed(table, scoring, calibration))
    return load_model(str(path))


def halve(path: Path) -> None:
    """Damage a model: every other term is gone, of which the ledger knows nothing."""
    contents = read_contents(open_model(str(path)))
    counts = contents.counts
    runs = tuple(
        tuple(run.part(slice(0, len(run), 2)) for run in of_view)
        for of_view in counts.runs
    )
    less = replace(contents, counts=replace(counts, runs=runs), texts=None)
    path.write_bytes(b"".join(map(bytes, less.pack())))


def documents_of(path: Path | str) -> dict[str, int]:
    """Return how many documents of each class a model has counted."""
    model = load_model(str(path))
    return dict(zip(model.classes, model.documents, strict=True))


def learnt(request: LearnRequest, documents: Iterable[Document]) -> list[LearnResult]:
    """Return what became of documents, none of which was a problem."""

    def refuse(problem: object) -> None:
        raise AssertionError(problem)

    batches = learn_documents(documents, request, max_bytes=1 << 24, on_problem=refuse)
    return [result for batch in batches for result in batch]


def texts(*labelled: tuple[str, str]) -> list[Document]:
    """Labels and texts as documents, called 0.txt, 1.txt and so on."""
    return [
        Document(f"{place}.txt", (text.encode(),), label)
        for place, (label, text) in enumerate(labelled)
    ]


def numbered(label: str, numbers: Iterable[int]) -> list[Document]:
    """Documents of spam or ham, each other words, called ham0, ham1 and so on."""
    words = SPAM if label == "spam" else HAM
    found = []
    for number in numbers:
        chosen = [words[(number * step + step) % len(words)] for step in range(1, 5)]
        text = f"{' '.join(chosen)} hello {number}\n".encode()
        found.append(Document(f"{label}{number}", (text,), label, is_mail=False))
    return found


def mail(number: int, words: Sequence[str]) -> bytes:
    """Return a small message about some of the words, with the usual headers."""
    chosen = [words[(number + step) % len(words)] for step in range(4)]
    return (
        f"Received: from mx{number}.example by inbox.example; Tue, 6 Feb 2024 10:00\n"
        f"Date: Tue, 6 Feb 2024 10:{number:02}:00 +0000\n"
        f"Message-ID: <{words[0]}{number}@example.org>\n"
        f"From: {chosen[0]}@example.org\n"
        "To: reader@example.com\n"
        f"Subject: {chosen[1]} {chosen[2]}\n"
        "\n"
        f"About the {chosen[3]} and the {chosen[0]}, number {number}.\n"
    ).encode()


@contextmanager
def bounded(megabytes: int) -> Iterator[None]:
    """Fail if Python comes to hold more memory than that."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < megabytes << 20


def decision(
    label: str | None = "spam", probability: float = 0.9, **changes: Any
) -> Decision:
    """Return what was decided about a message of ham or spam."""
    made = Decision(
        name="-",
        label=label,
        probability=probability,
        classes=("ham", "spam"),
        log_posterior=(-2.3, -0.1),
        printed=(-2.3, -0.1),
        known=1,
        tokens=1,
        truncated=False,
        expected=None,
    )
    return made._replace(**changes)


def maildir(path: Path, messages: Mapping[str, bytes] | None = None) -> Path:
    """Make a Maildir of messages, by their names: `new/1`, `cur/2:2,S`."""
    for part in ("cur", "new", "tmp"):
        (path / part).mkdir(parents=True, exist_ok=True)
    for name, message in (messages or {}).items():
        (path / name).write_bytes(message)
    return path


def mbox(path: Path, *messages: bytes) -> Path:
    """Make an mbox of messages."""
    path.write_bytes(b"".join(FROM_LINE + message + b"\n" for message in messages))
    return path


TOPICS: Final = ("east", "north", "south", "west")


def lettered(text: str) -> str:
    """Return a text with a letter for each digit, all of which n-grams take for one."""
    return text.translate(str.maketrans("0123456789", "abcdefghij"))


def confusing(n: int = 240) -> list[tuple[str, str]]:
    """Return labelled texts that the counts misjudge, and a correction mends."""
    random = np.random.default_rng(7)
    found = []
    for number in range(n):
        place = int(random.integers(len(TOPICS)))
        # one word nearly tells the class; words that go together say little, and are
        # counted as so many witnesses
        told = place if random.random() < 0.9 else int(random.integers(len(TOPICS)))
        text = f"topic{told} common{random.integers(9)}"
        for group, is_likely in (("echo", place % 2), ("choir", place < 2)):
            if random.random() < (0.65 if is_likely else 0.35):
                text += "".join(f" {group}{part}" for part in "abcdefgh")
        found.append((TOPICS[place], lettered(f"{text} n{number}")))
    return found


MIXED: Final = Options(
    label_column="kind",
    text_columns=("notes",),
    categorical_columns=("city",),
    numeric_columns=("age", "size"),
)
"""The columns of `mixed_table`."""


def mixed_rows(n: int = 40, seed: int = 3) -> list[str]:
    """Draw rows of text, a category and two numbers, some of them missing."""
    random = np.random.default_rng(seed)
    words = ["paid", "late", "refund", "friendly", "invoice", "call"]
    rows = []
    for place in range(n):
        kind = place % 2
        notes = " ".join(random.choice(words[kind : 4 + kind], 3))
        city = random.choice(["Rome", "Oslo", ""]) if place % 7 else f"only {place}"
        age = "" if place % 11 == 3 else repr(float(random.normal(40 + 9 * kind, 8)))
        size = repr(float(random.normal(0, 1)) * 10.0 ** int(random.integers(-3, 4)))
        rows.append(f"{'yn'[kind]},{notes} {place},{city},{age},{size}")
    return rows


def mixed_table(path: Path, rows: Sequence[str]) -> str:
    """Write rows as CSV."""
    path.write_text("\n".join(["kind,notes,city,age,size", *rows, ""]), newline="")
    return str(path)
