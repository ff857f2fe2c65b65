"""The C sources: strictly compiled, analysed, short, and twins of Python modules."""

import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "nbtext" / "compiled").glob("*.[ch]"))
UNITS = [path for path in SOURCES if path.suffix == ".c"]
ALONE = {
    "ascii_kinds", "blake2b", "finder", "header_view", "memory",
    "module", "msgpack", "rows", "sorting",
}  # fmt: skip
"""What no Python module does, or is a part of one's file."""

MOST_LINES_OF_ONE = 400
MOST_LINES = 8_180
STRICT = [
    "-std=c11", "-O2", "-fPIC", "-Wall", "-Wextra", "-Wconversion", "-Wshadow",
    "-Werror", "-fanalyzer",
]  # fmt: skip

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")


def compile_strictly(unit: Path, output: Path) -> None:
    include = sysconfig.get_path("include")
    if not Path(include, "Python.h").exists():
        pytest.skip("there are no headers of Python")
    limited = "-DPy_LIMITED_API=0x030b0000"
    command = ["gcc", *STRICT, limited, "-isystem", include, "-c", str(unit)]
    done = subprocess.run(
        [*command, "-o", output / f"{unit.stem}.o"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@needs_gcc
@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_there_are_no_warnings(unit: Path, tmp_path: Path) -> None:
    compile_strictly(unit, tmp_path)


def test_files_are_short() -> None:
    lengths = {path.name: path.read_text().count("\n") for path in SOURCES}

    assert max(lengths.values()) <= MOST_LINES_OF_ONE, lengths
    assert sum(lengths.values()) <= MOST_LINES


def test_one_build_is_for_every_python() -> None:
    """Formats with "#" are other symbols in 3.13 than in 3.11, which then refuses."""
    formats = re.compile(r'"[^"\n]*[syz]#[^"\n]*"')
    named = [
        f"{path.name}: {found}"
        for path in SOURCES
        for found in formats.findall(path.read_text())
    ]

    assert named == []
    assert formats.search('Py_BuildValue("(Oy#N)", views')


@pytest.mark.parametrize(
    "unit", [path for path in UNITS if path.stem not in ALONE], ids=lambda p: p.name
)
def test_a_file_names_the_module_whose_twin_it_is(unit: Path) -> None:
    named = re.search(r"nbtext/[a-z_/]+\.py", unit.read_text())

    assert named
    assert Path(named[0]).stem == unit.stem
    assert (ROOT / named[0]).exists()


@needs_gcc
@pytest.mark.parametrize(
    ("code", "warning"),
    [
        ("int f(long n);\nint f(long n) { return n; }\n", "conversion"),
        ("int f(void);\nint f(void) { int *p = 0; return *p; }\n", "analyzer"),
    ],
)
def test_a_warning_would_be_found(code: str, warning: str, tmp_path: Path) -> None:
    unit = tmp_path / "wrong.c"
    unit.write_text(code)

    with pytest.raises(AssertionError, match=warning):
        compile_strictly(unit, tmp_path)
