"""A message with our field is the message, byte for byte, but for that field."""

import email.policy
import re
from collections.abc import Callable
from email import message_from_bytes
from unittest.mock import patch

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nbtext.errors import SettingsError
from nbtext.filtering import header_field
from nbtext.filtering.header_field import (
    PROBE,
    AddedField,
    added_by,
    pieces_with_added,
    with_added,
)
from nbtext.filtering.plain_header import plain_end
from nbtext.mail import read_mail
from tests.build import decision

MARK = AddedField("X-NBText", "spam, probability=0.9987")
LINE = b"X-NBText: spam, probability=0.9987"

PIECES = st.sampled_from(
    [
        b"From a@b.example Thu Mar  7 08:15:00 2024\n", b">From x\n", b"From: a@b\n",
        b"Subject: hello\n", b"Subject:folded\r\n\tto two lines\r\n", b"\n", b"\r\n",
        b"X-NBText: ham, probability=0.9999\n", b"x-nbtext : ham\r\n folded\r\n",
        b" continued\n", b"no field\n", b"body \xff\x00 text", b"\r", b":\n",
        b"Date: Thu, 7 Mar 2024 08:15:00 +0100\n", b"Message-ID: <1@b>\n",
    ]
)  # fmt: skip
MESSAGES = st.lists(PIECES | st.binary(max_size=12), max_size=12).map(b"".join)


def without_ours(header: bytes) -> bytes:
    """Take all fields of our name out, with their continuation lines."""
    return re.sub(rb"(?im)^x-nbtext[ \t]*:.*\n?(?:[ \t].*\n?)*", b"", header)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param(
            b"From: a@b\nSubject: hi\n\nbody\n",
            b"From: a@b\nSubject: hi\n" + LINE + b"\n\nbody\n",
            id="the last field of the header",
        ),
        pytest.param(
            b"From: a@b\r\nSubject: hi\r\n\r\nbody\r\n",
            b"From: a@b\r\nSubject: hi\r\n" + LINE + b"\r\n\r\nbody\r\n",
            id="the line ends of the message",
        ),
        pytest.param(
            b"From a@b Thu Mar  7 08:15:00 2024\nFrom: a@b\n\nX-NBText: in the body\n",
            b"From a@b Thu Mar  7 08:15:00 2024\nFrom: a@b\n"
            + LINE
            + b"\n\nX-NBText: in the body\n",
            id="behind the envelope, and the body is not touched",
        ),
        pytest.param(
            b"X-NBTEXT: ham,\n\tprobability=1\nFrom: a@b\nx-nbtext:ham\nTo: c\n\nbody",
            b"From: a@b\nTo: c\n" + LINE + b"\n\nbody",
            id="copies in any case, folded, anywhere",
        ),
        pytest.param(b"", LINE + b"\n\n", id="nothing at all"),
        pytest.param(b"\nbody\n", LINE + b"\n\nbody\n", id="no header"),
        pytest.param(
            b"From: a@b\nSubject: hi",
            b"From: a@b\n" + LINE + b"\nSubject: hi",
            id="a header without an end",
        ),
        pytest.param(
            b"\n\r\nFrom: a@b\n\nbody",
            b"\n\r\nFrom: a@b\n" + LINE + b"\n\nbody",
            id="empty lines before the header",
        ),
        pytest.param(b"just text\n", LINE + b"\n\njust text\n", id="no mail"),
        pytest.param(
            b"X-NBText-Other: 1\n\n", b"X-NBText-Other: 1\n" + LINE + b"\n\n",
            id="a longer name is another field",
        ),
        pytest.param(
            b"From: a@b\nSubject: hi\rX-NBText: ham\nTo: c\n\n",
            b"From: a@b\nSubject: hi\nTo: c\n" + LINE + b"\n\n",
            id="a copy behind a bare CR",
        ),
        pytest.param(
            b"From: a@b\r\nX-NBText: ham\rX-NBText: ham\r\nTo: c\r\n\r\n",
            b"From: a@b\r\nTo: c\r\n" + LINE + b"\r\n\r\n",
            id="copies on both sides of a bare CR",
        ),
        pytest.param(
            b"From: a@b\nX-NBText: ham\rTo: c\rX-NBText: ham\rCc: d\n\n",
            b"From: a@b\nTo: c\rCc: d\n" + LINE + b"\n\n",
            id="what stands between them stays",
        ),
        pytest.param(
            b"From: a@b\nno field\nTo: c\n\nbody\n",
            b"From: a@b\n" + LINE + b"\nno field\nTo: c\n\nbody\n",
            id="before a line that is no field",
        ),
        pytest.param(
            b"From: a@b\nSubject: x\rno field\nTo: c\n\nbody\n",
            b"From: a@b\n" + LINE + b"\nSubject: x\rno field\nTo: c\n\nbody\n",
            id="before a line with such a one behind a bare CR",
        ),
        pytest.param(
            b" x\nFrom: a@b\nDate: 1\nMessage-ID: <1@b>\n\n",
            b" x\n" + LINE + b"\nFrom: a@b\nDate: 1\nMessage-ID: <1@b>\n\n",
            id="not where it would be continued",
        ),
    ],
)  # fmt: skip
def test_the_field_is_put_in(message: bytes, expected: bytes) -> None:
    assert with_added(message, MARK) == expected


