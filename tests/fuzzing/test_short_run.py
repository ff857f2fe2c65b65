"""The fuzzer runs briefly, always from the same seed; docs/fuzzing.md has long runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz import mail, model
from fuzz.__main__ import SEEDS, is_missing
from tests.waiting import PATIENCE

REPOSITORY = Path(__file__).parents[2]

RUNS = {"mail": 500, "model": 250}
"""About four seconds each, on a machine with nothing else to do."""

CHECKERS = {"mail": mail.checker, "model": model.checker}

needs_atheris = pytest.mark.skipif(
    is_missing(), reason="atheris is not installed: pip install -e '.[fuzz]'"
)


@pytest.mark.parametrize("target", sorted(RUNS))
def test_all_laws_hold_of_the_seeds(target: str, tmp_path: Path) -> None:
    check = CHECKERS[target](tmp_path)

    for seed in SEEDS[target].seeds():
        check(seed)


def coverage(report: str, stage: str) -> int:
    """How many edges of nbtext had been seen at some stage of a run."""
    found = re.search(rf"{stage} +cov: (\d+)", report)
    assert found, report
    return int(found[1])


@needs_atheris
@pytest.mark.parametrize("target", sorted(RUNS))
def test_a_short_run_covers_more_than_the_seeds_and_finds_nothing(
    target: str, tmp_path: Path
) -> None:
    flags = ["-seed=1", f"-runs={RUNS[target]}", f"-artifact_prefix={tmp_path}/"]

    done = subprocess.run(
        [sys.executable, "-m", "fuzz", target, *flags],
        capture_output=True,
        text=True,
        errors="replace",
        cwd=REPOSITORY,
        timeout=PATIENCE,
    )

    assert done.returncode == 0, done.stderr
    assert coverage(done.stderr, "INITED") > 400
    assert coverage(done.stderr, "DONE") > coverage(done.stderr, "INITED")
    assert list(tmp_path.iterdir()) == []
