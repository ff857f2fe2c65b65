"""
Nothing that is printed changes unasked.

A case is a folder with `cmd` (lines of shell), perhaps `stdin`, and what is expected:
`stdout`, `stderr` and `status`. It is run in a copy of `corpus/` that has a model
`mail.nbt` of its spam/ and ham/. Seconds, times and versions are blotted out.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE

HERE = Path(__file__).parent
CASES = sorted(path.parent.name for path in HERE.glob("*/cmd"))
PROGRAM = f'#!/bin/sh\nexec "{sys.executable}" -m nbtext "$@"\n'
BLOTS = [
    (re.compile(r"in \d+\.\d s\b"), "in 0.0 s"),
    (re.compile(r'"seconds": [\d.]+'), '"seconds": 0.0'),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:]+\+00:00"), "2000-01-01T00:00:00+00:00"),
    (re.compile(r"^tokenizer\t.*", re.MULTILINE), "tokenizer\twhichever"),
    (re.compile(r"\bnbtext \d+\.\d+\.\d+\b"), "nbtext 0.0.0"),
]


def shell(command: str, folder: Path, stdin: bytes = b"") -> dict[str, str]:
    """What a command prints, and its exit status, as the files of a case hold them."""
    environment = {
        "PATH": f"{folder.parent / 'bin'}:{os.environ['PATH']}",
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        ["sh", "-c", command], input=stdin, capture_output=True, check=False,
        cwd=folder, env=environment, timeout=PATIENCE,
    )  # fmt: skip
    printed = {"stdout": done.stdout.decode(), "stderr": done.stderr.decode()}
    for pattern, blot in BLOTS:
        printed = {name: pattern.sub(blot, text) for name, text in printed.items()}
    return printed | {"status": f"{done.returncode}\n"}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus with a model of it, beside a folder with the program."""
    folder = tmp_path_factory.mktemp("golden")
    program = folder / "bin" / "nbtext"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(0o755)
    shutil.copytree(HERE / "corpus", folder / "corpus")
    trained = shell("nbtext train -q -m mail.nbt spam ham", folder / "corpus")

    assert trained == {"stdout": "", "stderr": "", "status": "0\n"}
    return folder / "corpus"


@pytest.mark.parametrize("case", CASES)
def test_what_is_printed_does_not_change_unasked(
    case: str, corpus: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder = HERE / case
    work = tmp_path / "corpus"
    shutil.copytree(corpus, work)
    (tmp_path / "bin").symlink_to(corpus.parent / "bin")
    stdin = folder / "stdin"

    printed = shell(
        (folder / "cmd").read_text("utf-8"),
        work,
        stdin.read_bytes() if stdin.exists() else b"",
    )

    if request.config.getoption("--rewrite", default=False):
        for name, text in printed.items():
            (folder / name).write_text(text, "utf-8")
    expected = {name: (folder / name).read_text("utf-8") for name in printed}
    assert printed == expected


def test_every_folder_is_a_case() -> None:
    folders = {path.name for path in HERE.iterdir() if path.is_dir()}

    assert folders - {"corpus", "__pycache__"} == set(CASES)
