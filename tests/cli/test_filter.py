"""`nbtext filter`: what it moves and says, what it remembers and what it refuses."""

import errno
import json
import os
import pwd
import re
import subprocess
import sys
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from nbtext.files import rename_exclusively
from nbtext.filtering.mailboxes import read_message
from tests import build
from tests.build import FROM_LINE as FROM
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.cli.conftest import Run

SPAM = b"From: a@x.example\nSubject: cash prize\n\nmoney for the lottery winner\n"
HAM = b"From: b@x.example\nSubject: lunch\n\nminutes of the meeting, patch review\n"
LEAST = ("--min-probability", "0.5")


@pytest.fixture
def maildir(model: Path) -> Path:
    """A Maildir with two spams and a ham, in the folder we are in."""
    messages = {
        "new/1700000001.a": SPAM,
        "cur/1700000002.b:2,S": HAM,
        "cur/1600000000.c:2,": SPAM.replace(b"cash", b"loan"),
    }
    return build.maildir(model.parent / "Maildir", messages)


@pytest.fixture
def mbox(model: Path) -> Path:
    return build.mbox(model.parent / "box", SPAM, HAM)


def names(folder: Path) -> list[str]:
    paths = (*folder.glob("cur/*"), *folder.glob("new/*"))
    return sorted(str(path.relative_to(folder)) for path in paths)


def actions(lines: str) -> list[tuple[str, str]]:
    told = [json.loads(line) for line in lines.splitlines()]
    return [(Path(one["name"]).name, one["action"]) for one in told]


def test_spam_is_moved_once_and_the_rest_stays(
    process: "Run", model: Path, maildir: Path
) -> None:
    command = ("filter", maildir, "-m", model, "--move", "spam=.Junk", *LEAST)

    first, second = process(*command), process(*command)

    assert first == (0, f"{maildir}: 3 new, 2 moved, 1 stayed\n", "")
    assert second == (0, f"{maildir}: nothing new, 1 known\n", "")
    assert names(maildir) == ["cur/1700000002.b:2,S"]
    assert names(maildir / ".Junk") == ["cur/1600000000.c:2,", "new/1700000001.a"]
    assert (maildir / ".Junk/new/1700000001.a").read_bytes() == SPAM


def test_a_folder_may_be_named_as_procmail_has_it(
    run: "Run", model: Path, maildir: Path
) -> None:
    done = run("filter", maildir, "-m", model, "--move", "spam=.Junk/", *LEAST)

    assert done.out == f"{maildir}: 3 new, 2 moved, 1 stayed\n"
    assert names(maildir / ".Junk") == ["cur/1600000000.c:2,", "new/1700000001.a"]


def test_copies_in_an_mbox_are_all_decided_about_and_moved(
    run: "Run", model: Path
) -> None:
    Path("many").write_bytes((FROM + HAM + b"\n" + FROM + SPAM + b"\n") * 600)

    done = run("filter", "many", "-m", model, "--move", "spam=junk", *LEAST)

    assert done == (0, "many: 1,200 new, 600 moved, 600 stayed\n", "")
    assert Path("many").read_bytes() == (FROM + HAM + b"\n") * 600
    assert Path("junk").read_bytes() == (FROM + SPAM + b"\n") * 600


def test_a_copy_of_the_same_name_is_moved_as_is_told(
    run: "Run", model: Path, maildir: Path
) -> None:
    """As a backup leaves it that puts back what was read since."""
    (maildir / "cur/1700000001.a:2,S").write_bytes(SPAM)

    done = run("filter", maildir, "-m", model, "--move", "spam=.Junk", *LEAST)

    assert done == (0, f"{maildir}: 4 new, 3 moved, 1 stayed\n", "")
    assert names(maildir) == ["cur/1700000002.b:2,S"]
    assert len(names(maildir / ".Junk")) == 3


def test_of_two_of_one_name_none_is_taken_for_the_other_of_an_earlier_batch(
    run: "Run", model: Path, maildir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (maildir / "cur/1700000001.a:2,S").write_bytes(SPAM)
    monkeypatch.setattr("nbtext.filtering.rules.MANY", 1)
    command = ("filter", maildir, "-m", model, "--move", "spam=.Junk", *LEAST)

    assert run(*command).out == f"{maildir}: 4 new, 3 moved, 1 stayed\n"
    assert names(maildir) == ["cur/1700000002.b:2,S"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES])