@given(MESSAGES)
def test_every_other_byte_is_as_it_was(message: bytes) -> None:
    assume(not re.search(rb"\r(?!\n)", message))  # has rows of its own above
    passed = with_added(message, MARK)

    place = passed.index(LINE)
    rest = passed[:place] + re.sub(rb"\A\r?\n", b"", passed[place + len(LINE) :])
    # a message without a header has an empty line more, which ends ours
    shorter = re.sub(rb"\A((?:>?From .*\n)*)\r?\n", rb"\1", rest)
    assert without_ours(message) in (without_ours(rest), without_ours(shorter))


@given(
    st.sampled_from([b"", b"\n", b"\r\n\n", b"\n>From x\n", b"From x\nFrom y\n"]),
    MESSAGES,
)
def test_it_is_the_same_document_as_before(start: bytes, rest: bytes) -> None:
    """If it has a header: one without gets one, and its text is a body then."""
    message = start + b"Subject: hi\n" + re.sub(rb"\r(?!\n)", b"", rest)
    read = read_mail(message)

    passed = read_mail(with_added(message, MARK))

    assert passed.digest == read.digest
    assert passed.body == read.body


@given(MESSAGES)
def test_passing_twice_is_passing_once(message: bytes) -> None:
    once = with_added(message, MARK)

    assert with_added(once, MARK) == once
    other = with_added(once, MARK._replace(value="ham, probability=0.6000"))
    assert other.replace(b"ham, probability=0.6000", MARK.value.encode()) == once


SPAMC = MARK._replace(
    more=(("X-Spam-Flag", "YES"), ("X-Spam-Status", "Yes, score=5.0")),
    family="x-spam-",
)
FORGED = st.sampled_from(
    [
        b"X-Spam-Flag: NO\n", b"x-spam-status : No,\r\n score=-99\r\n",
        b"X-SPAM-Relays: trusted\n", b"X-Spamless: 1\n", b"X-Spam: 1\n",
    ]
)  # fmt: skip


@given(st.lists(PIECES | FORGED, max_size=12).map(b"".join))
def test_a_family_of_fields_is_only_for_us_to_write(rest: bytes) -> None:
    assume(b"\r" not in rest.replace(b"\r\n", b""))  # which others take for a line end
    message = b"From: a@b\n" + rest

    once = with_added(message, SPAMC)

    found = message_from_bytes(once, policy=email.policy.compat32)
    ours = [
        (name, value) for name, value in found.items() if name[:7].lower() == "x-spam-"
    ]
    assert ours == list(SPAMC.more) or found.defects
    assert with_added(once, SPAMC) == once
    assert once.count(b"X-Spamless") == message.count(b"X-Spamless")


LF_ONLY = st.lists(
    (PIECES | FORGED).map(lambda piece: piece.replace(b"\r", b"")), max_size=8
)


