"""`nbtext policy`, the options of a policy, and commands that keep it."""

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nbtext import SettingsOverrides, train, train_on
from nbtext.policy import Cost, FalsePositives, Policy
from nbtext.store import open_model
from tests.build import HAM, SPAM, mail, maildir

if TYPE_CHECKING:
    from tests.cli.conftest import Run

COSTS = ("--cost", "ham:spam=100", "--cost", "ham:unsure=5")
KEPT = Policy(
    prior=(("spam", 0.2),), costs=(Cost("ham", "spam", 100.0), Cost("ham", None, 5.0))
)


def letter(random: np.random.Generator, words: tuple[str, ...]) -> bytes:
    """A message of eight words, some of which may be of the other class."""
    others = HAM if words is SPAM else SPAM
    chosen = [
        random.choice(words if random.random() < 0.8 else others) for _ in range(8)
    ]
    head = f"From: {random.choice(words)}@example.org\nSubject: {chosen[0]}"
    return f"{head} {chosen[1]}\n\n{' '.join(chosen)}\n".encode()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of two classes, some of whose documents are like those of the other."""
    place = tmp_path_factory.mktemp("policy")
    random = np.random.default_rng(4)
    for label, words in (("spam", SPAM), ("ham", HAM)):
        for part, numbers in (("", range(120)), ("more ", range(120, 132))):
            folder = place / f"{part}{label}"
            folder.mkdir()
            for number in numbers:
                (folder / f"{number:03}.eml").write_bytes(letter(random, words))
    train(
        [place / "spam", place / "ham"],
        place / "m.nbt",
        overrides=SettingsOverrides(correction=False),
    )
    return place


@pytest.fixture(autouse=True)
def model(tmp_path: Path, prepared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of them, where we are."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("NBTEXT_MODEL", "m.nbt")
    return tmp_path / "m.nbt"


def policy_of(path: "str | Path" = "m.nbt") -> Policy | None:
    return open_model(str(path)).policy


def classified(run: "Run", *options: str) -> list[dict[str, Any]]:
    out = run("classify", "--json", *options, "more spam", "more ham").out
    return [json.loads(line) for line in out.splitlines()]


def keep(run: "Run") -> None:
    assert run("policy", "--prior", "spam=0.2", *COSTS).status == 0


def test_a_policy_is_shown_changed_and_cleared(run: "Run") -> None:
    assert run("policy").out == "policy\tdecides for the most probable class\n"

    changed = run("policy", "--prior", "spam=20%", *COSTS)

    assert changed.status == 0
    assert changed.out.splitlines()[1:] == [
        "prior\tspam\t0.2",
        "cost\tham\tspam\t100",
        "cost\tham\tunsure\t5",
    ]
    assert policy_of() == KEPT
    assert run("policy").out == changed.out
    sentence = changed.out.splitlines()[0].removeprefix("policy\t")
    assert f"policy\t{sentence}\n" in run("info").out
    assert "ham 0.8, spam 0.2" in sentence
    assert "unsure from 0.9091 on, spam from 0.9948 on" in sentence
    facts = json.loads(run("policy", "--json").out)
    assert facts["costs"] == [["ham", "spam", 100], ["ham", None, 5]]
    assert facts["in_words"] == sentence
    assert json.loads(run("info", "--json").out)["policy"]["prior"] == {"spam": 0.2}
    assert run("policy", "--clear").status == 0
    assert policy_of() is None


@pytest.mark.parametrize("share", ["90%", "90.0 %", "9e1%", "0.9"])
def test_a_probability_is_written_as_other_shares_are(run: "Run", share: str) -> None:
    assert run("policy", "--unsure", share).out.endswith("\nunsure\t0.9\n")


def test_a_rule_replaces_the_rule_and_leaves_the_prior(run: "Run") -> None:
    keep(run)

    run("policy", "--unsure", "0.9")

    assert policy_of() == Policy(0.9, KEPT.prior)
    run("policy", "--max-false-positives", "0.1%")
    limit = FalsePositives("spam", 0.001)
    assert policy_of() == Policy(0.0, KEPT.prior, (), limit)
    run("policy", "--prior", "training")
    assert policy_of() == Policy(max_false_positives=limit)


def test_nothing_but_the_policy_changes_in_the_file(run: "Run", model: Path) -> None:
    run("learn", "-q", "spam", "more spam")
    before = model.read_bytes()
    file = open_model(str(model))
    last = file.tables[-1].offset

    keep(run)

    after = open_model(str(model))
    assert after.tables[-1].header == file.tables[-1].header._replace(policy=KEPT)
    assert model.read_bytes()[:last] == before[:last]
    assert run("check").status == 0
    run("policy", "--clear")
    assert model.read_bytes() == before


def test_a_policy_that_is_there_already_writes_nothing(run: "Run", model: Path) -> None:
    keep(run)
    before = model.stat()

    keep(run)

    assert model.stat().st_ino == before.st_ino


def test_eval_does_without_a_policy_that_does_not_go_with_the_score(run: "Run") -> None:
    run("policy", "--max-false-positives", "1%")
    sources = ("--score", "sum", "spam=more spam", "ham=more ham")

    refused = run("eval", *sources)

    assert refused.status != 0
    assert "do without it (--no-policy)" in refused.err
    assert run("eval", "--no-policy", *sources).status == 0
    assert run("eval", "--no-policy", "--against", "m.nbt", *sources).status == 0
    assert run("eval", "--unsure", "0.9", *sources).status == 0


def test_commands_decide_by_the_policy_that_is_kept(run: "Run") -> None:
    usual = classified(run)
    keep(run)

    kept = classified(run)

    labels = [one["label"] for one in kept]
    assert labels != [one["label"] for one in usual]
    assert [one["posterior"] for one in kept] != [one["posterior"] for one in usual]
    assert [one["log_posterior"] for one in kept] == [
        one["log_posterior"] for one in usual
    ]
    assert classified(run, "--no-policy") == usual
    assert classified(run, "--no-policy", "--prior", "spam=0.2", *COSTS) == kept
    assert classified(run, "--jobs", "2") == kept
    passed = run("pass", stdin=Path("more spam/121.eml").read_bytes()).out
    label = "unsure" if labels[1] is None else labels[1]
    assert f"X-NBText: {label}," in passed
    assert (
        run("classify", "--is", "spam", "more spam/121.eml").status
        == ({"spam": 0, "ham": 1, None: 2}[labels[1]])
    )


def test_the_probability_is_that_of_the_label(run: "Run") -> None:
    found = classified(run, "--cost", "ham:spam=100")

    assert len(found) == 24
    for one in found:
        assert one["probability"] == one["posterior"][one["label"]]


def test_costs_may_stand_in_a_file(run: "Run", tmp_path: Path) -> None:
    (tmp_path / "costs").write_text(
        "# what errors cost\n\nham:spam=100\nham\tunsure\t5\n", encoding="utf-8"
    )

    run("policy", "--costs", "costs", "--prior", "spam=0.2")

    assert policy_of() == KEPT


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"ham:spam\n", "costs:1: 'ham:spam' is not TRUTH:DECISION=X"),
        (b"\nham:spam=x\n", "costs:2: the cost of ham:spam is 'x', expected a number"),
        (b"# nothing\n", "there is no cost in it"),
        (b"ham:spam=1\nham:spam=2\n", "'ham:spam' is given twice"),
        (b"\xff\x00:=\n", "is not TRUTH:DECISION=X"),
        (b"ham:spam=1\n" * 500_000, "it has more than"),
    ],
    ids=["form", "number", "empty", "twice", "bytes", "long"],
)
def test_a_file_of_anything_else_is_refused(
    run: "Run", tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "costs").write_bytes(content)

    said = run("policy", "--costs", "costs")

    assert said.status == 64
    assert message in said.err
    assert policy_of() is None


def every_command() -> list[tuple[str, ...]]:
    """Give all that decide by a policy, but for `pass`, which no error ends."""
    return [
        ("policy",),
        ("classify", "more spam"),
        ("eval", "spam", "ham"),
        ("eval", "--folds", "2", "spam", "ham"),
        ("filter", "--move", "spam=.Junk", str(maildir(Path("Maildir")))),
        ("serve", "--listen", "unix:socket"),
    ]


def test_a_file_of_costs_that_is_not_there_is_said_with_what_it_should_be(
    run: "Run",
) -> None:
    told = "no such file; name a file that has a cost a line, such as ham:spam=100"
    Path("file").touch()
    sent = mail(1, SPAM)
    for path in ("none", "file/none"):
        error = f"Error: --costs {path}: {told}\n"
        for command in every_command():
            assert run(*command, "--costs", path) == (66, "", error), command
        passed = run("pass", "--costs", path, stdin=sent)
        assert (passed.status, passed.out.encode()) == (75, sent)


def test_a_file_of_costs_that_cannot_be_read_is_said(run: "Run") -> None:
    said = run("policy", "--costs", "spam")

    assert said.status == 64
    assert "'--costs': spam: Is a directory; name a file that has a cost" in said.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--unsure", "0.9", *COSTS), "--cost and --unsure exclude one another"),
        (
            ("--max-false-positives", "1%", *COSTS),
            "--cost and --max-false-positives exclude one another",
        ),
        (("--prior", "estimate", "--prior", "spam=.2"), "go with no other --prior"),
        (("--prior", "spam"), "is not CLASS=P"),
        (("--prior", "spam=0"), "'--prior': '0' is not a share between 0 and 1"),
        (("--prior", "spam=120%"), "is not a share between 0 and 1"),
        (("--prior", "spam=.7", "--prior", "ham=.7"), "adds up to 1.4"),
        (("--prior", "spam=.7", "--prior", "ham=.2"), "adds up to 0.9, expected 1"),
        (("--prior", "spam=.7", "--prior", "spam=.2"), "'spam' is given twice"),
        (("--prior", "spma=.7"), "did you mean 'spam'"),
        (("--cost", "ham:spma=2"), "did you mean 'spam'"),
        (
            ("--cost", "ham:spam=-1"),
            "the cost of 'ham':'spam' is -1.0, expected from 0 to",
        ),
        (("--cost", "ham:spam=nan"), "the cost of 'ham':'spam' is nan"),
        (("--max-false-positives", "junk=1%"), "no class 'junk'"),
        (("--max-false-positives", "0"), "is not a share between 0 and 1"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_is_refused_by_every_command(
    run: "Run", options: tuple[str, ...], message: str
) -> None:
    for command in every_command():
        said = run(*command, *options)

        assert (said.status, said.out) == (64, ""), command
        assert message in " ".join(said.err.split()), command
    assert policy_of() is None
    sent = mail(1, SPAM)
    passed = run("pass", *options, stdin=sent)
    assert (passed.status, passed.out.encode()) == (75, sent)


def test_a_prior_is_estimated_where_there_are_many_documents(run: "Run") -> None:
    for command in ("policy", "filter --move spam=.Junk Maildir", "pass", "serve"):
        said = run(*command.split(), "--prior", "estimate")
        assert "takes many documents" in " ".join(said.err.split())

    said = run("classify", "--prior", "estimate", *["more spam"] * 5, "more ham")

    assert said.err.startswith("prior: ham 0.")
    assert said.err.endswith("estimated from 72 documents\n")
    ham = float(said.err.split()[2].rstrip(","))
    assert 0.1 < ham < 0.3
    assert len(said.out.splitlines()) == 72
    by_jobs = run(
        "classify", "-j", "2", "--prior", "estimate", *["more spam"] * 5, "more ham"
    )
    assert by_jobs == said


@pytest.mark.parametrize("how", [(), ("--folds", "4")], ids=["model", "folds"])
def test_eval_reports_costs_coverage_and_the_prior(
    run: "Run", how: tuple[str, ...]
) -> None:
    sources = ["more spam", "more ham"]
    if how:
        sources = ["spam", "ham"]
    sources = [f"spam={sources[0]}", f"ham={sources[1]}"]
    options = ("--prior", "spam=0.2", *COSTS)

    found = json.loads(run("eval", "--json", *how, *options, *sources).out)

    prices: list[list[float]] = [[0, 100, 5], [1, 0, 0.5]]
    total = sum(
        price * count
        for row, counts in zip(prices, found["confusion"], strict=True)
        for price, count in zip(row, counts, strict=True)
    )
    assert found["mean_cost"] == pytest.approx(total / found["documents"])
    decided = found["documents"] - found["unsure"]
    assert found["coverage"] == decided / found["documents"]
    wrong = decided - found["correct"]
    assert found["error_decided"] == (wrong / decided if decided else None)
    assert found["prior"] == pytest.approx({"ham": 0.8, "spam": 0.2})
    text = run("eval", *how, *options, *sources).out
    assert f"mean cost\t{found['mean_cost']:.6g}\t" in text
    assert "prior\tham 0.8, spam 0.2\n" in text
    estimated = json.loads(
        run("eval", "--json", *how, "--prior", "estimate", *sources).out
    )
    assert estimated["mean_cost"] is None
    assert estimated["prior"]["spam"] == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    "commands",
    [
        ["learn -q spam more_spam"],
        ["learn -q ham more_ham", "learn -q spam more_ham"],
        ["learn -q spam more_spam/121.eml"],
        ["forget -q spam/001.eml"],
        ["forget -q spam"],
        ["compact"],
        ["prune --min-documents 2"],
        ["check --repair --output m2.nbt", "-rename m2.nbt"],
        ["learn -q spam more_spam", "compact"],
        ["learn -q spam more_spam", "policy-kept", "undo"],
    ],
    ids=" ".join,
)
def test_a_policy_outlives_every_change(
    run: "Run", tmp_path: Path, commands: list[str]
) -> None:
    for name in ("spam", "ham"):
        (tmp_path / f"more {name}").rename(tmp_path / f"more_{name}")
    if "policy-kept" not in commands:
        keep(run)
    for command in commands:
        if command == "policy-kept":
            keep(run)
        elif command.startswith("-rename"):
            (tmp_path / "m2.nbt").rename(tmp_path / "m.nbt")
        elif "--repair" in command:
            data = (tmp_path / "m.nbt").read_bytes()
            (tmp_path / "m.nbt").write_bytes(data + b"\xde")
            run(*command.split())
        else:
            assert run(*command.split()).status == 0, command

    assert policy_of() == KEPT


def test_a_policy_goes_with_a_dump(run: "Run", model: Path) -> None:
    keep(run)

    text = run("dump").out.encode()
    assert run("load", "-q", "-m", "other.nbt", stdin=text).status == 0

    assert policy_of("other.nbt") == KEPT
    assert run("dump", "-m", "other.nbt").out.encode() == text


@pytest.mark.parametrize(
    "forged",
    [7, {}, {"prior": {"spam": 2}}, {"costs": [["b"], ["a"]]}, {"threshold": "x"}],
    ids=str,
)
def test_a_text_with_another_policy_is_refused(run: "Run", forged: Any) -> None:
    keep(run)
    first, rest = run("dump").out.split("\n", 1)
    plain = json.loads(first)
    old = plain["policy"]
    plain["policy"] = old | forged if isinstance(forged, dict) and forged else forged
    text = f"{json.dumps(plain)}\n{rest}".encode()

    said = run("load", "-q", "-m", "other.nbt", stdin=text)

    assert said.status == 65
    assert "the policy of a model" in said.err


def test_classes_of_a_policy_are_renamed(run: "Run") -> None:
    keep(run)

    run("rename", "spam=junk", "ham=spam")

    assert policy_of() == KEPT.renamed({"spam": "junk", "ham": "spam"})
    assert run("classify", "more spam").status == 0


def test_no_change_of_classes_leaves_a_model_that_cannot_decide(run: "Run") -> None:
    assert run("train", "-q", "--replace", "--score", "sum", "spam", "ham").status == 0
    run("policy", "--cost", "ham:unsure=5")

    renamed = run("rename", "spam=unsure")
    begun = run("learn", "unsure", "more ham")
    third = run("learn", "news", "more ham")
    run("undo")
    run("policy", "--unsure", "0.5", "--prior", "spam=0.2", "--prior", "ham=0.8")
    fourth = run("learn", "news", "more ham")
    never = run("policy", "--prior", "training", "--max-false-positives", "1%")

    assert (renamed.status, begun.status, third.status) == (64, 65, 0)
    assert "cannot be called 'unsure'" in renamed.err
    assert "tell it from the decision" in begun.err
    assert (fourth.status, never.status) == (65, 64)
    assert "the prior leaves nothing for news" in fourth.err
    assert "change that first, with `nbtext policy`" in fourth.err
    # so that such a policy is never in the way of a third class
    assert "as with --score mean or weighted; " in never.err
    assert "is scored by sum: train another, or say what an error costs" in never.err
    assert run("classify", "-q", "more spam").status == 0


def test_the_policy_of_the_last_model_is_kept_in_a_sum(run: "Run") -> None:
    run("train", "-q", "-m", "other.nbt", "spam=more spam", "ham=more ham")
    keep(run)

    said = run("merge", "m.nbt", "other.nbt", "-o", "sum.nbt")

    assert "note: the last model, other.nbt, has no policy, so the sum has none" in (
        said.err
    )
    assert "set one with `nbtext -m sum.nbt policy`" in said.err
    assert "is kept" not in said.err
    assert policy_of("sum.nbt") is None
    said = run("merge", "other.nbt", "m.nbt", "-o", "sum.nbt", "--replace")
    assert "have different policies; that of the last one, m.nbt, is kept" in said.err
    assert policy_of("sum.nbt") == KEPT
    joined = Path("other.nbt").read_bytes() + Path("m.nbt").read_bytes()
    Path("cat.nbt").write_bytes(joined)
    said = run("policy", "-m", "cat.nbt")
    assert "its tables have different policies; the last one counts" in said.err
    assert policy_of("cat.nbt") == KEPT
    joined = Path("m.nbt").read_bytes() + Path("other.nbt").read_bytes()
    Path("cat.nbt").write_bytes(joined)
    said = run("policy", "-m", "cat.nbt")
    assert "the last one has none, so those of the others do not count" in said.err
    assert policy_of("cat.nbt") is None


def test_a_policy_that_the_sum_cannot_decide_by_is_not_kept(run: "Run") -> None:
    run("train", "-q", "--score", "sum", "-m", "one.nbt", "spam", "ham")
    score = ("--score", "sum", "-m", "other.nbt")
    run("train", "-q", *score, "spam=more spam", "news=more ham")
    shares = ("--prior", "spam=0.5", "--prior", "news=0.5")
    assert run("policy", "-m", "other.nbt", *shares).status == 0

    said = run("merge", "-q", "one.nbt", "other.nbt", "-o", "sum.nbt")

    assert said.status == 0
    assert "the policy of the last model, other.nbt, is not kept" in said.err
    assert "the prior leaves nothing for ham" in said.err
    assert policy_of("sum.nbt") is None
    assert run("classify", "-q", "-m", "sum.nbt", "more spam").status == 0


def test_the_policy_of_a_sum_is_judged_by_the_classes_that_are_left(
    run: "Run", model: Path
) -> None:
    run("train", "-q", "-m", "old.nbt", "--score", "sum", "junk=spam", "ham=ham")
    run("train", "-q", "-m", "new.nbt", "--score", "sum", "spam=spam", "ham=ham")
    prior = ("--prior", "spam=0.3", "--prior", "ham=0.7")
    assert run("policy", "-m", "new.nbt", *prior).status == 0
    models = ("old.nbt", "new.nbt", "-o", "both.nbt")

    said = run("merge", *models, "--documents", "spam", "--documents", "ham")

    assert (said.status, "policy" in said.err) == (0, False)
    assert model.exists()
    assert "0.3" in run("policy", "-m", "both.nbt").out
    assert "policy of the last model, new.nbt, is not kept" in run("merge", *models).err


def test_filter_moves_no_more_by_a_policy(run: "Run", tmp_path: Path) -> None:
    """Whatever is expected, its own thresholds hold, and the policy's besides."""
    random = np.random.default_rng(5)
    messages = {f"new/{n}": letter(random, SPAM) for n in range(24)}
    moved = {}
    for name, options in {
        "usual": (),
        "prior": ("--prior", "spam=0.999"),
        "costs": ("--cost", "spam:ham=1000"),
        "unsure": ("--unsure", "1"),
        "dear": ("--cost", "ham:spam=1e9"),
    }.items():
        folder = maildir(tmp_path / name, messages)
        said = run("filter", "-q", "--move", "spam=.Junk", *options, folder)
        assert said.status == 0
        moved[name] = len([*folder.glob(".Junk/new/*")])

    assert moved["usual"] > 0
    assert moved["prior"] <= moved["usual"]
    assert moved["costs"] <= moved["usual"]
    assert moved["unsure"] == moved["dear"] == 0


