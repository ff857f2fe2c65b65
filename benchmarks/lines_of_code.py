"""
Lines of code by package, before and after the modules were moved into packages.

    python -m benchmarks.lines_of_code BEFORE MOVED [AFTER]

The arguments are commits: BEFORE has the modules side by side, MOVED has them in their
packages (git says which became which), AFTER is HEAD if left out. A line of code has a
token that is no comment, and is no part of a docstring. Lines of documentation are
those of docstrings and comments.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from pathlib import PurePosixPath
from typing import NamedTuple

LAYOUT = {
    tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip


class Lines(NamedTuple):
    """How many files there are, and lines in them."""

    files: int
    code: int
    documentation: int

    def plus(self, other: "Lines") -> "Lines":
        return Lines(*(a + b for a, b in zip(self, other, strict=True)))


NOTHING = Lines(0, 0, 0)


def git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], capture_output=True, check=True)
    return done.stdout.decode("utf-8")


def docstring_lines(source: str) -> set[int]:
    """Return the lines of strings that stand alone, which document something."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        is_string = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_string and isinstance(node, ast.Expr):
            found.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found


def of_python(source: str) -> Lines:
    documentation = docstring_lines(source)
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        lines = range(token.start[0], token.end[0] + 1)
        if token.type == tokenize.COMMENT:
            documentation.update(lines)
        elif token.type not in LAYOUT:
            code.update(lines)
    code -= docstring_lines(source)
    return Lines(1, len(code), len(documentation - code))


def of_c(source: str) -> Lines:
    comment = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
    bare = comment.sub(lambda found: "\n" * found[0].count("\n"), source)
    code = sum(1 for line in bare.splitlines() if line.strip())
    everything = sum(1 for line in source.splitlines() if line.strip())
    return Lines(1, code, everything - code)


def package_of(path: str) -> str:
    parts = PurePosixPath(path).parts
    return f"{parts[1]}/" if len(parts) > 2 else "nbtext/ itself"


def count(commit: str, moved_to: dict[str, str]) -> dict[str, Lines]:
    """Return the lines of each package; a file counts where it was moved to."""
    packages: dict[str, Lines] = {}
    for path in git("ls-tree", "-r", "--name-only", commit, "nbtext/").splitlines():
        if not path.endswith((".py", ".c")):
            continue
        source = git("show", f"{commit}:{path}")
        lines = of_c(source) if path.endswith(".c") else of_python(source)
        package = package_of(moved_to.get(path, path))
        packages[package] = packages.get(package, NOTHING).plus(lines)
    return packages


def moves(before: str, moved: str) -> dict[str, str]:
    """Return where git finds each file that was renamed from one commit to another."""
    changes = git("diff", "--find-renames=40%", "--name-status", before, moved)
    rows = (line.split("\t") for line in changes.splitlines())
    return {row[1]: row[2] for row in rows if row[0].startswith("R")}


def main(before: str, moved: str, after: str = "HEAD") -> None:
    old = count(before, moves(before, moved))
    new = count(after, {})
    print("| package | files | code | docs | files, before | code | docs |")
    print("|---|---|---|---|---|---|---|")
    sums = [NOTHING, NOTHING]
    for package in sorted(old.keys() | new.keys()):
        row = [new.get(package, NOTHING), old.get(package, NOTHING)]
        sums = [total.plus(lines) for total, lines in zip(sums, row, strict=True)]
        print_row(package, row)
    print_row("all", sums)


def print_row(name: str, row: list[Lines]) -> None:
    print("|", " | ".join([name, *(f"{n:,}" for lines in row for n in lines)]), "|")


if __name__ == "__main__":
    main(*sys.argv[1:])
