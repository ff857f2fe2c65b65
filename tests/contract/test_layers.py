"""The pipeline is a line: a module imports only modules that come before it."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import nbtext

PIPELINE = [
    "errors", "document", "sources", "mailboxes",  # bytes and where they come from
    "charsets", "transfer", "headers", "mime", "markup", "mail",  # what they say
    "codepoints", "settings", "tokens", "compiled", "reading", "bag",  # plain engine
    "parallel", "runs", "counts", "batch", "bags", "sample",  # the other
    "counter", "counting", "terms",
    "modelheader", "modellock", "modeltable", "modelfile", "modelwriting",
    "replacing", "ledger", "records", "packing", "model",
    "calibrate", "score", "decide", "spool", "bulk", "heldout", "crowd", "classifying",
    "change", "changepacking", "changetable", "lessons", "fewlessons", "compacting",
    "firstscores", "manylessons", "teaching",
    "merging", "pruning", "textlines", "textheader", "textcounts", "textrecords",
    "dumping", "loading", "faults", "modelparts", "balance", "checking",
    "training", "measures", "twoclass", "evaluate", "crossvalidate", "report",
    "passing", "threshold", "decided", "filterjob", "filterfolder", "filtering",
    "bogosity",
    "spamd", "incoming", "spamscore", "following", "answering",  # the server
    "listening", "connection", "serving", "supervising",
    "api", "cli",
]  # fmt: skip
SOURCES = [
    "_options", "_labels", "_failures", "_compressed", "_stream", "_mbox", "_inspect",
    "_lines", "_csv", "_heading", "_table", "_rows", "_walk", "_arguments", "_contents",
    "_documents", "_load", "_mailboxes", "_seen", "__init__",
]  # fmt: skip
MAILBOXES = [
    "_message", "_content", "_disk", "_locks", "_keywords", "_maildir", "_sequences",
    "_mh", "_fields", "_spans", "_rewriting", "_mbox", "_carrying", "_opening",
    "_moving", "__init__",
]  # fmt: skip
CLI = [
    "_status", "_places", "_terminal", "_tables", "_classify", "_teach", "_pass",
    "_bogoptions", "_bogorequest", "_bogolog", "_bogolearn", "_bogojudge", "_bogopass",
    "_bogofilter",
    "_serve", "_filter", "_quick", "_options", "train_command", "classify_command",
    "eval_command", "pass_command", "filter_command", "learn_command",
    "forget_command", "info_command",
    "tokens_command", "merge_command", "compact_command", "prune_command",
    "check_command", "dump_command", "load_command", "serve_command",
    "bogofilter_command", "_group", "__init__",
]  # fmt: skip
ENTRANCES = {"__init__", "__main__"}
"""What is loaded first: outside the line, and nearly empty."""

PACKAGE = Path(nbtext.__file__).parent
ORDERS = {"": PIPELINE, "sources": SOURCES, "mailboxes": MAILBOXES, "cli": CLI}
MODULES = [(folder, name) for folder, order in ORDERS.items() for name in order]
FILES = sorted(PACKAGE.rglob("*.py"))
HEAVY = ("numpy", "rich", "email", "regex", "scipy", "multiprocessing", "asyncio")


def path_of(folder: str, name: str) -> Path:
    path = PACKAGE / folder / f"{name}.py"
    return path if path.exists() else PACKAGE / folder / name / "__init__.py"


def imported(path: Path) -> Iterator[str]:
    """The full names of all that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            assert node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def places(path: Path, folder: str) -> set[str]:
    """The modules of a folder that a file imports from."""
    prefix = f"nbtext.{folder}." if folder else "nbtext."
    found = {
        name.removeprefix(prefix).split(".")[0]
        for name in imported(path)
        if name.startswith(prefix)
    }
    return found & set(ORDERS[folder])


@pytest.mark.parametrize(
    ("folder", "name"), MODULES, ids=["/".join(module) for module in MODULES]
)
def test_imports_point_backwards(folder: str, name: str) -> None:
    order = ORDERS[folder]
    before = order[: order.index(name)]

    assert places(path_of(folder, name), folder) - {name} <= set(before)