def test_of_two_of_one_name_that_which_is_moved_is_told(
    run: "Run",
    model: Path,
    maildir: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
) -> None:
    (maildir / "cur/1700000001.a:2,S").write_bytes(SPAM)

    def refuse_one(source: str, target: str) -> None:
        if source.endswith("a:2,S"):
            raise OSError(code, os.strerror(code), source)
        rename_exclusively(source, target)

    transfer = "nbtext.filtering.mailboxes._transfer.rename_exclusively"
    command = ("filter", maildir, "-m", model, "--move", "spam=.Junk", *LEAST)
    with monkeypatch.context() as patch:
        patch.setattr(transfer, refuse_one)
        done = run(*command, "--json")

    told = [name for name, action in actions(done.out) if action == "moved"]
    assert (done.status, told) == (73, ["1600000000.c:2,", "1700000001.a"])
    assert names(maildir) == ["cur/1700000001.a:2,S", "cur/1700000002.b:2,S"]
    again = run(*command)  # the other one is not taken for it
    assert again.out == f"{maildir}: 1 new, 1 moved, 1 known\n"


def test_what_is_put_back_stays(run: "Run", model: Path, maildir: Path) -> None:
    command = ("filter", maildir, "-m", model, "--move", "spam=.Junk", *LEAST)
    run(*command)
    junk = maildir / ".Junk/new/1700000001.a"
    junk.rename(maildir / "cur/1800000000.other:2,S")

    again = run(*command)

    assert again == (0, f"{maildir}: nothing new, 2 known\n", "")
    assert run(*command, "--all").out == f"{maildir}: 2 new, 1 moved, 1 stayed\n"


def test_a_target_that_is_the_mbox_by_another_name_gets_nothing_twice(
    run: "Run", model: Path, mbox: Path
) -> None:
    before = mbox.read_bytes()
    other = mbox.with_name("other")
    other.hardlink_to(mbox)

    done = run("filter", mbox, "-m", model, "--move", f"spam={other}", *LEAST)

    assert done[:2] == (0, f"{mbox}: 2 new, 2 stayed\n")
    assert done.err.startswith(f"note: {mbox}: --move names this mailbox itself")
    assert mbox.read_bytes() == other.read_bytes() == before


def test_spam_is_marked_with_a_keyword(run: "Run", model: Path, maildir: Path) -> None:
    flags = ("--flag", "spam=Junk", "--flag", "spam=seen")

    marked = run("filter", maildir, "-m", model, *flags, *LEAST)

    assert marked == (0, f"{maildir}: 3 new, 2 flagged, 1 stayed\n", "")
    assert (maildir / "dovecot-keywords").read_text() == "0 Junk\n"
    flagged = ["cur/1600000000.c:2,Sa", "cur/1700000001.a:2,Sa"]
    assert names(maildir) == [*flagged, "cur/1700000002.b:2,S"]


def test_a_dry_run_does_and_remembers_nothing(
    run: "Run", model: Path, maildir: Path
) -> None:
    before = names(maildir)
    moves = ("--move", "spam=.Junk", "--flag", "ham=Work", *LEAST)

    dry = run("filter", maildir, "-m", model, *moves, "--dry-run")

    said = f"{maildir}: 3 new, 2 would be moved, 1 would be flagged\n"
    assert dry == (0, said, "")
    assert names(maildir) == before
    assert not (maildir / ".Junk").exists()
    assert not Path(f"{model}.decided").exists()


def test_json_says_what_became_of_each_message(
    run: "Run", model: Path, maildir: Path
) -> None:
    told = run("filter", maildir, "-m", model, "--move", "spam=.Junk", "--json", *LEAST)

    first = json.loads(told.out.splitlines()[0])
    assert (told.status, told.err) == (0, "")
    assert actions(told.out) == [
        ("1600000000.c:2,", "moved"),
        ("1700000001.a", "moved"),
        ("1700000002.b:2,S", "stayed"),
    ]
    assert first == {
        "folder": str(maildir),
        "name": f"{maildir}/cur/1600000000.c:2,",
        "label": "spam",
        "probability": first["probability"],
        "min_probability": 0.5,
        "before_cap": first["before_cap"],
        "min_before_cap": 0.0,
        "action": "moved",
        "target": f"{maildir}/.Junk",
        "flags": [],
    }


