"""The header of a table is believed in nothing; histories add up."""

from pathlib import Path

import pytest

from nbtext import train_on
from nbtext.errors import SettingsError
from nbtext.scoring.models.registry import default_scoring
from nbtext.settings.reading import Settings
from nbtext.settings.views import BODY, RAW
from nbtext.store.file import open_model
from nbtext.store.header import KEPT_RECORDS, Header, History, joined_history
from nbtext.store.schema import array_types

EARLY, LATE = "2026-01-01T00:00:00+00:00", "2026-02-01T00:00:00+00:00"
TEXT = Settings(format="text", views=(RAW, BODY))


def header(history: History, written: str = LATE) -> Header:
    return Header(
        settings=TEXT,
        scoring=default_scoring("mail", 2),
        classes=(),
        documents=(),
        totals=((), ()),
        terms=(0, 0),
        calibrations=(),
        written=written,
        writer="a test",
        history=history,
    )


@pytest.mark.parametrize("learnt", [[], ["ham"], None, 3, "ham"])
def test_when_classes_were_learnt_must_be_a_map(learnt: object) -> None:
    plain = History().as_dict() | {"learnt": learnt}

    with pytest.raises(SettingsError, match="learnt of the history: expected a map"):
        History.from_dict(plain, 1)


def test_the_history_of_a_sum_is_the_latest_of_each_and_counts_what_was_taught() -> (
    None
):
    trained = History(keep=5)
    one = History(taught=3, learnt={"ham": LATE, "spam": EARLY}, offset=64, keep=7)
    other = History(taught=4, learnt={"ham": EARLY, "eggs": EARLY}, offset=640, keep=6)

    joined = joined_history([header(trained, EARLY), header(one), header(other)])

    assert joined == History(
        trained=EARLY,
        taught=7,
        learnt={"ham": LATE, "spam": EARLY, "eggs": EARLY},
        offset=None,
        new_terms=(),
        keep=6,
    )


def test_the_history_of_trained_models_is_that_of_the_last() -> None:
    headers = [header(History(), LATE), header(History(trained=EARLY), EARLY)]

    assert joined_history(headers) == History(trained=LATE)
    assert joined_history([]) == History(keep=KEPT_RECORDS)


def test_a_history_comes_back_from_plain_values() -> None:
    history = History(
        taught=3, learnt={"spam": LATE, "ham": EARLY}, offset=64, new_terms=(1, -2)
    )

    plain = history.as_dict()

    assert History.from_dict(plain, 2) == history
    assert list(plain["learnt"]) == ["ham", "spam"]


def test_arrays_of_records_come_last_and_only_with_records() -> None:
    without, with_records = array_types(TEXT), array_types(TEXT, 1)

    names = list(with_records)
    assert names[-1] == list(without)[-1] == "checksums"
    assert names[: len(without) - 1] == list(without)[:-1]
    assert names[len(without) - 1 : -1] == [
        *("undo.high", "undo.low", "undo.fingerprints", "undo.classes", "undo.bins"),
        *("undo.raw.sizes", "undo.raw.keys", "undo.raw.counts"),
        *("undo.body.sizes", "undo.body.keys", "undo.body.counts"),
    ]


def test_a_table_written_anew_was_trained_when_it_says(tmp_path: Path) -> None:
    train_on([("ham", "lunch"), ("spam", "pills")], str(tmp_path / "m.nbt"))
    header = open_model(str(tmp_path / "m.nbt")).tables[0].header
    fresh = header._replace(written="2026-01-01", history=History())
    anew = header._replace(written="2026-03-03", history=History(trained="2026-02-02"))

    assert joined_history([fresh]).trained == "2026-01-01"
    assert joined_history([fresh, anew]).trained == "2026-02-02"
