"""
The README does not drift: its examples print what it shows, its links lead somewhere.

Every `$ command` of a console block is run, in one shell session, where the demo corpus
is; below it stands what it prints. A line `...` stands for any lines. Seconds, dates
and temporary folders are compared by their shape. To put the output of today in
(look at the difference before keeping it): `python tests/contract/test_readme.py`.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [
    README,
    ROOT / "CHANGELOG.md",
    ROOT / "corpora" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
PACKAGE = ROOT / "nbtext"
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LIBRARY = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)")
MODULE = re.compile(r"^\* `(nbtext/[\w/]+\.py)`:", re.MULTILINE)
ANY_LINES = "..."
STANDS_FOR = {
    # make would install nbtext first, over the one that is tested
    "make demo": "sh corpora/demo.sh nbtext",
}
VOLATILE = {
    r"in \d+\.\d s\b": "in 0.1 s",
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00": "2026-01-01T00:00:00+00:00",
    r"\S*/tmp\.\w+/": "/tmp/tmp.XXXXXXXXXX/",  # noqa: S108  not a place, a pattern
    r"(?m)^tokenizer\t.*": "tokenizer\tcompiled",
}


@dataclass(frozen=True)
class Example:
    command: str
    shown: str


def examples() -> list[Example]:
    found: list[Example] = []
    for block in CONSOLE.findall(README.read_text(encoding="utf-8")):
        # inside of `make demo`, what begins with "$ " is output
        if block.startswith("$ make"):
            command, _, shown = block.partition("\n")
            found.append(Example(command[2:], shown))
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append(Example(command, shown))
    return found


EXAMPLES = examples()


def like_any_other_day(text: str) -> str:
    for pattern, replacement in VOLATILE.items():
        text = re.sub(pattern, replacement, text)
    return text


def environment(folder: Path) -> dict[str, str]:
    scripts = Path(sys.executable).parent
    kept = {name: os.environ[name] for name in ("TMPDIR",) if name in os.environ}
    return kept | {
        "PATH": f"{scripts}:{os.environ['PATH']}",
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
    }


def run_all(folder: Path) -> list[str]:
    """Run the examples in one shell, and return what each of them printed, in order."""
    shutil.copytree(ROOT / "corpora" / "demo", folder / "corpora" / "demo")
    shutil.copy(ROOT / "corpora" / "demo.sh", folder / "corpora")
    mark = "\x1e"
    lines = []
    for example in EXAMPLES:
        lines += [STANDS_FOR.get(example.command, example.command)]
        lines += [f"printf '{mark}'"]
    done = subprocess.run(
        ["sh", "-c", "exec 2>&1\n" + "\n".join(lines)],
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.stdout.decode("utf-8").split(mark)[: len(EXAMPLES)]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return run_all(tmp_path_factory.mktemp("readme"))


def pattern_of(shown: str) -> str:
    lines = [
        "(?:.*\n)*?" if line == ANY_LINES else re.escape(line) + "\n"
        for line in like_any_other_day(shown).splitlines()
    ]
    return "".join(lines)


@pytest.mark.parametrize(
    "place",
    range(len(EXAMPLES)),
    ids=[f"{place}: {example.command}" for place, example in enumerate(EXAMPLES)],
)
def test_an_example_prints_what_is_shown(place: int, printed: list[str]) -> None:
    example = EXAMPLES[place]
    if " jq " in example.command and shutil.which("jq") is None:
        pytest.skip("jq is not installed")

    found = like_any_other_day(printed[place])

    if not re.fullmatch(pattern_of(example.shown), found):
        assert found == like_any_other_day(example.shown)


def library_output(folder: Path, code: str) -> str:
    shutil.copytree(ROOT / "corpora" / "demo", folder / "corpora" / "demo")
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    return done.stdout


def test_the_library_prints_what_is_shown(tmp_path: Path) -> None:
    code, shown = LIBRARY.findall(README.read_text(encoding="utf-8"))[0]

    assert len(code.splitlines()) == 5
    assert library_output(tmp_path, code) == shown


@pytest.mark.parametrize(
    "document", PAGES, ids=lambda page: str(page.relative_to(ROOT))
)
def test_relative_links_lead_somewhere(document: Path) -> None:
    links = LINK.findall(document.read_text(encoding="utf-8"))

    assert [link for link in links if not leads_somewhere(document, link)] == []


def leads_somewhere(document: Path, link: str) -> bool:
    if "://" in link:
        return True  # no test needs the network
    path, _, heading = link.partition("#")
    target = document.parent / path if path else document
    return target.exists() and (not heading or heading in headings(target))


def headings(document: Path) -> set[str]:
    """Return what links to the headings of a page are called."""
    lines = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", line).lower().replace(" ", "-") for line in lines}


def test_every_module_stands_once_in_the_architecture() -> None:
    named = MODULE.findall((ROOT / "docs" / "architecture.md").read_text("utf-8"))
    files = PACKAGE.rglob("*.py")

    assert sorted(named) == sorted(
        str(path.relative_to(ROOT)) for path in files if not path.name.startswith("__")
    )


def with_output_of_today(text: str, folder: Path) -> str:
    """Return the README with what its examples print now; `...` and make stay."""
    outputs = iter(run_all(folder / "console"))

    def console(block: re.Match[str]) -> str:
        commands = re.findall(r"^\$ (.*)$", block[1], re.MULTILINE)
        if block[1].startswith("$ make"):
            next(outputs)
            return block[0]
        parts = [f"$ {command}\n{next(outputs)}" for command in commands]
        return f"```console\n{''.join(parts)}```"

    def library(block: re.Match[str]) -> str:
        output = library_output(folder / "library", block[1])
        return f"```python\n{block[1]}```\n\n```text\n{output}```"

    return LIBRARY.sub(library, CONSOLE.sub(console, text))


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        old = README.read_text(encoding="utf-8")
        README.write_text(with_output_of_today(old, Path(place)), encoding="utf-8")
