"""What is compiled changes no result: the whole program with it, and without it."""

import subprocess
import sys
from pathlib import Path

import pytest

from nbtext.store import open_model
from nbtext.tokens.engine import COMPILED, best
from tests.waiting import PATIENCE

DEMO = Path(__file__).parents[2] / "corpora" / "demo"

RUN = """
import sys
from nbtext.cli import main
from nbtext.tokens.engine import COMPILED, PLAIN, use
use(COMPILED if {} else PLAIN)
main(sys.argv[1:])
"""

pytestmark = pytest.mark.skipif(
    best() != COMPILED, reason="nbtext was installed without a C compiler"
)


def run(is_compiled: bool, *arguments: object, stdin: bytes = b"") -> bytes:
    """Return what the program prints."""
    command = [sys.executable, "-c", RUN.format(is_compiled), *map(str, arguments)]
    done = subprocess.run(
        command, input=stdin, capture_output=True, check=True, timeout=PATIENCE
    )
    return done.stdout


def test_each_says_which_it_is() -> None:
    assert run(True, "--version").endswith(b" (compiled)\n")
    assert run(False, "--version").endswith(b" (plain Python)\n")


@pytest.mark.parametrize("classes", [2, 3])
def test_models_are_the_same_and_so_are_decisions(tmp_path: Path, classes: int) -> None:
    odd = tmp_path / "odd"
    odd.mkdir()
    odd.joinpath("1").write_bytes("Überraschung! 日本語テスト, ไทย".encode() * 50)
    odd.joinpath("2").write_bytes(bytes(range(256)) * 20)
    sources = [f"spam={DEMO / 'spam'}", f"ham={DEMO / 'ham'}", f"odd={odd}"][:classes]
    models = [tmp_path / "compiled.nbt", tmp_path / "not.nbt"]
    for is_compiled, model in zip((True, False), models, strict=True):
        run(is_compiled, "train", "-q", "-m", model, *sources)

    one, other = (open_model(str(model)).tables[0] for model in models)

    assert one.header.calibrations == other.header.calibrations
    assert one.header.terms == other.header.terms
    assert one.arrays.keys() == other.arrays.keys()
    for name, array in one.arrays.items():
        assert bytes(array) == bytes(other.arrays[name]), name
    for many in (DEMO / "check", DEMO / "check" / "ham"):
        printed = [
            run(is_compiled, "classify", "--json", "-m", models[0], many, odd)
            for is_compiled in (True, False)
        ]
        assert printed[0].count(b"\n") > 2
        assert printed[0] == printed[1]
