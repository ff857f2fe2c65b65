"""Who holds the lock of a file, for those who wait for it in vain."""

import os
from contextlib import suppress

from nbtext import wording
from nbtext.errors import BusyError


def busy(path: str, wait: float, *, who: str, what: str) -> BusyError:
    """Return the error that says who has had a file locked for so many seconds."""
    return BusyError(
        f"{path}: {who}{holder_of(path)} {what} for {wait:g} s; try again "
        f"later, or wait longer with {wording.named('wait')}"
    )


def holder_of(path: str) -> str:
    """Return ` (PID, NAME)` of a process that holds a lock of a file, if known."""
    with suppress(OSError, ValueError, IndexError):
        status = os.stat(path)
        major, minor = os.major(status.st_dev), os.minor(status.st_dev)
        named = f"{major:02x}:{minor:02x}:{status.st_ino}"
        with open("/proc/locks", encoding="ascii") as file:
            # 1: FLOCK ADVISORY WRITE 1234 08:01:131090 0 EOF
            locks = [line.split() for line in file if "->" not in line]
        pid = next((int(one[4]) for one in locks if one[5] == named), 0)
        if pid > 0:
            with open(f"/proc/{pid}/comm", encoding="ascii", errors="replace") as file:
                name = file.readline().strip()
            # any program may choose its name
            shown = "".join(c if c.isascii() and c.isprintable() else "?" for c in name)
            return f" ({pid}, {shown})"
    return ""
