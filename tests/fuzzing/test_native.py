"""The compiled readers without Python, on inputs that are made up, with sanitizers."""

import re
from pathlib import Path

import pytest

from fuzz import instrumented
from fuzz.native.__main__ import main

pytestmark = pytest.mark.skipif(
    not instrumented.is_possible(), reason="there is no gcc, or no headers of Python"
)

RUNS = 15_000


@pytest.mark.parametrize(("target", "n_edges"), [("mail", 1300), ("model", 850)])
def test_a_short_run_finds_nothing(
    target: str, n_edges: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept"

    status = main(
        [target, "--runs", str(RUNS), "--seconds", "600", "--kept", str(kept)]
    )

    said = capfd.readouterr().err
    assert status == 0, said
    counted = re.search(rf"{RUNS} executions, (\d+) edges, .*, (\d+) new", said)
    assert counted
    assert int(counted[1]) > n_edges
    assert int(counted[2]) >= len([*kept.glob("[0-9a-f]*")]) > 50


def test_a_block_that_is_read_beyond_its_end_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    sources, kept = tmp_path / "compiled", tmp_path / "kept"
    sources.mkdir()
    for source in instrumented.SOURCES.iterdir():
        text = source.read_text()
        if source.name == "table.c":
            assert text.count("left < CHECKED ? left : CHECKED") == 1
            text = text.replace("left < CHECKED ? left", "left < 1 ? left")
        (sources / source.name).write_text(text)
    monkeypatch.setattr(instrumented, "SOURCES", sources)

    status = main(["model", "--runs", str(RUNS), "--kept", str(kept)])

    assert status
    assert "heap-buffer-overflow" in capfd.readouterr().err
    assert [*kept.glob("crash-*")]
