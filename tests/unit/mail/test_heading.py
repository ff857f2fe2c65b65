"""From and Subject of a message, as they are shown in a list."""

import pytest

from nbtext.mail import Heading, heading_of


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (b"From: Jo <j@b.org>\nSubject: a b\n\nhi", ("Jo <j@b.org>", "a b")),
        (b"Subject: =?utf-8?b?w6k=?=\r\n  =?utf-8?q?=C3=A8?=\r\n\r\n", ("", "éè")),
        (b"FROM: a\nfrom: b\nSubject:\n two\n lines\n\nSubject: x", ("a", "two lines")),
        (b"From a@b Tue Jun 14 19:52:09 2005\nFrom: c\n\n", ("c", "")),
        (b"no header at all", ("", "")),
        (b"", ("", "")),
        (b"Subject: \xff\xfe\n\n", ("", "\xff\xfe")),
    ],
)  # fmt: skip
def test_the_first_fields_are_read(message: bytes, expected: tuple[str, str]) -> None:
    assert heading_of(message) == Heading(*expected)


def test_a_long_field_is_cut_and_a_lone_surrogate_is_no_character() -> None:
    long = heading_of(b"Subject: " + b"x" * 10_000 + b"\n\n").subject
    odd = heading_of(b"Subject: =?utf-16-le?b?ANg=?=\n\n").subject

    assert long == "x" * 200
    odd.encode()