def test_quiet_says_nothing_and_verbose_names_each(
    run: "Run", model: Path, maildir: Path
) -> None:
    quiet = run("filter", "-q", maildir, "-m", model, "--flag", "ham=Work", *LEAST)
    (maildir / "new/9.z").write_bytes(HAM.replace(b"lunch", b"more lunch"))
    verbose = run("filter", "-v", maildir, "-m", model, "--flag", "ham=Work", *LEAST)

    assert quiet == (0, "", "")
    assert verbose.out == f"{maildir}: 1 new, 1 flagged, 3 known\n"
    lines = verbose.err.splitlines()
    assert lines[0] == f"model: {model}"
    assert lines[1].startswith(f"{maildir}/new/9.z: ham 0.")
    assert lines[1].endswith(", flagged Work")


def test_a_message_below_the_threshold_stays(
    run: "Run", model: Path, maildir: Path
) -> None:
    command = ("filter", maildir, "-m", model, "--move", "spam=.Junk")

    sure = run(*command, "--min-probability", "1")

    assert sure.out == f"{maildir}: 3 new, 3 stayed\n"


def test_with_few_documents_nothing_is_moved_and_that_is_told(
    run: "Run", model: Path, maildir: Path
) -> None:
    command = ("filter", maildir, "-m", model, "--move", "spam=.Junk")

    said = run(*command, "-n")

    assert (said.status, said.out) == (0, f"{maildir}: 3 new, 3 stayed\n")
    assert "nothing will be taken for spam: with 8 documents of other classes" in (
        said.err
    )
    assert "exceeds 0.9000, and 0.99 is needed; teach the model 90 more" in said.err
    assert run(*command, "-n", "-q").err == ""
    assert run(*command, "-n", "--min-probability", "0.6").err == ""


def test_one_wrong_label_that_keeps_spam_from_being_moved_is_told(
    run: "Run", maildir: Path
) -> None:
    for label, text, n in (("ham", HAM, 120), ("spam", SPAM, 60)):
        Path("much", label).mkdir(parents=True)
        for number in range(n):
            path = Path("much", label, f"{number}.eml")
            path.write_bytes(text + b"number %d of %d\n" % (number, number % 7))
    assert run("train", "-q", "-m", "much.nbt", "much/ham", "much/spam").status == 0
    command = ("filter", "-n", "-m", "much.nbt", maildir, "--move", "spam=.Junk")

    before = run(*command)
    wrong = ("learn", "-q", "-m", "much.nbt", "ham")
    assert run(*wrong, stdin=SPAM + b"number 61 of 5\n").status == 0
    after = run(*command)

    assert (before.out, before.err) == (
        f"{maildir}: 3 new, 2 would be moved, 1 stayed\n",
        "",
    )
    assert after.out == f"{maildir}: 3 new, 3 stayed\n"
    assert after.err.startswith("note: most of what is spam will stay: ")
    assert "of 60 held out reach a probability of 0.99" in after.err
    assert "since some of 121 documents of other classes come near it" in after.err
    named = run(*command, "-v").err.splitlines()
    told = [line for line in named if ": spam 0." in line]
    assert len(told) == 2
    for line in told:
        match = re.fullmatch(
            r".*, stayed: (0\.\d{6}) before the cap, of (0\.\d{6})", line
        )
        assert match is not None
        assert match[1] < match[2]
    assert run(*command, "-q").err == ""


def test_only_what_is_young_enough_is_looked_at(
    run: "Run", model: Path, maildir: Path
) -> None:
    command = ("filter", maildir, "-m", model, "--move", "spam=.Junk", *LEAST)

    young = run(*command, "--since", "2023-11-01")
    nothing = run(*command, "--since", "1d")
    rest = run(*command)

    assert young.out == (f"{maildir}: 2 new, 1 moved, 1 stayed, 1 older than --since\n")
    assert nothing.out == f"{maildir}: nothing new, 1 known, 1 older than --since\n"
    assert rest.out == f"{maildir}: 1 new, 1 moved, 1 known\n"


