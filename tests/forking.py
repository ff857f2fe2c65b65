"""Processes of their own that do something for a test."""

import os
import traceback
from collections.abc import Callable
from typing import Final

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
    """Wait for a process to end, and return its exit status."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
