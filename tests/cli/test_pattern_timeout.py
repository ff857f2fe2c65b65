"""A message that the model's --pattern cannot search in time: it alone is left out."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nbtext import classify, classify_all, forget, learn, load
from nbtext.document import Note, Unreadable
from nbtext.errors import SourceError
from nbtext.tokens import pattern
from tests import build
from tests.build import FROM_LINE, HAM, SPAM, mail

if TYPE_CHECKING:
    from tests.cli.conftest import Run

PATTERN = r"(?:\w|\w\w)+$|\w+"
"""Takes time that doubles with each letter of a word that does not end the text."""

LETTERS = b"a" * 60 + b"!"
HOSTILE = mail(99, SPAM).rstrip(b"\n") + b" " + LETTERS + b"\n"
REASON = "takes more than 0 seconds to match it"
LEAST = ("--min-probability", "0.5")


LITTLE = 0.3
"""Seconds for a search: a collection of garbage that comes between is no reason."""


@pytest.fixture
def trained(corpus: Path, run: "Run", monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model with the pattern, in the folder we are in, and little time from now."""
    monkeypatch.setenv("NBTEXT_MODEL", "mail.nbt")
    done = run("train", "-q", "--pattern", PATTERN, "spam", "ham")
    monkeypatch.setattr(pattern, "SECONDS", LITTLE)

    assert done == (0, "", "")
    return corpus / "mail.nbt"


@pytest.fixture
def maildir(trained: Path) -> Path:
    """A Maildir with such a message between two that can be read."""
    messages = enumerate((mail(90, HAM), HOSTILE, mail(91, SPAM)))
    by_name = {f"new/170000000{number}.a": message for number, message in messages}
    return build.maildir(trained.parent / "Maildir", by_name)


def mbox_of(*messages: bytes) -> bytes:
    return b"".join(FROM_LINE + message + b"\n" for message in messages)


def test_in_a_maildir_it_stays_is_named_and_is_tried_again(
    run: "Run", maildir: Path
) -> None:
    command = ("filter", maildir, "--move", "spam=.Junk", "--min-probability", "0.5")

    first, second = run(*command), run(*command)

    hostile = maildir / "new/1700000001.a"
    assert (first.status, second.status) == (65, 65)
    assert first.out == f"{maildir}: 2 new, 1 moved, 1 stayed, 1 unreadable\n"
    assert second.out == f"{maildir}: nothing new, 1 known, 1 unreadable\n"
    for done in (first, second):
        assert done.err.startswith(f"skipped: {hostile}: the pattern ")
        assert REASON in done.err
    assert hostile.read_bytes() == HOSTILE

    hostile.write_bytes(HOSTILE.replace(LETTERS, b""))  # what is readable now
    assert run(*command).out == f"{maildir}: 1 new, 1 moved, 1 known\n"


def test_in_an_mbox_it_stays_is_named_and_is_tried_again(
    run: "Run", trained: Path
) -> None:
    box = trained.with_name("box")
    box.write_bytes(mbox_of(mail(90, HAM), HOSTILE, mail(91, SPAM)))
    command = ("filter", box, "--move", "spam=junk", "--min-probability", "0.5")

    first, second = run(*command), run(*command)

    assert (first.status, second.status) == (65, 65)
    assert first.out == f"{box}: 2 new, 1 moved, 1 stayed, 1 unreadable\n"
    assert second.out == f"{box}: nothing new, 1 known, 1 unreadable\n"
    for done in (first, second):
        assert done.err.startswith(f"skipped: {box}:2: the pattern ")
    assert box.read_bytes() == mbox_of(mail(90, HAM), HOSTILE)
    assert Path("junk").read_bytes() == mbox_of(mail(91, SPAM))


@pytest.mark.parametrize("kind", ["Maildir", "mbox"])
def test_it_does_not_use_up_a_limit(run: "Run", maildir: Path, kind: str) -> None:
    box = maildir.with_name("box")
    box.write_bytes(mbox_of(HOSTILE, mail(90, HAM), mail(91, SPAM)))
    (maildir / "new/1700000001.a").rename(maildir / "new/1600000000.a")
    folder = maildir if kind == "Maildir" else box

    done = run("filter", folder, "--flag", "ham=seen", "--limit", "1", *LEAST)

    said = "1 flagged, 1 unreadable, the rest left by --limit"
    assert (done.status, done.out) == (65, f"{folder}: 1 new, {said}\n")


