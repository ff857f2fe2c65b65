"""docs/recipes/postfix.md, with the Postfix of Debian in a world of its own."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.recipes.conftest import SURE_SPAM, field, home_with
from tests.recipes.postfix import ALONE, Postfix, postfix_for

if TYPE_CHECKING:
    from tests.recipes.conftest import Home, Program

pytestmark = pytest.mark.recipes

USER = "nobody"
STRICT = '> "$message" || exit 75'
LENIENT = '> "$message" || [ $? -eq 75 ] || exit 75'


@pytest.fixture(scope="module")
def running_postfix(
    trained: Path, everybodys_program: Path, debian: "Program"
) -> Iterator[Postfix]:
    """A Postfix, with the recipe in its configuration."""
    debian("postfix")
    if subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode:
        pytest.skip("root may not make namespaces here")
    with home_with(trained, program=everybodys_program) as home:
        for path in (home.model, *home.model.parents):
            if home.path in path.parents:
                shutil.chown(path, USER)
        with postfix_for(home, USER) as server:
            yield server


@pytest.fixture
def postfix(running_postfix: Postfix, trained: Path) -> Postfix:
    """The same, without mail, with a model and a strict script."""
    home = running_postfix.home
    shutil.rmtree(home.path / "mail" / "jo", ignore_errors=True)
    give_back(home, trained)
    return running_postfix


def give_back(home: "Home", trained: Path) -> None:
    """Put the model into its place."""
    shutil.copyfile(trained, home.model)
    shutil.chown(home.model, USER)


def test_mail_is_filtered_once_and_delivered(postfix: Postfix, spam: bytes) -> None:
    postfix.send(b"X-NBText: ham, probability=0.9999\n" + spam)

    (arrived,) = postfix.delivered()
    assert field(arrived) == SURE_SPAM
    assert arrived.endswith(b"\n\n" + spam.partition(b"\n\n")[2])
    postfix.wait(lambda: "relay=nbtext" in postfix.log())  # after the second delivery
    assert postfix.log().count("relay=nbtext") == 1


def test_a_bounce_has_no_sender_afterwards_either(postfix: Postfix, ham: bytes) -> None:
    postfix.send(ham, sender="")

    (arrived,) = postfix.delivered()
    assert arrived.startswith(b"Return-Path: <>\n")


def test_a_copy_is_made_once(postfix: Postfix, ham: bytes) -> None:
    before = len(postfix.log())

    postfix.send(ham, recipient="copied@example.org")

    def log() -> str:
        return postfix.log()[before:]

    # two messages: the one that came, and the one that the script gave back
    postfix.wait(lambda: log().count("/qmgr[") == log().count(": removed") * 2 == 4)
    assert len(postfix.delivered()) == log().count("relay=virtual") == 2


def test_without_a_model_mail_waits_for_one(
    postfix: Postfix, spam: bytes, trained: Path
) -> None:
    home = postfix.home
    home.model.unlink()

    postfix.send(spam)
    postfix.wait(lambda: "no model there" in postfix.log())
    assert not (home.path / "mail" / "jo").exists()
    give_back(home, trained)

    def has_arrived() -> bool:
        postfix.try_again()
        return bool(home.messages("mail/jo"))

    postfix.wait(has_arrived)
    assert field(home.messages("mail/jo")[0]) == SURE_SPAM


def test_or_arrives_as_it_came(postfix: Postfix, spam: bytes) -> None:
    script = postfix.home.path / "postfix"
    strict = script.read_text("utf-8")
    assert STRICT in strict
    script.write_text(strict.replace(STRICT, LENIENT), "utf-8")
    postfix.home.model.unlink()

    postfix.send(spam)

    (arrived,) = postfix.delivered()
    script.write_text(strict, "utf-8")
    assert field(arrived) is None
    assert arrived.endswith(b"\n\n" + spam.partition(b"\n\n")[2])
