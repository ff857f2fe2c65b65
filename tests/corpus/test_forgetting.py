"""
What is left of a correction when documents are forgotten or move, or a class begins.

What documents have added to a correction cancels in part; its biases make up for what
is taken back (docs/experiments/030-balance.md). A twentieth may go.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from nbtext import (
    Document,
    SettingsOverrides,
    classify_all,
    forget,
    learn,
    load,
    train_on,
)
from tests.corpus.splits import CORPORA, of_table
from tests.corpus.test_accuracy import evaluation_of

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPORA.is_dir(), reason="../shared/corpora is absent"),
]


def loss_of(unseen: Sequence[Document], path: Path) -> float:
    loss = evaluation_of([*classify_all(load(path), unseen)]).log_loss
    assert loss is not None
    sys.stdout.write(f"{loss:.4f} nats\n")
    return loss


def test_a_corrected_model_that_forgets_a_twentieth_keeps_most_of_what_it_gains(
    tmp_path: Path,
) -> None:
    known, unseen = of_table("trec-questions")
    pairs = [(one.label or "", one) for one in known]
    corrected, uncorrected = tmp_path / "corrected.nbt", tmp_path / "uncorrected.nbt"
    train_on(pairs, corrected)
    train_on(pairs, uncorrected, overrides=SettingsOverrides(correction=False))
    before = loss_of(unseen, corrected)

    forget(corrected, [one for _, one in pairs[::20]])

    after = loss_of(unseen, corrected)
    assert before < after < (before + loss_of(unseen, uncorrected)) / 2


def test_putting_mistakes_right_makes_a_corrected_model_better(tmp_path: Path) -> None:
    known, unseen = of_table("trec-questions")
    pairs = [(one.label or "", one) for one in known]
    mistaken = [one for label, one in pairs if label == "ENTY"][:50]
    wrong = [("DESC" if one in mistaken else label, one) for label, one in pairs]
    mended, anew = tmp_path / "mended.nbt", tmp_path / "anew.nbt"
    train_on(pairs, anew)
    train_on(wrong, mended)
    before = loss_of(unseen, mended)

    learn(mended, "ENTY", mistaken)

    after = loss_of(unseen, mended)
    assert after < before
    assert after < 1.05 * loss_of(unseen, anew)


def test_a_class_that_begins_in_a_corrected_model_is_learnt(tmp_path: Path) -> None:
    known, unseen = of_table("trec-questions")
    numbers = [one for one in known if one.label == "NUM"]
    others = [(one.label or "", one) for one in known if one.label != "NUM"]
    begun, anew = tmp_path / "begun.nbt", tmp_path / "anew.nbt"
    train_on(others, begun)
    pairs = [*others, *(("NUM", one) for one in numbers)]
    train_on(pairs, anew, overrides=SettingsOverrides(correction=False))

    learn(begun, "NUM", numbers)

    assert loss_of(unseen, begun) < 1.05 * loss_of(unseen, anew)
