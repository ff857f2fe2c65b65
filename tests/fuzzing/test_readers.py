"""Both readers of mail agree on changed mails; the compiled one with sanitizers."""

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
from nbtext.tokens.key_reading import read_keys

own = instrumented.use(Path(sys.argv[1]))
large = mails.PLAIN + b"<a>caf\\xe9 &lt; $5 </a>" * 20_000
html = large.replace(b"Subject", b"Content-Type: text/html\\nSubject", 1)
refused = 0
for settings in settings_of_all():
    for data in [*mails.seeds(), large, html]:
        document = Document("fuzzed", (data,))
        expected = read_keys(document, settings)
        n = 0
        while True:
            n += 1
            compiled.mail_reader.cache_clear()
            own.fail_at(n)
            try:
                found = read_keys(document, settings)
            except (NoMemoryError, MemoryError):
                refused += 1
                continue
            finally:
                is_over = own.fail_at(-1) > 0
            assert found == expected
            break
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


def fuzz(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fuzz.readers", "--kept", str(folder), *flags]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE
    )


def test_a_short_run_with_sanitizers_finds_nothing(tmp_path: Path) -> None:
    done = fuzz(tmp_path, "--runs", str(RUNS), "--seconds", "600")

    assert done.returncode == 0, done.stderr
    counted = re.search(
        rf"{RUNS} inputs, (\d+) read compiled, (\d+) edges", done.stderr
    )
    assert counted, done.stderr
    assert int(counted[1]) > RUNS // 2
    assert int(counted[2]) > 1000
    assert not list(tmp_path.glob("crash-*"))


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
