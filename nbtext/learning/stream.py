"""
Learning and forgetting: documents in, a table behind those of the model file out.

What a model knows already is not counted again; a document that it knows in another
class moves, in one step; one that is forgotten is as if it had never been counted. The
ledger says what was counted, and a fingerprint which counts it left: others than those
are never taken away. Each batch of documents is one table, appended under the lock and
made durable, before it is reported as learnt.

A few documents are counted by the plain engine, because learning one message must not
take much longer than classifying it; many by `nbtext.learning.in_bulk`.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final

from nbtext.document import Document, Item, OnProblem
from nbtext.errors import NoModelError
from nbtext.files import is_in_place
from nbtext.keyring import name_secret
from nbtext.learning.leaving_out import without_needless
from nbtext.learning.lesson import UNKNOWN
from nbtext.learning.one_by_one import learn_few
from nbtext.learning.plan import (
    Batch,
    LearnRequest,
    LearnResult,
    Plan,
    new_settings,
    planned,
)
from nbtext.scoring import Model, batches, load_model
from nbtext.scoring.classifying import readable_of
from nbtext.scoring.model import model_of
from nbtext.scoring.stored import FEW, FEW_BYTES
from nbtext.settings.reading import Settings
from nbtext.settings.views import Field
from nbtext.store import open_model
from nbtext.store.appending import append_table, is_due
from nbtext.store.blocks import Buffer
from nbtext.store.file import check_not_cut_short, open_locked
from nbtext.store.lock import locked
from nbtext.store.writing import replace_file
from nbtext.tokens import read_keys

BATCH: Final = 8 << 20
MANY: Final = 4096
"""Maximum bytes of a batch of documents, and maximum number of them."""


def learn_documents(
    items: Iterable[Item],
    request: LearnRequest,
    *,
    max_bytes: int,
    on_problem: OnProblem,
) -> Iterator[list[LearnResult]]:
    """
    Learn or forget a stream of documents.

    Yields:
        What became of each document, in batches, once it is durable.

    Raises:
        BusyError: another process has been writing all the time.
        NoModelError: there is none, and none is to be made.
        SettingsError: the model keeps no ledger.
        TrainingError: the class would need other settings than the model has.
        ModelFileError: the model is damaged, or cannot be written.
    """
    if request.keyed is not None:
        name_secret(request.keyed)
    is_opened = request.create
    run = Run()
    for batch in batches(items, max_bytes, on_problem, size=BATCH, many=MANY):
        is_opened = True
        act = partial(_learn, request=request, run=run)
        yield from readable_of(batch, act, on_problem)
    if not is_opened:  # a wrong model is an error even if there is nothing to learn
        check_not_cut_short(load_model(request.path).file)


class Run:
    """
    What one command has done so far.

    Attributes:
        first: where its first table was appended, in bytes; 0 if that began the model,
            None if there is none.
        has_compacted: whether it has compacted the model, or tried to. That is done
            before the first table, so that those of a command can be undone.
        forgotten: the digests of the documents that it has forgotten.
    """

    def __init__(self) -> None:
        self.first: int | None = None
        self.has_compacted = False
        self.forgotten: set[bytes] = set()


def _learn(
    documents: Sequence[Document], request: LearnRequest, run: Run
) -> list[LearnResult]:
    request = request._replace(run=run.first)
    batch: Batch | None = None
    if not is_few(documents):
        # read before anybody has to wait; and often there is nothing to write
        model = _model_if_any(request.path)
        if model is not None:
            check_not_cut_short(model.file)
            batch = _batch(documents, model.settings)
            plan = planned(model, batch, request)
            if not plan.steps:
                return _in_order(plan, run)
    while True:
        with _writable(request.path, request.wait) as (descriptor, model):
            if model is not None and _is_to_compact(run, model):
                from nbtext.store.compacting import is_tail_compacted  # seldom

                run.has_compacted = True
                if is_tail_compacted(request.path, is_whole=_has_lost_class(model)):
                    continue
            settings = model.settings if model else new_settings(documents, request)
            if batch is None or batch.settings != settings:
                batch = _batch(documents, settings)
            plan = planned(model, batch, request)
            without_needless(plan)
            if not plan.steps:
                return _in_order(plan, run)
            chunks = _carried_out(plan)
            if model is None:
                try:
                    replace_file(request.path, chunks, exclusively=True)
                except FileExistsError:
                    continue  # somebody else has made one meanwhile
                run.first = 0
            elif chunks:
                append_table(request.path, descriptor, model.file.size, chunks)
                if not is_in_place(request.path, descriptor):
                    continue  # another model stands there now, which is taught too
                if request.run is None:
                    run.first = model.file.size
            return _in_order(plan, run)


def model_fields(path: str) -> tuple[Field, ...]:
    """
    Return the columns of tables that a model reads, and what they hold.

    There are none if there is no model.

    Raises:
        ModelFileError: it is damaged, or cannot be read.
    """
    try:
        return open_model(path).settings.fields
    except NoModelError:
        return ()


def is_few(documents: Sequence[Document]) -> bool:
    """Return whether documents are so few that importing numpy would not pay."""
    size = sum(len(text) for document in documents for text in document.texts)
    return len(documents) <= FEW and size <= FEW_BYTES


def _is_to_compact(run: Run, model: Model) -> bool:
    if run.first is not None or run.has_compacted:
        return False
    lengths = [table.length for table in model.file.tables]
    return is_due(lengths) or _has_lost_class(model)


def _has_lost_class(model: Model) -> bool:
    """Return whether a class is gone, which leaves nothing to a later one so called."""
    names = {name for table in model.file.tables for name in table.header.classes}
    return len(names) > len(model.classes)


def _batch(documents: Sequence[Document], settings: Settings) -> Batch:
    readings = [read_keys(document, settings) for document in documents]
    return Batch(settings, documents, readings)


def _in_order(plan: Plan, run: Run) -> list[LearnResult]:
    """
    Return what has become of each document, in the order of the batch.

    A copy of one that was forgotten is not in the model any more, as it should be.
    """
    _, documents, readings = plan.batch
    results = []
    for place, result in sorted(plan.results.items()):
        digest = readings[place].digest
        if result.outcome == "forgotten":
            run.forgotten.add(digest)
        elif result.reason == UNKNOWN and digest in run.forgotten:
            result = result._replace(outcome="known", reason="")
        results.append(result._replace(truncated=documents[place].truncated))
    return results


def _model_if_any(path: str) -> Model | None:
    try:
        return load_model(path)
    except NoModelError:
        return None


@contextmanager
def _writable(path: str, wait: float) -> Iterator[tuple[int, Model | None]]:
    """
    Hold a model that ends where its last table does, None if there is no model.

    What a crash left of a table is removed first, by writing the file anew without it:
    somebody may be reading the file as it is.
    """
    while True:
        with locked(path, wait=wait) as descriptor:
            if descriptor is None:
                yield -1, None
                return
            model = model_of(open_locked(path))
            if not is_in_place(path, descriptor):
                continue  # somebody has put another file there without the lock
            if not model.file.cut:
                yield descriptor, model
                return
            replace_file(path, [model.file.contents[: model.file.size]])


def _carried_out(plan: Plan) -> list[Buffer]:
    """Return the table to write, and enter into the plan what becomes of documents."""
    few = is_few([plan.batch.documents[step.place] for step in plan.steps])
    if plan.batch.settings.has_frozen_idf:  # weighed one by one
        return learn_few(plan)
    is_scored_afterwards = plan.begins_class or plan.is_outgrown
    if few and not is_scored_afterwards:
        return learn_few(plan)
    from nbtext.learning.in_bulk import learn_many

    return learn_many(plan)
