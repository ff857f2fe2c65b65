"""`nbtext learn`: what it learns, what it refuses, and what stands in its way."""

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nbtext.cli import _learn
from nbtext.errors import ModelWriteError
from nbtext.learning import LearnResult
from nbtext.store import open_model
from tests.build import maildir
from tests.cli.conftest import on_a_terminal
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.cli.conftest import Run
    from tests.conftest import Truth

NEW = b"From: a@x.example\nSubject: new cash prize\n\nmoney for the winner\n"
LUNCH = b"From: b@x.example\nSubject: lunch\n\nminutes of the meeting\n"


def documents(run: "Run", path: object) -> dict[str, int]:
    classes = json.loads(run("info", "--json", "-m", path).out)["classes"]
    return {name: counts["documents"] for name, counts in classes.items()}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MB, where this machine lets one mount it."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if mounted.returncode:
        pytest.skip(f"no disk can be mounted: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(disk: Path, leave: int) -> None:
    """Leave only so many bytes of a disk free."""
    with (disk / "fill").open("wb", buffering=0) as file:
        written = 0
        with suppress(OSError):
            while True:
                written += file.write(bytes(4096))
        file.truncate(written - leave)


def test_learn_takes_one_message_from_standard_input(
    process: "Run", model: Path
) -> None:
    before = documents(process, model)

    learnt = process("learn", "spam", "-m", model, stdin=NEW)

    assert learnt == (0, "", "learnt 1 document as spam\n")
    assert documents(process, model) == before | {"spam": before["spam"] + 1}


def test_learn_says_what_it_did_of_a_class_with_braces(run: "Run") -> None:
    Path("new.eml").write_bytes(NEW)

    learnt = run("learn", "--create", "a{0}{b}", "-m", "new.nbt", "new.eml")

    assert learnt == (0, "", "learnt 1 document as a{0}{b}\n")


def test_learn_tells_the_class_as_the_model_has_it(run: "Run") -> None:
    Path("new.eml").write_bytes(NEW)

    learnt = run(
        "learn", "--create", "caf\udce9", "-v", "--json", "-m", "new.nbt", "new.eml"
    )

    classes = json.loads(run("info", "--json", "-m", "new.nbt").out)["classes"]
    assert json.loads(learnt.out)["class"] == "caf\\xe9"
    assert list(classes) == ["caf\\xe9"]
    assert "new.eml: learnt as caf\\xe9\n" in learnt.err


def test_learn_counts_what_it_knows_no_second_time(run: "Run", model: Path) -> None:
    before = model.read_bytes()

    known = run("learn", "spam", "-m", model, "spam")

    assert known == (0, "", "8 documents known as spam already\n")
    assert model.read_bytes() == before


def test_learn_moves_a_document_that_is_in_another_class(
    run: "Run", model: Path
) -> None:
    moved = run("learn", "ham", "-v", "-m", model, "spam/3.eml")

    assert moved.status == 0
    assert moved.err == (
        f"model: {model}\nspam/3.eml: moved from spam to ham\nmoved 1 document to ham\n"
    )
    assert documents(run, model) == {"ham": 9, "spam": 7}


def test_learn_tells_a_program_what_it_did(run: "Run", model: Path) -> None:
    Path("new.eml").write_bytes(NEW)

    status, out, err = run(
        "learn", "spam", "-q", "--json", "-m", model, "new.eml", "ham/1.eml",
        "spam/1.eml", "gone.eml",
    )  # fmt: skip

    assert status == 66
    assert json.loads(out) == {
        "class": "spam", "learnt": 1, "moved": 1, "known": 1, "refused": 0, "empty": 0,
        "skipped": 1, "path": str(model),
    }  # fmt: skip
    assert err.startswith("skipped: gone.eml: no such file")


@pytest.mark.parametrize("quiet", ["-q", "--quiet"])
def test_learn_is_silent_if_it_is_asked_to_be(
    process: "Run", model: Path, quiet: str
) -> None:
    assert process("learn", "spam", quiet, "-m", model, stdin=NEW) == (0, "", "")


def test_learn_makes_a_model_only_if_it_is_asked_to(run: "Run") -> None:
    missing = run("learn", "spam", "-m", "new/m.nbt", stdin=NEW)
    made = run("learn", "spam", "--create", "-m", "new/m.nbt", stdin=NEW)

    assert missing == (
        66,
        "",
        "Error: new/m.nbt: no model there; make one with `nbtext train`, begin one "
        "with --create, or name another\n",
    )
    assert made == (0, "", "learnt 1 document as spam\n")
    assert documents(run, "new/m.nbt") == {"spam": 1}


@pytest.mark.parametrize("umask", ["000", "022", "777"])
def test_only_its_owner_may_read_a_model_that_was_learnt(
    process: "Run", tmp_path: Path, umask: str
) -> None:
    path = tmp_path / "m.nbt"
    wrap = f'umask {umask}; exec "$@"'
    for options in (["--create"], []):
        stdin = NEW + str(options).encode()
        learnt = process("learn", "spam", *options, "-m", path, stdin=stdin, wrap=wrap)
        assert learnt.status == 0

    assert process("compact", "-m", path, wrap=wrap).status == 0
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_symbolic_link_to_a_model_stays_one(run: "Run", model: Path) -> None:
    link = Path("link.nbt")
    link.symlink_to(model)

    learnt = run("learn", "spam", "-m", link, stdin=NEW)
    compacted = run("compact", "-q", "-m", link)

    assert (learnt.status, compacted.status) == (0, 0)
    assert link.is_symlink()
    assert documents(run, model) == {"ham": 8, "spam": 9}


def test_a_model_of_one_class_classifies_nothing_until_there_are_two(
    run: "Run",
) -> None:
    run("learn", "spam", "--create", "-m", "m.nbt", stdin=NEW)
    one = run("classify", "-m", "m.nbt", stdin=NEW)
    run("learn", "ham", "-m", "m.nbt", stdin=LUNCH)
    two = run("classify", "-m", "m.nbt", stdin=NEW)

    assert one == (
        65,
        "",
        "Error: m.nbt: the model knows only the class 'spam', and two are needed; "
        "teach it another with `nbtext learn CLASS`\n",
    )
    assert (two.status, two.err) == (0, "")
    assert two.out.startswith("spam\t")


def test_a_third_class_is_refused_with_what_to_run_instead(
    run: "Run", model: Path
) -> None:
    before = model.read_bytes()

    refused = run("learn", "list", "-m", model, stdin=NEW)

    assert refused.status == 65
    assert refused.out == ""
    assert refused.err.endswith("; run `nbtext train ham=... list=... spam=...`\n")
    assert model.read_bytes() == before


@pytest.mark.parametrize("label", ["?", "", "a\nb", "a\tb", "\x1b[31m"])
def test_a_class_has_a_name_that_can_be_read(
    run: "Run", model: Path, label: str
) -> None:
    before = model.read_bytes()

    refused = run("learn", label, "-m", model, stdin=NEW)

    assert (refused.status, refused.out) == (64, "")
    assert refused.err == (
        f"Error: a class cannot be called {label!r}; choose a name for people to read\n"
    )
    assert model.read_bytes() == before


@pytest.mark.usefixtures("corpus")
def test_a_model_without_a_ledger_learns_nothing(run: "Run") -> None:
    run("train", "-q", "--no-ledger", "-m", "m.nbt", "spam", "ham")

    refused = run("learn", "spam", "-m", "m.nbt", stdin=NEW)

    assert refused == (
        64,
        "",
        "Error: m.nbt: the model keeps no ledger, so nobody knows what it has counted; "
        "train it without --no-ledger to teach it\n",
    )


def test_on_a_terminal_learn_asks_for_a_source(model: Path) -> None:
    status, out, err = on_a_terminal("learn", "spam", "-m", str(model))

    assert (status, out) == (64, "")
    assert "Usage: nbtext learn" in err


def test_a_full_disk_costs_nothing_that_was_learnt(process: "Run", model: Path) -> None:
    before, size = documents(process, model), model.stat().st_size
    limit = f'ulimit -f {size // 512 + 1}; exec "$@"'

    failed = process("learn", "spam", "-m", model, stdin=NEW, wrap=limit)
    left = documents(process, model)
    noted = process("classify", "-m", model, stdin=NEW)
    again = process("learn", "spam", "-m", model, stdin=NEW)

    assert failed == (
        73,
        "",
        f"Error: {model}: the model cannot be written: File too large; it is as good "
        "as before, and nothing more was learnt; allow larger files (`ulimit -f`), or "
        "put it on another disk\n",
    )
    assert left == before
    assert noted.status == 0
    assert re.search(r"note: .*the last \d+ bytes are a table that was not", noted.err)
    assert again == (0, "", "learnt 1 document as spam\n")
    assert open_model(str(model)).cut == 0
    assert documents(process, model) == before | {"spam": before["spam"] + 1}


def test_a_disk_that_is_really_full_costs_nothing_that_was_learnt(
    process: "Run", model: Path, disk: Path
) -> None:
    there = disk / "m.nbt"
    there.write_bytes(model.read_bytes())
    learnt = process("learn", "spam", "-m", there, stdin=NEW)
    fill(disk, leave=0)
    before = documents(process, there)

    large = NEW + " ".join(map(str, range(3000))).encode()
    failed = process("learn", "spam", "-m", there, stdin=large)
    new = process("learn", "spam", "--create", "-m", disk / "n.nbt", stdin=large)
    left = documents(process, there)
    (disk / "fill").unlink()
    again = process("learn", "spam", "-m", there, stdin=large)

    assert learnt.status == 0
    assert (failed.status, new.status) == (73, 73)
    assert "No space left on device" in failed.err
    assert "No space left on device" in new.err
    assert left == before
    assert (again.status, again.err) == (0, "learnt 1 document as spam\n")
    assert [path.name for path in disk.iterdir()] == ["m.nbt"]


def test_a_disk_that_is_nearly_full_is_not_filled_by_what_fails(
    process: "Run", model: Path, disk: Path
) -> None:
    there = disk / "m.nbt"
    there.write_bytes(model.read_bytes())
    fill(disk, leave=1 << 16)
    free = os.statvfs(disk).f_bavail
    large = NEW + " ".join(map(str, range(9000))).encode()

    failed = process("learn", "spam", "-m", there, stdin=large)
    left = os.statvfs(disk).f_bavail
    small = process("learn", "spam", "-m", there, stdin=NEW)

    assert failed.status == 73
    assert left == free
    assert (small.status, small.err) == (0, "learnt 1 document as spam\n")


def test_what_was_learnt_before_a_failure_is_told(
    run: "Run", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_in_the_end(*_: object, **__: object) -> Iterator[list[LearnResult]]:
        yield [LearnResult("1", "learnt"), LearnResult("2", "learnt")]
        message = "m.nbt: the model cannot be written"
        raise ModelWriteError(message)

    monkeypatch.setattr(_learn, "learn_documents", fail_in_the_end)
    (tmp_path / "mails").mkdir()

    told = run("learn", "spam", "--json", "-m", "m.nbt", tmp_path / "mails")

    assert told.status == 73
    assert json.loads(told.out)["learnt"] == 2
    assert told.err.startswith("learnt 2 documents as spam\nError: m.nbt: the model")


def test_a_disk_that_may_only_be_read_is_named_as_the_reason(
    process: "Run", model: Path, disk: Path
) -> None:
    there = disk / "m.nbt"
    there.write_bytes(model.read_bytes())
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)

    failed = process("learn", "spam", "-m", there, stdin=NEW)
    compacted = process("compact", "-m", there)
    classified = process("classify", "-m", there, stdin=NEW)

    assert failed == (
        73,
        "",
        f"Error: {there}: the model cannot be written: it may only be read; it is as "
        f"good as before, and nothing more was learnt; see who may write to {there}\n",
    )
    assert compacted.status == 73
    assert "Read-only file system" in compacted.err
    assert (classified.status, classified.err) == (0, "")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write whatever it likes")
def test_a_file_that_may_only_be_read_is_named_as_the_reason(
    process: "Run", model: Path
) -> None:
    model.chmod(0o400)

    failed = process("learn", "spam", "-m", model, stdin=NEW)

    assert failed.status == 73
    assert "it may only be read" in failed.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write wherever it likes")
def test_in_a_folder_that_may_only_be_read_a_model_still_learns(
    process: "Run", model: Path
) -> None:
    model.parent.chmod(0o500)

    learnt = process("learn", "spam", "-m", model, stdin=NEW)
    compacted = process("compact", "-m", model)
    model.parent.chmod(0o700)

    assert learnt == (0, "", "learnt 1 document as spam\n")
    assert compacted.status == 73


def test_a_folder_that_has_vanished_is_an_error(process: "Run", tmp_path: Path) -> None:
    folder = tmp_path / "vanished"
    folder.mkdir()
    wrap = f'rmdir "{folder}"; exec "$@"'

    failed = process(
        "learn",
        "spam",
        "--create",
        "-m",
        "m.nbt",
        stdin=NEW,
        cwd=str(folder),
        wrap=wrap,
    )

    assert failed == (
        73,
        "",
        "Error: m.nbt: the model cannot be written: No such file or directory; what "
        "was there before is unchanged\n",
    )


@pytest.mark.parametrize(
    ("path", "reason"),
    [("spam", "Is a directory"), ("spam/1.eml/m.nbt", "Not a directory")],
)
@pytest.mark.usefixtures("corpus")
def test_what_is_no_file_cannot_be_taught(run: "Run", path: str, reason: str) -> None:
    failed = run("learn", "spam", "--create", "-m", path, stdin=NEW)

    assert failed == (
        74,
        "",
        f"Error: {path}: the model cannot be opened: {reason}; name a model file that "
        "you may read\n",
    )


def test_what_is_no_model_is_not_written_to(run: "Run") -> None:
    Path("letter.txt").write_text("no model")

    failed = run("learn", "spam", "--create", "-m", "letter.txt", stdin=NEW)

    assert (failed.status, failed.out) == (65, "")
    assert failed.err.startswith("Error: letter.txt: not an nbtext model")
    assert Path("letter.txt").read_text() == "no model"


@pytest.mark.parametrize("act", ["replace", "remove"])
def test_a_model_that_is_exchanged_while_documents_are_read(
    model: Path, process: "Run", act: str
) -> None:
    other = Path("other.nbt")
    assert process("learn", "ham", "--create", "-m", other, stdin=LUNCH).status == 0
    command = [sys.executable, "-m", "nbtext", "learn", "spam", "-m", str(model), "-"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as learning:
        assert learning.stdin is not None
        learning.stdin.write(NEW)
        learning.stdin.flush()
        if act == "replace":
            other.replace(model)
        else:
            model.unlink()
        _, err = learning.communicate(timeout=PATIENCE)

    if act == "remove":
        assert learning.returncode == 66
        assert b"no model there" in err
        return
    assert (learning.returncode, err) == (0, b"learnt 1 document as spam\n")
    assert documents(process, model) == {"ham": 1, "spam": 1}


def test_learning_goes_on_where_compacting_cannot(
    process: "Run", run: "Run", model: Path, disk: Path
) -> None:
    for number in range(64):
        stdin = NEW + b"%d" % number
        assert run("learn", "spam", "-q", "-m", model, stdin=stdin).status == 0
    there = disk / "m.nbt"
    there.write_bytes(model.read_bytes())
    fill(disk, leave=8192)

    learnt = process("learn", "spam", "-m", there, stdin=NEW + b"last")

    assert learnt == (0, "", "learnt 1 document as spam\n")
    assert documents(run, there)["spam"] == 8 + 64 + 1
    assert len(open_model(str(there)).tables) == 1 + 64 + 1
    assert sorted(path.name for path in disk.iterdir()) == ["fill", "m.nbt"]


def test_a_long_tail_is_compacted_by_itself(run: "Run", model: Path) -> None:
    for number in range(70):
        run("learn", "spam", "-q", "-m", model, stdin=NEW + b"%d" % number)

    assert len(open_model(str(model)).tables) < 10
    assert documents(run, model) == {"ham": 8, "spam": 8 + 70}


@pytest.mark.parametrize(
    "verb", [["learn", "spam"], ["forget"]], ids=["learn", "forget"]
)
def test_a_missing_model_is_named_though_there_is_no_document(
    run: "Run", model: Path, verb: list[str]
) -> None:
    Path("empty").mkdir()

    missing = run(*verb, "-q", "-m", "none.nbt", "empty")

    assert (missing.status, missing.out) == (66, "")
    assert missing.err.startswith("Error: none.nbt: no model there")
    assert run(*verb, "-q", "-m", model, "empty") == (0, "", "")


def test_what_was_not_read_of_a_long_message_is_said(run: "Run", model: Path) -> None:
    Path("long.eml").write_bytes(NEW + b"more\n" * 100)

    learnt = run("learn", "spam", "-m", model, "--max-bytes", "200", "long.eml")
    quiet = run("forget", "-q", "-m", model, "--max-bytes", "200", "long.eml")

    assert (learnt.status, quiet.status) == (0, 0)
    assert "cut short: long.eml is longer than --max-bytes" in learnt.err
    assert quiet.err == ""


def test_of_a_maildir_what_nobody_has_seen_can_be_left_out(
    run: "Run", model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["cur/1.x:2,S", "cur/2.x:2,FRS", "cur/3.x:2,F", "cur/4.xS", "new/5.x"]
    maildir(Path("Junk"), {one: NEW + b"%d\n" % n for n, one in enumerate(names)})
    Path("one.eml").write_bytes(NEW)

    seen = run("learn", "--seen-only", "spam", "Junk", "one.eml", "-m", model)
    for named in (
        "Junk/new/5.x",
        "Junk/new",
        "Junk/cur/3.x:2,F",
        "--format=text Junk/new",
    ):
        again = run("learn", "--seen-only", "spam", *named.split(), "-m", model)
        assert again.err == "left out 1 unread message\n", "whatever is named of it"
    monkeypatch.chdir("Junk/new")
    here = ("learn", "--seen-only", "spam", ".", "-m", model)
    assert run(*here).err == "left out 1 unread message\n"
    assert run(*here, "-q").err == ""
    assert json.loads(run(*here, "--json").out)["unread"] == 1
    monkeypatch.chdir("../..")
    everything = run("learn", "spam", "Junk", "-m", model)

    told = "learnt 3 documents as spam\nleft out 3 unread messages\n"
    assert seen.err == told
    assert "learnt 3 documents as spam, 2 documents known" in everything.err


def test_a_class_that_a_model_has_is_learnt_whatever_its_name(run: "Run") -> None:
    rows = [
        {"text": f"word{n % 2} {n}", "label": ("a\x1bb", "c")[n % 2]} for n in range(8)
    ]
    Path("t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert run("train", "-q", "-m", "odd.nbt", "t.jsonl").status == 0
    new = b'{"text": "word0 more", "label": "a\\u001bb"}'

    learnt = run("learn", "-m", "odd.nbt", "a\x1bb", stdin=b"word0 other")
    labelled = run("learn", "-m", "odd.nbt", "--labelled", stdin=new)
    begun = run("learn", "-m", "odd.nbt", "--create", "d\x1b", stdin=b"word2")

    assert learnt.status == labelled.status == 0
    assert begun.status == 64
    assert "choose a name for people to read" in begun.err


def test_rows_that_carry_another_label_are_told(run: "Run", model: Path) -> None:
    Path("t.csv").write_text("text,label\nlunch,ham\ncash,spam\nloans,spam\ngold,\n")

    told = run("learn", "spam", "-m", model, "t.csv")
    quiet = run("learn", "-q", "ham", "-m", model, "t.csv")
    forgotten = run("forget", "-m", model, "t.csv")

    note = (
        "note: 1 document carried another label (ham 1) than spam; --labelled, in "
        "place of a class, learns each as its own"
    )
    assert told.err == f"learnt 4 documents as spam\n{note}\n"
    assert quiet.err == ""
    assert forgotten.err == "forgot 4 documents\n"


def test_a_message_of_a_maildir_is_one_however_it_is_named_and_begins(
    run: "Run", model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some deliver it with its envelope line, and its body may have one, too."""
    line = b"From a@b Thu Nov 26 10:00:00 2026\n"
    inner = b"Subject: inner\nFrom: x@y\n\nbody\n"
    path = Path("box/cur/1.x:2,S")
    maildir(Path("box"), {"cur/1.x:2,S": line + NEW + b"\n" + line + inner})

    learnt = run("learn", "ham", "box", "-m", model)
    moved = run("learn", "--seen-only", "spam", path, "-m", model)

    command = ("learn", "-v", "spam", "--files-from", "-", "-m", model)
    listed = run(*command, stdin=b"%b\n" % bytes(path))

    assert learnt.err == "learnt 1 document as ham\n"
    assert moved.err == "moved 1 document to spam\n"
    assert f"{path}: known as spam" in listed.err
    monkeypatch.chdir("box/cur")
    for named in (path.name, f"./{path.name}", f"../cur/{path.name}"):
        (judged,) = run("classify", named, "-m", model).out.splitlines()
        assert judged.endswith(f"\t{named}")


def test_of_an_mbox_and_an_mh_folder_it_can_be_left_out_too(
    run: "Run", model: Path
) -> None:
    start = b"From a@b Thu Nov 26 10:00:00 2026\n"
    fields = [
        b"Status: RO\n",
        b"",
        b"status: O\n",
        b"X-Status: R\n",
        b"Status:\tR\n",
        b"Status: delivered\n",
        b"Status: Order shipped\n",
        b"Status: RO\nStatus: O\n",
    ]
    Path("box").write_bytes(
        b"".join(
            b"%s%s%sStatus: R\n%d\n\n" % (start, field, NEW, number)
            for number, field in enumerate(fields)
        )
    )
    Path("mh").mkdir()
    for number in range(1, 8):
        Path("mh", f"{number}").write_bytes(NEW + b"in mh %d\n" % number)
    Path("mh", ".mh_sequences").write_text(
        "cur: 1\nunseen: 70\n 3 1\nother: 2\nunseen: 4-5 4\n"
    )

    of_mbox = run("learn", "--seen-only", "spam", "box", "-m", model)
    of_mh = run("learn", "--seen-only", "spam", "mh", "-m", model)
    everything = run("learn", "spam", "box", "mh", "-m", model)

    left_out = "left out {} unread messages\n"
    assert of_mbox.err == "learnt 2 documents as spam\n" + left_out.format(6)
    assert of_mh.err == "learnt 3 documents as spam\n" + left_out.format(4)
    assert "learnt 10 documents as spam, 5 documents known" in everything.err


def test_so_it_can_of_an_mbox_that_lies_in_a_folder(run: "Run", model: Path) -> None:
    """Such a file is one document as listed, and an mbox when it is opened."""
    start = b"From a@b Thu Nov 26 10:00:00 2026\n"
    read, unread = start + b"Status: RO\n" + NEW, start + NEW + b"new\n"
    Path("Mail").mkdir()
    Path("Mail", "Junk").write_bytes(read + b"\n" + unread + b"\n")
    Path("Mail", "Old.gz").write_bytes(gzip.compress(unread + b"\n" + unread))
    Path("Mail", "New").write_bytes(unread)
    Path("Mail", "bad.gz").write_bytes(gzip.compress(read)[:-10])
    Path("Mail", "one").write_bytes(NEW + b"no mailbox\n")

    seen = run("learn", "--seen-only", "spam", "Mail", "-m", model)

    assert "skipped: Mail/bad.gz: damaged gzip data" in seen.err
    assert seen.err.endswith("learnt 2 documents as spam\nleft out 4 unread messages\n")


@pytest.mark.parametrize("label", ["sapm", "SPAM", "spamm"])
@pytest.mark.usefixtures("model")
def test_a_misspelt_class_is_answered_with_the_right_one(
    run: "Run", label: str
) -> None:
    before = Path("mail.nbt").read_bytes()

    status, out, err = run("learn", label, "spam", "-m", "mail.nbt")

    assert (status, out) == (64, "")
    assert f"no class {label!r}; did you mean 'spam'? " in err
    assert err.endswith("for a new class, add --create\n")
    assert Path("mail.nbt").read_bytes() == before


def test_a_class_that_resembles_another_can_be_begun(run: "Run") -> None:
    for label in ("jokes", "poems", "joke"):
        Path(label).mkdir()
        Path(label, "1").write_text(f"a word or two of {label}")
    run("train", "-q", "-m", "m.nbt", "--score", "sum", "jokes", "poems")

    refused = run("learn", "joke", "joke", "-m", "m.nbt")
    begun = run("learn", "--create", "joke", "joke", "-m", "m.nbt")

    assert refused.status == 64
    assert begun == (0, "", "learnt 1 document as joke\n")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["spam/1.eml", "spam"], "nbtext learn CLASS spam/1.eml"),
        (["./ham", "spam"], "nbtext learn CLASS ./ham"),
        (["1.eml", "ham"], "nbtext learn ham 1.eml"),
        (["letters", "ham"], "nbtext learn ham letters"),
    ],
)
@pytest.mark.usefixtures("model")
def test_a_path_where_the_class_should_be_is_told(
    run: "Run", arguments: list[str], line: str
) -> None:
    Path("1.eml").write_bytes(Path("spam/1.eml").read_bytes())
    for path in Path("ham").iterdir() if line.startswith("nbtext learn ham") else ():
        path.unlink()
    if line.startswith("nbtext learn ham"):
        Path("ham").rmdir()
    before = Path("mail.nbt").read_bytes()

    status, out, err = run("learn", *arguments, "-m", "mail.nbt")

    assert (status, out) == (64, "")
    assert err.startswith(f"Error: {arguments[0]!r} stands where the class should; ")
    assert err.endswith(f"the class comes first: {line}\n")
    assert Path("mail.nbt").read_bytes() == before


def test_a_class_may_be_called_as_its_folder_is(run: "Run", corpus: Path) -> None:
    assert run("learn", "--create", "spam", "spam", "-m", "new.nbt").status == 0
    assert run("learn", "ham", "ham", "-m", "new.nbt").status == 0


def test_an_idf_is_kept_only_if_that_is_asked_for(
    run: "Run", model: Path, truth: "Truth"
) -> None:
    run("train", "--score", "tfidf", "-m", "idf.nbt", "spam", "ham")
    before = truth.stored(Path("idf.nbt"))
    Path("new.eml").write_bytes(NEW)

    refused = run("learn", "spam", "-m", "idf.nbt", "new.eml")
    assert refused.status == 64
    assert (
        "train again, or keep the idf as it is (--frozen-idf of `learn` and `forget`)"
        in refused.err
    )
    learnt = run("learn", "spam", "--frozen-idf", "-m", "idf.nbt", "new.eml")
    kept = "the idf stays that of the 16 documents of training\n"
    assert learnt == (0, "", f"learnt 1 document as spam\n{kept}")
    forgotten = run("forget", "--frozen-idf", "-m", "idf.nbt", "new.eml")
    assert forgotten == (0, "", f"forgot 1 document\n{kept}")
    assert truth.stored(Path("idf.nbt")) == before

    in_vain = run("learn", "spam", "--frozen-idf", "-m", model, "new.eml")
    assert in_vain.status == 64
    assert "has no idf to keep; leave out --frozen-idf" in in_vain.err


ROWS = """label,text
ham,see you at the meeting on monday
spam,cash prize for you
ham,lunch is at noon
"""


@pytest.mark.usefixtures("model")
def test_rows_are_learnt_as_their_labels(run: "Run") -> None:
    before = documents(run, "mail.nbt")

    status, out, err = run(
        "learn", "-m", "mail.nbt", "--labelled", "-v", stdin=ROWS.encode()
    )

    assert (status, out) == (65, "")
    Path("rows.csv").write_text(ROWS)
    status, out, err = run("learn", "-m", "mail.nbt", "--labelled", "-v", "rows.csv")
    assert (status, out) == (0, "")
    assert "rows.csv:2: learnt as spam\n" in err
    assert err.endswith("learnt 3 documents as labelled: ham 2, spam 1\n")
    after = documents(run, "mail.nbt")
    assert after == {"ham": before["ham"] + 2, "spam": before["spam"] + 1}
    done = run("learn", "-m", "mail.nbt", "--labelled", "--json", "rows.csv")
    facts = json.loads(done.out)
    assert (facts["class"], facts["classes"], facts["known"]) == (None, {}, 3)
    assert done.err == "3 documents known as labelled already\n"


@pytest.mark.usefixtures("model")
def test_folders_are_learnt_as_training_names_them(run: "Run") -> None:
    for folder, message in (("Junk", NEW), ("ham", LUNCH)):
        Path("more", folder).mkdir(parents=True)
        Path("more", folder, "1.eml").write_bytes(message)

    status, _, err = run(
        "learn", "-m", "mail.nbt", "--labelled", "more/Junk", "more/ham"
    )

    assert status == 0
    assert "taking Junk for spam" in err
    assert err.endswith("learnt 2 documents as labelled: ham 1, spam 1\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Name the CLASS, or learn labelled documents with --labelled."),
        (
            ("--label-column", "label", "ham", "rows.csv"),
            "--label-column: all rows would be learnt as 'ham'; leave the option out, "
            "or the class, and learn each row as its label with --labelled.",
        ),
    ],
)
@pytest.mark.usefixtures("model")
def test_a_class_or_labels_are_needed_and_not_both(
    run: "Run", arguments: tuple[str, ...], said: str
) -> None:
    status, out, err = run("learn", "-m", "mail.nbt", *arguments)

    assert (status, out) == (64, "")
    assert said in " ".join(err.split())
