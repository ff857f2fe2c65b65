"""`nbtext rename`, and folders that mail programs make as classes of mail."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nbtext.store import open_model
from tests.build import HAM, SPAM, mail, maildir

if TYPE_CHECKING:
    from tests.cli.conftest import Run


@pytest.fixture
def large(tmp_path: Path, run: "Run") -> Path:
    """A model that is calibrated, and was taught."""
    for label, words in (("spam", SPAM), ("ham", HAM)):
        for part, numbers in (("", range(60)), ("more ", range(60, 64))):
            folder = tmp_path / f"{part}{label}"
            folder.mkdir()
            for number in numbers:
                mixed = words if number % 7 else SPAM + HAM
                (folder / f"{number}.eml").write_bytes(mail(number, mixed))
    assert run("train", "-q", "-m", "m.nbt", "spam", "ham").status == 0
    assert run("learn", "-q", "-m", "m.nbt", "spam", "more spam").status == 0
    return tmp_path / "m.nbt"


def decisions(
    run: "Run", model: Path, names: dict[str, str]
) -> list[tuple[str, str, dict[str, float]]]:
    """What a model decides, under other names of its classes."""
    out = run("classify", "--json", "-m", model, "more spam", "more ham").out
    found = []
    for line in out.splitlines():
        said = json.loads(line)
        posterior = {names[name]: p for name, p in said["posterior"].items()}
        found.append((said["name"], names[said["label"]], posterior))
    return found


@pytest.mark.parametrize("name", ["junk", "abc"])  # behind ham, and before it
def test_a_renamed_model_decides_as_before(run: "Run", large: Path, name: str) -> None:
    before = decisions(run, large, {"spam": name, "ham": "ham"})

    renamed = run("rename", "-m", large, f"spam={name}")

    assert renamed == (0, "", f"spam is called {name}\n")
    after = decisions(run, large, {name: name, "ham": "ham"})
    assert [found[:2] for found in after] == [found[:2] for found in before]
    for (_, _, old), (_, _, new) in zip(before, after, strict=True):
        assert new == pytest.approx(old, rel=1e-6)
    assert run("check", "-q", "-m", large).status == 0
    assert json.loads(run("info", "--json", large).out)["calibration"]["documents"]


@pytest.mark.parametrize("name", ["junk", "abc"])
def test_a_renamed_model_is_as_one_that_was_trained_like_that(
    run: "Run", large: Path, name: str
) -> None:
    run("train", "-q", "-m", "other.nbt", f"{name}=spam", "ham")
    run("learn", "-q", "-m", "other.nbt", name, "more spam")

    run("rename", "-q", "-m", large, f"spam={name}")

    assert terms(run, large) == terms(run, Path("other.nbt"))
    for model in (large, "other.nbt"):
        assert run("learn", "-q", "-m", model, "ham", "more spam/61.eml").status == 0
        assert run("forget", "-q", "-m", model, "more spam/62.eml").status == 0
    assert terms(run, large) == terms(run, Path("other.nbt"))


def terms(run: "Run", model: Path) -> list[object]:
    """A model's text form, but for the times at which it was made."""
    first, *lines = run("dump", "-m", model).out.splitlines()
    header = json.loads(first)
    header["history"] = {}
    return [header, *sorted(lines)]


def test_a_model_of_many_topics_decides_as_before(run: "Run") -> None:
    lines = [
        json.dumps({"label": f"c{n % 5}", "text": f"a w{n % 5} w{n % 7} w{n % 11} b"})
        for n in range(300)
    ]
    Path("rows.jsonl").write_text("\n".join(lines))
    assert run("train", "-q", "-m", "m.nbt", "rows.jsonl").status == 0
    before = run("classify", "-m", "m.nbt", "rows.jsonl").out

    renamed = run("rename", "-q", "-m", "m.nbt", "c0=z", "c3=a")

    after = run("classify", "-m", "m.nbt", "rows.jsonl").out
    assert renamed.status == 0
    assert after == before.replace("c0\t", "z\t").replace("c3\t", "a\t")
    assert run("check", "-q", "m.nbt").status == 0
    forgotten = run("forget", "-m", "m.nbt", "rows.jsonl:1", "rows.jsonl:4")
    assert forgotten == (0, "", "forgot 2 documents\n")


def test_two_classes_exchange_their_names(run: "Run", model: Path) -> None:
    assert run("rename", "-q", "-m", model, "spam=ham", "ham=spam").status == 0

    label = run("classify", "-m", model, stdin=Path("spam/1.eml").read_bytes()).out

    assert label.startswith("ham\t")


