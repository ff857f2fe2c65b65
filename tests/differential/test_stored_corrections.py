"""A mail is moved or forgotten by the compiled engine byte for byte as by its twin."""

from pathlib import Path
from random import Random

import pytest

from fuzz.models import learn
from nbtext import SettingsOverrides, train_on, undo
from nbtext.document import Document
from nbtext.learning import LearnRequest, learn_documents, one_by_one
from nbtext.learning.stored import StoredLearner, learn_stored
from nbtext.scoring import load_model
from nbtext.scoring.stored import FEW
from nbtext.store import compact, compacting, open_model, read_contents
from nbtext.tokens.engine import engine
from nbtext.upkeep import check_model
from tests.build import HAM, SPAM, mail
from tests.differential.test_stored import INPUTS, PAIRS, Run, run, trained

if not engine().is_compiled:
    pytest.skip("there is no extension", allow_module_level=True)

from tests.differential.test_stored_learning import (
    _time_stands_still,
    agree,
    model,
    n_quick_alike,
    not_done,
)

__all__ = ["_time_stands_still", "model", "run", "trained"]  # fixtures

NEW = mail(77, SPAM)
HERE = next(message for label, message in PAIRS if label == "ham")
"""Counted by training."""


@pytest.mark.parametrize("label", ["spam", None], ids=["move", "forget"])
def test_what_was_trained(model: Path, label: str | None) -> None:
    assert agree(model, label, [HERE])
    assert check_model(str(model)).is_sound


@pytest.mark.parametrize("label", ["ham", None], ids=["move", "forget"])
@pytest.mark.parametrize("n_beside", [0, 3, FEW - 1])
@pytest.mark.parametrize("keep", [0, 2, 1000])
def test_what_was_learnt(
    model: Path, label: str | None, n_beside: int, keep: int
) -> None:
    """Alone its table is its record; beside others there are records, or none."""
    request = LearnRequest(str(model), "spam", keep=keep)
    some = [NEW, *(mail(80 + n, SPAM) for n in range(n_beside))]
    documents = [Document("-", (one,)) for one in some]
    [_] = learn_documents(documents, request, max_bytes=1 << 20, on_problem=print)

    assert agree(model, label, [NEW])
    assert agree(model, label, [some[-1]]) or n_beside == 0
    assert check_model(str(model)).is_sound


def test_there_and_back(model: Path) -> None:
    whole = counts_of(model)
    for label in ("spam", "ham", "spam", None):
        assert agree(model, label, [NEW])

    assert counts_of(model) == whole


def counts_of(path: Path) -> object:
    """What a model has counted, and what it keeps of scores."""
    opened = load_model(str(path))
    calibrations = read_contents(open_model(str(path))).calibrations
    return (
        opened.documents,
        opened.totals,
        [{place: n for place, n in one.counts.items() if n} for one in calibrations],
    )


def test_a_model_is_as_if_the_mail_had_always_been_there(model: Path) -> None:
    """What is moved is scored without itself, as what is new."""
    other = model.with_name("other.nbt")
    other.write_bytes(model.read_bytes())
    learn(model, "spam", [NEW])
    assert agree(model, "ham", [NEW])
    learn(other, "ham", [NEW])

    assert counts_of(model) == counts_of(other)


def test_what_is_not_known_where_it_is_to_be_forgotten(model: Path) -> None:
    assert agree(model, None, [NEW, NEW])
    assert agree(model, "spam", [NEW])
    assert agree(model, None, [NEW])
    whole = model.read_bytes()
    assert learn_stored(str(model), None, [NEW]) == ("refused",)  # a second time
    assert model.read_bytes() == whole


def test_what_is_moved_is_known_there_then(model: Path) -> None:
    assert learn_stored(str(model), "spam", [HERE]) == ("moved",)
    whole = model.read_bytes()

    assert learn_stored(str(model), "spam", [HERE]) == ("known",)
    assert model.read_bytes() == whole


