"""`classify -v` and `filter` say so when mail scores unlike what was held out."""

from pathlib import Path
from random import Random
from time import time
from typing import TYPE_CHECKING

import pytest

from nbtext.filtering import seen
from tests import build

if TYPE_CHECKING:
    from tests.cli.conftest import Run

UNLIKE = "score unlike those that the model was measured on"
COMMON = [f"common{n}" for n in range(300)]
OWN = {label: [f"{label}{n}" for n in range(60)] for label in ("ham", "spam")}


def message(random: Random, share: float, label: str) -> bytes:
    """Return a message of thirty words; so many of them are those of a class."""
    words = [
        random.choice(OWN[label] if random.random() < share else COMMON)
        for _ in range(30)
    ]
    return f"Subject: {' '.join(words[:3])}\n\n{' '.join(words)}\n".encode()


def maildir(folder: Path, share: float) -> Path:
    """Return a Maildir of new messages, half of them ham."""
    random = Random(str(folder))  # noqa: S311  no secret
    labels = ["spam", "ham"] * 75
    messages = (message(random, share, label) for label in labels)
    by_name = {f"new/{number}.a": one for number, one in enumerate(messages)}
    return build.maildir(folder, by_name)


@pytest.fixture
def model(tmp_path: Path, run: "Run") -> Path:
    """A model of mail that is easy to tell apart."""
    random = Random(1)  # noqa: S311  no secret
    for label in ("ham", "spam"):
        (tmp_path / label).mkdir()
        for number in range(200):
            path = tmp_path / label / f"{number}.eml"
            path.write_bytes(message(random, 0.3, label))
    assert run("train", "-q", "-m", "mail.nbt", "ham", "spam") == (0, "", "")
    return tmp_path / "mail.nbt"


def test_mail_that_is_harder_to_tell_apart_is_told(run: "Run", model: Path) -> None:
    harder = maildir(Path("harder"), 0.05)
    command = ("filter", "-n", "-m", model, harder, "--flag", "ham=Work")

    assert UNLIKE in run("classify", "-v", "-m", model, harder).err
    assert UNLIKE not in run("classify", "-m", model, harder).err
    for quiet in ([], ["-q"]):
        said = run(*command, *quiet).err
        assert said.startswith("WARNING: these 150 documents score unlike")


def test_it_is_told_once_until_the_model_changes_and_once_a_day_at_most(
    run: "Run", model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_warned_of(number: int) -> bool:
        harder = maildir(Path(f"harder{number}"), 0.05)
        done = run("filter", "-q", "-m", "./mail.nbt", harder, "--flag", "ham=Work")
        assert (done.status, done.out) == (0, "")
        assert done.err.count("\n") == (UNLIKE in done.err)
        return UNLIKE in done.err

    def learn(text: bytes) -> None:
        learnt = run("learn", "-q", "-m", model, "ham", stdin=text)
        assert learnt == (0, "", "")

    assert [is_warned_of(number) for number in range(3)] == [True, False, False]
    learn(message(Random(5), 0.3, "ham"))  # noqa: S311  no secret
    assert not is_warned_of(3)
    monkeypatch.setattr(seen, "time", lambda: time() + 86_500)
    assert is_warned_of(4)
    assert not is_warned_of(5)
    monkeypatch.setattr(seen, "time", lambda: time() + 8_650_000)
    assert not is_warned_of(6)


def test_mail_like_that_of_training_is_not(run: "Run", model: Path) -> None:
    alike = maildir(Path("alike"), 0.3)

    assert UNLIKE not in run("classify", "-v", "-m", model, alike).err
    found = run("filter", "-n", "-m", model, alike, "--flag", "ham=Work")
    assert UNLIKE not in found.err
