"""
Fuzzing by hand, or briefly in the test suite.

    python -m fuzz mail                                fuzz for a minute
    python -m fuzz model corpus/ -max_total_time=900   a corpus that goes on growing
    python -m fuzz mail crash-0123abcd                 try one input that was found
"""

import argparse
import sys
from collections.abc import Sequence
from hashlib import sha1
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory
from typing import Final

from fuzz import mails, models

MEMORY: Final = Path("/dev/shm")  # noqa: S108  not a file: where a folder is made
"""Where files take no disk, if there is such a place."""

SEEDS: Final = {"mail": mails, "model": models}

DEFAULTS: Final = (
    "-max_total_time=60", "-timeout=20", "-rss_limit_mb=4000", "-use_value_profile=1",
)  # fmt: skip
"""Flags of libFuzzer, unless others are given."""

OWN: Final = {
    "mail": ("-max_len=8192", "-len_control=20"),
    # changed once a time: what is changed often is no model any more
    "model": ("-max_len=32768", "-len_control=0", "-mutate_depth=1"),
}
"""Further ones, for each target."""


def main(arguments: Sequence[str]) -> int:
    """Fuzz, and return 0 if nothing was found."""
    parser = argparse.ArgumentParser(
        prog="python -m fuzz",
        description=__doc__,
        epilog="Flags with a single dash are libFuzzer's; -help=1 lists them.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("target", choices=sorted(SEEDS), help="what is to be fuzzed")
    parser.add_argument(
        "inputs",
        nargs="*",
        help="a corpus folder, and further ones to read; or files to try",
    )
    options, flags = parser.parse_known_args(arguments)
    if is_missing():
        parser.exit(2, "atheris is not installed; pip install -e '.[fuzz]'\n")
    return fuzz(options.target, options.inputs, flags)


def is_missing() -> bool:
    """Return whether there is no fuzzer here."""
    from importlib.util import find_spec

    return find_spec("atheris") is None


def fuzz(target: str, inputs: Sequence[str], flags: Sequence[str]) -> int:
    """
    Run a target in a process of its own, for libFuzzer ends the one that it is in.

    Args:
        target: `mail` or `model`.
        inputs: corpus folders, or files to try.
        flags: libFuzzer's.
    """
    where = MEMORY if MEMORY.is_dir() else None
    with TemporaryDirectory(prefix="nbtext-fuzz-", dir=where) as folder:
        places = _written(Path(folder), target)
        if not all(Path(one).is_file() for one in inputs or ["none"]):
            # new inputs go into the first folder: one that is given, or one that goes
            inputs = [*inputs, str(places)]
        words = Path(folder, "words")
        words.write_text("\n".join(map(_quoted, SEEDS[target].WORDS)), "ascii")
        command = [sys.executable, "-m", "fuzz.target", target, folder]
        done = run(  # noqa: S603  the command is this one's own
            [*command, *DEFAULTS, *OWN[target], f"-dict={words}", *flags, *inputs],
            check=False,
        )
    return done.returncode


def _written(folder: Path, target: str) -> Path:
    """Write the seeds into a folder of their own, and return it."""
    places = folder / "seeds"
    places.mkdir()
    for seed in SEEDS[target].seeds():
        name = sha1(seed, usedforsecurity=False).hexdigest()
        (places / name).write_bytes(seed)
    return places


def _quoted(word: bytes) -> str:
    """Return a word as a line of a libFuzzer dictionary."""
    return '"' + "".join(f"\\x{byte:02x}" for byte in word) + '"'


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
