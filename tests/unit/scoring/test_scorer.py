"""Which engine scores documents, and that it does not matter to the scores."""

import signal
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest

from nbtext import classify, classify_all, load, train_on
from nbtext.document import Document
from nbtext.scoring import Classifier, batch_model, load_model
from nbtext.scoring.stored import FEW, FEW_BYTES
from nbtext.tokens import read_keys
from nbtext.tokens.engine import engine
from nbtext.tokens.reading import Reading
from tests.build import HAM, SPAM, mail
from tests.forking import ended, forked
from tests.waiting import PATIENCE

TOPICS = {
    "ant": "six legs and a queen",
    "bee": "honey and wings",
    "cow": "milk and grass too",
}


def texts(n: int) -> list[str]:
    return [
        f"{name} {word} {n}" for name, words in TOPICS.items() for word in words.split()
    ][:n]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "m.nbt"
    train_on(
        [
            (name, f"{name} {words} {n}")
            for name, words in TOPICS.items()
            for n in range(9)
        ],
        path,
    )
    return path


def test_of_many_that_come_one_by_one_the_rest_is_scored_by_arrays(path: Path) -> None:
    some = texts(FEW)
    patient, other = load(path), Classifier(load_model(str(path)))

    for model in (patient, other):
        for text in some:
            classify(model, text)
        assert model.scorer._batch is None
        classify(model, text)

    assert patient.scorer._batch is not None
    assert other.scorer._batch is None, "a server arranges models aside"


def test_the_engine_makes_no_difference(path: Path) -> None:
    some = texts(FEW)
    model = load(path)

    alone = [[*classify(load(path), text).posterior.values()] for text in some]
    one_by_one = [[*classify(model, text).posterior.values()] for text in some * 3]
    together = [[*one.posterior.values()] for one in classify_all(load(path), some * 3)]

    np.testing.assert_allclose(one_by_one, alone * 3, rtol=1e-12)
    np.testing.assert_allclose(together, alone * 3, rtol=1e-12)


def test_without_memory_for_arrays_it_goes_on_without(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise MemoryError

    model = load(path)
    monkeypatch.setattr(batch_model, "open_batch_model", refuse)

    found = [classify(model, text).label for text in texts(FEW) * 3]

    monkeypatch.undo()
    assert found == [one.label for one in classify_all(load(path), texts(FEW) * 3)]
    assert model.scorer._batch is None


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_that_is_forked_while_a_thread_computes_waits_for_nobody(
    path: Path,
) -> None:
    model = batch_model.open_batch_model(load_model(str(path)))
    has_begun, may_end = Event(), Event()

    def slowly(_: batch_model.BatchModel) -> str:
        has_begun.set()
        may_end.wait(PATIENCE)
        return "by the thread"

    def in_another_process() -> None:
        signal.alarm(int(PATIENCE) // 3)  # which ends it
        assert model.once(len_of) == len(model.classes)

    thread = Thread(target=model.once, args=(slowly,))
    thread.start()
    assert has_begun.wait(PATIENCE)
    try:
        assert ended(forked(in_another_process)) == 0
    finally:
        may_end.set()
        thread.join()
    assert model.once(slowly) == "by the thread"


def len_of(model: batch_model.BatchModel) -> int:
    return len(model.classes)


@pytest.mark.skipif(not engine().is_compiled, reason="there is no extension")
def test_a_large_mail_that_python_reads_is_scored_without_arrays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [
        (label, mail(number, words))
        for label, words in (("spam", SPAM), ("ham", HAM))
        for number in range(9)
    ]
    train_on(documents, tmp_path / "m.nbt")
    parameters = b"Content-Type: text/plain" + b"; charset=a" * FEW_BYTES
    odd = Document("odd", (parameters + b"\n" + mail(0, SPAM),))
    model = load_model(str(tmp_path / "m.nbt"))
    is_read_in_python = isinstance(read_keys(odd, model.settings), Reading)
    one, other = Classifier(model), Classifier(model)
    monkeypatch.setattr(other.scorer, "_stored", None)

    (found,) = one.classify([odd])
    (expected,) = other.classify([odd])

    assert is_read_in_python
    assert one.scorer._batch is None
    assert (found.label, found.known) == (expected.label, expected.known)
    assert found.log_posterior == pytest.approx(expected.log_posterior, rel=1e-12)
