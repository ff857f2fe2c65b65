"""docs/text-form.md says what `nbtext dump` writes and `nbtext load` reads."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nbtext import train_on
from nbtext.document import Document
from nbtext.learning import LearnRequest
from nbtext.store import open_model, read_contents
from nbtext.store.writing import replace_file
from nbtext.textform import counts as textcounts
from nbtext.textform import dumping, load_text, text_lines
from nbtext.textform import header as textheader
from nbtext.textform import lines as textlines
from nbtext.textform import records as textrecords
from tests.build import FEW_TERMS, learnt
from tests.waiting import PATIENCE

PAGE = (Path(__file__).parents[2] / "docs" / "text-form.md").read_text("utf-8")
FIRST, REST = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = re.findall(r"```sh\n(.*?)\n```", PAGE, re.DOTALL)


def compact(text: str) -> str:
    return json.dumps(json.loads(text), separators=(",", ":"))


EXAMPLE = f"{compact(FIRST)}\n{REST}"


def dumped(path: Path) -> list[str]:
    return list(text_lines(read_contents(open_model(str(path))), str(path)))


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The model of the example, made of its documents."""
    path = tmp_path / "example.nbt"
    pairs = [("ham", "lunch on friday"), ("spam", "cheap cheap")]
    train_on(pairs, str(path), overrides=FEW_TERMS)
    learnt(LearnRequest(str(path), "ham"), [Document("new", (b"lunch",), None)])
    return path


def test_the_example_is_what_dump_writes(example: Path) -> None:
    first, *rest = dumped(example)

    assert rest == REST.splitlines()
    assert without_times(first) == without_times(FIRST)
    assert list(json.loads(first)) == list(json.loads(FIRST))


def without_times(text: str) -> Any:
    plain = json.loads(text)
    history = plain["history"]
    assert re.match(r"\d{4}-\d\d-\d\dT", history["trained"])
    return plain | {"history": history | {"trained": "", "learnt": {}}}


def test_the_example_is_what_load_reads(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    loaded = load_text(io.BytesIO(EXAMPLE.encode()), "example")

    replace_file(str(path), loaded.contents.pack())

    assert dumped(path) == EXAMPLE.splitlines()


def test_the_keys_are_those_of_the_page() -> None:
    for keys in (
        textheader.HEADER, textcounts.TERM, textcounts.DOCUMENT, textrecords.UNDO,
    ):  # fmt: skip
        rows = "\n".join(rf"\| `{key}` \| .*" for key in keys)
        assert re.search(rows, PAGE), keys
    for key in (*textheader.CLASS, *textheader.HISTORY, *textrecords.MORE):
        assert f"`{key}`" in PAGE


def test_the_limits_are_those_of_the_page() -> None:
    assert f"at most {textlines.LONGEST:,} bytes" in PAGE
    assert f"more than {dumping.PART:,} terms" in PAGE
    assert f"version {textlines.VERSION}\n" in PAGE


ANSWERS = [
    "1\tbody\t1cd30792e8d8\n1\tbody\t0fe2a8c18557\n",
    '{"ham":6,"spam":3}\n',
]


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not there")
@pytest.mark.parametrize(
    ("command", "answer"),
    [*zip(COMMANDS, ANSWERS, strict=True)],
    ids=["terms", "occurrences"],
)
def test_what_the_page_does_with_jq_works(
    command: str, answer: str, example: Path
) -> None:
    program = example.parent / "nbtext"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m nbtext "$@"\n')
    program.chmod(0o700)
    environment = os.environ | {
        "PATH": f"{example.parent}:{os.environ['PATH']}",
        "NBTEXT_MODEL": str(example),
    }

    done = subprocess.run(
        ["sh", "-c", command],
        capture_output=True,
        check=False,
        env=environment,
        timeout=PATIENCE,
    )

    assert (done.stdout.decode(), done.stderr) == (answer, b"")
