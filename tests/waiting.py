"""Waiting for what must come: a hang fails a test, a busy machine does not."""

from collections.abc import Callable
from time import monotonic, sleep
from typing import Final

PATIENCE: Final = 300.0
"""Maximum seconds anything is waited for."""

PAUSE: Final = 0.01
"""Seconds between two looks."""


def wait_until(is_so: Callable[[], object], what: str = "it") -> None:
    """
    Wait until something is so.

    Raises:
        TimeoutError: it is not, after `PATIENCE` seconds.
    """
    deadline = monotonic() + PATIENCE
    while not is_so():
        if monotonic() > deadline:
            message = f"{what} took longer than {PATIENCE:g} seconds"
            raise TimeoutError(message)
        sleep(PAUSE)
