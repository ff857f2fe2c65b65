"""With --quiet, standard error has nothing but errors and warnings."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.build import SPAM, mail, maildir

if TYPE_CHECKING:
    from tests.cli.conftest import Run

COMMANDS = {
    "a prior": ["classify", "--prior", "estimate", "spam"],
    "no source": ["classify", "--files-from", "nothing"],
    "none to learn": ["learn", "spam", "--files-from", "nothing"],
    "learnt": ["learn", "ham", "spam"],
    "cut short": ["learn", "spam", "spam", "--max-bytes", "20"],
    "forgotten": ["forget", "spam"],
    "trained": ["train", "spam", "ham", "both", "--replace"],
    "no ledger": ["eval", "-m", "other.nbt", "spam", "ham"],
    "the positive class": ["eval", "--folds", "2", "a=spam", "b=ham"],
    "nothing to take": ["filter", "maildir", "--flag", "spam=Junk"],
    "terms without texts": ["top", "-m", "other.nbt"],
    "pruned": ["prune", "--min-documents", "2"],
    "compacted": ["compact"],
    "checked": ["check"],
    "renamed": ["rename", "spam=junk"],
    "wrong labels": ["doctor", "spam", "ham"],
    "settings": ["tune", "--write", "--replace", "spam", "ham"],
    "added up": ["merge", "--output", "sum.nbt", "mail.nbt", "mail.nbt"],
}
"""Commands that have something to say."""
ALLOWED = ("WARNING: ", "Error: ", "skipped: ", "refused: ")


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
def test_quiet_holds_back_all_but_errors_and_warnings(
    run: "Run", command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBTEXT_MODEL", "mail.nbt")
    Path("nothing").touch()
    maildir(Path("maildir"), {"new/1.a": mail(9, SPAM)})
    Path("both").mkdir()
    Path("both/0.eml").write_bytes(Path("spam/0.eml").read_bytes())
    other = [
        "train",
        "-q",
        "--no-ledger",
        "--no-texts",
        "-m",
        "other.nbt",
        "spam",
        "ham",
    ]
    assert run(*other) == (0, "", "")
    before = Path("mail.nbt").read_bytes()

    told = run(*command)
    Path("mail.nbt").write_bytes(before)
    Path("mail.nbt.decided").unlink(missing_ok=True)
    Path("sum.nbt").unlink(missing_ok=True)
    quiet = run(*command, "-q")

    lines = told.err.splitlines()
    assert quiet.status == told.status
    assert [line for line in lines if not line.startswith(ALLOWED)]
    assert quiet.err.splitlines() == [x for x in lines if x.startswith(ALLOWED)]