def test_an_mbox_has_the_date_of_delivery_in_it(
    run: "Run", model: Path, mbox: Path
) -> None:
    command = ("filter", mbox, "-m", model, "--move", "spam=junk", *LEAST)

    later = run(*command, "--since", "2024-02-07")
    sooner = run(*command, "--since", "2024-02-05")

    assert later.out == f"{mbox}: nothing new, 2 older than --since\n"
    assert sooner.out == f"{mbox}: 2 new, 1 moved, 1 stayed\n"


def test_a_limit_leaves_the_rest_for_the_next_run(
    run: "Run", model: Path, maildir: Path, mbox: Path
) -> None:
    command = ("filter", maildir, mbox, "-m", model, "--flag", "spam=seen", *LEAST)

    first, second = run(*command, "--limit", "2"), run(*command)

    assert first.out == (
        f"{maildir}: 2 new, 2 flagged, the rest left by --limit\n"
        f"{mbox}: nothing new, the rest left by --limit\n"
    )
    assert second.out == (
        f"{maildir}: 1 new, 1 stayed, 2 known\n{mbox}: 1 new, 1 stayed, 1 known\n"
    )


def test_an_mbox_is_rewritten_once_and_then_not_read(
    run: "Run", model: Path, mbox: Path
) -> None:
    command = ("filter", "box", "-m", model, "--move", "spam=junk.mbox", *LEAST)

    first, second = run(*command), run(*command)
    with mbox.open("ab") as file:
        file.write(FROM + HAM.replace(b"lunch", b"tea") + b"\n")
    third = run(*command)

    assert first == (0, "box: 2 new, 1 moved, 1 stayed\n", "")
    assert second == (0, "box: nothing new, unchanged since the last run\n", "")
    assert third == (0, "box: 1 new, 1 stayed, 1 known\n", "")
    assert Path("junk.mbox").read_bytes() == FROM + SPAM + b"\n"


def test_messages_of_an_mbox_are_marked_in_their_headers(
    run: "Run", model: Path, mbox: Path
) -> None:
    marked = run("filter", "box", "-m", model, "--flag", "spam=Junk", *LEAST)

    assert marked == (0, "box: 2 new, 1 flagged, 1 stayed\n", "")
    new = SPAM.replace(b"\n\n", b"\nX-Keywords: Junk\n\n", 1)
    assert mbox.read_bytes() == FROM + new + b"\n" + FROM + HAM + b"\n"


def test_an_mh_folder_is_filtered(run: "Run", model: Path) -> None:
    Path("inbox").mkdir()
    Path("inbox/1").write_bytes(SPAM)
    Path("inbox/2").write_bytes(HAM)
    Path("inbox/.mh_sequences").write_text("unseen: 1-2\n")
    moves = ("--move", "spam=junk", "--flag", "ham=work")

    filtered = run("filter", "inbox", "-m", model, *moves, *LEAST)

    assert filtered == (0, "inbox: 2 new, 1 moved, 1 flagged\n", "")
    assert Path("junk/1").read_bytes() == SPAM
    assert Path("junk/.mh_sequences").read_text() == "unseen: 1\n"
    assert Path("inbox/.mh_sequences").read_text() == "unseen: 2\nwork: 2\n"


def test_a_mailbox_that_is_missing_does_not_keep_others_from_being_filtered(
    run: "Run", model: Path, maildir: Path
) -> None:
    folders = ("nowhere", maildir)

    done = run("filter", *folders, "-m", model, "--move", "spam=.Junk", *LEAST)

    assert done.status == 66
    assert done.out == f"{maildir}: 3 new, 2 moved, 1 stayed\n"
    assert done.err.startswith("skipped: nowhere: no such file or folder")


