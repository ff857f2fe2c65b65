"""What is packed and read again is the same model, whatever was in it."""

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, assume, given, settings

from nbtext.counts.table import add
from nbtext.store import Contents, UndoRecords, open_model, read_contents
from nbtext.store.contents import read_tail
from nbtext.store.ledger import NO_BIN
from tests.build import STAMP, values
from tests.properties.drawn_models import models

SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def all_of(contents: Contents) -> tuple[Any, ...]:
    """All of a model, as values that compare."""
    return (
        values(contents.counts),
        contents.scoring,
        [one.as_dict() for one in contents.calibrations],
        contents.history,
        values_of_records(contents.records),
    )


def values_of_records(records: UndoRecords) -> tuple[Any, ...]:
    terms = [
        (bags.sizes.tolist(), bags.keys.tolist(), bags.counts.tolist())
        for bags in records.views
    ]
    rows = zip(records.digests, records.rows, records.bins, strict=True)
    return list(rows), terms if len(records) else []


def read_again(path: Path, *parts: Contents) -> Contents:
    tables = [b"".join(part.pack(written=STAMP)) for part in parts]
    path.write_bytes(b"".join(tables))
    return read_contents(open_model(str(path)))


def expected(model: Contents) -> tuple[Any, ...]:
    """
    What comes back of a model.

    One never taught was trained when it was written. Bins are kept if any is known.
    Scores are those of its classes.
    """
    kept = [one.of_classes(model.counts.classes) for one in model.calibrations]
    model = replace(model, calibrations=(*kept,))
    if not {*chain(*model.records.bins)} - {NO_BIN}:
        model = replace(model, records=model.records.without_bins())
    counts, scoring, calibration, history, records = all_of(model)
    if not history.taught and not history.trained:
        history = history._replace(trained=STAMP)
    rows, terms = records
    if not any(bin_ != NO_BIN for _, _, bins in rows for bin_ in bins):
        records = [(digest, row, ()) for digest, row, _ in rows], terms
    return counts, scoring, calibration, history, records


@given(models())
@SAME_FOLDER
def test_what_was_packed_is_read_as_it_was(tmp_path: Path, model: Contents) -> None:
    # of one document a table is the record itself
    assume(len(model.records) or sum(model.counts.documents) != 1)

    found = read_again(tmp_path / "m.nbt", model)

    assert all_of(found) == expected(model)


@given(models())
@SAME_FOLDER
def test_what_was_read_is_packed_to_the_same_bytes(
    tmp_path: Path, model: Contents
) -> None:
    found = read_again(tmp_path / "m.nbt", model)
    packed = b"".join(found.pack(written=STAMP))

    again = read_again(tmp_path / "n.nbt", found)

    assert b"".join(again.pack(written=STAMP)) == packed


@given(models())
@SAME_FOLDER
def test_the_tables_behind_the_first_are_read_as_their_sum(
    tmp_path: Path, model: Contents
) -> None:
    read_again(tmp_path / "m.nbt", model, model, model)

    tail = read_tail(open_model(str(tmp_path / "m.nbt")))

    twice = add([model.counts, model.counts])
    assert values(tail.counts) == values(twice)
