"""Whatever goes wrong with a request, there is an answer; a log line is one line."""

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext import SettingsOverrides, train_on
from nbtext.errors import ModelMemoryError, NoMemoryError
from nbtext.policy import PolicyOverrides
from nbtext.serving.handlers import (
    LONGEST,
    Handler,
    HandlerOptions,
    loggable,
    message_id_of,
    refused,
)
from nbtext.serving.spamd import Request


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


def test_a_message_that_cannot_be_searched_in_time_is_refused_alone(
    options: HandlerOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_on(
        [("ham", "lunch on friday"), ("spam", "cheap pills")],
        options.model,
        overrides=SettingsOverrides(pattern=r"(?:\w|\w\w)+$|\w+"),
        replace=True,
    )
    monkeypatch.setattr("nbtext.tokens.pattern.SECONDS", 0.3)
    handler = Handler(options, print, print)
    good, bad = b"cheap", b"cheap " + b"a" * 60 + b"!"

    answers = handler.classify([check(good), check(bad), check(good)])
    lesson = handler.learn(
        Request("TELL", (1, 5), body=bad, sets=True, message_class="spam")
    )

    assert [one.response.split()[1] for one in answers] == [b"0", b"65", b"0"]
    for answer in (answers[1], lesson):
        assert answer.response.startswith(b"SPAMD/1.0 65 EX_DATAERR: -: the pattern ")
        assert "takes more than 0 seconds to match it" in answer.log


def test_a_fault_of_ours_is_an_answer(
    options: HandlerOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nbtext.serving.handlers.body_of", lambda *_: 1 // 0)
    handler = Handler(options, print, print)

    answers = handler.classify([check(b"a"), check(b"b")])

    assert len(answers) == 2
    assert all(one.response.startswith(b"SPAMD/1.0 70 ") for one in answers)
    assert "ZeroDivisionError" in answers[0].log


def test_without_a_model_there_is_an_answer(options: HandlerOptions) -> None:
    remarks: list[str] = []
    handler = Handler(options._replace(model="/no/such/model"), print, remarks.append)
    handler.warm_up()

    answer = handler.classify_alone(check(b"a"))
    lesson = handler.learn(Request("TELL", (1, 5), sets=True, message_class="spam"))

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
        (b"", "-"),
    ],
    ids=["plain", "folded", "in the body", "empty", "nothing"],
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


def test_an_error_of_another_process_says_the_same() -> None:
    for error in (NoMemoryError("a.eml"), ModelMemoryError("mail.nbt")):
        assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301