@pytest.mark.usefixtures("trained")
def test_pass_prints_it_as_it_came(run: "Run") -> None:
    status, out, err = run("pass", stdin=HOSTILE)

    assert (status, out) == (75, HOSTILE.decode())
    assert REASON in err
    assert err.endswith("; the message is passed on as it came\n")


@pytest.mark.usefixtures("trained")
@pytest.mark.parametrize("options", ["-p", "-pu", "-ps"])
def test_bogofilter_passes_it_as_it_came(run: "Run", options: str) -> None:
    status, out, err = run("bogofilter", options, stdin=HOSTILE)

    assert (status, out) == (3, HOSTILE.decode())
    assert REASON in err


@pytest.mark.usefixtures("trained")
def test_bogofilter_does_not_pass_as_registered_what_is_not(run: "Run") -> None:
    """A model of one class classifies nothing, so that only learning fails."""
    for number in range(8):
        run("forget", "-q", stdin=mail(number, HAM))

    assert run("bogofilter", "-p", stdin=HOSTILE).status == 2
    status, out, err = run("bogofilter", "-ps", stdin=HOSTILE)

    assert (status, out) == (3, HOSTILE.decode())
    assert REASON in err


@pytest.mark.usefixtures("trained")
def test_bogofilter_decides_about_the_others(run: "Run") -> None:
    box = mbox_of(mail(90, SPAM), HOSTILE, mail(91, HAM))

    status, out, err = run("bogofilter", "-M", "-t", "-o", "0.8", stdin=box)

    assert status == 3
    assert [line[0] for line in out.splitlines()] == ["S", "H"]
    assert err.count(REASON) == 1


@pytest.mark.usefixtures("maildir")
@pytest.mark.parametrize("command", ["classify", "eval"])
def test_classify_and_eval_skip_it(run: "Run", command: str) -> None:
    Path("spam/99.eml").write_bytes(HOSTILE)

    done = run(command, "spam", "ham")

    assert done.status == 65
    assert "skipped: spam/99.eml: the pattern " in done.err


@pytest.mark.usefixtures("corpus")
def test_cross_validation_skips_it(run: "Run", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern, "SECONDS", LITTLE)
    Path("spam/99.eml").write_bytes(HOSTILE)

    done = run("eval", "--folds", "2", "--pattern", PATTERN, "spam", "ham")

    assert done.status == 65
    assert "skipped: spam/99.eml: the pattern " in done.err


def test_the_library_raises_it_or_reports_it(trained: Path) -> None:
    model = load(str(trained))
    messages = [mail(90, HAM), HOSTILE, mail(91, SPAM)]
    problems: list[Unreadable | Note] = []

    reported = list(classify_all(model, messages, on_problem=problems.append))
    decisions = classify_all(model, messages)

    assert [(one.name, one.label) for one in reported] == [("1", "ham"), ("3", "spam")]
    assert [one.name for one in problems if isinstance(one, Unreadable)] == ["2"]
    assert next(decisions) == reported[0]
    with pytest.raises(SourceError, match=f"^2: the pattern .*{REASON}"):
        next(decisions)
    with pytest.raises(SourceError, match=REASON):
        classify(model, HOSTILE)


def test_the_library_says_in_its_place_that_it_was_not_learnt(trained: Path) -> None:
    messages = [mail(90, HAM), HOSTILE, mail(91, HAM)]

    learnt = learn(trained, "ham", messages)
    forgotten = forget(trained, messages)

    for results, outcome in ((learnt, "learnt"), (forgotten, "forgotten")):
        assert [one.name for one in results] == ["1", "2", "3"]
        assert [one.outcome for one in results] == [outcome, "refused", outcome]
        assert results[1].reason.startswith("the pattern ")
        assert REASON in results[1].reason
