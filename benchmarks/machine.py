"""Where and with what figures were measured."""

import os
import platform
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.bench import REPOSITORY
from benchmarks.figures import Skipped
from benchmarks.peers import bogofilter_version

PACKAGES = ("nbtext", "numpy", "scikit-learn")


def facts() -> str:
    """Return the line that stands under a table."""
    today = datetime.now(UTC).date()
    return (
        f"{processor()}, {os.cpu_count()} processors, {platform.system()} "
        f"{platform.release()}; {', '.join(versions())}; commit {commit()}, "
        f"{today.day} {today:%B %Y}."
    )


def processor() -> str:
    """Return what the processor calls itself."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.processor() or platform.machine()


def versions() -> Iterator[str]:
    """Yield the name and version of everything that is timed."""
    yield f"Python {platform.python_version()}"
    for name in PACKAGES:
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            yield f"no {name}"
    try:
        yield bogofilter_version()
    except Skipped:
        yield "no bogofilter"


def commit() -> str:
    """Return the commit, and whether anything but the page differs from it."""
    short = _git("rev-parse", "--short", "HEAD")
    if not short:
        return "none"
    changed = _git("status", "--porcelain", "--", ":!docs/benchmarks.md")
    return f"{short}, with changes" if changed else short


def _git(*arguments: str) -> str:
    said = subprocess.run(
        ["git", "-C", str(REPOSITORY), *arguments],
        capture_output=True,
        check=False,
        text=True,
    )
    return said.stdout.strip() if said.returncode == 0 else ""
