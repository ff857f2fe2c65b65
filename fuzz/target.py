"""
One target under atheris: `python -m fuzz.target TARGET FOLDER FLAGS... INPUTS...`.

`python -m fuzz` starts this with seeds, a dictionary and a folder to work in.
"""

import resource
import sys
import warnings
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import atheris

ROOM: Final = 512 << 20
"""How many bytes of address space an input may take."""


def main() -> None:
    """Fuzz until libFuzzer ends the process."""
    _, target, folder, *arguments = sys.argv
    with atheris.instrument_imports(include=["nbtext"]):
        laws = import_module(f"fuzz.{target}")
    warnings.simplefilter("ignore")  # numpy's, of sums that overflow, are no faults
    check = laws.checker(Path(folder))

    def bounded(data: bytes) -> None:
        _limit_memory()
        check(data)

    atheris.Setup([sys.argv[0], *arguments], bounded, **_own_mutator(laws))
    atheris.Fuzz()


def _own_mutator(laws: ModuleType) -> dict[str, Any]:
    """Return how the target changes inputs, if not as libFuzzer does."""
    if not hasattr(laws, "mutated"):
        return {}
    return {
        "custom_mutator": lambda data, size, seed: laws.mutated(
            data, size, seed, atheris.Mutate
        )
    }


def _limit_memory() -> None:
    """
    Have what asks for much memory fail with MemoryError, which is a finding.

    The limit moves, because what atheris puts into the code loses some kilobytes each
    time (docs/fuzzing.md).
    """
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    limit = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main()
