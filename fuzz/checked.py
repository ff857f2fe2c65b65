"""A fuzzer's command: the extension built with its checks, and a process to load it."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory
from typing import Final

from fuzz import instrumented

BUILT: Final = "NBTEXT_FUZZED_EXTENSION"
"""The environment variable that names the extension, for the process that loads it."""


def parser_of(module: str, tried: str) -> argparse.ArgumentParser:
    """Return a parser of what all fuzzers are asked: how long, how often, which."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--runs", type=int, default=10**9, help=f"maximum {tried}")
    parser.add_argument("--seed", type=int, default=1)
    return parser


def fuzz_checked(
    module: str,
    arguments: Sequence[str],
    parser: argparse.ArgumentParser,
    fuzz: Callable[[argparse.Namespace, Path], int],
    *flags: str,
) -> int:
    """
    Fuzz with an extension that has its checks; return 0 if nothing was found.

    Args:
        module: the fuzzer's, which is run once more where sanitizers are preloaded.
        arguments: what it is asked.
        parser: of these.
        fuzz: what fuzzes there, with the extension at a path.
        flags: of the compiler, besides those of sanitizers.
    """
    options = parser.parse_args(arguments)
    if BUILT in os.environ:
        return fuzz(options, Path(os.environ[BUILT]))
    with TemporaryDirectory(prefix="nbtext-fuzz-") as folder:
        library = instrumented.build(Path(folder), *instrumented.SANITIZERS, *flags)
        own = os.environ | instrumented.preloaded() | {BUILT: str(library)}
        command = [sys.executable, "-m", module, *arguments]
        done = run(command, env=own, check=False)  # noqa: S603  this one's own command
    return done.returncode
