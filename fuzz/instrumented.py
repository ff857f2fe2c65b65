"""The extension, built for tests: with checks, failing memory and a map of edges."""

import ctypes
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final

SOURCES: Final = Path(__file__).parents[1] / "nbtext" / "compiled"
OWN: Final = Path(__file__).with_name("instrumented.c")
NAME: Final = "nbtext._compiled"

FLAGS: Final = [
    "-std=c11", "-g", "-O1", "-fPIC", "-ffp-contract=off",
    "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror",
    "-DPy_LIMITED_API=0x030b0000",
    "-DFOR_EACH_PROCESSOR=",  # the loader would run what notes edges before it is whole
]  # fmt: skip
MEMORY: Final = [f"-D{name}=tested_{name}" for name in ("malloc", "calloc", "realloc")]
SANITIZERS: Final = [
    "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
]  # fmt: skip
COVERAGE: Final = ["-fsanitize-coverage=trace-pc"]


def is_possible() -> bool:
    """Return whether there is what it takes: gcc, and the headers of Python."""
    has_headers = Path(sysconfig.get_path("include"), "Python.h").exists()
    return has_headers and shutil.which("gcc") is not None


def build(folder: Path, *flags: str) -> Path:
    """Return the extension, built in a folder with further flags."""
    folder.mkdir(exist_ok=True)
    include = ["-isystem", sysconfig.get_path("include")]
    objects = []
    for source in [*sorted(SOURCES.glob("*.c")), OWN]:
        target = folder / f"{source.stem}.o"
        own = [] if source == OWN else [*MEMORY, *flags]
        subprocess.run(
            ["gcc", *FLAGS, *own, *include, "-c", str(source), "-o", str(target)],
            check=True,
        )
        objects.append(str(target))
    library = folder / "_compiled.abi3.so"
    linked = ["gcc", "-shared", *FLAGS[:4], *flags, *objects, "-lm", "-o", str(library)]
    subprocess.run(linked, check=True)
    return library


def preloaded() -> dict[str, str]:
    """Return the variables of a process that loads what was built with SANITIZERS."""
    command = ["gcc", "-print-file-name=libasan.so"]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return {
        "LD_PRELOAD": found.stdout.strip(),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "PYTHONMALLOC": "malloc",
    }


def use(library: Path) -> ctypes.CDLL:
    """Have nbtext use an extension that was built here; return its own functions."""
    if NAME in sys.modules:
        message = "the extension is loaded already"
        raise RuntimeError(message)
    spec = spec_from_file_location(NAME, library)
    if spec is None or spec.loader is None:
        message = f"{library} cannot be loaded"
        raise RuntimeError(message)
    module: Any = module_from_spec(spec)
    sys.modules[NAME] = module
    spec.loader.exec_module(module)
    return ctypes.CDLL(str(library))