@given(st.sampled_from((b"", b"From a Thu\n", b"X-A: 1\n")), LF_ONLY, st.booleans())
def test_a_plain_header_is_no_exception(
    start: bytes, rest: list[bytes], has_family: bool
) -> None:
    message = start + b"".join(rest) + b"\nbody\n\nX-Spam-Flag: 1\n"
    added = SPAMC if has_family else MARK
    with patch.object(header_field, "_plain_end", return_value=0):
        expected = with_added(message, added)

    assert with_added(message, added) == expected


PLAIN = b"From a Thu\nFrom: a@b\nX-Folded: 1\n\t2\nX-Spa: 1\n\nX-Spam-A: 1\n"


@pytest.mark.parametrize(
    "end_of",
    [
        pytest.param(lambda it: plain_end(it, b"x-nbtext"), id="one message"),
        pytest.param(
            lambda it: header_field._plain_end(it, "x-spam-", SPAMC.fields), id="many"
        ),
    ],
)
def test_most_headers_are_plain(end_of: Callable[[bytes], int]) -> None:
    assert end_of(PLAIN) == PLAIN.index(b"\n\n") + 1
    assert end_of(PLAIN.removeprefix(b"From a Thu\n"))
    assert not end_of(PLAIN.replace(b"X-Folded", b"x-nbtext"))
    assert not end_of(PLAIN.replace(b"1\n", b"1\r\n", 1))
    assert not end_of(b"X-NBText: 1\n\n")
    assert not end_of(b" X: 1\n\n")
    assert not end_of(b"From a Thu\n\n")
    assert not end_of(b"A: 1\n" * (1 << 14) + b"\n")


def test_a_field_of_our_family_is_not_plain() -> None:
    message = PLAIN.replace(b"X-Spa:", b"x-spam-:")

    assert not header_field._plain_end(message, "x-spam-", SPAMC.fields)


@given(MESSAGES)
def test_more_fields_change_nothing_else(message: bytes) -> None:
    one = with_added(message, AddedField("X-One", "yes"))
    both = AddedField("X-Two", "yes", more=(("X-One", "yes"),))
    two = with_added(message, both)

    without = (two.replace(b"X-Two: yes" + end, b"", 1) for end in (b"\n", b"\r\n"))
    assert one in tuple(without)


@given(st.lists(PIECES, max_size=8).map(b"".join))
def test_other_programs_find_one_field_that_is_ours(rest: bytes) -> None:
    message = b"From: a@b\n" + rest

    found = message_from_bytes(with_added(message, MARK), policy=email.policy.compat32)

    assert found.get_all("X-NBText") == [MARK.value]


def begun_with_added(message: bytes, place: int, added: AddedField = MARK) -> bytes:
    """A message with our field, of which only what is before a place was looked at."""
    head, rest = message[:place], message[place:]
    return b"".join((*pieces_with_added(head, added, goes_on=bool(rest)), rest))


def ends_taken_out(message: bytes) -> bytes:
    """Take all line ends out, and all fields of our name, behind bare CRs too."""
    ours = rb"(?im)(?:^|(?<=\r))x-nbtext[ \t]*:.*\n?(?:[ \t].*\n?)*"
    return re.sub(rb"[\r\n]", b"", re.sub(ours, b"", message))


@given(st.lists(PIECES, max_size=8).map(b"".join), st.integers(0, 200))
def test_a_header_that_goes_on_has_one_field_that_is_ours(
    rest: bytes, more: int
) -> None:
    message = b"From: a@b\n" + rest

    found = begun_with_added(message, len(b"From: a@b\n") + more)

    parsed = message_from_bytes(found, policy=email.policy.compat32)
    assert parsed.get_all("X-NBText") == [MARK.value]
    assert ends_taken_out(found) == ends_taken_out(message)


