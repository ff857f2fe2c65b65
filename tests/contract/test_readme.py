"""
The documents do not drift: their examples print what they show, links lead somewhere.

Every `$ command` of a console block is run, in one shell session for each page, where
the demo corpus is; below it stands what it prints. A line `...` stands for any lines.
Seconds, dates and temporary folders are compared by their shape. Python blocks are run
in one program for each page, those with a text block behind them print it. To put the
output of today in (look at the difference before keeping it):
`python tests/contract/test_readme.py`.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = [
    README,
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "corpora" / "README.md",
    *sorted(DOCS.rglob("*.md")),
]
WIDE = {"benchmarks", "model-format", "text-form"}
"""References, whose tables have what a byte or a figure is made of in a cell."""
FOR_READERS = [
    README,
    ROOT / "CONTRIBUTING.md",
    *(page for page in sorted(DOCS.glob("*.md")) if page.stem not in WIDE),
]
"""Pages that are read from beginning to end, also in a terminal."""
RUN = [README, DOCS / "guide.md"]
"""Pages whose console blocks are run."""
PROGRAMS = [README, DOCS / "library.md"]
"""Pages whose Python blocks are run."""
PACKAGE = ROOT / "nbtext"
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.M | re.S)
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


def examples(page: Path) -> list[Example]:
    found: list[Example] = []
    for block in CONSOLE.findall(page.read_text(encoding="utf-8")):
        # inside of `make demo`, what begins with "$ " is output
        if block.startswith("$ make"):
            command, _, shown = block.partition("\n")
            found.append(Example(command[2:], shown))
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append(Example(command, shown))
    return found


EXAMPLES = {page: examples(page) for page in RUN}
PLACES = [(page, place) for page in RUN for place in range(len(EXAMPLES[page]))]


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


def run_all(page: Path, folder: Path) -> list[str]:
    """Run the examples in one shell, and return what each of them printed, in order."""
    shutil.copytree(ROOT / "corpora" / "demo", folder / "corpora" / "demo")
    for name in ("demo.sh", "people.csv"):
        shutil.copy(ROOT / "corpora" / name, folder / "corpora")
    mark = "\x1e"
    lines = []
    for example in EXAMPLES[page]:
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
    return done.stdout.decode("utf-8").split(mark)[: len(EXAMPLES[page])]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, list[str]]:
    return {page: run_all(page, tmp_path_factory.mktemp(page.stem)) for page in RUN}


def pattern_of(shown: str) -> str:
    lines = [
        "(?:.*\n)*?" if line == ANY_LINES else re.escape(line) + "\n"
        for line in like_any_other_day(shown).splitlines()
    ]
    return "".join(lines)


@pytest.mark.parametrize(
    ("page", "place"),
    PLACES,
    ids=[
        f"{page.stem} {place}: {EXAMPLES[page][place].command}"
        for page, place in PLACES
    ],
)
def test_an_example_prints_what_is_shown(
    page: Path, place: int, printed: dict[Path, list[str]]
) -> None:
    example = EXAMPLES[page][place]
    if " jq " in example.command and shutil.which("jq") is None:
        pytest.skip("jq is not installed")

    found = like_any_other_day(printed[page][place])

    if not re.fullmatch(pattern_of(example.shown), found):
        assert found == like_any_other_day(example.shown)


def program_output(page: Path, folder: Path) -> list[str]:
    """Run a page's Python blocks as one program; return what each of them printed."""
    shutil.copytree(ROOT / "corpora" / "demo", folder / "corpora" / "demo")
    mark = "\x1e"
    blocks = [code for code, _ in PYTHON.findall(page.read_text(encoding="utf-8"))]
    done = subprocess.run(
        [sys.executable, "-c", f"print({mark!r}, end='')\n".join([*blocks, ""])],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.split(mark)[: len(blocks)]


@pytest.mark.parametrize("page", PROGRAMS, ids=lambda page: page.name)
def test_a_program_prints_what_is_shown(page: Path, tmp_path: Path) -> None:
    shown = [text for _, text in PYTHON.findall(page.read_text(encoding="utf-8"))]

    assert any(shown)
    assert program_output(page, tmp_path) == shown


def test_the_readme_is_short() -> None:
    text = README.read_text(encoding="utf-8")
    code, _ = PYTHON.findall(text)[0]

    assert len(text.splitlines()) <= 200
    assert len(code.splitlines()) <= 20


CRONTAB = re.compile(r"^```crontab\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CRON_LINE = re.compile(r"(?:[\d*/]+ ){4}[\d*/]+ +(/usr/local/bin/nbtext) (.+)")


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_lines_of_crontabs_are_commands_with_full_paths(
    page: Path, tmp_path: Path
) -> None:
    blocks = CRONTAB.findall(page.read_text("utf-8"))
    lines = [line for block in blocks for line in block.splitlines()]
    found = [CRON_LINE.fullmatch(line) for line in lines]

    assert len(lines) >= 3
    assert all(found), lines
    for match in filter(None, found):
        arguments = shlex.split(match[2])
        assert not {"&&", "||", ";", "|"} & set(arguments)
        assert not any(one.startswith("~") for one in arguments)
        if arguments[0] == "learn":
            assert "--seen-only" in arguments
        done = subprocess.run(  # the options are known: all it lacks is a model
            [sys.executable, "-m", "nbtext", *arguments, "-m", "none.nbt"],
            cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, check=False,
            timeout=PATIENCE,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (66, b"")


def cells(page: Path) -> list[str]:
    """Return the cells of a page's tables."""
    rows = re.findall(r"^\|(.*)\|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [cell.strip() for row in rows for cell in row.split("|")]


@pytest.mark.parametrize(
    "page", FOR_READERS, ids=lambda page: str(page.relative_to(ROOT))
)
def test_cells_of_tables_fit_on_a_line(page: Path) -> None:
    assert [cell for cell in cells(page) if len(cell) > 80] == []


def test_the_readme_has_the_figures_of_the_benchmarks() -> None:
    figure = re.compile(r"\d+\.\d+")
    measured = figure.findall((DOCS / "benchmarks.md").read_text(encoding="utf-8"))
    claimed = [cell for cell in cells(README) if figure.fullmatch(cell)]

    assert len(claimed) > 20
    assert [cell for cell in claimed if cell not in measured] == []


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


NAMES = [DOCS / "architecture.md", ROOT / "CONTRIBUTING.md", DOCS / "method.md"]
"""Pages that follow the code, by the names of its functions and files."""


@pytest.mark.parametrize("page", NAMES, ids=lambda page: page.stem)
def test_names_of_code_are_names_in_the_code(page: Path) -> None:
    names = set(re.findall(r"`(nbtext(?:\.\w+)+)`", page.read_text(encoding="utf-8")))

    assert [name for name in sorted(names) if not is_a_name(name)] == []


def is_a_name(name: str) -> bool:
    """Return whether a dotted name is a module, or something in one."""
    module, rest = name, ""
    while True:
        try:
            value: object = import_module(module)
        except ModuleNotFoundError:
            module, _, last = module.rpartition(".")
            rest = f"{last}.{rest}" if rest else last
            if not module:
                return False
            continue
        for attribute in filter(None, rest.split(".")):
            if attribute in getattr(value, "__annotations__", {}):
                return True
            if not hasattr(value, attribute):
                return False
            value = getattr(value, attribute)
        return True


@pytest.mark.parametrize(
    "document", PAGES, ids=lambda page: str(page.relative_to(ROOT))
)
def test_named_files_are_there(document: Path) -> None:
    named = re.findall(
        r"`((?:nbtext|tests|benchmarks|docs|corpora|fuzz)/[\w./-]+)(?<!\.nbt)`",
        document.read_text(encoding="utf-8"),
    )

    assert [path for path in sorted(set(named)) if not (ROOT / path).exists()] == []


def test_every_module_stands_once_in_the_architecture() -> None:
    named = MODULE.findall((ROOT / "docs" / "architecture.md").read_text("utf-8"))
    files = PACKAGE.rglob("*.py")

    assert sorted(named) == sorted(
        str(path.relative_to(ROOT)) for path in files if not path.name.startswith("__")
    )


def with_output_of_today(page: Path, folder: Path) -> str:
    """Return a page with what its examples print now; `...` and make stay."""
    text = page.read_text(encoding="utf-8")
    outputs = iter(run_all(page, folder / "console") if page in RUN else ())
    programs = iter(program_output(page, folder / "lib") if page in PROGRAMS else ())

    def console(block: re.Match[str]) -> str:
        commands = re.findall(r"^\$ (.*)$", block[1], re.MULTILINE)
        if block[1].startswith("$ make"):
            next(outputs)
            return block[0]
        parts = [f"$ {command}\n{next(outputs)}" for command in commands]
        new = f"```console\n{''.join(parts)}```"
        is_same = like_any_other_day(new) == like_any_other_day(block[0])
        return block[0] if is_same else new

    def program(block: re.Match[str]) -> str:
        output = next(programs)
        shown = f"\n\n```text\n{output}```" if output else ""
        return f"```python\n{block[1]}```{shown}"

    if page in RUN:
        text = CONSOLE.sub(console, text)
    return PYTHON.sub(program, text) if page in PROGRAMS else text


if __name__ == "__main__":
    import tempfile

    for page in dict.fromkeys([*RUN, *PROGRAMS]):
        with tempfile.TemporaryDirectory() as place:
            new = with_output_of_today(page, Path(place))
            page.write_text(new, encoding="utf-8")
