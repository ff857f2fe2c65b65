"""Each verb does what SpamAssassin's protocol document says, and tells the truth."""

import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nbtext.filtering.header_field import with_added
from nbtext.scoring.decide import Decision
from nbtext.serving.spamscore import REQUIRED, added_by_verdict, verdict_of
from tests.serve.conftest import request

if TYPE_CHECKING:
    from tests.serve.conftest import Mails, Server, Start

HEAD = re.compile(
    rb"SPAMD/1\.1 0 EX_OK\r\n(?:Content-length: (\d+)\r\n)?"
    rb"Spam: (True|False) ; (-?\d+\.\d) / 5\.0\r\n\r\n"
)


def body_of(answer: bytes, *, spam: bool) -> bytes:
    """Check the head of an answer and return what follows."""
    match = HEAD.match(answer)
    assert match, answer
    body = answer[match.end() :]
    assert match[2] == str(spam).encode()
    assert (float(match[3]) >= 5) == spam
    assert match[1] is None or int(match[1]) == len(body)
    return body


@pytest.mark.parametrize("tcp", [False, True], ids=["unix", "tcp"])
@pytest.mark.parametrize("half_close", [False, True], ids=["open", "half-closed"])
def test_every_verb_is_answered(
    server: "Server", mails: "Mails", tcp: bool, half_close: bool
) -> None:
    def ask(verb: str, message: bytes) -> bytes:
        return server.ask(request(verb, message), tcp=tcp, half_close=half_close)

    for message, spam in ((mails.spam, True), (mails.ham, False)):
        label = b"SPAM" if spam else b"HAM"
        assert body_of(ask("CHECK", message), spam=spam) == b""
        assert body_of(ask("SYMBOLS", message), spam=spam).startswith(
            b"NBTEXT_%s,NBTEXT_" % label
        )
        views = (b",NBTEXT_HEADERS,", b",NBTEXT_BODY,", b",NBTEXT_RAW,")
        symbols = body_of(ask("SYMBOLS", message), spam=spam) + b","
        assert any(view in symbols for view in views)
        assert re.fullmatch(rb"[A-Z0-9_,]+\s*,", symbols)
        assert b",NBTEXT_TERM_" in symbols
        report = body_of(ask("REPORT", message), spam=spam)
        assert re.search(rb'\nreasons       [+-]\d+\.\d\d \S+ "', report)
        assert b"points, 5.0 required" in report
        assert body_of(ask("REPORT_IFSPAM", message), spam=spam) == (
            report if spam else b""
        )
        processed = body_of(ask("PROCESS", message), spam=spam)
        assert (b"\nX-Spam-Flag: YES\n" in processed) == spam
        head, _, body = processed.partition(b"\n\n")
        assert body_of(ask("HEADERS", message), spam=spam) == head + b"\n\n"
        assert message.endswith(b"\n\n" + body)
    ping = server.ask(b"PING SPAMC/1.5\r\n\r\n", tcp=tcp, half_close=half_close)
    skip = server.ask(b"SKIP SPAMC/1.4\r\n", tcp=tcp, half_close=half_close)
    assert (ping, skip) == (b"SPAMD/1.5 0 PONG\r\n", b"")


def test_what_is_said_is_what_classify_says(
    server: "Server", mails: "Mails", decided: Callable[[Path, bytes], Decision]
) -> None:
    for message in mails:
        verdict = verdict_of(decided(server.model, message), "spam")

        checked = server.ask(request("CHECK", message))
        processed = server.ask(request("PROCESS", message))

        assert f"Spam: {verdict.header}\r\n".encode() in checked
        assert processed.partition(b"\r\n\r\n")[2] == with_added(
            message, added_by_verdict(verdict)
        )


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "2.0"])
def test_every_version_is_spoken(
    server: "Server", mails: "Mails", version: str
) -> None:
    # those before 1.2 know no length, and 1.0 knows no headers
    head = f"PROCESS SPAMC/{version}\r\n" + ("" if version == "1.0" else "\r\n")
    said = head.encode() + mails.spam
    if version >= "1.2":
        said = request("PROCESS", mails.spam, version=version)

    answer = server.ask(said)

    assert answer.startswith(b"SPAMD/1.%d 0 EX_OK\r\n" % (version >= "1.2"))
    assert (b"Content-length: " in answer) == (version >= "1.2")
    assert (b"\r\nSpam: True" in answer) == (version >= "1.3")
    assert b"\nX-Spam-Flag: YES\n" in answer


def test_forged_fields_are_taken_out(server: "Server", mails: "Mails") -> None:
    forged = b"X-Spam-Flag: NO\nx-spam-status: No, score=-99\nX-NBText: ham\n"

    plain = server.ask(request("PROCESS", mails.spam))

    assert server.ask(request("PROCESS", forged + mails.spam)) == plain


def test_a_compressed_message_is_read(server: "Server", mails: "Mails") -> None:
    packed = zlib.compress(mails.spam)

    answer = server.ask(request("PROCESS", packed, "Compress: zlib"))

    assert answer == server.ask(request("PROCESS", mails.spam))


