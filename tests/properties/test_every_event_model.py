"""
Laws that each event model of the registry keeps, of text alone and of records.

Leaving a document out is as forgetting it, and learning in any order and any batches
is training. The weights of TF-IDF rest on all documents: its idf is frozen, and
`tests/properties/test_frozen_idf.py` has its laws. What is learnt beside counts, a
correction and parameters that are chosen, is left out here.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from nbtext import Document, SettingsOverrides, forget, learn, load, read_documents
from nbtext import train as train_files
from nbtext.scoring.batch import joint_log_likelihoods, score_batch
from nbtext.scoring.batch_model import open_batch_model
from nbtext.scoring.held_out import fitted
from nbtext.scoring.model import load_model
from nbtext.scoring.models.registry import event_models
from nbtext.sources import Options
from nbtext.store import open_model
from nbtext.store.packing import unpack
from nbtext.tokens import Terms, read, read_terms
from nbtext.upkeep.checking import check_model
from tests.build import MIXED, mixed_rows, mixed_table, values

TEXT = Options(label_column="kind", text_columns=("notes",))
CLOSE = 1e-9
ROWS = mixed_rows(24)

pytestmark = [
    pytest.mark.parametrize(
        "score", [event.name for event in event_models() if not event.weighs_again]
    ),
    pytest.mark.parametrize("options", [TEXT, MIXED], ids=["text", "records"]),
]


@cache
def trained(n_rows: int, score: str, options: Options) -> bytes:
    """Return a model of the first rows."""
    overrides = SettingsOverrides(
        score=score,
        correction=False,
        variance_smoothing=1e-3 if options is MIXED else None,
    )
    with TemporaryDirectory() as folder:
        table = mixed_table(Path(folder, "rows.csv"), ROWS[:n_rows])
        path = Path(folder, "m.nbt")
        train_files([table], str(path), options=options, overrides=overrides)
        return path.read_bytes()


def train(path: Path, n_rows: int, score: str, options: Options) -> str:
    path.write_bytes(trained(n_rows, score, options))
    return str(path)


def documents_of(path: Path, model: str) -> list[Document]:
    return [*read_documents([mixed_table(path, ROWS)], model=load(model))]


def terms(model: str, documents: Sequence[Document]) -> list[Terms]:
    settings = load_model(model).settings
    return read_terms(settings, [read(one, settings).views for one in documents])


def test_a_document_left_out_is_as_forgotten(
    score: str, options: Options, tmp_path: Path
) -> None:
    path = train(tmp_path / "whole.nbt", len(ROWS), score, options)
    documents = documents_of(tmp_path / "rows.csv", path)
    places = np.array([row.split(",")[0] == "y" for row in ROWS], np.int64)
    whole = load_model(path)
    fit = fitted(whole)

    found = score_batch(
        open_batch_model(whole), terms(path, documents), fit, places
    ).log_posterior

    for place in (0, 3, 7, 14, 21):
        part = tmp_path / "part.nbt"
        part.write_bytes(Path(path).read_bytes())
        forget(str(part), [documents[place]])
        # by the same parameters, where others would be chosen
        model = open_batch_model(load_model(str(part), scoring=whole.scoring))
        expected = score_batch(model, terms(path, [documents[place]]), fit)
        np.testing.assert_allclose(
            found[place], expected.log_posterior[0], rtol=CLOSE, atol=CLOSE
        )


def test_learning_in_any_order_and_batches_is_training(
    score: str, options: Options, tmp_path: Path
) -> None:
    whole = train(tmp_path / "whole.nbt", len(ROWS), score, options)
    part = train(tmp_path / "part.nbt", 6, score, options)
    before = values(unpack(open_model(part)))
    random = np.random.default_rng([*score.encode()])  # each has an order of its own
    order = (6 + random.permutation(len(ROWS) - 6)).tolist()
    documents = documents_of(tmp_path / "rows.csv", part)
    while order:
        size = int(random.integers(1, 9))
        batch, order = order[:size], order[size:]
        for label in "ny":
            chosen = [documents[n] for n in batch if ROWS[n][0] == label]
            learn(part, label, chosen)

    assert values(unpack(open_model(part))) == values(unpack(open_model(whole)))
    scoring = load_model(whole).scoring
    one, other = (
        joint_log_likelihoods(
            open_batch_model(load_model(path, scoring=scoring)), terms(path, documents)
        )
        for path in (part, whole)
    )
    np.testing.assert_allclose(one, other, rtol=CLOSE, atol=CLOSE)

    random.shuffle(documents[6:])
    for start in range(6, len(ROWS), 5):
        forget(part, documents[start : start + 5])
    assert values(unpack(open_model(part))) == before
    assert check_model(part).is_sound