@pytest.mark.parametrize("tag", ["", "[SPAM]"])
@pytest.mark.parametrize("start", [b"", b"\n", b"From a Thu\n", b"X-NBText: 1\r\n"])
def test_where_the_header_ends_the_rest_is_not_looked_at(
    start: bytes, tag: str
) -> None:
    message = start + b"Subject: hi\nTo: a\n\n" + b"X-NBText: 1\n" * (PROBE // 6)
    added = MARK._replace(tag=tag)

    for place in (len(start) + 21, len(message) // 2, len(message)):
        assert begun_with_added(message, place, added) == with_added(message, added)


@pytest.mark.parametrize(
    ("head", "rest", "expected"),
    [
        pytest.param(
            b"A: 1\nX-NBText: ham\nB: 2\nX-NBTe", b"xt: ham\nC: 3\n\nbody\n",
            b"A: 1\nB: 2\n" + LINE + b"\n\nX-NBText: ham\nC: 3\n\nbody\n",
            id="in a name",
        ),
        pytest.param(
            b"A: 1\r\nB: 2\r\n", b" 3\r\n\r\nbody\r\n",
            b"A: 1\r\n" + LINE + b"\r\n\r\nB: 2\r\n 3\r\n\r\nbody\r\n",
            id="before what may continue a field",
        ),
        pytest.param(
            b"A: 1", b"2\nX-NBText: ham\n\nbody\n",
            LINE + b"\n\nA: 12\nX-NBText: ham\n\nbody\n",
            id="in the first line",
        ),
    ],
)  # fmt: skip
def test_a_header_that_goes_on_ends_behind_its_last_whole_field(
    head: bytes, rest: bytes, expected: bytes
) -> None:
    assert begun_with_added(head + rest, len(head)) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (b"Subject: hi\n\n", b"Subject: [SPAM] hi\n" + LINE + b"\n\n"),
        (b"SUBJECT:hi\r\n\r\n", b"SUBJECT: [SPAM]hi\r\n" + LINE + b"\r\n\r\n"),
        (b"Subject: 1\nSubject:\n", b"Subject: [SPAM] 1\nSubject:\n" + LINE + b"\n"),
        (b"To: a\n\n", b"To: a\n" + LINE + b"\nSubject: [SPAM]\n\n"),
    ],
    ids=["a subject", "without a space", "two of them", "none"],
)  # fmt: skip
def test_a_tag_stands_before_the_subject(message: bytes, expected: bytes) -> None:
    assert with_added(message, MARK._replace(tag="[SPAM]")) == expected


def test_the_field_says_label_and_probability() -> None:
    assert added_by(decision("spam", 0.9987)) == MARK
    assert added_by(decision("spam", 0.99999)).value == "spam, probability=0.9999"
    assert added_by(decision(None, 0.51)).value == "unsure, probability=0.5100"


@pytest.mark.parametrize(
    "label", ["a\nEvil: yes", "a\r\n\r\nbody", "sp\u00e4m", "\ud800"]
)
def test_no_label_writes_another_line(label: str) -> None:
    value = added_by(decision(label)).value

    assert value.isascii()
    assert value.isprintable()


@pytest.mark.parametrize("field", ["", "a b", "a:b", "a\nb", "\u00e4", "x" * 65])
def test_a_name_that_no_field_has_is_refused(field: str) -> None:
    with pytest.raises(SettingsError, match="field name"):
        added_by(decision("spam"), field)


@pytest.mark.parametrize("tag", ["\n", "a\r\nEvil: yes", "\u00e4"])
def test_a_tag_that_is_not_printable_is_refused(tag: str) -> None:
    with pytest.raises(SettingsError, match="subject tag"):
        added_by(decision("spam"), tag=tag)


@pytest.mark.parametrize(
    "field",
    ["From", "subject", "Received", "Content-Type", "MIME-Version", "Resent-To", "BCC"],
)
def test_a_field_of_mail_itself_is_not_ours_to_replace(field: str) -> None:
    with pytest.raises(SettingsError, match="one of mail itself"):
        added_by(decision("spam"), field)


@pytest.mark.parametrize("field", ["X-Spam", "X-From", "Fromage", "Contents"])
def test_a_longer_name_is_no_field_of_mail(field: str) -> None:
    assert added_by(decision("spam"), field).field == field
