"""
Findings in words: the texts of the terms that they rest on.

Counts know terms by their keys. So the documents of some findings are read once more,
to find the terms in them as they are written there. A suspect is explained by a model
that has counted none of the suspects, lest it speaks for its own label.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from nbtext.counts import CountTable
    from nbtext.doctor.findings import Suspect
    from nbtext.doctor.leaks import LeakingTerm
    from nbtext.document import Document, Item
    from nbtext.scoring.batch_model import BatchModel
    from nbtext.settings.reading import Settings
    from nbtext.tokens import Reading

from nbtext.counts import ReadReport
from nbtext.counts.read_report import documents
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


Wanted: TypeAlias = "dict[tuple[str, str | None], Suspect]"
"""Suspects that are looked for, by name and label."""


class Told(NamedTuple):
    """
    The texts of terms.

    Attributes:
        reasons: a suspect to the strongest terms for the likelier class.
        terms: number of a view and key of a leak to its text.
    """

    reasons: dict[Suspect, tuple[str, ...]]
    terms: dict[tuple[int, int], str]


def tell(
    sources: Callable[[], Iterable[Item]],
    max_bytes: int,
    model: BatchModel,
    rest: CountTable,
    suspects: Sequence[Suspect],
    leaks: Sequence[LeakingTerm],
) -> Told:
    """
    Find the texts of the terms that findings rest on.

    Args:
        sources: gives the documents, from the beginning.
        max_bytes: how much of a document is read.
        model: the counts of all documents, and how they are scored.
        rest: the counts of all but the suspects.
        suspects: documents that look like another class.
        leaks: terms that give a class away.
    """
    terms: dict[tuple[int, int], str] = {}
    wanted: Wanted = {(one.name, one.label): one for one in suspects}
    left: KeysByLabel = defaultdict(lambda: defaultdict(set))
    for leak in leaks:
        left[model.classes[leak.class_]][leak.view].add(leak.key)
    found: list[tuple[Suspect, Document]] = []
    settings = rest.settings
    if not wanted and not left:
        return Told({}, {})
    for document, reading in _read(sources, max_bytes, settings, wanted, left):
        suspect = wanted.pop((document.name, document.label), None)
        if suspect is not None:
            found.append((suspect, document))
        if document.label in left:
            terms |= _texts(settings, reading, left[document.label])
            if not any(left[document.label].values()):
                del left[document.label]
        if not wanted and not left:
            break
    return Told(_reasons(model, rest, found), terms)


def _read(
    sources: Callable[[], Iterable[Item]],
    max_bytes: int,
    settings: Settings,
    wanted: Wanted,
    left: KeysByLabel,
) -> Iterator[tuple[Document, Reading]]:
    """Yield the documents that are wanted by name, or for terms of their label."""
    report = ReadReport()
    for document in documents(sources(), report, max_bytes):
        if (document.name, document.label) in wanted or document.label in left:
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
    model: BatchModel, rest: CountTable, found: Sequence[tuple[Suspect, Document]]
) -> dict[Suspect, tuple[str, ...]]:
    """Return the strongest terms of suspects, by a model that has counted none."""
    if not found or rest.classes != model.classes:
        return {}
    contents = Contents(rest, model.scoring)
    reasons = {}
    with temporary_folder() as folder:
        path = folder / "rest.nbt"
        with path.open("wb") as file:
            file.writelines(contents.pack())
        classifier = Classifier(load_model(str(path)))
        for suspect, document in found:
            why = classifier.explain(document, label=suspect.likelier, top=REASONS)
            reasons[suspect] = tuple(
                reason.text for reason in why.reasons if reason.contribution > 0
            )
    return reasons
