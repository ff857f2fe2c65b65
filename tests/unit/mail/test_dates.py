"""When a message was received."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext.mail import date_of


def at(year: int, month: int, day: int, hour: int) -> float:
    """A time in UTC, in seconds since 1970."""
    return datetime(year, month, day, hour, tzinfo=UTC).timestamp()


RECEIVED = b"Received: from a by b;\n\tMon, 2 Sep 2002 10:00:00 +0200\n"
SENT = b"Date: Sun, 1 Sep 2002 12:00:00 +0000\n"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (RECEIVED + SENT, at(2002, 9, 2, 8)),
        (SENT + RECEIVED, at(2002, 9, 2, 8)),
        (SENT, at(2002, 9, 1, 12)),
        (SENT.replace(b"\n", b"\r\n"), at(2002, 9, 1, 12)),
        (b"From joe Mon Sep  2 2002\n" + SENT, at(2002, 9, 1, 12)),
        (RECEIVED + RECEIVED.replace(b"2002", b"1999"), at(2002, 9, 2, 8)),
        (b"Received: by hand\n" + SENT, at(2002, 9, 1, 12)),
        (b"Date: Sun, 1 Sep 1902 12:00:00 +0000\n", None),
        (b"Date: Sun, 1 Sep 9999999999 12:00:00\n", None),
        (b"Date: yesterday\n", None),
        (b"Subject: a\n\n" + SENT, None),
        (b"", None),
    ],
)
def test_the_server_is_believed_before_the_sender(
    head: bytes, expected: float | None
) -> None:
    assert date_of(head + b"Subject: hello\n\nDate: Mon, 2 Sep 2019 10:00:00\n") == (
        expected
    )


@given(st.binary(max_size=200))
def test_no_bytes_raise_an_error(value: bytes) -> None:
    date_of(b"Date: " + value)
    date_of(b"Received: x; " + value + b"\nDate: " + value)
    date_of(value)