@pytest.mark.parametrize("label", ["spam", None], ids=["move", "forget"])
@pytest.mark.parametrize("n_times", [2, 3, 40])
def test_what_is_counted_more_often_than_once(
    tmp_path: Path, label: str | None, n_times: int
) -> None:
    path = tmp_path / "m.nbt"
    train_on([*PAIRS, *[("ham", NEW)] * n_times], str(path))

    assert agree(path, label, [NEW])
    assert agree(path, "ham", [NEW])


@pytest.mark.parametrize("label", ["spam", "ham", None])
def test_what_is_counted_in_both_classes(tmp_path: Path, label: str | None) -> None:
    path = tmp_path / "m.nbt"
    train_on([*PAIRS, ("ham", NEW), ("spam", NEW)], str(path))

    not_done(path, label, [NEW])


def test_a_class_is_not_left_without_a_mail(tmp_path: Path) -> None:
    path = tmp_path / "m.nbt"
    train_on([("ham", HERE), ("spam", NEW), ("spam", mail(78, SPAM))], str(path))

    not_done(path, "spam", [HERE])
    not_done(path, None, [HERE])
    assert agree(path, "ham", [NEW])


def test_mails_are_corrected_alone(model: Path) -> None:
    not_done(model, "spam", [HERE, NEW])
    not_done(model, None, [HERE, NEW])
    assert learn_stored(str(model), None, [HERE, HERE]) is None


@pytest.mark.parametrize("label", ["spam", None], ids=["move", "forget"])
@pytest.mark.parametrize("name", INPUTS)
def test_whatever_a_mail_is(model: Path, name: str, label: str | None) -> None:
    learn(model, "ham", [INPUTS[name]])
    agree(model, label, [INPUTS[name]])


@pytest.mark.parametrize("n_words", [1, 15, 16, 17, 300, 3_000, 30_000])
@pytest.mark.parametrize("often", [1, 130, 300, 40_000])
def test_mails_of_any_length(model: Path, n_words: int, often: int) -> None:
    if n_words * often > 100_000:
        often = 1
    words = " ".join(f"word{n} " * (often if n == 3 else 1) for n in range(n_words))
    message = NEW + words.encode()
    learn(model, "ham", [message])

    assert agree(model, "spam", [message])
    assert agree(model, None, [message])


def test_of_very_many_terms_no_record_is_kept(model: Path) -> None:
    message = NEW + " ".join(f"{n:x}" for n in range(70_000)).encode()
    learn(model, "ham", [message])

    not_done(model, "spam", [message])


@pytest.mark.parametrize("label", ["ham", None], ids=["move", "forget"])
def test_a_table_of_very_many_terms_is_no_record(
    model: Path, monkeypatch: pytest.MonkeyPatch, label: str | None
) -> None:
    """It adds one mail alone, and takes long ones out of the other class."""
    long = NEW + " ".join(f"{n:x}" for n in range(70_000)).encode()
    learn(model, "ham", [long])
    compact(str(model))
    request = LearnRequest(str(model), "spam", keep=0)
    [_] = learn_documents(
        [Document("-", (NEW,))], request, max_bytes=1 << 20, on_problem=print
    )
    learn(model, None, [long])
    monkeypatch.setattr(compacting, "SHARE", 0)
    compacting.compact_tail(str(model))
    _, table = open_model(str(model)).tables
    assert not table.header.history.records

    assert agree(model, label, [NEW])


@pytest.mark.parametrize("way", ["whole", "tail"])
@pytest.mark.parametrize("keep", [0, 1000])
@pytest.mark.parametrize("label", ["spam", "ham", None])
def test_compacted_models(
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
    keep: int,
    label: str | None,
) -> None:
    """Records are then beside each other, also of what is counted no more or again."""
    request = LearnRequest(str(model), "spam", keep=keep)
    documents = [Document("-", (one,)) for one in (NEW, mail(78, SPAM))]
    [_] = learn_documents(documents, request, max_bytes=1 << 20, on_problem=print)
    learn(model, None, [mail(78, SPAM), HERE])
    learn(model, "ham", [mail(78, SPAM)])
    learn(model, "spam", [HERE])
    learn(model, "ham", [HERE])
    monkeypatch.setattr(compacting, "SHARE", 0)
    compacting.compact_tail(str(model)) if way == "tail" else compact(str(model))

    for message in (NEW, mail(78, SPAM), HERE):
        agree(model, label, [message])
    assert check_model(str(model)).is_sound


