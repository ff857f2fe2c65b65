"""
Documents whose label is no class of the model, and the command that names their class.

In come labels as they are met, out comes one sentence for the user.
"""

from collections import Counter as Tally
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from nbtext import wording
from nbtext.classes import quoted, similar
from nbtext.errors import MOST_LISTED
from nbtext.sources import container_format, file_label, folder_label, named_paths

PLACEHOLDER: Final = "CLASS"
COLUMN: Final = wording.Blank("COLUMN")
"""Stand in the command where only the user knows the class, or the column."""

TABLES: Final = ("csv", "tsv", "jsonl")
"""Files of records, each of which may have a label of its own."""


class UnknownLabels:
    """
    Labels of documents that are no classes of the model.

    Attributes:
        documents: label to how many documents have it.
    """

    def __init__(
        self, classes: Sequence[str], sources: Sequence[str], model: str = "the model"
    ) -> None:
        """
        Have met no label yet.

        Args:
            classes: those of the model.
            sources: where the documents are from, as the user wrote it.
            model: what the model is called.
        """
        self.documents: Tally[str] = Tally()
        self._classes = classes
        self._model = model
        self._named = named_paths(sources, labelled=True) if sources else []
        self._met: set[str] = set()
        self._label_of: dict[str, str] = {}
        self._tables: list[str] = []  # whose labels are nowhere
        self._labelled: dict[str, None] = {}  # tables with labels of their own

    def meet(self, label: str | None, name: str) -> None:
        """Take in the label of a document, and its name."""
        label = label or ""
        if label in self._classes:
            self._met.add(label)
            return
        if label not in self.documents:
            given = [path for written, path in self._named if written == label]
            around = (path for _, path in self._named if _is_in(name, path))
            for path in given or around:
                if _is_unlabelled_table(path, label):
                    self._tables.append(path)
                elif not given and _holds_labels(path, label):
                    self._labelled[path] = None
                else:
                    self._label_of[path] = label
        self.documents[label] += 1

    def sentence(self) -> str:
        """Say which labels there are, which classes, and what to type."""
        common = self.documents.most_common(MOST_LISTED)
        labels = ", ".join(
            f"{quoted(label)} ({count:,} {'document' if count == 1 else 'documents'})"
            for label, count in common
        )
        if len(self.documents) > len(common):
            labels += f" and {len(self.documents) - len(common)} more"
        known = ", ".join(self._classes[:MOST_LISTED])
        text = f"{self._model} has no class {labels}; its classes are {known}"
        return "; ".join((text, *self._advice()))

    def _advice(self) -> Iterator[str]:
        """Yield what to type, where it can be told."""
        if len(self._named) > MOST_LISTED:
            return
        if self._tables:
            line = wording.call(
                "evaluate", label_column=COLUMN, sources=[*self._tables]
            )
            yield f"name the column of a table that holds the labels: {line}"
        if self._labelled:
            tables = ", ".join(self._labelled)
            yield (
                f"mend the labels in {tables}, or name the column that holds them "
                f"({wording.given(label_column=COLUMN)})"
            )
        if self._label_of:
            sources = [self._with_class(*named) for named in self._named]
            line = wording.call("evaluate", sources=sources)
            yield f"name the class of each source: {line}"

    def _with_class(self, label: str | None, path: str) -> str:
        unknown = self._label_of.get(path)
        if unknown is not None:
            return f"{self._meant_by(unknown)}={path}"
        is_given = label is not None and label != folder_label(path)
        return f"{label}={path}" if is_given else path

    def _meant_by(self, label: str) -> str:
        """Return the class that a label probably stands for."""
        near = similar(label, self._classes)
        if near is not None:
            return near
        left = [name for name in self._classes if name not in self._met]
        is_certain = len(left) == 1 and len(self.documents) == 1
        return left[0] if is_certain else PLACEHOLDER


def _is_in(name: str, path: str) -> bool:
    """Return whether a document of this name is in a source, or is it."""
    return name == path or name.startswith((f"{path.rstrip('/')}/", f"{path}:"))


def _is_unlabelled_table(path: str, label: str) -> bool:
    """Return whether records have no class but the name of their file."""
    return _is_table(path) and label == file_label(path)


def _holds_labels(path: str, label: str) -> bool:
    """Return whether a label can be from nowhere but the records of a source."""
    is_file = path == "-" or Path(path).is_file()
    return _is_table(path) or (is_file and label != file_label(path))


def _is_table(path: str) -> bool:
    return container_format(path) in TABLES
