"""A model that something else than a crash has cut short: warned of, never hidden."""

from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nbtext.store import open_model
from nbtext.store.cut_short import END_MISSING
from tests.build import HAM, SPAM, mail

if TYPE_CHECKING:
    from tests.cli.conftest import Run

NEW = mail(31, HAM)


@pytest.fixture
def cut(run: "Run", model: Path) -> Path:
    """A model of sixteen documents that has learnt two more, and lost its end."""
    Path("new").mkdir()
    for number in (20, 21):
        Path("new", f"{number}.eml").write_bytes(mail(number, SPAM))
    assert run("learn", "-q", "-m", model, "spam", "new").status == 0
    contents = model.read_bytes()
    Path("whole.nbt").write_bytes(contents)
    model.write_bytes(contents[:-100])
    return model


@pytest.mark.parametrize(
    "arguments",
    [
        ["learn", "ham"],
        ["learn", "ham", "31.eml"],
        ["learn", "ham", "--json", "31.eml"],
        ["learn", "ham", "many"],
        ["learn", "ham", "nothing"],
        ["forget"],
        ["undo"],
        ["policy", "--prior", "spam=0.2"],
        ["policy", "--clear"],
        ["compact"],
        ["rename", "ham=good"],
        ["prune"],
    ],
    ids=" ".join,
)
def test_who_would_write_it_is_refused(
    run: "Run", cut: Path, arguments: list[str]
) -> None:
    Path("31.eml").write_bytes(NEW)
    for name in ("nothing", "many"):
        Path(name).mkdir()
    for number in range(40, 60):
        Path("many", f"{number}.eml").write_bytes(mail(number, HAM))
    before = cut.read_bytes()

    status, out, err = run(*arguments, "-m", cut, stdin=NEW)

    assert (status, out) == (65, "")
    assert f"Error: {cut}: damaged at byte " in err
    assert f"{END_MISSING}; missing at least: spam 2; restore a copy, or " in err
    assert "with `nbtext check --repair`: ham 8, spam 8\n" in err
    assert cut.read_bytes() == before


@pytest.mark.parametrize("action", ["-s", "-n", "-S", "-N", "-u"])
def test_bogofilter_does_not_register(run: "Run", cut: Path, action: str) -> None:
    before = cut.read_bytes()

    status, out, err = run("bogofilter", action, "--model", cut, "-p", stdin=NEW)

    assert (status, out) == (3, NEW.decode())
    assert f"Error: {cut}: damaged at byte " in err
    assert END_MISSING in err
    assert cut.read_bytes() == before


def test_what_is_left_is_not_merged_nor_replaced_unasked(
    run: "Run", model: Path, cut: Path
) -> None:
    before = cut.read_bytes()

    merged = run("merge", "-o", "both.nbt", cut, "whole.nbt")
    trained = run("train", "-m", model, "spam=new", "ham=new")
    replaced = run("train", "--replace", "-m", model, "spam=new", "ham=new")

    assert merged.status == 65
    assert not Path("both.nbt").exists()
    assert trained.status != 0
    assert "; nothing was replaced, which takes --replace\n" in trained.err
    assert before != model.read_bytes()
    assert replaced.status == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["classify"],
        ["classify", "--is", "ham"],
        ["info"],
        ["pass"],
        ["why"],
        ["top"],
        ["dump"],
        ["policy"],
        ["tokens"],
        ["prune", "--dry-run"],
        ["eval", "--seen", "spam=new"],
    ],
    ids=" ".join,
)
def test_readers_go_on_and_warn(run: "Run", cut: Path, arguments: list[str]) -> None:
    status, out, err = run(*arguments, "-m", cut, stdin=NEW)

    assert status == 0
    assert out or arguments[0] in ("prune", "policy")
    size = open_model(str(cut)).size
    assert (
        f"WARNING: {cut}: the table at byte {size} is passed over: {END_MISSING}; "
        "missing at least: spam 2; see `nbtext check`\n"
    ) in err
    assert "not written whole" not in err


def test_bogofilter_decides_and_warns(run: "Run", cut: Path) -> None:
    status, out, err = run("bogofilter", "-v", "--model", cut, stdin=NEW)

    assert status == 1
    assert out
    assert err.startswith(f"WARNING: {cut}: the table at byte ")


def test_a_repaired_model_can_be_written_again(run: "Run", cut: Path) -> None:
    run("check", "--repair", "-o", "saved.nbt", "-m", cut)

    assert run("learn", "ham", "-m", "saved.nbt", stdin=NEW).status == 0
    assert run("classify", "-m", "saved.nbt", stdin=NEW).err == ""


def test_it_is_seen_while_somebody_holds_the_lock(run: "Run", cut: Path) -> None:
    with cut.open("r+b") as file:
        flock(file, LOCK_EX)
        found = open_model(str(cut))
        merged = run("merge", cut, cut, "-o", "both.nbt")

    assert found.is_cut_short
    assert merged.status == 65
    assert not Path("both.nbt").exists()


@pytest.mark.parametrize("n_zeros", [1, 63, 64, 640])
def test_a_table_behind_an_unfinished_one_is_not_dropped(
    run: "Run", model: Path, n_zeros: int
) -> None:
    whole = model.read_bytes()
    model.write_bytes(whole + b"\0" * n_zeros + whole)
    Path("31.eml").write_bytes(NEW)

    learnt = run("learn", "-m", model, "ham", "31.eml")

    assert learnt.status == 65
    assert "ends within another one" in learnt.err
    assert run("check", "-m", model).status == 65
    assert model.read_bytes() == whole + b"\0" * n_zeros + whole
