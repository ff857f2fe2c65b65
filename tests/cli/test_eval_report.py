"""`nbtext eval --report`: a file that cannot be written costs no figure."""

import errno
import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from nbtext import evaluate_folds
from nbtext.sources import Options

if TYPE_CHECKING:
    from tests.cli.conftest import Run


@pytest.fixture
def unwritable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder that this process is told it cannot write to, though it may be root."""
    folder = tmp_path / "closed"
    folder.mkdir()
    access = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: str(path) != str(folder) and access(path, mode)
    )
    return "closed"


@pytest.mark.usefixtures("corpus")
def test_what_can_be_known_of_its_place_is_known_before_the_work(
    run: "Run", unwritable: str
) -> None:
    Path("folder.html").mkdir()
    Path("file").touch()

    for place, reason in (
        ("folder.html", "a file was expected, and a folder or device found"),
        ("file/r.html", f"{Path('file').resolve()} is no folder"),
        (
            f"{unwritable}/new/r.html",
            f"nothing can be written to the folder {Path(unwritable).resolve()}",
        ),
    ):
        command = ("eval", "--folds", 3, "--report", "r.md", "--report", place)
        status, out, err = run(*command, "spam", "ham")

        assert (status, out) == (73, "")
        assert err == (
            f"Error: {place}: the report cannot be written: {reason}; "
            "name another file with --report\n"
        )
    assert not Path("r.md").exists()


@pytest.mark.usefixtures("corpus")
def test_where_it_fails_the_results_are_printed(
    run: "Run", monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    command = ("eval", "--folds", 3, "spam", "ham")
    printed = run(*command).out
    monkeypatch.setattr("nbtext.files.replace_file", full)
    status, out, err = run(*command, "--report", "r.md", "--report", "r.csv")

    assert (status, out) == (73, printed)
    assert err == (
        "Error: r.md: the report cannot be written: No space left on device; "
        "make room there; r.csv: the report cannot be written: No space left on "
        "device; make room there; name another file with --report\n"
    )


@pytest.mark.usefixtures("model")
def test_no_report_takes_the_place_of_what_is_read(run: "Run") -> None:
    rows = [{"label": "ab"[n % 2], "text": f"{'ab'[n % 2]} {n}"} for n in range(20)]
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    Path("m.jsonl").symlink_to("mail.nbt")
    Path("link.jsonl").hardlink_to("rows.jsonl")
    Path("ham/r.md").write_text("a message")
    before = [path.read_bytes() for path in map(Path, ("rows.jsonl", "mail.nbt"))]
    folds = ("eval", "--folds", 2, "--report")

    for command in (
        (*folds, "rows.jsonl", "rows.jsonl"),
        (*folds, "./link.jsonl", "rows.jsonl"),
        (*folds, "ham/r.md", "ham", "spam"),
        (*folds, "ham/r.md", "ham=ham", "spam=spam"),
        ("eval", "--report", "m.jsonl", "-m", "mail.nbt", "ham", "spam"),
        ("eval", "--report", "m.jsonl", "-m", "x", "--against", "mail.nbt", "ham"),
    ):
        status, out, err = run(*command)
        assert (status, out) == (73, "")
        reason = "it is there, and among what is read; name another file with --report"
        assert err.endswith(f"the report cannot be written: {reason}\n")
    twice = run(*folds, "a.md", "--report", "./a.md", "rows.jsonl")

    assert (twice.status, Path("a.md").exists()) == (73, False)
    assert "another report is to go there" in twice.err
    after = [path.read_bytes() for path in map(Path, ("rows.jsonl", "mail.nbt"))]
    assert after == before
    assert run(*folds, "new.jsonl", "rows.jsonl").status == 0


@pytest.mark.usefixtures("corpus")
def test_folders_of_a_report_are_made(run: "Run") -> None:
    assert run("eval", "--report", "new/r.md", "--folds", 3, "spam", "ham").status == 0

    assert Path("new/r.md").read_text().startswith("# nbtext: evaluation\n")


def lines_of(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text("ascii").splitlines()]


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    "how", [("-m", "mail.nbt"), ("--folds", 4), ("--replay", "--order", "name")]
)
def test_what_was_decided_about_each_document_is_what_the_figures_are_of(
    run: "Run", how: tuple[object, ...]
) -> None:
    command = ("eval", "--json", *how, "--report", "d.jsonl", "spam", "ham")
    status, out, _ = run(*command)
    found, lines = json.loads(out), lines_of("d.jsonl")

    assert status == 0
    assert len(lines) == found["documents"] == 16
    assert {line["name"].partition("/")[0] for line in lines} == {"spam", "ham"}
    assert all(line["name"].startswith(line["truth"]) for line in lines)
    right = sum(line["label"] == line["truth"] for line in lines)
    assert right == found["correct"]
    losses = [-math.log(line["posterior"][line["truth"]]) for line in lines]
    assert math.fsum(losses) / 16 == pytest.approx(found["log_loss"])
    folds = {line.get("fold") for line in lines}
    assert folds == ({1, 2, 3, 4} if "--folds" in how else {None})


@pytest.mark.usefixtures("model")
def test_lines_have_the_keys_and_values_that_classify_prints(run: "Run") -> None:
    run("eval", "--seen", "-m", "mail.nbt", "--report", "d.jsonl", "spam", "ham")
    printed = run("classify", "--json", "-m", "mail.nbt", "spam", "ham").out

    wanted = [json.loads(line) for line in printed.splitlines()]
    lines = lines_of("d.jsonl")
    assert [line["name"] for line in lines] == [line["name"] for line in wanted]
    for line, of_classify in zip(lines, wanted, strict=True):
        assert line.pop("truth") == line["name"].partition("/")[0]
        assert line == {key: of_classify[key] for key in line}


def test_the_library_tells_the_same_of_rows_with_an_id(run: "Run") -> None:
    rows = [(n, ("cheap pills", "lunch today")[n % 2], "ab"[n % 2]) for n in range(40)]
    table = "".join(f"{n},{text} {n // 4},{label}\n" for n, text, label in rows)
    Path("t.csv").write_text(f"id,text,label\n{table}")

    command = ("eval", "--folds", 5, "--id-column", "id", "--report", "d.jsonl")
    assert run(*command, "t.csv").status == 0

    options = Options(id_column="id")
    found = evaluate_folds(["t.csv"], 5, options=options)
    assert [one.as_dict() for one in found.judged()] == lines_of("d.jsonl")
    assert [one.identity for one in found.judged()] == [str(n) for n in range(40)]
    assert [one.truth for one in found.judged()] == ["a", "b"] * 20
