"""A model of a few words that is taught operation by operation, and what it holds."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias

import pytest

from nbtext.document import Document
from nbtext.learning import LearnRequest
from nbtext.settings.reading import default_settings
from nbtext.store import compact
from tests.build import learnt

SETTINGS = default_settings("text", 2)
N_DOCUMENTS = 40
LABELS = ("ham", "spam")

Labels: TypeAlias = Mapping[int, str]
"""The documents that a model has counted: their numbers, and under which labels."""


class Operation(NamedTuple):
    """Something done to a model: `label` is None to forget; no documents to compact."""

    label: str | None
    numbers: tuple[int, ...]

    def carry_out(self, path: Path) -> None:
        """Do it, and return when it is done for good."""
        if not self.numbers:
            compact(str(path))
            return
        request = LearnRequest(str(path), self.label, create=True, format="text")
        learnt(request, map(document, self.numbers))

    def after(self, labels: Labels) -> Labels:
        """Return which documents a model has counted then."""
        if self.label is None:
            gone = self.numbers
            return {number: labels[number] for number in labels if number not in gone}
        return {**labels, **dict.fromkeys(self.numbers, self.label)}


def document(number: int, label: str | None = None) -> Document:
    """Some words that documents share, and some of its own."""
    words = f"of{number} these{number % 3} words some{number % 7} are ours ours"
    return Document(str(number), (words.encode(),), label)


def _operation(random: Random, labels: Labels) -> Operation:
    kind = random.random()
    if kind < 0.1:
        return Operation(None, ())
    if kind < 0.2:  # so many that numpy counts them
        numbers = random.sample(range(N_DOCUMENTS), 20)
        return Operation(random.choice(LABELS), tuple(numbers))
    if kind < 0.5 and len(labels) > 10:
        return Operation(None, tuple(random.sample(sorted(labels), 2)))
    number = random.randrange(N_DOCUMENTS)
    return Operation(random.choice(LABELS), (number,))


class Story(NamedTuple):
    """Operations, and the documents counted before each of them and after the last."""

    operations: list[Operation]
    states: list[Labels]


@pytest.fixture(scope="session")
def story() -> Callable[[Random, int], Story]:
    """Tell a story of so many operations, from a model that has two documents."""

    def story(random: Random, length: int) -> Story:
        told = Story([], [{0: "ham", 1: "spam"}])
        for _ in range(length):
            operation = _operation(random, told.states[-1])
            told.operations.append(operation)
            told.states.append(operation.after(told.states[-1]))
        return told

    return story


@pytest.fixture(scope="session")
def operation() -> type[Operation]:
    """What is done to a model."""
    return Operation


@pytest.fixture(scope="session")
def labelled() -> Callable[[Labels], Iterable[Document]]:
    """Return the documents that a model has counted."""
    return lambda labels: [document(*one) for one in labels.items()]
