"""
Findings in words: the texts of the terms that they rest on.

Counts know terms by their keys. So the documents of some findings are read once more,
to find the terms in them as they are written there. A suspect is explained by a model
that has counted none of the suspects, lest it speaks for its own label.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from nbtext.counts import CountTable
    from nbtext.doctor.findings import Suspect
    from nbtext.doctor.leaks import LeakingTerm
    from nbtext.document import Document, Item
    from nbtext.scoring.batch_model import BatchModel
    from nbtext.settings.reading import Settings
    from nbtext.tokens import Reading

from nbtext.counts import Counter, ReadReport, Sample
from nbtext.counts.counter import ReadDocument
from nbtext.counts.counting import documents
from nbtext.errors import SourceError
from nbtext.files.temporary import temporary_folder
from nbtext.scoring import Classifier, load_model
from nbtext.store import Contents
from nbtext.tokens import read
from nbtext.tokens.located import located

REASONS: Final = 3
"""How many terms are told of a suspect."""

EXPLAINED: Final = 200
"""How many suspects are told with reasons, the first ones."""


KeysByLabel: TypeAlias = defaultdict[str | None, defaultdict[int, set[int]]]
"""The keys of terms that are looked for, by the label of documents and by view."""


@dataclass(frozen=True, slots=True)
class Told:
    """
    The texts of terms.

    Attributes:
        reasons: name of a suspect to the strongest terms for the likelier class.
        terms: number of a view and key of a leak to its text.
    """

    reasons: dict[str, tuple[str, ...]] = field(default_factory=dict)
    terms: dict[tuple[int, int], str] = field(default_factory=dict)


def tell(
    sources: Callable[[], Iterable[Item]],
    max_bytes: int,
    model: BatchModel,
    table: CountTable,
    suspects: Sequence[Suspect],
    leaks: Sequence[LeakingTerm],
) -> Told:
    """
    Find the texts of the terms that findings rest on.

    Args:
        sources: gives the documents, from the beginning.
        max_bytes: how much of a document is read.
        model: the counts of all documents, and how they are scored.
        table: the same counts.
        suspects: documents that look like another class.
        leaks: terms that give a class away.

    """
    told = Told()
    wanted = {one.name: one for one in suspects[:EXPLAINED]}
    left: KeysByLabel = defaultdict(lambda: defaultdict(set))
    for leak in leaks:
        left[model.classes[leak.class_]][leak.view].add(leak.key)
    found: list[tuple[Suspect, Document, Reading]] = []
    if not wanted and not left:
        return told
    for document, reading in _read(sources, max_bytes, table.settings, wanted, left):
        if document.name in wanted:
            found.append((wanted.pop(document.name), document, reading))
        if document.label in left:
            texts = _texts(table.settings, reading, left[document.label])
            told.terms.update(texts)
            if not any(left[document.label].values()):
                del left[document.label]
        if not wanted and not left:
            break
    told.reasons.update(_reasons(model, table, found))
    return told


def _read(
    sources: Callable[[], Iterable[Item]],
    max_bytes: int,
    settings: Settings,
    wanted: dict[str, Suspect],
    left: KeysByLabel,
) -> Iterator[tuple[Document, Reading]]:
    """Yield the documents that are wanted by name, or for terms of their label."""
    report = ReadReport()
    for document in documents(sources(), report, max_bytes):
        if document.name in wanted or document.label in left:
            with suppress(SourceError):  # which was said when it was read first
                yield document, read(document, settings)


def _texts(
    settings: Settings, reading: Reading, left: dict[int, set[int]]
) -> dict[tuple[int, int], str]:
    """Take from the keys of each view those that a document has; return their texts."""
    texts = {}
    for view, keys in left.items():
        fields = reading.views[view]
        found = located(settings.views[view], fields, keys, settings.secret)
        texts.update({(view, key): one.text for key, one in found.items()})
        keys -= found.keys()
    return texts


def _reasons(
    model: BatchModel,
    table: CountTable,
    found: Sequence[tuple[Suspect, Document, Reading]],
) -> dict[str, tuple[str, ...]]:
    """Return the strongest terms of suspects, by a model that has counted none."""
    counter = Counter(table.settings, sample=Sample(documents=0))
    for suspect, document, reading in found:
        counter.add(
            ReadDocument(
                label=suspect.label,
                views=reading.views,
                digest=reading.digest,
                size=reading.size,
                source=document,
            )
        )
    rest = table - counter.table()
    if rest.classes != table.classes:
        return {}
    contents = Contents(rest, model.scoring)
    reasons = {}
    with temporary_folder() as folder:
        path = folder / "rest.nbt"
        with path.open("wb") as file:
            file.writelines(contents.pack())
        classifier = Classifier(load_model(str(path)))
        for suspect, document, _ in found:
            why = classifier.explain(document, label=suspect.likelier, top=REASONS)
            reasons[suspect.name] = tuple(
                reason.text for reason in why.reasons if reason.contribution > 0
            )
    return reasons
