"""The source distribution is complete, and nbtext is found from any folder."""

import ast
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
FOLDERS = [
    ".ci",
    "benchmarks",
    "bin",
    "corpora",
    "docs",
    "fuzz",
    "man",
    "nbtext",
    "scripts",
    "tests",
]
FILES = [
    ".gitattributes", ".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE",
    "MANIFEST.in", "Makefile", "README.md", "pyproject.toml", "setup.py",
]  # fmt: skip
MADE = shutil.ignore_patterns("__pycache__", "*.py[cod]", "*.so", "*.nbt")
"""What builds and tests leave behind in the folders."""
SCRIPT = """\
from nbtext import Decision, classify, load, train_on

train_on([("spam", "money winner"), ("ham", "lunch meeting")], "m.nbt")
decision: Decision = classify(load("m.nbt"), "money")
print(decision.label)
"""


def files_below(folder: Path) -> set[str]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix() for path in paths}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository as a clone has it, without git's own folder."""
    tree = tmp_path_factory.mktemp("source") / "nbtext"
    for name in FOLDERS:
        shutil.copytree(ROOT / name, tree / name, ignore=MADE)
    for name in FILES:
        shutil.copy(ROOT / name, tree)
    return tree


@pytest.fixture(scope="module")
def unpacked(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source distribution, built and unpacked."""
    expected = files_below(tree)
    place = tmp_path_factory.mktemp("sdist")
    build = f"from setuptools import build_meta; build_meta.build_sdist({str(place)!r})"
    subprocess.run(
        [sys.executable, "-c", build],
        cwd=tree,
        check=True,
        capture_output=True,
        timeout=PATIENCE,
    )
    (archive,) = place.glob("nbtext-*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(place, filter="data")
    folder = place / archive.name.removesuffix(".tar.gz")
    (folder / "expected").write_text("\n".join(expected))
    return folder


def test_an_older_python_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    older = "import sys; sys.version_info = (3, 9, 18); sys.version = '3.9.18 (old)'"
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "{older}; exec(sys.argv[2])" "$@"\n'
    )
    python.chmod(0o755)
    command = ["make", "demo", f"PYTHON={python}", f"VENV={tmp_path}/venv"]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)

    assert done.stderr.startswith(b"nbtext needs Python 3.11 or newer, and this is 3.9")
    assert not (tmp_path / "venv").exists()


def test_an_older_python_can_run_setup_so_that_pip_says_what_is_needed() -> None:
    tree = ast.parse((ROOT / "setup.py").read_text("utf-8"), feature_version=(3, 9))

    found = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    names = {alias.name for node in found for alias in node.names}
    assert names == {"re", "sysconfig"}


def test_nothing_else_is_at_top_level() -> None:
    command = ["git", "-C", str(ROOT), "ls-files", "-z"]
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no clone")
    listed = subprocess.run(command, check=True, capture_output=True, text=True)
    tracked = {path.partition("/")[0] for path in listed.stdout.split("\0") if path}
    assert tracked == {*FOLDERS, *FILES}


def test_a_source_distribution_holds_the_whole_repository(unpacked: Path) -> None:
    expected = (unpacked / "expected").read_text().splitlines()

    assert set(expected) <= files_below(unpacked)


def test_links_of_the_description_are_absolute(unpacked: Path) -> None:
    description = (unpacked / "PKG-INFO").read_text("utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)", description)

    assert len(links) > 10
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


def test_the_library_is_found_beside_a_folder_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "nbtext" / "docs").mkdir(parents=True)  # a clone, as git names it
    (tmp_path / "script.py").write_text(SCRIPT)

    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        timeout=PATIENCE,
    )

    assert done.stdout == b"spam\n"


def test_a_type_checker_finds_the_library_too(tmp_path: Path) -> None:
    (tmp_path / "nbtext" / "docs").mkdir(parents=True)
    (tmp_path / "script.py").write_text(f"{SCRIPT}wrong: int = decision.label\n")
    cache = ROOT / ".mypy_cache" / "users"  # what it knows of numpy stays

    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "script.py", "--cache-dir", cache],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )

    # the one mistake that is in it: the types of nbtext are known
    assert 'expression has type "str | None"' in done.stdout
    assert "Found 1 error in 1 file" in done.stdout


def test_compiled_code_counts_its_references_to_none() -> None:
    """Built by 3.12 for the stable ABI, Py_RETURN_NONE counts none; 3.11 needs it."""
    sources = [*(ROOT / "nbtext" / "compiled").glob("*.[ch]")]

    assert sources
    assert [
        path.name for path in sources if "Py_RETURN_NONE;" in path.read_text()
    ] == []