@pytest.mark.parametrize("folder", ["sources", "mailboxes", "cli"])
def test_what_is_in_a_folder_imports_no_more_than_the_folder_may(folder: str) -> None:
    allowed = set(PIPELINE[: PIPELINE.index(folder)])

    for name in ORDERS[folder]:
        assert places(path_of(folder, name), "") - {folder} <= allowed, name


@pytest.mark.parametrize(
    "folder", list(ORDERS), ids=["nbtext", "sources", "mailboxes", "cli"]
)
def test_every_module_has_its_place(folder: str) -> None:
    inside = PACKAGE / folder
    modules = {path.stem for path in inside.glob("*.py")}
    packages = {path.parent.name for path in inside.glob("*/__init__.py")}
    order = ORDERS[folder]

    assert len(set(order)) == len(order)
    assert (modules | packages) - ENTRANCES == set(order) - ENTRANCES


@pytest.mark.parametrize("path", FILES, ids=lambda p: "/".join(p.parts[-2:]))
def test_only_the_command_line_knows_the_command_line(path: Path) -> None:
    is_inside = path.parent.name == "cli" or path.name == "__main__.py"
    shells = ("nbtext.cli", "click", "rich")

    found = {name for name in imported(path) if name.startswith(shells)}

    assert is_inside or not found


def writes(path: Path) -> Iterator[str]:
    """Whatever in a file writes to the terminal, by line."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            is_stream = called.startswith(("sys.stdout.", "sys.stderr.", "sys.__std"))
            is_harmless = called.endswith((".flush", ".fileno", ".isatty"))
            is_print = called in ("print", "click.echo", "click.secho", "echo")
            is_console = called.endswith("Console")
            if is_print or is_console or (is_stream and not is_harmless):
                yield f"{path.name}:{node.lineno}: {called}"
        elif isinstance(node, ast.ImportFrom) and node.module in ("sys", "click"):
            names = {alias.name for alias in node.names}
            if names & {"stdout", "stderr", "echo", "secho"}:
                yield f"{path.name}:{node.lineno}: import"


def test_only_one_module_writes_to_the_terminal() -> None:
    writers = {path: list(writes(path)) for path in FILES}

    assert writers.pop(PACKAGE / "cli" / "_terminal.py")
    assert [line for lines in writers.values() for line in lines] == []


def loaded_by(script: str, folder: Path) -> set[str]:
    """The modules that are loaded in a new process once a script is done."""
    ending = "import json, sys; sys.stderr.write(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", f"{script}\n{ending}"],
        input=b"Subject: money\n\nmoney for a winner\n",
        capture_output=True,
        check=True,
        cwd=folder,
        timeout=60,
    )
    return set(json.loads(done.stderr))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    from nbtext import train_on

    path = tmp_path / "m.nbt"
    train_on([("spam", "money winner"), ("ham", "lunch meeting")], str(path))
    return path


RUN = "from nbtext.cli import main\ntry: main({arguments})\nexcept SystemExit: pass"


def test_loading_the_command_line_loads_little(tmp_path: Path) -> None:
    assert loaded_by("import nbtext.cli", tmp_path).isdisjoint((*HEAVY, "click"))


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (["classify", "-m", "m.nbt"], ("click",)),
        (["classify", "-m", "m.nbt", "--is", "spam"], ("click",)),
        (["classify", "-m", "m.nbt", "--json", "-q"], ("click",)),
        (["classify", "-m", "m.nbt", "--unsure", "0.9", "-"], ()),
        (["bogofilter", "-T", "--model", "m.nbt"], ("click", "nbtext.teaching")),
        (["bogofilter", "-pel", "--model", "m.nbt"], ("click", "nbtext.teaching")),
        (["bogofilter", "-uep", "--model", "m.nbt"], ("click",)),
        (["bogofilter", "-Sn", "--model", "m.nbt"], ("click",)),
    ],
    ids=[
        "alone",
        "is",
        "json",
        "with click",
        "bogofilter",
        "bogofilter -pel",
        "bogofilter -uep",
        "bogofilter -Sn",
    ],
)
@pytest.mark.usefixtures("model")
def test_classifying_one_message_loads_little(
    tmp_path: Path, arguments: list[str], unwanted: tuple[str, ...]
) -> None:
    loaded = loaded_by(RUN.format(arguments=arguments), tmp_path)

    assert "nbtext.classifying" in loaded
    assert loaded.isdisjoint((*HEAVY, *unwanted))
