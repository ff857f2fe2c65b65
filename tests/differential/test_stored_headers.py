"""What the compiled engine believes of a header, the specification does not refuse."""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from fuzz import forge
from nbtext.document import Document
from nbtext.errors import ModelFileError, SettingsError
from nbtext.learning import LearnRequest
from nbtext.learning.stored import learn_stored
from nbtext.policy import Policy
from nbtext.scoring import Classifier, load_model
from nbtext.scoring.stored import open_stored
from nbtext.tokens.engine import engine
from nbtext.upkeep.deciding import set_policy
from tests.build import HAM, SPAM, learnt, mail
from tests.differential.test_stored import Run, run, trained

__all__ = ["run", "trained"]  # fixtures

if not engine().is_compiled:
    pytest.skip("there is no extension", allow_module_level=True)

WRONG: tuple[Any, ...] = (
    None,
    True,
    -1,
    7,
    1 << 62,
    1 << 63,
    0.5,
    "x",
    "\ud800",
    b"x",
    [],
    [0],
    [0] * 4,
    {},
    {"": 1},
)
ONE_VALUE = {"version", "written", "classes", "arrays"}
"""What nothing else of this kind can stand for; "written" may move the next table."""

NEW = mail(77, SPAM)


@pytest.fixture
def path(trained: Path, tmp_path: Path) -> Path:
    """A model that was taught: tables of each kind."""
    path = tmp_path / "model.nbt"
    path.write_bytes(trained.read_bytes())
    set_policy(str(path), Policy(threshold=0.9))
    for number, words in enumerate((HAM, SPAM), 88):
        label = ("ham", "spam")[number % 2]
        assert learn_stored(str(path), label, [mail(number, words)]) == ("learnt",)
    return path


def changed(plain: Any) -> Iterator[tuple[str, Any]]:
    """Yield values that differ in one place each, and what is other there."""
    for name in (*plain,) if type(plain) is dict else range(min(len(plain), 2)):
        for wrong in WRONG:
            copy = deepcopy(plain)
            copy[name] = wrong
            yield f"{name} is {wrong!r}", copy
        copy = deepcopy(plain)
        del copy[name]
        yield f"no {name}", copy
        if type(plain[name]) in (dict, list):
            for what, inner in changed(plain[name]):
                copy = deepcopy(plain)
                copy[name] = inner
                yield f"{name}: {what}", copy
    more = {**plain, "a": 1} if type(plain) is dict else [*plain, *plain[-1:]]
    yield "more", more


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize(
    "key",
    [
        "version", "writer", "written", "settings", "scoring", "classes", "documents",
        "totals", "terms", "calibrations", "history", "policy", "texts", "arrays",
    ],
)  # fmt: skip
def test_a_header_that_is_refused_is_believed_by_neither(
    path: Path, key: str, number: int
) -> None:
    tables = forge.taken_apart(path.read_bytes())
    header = tables[number].header
    if key not in header:
        return  # texts have none but the first table
    n_believed = 0
    for what, value in changed({key: header[key]}):
        if key not in value:
            continue
        forged = forge.Table({**header, **value}, tables[number].arrays)
        tried = [*tables[:number], forged, *tables[number + 1 :]]
        path.write_bytes(forge.put_together(tried))
        if open_stored(str(path)) is None:
            continue
        n_believed += 1
        try:
            Classifier(load_model(str(path)))
        except (ModelFileError, SettingsError) as error:
            pytest.fail(f"{what}: {error}")
        if learn_stored(str(path), "spam", [NEW]):
            path.write_bytes(forge.put_together(tried))
            assert learn(path) == "learnt", what
    assert n_believed > 0 or key in ONE_VALUE


@pytest.mark.parametrize("text", ["subject", "\ud800", b"\xff"])
def test_a_view_of_what_is_not_known_here_is_left_to_the_specification(
    path: Path, text: str | bytes
) -> None:
    tables = forge.taken_apart(path.read_bytes())
    for table in tables:
        table.header["settings"]["views"][1]["text"] = text
    path.write_bytes(forge.put_together(tables))

    assert open_stored(str(path)) is None
    assert learn_stored(str(path), "spam", [NEW]) is None
    with pytest.raises(ModelFileError):
        load_model(str(path))


@pytest.mark.parametrize(
    ("command", "failed"), [("pass -m", 75), ("bogofilter -p --model", 3)]
)
def test_mail_goes_on_whatever_a_view_is(
    run: Run, path: Path, command: str, failed: int
) -> None:
    tables = forge.taken_apart(path.read_bytes())
    for table in tables:
        table.header["settings"]["views"][1]["text"] = "subject"
    path.write_bytes(forge.put_together(tables))

    status, out, err = run([*command.split(), str(path)], NEW, is_pipe=True)

    assert (status, out) == (failed, NEW)
    assert "text is 'subject'" in err


@pytest.mark.parametrize("step", [-1, 0])
def test_bins_that_do_not_ascend_are_believed_by_neither(path: Path, step: int) -> None:
    tables = forge.taken_apart(path.read_bytes())
    counts = tables[0].header["calibrations"][0]["counts"]
    bin_, *rest = counts[-1]
    counts.append([bin_ + step, *rest])
    path.write_bytes(forge.put_together(tables))

    assert open_stored(str(path)) is None
    assert learn_stored(str(path), "spam", [NEW]) is None
    with pytest.raises(ModelFileError, match="do not ascend"):
        learn(path)


def learn(path: Path) -> str:
    """Learn a mail by the specification, and return what became of it."""
    return learnt(LearnRequest(str(path), "spam"), [Document("new", (NEW,))])[0].outcome


@pytest.mark.parametrize("column", ["occurrences", "documents"])
def test_what_is_taken_away_and_was_never_counted_is_damage_to_both(
    run: Run, path: Path, column: str
) -> None:
    new = NEW + b"neverbefore " * 3
    assert learn_stored(str(path), "spam", [new]) == ("learnt",)
    assert run(["-m", str(path), "forget"], new, is_pipe=True)[0] == 0
    tables = forge.taken_apart(path.read_bytes())
    arrays = tables[-2].arrays
    for place, (name, _, _) in enumerate(tables[-2].header["arrays"]):
        if name.endswith(f".{column}"):
            arrays[place] = bytes(len(arrays[place]))
    path.write_bytes(forge.put_together(tables))
    stored = open_stored(str(path))

    assert stored is not None
    assert stored.classify(new) is None
    with pytest.raises(ModelFileError, match="below zero"):
        [*Classifier(load_model(str(path))).classify([Document("-", (new,))])]
