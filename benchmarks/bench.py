"""
Where figures are measured: the nbtext that is timed, a place for files, how often.

Timed is a regular install in an environment of its own, as a user has it: with its
modules compiled, and nothing else in reach.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from benchmarks.harness import ENVIRONMENT, Job, Run, run

REPOSITORY: Final = Path(__file__).parents[1]

INSTALLED: Final = (
    "nbtext",
    "bin",
    "pyproject.toml",
    "setup.py",
    "README.md",
    "LICENSE",
)
"""What an install needs of the repository."""


@dataclass(frozen=True, slots=True)
class Bench:
    """
    What every figure is measured with.

    Attributes:
        folder: where the install is, and where files are made; gone at the end.
        runs: how many pairs are timed.
        is_large: whether to measure what takes many minutes and gigabytes, too.
    """

    folder: Path
    runs: int
    is_large: bool

    @property
    def python(self) -> str:
        """Return the interpreter of the install."""
        return str(self.folder / "venv" / "bin" / "python")

    @property
    def nbtext(self) -> str:
        """Return the program that is timed."""
        return str(self.folder / "venv" / "bin" / "nbtext")

    @property
    def few_runs(self) -> int:
        """Return how many pairs are timed of what takes long."""
        return min(self.runs, 3)

    @property
    def model(self) -> Path:
        """Return where timed trainings write to."""
        return self.folder / "model.nbt"

    def train(self, *arguments: str, model: Path | None = None) -> Job:
        """Return the training of a model."""
        path = str(model or self.model)
        return Job(((self.nbtext, "train", "-q", "-m", path, *arguments),))

    def classify(self, model: Path, *arguments: str, stdin: Path | None = None) -> Job:
        """Return the classification of documents."""
        command = (self.nbtext, "classify", "-q", "-m", str(model), *arguments)
        return Job((command,), stdin=stdin)


@dataclass(frozen=True, slots=True)
class Trained:
    """A model that was made once, what that took, and what `nbtext info` says of it."""

    path: Path
    run: Run
    info: dict[str, Any]

    @property
    def terms(self) -> int:
        """Return how many distinct terms the model has."""
        return int(self.info["terms"])

    @property
    def documents(self) -> int:
        """Return how many documents it was made of."""
        return sum(one["documents"] for one in self.info["classes"].values())


@cache
def trained(bench: Bench, name: str, *arguments: str) -> Trained:
    """Train a model, once for all figures that need it."""
    path = bench.folder / f"{name}.nbt"
    took = run(bench.train(*arguments, model=path))
    return Trained(path, took, info_of(bench, path))


@contextmanager
def open_bench(*, runs: int, is_large: bool) -> Iterator[Bench]:
    """Install nbtext aside, and clear everything away at the end."""
    with tempfile.TemporaryDirectory(prefix="nbtext-bench-") as name:
        folder = Path(name)
        _install(folder)
        yield Bench(folder, runs, is_large)


def _install(folder: Path) -> None:
    source = folder / "source"
    source.mkdir()
    for name in INSTALLED:
        path = REPOSITORY / name
        if path.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(path, source / name, ignore=ignored)
        else:
            shutil.copy(path, source / name)
    venv = folder / "venv"
    _quietly([sys.executable, "-m", "venv", str(venv)])
    pip = [str(venv / "bin" / "pip"), "install", "--quiet", "--compile"]
    _quietly([*pip, "--disable-pip-version-check", str(source)])


def _quietly(arguments: list[str]) -> None:
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)


def info_of(bench: Bench, model: Path) -> dict[str, Any]:
    """Return what `nbtext info` says of a model."""
    info = subprocess.run(
        [bench.nbtext, "info", "--json", "-m", str(model)],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, Any] = json.loads(info.stdout)
    return found
