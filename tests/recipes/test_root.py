"""
Root, and the mail of a user called nobody: refused, and done as root is told to.

nobody owns the folder, and has put links into it to what is root's. Run by root, filter
changes nothing; run by the command that root is told, only what is nobody's.
"""

import os
import pwd
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.build import FROM_LINE
from tests.waiting import PATIENCE

pytestmark = [
    pytest.mark.recipes,
    pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user"),
]


@pytest.fixture
def theirs() -> Iterator[Path]:
    """The folder of nobody, in one that is root's and that others may enter."""
    with TemporaryDirectory(prefix="nbtext-root-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "secret").write_bytes(b"root's own\n")
        (folder / "secret").chmod(0o600)
        (folder / "home").mkdir()
        yield folder / "home"


def fill_maildir(home: Path, spam: bytes, ham: bytes) -> list[str]:
    for part in ("Maildir/cur", "Maildir/new", "Maildir/tmp"):
        (home / part).mkdir(parents=True)
    (home / "Maildir/new/1700000001.a").write_bytes(spam)
    (home / "Maildir/new/1700000002.b").write_bytes(ham)
    return [f"{home}/Maildir", "--move", "spam=.Junk"]


def fill_mbox(home: Path, spam: bytes, ham: bytes) -> list[str]:
    (home / "box").write_bytes(FROM_LINE + spam + b"\n" + FROM_LINE + ham + b"\n")
    # an old file that is none of ours, and leads to what is root's
    (home / ".box.nbtext-0123456789ab.old").symlink_to("../secret")
    return [f"{home}/box", "--move", f"spam={home}/junk"]


def state_of(folder: Path) -> list[tuple[str, int, int, int, int, bytes]]:
    """Return all that there is in a folder: names, owners, modes, times and bytes."""
    found = []
    for path in sorted([folder, *folder.rglob("*")]):
        status = path.lstat()
        text = b"" if path.is_symlink() or path.is_dir() else path.read_bytes()
        owner, mode = status.st_uid, status.st_mode
        times = (status.st_mtime_ns, status.st_ctime_ns)
        found.append((f"{path}", owner, mode, *times, text))
    return found


def own(home: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    for path in (home, *home.rglob("*")):
        os.chown(path, nobody.pw_uid, nobody.pw_gid, follow_symlinks=False)


@pytest.mark.parametrize("fill", [fill_maildir, fill_mbox])
def test_root_changes_nothing_and_nobody_filters_as_root_is_told(
    theirs: Path,
    trained: Path,
    everybodys_program: Path,
    spam: bytes,
    ham: bytes,
    fill: Callable[[Path, bytes, bytes], list[str]],
) -> None:
    options = fill(theirs, spam, ham)
    model = theirs / "model.nbt"
    shutil.copyfile(trained, model)
    own(theirs)
    before = state_of(theirs.parent)
    filter_it = ["filter", *options, "-m", f"{model}", "--decided", f"{theirs}/memory"]

    refused = subprocess.run(
        [everybodys_program, *filter_it],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )

    assert (refused.returncode, refused.stdout) == (64, "")
    assert state_of(theirs.parent) == before
    (told,) = re.findall(r"run `(runuser .*) nbtext filter \.\.\.`", refused.stderr)

    as_nobody = [*shlex.split(told), f"{everybodys_program}", *filter_it]
    done = subprocess.run(
        [*as_nobody, "--min-probability", "0.5"],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        cwd="/",
    )

    assert "2 new, 1 moved, 1 stayed" in done.stdout, done.stderr
    uid = pwd.getpwnam("nobody").pw_uid
    assert {path.lstat().st_uid for path in theirs.rglob("*")} == {uid}
    assert (theirs.parent / "secret").read_bytes() == b"root's own\n"
    everything = b"".join(text for *_, text in state_of(theirs))
    assert everything.count(b"root's own") == 0


@pytest.mark.parametrize("fill", [fill_maildir, fill_mbox])
def test_root_reads_what_nobody_has_and_leaves_it(
    theirs: Path,
    trained: Path,
    everybodys_program: Path,
    spam: bytes,
    ham: bytes,
    fill: Callable[[Path, bytes, bytes], list[str]],
) -> None:
    source = fill(theirs, spam, ham)[0]
    own(theirs)
    before = state_of(theirs)

    done = subprocess.run(
        [everybodys_program, "classify", "-m", trained, source],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )

    assert (done.returncode, len(done.stdout.splitlines())) == (0, 2), done.stderr
    assert state_of(theirs) == before