def test_a_message_that_cannot_be_read_is_named(
    run: "Run", model: Path, maildir: Path
) -> None:
    (maildir / "new/bad").mkdir()

    done = run("filter", maildir, "-m", model, "--move", "spam=.Junk", *LEAST)

    assert done.status == 65
    assert done.out == f"{maildir}: 3 new, 2 moved, 1 stayed, 1 unreadable\n"
    assert f"skipped: {maildir}/new/bad: " in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--move", "sam=.Junk"], "no class 'sam'; did you mean 'spam'? "),
        (["--flag", "spam=two words"], "a flag was expected"),
        (["--flag", "spam=Flagged,seen"], "give --flag once for each"),
        (["--move", "spam=no/where"], "there is no folder no to make it in"),
        (["--move", "spam=box"], "from a Maildir to an mbox"),
        (["--move", "spam=/dev/null"], "a mailbox was expected, and a socket, pipe or"),
        (["--move", "spam=/"], "neither a Maildir"),
        (["--move", "spam"], "'spam' has not the form CLASS=..."),
        (["--move", "spam=.A", "--move", "spam=.B"], "to one mailbox only"),
        (["--flag", "spam=seen", "--since", "soon"], "'soon' is not a date"),
        ([], "Say what is to be done: --move or --flag."),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_done(
    run: "Run", model: Path, maildir: Path, mbox: Path, arguments: list[str], said: str
) -> None:
    before = names(maildir)

    refused = run("filter", maildir, "-m", model, *LEAST, *arguments)

    assert (refused.status, refused.out) == (64, "")
    assert said in refused.err
    assert names(maildir) == before
    assert mbox.exists()
    assert not Path(f"{model}.decided").exists()


def test_a_file_named_like_an_old_mbox_is_named_and_left_alone(
    run: "Run", model: Path, mbox: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"root:secret\n")
    for name in (".box.nbtext-0123456789ab.old", ".box.nbtext-0123456789ac.old"):
        old = mbox.with_name(name)
        old.symlink_to(secret)

    done = run("filter", mbox, "-m", model, "--flag", "spam=seen", *LEAST)

    assert done.status == 65
    assert done.out.startswith(f"{mbox}: ")
    assert "1 flagged" in done.out
    assert "0123456789ab.old: an old mbox of nbtext's was expected" in done.err
    assert "(and 1 more)" in done.err
    assert b"secret" not in mbox.read_bytes()
    assert old.is_symlink()


def test_a_second_run_waits_or_gives_up(run: "Run", model: Path, maildir: Path) -> None:
    import fcntl

    command = ("filter", maildir, "-m", model, "--move", "spam=.Junk", *LEAST)
    run(*command)
    with Path(f"{model}.decided").open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)

        busy = run(*command, "--wait", "0.1")

    assert (busy.status, busy.out) == (75, "")
    assert "another `nbtext filter` " in busy.err
    assert " has been running for 0.1 s; try again" in busy.err


def test_an_mbox_whose_first_line_is_half_written_is_waited_for(
    run: "Run", model: Path, mbox: Path
) -> None:
    text = mbox.read_bytes()
    mbox.write_bytes(text[:9])
    mbox.with_name("box.lock").write_text("0")
    script = (
        "import os, sys, time; time.sleep(.3); file = open(sys.argv[1], 'ab'); "
        "file.write(sys.stdin.buffer.read()); file.close(); "
        "os.unlink(sys.argv[1] + '.lock')"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, mbox], stdin=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(text[9:])
        process.stdin.close()
        done = run("filter", mbox, "-m", model, "--flag", "spam=seen", *LEAST)

    assert done.out.startswith(f"{mbox}: 2 new, 1 flagged, 1 stayed")


def test_a_locked_mbox_is_busy_and_the_next_is_filtered(
    run: "Run", model: Path, maildir: Path, mbox: Path
) -> None:
    mbox.with_name("box.lock").write_text("0")
    command = ("filter", mbox, maildir, "-m", model, "--flag", "spam=seen", *LEAST)

    busy = run(*command, "--wait", "0.1")

    assert busy.status == 75
    assert busy.out == f"{maildir}: 3 new, 2 flagged, 1 stayed\n"
    assert f"another program ({mbox}.lock) has had it locked for 0.1 s" in busy.err
    assert f"or remove {mbox}.lock if no program runs that made it" in busy.err
    mbox.with_name("box.lock").unlink()
    again = run(*command, "--all").out
    assert again.startswith(f"{mbox}: 2 new, 1 flagged, 1 stayed\n")


def test_a_memory_that_is_damaged_costs_no_message(
    run: "Run", model: Path, maildir: Path
) -> None:
    command = ("filter", maildir, "-m", model, "--move", "spam=.Junk", *LEAST)
    run(*command)
    memory = Path(f"{model}.decided")
    text = bytearray(memory.read_bytes())
    text[100] ^= 1
    memory.write_bytes(text)

    dry = run(*command, "-n", "-q")
    after, again = run(*command), run(*command)

    assert (dry.out, "1 record damaged and passed over" in dry.err) == ("", True)
    assert after.status == 0
    assert "1 record damaged and passed over" in after.err
    assert again.err == ""


