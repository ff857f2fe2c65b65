"""The pipeline is a line: a module imports only modules that come before it."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import nbtext
from nbtext.scoring import load_model
from nbtext.tokens.engine import engine
from tests.waiting import PATIENCE

PACKAGES = [
    "sources", "mail", "tokens", "counts", "store", "scoring", "learning", "upkeep",
    "textform", "evaluation", "report", "doctor", "tuning", "filtering", "serving",
    "distributed", "cli",
]  # fmt: skip
"""In the order of the pipeline."""
FIRST = {
    "", "wording", "faces", "errors",
    "files", "document", "arguments", "byte_order", "classes",
    "constants", "exact", "keyring", "settings", "policy",
    "parallel", "plain_mail", "processes",
}  # fmt: skip
"""Modules of `nbtext` itself that every package may import; "" is its version."""
LAST = {"api", "sklearn"}
"""Those that import packages, for the library and the command line."""

PACKAGE = Path(nbtext.__file__).parent
ROOT = PACKAGE.parent
FILES = sorted(PACKAGE.rglob("*.py"))
FOLDERS = sorted(path.parent for path in PACKAGE.rglob("__init__.py"))
HEAVY = ("numpy", "rich", "email", "regex", "scipy", "multiprocessing", "asyncio")


def module_name(path: Path) -> str:
    """The full name of the module in a file."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


MODULES = {module_name(path) for path in FILES}


