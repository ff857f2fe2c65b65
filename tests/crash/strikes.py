"""What befalls calls to the operating system in the tests of crashes."""

import errno
import os
from collections.abc import Callable
from typing import Any, NamedTuple

WRITES = ("pwrite", "write")
DIED = 9


class Strike(NamedTuple):
    """What befalls a call: it fails, or it is the last, or it does half of its work."""

    kind: str
    code: int = 0

    def __call__(self, call: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        if self.kind == "fails":
            if call.__name__ == "rename_in_one_step":
                return self.code
            if call.__name__ == "close":
                call(*arguments)  # it is closed all the same (close(2))
            raise OSError(self.code, os.strerror(self.code))
        if self.kind == "dies before":
            os._exit(DIED)
        if call.__name__ in WRITES and self.kind != "dies after":
            descriptor, data, *rest = arguments
            some = 7 if self.kind == "writes little" else len(data) // 2
            arguments = (descriptor, memoryview(data)[:some], *rest)
        done = call(*arguments, **more)
        if self.kind != "writes little":
            os._exit(DIED)
        return done


def name_of(strike: Strike) -> str:
    """What a test with a strike is called."""
    return f"{strike.kind} {errno.errorcode.get(strike.code, '')}".strip()
