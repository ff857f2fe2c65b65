"""
Classifying on a cluster: sources are read, and decided about, where the workers are.

The model is copied to a folder that all of them see, as it was when it was opened; so
it may be taught meanwhile. Decisions come back in the order of the documents.
"""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from distributed import Client, Future

    from nbtext.arguments import AnyPath
    from nbtext.document import Note, OnProblem, Unreadable
    from nbtext.scoring import Classifier, Decision
    from nbtext.scoring.combining import Decider
    from nbtext.sources import Options

    Decided = tuple[list[Decision], list[Unreadable | Note]]

from nbtext import __version__, wording
from nbtext.arguments import sources_of
from nbtext.distributed.connecting import (
    check_workers,
    failures_told,
    of_version,
    result_of,
)
from nbtext.distributed.items import items_of
from nbtext.distributed.listing import Chunk, list_sources
from nbtext.distributed.shared_files import not_as_written
from nbtext.distributed.shared_folder import HELD, shared_folder, writing_to
from nbtext.scoring import classify
from nbtext.scoring.combining import CombinedClassifier
from nbtext.settings.views import Field

AHEAD: Final = 4
"""How many chunks for each thread of a worker are on their way at a time."""

MOST_CHUNK: Final = 1 << 22
"""Maximum bytes of documents in a chunk, about: its decisions come to the client."""


@contextmanager
def classified_on(
    client: Client,
    model: Decider,
    sources: Sequence[AnyPath],
    options: Options,
    *,
    labelled: bool = True,
    shared: AnyPath | None = None,
) -> Iterator[dict[str, Any]]:
    """
    Have a cluster decide about sources, for as long as the context lasts.

    Args:
        client: a connection to the scheduler (`connected`).
        model: what decides, as it was opened from its files.
        sources: as on the command line; the workers read them by the same paths.
        options: what the sources are, if not what they look like.
        labelled: whether a document without a label is an error.
        shared: a folder that all workers and this process can write to; that of the
            model if None.

    Yields:
        What `nbtext.evaluation.evaluate_model` takes: `elsewhere`, which is called as
        `nbtext.scoring.classify` is, without documents and model.

    Raises:
        ClusterError: there is no worker, one cannot do the work, or the cluster died.
        SettingsError: a source is empty, or the standard input.
        ModelWriteError: the folder cannot be written to.
    """
    parts = _parts(model)
    with shared_folder(parts[0].model.path, shared) as folder, failures_told(client):
        threads = check_workers(client, folder, HELD)
        names = {f"{folder}/model-{n}": part for n, part in enumerate(parts)}
        for name, part in names.items():
            file = part.model.file
            with writing_to(folder):
                Path(name).write_bytes(file.contents[: file.size])
        copies = [part.opened_at(name) for name, part in names.items()]
        copy: Decider = copies[0]
        if isinstance(model, CombinedClassifier):
            copy = CombinedClassifier(copies, policy=model.policy)
        # what a lambda has closed over cannot be sent
        fields = partial(tuple[Field, ...], model.fields)
        options = options._replace(model_fields=fields)
        listed = list_sources(sources_of(sources), options, labelled=labelled)
        yield {
            "elsewhere": partial(
                _decisions,
                client,
                copy,
                listed.chunks(threads, MOST_CHUNK),
                options,
                AHEAD * threads,
                {name: part.model.path for name, part in names.items()},
            )
        }


def _parts(model: Decider) -> Sequence[Classifier]:
    if isinstance(model, CombinedClassifier):
        return model.parts
    return [model]


def _decisions(
    client: Client,
    model: Decider,
    chunks: Sequence[Chunk],
    options: Options,
    ahead: int,
    names: Mapping[str, str],
    *,
    headings: bool = False,
    max_bytes: int,
    on_problem: OnProblem,
) -> Iterator[list[Decision]]:
    """Yield the decisions of chunks, in their order, so many on their way at a time."""
    with failures_told(client):
        words = wording.spoken()
        opened = client.submit(
            of_version, __version__, words, _arranged, model, pure=False
        )
        sizes = {part.model.path: part.model.file.size for part in _parts(model)}
        pending: deque[Future] = deque()
        waiting = iter(chunks)
        while True:
            pending.extend(
                client.submit(
                    of_version,
                    __version__,
                    words,
                    _decide,
                    chunk,
                    opened,
                    sizes,
                    options,
                    headings,
                    max_bytes,
                    pure=False,
                )
                for chunk in islice(waiting, ahead - len(pending))
            )
            if not pending:
                return
            decided: Decided = result_of(pending.popleft())
            decisions, remarks = decided
            for remark in remarks:
                on_problem(remark)
            yield [_renamed(decision, names) for decision in decisions]


def _arranged(model: Decider) -> Decider:
    """Return a model, ready for many documents."""
    model.arrange(())
    return model


def _decide(
    chunk: Chunk,
    model: Decider,
    sizes: Mapping[str, int],
    options: Options,
    headings: bool,
    max_bytes: int,
) -> Decided:
    """
    Read a chunk where this runs, and decide about its documents.

    Raises:
        ClusterError: a copy of a model is not of its size here.
    """
    for part in _parts(model):
        path, size = part.model.path, part.model.file.size
        if size != sizes[path]:
            found = f"it has {size:,} bytes, and {sizes[path]:,} were written"
            raise not_as_written(path, found)
    remarks: list[Unreadable | Note] = []
    batches = classify(
        items_of(chunk.items, options),
        model,
        headings=headings,
        max_bytes=max_bytes,
        on_problem=remarks.append,
    )
    return [decision for batch in batches for decision in batch], remarks


def _renamed(decision: Decision, names: Mapping[str, str]) -> Decision:
    """Return a decision that names the models themselves, and not their copies."""
    if not decision.parts:
        return decision
    parts = (part._replace(model=names[part.model]) for part in decision.parts)
    return decision._replace(parts=tuple(parts))