@cache
def imported(path: Path) -> list[str]:
    """The full names of all that a file imports, wherever in it."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            assert node.module
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def home_of(name: str) -> str:
    """The module that an imported name is in, or is."""
    return name if name in MODULES else name.rpartition(".")[0]


def homes(path: Path) -> set[str]:
    """The modules of nbtext that a file imports from."""
    found = {
        home_of(name) for name in imported(path) if f"{name}.".startswith("nbtext.")
    }
    assert found <= MODULES | {"nbtext._compiled"}, path
    return found - {"nbtext._compiled", module_name(path)}


def part_of(module: str) -> str:
    """The package, or the module of `nbtext` itself, that a module is in."""
    return [*module.split("."), ""][1]


def test_every_package_has_its_place() -> None:
    found = {part_of(module) for module in MODULES} - {"__main__"}

    assert found == {*PACKAGES, *FIRST, *LAST}


@pytest.mark.parametrize("path", FILES, ids=lambda p: "/".join(p.parts[-2:]))
def test_imports_point_backwards(path: Path) -> None:
    part = part_of(module_name(path))
    if part in PACKAGES:
        allowed = FIRST | set(PACKAGES[: PACKAGES.index(part) + 1])
        allowed |= LAST if part == "cli" else set()
    elif part in FIRST - {""}:
        allowed = FIRST
    else:
        allowed = {*FIRST, *PACKAGES, *LAST}

    assert {part_of(home) for home in homes(path)} <= allowed


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "mail").glob("*.py")), ids=lambda path: path.stem
)
def test_mail_could_be_a_library_of_its_own(path: Path) -> None:
    assert {part_of(home) for home in homes(path)} <= {"mail", "faces", "byte_order"}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_no_circle_inside_a_package(folder: Path) -> None:
    graph = {module_name(path): homes(path) for path in folder.glob("*.py")}

    order = list(
        TopologicalSorter(graph).static_order()
    )  # CycleError where there is one

    assert set(graph) <= set(order)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_package_says_what_goes_in_and_what_comes_out(folder: Path) -> None:
    docstring = ast.get_docstring(
        ast.parse((folder / "__init__.py").read_text("utf-8"))
    )

    assert docstring
    assert len(docstring.splitlines()) >= 3


@pytest.mark.parametrize("path", FILES, ids=lambda p: "/".join(p.parts[-2:]))
def test_only_the_command_line_knows_the_command_line(path: Path) -> None:
    is_inside = part_of(module_name(path)) in ("cli", "__main__")
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


def test_only_two_modules_write_to_the_terminal() -> None:
    writers = {path: list(writes(path)) for path in FILES}

    assert writers.pop(PACKAGE / "cli" / "_streams.py")
    assert writers.pop(PACKAGE / "cli" / "_terminal.py")  # by rich
    assert [line for lines in writers.values() for line in lines] == []


def loaded_by(script: str, folder: Path) -> set[str]:
    """The modules that are loaded in a new process once a script is done."""
    ending = (
        "import sys; loaded = sorted(sys.modules)\n"
        "import json; sys.stderr.write(json.dumps(loaded))"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{script}\n{ending}"],
        input=b"Subject: money\n\nmoney for a winner\n",
        capture_output=True,
        check=True,
        cwd=folder,
        timeout=PATIENCE,
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


def test_training_loads_nothing_that_evaluates(tmp_path: Path) -> None:
    script = "import nbtext.cli.train_command, nbtext.api.training"
    loaded = loaded_by(script, tmp_path)

    assert "nbtext.learning.training" in loaded
    unwanted = ("nbtext.doctor", "nbtext.evaluation", "nbtext.tuning", "numpy.typing")
    assert loaded.isdisjoint(unwanted)
    # what scores one document, and what few trainings need
    assert loaded.isdisjoint(("nbtext.scoring.score", "nbtext.scoring.model"))
    assert loaded.isdisjoint(("nbtext.counts.correction_table", "tempfile"))
    assert loaded.isdisjoint(("nbtext.sources._table", "nbtext.sources.json_array"))
    assert loaded.isdisjoint(("nbtext.sources.seen", "click.shell_completion"))


@pytest.mark.usefixtures("model")
def test_evaluating_loads_nothing_that_writes_reports(tmp_path: Path) -> None:
    for label, text in (("spam", "money"), ("ham", "lunch")):
        (tmp_path / label).mkdir()
        (tmp_path / label / "1").write_text(text)

    arguments = ["eval", "-q", "-m", "m.nbt", "spam", "ham"]
    loaded = loaded_by(RUN.format(arguments=arguments), tmp_path)

    assert "nbtext.evaluation.evaluation" in loaded
    assert loaded.isdisjoint(("nbtext.report", "numpy.ma"))


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (["classify", "-m", "m.nbt"], ("click", "threading")),
        (["classify", "-m", "m.nbt", "--is", "spam"], ("click", "threading")),
        (["classify", "-m", "m.nbt", "--json", "-q"], ("click", "threading")),
        (["classify", "-m", "m.nbt", "--unsure", "0.9", "-"], ()),
        (["bogofilter", "-T", "--model", "m.nbt"], ("click", "nbtext.learning")),
        (
            ["bogofilter", "-pel", "--model", "m.nbt"],
            ("click", "nbtext.learning"),
        ),
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

    assert "nbtext.scoring.classifier" in loaded
    assert loaded.isdisjoint((*HEAVY, *unwanted))


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    "arguments",
    [
        ["forget", "-q", "-m", "m.nbt", "{}"],
        ["learn", "-q", "-m", "m.nbt", "ham", "{}"],
    ],
    ids=["forget", "move"],
)
def test_moving_or_forgetting_a_file_loads_neither_click_nor_numpy(
    tmp_path: Path, arguments: list[str]
) -> None:
    document = tmp_path / "document.eml"
    document.write_text("money winner")
    given = [argument.format(document) for argument in arguments]

    loaded = loaded_by(RUN.format(arguments=given), tmp_path)

    assert load_model(str(tmp_path / "m.nbt")).classes == ("ham",)
    assert "nbtext.learning.one_by_one" in loaded
    assert loaded.isdisjoint((*HEAVY, "click"))


@pytest.mark.usefixtures("model")
def test_what_a_model_knows_is_said_without_numpy(tmp_path: Path) -> None:
    (tmp_path / "document.eml").write_text("money winner")
    loaded_by(
        RUN.format(arguments=["learn", "-q", "-m", "m.nbt", "ham", "document.eml"]),
        tmp_path,
    )

    loaded = loaded_by(RUN.format(arguments=["info", "-m", "m.nbt"]), tmp_path)

    assert "nbtext.cli.info_command" in loaded
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.usefixtures("model")
def test_so_is_why_a_mail_is_of_a_class(tmp_path: Path) -> None:
    (tmp_path / "document.eml").write_text("Subject: money\n\nmoney winner\n")

    loaded = loaded_by(
        RUN.format(arguments=["why", "-m", "m.nbt", "document.eml"]), tmp_path
    )

    assert "nbtext.scoring.explaining" in loaded
    assert "nbtext.learning.flipping" not in loaded
    assert loaded.isdisjoint(HEAVY)


KNOWN = b"Subject: money\n\nmoney for a winner\n"
LEAN = [
    ["classify", "-m", "mail.nbt"],
    ["classify", "-m", "mail.nbt", "--is", "spam", "-q"],
    ["classify", "-m", "mail.nbt", "--unsure", "0.9"],
    ["pass", "-m", "mail.nbt"],
    ["pass", "-m", "mail.nbt", "--unsure", "0.9"],
    ["bogofilter", "-p", "-e", "--model", "mail.nbt"],
    ["bogofilter", "-v", "--model", "mail.nbt"],
    ["learn", "spam", "-m", "mail.nbt"],
    ["bogofilter", "-n", "--model", "mail.nbt"],
    ["learn", "ham", "-m", "mail.nbt"],
    ["forget", "-m", "mail.nbt"],
    ["bogofilter", "-Sn", "--model", "mail.nbt"],
]
"""Of a message that the model knows as spam."""
SLOW_TO_IMPORT = (
    *("typing", "re", "enum", "functools", "collections", "contextlib", "msgpack"),
    *("importlib", "warnings", "nbtext.settings", "nbtext.errors", "nbtext.sources"),
)
"""What takes longer to import than a message to classify."""


@pytest.fixture
def mail_model(tmp_path: Path) -> Path:
    from nbtext import train_on
    from tests.build import HAM, SPAM, mail

    path = tmp_path / "mail.nbt"
    pairs = [("spam", mail(1, SPAM)), ("ham", mail(2, HAM)), ("spam", KNOWN)]
    train_on(pairs, str(path))
    return path


def loaded_for(message: bytes, arguments: list[str], folder: Path) -> list[str]:
    """The modules that are loaded for one message, without the interpreter's."""
    command = [sys.executable, "-X", "importtime", str(ROOT / "bin" / "nbtext")]

    done = subprocess.run(
        [*command, *arguments],
        input=message,
        capture_output=True,
        cwd=folder,
        timeout=PATIENCE,
    )

    report = done.stderr.decode()
    loaded = [line.rpartition("|")[2].strip() for line in report.splitlines()]
    after = loaded[loaded.index("nbtext") :] if "nbtext" in loaded else []
    assert done.returncode in (0, 1, 2)
    assert "nbtext.scoring.stored" in after
    return after


