"""Whatever goes wrong with a request, there is an answer; a log line is one line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext import SettingsOverrides, train_on
from nbtext.errors import ModelMemoryError, NoMemoryError
from nbtext.policy import PolicyOverrides
from nbtext.scoring import load_model
from nbtext.serving.handlers import (
    LONGEST,
    Handler,
    HandlerOptions,
    loggable,
    message_id_of,
    refused,
)
from nbtext.serving.spamd import Request
from nbtext.store.lock import locked


@pytest.fixture
def options(tmp_path: Path) -> HandlerOptions:
    path = tmp_path / "m.nbt"
    train_on([("ham", "lunch on friday"), ("spam", "cheap pills")], str(path))
    return HandlerOptions(str(path), "spam", "ham", PolicyOverrides(), 1000, 1.0)


def check(body: bytes, **facts: bool) -> Request:
    return Request("CHECK", (1, 5), body=body, **facts)  # type: ignore[arg-type]


def test_one_bad_request_does_not_spoil_the_others(options: HandlerOptions) -> None:
    handler = Handler(options, print, print)
    good, bad = check(b"cheap"), check(b"cheap", is_compressed=True)

    answers = handler.classify([good, bad, good])

    assert [one.response.split()[1] for one in answers] == [b"0", b"65", b"0"]
    assert answers[0] == answers[2] == handler.classify_alone(good)


def search_slowly(options: HandlerOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    """Train a model whose pattern takes too long to search some messages."""
    train_on(
        [("ham", "lunch on friday"), ("spam", "cheap pills")],
        options.model,
        overrides=SettingsOverrides(pattern=r"(?:\w|\w\w)+$|\w+"),
        replace=True,
    )
    monkeypatch.setattr("nbtext.tokens.pattern.SECONDS", 0.3)


def test_a_message_that_cannot_be_searched_in_time_is_refused_alone(
    options: HandlerOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    search_slowly(options, monkeypatch)
    handler = Handler(options, print, print)
    good, bad = b"cheap", b"cheap " + b"a" * 60 + b"!"

    answers = handler.classify([check(good), check(bad), check(good)])
    lesson = handler.learn_alone(
        Request("TELL", (1, 5), body=bad, sets=True, message_class="spam")
    )

    assert [one.response.split()[1] for one in answers] == [b"0", b"65", b"0"]
    for answer in (answers[1], lesson):
        assert answer.response.startswith(b"SPAMD/1.0 65 EX_DATAERR: -: the pattern ")
        assert "takes more than 0 seconds to match it" in answer.log


def test_what_may_be_searched_long_is_not_answered_at_once(
    options: HandlerOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler = Handler(options, print, print)
    request = check(b"cheap")
    at_once = handler.at_once(request._replace(body=b""))

    assert at_once is not None
    assert at_once(request) == handler.classify_alone(request)
    search_slowly(options, monkeypatch)
    assert handler.at_once(request) is None


def test_a_fault_of_ours_is_an_answer(
    options: HandlerOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nbtext.serving.handlers.body_of", lambda *_: 1 // 0)
    handler = Handler(options, print, print)
    at_once = handler.at_once(check(b"a"))
    assert at_once

    answers = [*handler.classify([check(b"a"), check(b"b")]), at_once(check(b"a"))]

    assert len(answers) == 3
    assert all(one.response.startswith(b"SPAMD/1.0 70 ") for one in answers)
    assert "ZeroDivisionError" in answers[0].log


def test_without_a_model_there_is_an_answer(options: HandlerOptions) -> None:
    remarks: list[str] = []
    handler = Handler(options._replace(model="/no/such/model"), print, remarks.append)
    handler.warm_up()

    at_once = handler.at_once(check(b"a"))
    assert at_once
    answer = at_once(check(b"a"))
    lesson = handler.learn_alone(
        Request("TELL", (1, 5), sets=True, message_class="spam")
    )

    assert answer.response.startswith(b"SPAMD/1.0 69 Service Unavailable: /no/such")
    assert lesson.response.startswith(b"SPAMD/1.0 69 ")
    assert len(remarks) == 1


@given(st.text())
def test_what_is_logged_is_one_value(text: str) -> None:
    value = loggable(text)

    assert value.isascii()
    assert value.isprintable()
    assert 0 < len(value) <= LONGEST + 2
    is_quoted = value[0] == value[-1] == '"' and len(value) > 1
    assert is_quoted or not {" ", "=", '"'} & set(value)
    assert '"' not in value.strip('"')


@given(st.binary())
def test_a_message_id_is_looked_for_in_any_bytes(message: bytes) -> None:
    assert loggable(message_id_of(message))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (b"From: a\nMessage-ID: <1@x>\n\n", "<1@x>"),
        (b"MESSAGE-id:\r\n\t<1@x> (comment)\r\n\r\n", "<1@x>"),
        (b"From: a\n\nMessage-ID: <1@x>\n", "-"),
        (b"Message-ID:\n\nbody", "-"),
        (b"Message-ID\nX-Message-ID: 1\nmessage-id : <2>\n\n", "<2>"),
        (b"", "-"),
    ],
    ids=["plain", "folded", "in the body", "empty", "the second", "nothing"],
)
def test_the_message_id_is_that_of_the_header(message: bytes, expected: str) -> None:
    assert message_id_of(message) == expected


@pytest.mark.parametrize(
    "error",
    [MemoryError(), NoMemoryError("-"), ModelMemoryError("mail.nbt")],
    ids=["of Python", "for a message", "for the model"],
)
def test_want_of_memory_is_a_reason_to_try_again(error: Exception) -> None:
    assert refused(error).response.startswith(b"SPAMD/1.0 75 EX_TEMPFAIL: ")


def tell(body: bytes, label: str | None, **facts: bool) -> Request:
    """A message that is to be learnt, or forgotten if there is no label."""
    if label is None:
        return Request("TELL", (1, 5), body=body, removes=True, **facts)  # type: ignore[arg-type]
    found = {"sets": True, "message_class": label} | facts
    return Request("TELL", (1, 5), body=body, **found)  # type: ignore[arg-type]


def test_lessons_that_wait_are_answered_as_if_one_by_one(
    options: HandlerOptions, tmp_path: Path
) -> None:
    """The model is the same, with a table for neighbours that are learnt alike."""
    lessons = [
        tell(b"cheap watches", "spam"),
        tell(b"more cheap watches", "spam"),
        tell(b"cheap watches", "spam"),  # a copy
        tell(b"lunch", "ham", is_compressed=True),  # which it is not
        tell(b"lunch and a walk", "ham"),
        tell(b"never learnt", None),
        tell(b"more cheap watches", "ham"),  # which moves it
        tell(b"lunch on friday", None),
        tell(b"a walk", "spam"),
    ]
    alone = options._replace(model=str(tmp_path / "alone.nbt"))
    Path(alone.model).write_bytes(Path(options.model).read_bytes())

    together = Handler(options, print, print).learn(lessons)

    handler = Handler(alone, print, print)
    assert [handler.learn_alone(lesson) for lesson in lessons] == together
    assert [b"DidSet" in one.response for one in together] == [
        True, True, False, False, True, False, True, False, True,
    ]  # fmt: skip
    one, other = load_model(options.model), load_model(alone.model)
    assert (one.documents, one.totals) == (other.documents, other.totals)
    assert len(one.file.tables) == 6
    assert len(other.file.tables) == 7


def test_a_message_that_cannot_be_read_spoils_no_lesson_beside_it(
    options: HandlerOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    search_slowly(options, monkeypatch)
    bodies = [b"cheap loans", b"cheap " + b"a" * 60 + b"!", b"cheap watches"]

    answers = Handler(options, print, print).learn([tell(b, "spam") for b in bodies])

    assert [one.response.split()[1] for one in answers] == [b"0", b"65", b"0"]
    assert load_model(options.model).documents == (1, 3)


def test_what_cannot_be_learnt_now_is_refused_for_each(
    options: HandlerOptions,
) -> None:
    lessons = [tell(b"cheap loans", "spam"), tell(b"cheap watches", "spam")]
    handler = Handler(options._replace(wait=0.0), print, print)

    with locked(options.model, wait=1):
        answers = handler.learn(lessons)

    assert all(one.response.startswith(b"SPAMD/1.0 75 ") for one in answers)
    assert handler.learn_alone(lessons[0]).response.startswith(b"SPAMD/1.1 0 ")
