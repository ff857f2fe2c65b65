"""What the garbage collector leaves alone: modules, which stay until a command ends."""

import gc
from typing import Final

SELDOM: Final = 10_000
"""How many objects more there are when the collector looks for circles among them, for
commands that go through thousands of documents; else 700. With 700 it takes 19 ms where
10,000 mails are learnt, with 10,000 it takes 5: see docs/experiments/066."""

_AT_FIRST = gc.get_freeze_count()
"""How many objects are left alone by Python itself: hundreds in 3.12, else none."""


def settle(*, is_seldom: bool = False) -> None:
    """
    Have the collector look no more through what is there by now.

    It does nothing unless `nbtext.cli.main` has turned the collector off, as it does
    where the process is all its own: others may load what they let go of again.

    Args:
        is_seldom: whether to look at what is new seldom. What a server lets go of in
            circles would stay longer, so that is for commands that end.
    """
    if not gc.isenabled() or _is_ours():
        gc.freeze()
        if is_seldom:
            gc.set_threshold(SELDOM)
        gc.enable()


def hold() -> None:
    """
    Have the collector wait for `settle`, while a command loads numpy and what counts.

    It would look through that dozens of times, which takes 3 ms (docs/experiments/084).
    Where `settle` does nothing, this does neither.
    """
    if _is_ours():
        gc.disable()


def _is_ours() -> bool:
    """Return whether this has settled before, in a process that is all its own."""
    return gc.get_freeze_count() > _AT_FIRST