@pytest.mark.skipif(not engine().is_compiled, reason="there is no extension")
@pytest.mark.parametrize("arguments", LEAN, ids=" ".join)
def test_a_plain_message_loads_next_to_nothing(
    mail_model: Path, arguments: list[str]
) -> None:
    after = loaded_for(KNOWN, arguments, mail_model.parent)

    assert set(after).isdisjoint((*HEAVY, *SLOW_TO_IMPORT))
    assert len(after) < 30


@pytest.mark.skipif(not engine().is_compiled, reason="there is no extension")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_many_plain_mails_are_classified_without_numpy(
    mail_model: Path, n_jobs: int
) -> None:
    folder = mail_model.parent / "new"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number}.eml").write_text(f"Subject: money\n\nwinner {number}\n")
    arguments = ["classify", "-m", "mail.nbt", "--jobs", str(n_jobs), "new"]

    loaded = loaded_by(RUN.format(arguments=arguments), mail_model.parent)

    assert "nbtext.tokens.batch_reading" in loaded
    assert "numpy" not in loaded


@pytest.mark.skipif(not engine().is_compiled, reason="there is no extension")
@pytest.mark.parametrize(
    ("message", "asks"),
    [
        (
            b"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\nFrom: J\xf6rg <j@k.example>\n\nx\n",
            False,
        ),
        (
            b"Subject: x\nContent-Type: text/plain; charset=koi8-r\n\n\xcd\xc9\xd2\n",
            True,
        ),
        (b"Subject: =?gb2312?b?xOO6ww==?=\n\nx\n", True),
    ],
    ids=["words", "bytes", "other words"],
)
def test_words_and_charsets_load_little(
    mail_model: Path, message: bytes, asks: bool
) -> None:
    after = loaded_for(message, LEAN[0], mail_model.parent)

    assert ("nbtext.mail.charsets" in after) == asks
    assert set(after).isdisjoint((*HEAVY, *SLOW_TO_IMPORT))


def test_each_lint_exception_has_its_reason_beside_it() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("this is no checkout")
    marker = re.compile(r"#(?: ruff:)? noqa\b(?P<codes>:(?: ?[A-Z]+[0-9]+,?)*)?(.*)")
    bare = []
    for name in listed.stdout.split():
        for number, line in enumerate((ROOT / name).read_text("utf-8").splitlines(), 1):
            found = marker.search(line)
            if found is None:
                continue
            codes, reason = found.groups()
            if not codes or not re.search(r"\w{2}", reason):
                bare.append(f"{name}:{number}: {line.strip()}")
    assert not bare