def test_a_prior_moves_nothing_that_the_cap_keeps(run: "Run", tmp_path: Path) -> None:
    """With 24 ham no probability of spam is .99, whatever is expected."""
    run("train", "-q", "-m", "few.nbt", "spam", "ham=more ham")
    folder = maildir(tmp_path / "inbox", {"new/1": mail(300, SPAM)})

    said = run(
        "filter", "-m", "few.nbt", "--prior", "spam=0.9999", "--move", "spam=.Junk",
        folder,
    )  # fmt: skip

    assert "1 stayed" in said.out
    assert "nothing will be taken for spam" in said.err


def test_training_again_keeps_the_policy(run: "Run") -> None:
    keep(run)
    assert run("learn", "-q", "ham", "more ham").status == 0

    again = run("train", "--replace", "spam", "ham")

    assert again.status == 0
    assert "note: the policy of the old model is kept" in again.err
    assert policy_of() == KEPT
    assert run("train", "-q", "spam", "ham") == (0, "", "")
    assert policy_of() == KEPT
    assert run("policy", "--clear").status == 0
    assert "policy" not in run("train", "spam", "ham").err
    assert policy_of() is None


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("junk=spam", "ham"), "no class 'spam'"),
        (("spam", "ham", "eggs=more spam"), "needs a model of two classes"),
    ],
    ids=["renamed", "three"],
)
def test_a_policy_that_the_new_model_cannot_decide_by_is_left_out(
    run: "Run", options: tuple[str, ...], reason: str
) -> None:
    assert run("policy", "--max-false-positives", "1%").status == 0

    again = run("train", *options)

    assert again.status == 0
    assert "note: the policy of the old model is not kept" in again.err
    assert reason in again.err
    assert policy_of() is None
    assert run("classify", "more ham").status == 0


