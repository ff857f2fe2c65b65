"""
The ledger and the records of a taught model are those of a plain Python model of it.

Whatever is learnt, moved and forgotten, in whatever order and whatever is compacted in
between: the model knows every document in the class that it was learnt as last, knows
the terms that it left of those learnt one by one, and has the counts of the rest.
"""

from collections import Counter as Tally
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbtext import train_on
from nbtext.document import Document
from nbtext.learning import LearnRequest
from nbtext.scoring.model import load_model
from nbtext.settings.reading import Settings
from nbtext.store import Row, compact, open_model, record_of, rows_of
from nbtext.store.compacting import compact_tail
from nbtext.store.packing import unpack
from nbtext.tokens.bag import Bag, bag_of, columns_of, fingerprint
from nbtext.tokens.reading import read
from tests.build import learnt

TRAINED = [
    ("ham", "lunch on friday at the usual place"),
    ("ham", "lunch lunch on monday"),
    ("spam", "cheap pills! cheap! cheap!"),
    ("spam", "the cheap place on friday"),
]
TEXTS = ["lunch", "cheap cheap pills", "on monday, at the place", "!", "new words"]


class Known(NamedTuple):
    """What the plain model remembers of a document."""

    label: str
    bag: Bag
    is_trained: bool


Plain = dict[bytes, Known]
"""Digest to what was learnt last."""


class Step(NamedTuple):
    """Documents by identity and text, and a class to learn, None to forget them."""

    label: str | None
    documents: dict[str, str]


STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(["ham", "spam", None]),
        st.dictionaries(
            st.sampled_from("abcdefgh"), st.sampled_from(TEXTS), min_size=1, max_size=4
        ),
    )
    | st.sampled_from(["compact", "compact the tail"]),
    max_size=8,
)


def documents_of(step: Step) -> list[Document]:
    return [
        Document(name, (text.encode(),), identity=name)
        for name, text in step.documents.items()
    ]


def carry_out(path: str, step: Step, plain: Plain) -> None:
    """Do one step to a model and to its plain picture; what happens is foreseen."""
    reading_settings = open_model(path).settings
    documents = documents_of(step)
    results = learnt(LearnRequest(path, step.label), documents)
    for document, result in zip(documents, results, strict=True):
        reading = read(document, reading_settings)
        known = plain.get(reading.digest)
        if step.label is None:
            assert result.outcome == ("refused" if known is None else "forgotten")
            plain.pop(reading.digest, None)
        elif known is not None and known.label == step.label:
            assert result.outcome == "known"
        else:
            assert result.outcome == ("moved" if known else "learnt")
            bag = bag_of(reading, reading_settings)
            plain[reading.digest] = Known(step.label, bag, is_trained=False)


def plain_of(pairs: Iterable[tuple[str, str]], reading_settings: Settings) -> Plain:
    readings = [
        (label, read(Document("", (text.encode(),)), reading_settings))
        for label, text in pairs
    ]
    return {
        reading.digest: Known(label, bag_of(reading, reading_settings), is_trained=True)
        for label, reading in readings
    }


def check_ledger(path: str, plain: Plain) -> None:
    file = open_model(path)
    for name in "abcdefgh":
        reading = read(Document(name, (b"x",), identity=name), file.settings)
        assert bool(rows_of(file, reading.digest)) == (reading.digest in plain)
    for digest, known in plain.items():
        row = Row(known.label, fingerprint(known.bag))
        assert rows_of(file, digest) == {row: 1}
        record = record_of(file, digest, row)
        assert known.is_trained if record is None else record.bag == known.bag
        assert record_of(file, digest, row._replace(label="other")) is None
        assert record_of(file, digest, Row(known.label, row.fingerprint ^ 1)) is None


def check_counts(path: str, plain: Plain) -> None:
    model, table = load_model(path), unpack(open_model(path))
    expected: dict[tuple[int, int, str], Tally[str]] = {}
    for known in plain.values():
        for view, terms in enumerate(known.bag):
            columns = model.settings.views[view].columns
            for key, values in columns_of(terms, columns).items():
                cell = expected.setdefault((view, key, known.label), Tally())
                cell.update(dict(zip(columns, values, strict=True)))
    found = {
        (view, key, label): dict(
            zip(model.settings.views[view].columns, values, strict=True)
        )
        for view, runs in enumerate(table.runs)
        for label, run in zip(table.classes, runs, strict=True)
        for key, *values in zip(
            run.keys.tolist(), *(column.tolist() for column in run.columns), strict=True
        )
    }
    assert found == expected
    documents = dict(zip(model.classes, model.documents, strict=True))
    assert documents == Tally(known.label for known in plain.values())
    for view in range(len(model.settings.views)):
        assert model.n_terms(view) == len({p[1] for p in expected if p[0] == view})


@given(STEPS)
@settings(max_examples=40)
def test_a_taught_model_is_what_was_learnt_last(steps: list[Step | str]) -> None:
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.nbt")
        train_on(TRAINED, path)
        plain = plain_of(TRAINED, open_model(path).settings)
        for step in steps:
            if isinstance(step, Step):
                carry_out(path, step, plain)
            elif step == "compact":
                compact(path)
            else:
                compact_tail(path)

            check_ledger(path, plain)
        check_counts(path, plain)


def test_a_document_that_was_learnt_often_is_taken_away_as_often(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "model.nbt")
    train_on([*TRAINED, *TRAINED[:1] * 2], path)
    document = Document("", (TRAINED[0][1].encode(),))
    (digest,) = plain_of(TRAINED[:1], open_model(path).settings)
    assert list(rows_of(open_model(path), digest).values()) == [3]

    (result,) = learnt(LearnRequest(path, None), [document])

    assert result.outcome == "forgotten"
    assert not rows_of(open_model(path), digest)
    check_counts(path, plain_of(TRAINED[1:], open_model(path).settings))


def test_a_document_of_several_classes_is_found_in_all(tmp_path: Path) -> None:
    path = str(tmp_path / "model.nbt")
    train_on([*TRAINED, ("spam", TRAINED[0][1])], path)
    ((digest, known),) = plain_of(TRAINED[:1], open_model(path).settings).items()

    rows = rows_of(open_model(path), digest)

    mark = fingerprint(known.bag)
    assert rows == {Row("ham", mark): 1, Row("spam", mark): 1}


def test_changed_tokens_of_a_trained_document_have_no_record(tmp_path: Path) -> None:
    path = str(tmp_path / "model.nbt")
    train_on(TRAINED, path)
    ((digest, known),) = plain_of(TRAINED[:1], open_model(path).settings).items()

    found = record_of(open_model(path), digest, Row("ham", fingerprint(known.bag)))

    assert found is None


@pytest.mark.parametrize("times", [1, 5])
def test_learning_and_forgetting_again_and_again_leaves_no_trace(
    times: int, tmp_path: Path
) -> None:
    path = str(tmp_path / "model.nbt")
    train_on(TRAINED, path)
    plain = plain_of(TRAINED, open_model(path).settings)

    for _ in range(times):
        for label in ("ham", "spam", None):
            carry_out(path, Step(label, {"a": "lunch lunch"}), plain)
    compact_tail(path)

    check_ledger(path, plain)
    check_counts(path, plain)
