"""Where and with what figures were measured."""

import os
import platform
import subprocess
from collections.abc import Iterator
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.bench import REPOSITORY
from benchmarks.figures import Skipped
from benchmarks.mail import corpus
from benchmarks.peers import bogofilter_version

CORPORA = ("spamassassin", "20news", "sms", "enron/enron1")

PACKAGES = ("nbtext", "numpy", "scikit-learn")


def facts() -> Iterator[str]:
    """Yield the lines that stand under a table."""
    yield f"* Machine: {processor()}, {os.cpu_count()} cores, {platform.platform()}"
    yield f"* Versions: {', '.join(versions())}"
    yield f"* Commit: {commit()}"
    for name in CORPORA:
        try:
            yield f"* Corpus: {name}, sha256 {checksum(corpus(name))[:16]}"
        except Skipped as why:
            yield f"* Corpus: {why}"


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
    """Return the commit, and whether anything differs from it."""
    short = _git("rev-parse", "--short", "HEAD")
    if not short:
        return "none"
    return f"{short}, with changes" if _git("status", "--porcelain") else short


def checksum(folder: Path) -> str:
    """Return the SHA-256 of all files: name, size and bytes of each, names sorted."""
    hashed = sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        name = os.fsencode(path.relative_to(folder))
        hashed.update(b"%s\0%d\0" % (name, len(data)))
        hashed.update(data)
    return hashed.hexdigest()


def _git(*arguments: str) -> str:
    said = subprocess.run(
        ["git", "-C", str(REPOSITORY), *arguments],
        capture_output=True,
        check=False,
        text=True,
    )
    return said.stdout.strip() if said.returncode == 0 else ""