def test_a_long_stream_of_lessons_and_corrections(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compacting, "SHARE", 0)
    random = Random(11)  # noqa: S311  no secret
    n_quick = 0
    for number in range(120):
        words = random.choice((HAM, SPAM))
        label = random.choice(("ham", "spam", "spam", None))
        n_quick += agree(model, label, [mail(random.randrange(30), words)])
        if number % 25 == 9:
            compacting.compact_tail(str(model))
    assert n_quick > 70
    assert check_model(str(model)).is_sound


def test_a_model_that_stays_open_is_corrected_the_same(model: Path) -> None:
    other = model.with_name("other.nbt")
    other.write_bytes(model.read_bytes())
    learner = StoredLearner(str(model), is_kept=True)
    random = Random(12)  # noqa: S311  no secret
    n_quick = 0
    for _ in range(60):
        label = random.choice(("ham", "spam", None))
        message = mail(random.randrange(10), random.choice((HAM, SPAM)))
        found = learner.learn(label, [message])
        n_quick += found is not None
        for path in (model, other) if found is None else (other,):
            learn(path, label, [message])
        assert model.read_bytes() == other.read_bytes()
    assert n_quick > 30


@pytest.mark.parametrize("label", ["spam", None], ids=["move", "forget"])
def test_it_is_undone(model: Path, label: str | None) -> None:
    learn(model, "ham", [NEW])
    before = counts_of(model)
    assert agree(model, label, [NEW])
    assert counts_of(model) != before

    undo(str(model))

    assert counts_of(model) == before


def test_other_terms_than_then_are_left_to_stream(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(one_by_one, "fingerprint", lambda _: 5)
        learn(model, "ham", [NEW])

    not_done(model, "spam", [NEW])
    not_done(model, None, [NEW])


@pytest.mark.parametrize("score", ["complement", "weighted"])
def test_other_models(tmp_path: Path, score: str) -> None:
    path = tmp_path / "m.nbt"
    train_on(PAIRS, str(path), overrides=SettingsOverrides(score=score))

    not_done(path, "spam", [HERE])
    not_done(path, None, [HERE])


@pytest.mark.parametrize(
    "name", ["mail", "mail.eml", "m\xf6l", "a b", "a\nb", "m\udcff"]
)
@pytest.mark.parametrize("options", [["learn", "spam"], ["forget"], ["forget", "-q"]])
def test_a_file_is_named_the_same(
    run: Run,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    name: str,
) -> None:
    path = tmp_path / name
    path.write_bytes(NEW)

    def teach(data: bytes) -> object:
        command = [*options, str(path), "-m", str(model)]
        return run(command, data, is_pipe=True)

    assert n_quick_alike(monkeypatch, model, teach, {"nothing": b""}) == 1


COMMANDS = [
    ["learn", "spam", "-m"],
    ["forget", "-m"],
    ["forget", "-q", "-m"],
    ["bogofilter", "-Ns", "--model"],
    ["bogofilter", "-s", "--model"],
]


@pytest.mark.parametrize("is_pipe", [True, False], ids=["pipe", "file"])
@pytest.mark.parametrize("options", COMMANDS, ids=" ".join)
def test_the_command_says_and_does_the_same(
    run: Run,
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    is_pipe: bool,
) -> None:
    learn(model, "spam", [NEW])
    inputs = {"ham": HERE, "spam": NEW, "unknown": mail(78, SPAM), "none": b""}

    def teach(data: bytes) -> object:
        return run([*options, str(model)], data, is_pipe=is_pipe)

    assert n_quick_alike(monkeypatch, model, teach, inputs) == 3