def test_a_memory_that_is_none_is_refused(
    run: "Run", model: Path, maildir: Path
) -> None:
    command = ("filter", maildir, "-m", model, "--move", "spam=.Junk", *LEAST)

    refused = run(*command, "--decided", model)

    assert (refused.status, refused.out) == (74, "")
    assert "something else found" in refused.err
    assert len(names(maildir)) == 3


def test_a_memory_without_room_is_not_a_memory_of_others(
    run: "Run", model: Path, maildir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("nbtext.filtering.seen_file.os.pwrite", full)
    command = ("filter", maildir, "-m", model, "--move", "spam=.Junk", *LEAST)
    refused = run(*command)

    assert refused.status == 74
    assert "No space left on device; make room there, or name a file" in refused.err
    assert len(names(maildir)) == 3


def test_a_target_that_cannot_be_written_loses_nothing(
    run: "Run", model: Path, maildir: Path
) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    (maildir / ".Junk").mkdir(mode=0o500)

    failed = run("filter", maildir, "-m", model, "--move", "spam=.Junk", *LEAST)

    assert failed.status == 73
    assert len(names(maildir)) == 3


def test_a_large_message_is_cut_short_and_moved_whole(
    run: "Run", model: Path, maildir: Path
) -> None:
    whole = SPAM + b"money winner lottery\n" * 10_000
    (maildir / "new/5.x").write_bytes(whole)
    size = ("--max-bytes", "1k")

    done = run("filter", maildir, "-m", model, "--move", "spam=.Junk", *size, *LEAST)

    assert done.out == f"{maildir}: 4 new, 3 moved, 1 stayed\n"
    assert done.err.startswith(f"cut short: {maildir}/new/5.x")
    assert (maildir / ".Junk/new/5.x").read_bytes() == whole


def test_nothing_new_is_seen_without_reading_and_without_numpy(
    run: "Run", model: Path, maildir: Path
) -> None:
    arguments = [
        *("filter", str(maildir), "-m", str(model), "--move", "spam=.Junk"),
        *LEAST,
    ]
    run(*arguments)
    for name in names(maildir):
        (maildir / name).chmod(0)
    script = (
        f"import sys\nfrom nbtext.cli import main\ntry: main({arguments})\n"
        "except SystemExit as e: assert not e.code\n"
        "assert not {'numpy', 'rich', 'ctypes', 'email'} & set(sys.modules)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        check=True,
        timeout=PATIENCE,
    )

    assert done.stdout.decode() == f"{maildir}: nothing new, 1 known\n"


def fifo_where(kind: str, folder: Path) -> tuple[Path, str]:
    """Make a mailbox with a FIFO where a program would look for a file."""
    box = folder / "fifos"
    if kind == "dotlock":
        box.write_bytes(FROM + SPAM + b"\n")
        os.mkfifo(folder / "fifos.lock")
        return box, "has had it locked for 0.1 s"
    if kind == "sequences":
        box.mkdir()
        (box / "1").write_bytes(SPAM)
        os.mkfifo(box / ".mh_sequences")
        return box, f"{box}/1: the message cannot be marked: a file was expected"
    build.maildir(box, {"cur/1.x:2,a": SPAM})
    os.mkfifo(box / "dovecot-keywords")
    named = f"{box}/cur/1.x:2,a"
    return box, f"{named}: the message cannot be marked: a file was expected"


@pytest.mark.parametrize("kind", ["dotlock", "sequences", "keywords"])
def test_a_fifo_where_a_file_should_be_is_no_reason_to_wait(
    process: "Run", model: Path, tmp_path: Path, kind: str
) -> None:
    box, expected = fifo_where(kind, tmp_path)
    flag = "spam=seen" if kind == "dotlock" else "spam=Junk"
    began = monotonic()

    done = process("filter", box, "-m", model, "--flag", flag, "--wait", "0.1", *LEAST)

    assert monotonic() - began < 30
    assert done.status in (73, 74, 75)
    assert expected in done.err


@pytest.mark.skipif(os.getuid() != 0, reason="only root may not")
@pytest.mark.parametrize("theirs", ["source", "folder", "link", "target", "above"])
def test_root_is_told_to_filter_the_mail_of_others_as_they(
    run: "Run", model: Path, mbox: Path, tmp_path: Path, theirs: str
) -> None:
    keys = tmp_path / "authorized_keys"
    keys.write_bytes(b"")
    home = tmp_path / "home"
    home.mkdir()
    source = mbox.rename(home / "box")
    target = home / "junk.mbox"
    if theirs == "link":
        target.symlink_to(keys)
    elif theirs == "target":
        target.write_bytes(b"")
    path = {"source": source, "folder": home, "above": home}.get(theirs, target)
    os.chown(path, 65_534, 65_534, follow_symlinks=False)
    before = source.read_bytes()

    where = keys if theirs == "above" else target
    done = run("filter", source, "-m", model, "--move", f"spam={where}", *LEAST)

    owner = pwd.getpwuid(65_534).pw_name
    assert done.status in (64, 65, 78)
    assert f"`runuser -u {owner} -- nbtext filter ...`" in done.err
    if theirs in ("source", "target"):  # it is what is named already
        assert f"{path}: it belongs to {owner}" in done.err
    assert (source.read_bytes(), keys.read_bytes()) == (before, b"")


@pytest.mark.parametrize(
    ("code", "advice", "others"),
    [
        (errno.ENOSPC, "make room there", ""),
        (errno.EACCES, "see who may write to {0} and {0}/.Junk", " (and 1 more)"),
    ],
)
def test_a_message_that_cannot_be_moved_is_named_with_its_target(
    run: "Run",
    model: Path,
    maildir: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    advice: str,
    others: str,
) -> None:
    def refuse(source: str, target: str) -> NoReturn:
        raise OSError(code, os.strerror(code), source, None, target)

    transfer = "nbtext.filtering.mailboxes._transfer.rename_exclusively"
    monkeypatch.setattr(transfer, refuse)
    done = run("filter", maildir, "-m", model, "--move", "spam=.Junk", *LEAST)

    assert done.status == 73
    first = f"{maildir}/cur/1600000000.c:2,"
    assert done.err == (
        f"Error: {first}: the message cannot be moved to {maildir}/.Junk: "
        f"{os.strerror(code)} ({maildir}/.Junk/cur/1600000000.c:2,); it is still "
        f"there; {advice.format(maildir)}, and run this again{others}\n"
    )
    assert len(names(maildir)) == 3
    if others:
        assert done.out == f"{maildir}: 1 new, 1 stayed, 2 not moved\n"


def test_no_maildir_is_made_that_is_called_an_mbox(
    run: "Run", model: Path, maildir: Path
) -> None:
    command = ("filter", maildir, "-m", model, *LEAST, "--move")
    done = run(*command, "spam=new.mbox")

    assert (done.status, done.out) == (64, "")
    assert "no message can be moved from a Maildir to an mbox (new.mbox)" in done.err
    assert not Path("new.mbox").exists()
    assert run(*command, "spam=new.mbox/").out.endswith(": 3 new, 2 moved, 1 stayed\n")
    assert Path("new.mbox/cur").is_dir()


def test_a_mailbox_that_is_its_own_target_is_noted(
    run: "Run", model: Path, maildir: Path
) -> None:
    command = ("filter", "-m", model, *LEAST, "--move", f"spam={maildir}")
    told = f"note: {maildir}: --move names this mailbox itself, where spam stays; "

    done = run(*command, "--dry-run", maildir)

    assert done == (0, f"{maildir}: 3 new, 3 stayed\n", f"{told}name another\n")
    assert run(*command, "--dry-run", "-q", maildir).err == ""
    build.maildir(maildir / ".Inbox")
    assert run(*command, "--dry-run", maildir, maildir / ".Inbox").err == ""


def test_a_message_that_goes_before_it_is_read_is_no_error(
    run: "Run", model: Path, maildir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: list[str] = []

    def read(folder: Any, message: Any, max_bytes: int) -> Any:
        if not gone:  # another program moves the first one away
            gone.append(message.name)
            Path(message.name).rename("elsewhere")
        return read_message(folder, message, max_bytes)

    monkeypatch.setattr("nbtext.filtering.folders.read_message", read)

    done = run("filter", maildir, "-m", model, "--move", "spam=.Junk", *LEAST)

    assert (done.status, done.err) == (0, "")
    assert done.out == f"{maildir}: 2 new, 1 moved, 1 gone meanwhile, 1 stayed\n"
