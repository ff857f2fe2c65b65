"""What an explanation takes to find."""

from collections import Counter
from collections.abc import Collection
from pathlib import Path

import pytest

from nbtext.counts import Fit
from nbtext.document import Document
from nbtext.scoring import batch_model
from nbtext.scoring.batch_model import BatchModel, open_batch_model
from nbtext.scoring.explaining import explain
from nbtext.scoring.model import Model
from nbtext.scoring.models.registry import scoring_of
from nbtext.scoring.stored_view import Entry, StoredView
from nbtext.settings.reading import default_settings
from nbtext.tokens.reading import read
from tests.build import counted, model_of

TEXTS = [("ham", "lunch on friday"), ("spam", "cheap pills, cheap lunch")]


@pytest.mark.parametrize("score", ["mean", "weighted", "sum"])
def test_a_term_is_looked_up_once(
    score: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = default_settings("text", 2)
    model = model_of(tmp_path / "m.nbt", counted(TEXTS, settings), scoring_of(score))
    document = Document("1", (b"cheap lunch",))
    asked: Counter[tuple[int, int]] = Counter()
    found = StoredView.found

    def counting(view: StoredView, keys: Collection[int]) -> dict[int, list[Entry]]:
        asked.update((id(view), key) for key in keys)
        return found(view, keys)

    monkeypatch.setattr(StoredView, "found", counting)
    explanation = explain(model, read(document, settings), Fit(), document=document)

    assert explanation.reasons
    assert set(asked.values()) == {1}


def test_what_is_computed_of_all_terms_is_computed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scoring = scoring_of("wcnb")
    settings = default_settings("text", 2)
    model = model_of(tmp_path / "m.nbt", counted(TEXTS, settings), scoring)
    document = Document("1", (b"cheap lunch",))
    opened = []

    def opening(given: Model) -> BatchModel:
        opened.append(given)
        return open_batch_model(given)

    monkeypatch.setattr(batch_model, "open_batch_model", opening)
    for _ in range(3):
        explain(model, read(document, settings), Fit(), document=document)

    assert len(opened) == 1