@pytest.mark.parametrize(
    ("names", "complaint"),
    [
        (["spam=ham"], "two classes would be called 'ham'; "),
        (["sapm=junk"], "no class 'sapm'; did you mean 'spam'? "),
        (["spam=?"], "a class cannot be called '?'; "),
        (["spam"], "'spam' has not the form OLD=NEW"),
        (["spam=a", "spam=b"], "a class can have one new name only."),
    ],
)
def test_what_makes_no_sense_is_refused(
    run: "Run", model: Path, names: list[str], complaint: str
) -> None:
    before = model.read_bytes()

    status, out, err = run("rename", "-m", model, *names)

    assert (status, out) == (64, "")
    assert complaint in err
    assert model.read_bytes() == before


def test_rename_tells_a_program_what_it_did(run: "Run", model: Path) -> None:
    status, out, err = run("rename", "-q", "--json", "-m", model, "spam=junk")

    assert (status, err) == (0, "")
    assert json.loads(out) == {
        "renamed": {"spam": "junk"}, "classes": ["ham", "junk"], "path": str(model),
    }  # fmt: skip


@pytest.fixture
def folders(corpus: Path) -> Path:
    """A Maildir with the folders that mail programs make."""
    for name, source in ((".Junk", "spam"), (".Archive", "ham")):
        messages = (corpus / source).iterdir()
        maildir(
            corpus / "Maildir" / name,
            {f"cur/{one.stem}:2,S": one.read_bytes() for one in messages},
        )
    return corpus / "Maildir"


@pytest.mark.usefixtures("folders")
def test_folders_of_mail_programs_are_spam_and_ham(run: "Run") -> None:
    sources = ("Maildir/.Junk", "Maildir/.Archive")

    trained = run("train", "-m", "m.nbt", *sources)
    evaluated = run("eval", "--seen", "--json", "-m", "m.nbt", *sources)
    folds = run("eval", "--json", "--folds", "4", *sources)
    alone = run("eval", "-q", "--json", "-m", "m.nbt", "Maildir/.Archive")
    quiet = run("train", "-q", "--replace", "-m", "m.nbt", *sources)

    said = (
        "note: taking Junk for spam and Archive for ham; for a class of another name, "
        "write Junk=Maildir/.Junk\n"
    )
    assert trained.status == 0
    assert trained.err.startswith(said)
    assert "ham 8, spam 8" in trained.err
    assert evaluated.err == folds.err == said
    for outcome in (evaluated, folds, alone):
        assert json.loads(outcome.out)["classes"] == ["ham", "spam"]
    assert json.loads(alone.out)["unknown_label"] == 0
    assert quiet == (0, "", "")


@pytest.mark.usefixtures("folders")
def test_a_name_that_is_written_is_kept(run: "Run") -> None:
    written = ("Junk=Maildir/.Junk", "Archive=Maildir/.Archive")
    by_name = ("Maildir/.Junk", "Maildir/.Archive")

    trained = run("train", "-m", "m.nbt", *written)
    evaluated = run("eval", "--seen", "-m", "m.nbt", *by_name)
    taught = run("learn", "spam", "Maildir/.Junk", "-m", "m.nbt")

    assert "Archive 8, Junk 8" in trained.err
    assert "taking" not in trained.err + evaluated.err
    assert "positive class\tJunk\n" in evaluated.out
    assert "ROC AUC\t1.0000\t" in evaluated.out
    assert evaluated.err == (
        "note: Junk is taken for the positive class, as the second of two as rare; "
        "--positive names another\n"
    )
    assert taught.status == 64
    assert "nbtext rename Junk=spam" in taught.err
    assert run("rename", "-q", "-m", "m.nbt", "Junk=spam", "Archive=ham").status == 0
    assert run("eval", "-q", "-m", "m.nbt", *by_name).status == 0
    assert run("learn", "spam", "Maildir/.Junk", "-m", "m.nbt").status == 0


def test_topics_keep_their_names(run: "Run") -> None:
    for label in ("archive", "sports", "Sent"):
        Path("news", label).mkdir(parents=True)
        Path("news", label, "1").write_text(f"words of {label}")

    trained = run("train", "-m", "m.nbt", "news")

    assert "Sent 1, archive 1, sports 1" in trained.err
    assert "taking" not in trained.err


@pytest.mark.usefixtures("corpus")
def test_the_rarer_class_is_the_positive_one(run: "Run") -> None:
    few = [f"wanted=ham/{number}.eml" for number in range(5)]

    rarer = run("eval", "--folds", "4", "other=spam", *few)
    asked = run("eval", "--folds", "4", "--positive", "other", "other=spam", *few)

    assert "positive class\twanted\n" in rarer.out
    assert "note: wanted is taken for the positive class, as the rarer" in rarer.err
    assert "positive class\tother\n" in asked.out
    assert asked.err == ""


def test_names_may_have_an_equals_sign(run: "Run", model: Path) -> None:
    assert run("rename", "-q", "-m", model, "spam=x=y").status == 0
    assert open_model(str(model)).tables[0].header.classes == ("ham", "x=y")

    said = run("rename", "-m", model, "x=y=z=", "ham=spam")

    assert (said.status, said.out) == (0, "")
    assert said.err == "x=y is called z=\nham is called spam\n"
