"""
A document for which there is not enough memory is named and skipped; the rest goes on.

Each command first runs without the document and without a limit. Its address space is
then limited to what it had, and some more, of which the document needs a multiple.
"""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from nbtext import train_on
from nbtext.cli import _status as status
from tests.waiting import PATIENCE

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="address spaces are limited as on Linux"
)

MB = 1 << 20
MORE = 48 * MB
"""What a command may have more than it needs for small documents."""

PROGRAM = """
import resource, sys
from nbtext.cli import main
if int(sys.argv[1]):
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
try:
    main(sys.argv[2:])
finally:
    print(open("/proc/self/status").read(), file=sys.stderr)
"""
SHORT_OF_MEMORY = "there is not enough memory to read it"
ENVIRONMENT = os.environ | {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}


def run(
    limit: int, *arguments: object, stdin: bytes = b""
) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-c", PROGRAM, limit, *arguments]
    return subprocess.run(
        list(map(str, command)),
        input=stdin,
        capture_output=True,
        env=ENVIRONMENT,
        check=False,
        timeout=PATIENCE,
    )


def limit_for(*arguments: object, stdin: bytes = b"") -> int:
    """Return the address space that a command needs, and some more."""
    done = run(0, *arguments, stdin=stdin)
    assert done.returncode == 0, done.stderr
    peak = re.search(rb"VmPeak:\s+(\d+) kB", done.stderr)
    assert peak
    return (int(peak[1]) << 10) + MORE


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small documents in small/; the same and a large one in large/; a model."""
    root = tmp_path_factory.mktemp("memory")
    random = Random(3)  # noqa: S311  a fixed seed, no secret
    words = " ".join(f"{random.getrandbits(24):x}" for _ in range(2_000_000))
    texts = {"spam": "buy cheap pills", "ham": "a meeting about the patch"}
    for size in ("small", "large"):
        for label, text in texts.items():
            (root / size / label).mkdir(parents=True)
            for number in range(20):
                path = root / size / label / f"{number}.txt"
                path.write_text(f"{text} {number * 'x'}")
    (root / "large" / "spam" / "1large.txt").write_text(words)
    trained = ["train", "--format", "text", "-m", root / "model.nbt", root / "small"]
    assert run(0, *trained).returncode == 0
    return root


def check_skipped(done: "subprocess.CompletedProcess[bytes]") -> None:
    said = done.stderr.decode()
    assert done.returncode == status.DATA, said
    assert said.count(SHORT_OF_MEMORY) == 1
    assert re.search(rf"skipped: \S+1large.txt: {SHORT_OF_MEMORY}", said)


COMMANDS: list[Sequence[str]] = [
    ("classify", "-m", "model.nbt"),
    ("classify", "-m", "model.nbt", "--jobs", "2"),
    ("eval", "-m", "model.nbt"),
    ("eval", "--folds", "2", "--format", "text"),
    ("train", "-m", "new.nbt", "--format", "text"),
    ("train", "-m", "new.nbt", "--format", "text", "--jobs", "2"),
    ("learn", "-m", "taught.nbt", "spam"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_document_that_does_not_fit_is_skipped(
    folders: Path, command: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folders)
    model = (folders / "model.nbt").read_bytes()
    Path("taught.nbt").write_bytes(model)
    Path("new.nbt").unlink(missing_ok=True)
    is_learning = command[0] == "learn"
    small, large = ("small/ham", "large/spam") if is_learning else ("small", "large")
    limit = limit_for(*command, small)
    Path("taught.nbt").write_bytes(model)
    Path("new.nbt").unlink(missing_ok=True)

    done = run(limit, *command, large)

    check_skipped(done)
    if command[0] == "classify":
        assert len(done.stdout.splitlines()) == 40
    if command[0] == "train":
        assert b"read 40 documents" in done.stderr


def test_a_message_that_does_not_fit_is_passed_on(folders: Path) -> None:
    large = (folders / "large" / "spam" / "1large.txt").read_bytes()
    many = limit_for("classify", "-m", folders / "model.nbt", folders / "small")

    done = run(many, "pass", "-m", folders / "model.nbt", stdin=large)

    assert done.returncode == status.TRY_AGAIN
    assert done.stdout == large
    assert SHORT_OF_MEMORY in done.stderr.decode()


def test_where_numpy_does_not_fit_is_no_fault_of_nbtext(folders: Path) -> None:
    # what prints the version loads no numpy, whose libraries take some 40 MB more
    limit = limit_for("--version") - MORE // 2

    done = run(limit, "dump", "-m", folders / "model.nbt")

    assert done.returncode == status.TRY_AGAIN, done.stderr
    assert b"Error: there is not enough memory; allow more" in done.stderr


def test_a_model_that_does_not_fit_is_an_error_of_the_run(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nbtext.scoring.batch_model
    from nbtext import classify_all, load
    from nbtext.errors import ModelMemoryError

    def fail(_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(nbtext.scoring.batch_model, "open_batch_model", fail)

    model = load(str(folders / "model.nbt"))

    with pytest.raises(ModelMemoryError, match=r"model\.nbt: there is not enough"):
        list(classify_all(model, [f"buy {n}" for n in range(50)]))


def test_a_verdict_without_room_for_numpy_is_none(
    folders: Path, tmp_path: Path
) -> None:
    """A long mail, which takes numpy, is neither judged nor lost."""
    mail = b"Subject: winner\n\n" + b"cheap pills "
    model = tmp_path / "c.nbt"
    trained = run(0, "train", "--score", "contrast", "-m", model, folders / "small")
    assert trained.returncode == 0
    limit = limit_for("pass", "-m", model, stdin=mail)
    long_mail = mail * 100_000

    passed = run(limit, "pass", "-m", model, stdin=long_mail)
    judged = run(limit, "classify", "--is", "spam", "-m", model, stdin=long_mail)

    assert passed.returncode == status.TRY_AGAIN, passed.stderr
    assert passed.stdout == long_mail
    assert judged.returncode == status.DATA
    assert SHORT_OF_MEMORY in judged.stderr.decode()


LONG = 128 * MB


def sparse(path: Path, start: bytes) -> Path:
    """Write a file of LONG bytes, of which all but the start are NULs."""
    with path.open("wb") as file:
        file.write(start)
        file.truncate(LONG)
    return path


BODY = b"Subject: winner\n\ncheap pills "
HEADER = b"X-A: 1\nX-B:"


@pytest.mark.parametrize(
    ("command", "field", "start", "has_empty_line"),
    [
        (["pass", "-m"], b"X-NBText", BODY, False),
        (["pass", "-m"], b"X-NBText", b"", True),
        (["pass", "-m"], b"X-NBText", HEADER, True),
        (["bogofilter", "-pe", "--model"], b"X-Bogosity", BODY, False),
        (["bogofilter", "-pe", "--model"], b"X-Bogosity", HEADER, True),
        (["bogofilter", "-peM", "--model"], b"X-Bogosity", BODY, False),
        (["pass", "--unsure", "0.9", "-m"], b"", BODY, False),
        (["pass", "--no-such-option", "-m"], b"", HEADER, False),
    ],
    ids=[
        "a body",
        "no header",
        "a header without end",
        "bogofilter",
        "bogofilter, a header",
        "an mbox",
        "no model",
        "no option",
    ],
)
def test_what_is_longer_than_memory_is_passed_on(
    tmp_path: Path,
    command: list[str],
    field: bytes,
    start: bytes,
    has_empty_line: bool,
) -> None:
    pairs = [("spam", b"Subject: a\n\ncheap pills"), ("ham", b"Subject: b\n\nlunch")]
    model = tmp_path / "m.nbt"
    train_on(pairs, str(model))
    if not field:
        model = tmp_path / "none.nbt"
    long = sparse(tmp_path / "long", start)
    shell = '"$@" < long > passed'

    done = subprocess.run(
        ["sh", "-c", shell, "sh", sys.executable, "-c", PROGRAM, "0", *command, model],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )

    assert done.returncode == (0 if field else status.TRY_AGAIN), done.stderr
    peak = re.search(rb"VmHWM:\s+(\d+) kB", done.stderr)
    assert peak
    assert int(peak[1]) << 10 < LONG
    passed = (tmp_path / "passed").read_bytes()
    if field:
        ours = re.search(field + rb": [^\n]+\n" + b"\n" * has_empty_line, passed)
        assert ours
        passed = passed[: ours.start()] + passed[ours.end() :]
    assert passed == long.read_bytes()


@pytest.mark.parametrize("command", [["pass", "-m"], ["bogofilter", "-pe", "--model"]])
def test_a_message_that_is_added_to_its_own_file_has_an_end(
    folders: Path, tmp_path: Path, command: list[str]
) -> None:
    start = b"Subject: winner\n\ncheap pills"
    mail = start + bytes(17 * MB)
    path = tmp_path / "mail"
    path.write_bytes(mail)

    with path.open("rb") as source, path.open("ab") as target:
        subprocess.run(
            [sys.executable, "-m", "nbtext", *command, folders / "model.nbt"],
            stdin=source,
            stdout=target,
            check=True,
            timeout=PATIENCE,
        )

    both = path.read_bytes()
    assert both.startswith(mail + b"Subject: winner\nX-")
    assert both.endswith(b"\n\ncheap pills" + bytes(17 * MB))
    assert len(both) < 2 * len(mail) + 200
