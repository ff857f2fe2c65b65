"""What is compiled changes no result: the whole program with it, and without it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nbtext.store.file import open_model
from nbtext.tokens import compiled

DEMO = Path(__file__).parents[2] / "corpora" / "demo"

pytestmark = pytest.mark.skipif(
    not compiled.IS_USED, reason="nbtext was installed without a C compiler"
)


def run(is_compiled: bool, *arguments: object, stdin: bytes = b"") -> bytes:
    """Return what the program prints."""
    environment = os.environ | {"NBTEXT_COMPILED": "1" if is_compiled else "0"}
    command = [sys.executable, "-m", "nbtext", *map(str, arguments)]
    done = subprocess.run(
        command, input=stdin, env=environment, capture_output=True, check=True
    )
    return done.stdout


def test_the_variable_decides_what_is_used() -> None:
    code = "from nbtext.tokens import compiled; print(compiled.IS_USED)"

    for value, said in (("0", "False"), ("1", "True"), ("", "True")):
        environment = os.environ | {"NBTEXT_COMPILED": value}
        command = [sys.executable, "-c", code]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout == f"{said}\n"


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

    assert one.header.calibration == other.header.calibration
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
