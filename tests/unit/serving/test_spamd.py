"""Any bytes are a request or a refusal; the answers are those that clients read."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext.errors import RequestError
from nbtext.serving.request import MOST_HEADERS, MOST_LINE, RequestParser
from nbtext.serving.spamd import (
    Request,
    head_of,
    message_of,
    pong,
    refusal,
    result,
    tell_answer,
)

MESSAGE = b"From: a@b\nSubject: hi\n\nbody\n"
LENGTH = b"Content-length: %d\r\n" % len(MESSAGE)
LIMIT = 1000


def heard(*pieces: bytes, is_ended: bool = True, max_size: int = LIMIT) -> Request:
    parser = RequestParser(max_size)
    for piece in pieces:
        parser.feed(piece)
    if is_ended:
        parser.end()
        parser.take_rest(b"")
    return parser.take_request()


def refused(*pieces: bytes) -> tuple[int, str]:
    with pytest.raises(RequestError) as caught:
        heard(*pieces)
    return caught.value.code, str(caught.value)


def test_spamc_is_understood() -> None:
    request = heard(
        b"PROCESS SPAMC/1.5\r\nUser: root\r\n" + LENGTH + b"\r\n" + MESSAGE,
        is_ended=False,
    )

    assert request == Request("PROCESS", (1, 5), len(MESSAGE), "root", body=MESSAGE)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param(b"CHECK SPAMC/1.0\r\n" + MESSAGE, MESSAGE, id="1.0, no headers"),
        pytest.param(b"CHECK SPAMC/1.2\r\n\r\n" + MESSAGE, MESSAGE, id="no length"),
        pytest.param(b"CHECK SPAMC/1.2\n\n" + MESSAGE, MESSAGE, id="bare line feeds"),
        pytest.param(b"CHECK SPAMC/1.2\r\n\r\n", b"", id="no message"),
        pytest.param(
            b"CHECK SPAMC/1.2\r\nCONTENT-LENGTH:28\r\n\r\n" + MESSAGE, MESSAGE,
            id="names in capitals",
        ),
        pytest.param(
            b"CHECK SPAMC/1.9\r\nX-Later: 1\r\n\r\n" + MESSAGE, MESSAGE,
            id="a header that is not known",
        ),
        pytest.param(b"CHECK SPAMC/1.5\r\nContent-length: 0\r\n\r\n", b"", id="empty"),
        pytest.param(
            b"CHECK SPAMC/1.5\r\nContent-length: 3\r\n\r\n\0\0\0", b"\0\0\0", id="NULs"
        ),
        pytest.param(
            b"CHECK SPAMC/1.5\r\nContent-length: 4\r\n\r\nhi\r\n\r\n", b"hi\r\n",
            id="a line end more, as of Mail::SpamAssassin::Client",
        ),
    ],
)  # fmt: skip
def test_messages_come_as_each_version_sends_them(said: bytes, expected: bytes) -> None:
    assert heard(said).body == expected


@pytest.mark.parametrize("said", [b"PING SPAMC/1.2\r\n", b"SKIP SPAMC/1.4\r\n",
                                  b"PING SPAMC/1.5\r\n\r\n"])  # fmt: skip
def test_nothing_more_is_waited_for_than_a_line(said: bytes) -> None:
    assert heard(said, is_ended=False).verb == said[:4].decode()


def test_tell_says_what_to_do() -> None:
    learn = heard(
        b"TELL SPAMC/1.3\r\nMessage-class: SPAM\r\nSet: local, remote\r\n\r\n"
    )
    forget = heard(b"TELL SPAMC/1.3\r\nRemove: Local\r\n\r\n")
    revoke = heard(
        b"TELL SPAMC/1.3\r\nMessage-class: ham\r\nSet: local\r\nRemove: remote\r\n\r\n"
    )

    assert (learn.message_class, learn.sets, learn.removes) == ("spam", True, False)
    assert (forget.message_class, forget.sets, forget.removes) == ("", False, True)
    assert (revoke.message_class, revoke.sets, revoke.removes) == ("ham", True, False)


@pytest.mark.parametrize(
    ("said", "code", "reason"),
    [
        (b"", 76, "closed before headers"),
        (b"CHECK", 76, "closed before headers"),
        (b"GET / HTTP/1.1\r\n\r\n", 76, "expected a verb"),
        (b"check SPAMC/1.5\r\n", 76, "expected a verb"),
        (b"CHECK SPAMC/one\r\n", 76, "expected a verb"),
        (b"CHECK SPAMC/1.5\r\nUser: x\r\n", 76, "EOF during headers"),
        (b"CHECK SPAMC/1.5\r\nno colon\r\n", 76, "'Name: value'"),
        (b"CHECK SPAMC/1.5\r\nUser: a\tb\0\r\n", 76, "control chars"),
        (b"CHECK SPAMC/1.5\r\nContent-length: -1\r\n", 76, "non-numeric"),
        (b"CHECK SPAMC/1.5\r\nContent-length: ten\r\n", 76, "non-numeric"),
        (b"CHECK SPAMC/1.5\r\nContent-length:\r\n", 76, "non-numeric"),
        (b"CHECK SPAMC/1.5\r\nContent-length: 9\r\nContent-length: 8\r\n", 76, "twice"),
        (b"CHECK SPAMC/1.5\r\nContent-length: 99\r\n\r\nabc", 76, "99 bytes, got 3"),
        (b"CHECK SPAMC/1.5\r\nContent-length: 2\r\n\r\nabc", 76, "2 bytes, got 3"),
        (b"CHECK SPAMC/1.5\r\nContent-length: 2\r\n\r\nab\r\n", 76, "2 bytes, got 4"),
        (b"CHECK SPAMC/1.5\r\nContent-length: 2\r\n\r\na\n\n\n", 76, "2 bytes, got 4"),
        (b"CHECK SPAMC/1.5\r\nContent-length: 1001\r\n\r\n", 98, "1000 bytes"),
        (b"CHECK SPAMC/1.5\r\nContent-length: %s\r\n\r\n" % (b"9" * 15), 98, "1000"),
        (b"CHECK SPAMC/1.5\r\nContent-length: %s\r\n\r\n" % (b"9" * 16), 76, "numeric"),
        (b"CHECK SPAMC/1.5\r\n\r\n" + b"x" * 1001, 98, "1000 bytes"),
        (b"CHECK SPAMC/1.5\r\nCompress: lzma\r\n", 76, "not supported"),
        (b"CHECK SPAMC/1.5\r\nCompress: zlib\r\n\r\n", 69, "Content-length"),
        (b"TELL SPAMC/1.5\r\nMessage-class: eggs\r\n", 76, "invalid class"),
        (b"x" * (MOST_LINE + 1), 76, "a line of more"),
        (b"CHECK SPAMC/1.5\r\n" + b"a:" * MOST_LINE, 76, "a line of more"),
        (b"CHECK SPAMC/1.5\r\n" + b"a: b\n" * (MOST_HEADERS + 1), 76, "too many"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(said: bytes, code: int, reason: str) -> None:
    found = refused(said)

    assert found[0] == code
    assert reason in found[1]


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    """Something like a request."""
    lines = st.sampled_from(
        [
            b"User: x", b"Content-length: 3", b"Content-length: 5000", b"", b"",
            b"Compress: zlib", b"Set: local", b"Message-class: ham", b"Remove: ,", b":",
        ]
    )  # fmt: skip
    verbs = st.sampled_from([b"CHECK", b"TELL", b"PING", b"HEADERS", b"PROCES", b""])
    versions = st.sampled_from([b"1.0", b"1.2", b"1.5", b"9.99", b"1"])
    first = draw(verbs) + b" SPAMC/" + draw(versions)
    rest = draw(st.lists(lines | st.binary(max_size=9), max_size=6))
    end = draw(st.sampled_from([b"\r\n", b"\n"]))
    return end.join([first, *rest, b""]) + draw(st.binary(max_size=2 * LIMIT))


@given(st.binary(max_size=300) | requests(), st.data())
def test_any_bytes_in_any_pieces_are_a_request_or_a_refusal(
    said: bytes, data: st.DataObject
) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(said)), max_size=6).map(sorted))
    pieces = [said[a:b] for a, b in zip([0, *cuts], [*cuts, len(said)], strict=True)]
    outcomes = []
    for parts in ([said], pieces, [said[n : n + 1] for n in range(len(said))]):
        try:
            outcomes.append(repr(heard(*parts)))
        except RequestError as error:
            outcomes.append(refusal(error).decode().partition(", got")[0])

    assert len(set(outcomes)) == 1


def test_what_is_compressed_is_bounded() -> None:
    bomb = zlib.compress(bytes(10_000_000))
    whole = zlib.compress(MESSAGE)

    def message(body: bytes) -> bytes:
        return message_of(
            Request("CHECK", (1, 5), is_compressed=True, body=body), LIMIT
        )

    assert message(whole) == MESSAGE
    assert message(zlib.compress(bytes(LIMIT))) == bytes(LIMIT)
    for bad, code in [(bomb, 98), (whole[:-1], 65), (whole + b"x", 65), (b"no", 65)]:
        with pytest.raises(RequestError) as caught:
            message(bad)
        assert caught.value.code == code


def answered(verb: str, version: tuple[int, int], body: bytes | None) -> bytes:
    pieces = None if body is None else [body[:3], body[3:]]
    return result(Request(verb, version), "True ; 15.0 / 5.0", pieces)


@pytest.mark.parametrize(
    ("verb", "version", "head"),
    [
        ("PROCESS", (1, 0), b"SPAMD/1.0 0 EX_OK\r\n"),
        ("PROCESS", (1, 2), b"SPAMD/1.1 0 EX_OK\r\nContent-length: 1\r\n\r\n"),
        ("PROCESS", (1, 5), b"SPAMD/1.1 0 EX_OK\r\nContent-length: 1\r\n"
                            b"Spam: True ; 15.0 / 5.0\r\n\r\n"),
        ("REPORT", (1, 2), b"SPAMD/1.1 0 EX_OK\r\nSpam: True ; 15.0 / 5.0\r\n\r\n"),
        ("REPORT", (1, 3), b"SPAMD/1.1 0 EX_OK\r\nContent-length: 1\r\n"
                           b"Spam: True ; 15.0 / 5.0\r\n\r\n"),
    ],
)  # fmt: skip
def test_each_version_has_the_headers_that_it_knows(
    verb: str, version: tuple[int, int], head: bytes
) -> None:
    assert answered(verb, version, b"x") == head + b"x"


def test_check_has_no_body_and_old_symbols_a_line_end() -> None:
    spam = b"SPAMD/1.1 0 EX_OK\r\nSpam: True ; 15.0 / 5.0\r\n\r\n"

    assert answered("CHECK", (1, 5), None) == spam
    assert answered("SYMBOLS", (1, 2), b"A,B") == spam + b"A,B\r\n"
    assert answered("SYMBOLS", (1, 3), b"A,B").endswith(b"\r\n\r\nA,B")


def test_short_answers() -> None:
    assert pong() == b"SPAMD/1.5 0 PONG\r\n"
    assert tell_answer(did_set=True, did_remove=False) == (
        b"SPAMD/1.1 0 EX_OK\r\nDidSet: local\r\n\r\n"
    )
    assert tell_answer(did_set=False, did_remove=True) == (
        b"SPAMD/1.1 0 EX_OK\r\nDidRemove: local\r\n\r\n"
    )
    assert tell_answer(did_set=False, did_remove=False) == b"SPAMD/1.1 0 EX_OK\r\n\r\n"


def test_a_refusal_is_one_line_whatever_it_says() -> None:
    line = refusal(RequestError(75, "a\r\nDidSet: local\r\n\u00e4" + "x" * 9999))

    assert line.startswith(b"SPAMD/1.0 75 EX_TEMPFAIL: a??DidSet: local???xx")
    assert line.endswith(b"x\r\n")
    assert line.count(b"\n") == 1
    assert len(line) < 600


def as_spamc_does(original: bytes, answer: bytes) -> bytes:
    """Put the body of the original behind the answer to HEADERS."""
    ends = [original.find(end) + len(end) for end in (b"\r\n\r\n", b"\n\n")
            if end in original]  # fmt: skip
    return answer + (original[min(ends) :] if ends else b"")


@given(
    st.lists(
        st.sampled_from([b"A: b\n", b"A: b\r\n", b"\n", b"\r\n", b"\r", b"text", b" "]),
        max_size=9,
    ).map(b"".join)
)
def test_spamc_has_the_whole_message_after_headers(original: bytes) -> None:
    from nbtext.filtering.header_field import AddedField, with_added

    processed = with_added(original, AddedField("X-NBText", "ham"))

    found = as_spamc_does(original, head_of(original, processed))
    begins_with_text = original[:1] not in (b"\n", b"\r")
    assert found == processed or (found == original and not begins_with_text)


def test_spamc_has_a_message_as_it_came_where_a_header_stands_behind_empty_lines() -> (
    None
):
    original, processed = b"\n\nA: b\n", b"\n\nA: b\nX-NBText: ham\n"

    assert as_spamc_does(original, head_of(original, processed)) == original
