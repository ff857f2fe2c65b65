"""What the garbage collector leaves alone: modules, which stay until a command ends."""

import gc


def settle() -> None:
    """
    Have the collector look no more through what is there by now.

    It does nothing unless `nbtext.cli.main` has turned the collector off, as it does
    where the process is all its own: others may load what they let go of again.
    """
    if not gc.isenabled() or gc.get_freeze_count():
        gc.freeze()
        gc.enable()
