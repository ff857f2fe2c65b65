"""What the calls of the library share: how sources are read and documents named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from nbtext.counts import ReadReport
    from nbtext.counts.read_report import Progress
    from nbtext.document import AnyDocument, Document
    from nbtext.learning.reading_once import LabelledSources

from nbtext.arguments import pair_of, pairs_of
from nbtext.document import as_document
from nbtext.learning.regimes import Regime
from nbtext.sources import Options, labels, rereadable

AUTO: Final = Options()
"""Sources are what they look like."""

IMPORTS: Final = ("nbtext.counts.counting",)
"""What processes import that count documents."""


def n_classes_of(sources: Sequence[str], options: Options) -> int | None:
    """Return how many classes there are, None if only the documents tell."""
    known = labels(sources, options)
    return None if known is None else len(known)


def labelled_sources(
    sources: Sequence[str],
    options: Options,
    progress: Progress | None,
    on_read: Callable[[ReadReport], None] | None,
) -> LabelledSources:
    """Return labelled sources as they are read once and scored many times."""
    from nbtext.learning.reading_once import LabelledSources

    return LabelledSources(
        rereadable(sources, options),
        options.max_bytes,
        n_classes_of(sources, options),
        progress,
        on_read,
    )


def numbered(documents: Iterable[AnyDocument]) -> Iterator[Document]:
    """Yield documents; what has no name is called by its number, from 1."""
    for number, document in enumerate(documents, 1):
        yield as_document(document, str(number))


def labelled(pairs: Iterable[tuple[str, AnyDocument]]) -> Iterator[Document]:
    """
    Yield documents with their labels; what has no name is called by its number.

    Raises:
        TypeError: what is given are no pairs of a label and a document.
        ValueError: a label is empty.
    """
    for number, pair in enumerate(pairs_of(pairs), 1):
        label, document = pair_of(pair, number)
        yield as_document(document, str(number))._replace(label=label)


def checked_regime(regime: Regime) -> Regime:
    """
    Return a regime as it is.

    Raises:
        TypeError: it is none.
        ValueError: there is none of that name, or its margin is not one.
    """
    if not isinstance(regime, Regime):
        message = f"regime: expected a Regime, found {regime!r:.80}"
        if isinstance(regime, str):
            message += f"; write Regime({regime!r:.80})"
        raise TypeError(message)
    regime.check()
    return regime
