"""What the garbage collector leaves alone: modules, which stay until a command ends."""

import gc

_AT_FIRST = gc.get_freeze_count()
"""How many objects are left alone by Python itself: hundreds in 3.12, else none."""


def settle() -> None:
    """
    Have the collector look no more through what is there by now.

    It does nothing unless `nbtext.cli.main` has turned the collector off, as it does
    where the process is all its own: others may load what they let go of again.
    """
    if not gc.isenabled() or gc.get_freeze_count() > _AT_FIRST:
        gc.freeze()
        gc.enable()
