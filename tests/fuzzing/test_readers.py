"""Compiled and not, what reads mail and models agrees; with sanitizers in C."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz import instrumented
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
RUNS = 400
MODELS = 150
CALLS = 4000

pytestmark = pytest.mark.skipif(
    not instrumented.is_possible(), reason="there is no gcc, or no headers of Python"
)

FAILING = """
import sys
from pathlib import Path

from fuzz import instrumented, mails
from fuzz.readers import settings_of_all
from nbtext.document import Document
from nbtext.errors import NoMemoryError
from nbtext.tokens import compiled
from nbtext.tokens.batch_reading import read_together
from nbtext.tokens.key_reading import read_keys

own = instrumented.use(Path(sys.argv[1]))
large = mails.PLAIN + b"<a>caf\\xe9 &lt; $5 </a>" * 20_000
html = large.replace(b"Subject", b"Content-Type: text/html\\nSubject", 1)
refused = 0


def terms(documents, settings):
    batch = read_together(documents, settings)
    arrays = [(view.keys, view.counts, view.starts) for view in batch.views]
    lists = [[array.tolist() for array in view] for view in arrays]
    read = batch.documents, batch.digests, batch.fingerprints, batch.are_mail
    return lists, read, batch.others


def try_all(read, documents, settings):
    global refused
    expected = read(documents, settings)
    n = 0
    while True:
        n += 1
        compiled.reader.cache_clear()
        own.fail_at(n)
        try:
            found = read(documents, settings)
        except (NoMemoryError, MemoryError):
            refused += 1
            continue
        finally:
            own.fail_at(-1)
        assert found == expected
        break


for settings in settings_of_all():
    documents = [Document("", (data,)) for data in [*mails.seeds(), large, html]]
    for document in documents:
        try_all(read_keys, document, settings)
    try_all(terms, documents[-4:], settings)
print(refused)
"""

FAILING_TO_OPEN = """
import sys
from pathlib import Path

from fuzz import instrumented, models, stored
from nbtext.scoring.stored import open_stored
from nbtext.tokens import kinds

own = instrumented.use(Path(sys.argv[1]))
path = Path(sys.argv[2])
refused = 0
for data in models.seeds():
    path.write_bytes(data)
    kinds._tables.clear()
    expected = open_stored(str(path))
    n = 0
    while True:
        n += 1
        kinds._tables.clear()
        own.fail_at(n)
        try:
            found = open_stored(str(path))
            decided = found and found.classify(stored.MESSAGES[0])
        except MemoryError:
            refused += 1
            continue
        finally:
            is_over = own.fail_at(-1) > 0
        assert (found is None) == (expected is None)
        if found:
            again = expected.classify(stored.MESSAGES[0])
            assert (decided.printed, decided.known) == (again.printed, again.known)
        break
print(refused)
"""

FAILING_CALLS = """
import sys
from pathlib import Path

from fuzz import calls, instrumented, models

own = instrumented.use(Path(sys.argv[1]))
from nbtext import _compiled

try:
    from _testcapi import remove_mem_hooks, set_nomemory
except ImportError:  # then Python's own requests do not fail
    set_nomemory = remove_mem_hooks = lambda *_: None

calls._models.extend(models.seeds())
refused = 0
for made in calls.CALLS.values():
    function, sound = made(_compiled)
    for n in range(1, 41):
        for begin, end in (
            (lambda: own.fail_at(n), lambda: own.fail_at(-1)),
            (lambda: set_nomemory(n - 1, n), remove_mem_hooks),
            (lambda: set_nomemory(n - 1, 0), remove_mem_hooks),
        ):
            begin()
            try:
                function(*sound)
            except MemoryError:
                end()
                refused += 1
            else:
                end()
    function(*sound)
print(refused)
"""


def test_memory_may_be_short_at_every_request(tmp_path: Path) -> None:
    library = instrumented.build(tmp_path / "built")

    done = subprocess.run(
        [sys.executable, "-c", FAILING, str(library)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=PATIENCE,
    )

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100

    done = subprocess.run(
        [sys.executable, "-c", FAILING_TO_OPEN, str(library), str(tmp_path / "m.nbt")],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=PATIENCE,
    )

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20

    done = subprocess.run(
        [sys.executable, "-c", FAILING_CALLS, str(library)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=PATIENCE,
    )

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 200


def fuzz(target: str, library: Path, *flags: str) -> str:
    """Fuzz with an extension that was built here, and return what is reported."""
    command = [sys.executable, "-m", f"fuzz.{target}", "--seconds", "600", *flags]
    own = instrumented.preloaded() | {"NBTEXT_FUZZED_EXTENSION": str(library)}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | own,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_a_short_run_with_sanitizers_finds_and_leaves_nothing(tmp_path: Path) -> None:
    library = instrumented.build(
        tmp_path / "built", *instrumented.SANITIZERS, *instrumented.COVERAGE
    )
    kept = tmp_path / "kept"
    kept.mkdir()

    of_mail = fuzz("readers", library, "--kept", str(kept), "--runs", str(RUNS))
    of_models = fuzz("stored", library, "--kept", str(kept), "--runs", str(MODELS))
    of_calls = fuzz("calls", library, "--runs", str(CALLS))

    counted = re.search(rf"{RUNS} inputs, (\d+) read compiled, (\d+) edges", of_mail)
    decided = re.search(rf"{MODELS} models, (\d+) decisions, (\d+) lessons", of_models)
    assert counted
    assert decided
    assert int(counted[1]) > RUNS // 2
    assert int(counted[2]) > 1000
    assert int(decided[1]) > 20
    assert f"{CALLS} calls" in of_calls
    assert not list(kept.glob("crash-*"))

    new = [one for one in kept.iterdir() if re.fullmatch("[0-9a-f]{40}", one.name)]
    assert new

    fuzz("readers", library, "--runs", str(RUNS))  # the same, and no folder for it

    assert not [one for one in ROOT.iterdir() if re.fullmatch("[0-9a-f]{40}", one.name)]


def test_a_difference_would_be_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "compiled"
    sources.mkdir()
    for source in instrumented.SOURCES.iterdir():
        text = source.read_text()
        if source.name == "markup.c":
            assert "{\"amp;\", '&'}" in text
            text = text.replace("{\"amp;\", '&'}", "{\"amp;\", 'x'}")
        (sources / source.name).write_text(text)
    monkeypatch.setattr(instrumented, "SOURCES", sources)
    library = instrumented.build(tmp_path / "built")
    mail = tmp_path / "mail"
    mail.write_bytes(b"Subject: x\nContent-Type: text/html\n\na&amp;b <p> c\n")
    script = (
        "import sys; from pathlib import Path; from fuzz import instrumented, readers;"
        "instrumented.use(Path(sys.argv[1]));"
        "readers.check(Path(sys.argv[2]).read_bytes(), readers.settings_of_all()[0])"
    )

    done = subprocess.run(
        [sys.executable, "-c", script, str(library), str(mail)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ,
    )

    assert done.returncode == 1
    assert "the keys of the view body are the same" in done.stderr
