import pickle
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest

from nbtext.document import PAUSE, Document, Item, Note, Unreadable
from nbtext.errors import SourceError
from nbtext.learning import train
from nbtext.scoring import classifying, scorer
from nbtext.scoring.classifier import Classifier
from nbtext.scoring.classifying import classify, works_in_threads
from nbtext.scoring.decide import Decision
from nbtext.scoring.in_processes import classify_with, initializer_of
from nbtext.scoring.model import load_model
from nbtext.scoring.models import mean
from nbtext.scoring.models.mean import Mean
from nbtext.scoring.stored import FEW
from nbtext.settings.scoring import Scoring
from nbtext.tokens import batch_reading
from tests.build import FEW_TERMS

WORDS = {"ham": b"minutes of the meeting", "spam": b"winner of the lottery"}
DOCUMENTS = [
    Document(f"{label} {n}", (words + b" %d" % n,), label)
    for label, words in WORDS.items()
    for n in range(40)
]


SMALL_BATCHES = {"size": 1 << 19, "many": 15, "marks_pauses": False}
"""What `batches` is called with, so that a few documents make several of them."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A small model."""
    path = tmp_path / "model.nbt"
    trained = train(lambda: DOCUMENTS, overrides=FEW_TERMS)
    path.write_bytes(b"".join(trained.contents.pack()))
    return path


def on_problem(remark: Unreadable | Note) -> None:
    raise AssertionError(remark)


HOW: dict[str, Any] = {"max_bytes": 99, "on_problem": on_problem}


