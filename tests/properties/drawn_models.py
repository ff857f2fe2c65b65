"""Models that Hypothesis draws: any counts, ledgers, records and calibrations."""

from hypothesis import strategies as st

from nbtext.counts.calibration import FARTHEST_BIN, Calibration, Prior
from nbtext.scoring.models.registry import default_scoring
from nbtext.store import Contents, History, Row, UndoRecords
from nbtext.store.ledger import NO_BIN
from nbtext.tokens.bag import fingerprint
from nbtext.tokens.bags import terms_of
from tests.build import (
    MAIL,
    NO_LEDGER,
    WEIGHTS,
    ClassCounts,
    Entry,
    Rows,
    mean,
    table_of,
)

KEYS = st.integers(0, 2**48 - 1) | st.sampled_from([0, 1, 2**47, 2**48 - 1])
WORDS = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63, 2**64 - 1])
COUNTS = st.sampled_from([0, 1, 1, 1, 2, 255, 256, 65536, 2**31, 2**40])
TIMES = st.sampled_from([1, 1, 300])
NAMES = st.text(max_size=5)
BAGS = st.dictionaries(KEYS, st.sampled_from([1, 1, 2, 300]), max_size=5)


def rows_of_terms(n_columns: int) -> st.SearchStrategy[Rows]:
    columns = st.tuples(*[COUNTS] * n_columns).filter(any)
    return st.dictionaries(KEYS, columns, max_size=6)


@st.composite
def calibrations(draw: st.DrawFn, names: list[str], smoothing: float) -> Calibration:
    bins = st.integers(-FARTHEST_BIN, FARTHEST_BIN)
    labels = st.sampled_from([*names, "gone"])
    return Calibration(
        mean(smoothing).of_scores(),
        draw(st.sampled_from([Prior(), Prior(0.5, 50.0, 2.0)])),
        draw(st.dictionaries(st.tuples(bins, labels), st.integers(-5, 5), max_size=5)),
        (),
        draw(st.dictionaries(labels, st.integers(-5, 5))),
    )


@st.composite
def models(draw: st.DrawFn) -> Contents:
    """Draw the contents of a model."""
    reading = draw(st.sampled_from([MAIL, WEIGHTS, NO_LEDGER]))
    names = sorted(draw(st.sets(NAMES, min_size=1, max_size=4)))
    n_kept = draw(st.integers(0, 3)) if reading.ledger else 0
    bags = [[draw(BAGS) for _ in reading.views] for _ in range(n_kept)]
    rows = [Row(draw(st.sampled_from(names)), fingerprint(tuple(bag))) for bag in bags]
    digests = [(2**120 * place + 5).to_bytes(16, "big") for place in range(n_kept)]
    classes = {}
    for name in names:
        entries: dict[Entry, int] = {
            (*divmod(int.from_bytes(digest, "big"), 2**64), row.fingerprint): draw(
                TIMES
            )
            for digest, row in zip(digests, rows, strict=True)
            if row.label == name
        }
        if reading.ledger:
            drawn = st.tuples(WORDS, WORDS, WORDS)
            entries |= draw(st.dictionaries(drawn, TIMES, min_size=1, max_size=3))
        n_documents = sum(entries.values())
        classes[name] = ClassCounts(
            n_documents if reading.ledger else draw(st.integers(1, 2**33)),
            [draw(rows_of_terms(len(view.columns))) for view in reading.views],
            entries,
        )
    table = table_of(classes, reading)
    smoothings = draw(st.sampled_from([(), (0.01,), (1, 1 / 3)]))
    kept = tuple(draw(calibrations(names, smoothing)) for smoothing in smoothings)
    bins = st.tuples(*[st.sampled_from([NO_BIN, -4096, 0, 77]) for _ in kept])
    records = UndoRecords(
        digests,
        rows,
        [draw(bins) for _ in bags],
        [terms_of([bag[view] for bag in bags]) for view in range(len(reading.views))],
    )
    history = History(
        trained=draw(st.sampled_from(["", "2026-01-01T00:00:00+00:00"])),
        taught=draw(st.integers(0, 2**40)),
        learnt=dict.fromkeys(draw(st.sets(NAMES)), "2026-02-02T00:00:00+00:00"),
        keep=draw(st.sampled_from([3, 1000])),
    )
    scoring = default_scoring("mail", len(names))
    return Contents(table, scoring, kept, history, records)
