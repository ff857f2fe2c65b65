"""A document that was counted any number of times goes as one counted once does."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from nbtext import train_on
from nbtext.document import Document
from nbtext.learning import LearnRequest
from nbtext.learning.in_bulk import COPIES
from nbtext.scoring import load_model
from nbtext.scoring.stored import FEW
from nbtext.store import open_model, read_contents
from nbtext.textform import load_text, text_lines
from tests.build import bounded, learnt

TEXTS = [f"garden number{n} shared shared" for n in range(FEW + 2)]


def multiplied(counts: Any, times: int) -> Any:
    if isinstance(counts, dict):
        return {name: multiplied(one, times) for name, one in counts.items()}
    return [times * count for count in counts]


@pytest.fixture
def path(tmp_path: Path, times: int) -> Path:
    """Make a model that has counted each document of one class so many times."""
    path = tmp_path / "m.nbt"
    train_on([("a", text) for text in TEXTS] + [("b", "lunch")] * 30, str(path))
    lines = []
    for line in text_lines(read_contents(open_model(str(path))), str(path)):
        plain = json.loads(line)
        if "term" in plain and "a" in plain["counts"]:
            plain["counts"]["a"] = multiplied(plain["counts"]["a"], times)
        elif plain.get("class") == "a":
            plain["count"] *= times
        elif "classes" in plain:
            of_class = plain["classes"]["a"]
            of_class["documents"] *= times
            of_class["totals"] = multiplied(of_class["totals"], times)
        lines.append(json.dumps(plain))
    loaded = load_text(io.BytesIO("\n".join(lines).encode() + b"\n"), "m.txt")
    path.write_bytes(b"".join(map(bytes, loaded.contents.pack())))
    return path


@pytest.mark.parametrize("times", [1, 2, COPIES, COPIES + 1, 1 << 16])
@pytest.mark.parametrize("label", [None, "b"])
def test_each_copy_goes(path: Path, label: str | None, times: int) -> None:
    assert load_model(str(path)).documents[0] == times * len(TEXTS)
    one_by_one = path.with_name("one.nbt")
    one_by_one.write_bytes(path.read_bytes())
    *some, last = [Document(text, (text.encode(),)) for text in TEXTS]

    with bounded(16):
        learnt(LearnRequest(str(path), label), some)
    for document in some:
        learnt(LearnRequest(str(one_by_one), label), [document])

    found, wanted = load_model(str(path)), load_model(str(one_by_one))
    assert found.documents == wanted.documents
    assert found.documents[0] == times
    assert found.totals == wanted.totals
    [result] = learnt(LearnRequest(str(path), label), [last])
    assert result.outcome == ("moved" if label else "forgotten")
