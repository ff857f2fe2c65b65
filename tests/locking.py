"""Locks of an mbox, as mail programs take them."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import PATIENCE


@contextmanager
def fcntl_locked(path: Path) -> Iterator[None]:
    """Lock a file in another process, as a program that delivers to it does."""
    script = (
        "import fcntl, sys; file = open(sys.argv[1], 'r+'); "
        "fcntl.lockf(file, fcntl.LOCK_EX); print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield
        process.communicate(timeout=PATIENCE)


@contextmanager
def dotlocked(path: Path) -> Iterator[None]:
    """Put a dotlock beside a file."""
    lock = path.with_name(f"{path.name}.lock")
    lock.write_text("0")
    yield
    lock.unlink()
