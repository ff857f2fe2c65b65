"""
Whatever is delivered, moved back and filtered, in whatever order: no message is lost.

The messages in the two mailboxes together are those that were delivered, byte for byte
and as often. What is new and spam is moved by the next run; what its user has put back
stays, and what was decided about stays what it is.
"""

from collections import Counter
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nbtext.filtering.rules import Rule
from nbtext.scoring.classifier import Classifier
from tests.filtered import BOXES, filtered, plain

N_CONTENTS = 6
"""So few that the same comes twice; the even ones are spam."""

OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("deliver"), st.integers(0, N_CONTENTS - 1)),
        st.tuples(st.just("filter"), st.just(0)),
        st.tuples(st.just("put back"), st.integers(0, 9)),
        st.tuples(st.just("read"), st.integers(0, 9)),
        st.tuples(st.just("remove"), st.integers(0, 9)),
    ),
    max_size=24,
)


def content(number: int) -> bytes:
    words = b"money winner" if number % 2 == 0 else b"lunch meeting"
    return b"Subject: %d\nDate: today\n\n%s\n" % (number, words)


def is_spam(one: bytes) -> bool:
    return b"winner" in one


class World:
    """Two mailboxes, and what should be in them."""

    def __init__(self, folder: Path, kind: str, classifier: Classifier) -> None:
        self.folder = folder
        self.kind = kind
        self.classifier = classifier
        self.inbox: Counter[bytes] = Counter()
        self.junk: Counter[bytes] = Counter()
        self.known: set[bytes] = set()
        for name in ("inbox", "junk"):
            with closing(self.open(name)):
                pass

    def open(self, name: str) -> Any:
        return BOXES[self.kind](self.folder / name)

    def deliver(self, number: int) -> None:
        with closing(self.open("inbox")) as box:
            box.add(content(number))
        self.inbox[content(number)] += 1

    def filter(self, _: int) -> None:
        inbox, memory = self.folder / "inbox", self.folder / "memory"
        rule = Rule(0.5, str(self.folder / "junk"))
        outcomes = filtered(self.classifier, inbox, rule, memory)
        new = [one for one in self.inbox.elements() if one not in self.known]
        assert len(outcomes) == len(new)
        for one in new:
            if is_spam(one):
                self.inbox[one] -= 1
                self.junk[one] += 1
        self.known.update(new)

    def put_back(self, place: int) -> None:
        with closing(self.open("junk")) as junk, closing(self.open("inbox")) as inbox:
            keys = junk.keys()
            if not keys:
                return
            key = keys[place % len(keys)]
            one = junk.get_bytes(key)
            inbox.add(junk[key])  # with its flags
            inbox.flush()
            junk.remove(key)
        self.junk[plain(one)] -= 1
        self.inbox[plain(one)] += 1

    def read(self, place: int) -> None:
        with closing(self.open("inbox")) as box:
            keys = box.keys()
            if keys:
                key = keys[place % len(keys)]
                message = box[key]
                if self.kind == "mh":
                    message.remove_sequence("unseen")
                else:
                    message.add_flag("S" if self.kind == "maildir" else "R")
                if self.kind == "maildir":
                    message.set_subdir("cur")
                box[key] = message

    def remove(self, place: int) -> None:
        with closing(self.open("inbox")) as box:
            keys = box.keys()
            if keys:
                key = keys[place % len(keys)]
                one = plain(box.get_bytes(key))
                box.remove(key)
                self.inbox[one] -= 1

    def check(self) -> None:
        for name, expected in (("inbox", self.inbox), ("junk", self.junk)):
            with closing(self.open(name)) as box:
                there = Counter(plain(box.get_bytes(key)) for key in box.iterkeys())
            assert there == +expected


@pytest.mark.parametrize("kind", BOXES)
@given(operations=OPERATIONS)
@settings(max_examples=150)
@example(operations=[("deliver", 0), ("deliver", 0), ("filter", 0), ("filter", 0)])
@example(operations=[("deliver", 0), ("filter", 0), ("put back", 0), ("filter", 0)])
@example(
    operations=[
        *[("deliver", 0), ("filter", 0), ("put back", 0), ("read", 0)],
        *[("deliver", 2), ("filter", 0), ("filter", 0)],
    ]
)
def test_no_message_is_lost_or_moved_twice(
    classifier: Classifier, kind: str, operations: list[tuple[str, int]]
) -> None:
    with TemporaryDirectory() as name:
        world = World(Path(name), kind, classifier)
        for operation, number in [*operations, ("filter", 0)]:
            getattr(world, operation.replace(" ", "_"))(number)

            world.check()
