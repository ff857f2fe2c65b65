"""Whatever a sender writes, reasons in a message's header are one field of ASCII."""

import re

from hypothesis import given
from hypothesis import strategies as st

from nbtext.filtering.header_field import added_by, printable_reason, with_added
from nbtext.scoring.explanation import Reason
from tests.build import decision

HOSTILE = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        [
            "\r\nX-Evil: 1",
            "\n\n<html>",
            "\r\rBcc: a@b",
            '"\nX-NBText: ham, probability=0.9999',
            "\u2028X: y",
            "\udcff\udc00",
            "\\" * 99,
            '"' * 99,
            "\x00\x1b[2J\x85",
            "'\"\\'",
            "😀" * 20,
        ]
    ),
)
REASONS = st.lists(
    st.builds(
        Reason,
        text=HOSTILE,
        view=st.just("headers"),
        field=HOSTILE,
        times=st.just(1),
        contribution=st.floats(-1e6, 1e6),
        correction=st.just(0.0),
        by_class=st.just({}),
        counts=st.just({}),
        key=st.just(0),
    ),
    max_size=4,
)
MESSAGES = st.sampled_from(
    [
        b"From: a@b.example\nSubject: x\n\nbody\n",
        b"From: a@b.example\r\nSubject: x\r\n\r\nbody\r\n",
        b"From: a@b.example\nX-NBText: ham,\n forged\nSubject: x\n\nX-NBText: y\n",
    ]
)
DECISION = decision("spam")


@given(REASONS, MESSAGES)
def test_they_are_one_field_and_nothing_else_changes(
    reasons: list[Reason], message: bytes
) -> None:
    bare = with_added(message, added_by(DECISION))

    marked = with_added(message, added_by(DECISION, reasons=reasons))

    newline = b"\r\n" if b"\r\n" in message else b"\n"
    field = re.search(rb"^X-NBText: spam, probability=0.9000", marked, re.M)
    assert field
    lines = marked[field.start() :].split(newline)
    own = lines[: 1 + len(reasons)]
    for line in own[1:]:
        assert re.fullmatch(rb" [+-]\d+\.\d\d [A-Za-z0-9._-]{1,64} \"[ -~]*\",?", line)
        assert len(line) < 160
    # without the lines that tell reasons it is the message that has none
    rest = marked[field.start() :].split(newline)[len(own) :]
    first = own[0].removesuffix(b",")
    assert marked[: field.start()] + newline.join([first, *rest]) == bare
    # and once more, our own field is replaced as a whole
    assert with_added(marked, added_by(DECISION, reasons=reasons)) == marked


@given(REASONS)
def test_a_quote_ends_only_where_the_term_does(reasons: list[Reason]) -> None:
    for reason in reasons:
        found = printable_reason(reason)

        (text,) = re.findall(r'"(.*)"$', found)
        assert re.fullmatch(r'(?:[^"\\]|\\.)*', text), found
