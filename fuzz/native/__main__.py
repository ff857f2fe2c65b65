"""
The compiled readers on any bytes, without Python: some thousand inputs a second.

    python -m fuzz.native mail                  for a minute
    python -m fuzz.native model --seconds 3600 --kept new
    python -m fuzz.native mail --seeds ../shared/corpora --kept new --seconds 3600
    python -m fuzz.native mail --seeds new --kept few --minimise

The sources are built with AddressSanitizer and UndefinedBehaviorSanitizer. Inputs that
reach something new are written to the folder `--kept`, and read from it the next time.
An input that breaks a law, or is stopped by a sanitizer, is there as `crash-...`.
"""

import argparse
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from hashlib import sha1
from os import environ
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from fuzz import instrumented, mails, stored
from fuzz.found import Target, inputs
from nbtext.tokens.codepoints import _TABLE as CODE_POINTS

OWN: Final = Path(__file__).parent

READERS: Final = {
    "mail": (
        "batch_reading", "charsets", "encoded_words", "header_view", "headers",
        "markup", "message", "mime", "reading", "transfer",
    ),
    "model": (
        "blocks", "header", "ledger", "mean", "model", "msgpack", "stored_view",
        "table", "tail",
    ),
}  # fmt: skip
"""The files of which edges are noted."""

OTHERS: Final = {
    "mail": ("ascii_kinds", "blake2b", "codepoints", "memory", "ngrams", "tokenizer"),
    "model": ("blake2b", "charsets", "memory", "sorting"),
}
"""Those of which they are not: loops, in which it would take most of the time."""

FORGED: Final = ("header", "ledger", "model", "stored_view", "table", "tail")
"""Those that are to believe a file without checksums."""

FLAGS: Final = [
    *(flag for flag in instrumented.FLAGS if flag not in {"-O1", "-fPIC"}),
    "-O2", "-fno-pie", "-D_DEFAULT_SOURCE",
]  # fmt: skip
UNRESOLVED: Final = ["-no-pie", "-Wl,--unresolved-symbols=ignore-all", "-lm"]
"""Functions of Python are not there, and nothing that is reached calls them."""


def build(target: str, folder: Path) -> Path:
    """Return the program of a target, built in a folder."""
    folder.mkdir(exist_ok=True)
    objects: list[str] = []

    def compile_one(source: Path, *flags: str) -> None:
        made = folder / f"{len(objects)}-{source.stem}.o"
        include = ["-I", str(instrumented.SOURCES), "-I", str(OWN)]
        include += ["-isystem", sysconfig.get_path("include")]
        command = ["gcc", *FLAGS, *flags, *include, "-c", str(source), "-o", str(made)]
        subprocess.run(command, check=True)
        objects.append(str(made))

    forged = ["-include", str(OWN / "unchecked.h")]
    for name in READERS[target]:
        flags = [*instrumented.SANITIZERS, *instrumented.MEMORY, *instrumented.COVERAGE]
        flags += forged if name in FORGED else []
        compile_one(instrumented.SOURCES / f"{name}.c", *flags)
    for name in OTHERS[target]:
        flags = [*instrumented.SANITIZERS, *instrumented.MEMORY]
        compile_one(instrumented.SOURCES / f"{name}.c", *flags)
    compile_one(OWN / f"{target}.c", *instrumented.SANITIZERS)
    compile_one(OWN / "loop.c")
    compile_one(instrumented.OWN)
    program = folder / target
    linked = ["gcc", *FLAGS, *instrumented.SANITIZERS, *objects, *UNRESOLVED]
    subprocess.run([*linked, "-o", str(program)], check=True)
    return program


def write_seeds(target: Target, folder: Path) -> None:
    """Write inputs to begin with."""
    seeds = mails.seeds() if target == "mail" else stored.seeds()
    folder.mkdir()
    for number, seed in enumerate([*seeds, *inputs(target)]):
        (folder / str(number)).write_bytes(seed)


def by_size(folders: Sequence[Path], new: Path) -> Path:
    """Return a new folder of the files of others, which are read in its order."""
    new.mkdir()
    for path in (path for folder in folders for path in folder.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            data = path.read_bytes()
            name = f"{len(data):08}-{sha1(data).hexdigest()}"  # noqa: S324  a name
            (new / name).write_bytes(data)
    return new


def keep_crash(kept: Path) -> None:
    """Give the input that was tried last a name of its own."""
    last = (kept / ".last").read_bytes()
    data = last[8 : 8 + int.from_bytes(last[:8], sys.byteorder)]
    place = kept / f"crash-{sha1(data).hexdigest()}"  # noqa: S324  a name, no secret
    place.write_bytes(data)
    sys.stderr.write(f"{place}\n")


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.native")
    parser.add_argument("target", choices=[*READERS])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--runs", type=int, default=10**12, help="maximum executions")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=Path, action="append", default=[])
    parser.add_argument("--kept", type=Path, help="a folder; without one it is lost")
    parser.add_argument(
        "--minimise",
        action="store_true",
        help="only keep the smallest of the seeds that together reach as much",
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Build a target and run it; return 0 if nothing was found."""
    options = parsed(arguments)
    with TemporaryDirectory(prefix="nbtext-fuzz-") as name:
        folder = Path(name)
        write_seeds(options.target, folder / "seeds")
        program = build(options.target, folder / "built")
        kept = options.kept or folder / "kept"
        kept.mkdir(exist_ok=True)
        runs = 0 if options.minimise else options.runs
        numbers = [str(options.seconds), str(runs), str(options.seed)]
        folders = [folder / "seeds", *options.seeds]
        if options.minimise:
            folders = [by_size(options.seeds, folder / "by_size")]
        done = subprocess.run(
            [program, CODE_POINTS, kept, *numbers, *folders],
            env=environ | {"ASAN_OPTIONS": "quarantine_size_mb=1"},
            check=False,
        )
        if done.returncode:
            keep_crash(kept)
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
