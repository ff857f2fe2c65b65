"""What the garbage collector leaves alone: modules, which stay until a command ends."""

import gc
from typing import Final

SELDOM: Final = 10_000
"""How many objects more there are when the collector looks for circles among them, for
commands that go through thousands of documents; else 700. With 700 it takes 19 ms where
10,000 mails are learnt, with 10,000 it takes 5: see docs/experiments/066."""

_has_settled = False
"""Whether the collector was `main`'s to turn on; a program may leave objects alone."""


def settle(*, is_seldom: bool = False) -> None:
    """
    Have the collector look no more through what is there by now.

    It does nothing unless `nbtext.cli.main` has turned the collector off, as it does
    where the process is all its own: others may load what they let go of again.

    Args:
        is_seldom: whether to look at what is new seldom. What a server lets go of in
            circles would stay longer, so that is for commands that end.
    """
    global _has_settled
    if not gc.isenabled() or _has_settled:
        _has_settled = True
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
    if _has_settled:
        gc.disable()
