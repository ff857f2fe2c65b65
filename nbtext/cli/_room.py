"""
Numpy, loaded early; and room for it: an error where there is too little.

Its library for linear algebra takes memory as it is loaded. If that fails, it ends the
process with status 1, which elsewhere says that a message is no spam.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

NEEDED: "Final" = 96 << 20
"""Bytes of address space: 87.5 MB were measured, of numpy 2.4 on x86-64."""


def load_numpy() -> None:
    """
    Load numpy, for a command that needs it in any case.

    Its modules load one another to a depth at which the interpreter's stack begins a
    new piece of memory, if some twenty calls are open already. It then asks the system
    for that piece, and gives it back, at each of 600 to 2,000 calls
    (docs/experiments/066-start-of-training.md).
    """
    import numpy  # noqa: F401  it is for those who import it later


def check_room() -> None:
    """
    Look whether there is room for numpy, before it is loaded.

    Raises:
        MemoryError: there is not, because this process may have no more.
    """
    if _room() < NEEDED:
        raise MemoryError


def _room() -> float:
    """Return how many bytes of address space this process may still take."""
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return float("inf")
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123  pathlib takes 10 ms
            pages = int(file.read().split()[0])
    except (OSError, ValueError, IndexError):  # not Linux
        return float("inf")
    return limit - pages * os.sysconf("SC_PAGE_SIZE")