def pickled(value: Any) -> Any:
    """Return what arrives in another process."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301  written a moment ago


def labels_of(batches: Iterable[list[Decision]]) -> list[str | None]:
    return [decision.label for batch in batches for decision in batch]


@pytest.fixture
def expected(path: Path) -> list[str | None]:
    """The labels that one process decides for."""
    return labels_of(classify(DOCUMENTS, Classifier(load_model(str(path))), **HOW))


def test_workers_have_the_model_that_was_opened(
    path: Path, expected: list[str | None]
) -> None:
    begin = initializer_of(Classifier(load_model(str(path))))
    path.unlink()
    with ThreadPoolExecutor(2, initializer=begin) as executor:
        labels = labels_of(classify_with(executor, 2, DOCUMENTS, **HOW))

    assert labels == expected == [document.label for document in DOCUMENTS]


def test_two_models_are_classified_with_at_the_same_time(path: Path) -> None:
    other = path.with_name("other.nbt")
    renamed = [one._replace(label=f"{one.label}!") for one in DOCUMENTS]
    other.write_bytes(
        b"".join(train(lambda: renamed, overrides=FEW_TERMS).contents.pack())
    )
    begins = [initializer_of(Classifier(load_model(str(p)))) for p in (path, other)]

    with (
        ThreadPoolExecutor(1, initializer=begins[0]) as first,
        ThreadPoolExecutor(1, initializer=begins[1]) as second,
    ):
        labels, marked = (
            labels_of(classify_with(one, 1, DOCUMENTS, **HOW))
            for one in (first, second)
        )

    assert marked == [f"{label}!" for label in labels]


def test_processes_that_are_spawned_open_the_model_again(
    path: Path, expected: list[str | None]
) -> None:
    begin = pickled(initializer_of(Classifier(load_model(str(path)))))

    with ThreadPoolExecutor(1, initializer=begin) as executor:
        assert labels_of(classify_with(executor, 1, DOCUMENTS, **HOW)) == expected


def decisions_of(classifier: Classifier, jobs: int) -> list[Decision]:
    batches = classify(DOCUMENTS, classifier, **HOW, jobs=jobs)
    return [decision for batch in batches for decision in batch]


@pytest.mark.parametrize("jobs", [2, 3])
def test_threads_decide_as_one_does(
    path: Path, jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classifying.batches, "__kwdefaults__", SMALL_BATCHES)
    classifier = Classifier(load_model(str(path)))

    alone, together = (decisions_of(classifier, number) for number in (1, jobs))

    assert works_in_threads(classifier)
    assert [one.name for one in together] == [one.name for one in DOCUMENTS]
    for one, other in zip(alone, together, strict=True):
        assert one._replace(log_posterior=(), printed=()) == other._replace(
            log_posterior=(), printed=()
        )
        assert one.log_posterior == pytest.approx(other.log_posterior, abs=1e-12)


def test_threads_have_decided_what_is_there_when_input_pauses(path: Path) -> None:
    asked = []

    def stream() -> Iterable[Item]:
        yield from DOCUMENTS[:20]
        yield PAUSE
        asked.append("for more")
        yield from DOCUMENTS[20:]

    classifier = Classifier(load_model(str(path)))
    batches = classify(stream(), classifier, **HOW, jobs=2)

    assert len(next(batches)) == 20
    assert not asked
    assert len(labels_of(batches)) == len(DOCUMENTS) - 20


def test_threads_that_want_memory_leave_documents_to_be_read_alone(
    path: Path, expected: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def want(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(batch_reading, "read_together", want)
    found = decisions_of(Classifier(load_model(str(path))), jobs=2)

    assert [decision.label for decision in found] == expected


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_what_cannot_be_read_is_told_in_the_order_of_the_stream(
    path: Path, jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    classifier = Classifier(load_model(str(path)))
    act = classifier.classify

    def classify_but_one(documents: list[Document], **how: Any) -> list[Decision]:
        if any(one.name == "ham 3" for one in documents):
            raise MemoryError
        return act(documents, **how)

    monkeypatch.setattr(classifying.batches, "__kwdefaults__", SMALL_BATCHES)
    monkeypatch.setattr(classifier, "classify", classify_but_one)
    items: list[Item] = [*DOCUMENTS]
    for place in (79, 40, 20):
        items.insert(place, Unreadable(f"at {place}", SourceError("nothing")))
    told: list[str] = []

    found = classify(
        items,
        classifier,
        max_bytes=99,
        on_problem=lambda one: told.append(getattr(one, "name", "")),
        jobs=jobs,
    )

    assert len(labels_of(found)) == len(DOCUMENTS) - 1
    assert told == ["ham 3", "at 20", "at 40", "at 79"]


def test_reasons_are_found_in_processes(path: Path) -> None:
    model = load_model(str(path))

    assert works_in_threads(Classifier(model))
    assert not works_in_threads(Classifier(model, n_reasons=3))


def test_a_pickled_model_is_opened_again_with_its_scoring(path: Path) -> None:
    scoring = Scoring("sum", 0.5)
    classifier = Classifier(load_model(str(path), scoring=scoring))

    again = pickled(classifier)

    assert again.model.scoring == scoring
    assert again.classify(DOCUMENTS) == classifier.classify(DOCUMENTS)


class OfTheVocabulary(Mean):
    """An event model that needs a pass over all terms."""

    reads_vocabulary = True


def test_a_model_that_needs_the_vocabulary_is_read_by_arrays(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = DOCUMENTS[:1]
    expected = Classifier(load_model(str(path))).classify(one)
    monkeypatch.setattr(mean, "MODEL", OfTheVocabulary())
    monkeypatch.setattr(scorer, "score", None)  # nothing is scored one by one

    found = Classifier(load_model(str(path))).classify(one)

    assert found[0].label == expected[0].label
    assert found[0].log_posterior == pytest.approx(expected[0].log_posterior)


def test_documents_of_one_name_have_headings_of_their_own(path: Path) -> None:
    texts = ["free lunch", "cash cash"]
    mails = [
        Document("same", (f"Subject: {text}\n\n{text}\n".encode(),), is_mail=True)
        for text in texts
    ]
    documents = [*mails, Document("same", (b"free",))]
    model = Classifier(load_model(str(path)))

    (decisions,) = classify(documents, model, headings=True, **HOW)

    found = [decision.heading and decision.heading.subject for decision in decisions]
    assert found == [*texts, None]


@pytest.mark.parametrize("seed", [1, 2])
def test_many_documents_are_decided_as_each_is_alone(path: Path, seed: int) -> None:
    odd = Document("wide", ("\ufefffree cash".encode("utf-16-le"),))
    documents = [*DOCUMENTS, odd, odd, *DOCUMENTS[::-1], DOCUMENTS[0]] * 5
    Random(seed).shuffle(documents)  # noqa: S311  an order, not a secret
    assert len(documents) > FEW
    classifier = Classifier(load_model(str(path)))

    together = classifier.classify(documents)

    alone = [classifier.classify([document])[0] for document in documents]
    assert [one.name for one in together] == [one.name for one in documents]
    assert [one.label for one in together] == [one.label for one in alone]
    for one, other in zip(together, alone, strict=True):
        assert one.probability == pytest.approx(other.probability, rel=1e-9)
