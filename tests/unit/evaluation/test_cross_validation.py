import gc
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import nbtext
from nbtext.document import Item, Unreadable
from nbtext.errors import SettingsError, SourceError, TrainingError
from nbtext.evaluation.cross_validation import cross_validate
from nbtext.learning import SettingsOverrides, correcting
from nbtext.learning.reading_once import LabelledSources
from nbtext.learning.trials import SHARES
from tests.build import FEW_TERMS, confusing, texts

if TYPE_CHECKING:
    from nbtext.counts import ReadReport


def again(items: Sequence[Item]) -> LabelledSources:
    return LabelledSources(partial(iter, items), 1000)


EASY = texts(
    *[("ham", f"lunch friday {n}") for n in range(12)],
    *[("spam", f"cheap pills {n}") for n in range(20, 26)],
)


def test_every_document_is_scored_once() -> None:
    found = cross_validate(again(EASY), 3, overrides=FEW_TERMS)

    assert found.classes == ("ham", "spam")
    assert sorted(found.truth.tolist()) == [0] * 12 + [1] * 6
    assert found.log_posterior.shape == (18, 2)
    assert (found.log_posterior.argmax(axis=1) == found.truth).all()
    np.testing.assert_allclose(np.exp(found.log_posterior).sum(axis=1), 1)
    # two words and their pair are known; the number and its pair never are
    assert found.known.tolist() == [3] * 18
    assert found.report.documents == 18
    assert found.scoring.score == "mean"
    assert found.settings.format == "text"


def test_a_copy_of_a_document_is_never_trained_on() -> None:
    copies = [("spam", "only here")] * 4
    items = [*EASY, *texts(*copies)]

    found = cross_validate(again(items), 3, overrides=FEW_TERMS)

    assert sorted(found.known.tolist()) == [0] * 4 + [3] * 18


def test_there_may_be_more_folds_than_documents_of_a_class() -> None:
    found = cross_validate(again(EASY), 15, overrides=FEW_TERMS)

    assert (found.log_posterior.argmax(axis=1) == found.truth).all()


def test_documents_that_are_not_ascii_or_empty_are_scored_too() -> None:
    more = texts(("ham", "Mittagessen für alle"), ("spam", ""), ("spam", "薬 薬"))

    found = cross_validate(again([*EASY, *more]), 3, overrides=FEW_TERMS)

    assert found.truth.tolist().count(1) == 8
    assert (found.known == 0).sum() == 3


@pytest.mark.parametrize(
    ("items", "message"),
    [
        pytest.param([], "there is no document", id="nothing"),
        pytest.param(
            texts(("ham", "a"), ("ham", "b")), "only the class", id="one class"
        ),
        pytest.param(
            texts(*[("a", ""), ("a", " "), ("b", "\n"), ("b", "\t")]),
            "not one token",
            id="no token",
        ),
        pytest.param(
            texts(("ham", "lunch"), ("ham", "friday"), ("eggs", "boiled")),
            r"all documents of eggs \(1\) are in one fold",
            id="one of a class",
        ),
    ],
)
def test_what_cannot_be_cross_validated_is_an_error(
    items: list[Item], message: str
) -> None:
    with pytest.raises(TrainingError, match=message):
        cross_validate(again(items), 2)


def test_a_class_of_one_document_is_learnt_by_no_model_and_counts_as_an_error() -> None:
    one = texts(("boiled", "eggs for lunch"), ("twice", "lunch"), ("twice", "lunch"))
    told: list[ReadReport] = []

    found = cross_validate(
        again([*EASY, *one])._replace(on_read=told.append), 3, overrides=FEW_TERMS
    )
    of_rest = cross_validate(again(EASY), 3, overrides=FEW_TERMS)

    assert found.classes == of_rest.classes == ("ham", "spam")
    is_lost = found.truth == -1
    lost = [found.documents[n].label for n in np.flatnonzero(is_lost).tolist()]
    assert lost == ["boiled", "twice", "twice"]
    note = str(told[0].notes[-1].text)
    assert "all documents of boiled (1), twice (2) are in one fold" in note
    assert "they count as errors, and no model learns them" in note
    result = found.evaluation()
    assert (result.documents, result.unknown_label) == (len(EASY) + 3, 3)
    assert result.correct == of_rest.evaluation().correct
    assert result.confusion == of_rest.evaluation().confusion


def test_a_score_that_does_not_go_with_the_classes_is_an_error() -> None:
    items = [*EASY, *texts(("eggs", "boiled"), ("eggs", "fried"))]

    with pytest.raises(SettingsError, match="mean score is for two classes"):
        cross_validate(
            again(items),
            2,
            overrides=SettingsOverrides(score="mean"),
        )


def test_what_cannot_be_read_is_told_and_skipped() -> None:
    bad = Unreadable("bad.eml", SourceError("bad.eml: no permission"))

    found = cross_validate(again([bad, *EASY]), 3, overrides=FEW_TERMS)

    assert list(found.report.skipped) == [bad]
    assert len(found.truth) == 18


def test_the_temporary_file_is_closed() -> None:
    gc.collect()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cross_validate(again(EASY), 3, overrides=FEW_TERMS)
        gc.collect()

    assert not [str(one.message) for one in caught]


@pytest.mark.parametrize("share", SHARES)
def test_a_fold_is_scored_as_by_a_model_trained_on_the_others(
    share: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(correcting, "SHARES", (share,))
    items = texts(*sorted(confusing()))  # documents of a class are read together

    found = cross_validate(again(items), 3)

    in_fold = found.fold_of == 0
    model = str(tmp_path / "model.nbt")
    others = [item for item, is_in in zip(items, in_fold, strict=True) if not is_in]
    nbtext.train_on([(item.label or "", item) for item in others], model)
    opened = nbtext.load(model)
    decided = [
        nbtext.classify(opened, item).log_posterior
        for item, is_in in zip(items, in_fold, strict=True)
        if is_in
    ]
    np.testing.assert_allclose(found.log_posterior[in_fold], decided, rtol=1e-9)