def test_the_library_keeps_the_policy_too(run: "Run") -> None:
    keep(run)

    trained = train_on([("spam", "cheap pills"), ("ham", "lunch at noon")], "m.nbt")

    assert trained.contents.policy == policy_of() == KEPT
    assert "is kept" in trained.notes[0]


def test_a_share_of_false_positives_is_for_models_of_two_classes(run: "Run") -> None:
    run("train", "-q", "-m", "three.nbt", "a=ham", "b=spam", "c=ham")

    for limit in ("1%", "a=1%", "junk=1%"):
        said = run("policy", "-m", "three.nbt", "--max-false-positives", limit)
        assert (said.status, said.out) == (64, ""), limit
        assert "needs a model of two classes" in said.err, limit
        assert "three.nbt has 3" in said.err, limit


def test_a_file_of_costs_may_be_written_by_any_editor(
    run: "Run", tmp_path: Path
) -> None:
    path = tmp_path / "costs"
    path.write_bytes(b"\xef\xbb\xbfham : spam = 100\r\nham:unsure=5\r\n")

    said = run("policy", "--costs", path)

    assert (said.status, said.err) == (0, "")
    policy = policy_of()
    assert policy is not None
    assert policy.costs == (Cost("ham", "spam", 100.0), Cost("ham", None, 5.0))


def test_two_shares_of_false_positives_are_refused(run: "Run") -> None:
    limits = ("--max-false-positives", "spam=1%", "--max-false-positives", "ham=1%")

    for command in every_command():
        said = run(*command, *limits)

        assert (said.status, said.out) == (64, ""), command
        assert "two limits cannot both be met" in " ".join(said.err.split()), command
