"""A model opened for many documents: the batches of `nbtext.scoring.classifying`."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from nbtext.scoring.batch import BulkModel, bulk_model, bulk_model_of, score_batch
from nbtext.scoring.fitting import Fit
from nbtext.scoring.model import Model
from nbtext.scoring.score import Scored
from nbtext.store.file import check_sound
from nbtext.store.packing import stored_terms, unpack
from nbtext.tokens.bags import read_terms
from nbtext.tokens.reading import Reading

KEPT: Final = 8 << 20


def open_bulk(model: Model) -> BulkModel:
    """Arrange a model's counts for scoring many documents."""
    file = model.file
    check_sound(file)
    keep_memory()
    if len(file.tables) > 1:
        return bulk_model_of(unpack(file), model.scoring)
    terms = tuple(
        stored_terms(file.path, file.tables[0], view)
        for view in range(len(model.settings.views))
    )
    return bulk_model(
        model.settings,
        model.scoring,
        model.classes,
        model.documents,
        model.totals,
        terms,
    )


def score_readings(
    model: BulkModel, readings: Sequence[Reading], calibration: Fit
) -> Iterator[Scored]:
    """Yield what the counts say of each document, in their order."""
    views = [reading.views for reading in readings]
    batch = score_batch(model, read_terms(model.settings, views), calibration)
    rows = zip(
        batch.log_posterior.tolist(),
        batch.known.tolist(),
        batch.tokens.tolist(),
        strict=True,
    )
    for posterior, known, tokens in rows:
        yield Scored(tuple(posterior), known, tokens)


def keep_memory() -> None:
    """
    Have the C library keep what is freed, rather than give it back again and again.

    Batches need arrays of a megabyte or so, thousands of times. glibc gives such memory
    back to the system as soon as it is freed, and fetching it anew costs a quarter of
    the time (docs/experiments/002-speed.md); but it learns from what is freed
    (mallopt(3), M_MMAP_THRESHOLD), and one larger array teaches it.
    """
    np.empty(KEPT, np.uint8)
