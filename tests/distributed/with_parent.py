"""
Run a module of Dask's command line, for as long as the process lasts that started it.

    python tests/distributed/with_parent.py distributed.cli.dask_worker OPTIONS...

So a run of the tests that is killed leaves no scheduler and no workers behind.
"""

import os
import runpy
import sys
import threading
import time

PAUSE = 0.5
"""Seconds between two looks."""


def watch(parent: int) -> None:
    """End this process when another process is its parent."""
    while os.getppid() == parent:
        time.sleep(PAUSE)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=watch, args=(os.getppid(),), daemon=True).start()
    sys.argv = sys.argv[1:]
    sys.path.pop(0)  # this folder
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