@pytest.mark.parametrize(
    "message",
    [b"", b"\n", b"no header at all", b"\0" * 999, bytes(range(256)) * 50,
     b"Subject: \xff\xfe\r\n\r\n\x80", b"From x\n\n", b"A: b\r\n\n\r\n\nbody\r\n"],
    ids=["empty", "newline", "text", "NULs", "all bytes", "8 bit", "envelope", "ends"],
)  # fmt: skip
def test_whatever_a_message_is_it_comes_back_whole(
    server: "Server", message: bytes
) -> None:
    answer = server.ask(request("PROCESS", message))

    processed = answer.partition(b"\r\n\r\n")[2]
    start, _, rest = processed.partition(b"X-NBText: ")
    assert message.startswith(start)
    assert processed.endswith(message[len(start) :])
    assert rest.count(b"X-Spam-Status: ") == 1


def test_learning_and_forgetting_are_told_and_done(
    start: "Start", mails: "Mails"
) -> None:
    server = start()
    did = b"SPAMD/1.1 0 EX_OK\r\n%s\r\n"
    as_spam, as_ham = ("Message-class: spam", "Set: local"), (
        "Message-class: ham", "Set: local",
    )  # fmt: skip

    answers = [
        server.tell(mails.ham, *as_spam),
        server.tell(mails.ham, *as_spam),
        server.tell(mails.ham, *as_ham),
        server.tell(mails.ham, "Remove: local"),
        server.tell(mails.ham, "Remove: local"),
        server.tell(mails.ham, "Message-class: spam", "Set: remote"),
        server.tell(b"", *as_spam),
    ]

    did_set, did_remove = did % b"DidSet: local\r\n", did % b"DidRemove: local\r\n"
    nothing = did % b""
    assert answers == [
        did_set, nothing, did_set, did_remove, nothing, nothing, nothing,
    ]  # fmt: skip
    server.wait_for_log("did=empty")
    outcomes = [line.partition("did=")[2].split()[0] for line in server.log
                if "TELL" in line]  # fmt: skip
    assert outcomes == [
        "learnt", "known", "moved", "forgotten", "nothing", "nothing", "empty",
    ]  # fmt: skip


def test_what_is_learnt_counts_at_once(
    start: "Start", mails: "Mails", decided: Callable[[Path, bytes], Decision]
) -> None:
    server = start("--workers", "2")
    scores = []
    for _ in range(6):
        verdict = verdict_of(decided(server.model, mails.ham), "spam")
        for _ in range(4):  # whichever worker it is
            answer = server.ask(request("CHECK", mails.ham))
            assert f"Spam: {verdict.header}\r\n".encode() in answer
        scores.append(verdict.points)
        server.tell(mails.ham, "Message-class: spam", "Set: local")
        server.tell(mails.spam, "Message-class: ham", "Set: local")

    assert scores[0] < REQUIRED <= min(scores[1:])


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (("Message-class: spam", "Set: local", "Remove: local"), 76),
        (("Set: local",), 76),
        (("Message-class: eggs", "Set: local"), 76),
    ],
)
def test_what_cannot_be_told_is_refused(
    server: "Server", mails: "Mails", lines: tuple[str, ...], code: int
) -> None:
    before = server.model.read_bytes()

    answer = server.tell(mails.ham, *lines)

    assert answer.startswith(b"SPAMD/1.0 %d " % code)
    assert answer.count(b"\n") == 1
    assert server.model.read_bytes() == before


def test_a_part_of_a_message_is_not_learnt(start: "Start", mails: "Mails") -> None:
    server = start()
    before = server.model.read_bytes()
    message = mails.ham + b"word " * 100_000
    head = "TELL SPAMC/1.5\r\nMessage-class: spam\r\nSet: local\r\nContent-length: "
    announced = 65536 - len(head) - len("00000\r\n\r\n")  # what is read at once

    answer = server.ask(f"{head}{announced}\r\n\r\n".encode() + message)

    assert answer.startswith(b"SPAMD/1.0 76 ")
    assert server.model.read_bytes() == before


REFUSED = b"SPAMD/1.0 69 Service Unavailable: TELL commands are not enabled\r\n"


@pytest.mark.parametrize(
    ("mode", "is_tcp", "options", "may_tell"),
    [
        pytest.param(0o700, False, [], True, id="folder of the owner"),
        pytest.param(0o710, False, [], False, id="folder of the group"),
        pytest.param(0o755, False, [], False, id="folder of all"),
        pytest.param(0o700, True, [], False, id="TCP"),
        pytest.param(0o755, False, ["--allow-tell"], True, id="allowed"),
        pytest.param(0o700, True, ["--allow-tell"], True, id="TCP allowed"),
    ],
)
def test_a_stranger_teaches_nothing_unless_that_is_allowed(
    start: "Start",
    mails: "Mails",
    mode: int,
    is_tcp: bool,
    options: list[str],
    may_tell: bool,
) -> None:
    server = start(*options)
    server.path.parent.chmod(mode)
    before = server.model.read_bytes()

    lesson = request("TELL", mails.ham, "Message-class: spam", "Set: local")
    answer = server.ask(lesson, tcp=is_tcp)

    if may_tell:
        assert b"DidSet: local" in answer
    else:
        assert answer == REFUSED
        assert server.model.read_bytes() == before
        assert b"False" in server.ask(request("CHECK", mails.ham), tcp=is_tcp)


def test_a_model_that_is_being_written_makes_a_lesson_wait(
    start: "Start", mails: "Mails"
) -> None:
    from nbtext.store.lock import locked

    server = start("--wait", "0.2")
    with locked(str(server.model)):
        late = server.tell(mails.ham, "Message-class: spam", "Set: local")
        other = server.ask(request("CHECK", mails.ham))

    assert late.startswith(b"SPAMD/1.0 75 EX_TEMPFAIL: ")
    assert b"EX_OK" in other
