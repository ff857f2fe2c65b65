"""Runs of three characters: a model has them where its classes have few documents."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest

from nbtext import classify, learn_labelled, load, train_on
from nbtext.counts.counting import FEW_DOCUMENTS
from nbtext.document import Document
from nbtext.evaluation.cross_validation import cross_validate
from nbtext.learning import SettingsOverrides, train
from nbtext.learning.reading_once import LabelledSources, read_once
from nbtext.settings.views import THREES_BYTES
from nbtext.store import Contents, open_model
from tests.build import confusing, texts, values

FEW = 4 * FEW_DOCUMENTS
GREEK = "\u03bc\u03ae\u03bd\u03c5\u03bc\u03b1 "


def trained(pairs: list[tuple[str, str]], **overrides: bool | str) -> Contents:
    changed = SettingsOverrides(**overrides)  # type: ignore[arg-type]  # any of them
    return train(partial(iter, texts(*pairs)), overrides=changed).contents


def threes_of(contents: Contents) -> list[int | None]:
    return [view.threes for view in contents.counts.settings.views]


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        pytest.param(confusing(FEW), THREES_BYTES, id="few"),
        pytest.param(confusing(FEW + 1), None, id="one more"),
        pytest.param([*confusing(FEW), ("other", "x")], THREES_BYTES, id="in the mean"),
        pytest.param([("ab"[n % 2], text) for n, (_, text) in enumerate(confusing(40))],
                     None, id="two classes"),
        pytest.param([(c, GREEK * 4 + t[:14]) for c, t in confusing(40)], None,
                     id="Greek"),
        pytest.param([(c, GREEK + t[:14]) for c, t in confusing(40)], THREES_BYTES,
                     id="half of it"),
        pytest.param([(c, t + " x" * 64) for c, t in confusing(40)], None, id="long"),
    ],
)  # fmt: skip
def test_they_are_of_three_classes_that_have_few_short_texts(
    pairs: list[tuple[str, str]], expected: int | None
) -> None:
    contents = trained(pairs)

    assert threes_of(contents) == [None, expected]
    assert sum(contents.counts.documents) == len(pairs)


def test_most_texts_are_short() -> None:
    long = [(label, text + " x" * 64) for label, text in confusing(20)]

    assert threes_of(trained([*confusing(21), *long])) == [None, THREES_BYTES]
    assert threes_of(trained([*confusing(20), *long])) == [None, None]


def test_or_they_are_as_somebody_says() -> None:
    without, named = trained(confusing(40), threes=False), trained(confusing(240))
    pair = trained([("a", "one"), ("b", "two")], threes=True)

    assert threes_of(without) == threes_of(named) == [None, None]
    assert threes_of(pair) == [None, THREES_BYTES]
    assert threes_of(trained(confusing(40), threes=True, byte_ngrams=False)) == [None]
    assert threes_of(trained(confusing(40), score="sum")) == [None]


def test_who_counts_changes_nothing() -> None:
    items = texts(*confusing(FEW))
    alone = train(partial(iter, items))
    by_threads = train(partial(iter, items), jobs=3)
    pattern = SettingsOverrides(pattern=r"\w+")
    with ThreadPoolExecutor(2) as pool:
        apart = train(
            partial(iter, items),
            overrides=pattern,
            workers=lambda: nullcontext(pool),
            jobs=2,
        )

    assert values(by_threads.contents.counts) == values(alone.contents.counts)
    assert threes_of(apart.contents) == [None]


def test_pairs_that_come_once_are_counted_twice(tmp_path: Path) -> None:
    path = tmp_path / "once.nbt"

    made = train_on(iter(confusing(FEW)), path)

    assert open_model(str(path)).settings.views[-1].threes == THREES_BYTES
    assert made.report.documents == sum(made.contents.counts.documents) == FEW


def test_what_is_learnt_later_changes_nothing_of_it(tmp_path: Path) -> None:
    path = tmp_path / "begun.nbt"
    train_on(confusing(FEW), path)

    results = list(learn_labelled(path, confusing(240)[FEW:]))

    assert {result.outcome for result in results} <= {"learnt", "known"}
    settings = open_model(str(path)).settings
    assert settings.views[-1].threes == THREES_BYTES
    assert classify(load(path), "topic0 common1").label is not None


def test_documents_that_are_read_once_are_read_so_too() -> None:
    sources = LabelledSources(partial(iter, texts(*confusing(FEW))), 1000)

    cache, settings, report = read_once(sources, SettingsOverrides().settings)
    with cache:
        assert [view.threes for view in settings.views] == [None, THREES_BYTES]
        assert (report.documents, report.short) == (FEW, FEW)
    found = cross_validate(sources, 3)
    assert len(found.truth) == FEW


def test_a_document_that_leaves_a_report_is_not_among_the_short_ones() -> None:
    documents = [*texts(*confusing(40)), Document("no", (b"x",), "topic", is_mail=True)]

    report = train(partial(iter, documents)).report

    assert report.short == report.documents
