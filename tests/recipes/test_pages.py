"""The pages hold what they promise: each block is tried, and each rule is so."""

import pwd
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.recipes.conftest import FENCED, PAGES, blocks, home_with

pytestmark = pytest.mark.recipes

OURS = [path.name for path in sorted(PAGES.glob("*.md")) if path.stem != "bogofilter"]
TESTS = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("*.py"))


@pytest.mark.parametrize("page", OURS)
def test_each_block_is_named_and_tried(page: str) -> None:
    found = FENCED.findall((PAGES / page).read_text("utf-8"))

    assert len(blocks(page)) == len(found)
    assert [title for title in blocks(page) if f'"{title}"' not in TESTS] == []


def test_the_index_names_each_page() -> None:
    index = (PAGES / "README.md").read_text("utf-8")

    assert sorted(set(re.findall(r"^\| \[(\w+\.md)\]", index, re.MULTILINE))) == [
        name for name in OURS if name != "README.md"
    ]


def test_what_root_trained_another_user_cannot_read(
    trained: Path, everybodys_program: Path, spam: bytes
) -> None:
    rules = " ".join((PAGES / "README.md").read_text("utf-8").split())
    nobody = pwd.getpwnam("nobody")
    with home_with(trained, program=everybodys_program) as home:
        home.path.chmod(0o755)
        model = home.path / "model.nbt"
        shutil.copyfile(trained, model)
        model.chmod(0o600)

        def as_nobody(*command: str) -> "subprocess.CompletedProcess[bytes]":
            return subprocess.run(
                [home.program, *command, "-m", model], input=spam, capture_output=True,
                user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[], check=False,
            )  # fmt: skip

        asked, passed = as_nobody("classify"), as_nobody("pass")
        shutil.chown(model, nobody.pw_uid, nobody.pw_gid)
        home.nbtext("learn", "spam", "-m", model, stdin=spam)
        home.nbtext("compact", "-m", model)
        asked_again = as_nobody("classify")

    said = (
        asked.stderr.decode().strip().replace(str(model), "/var/lib/nbtext/model.nbt")
    )
    assert said in rules
    assert (asked.returncode, passed.returncode, passed.stdout) == (74, 75, spam)
    assert (asked_again.returncode, asked_again.stderr) == (0, b"")
