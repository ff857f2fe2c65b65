"""Processes of their own that do something for a test."""

import os
import signal
import traceback
from collections.abc import Callable
from typing import Final

from tests.waiting import wait_until

FAILED: Final = 70
"""The exit status of a process that has raised an error."""


def forked(work: Callable[[], object]) -> int:
    """Do something in a process that ends with it, and return its number."""
    child = os.fork()
    if child:
        return child
    code = FAILED
    try:
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def ended(child: int) -> int:
    """
    Wait for a process to end, and return its exit status.

    Raises:
        TimeoutError: it does not, and is killed.
    """
    found = (0, 0)

    def has_ended() -> int:
        nonlocal found
        found = os.waitpid(child, os.WNOHANG)
        return found[0]

    try:
        wait_until(has_ended, "a process of the test")
    except TimeoutError:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    return os.waitstatus_to_exitcode(found[1])
