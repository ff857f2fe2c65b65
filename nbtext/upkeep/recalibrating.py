"""
Recalibrating: what held-out documents score by a model that was pruned.

What a model keeps for calibration was scored with all its terms. Given documents that
it has counted, they are scored anew with those that are left, each as if it alone had
not been counted, neither when terms were counted nor when they were pruned.
"""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nbtext.document import Item, OnProblem
    from nbtext.scoring.batch_model import BatchModel
    from nbtext.scoring.leave_one_out import Labelled
    from nbtext.store import ModelFile
    from nbtext.upkeep.pruning import Pruned

from nbtext.counts import Sample
from nbtext.counts.fitting import chosen
from nbtext.counts.sample import Block
from nbtext.scoring import batches
from nbtext.scoring.batch_model import batch_model_of
from nbtext.scoring.leave_one_out import left_out
from nbtext.store import rows_of
from nbtext.tokens import Terms, fingerprints, read_keys, read_terms
from nbtext.tokens.bags import starts_of


def recalibrated(
    pruned: Pruned,
    file: ModelFile,
    items: Iterable[Item],
    *,
    min_documents: int,
    max_bytes: int,
    on_problem: OnProblem,
) -> tuple[Pruned, int]:
    """
    Return a pruned model whose calibration is of the terms that are left.

    Args:
        pruned: what was made of the model.
        file: the model as it was, whose ledger says what it has counted.
        items: documents; those that it has not counted, or not as they are now, are
            passed over.
        min_documents: in how many documents a term had to be.
        max_bytes: how much of a document is read.
        on_problem: told of each document that cannot be read, and of notes.

    Returns:
        The model, and how many documents were scored; with none, it is the same.
    """
    contents = pruned.contents
    counts = contents.counts
    sample = Sample()
    known: set[bytes] = set()
    for batch in batches(items, max_bytes, on_problem):
        readings = [read_keys(document, counts.settings) for document in batch]
        views = read_terms(counts.settings, [one.views for one in readings])
        digests = [reading.digest for reading in readings]
        block = _counted(file, digests, views, known)
        known.update(block.digests)
        sample.add(block)
    model = batch_model_of(counts, contents.scoring)
    labelled = list(_without_pruned(model, sample, min_documents))
    n_scored = sum(len(labels) for labels, _ in labelled)
    if not n_scored:
        return pruned, 0
    calibrations = left_out(model, labelled, path=file.path).calibrations
    scoring = contents.scoring
    if contents.correction is None:  # which stays with its scoring
        scoring = chosen(scoring, calibrations, counts.classes)
    calibrations += tuple(one for one in contents.calibrations if one.is_corrected)
    contents = replace(contents, calibrations=calibrations, scoring=scoring)
    return replace(pruned, contents=contents), n_scored


def _counted(
    file: ModelFile, digests: Sequence[bytes], views: list[Terms], known: set[bytes]
) -> Block:
    """Return the documents that a model has counted with the terms they have now."""
    labels, marks, places = [], fingerprints(views).tolist(), []
    first = {digest: place for place, digest in reversed([*enumerate(digests)])}
    for digest, place in first.items():
        rows: Tally[str] = Tally()
        for row, count in rows_of(file, digest).items():
            rows[row.label] += count * (row.fingerprint == marks[place])
        found = +rows
        if len(found) == 1 and digest not in known:
            labels.append(next(iter(found)))
            places.append(place)
    return Block(
        labels,
        [digests[place] for place in places],
        [marks[place] for place in places],
        [terms.take(np.array(places, np.int64)) for terms in views],
    )


def _without_pruned(
    model: BatchModel, sample: Sample, min_documents: int
) -> Iterator[Labelled]:
    """Yield documents without terms that too few others have: they would be pruned."""
    for block in sample.blocks():
        views = []
        for view, (table, terms) in enumerate(
            zip(model.terms, block.views, strict=True)
        ):
            if model.settings.views[view].kind != "text":  # of which nothing is pruned
                views.append(terms)
                continue
            n_documents = table.sums(model.column(view, "documents"))
            is_left = n_documents.take(table.find(terms.keys)) > min_documents
            document = np.repeat(np.arange(len(block)), terms.sizes)
            sizes = np.bincount(document[is_left], minlength=len(block))
            kept = Terms(terms.keys[is_left], terms.counts[is_left], starts_of(sizes))
            views.append(kept)
        yield block.labels, views
