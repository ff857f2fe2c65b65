"""`nbtext tune`: which way to score does best on these documents."""

import json
import os
import random
import shlex
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import numpy as np
import pytest

from nbtext import SettingsOverrides, evaluate_folds, load, tune
from nbtext.learning.reading_once import LabelledSources
from nbtext.policy import Policy
from nbtext.scoring import event_models
from nbtext.settings.views import Field
from nbtext.sources import Options, rereadable
from nbtext.store import open_model
from nbtext.tuning import tune as tune_documents
from nbtext.tuning.tuned import safe_threshold
from tests.build import HAM, SPAM
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.cli.conftest import Run


@pytest.fixture
def rows() -> Path:
    """A table of 160 texts, some of which are hard to tell apart."""
    path = Path("rows.tsv")
    lines = []
    for number in range(80):
        for label, words, others in (("spam", SPAM, HAM), ("ham", HAM, SPAM)):
            some = [words[number % 8], words[number % 5], others[number % 7]]
            lines.append(f"{label}\t{' '.join(some)} {number}\n")
    path.write_text("".join(lines))
    return path


def test_every_event_model_that_can_is_tried(run: "Run", rows: Path) -> None:
    status, out, err = run("tune", "-q", "-m", "my mail.nbt", rows)

    assert (status, err) == (0, "")
    table, last = out.split("\n\n")
    heading, *lines = (line.split("\t") for line in table.splitlines())
    assert heading == ["log-loss", "95 %", "behind", "held out", "mark", "options"]
    tried = {line[5].split()[1] for line in lines if line[3] == "leave-one-out"}
    # of tfidf weights rest on all documents, so that each fold has its own
    assert tried == {event.name for event in event_models()} - {"tfidf"}
    folds = [line[5] for line in lines if line[3] == "5 folds"]
    assert "--score tfidf --calibrate --no-correction" in folds
    marks = [line[4] for line in lines if line[3] == "5 folds"]
    assert marks.count("chosen") == 1
    assert marks.count("best") <= 1
    assert {line[4] for line in lines if line[3] != "5 folds"} == {"-"}
    assert lines[0][3] == "5 folds"
    assert last.startswith("threshold\tspam from 0.")
    # the default chooses in training between two scores, one of which keeps none
    assert "\npolicy\tnbtext policy -m 'my mail.nbt' --cost ham:spam=" in last
    assert "\ntrain\tnbtext train -m 'my mail.nbt' " in last
    values = [float(line[0]) for line in lines if line[3] == "leave-one-out"]
    assert values == sorted(values)


def test_the_line_to_type_makes_the_model_that_write_makes(
    run: "Run", rows: Path
) -> None:
    status, out, _ = run("tune", "--write", "-m", "a.nbt", "-q", rows)

    line = out.splitlines()[-1].partition("\t")[2].replace(" -m a.nbt ", " -m b.nbt ")
    assert status == 0
    assert run(*shlex.split(line)[1:], "-q").status == 0
    one, other = load("a.nbt").model, load("b.nbt").model
    assert one.scoring == other.scoring
    assert one.settings == other.settings
    assert open_model("a.nbt").policy is None


@pytest.fixture
def no_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where documents are read to try something."""

    def tried(*_: object, **__: object) -> None:
        pytest.fail("what will be refused was tried before")

    monkeypatch.setattr("nbtext.api.advising.tune", tried)


def test_a_keyed_model_stays_keyed(run: "Run", rows: Path) -> None:
    assert run("train", "-q", "--keyed", "secret", "-m", "m.nbt", rows).status == 0
    before = open_model("m.nbt").settings.secret

    done = run("tune", "--write", "--keyed", "secret", "-m", "m.nbt", rows)

    assert done.status == 0
    assert before is not None
    assert open_model("m.nbt").settings.secret == before
    assert "\ntrain\tnbtext train -m m.nbt --keyed secret " in done.out


@pytest.mark.usefixtures("no_trial")
def test_what_may_not_be_replaced_is_refused_before_anything_is_tried(
    run: "Run", rows: Path
) -> None:
    assert run("train", "-q", "--keyed", "secret", "-m", "key.nbt", rows).status == 0
    assert run("train", "-q", "-m", "m.nbt", rows).status == 0
    assert run("learn", "-q", "-m", "m.nbt", "spam", stdin=b"prize").status == 0
    Path("wrong").write_bytes(b"no secret")

    keyed = run("tune", "--write", "-m", "key.nbt", rows)
    taught = run("tune", "--write", "-m", "m.nbt", rows)
    secret = run("tune", "--write", "-m", "new.nbt", "--keyed", "wrong", rows)

    assert "name the secret with --keyed FILE, or replace it with --replace" in (
        keyed.err
    )
    assert "1 document was learnt, moved or forgotten since" in taught.err
    assert "wrong: a secret " in secret.err
    assert [keyed.status, taught.status, secret.status] == [64, 73, 64]


def test_the_line_to_type_shows_no_terminal_what_to_do(run: "Run", rows: Path) -> None:
    odd = [Path("a\x1b[31m'\t\\x41ü.tsv"), Path("b\udcff.tsv"), Path("-c d.tsv")]
    lines = rows.read_text().splitlines(keepends=True)
    for number, path in enumerate(odd):
        path.write_text("".join(lines[number::3]))

    out = run("tune", "-q", "--", *odd).out

    line = out.splitlines()[-1].partition("\t")[2]
    assert line.isprintable()
    words = "import os, sys; print(*map(os.fsencode, sys.argv[1:]))"
    script = line.replace("nbtext train", shlex.join([sys.executable, "-c", words]), 1)
    said = subprocess.run(
        ["bash", "-c", script], capture_output=True, check=True, timeout=PATIENCE
    )
    assert (
        said.stdout.decode()
        .strip()
        .endswith(" ".join(repr(os.fsencode(path)) for path in odd))
    )


def test_standard_input_is_tuned_on_and_not_written(process: "Run", rows: Path) -> None:
    """It can be read once, and to write a model takes it twice."""
    tuned = process("tune", "-q", "-", stdin=rows.read_bytes())
    written = process("tune", "-q", "--write", "-m", "m.nbt", "-", stdin=b"")

    assert tuned.status == 0
    assert tuned.out.endswith(" -\n")
    assert " -- " not in tuned.out
    assert (written.status, written.out) == (64, "")
    assert "standard input can be read once" in written.err
    assert not Path("m.nbt").exists()


@pytest.mark.parametrize("measure", ["error", "1-auc"])
def test_the_library_tunes_as_the_command_does(
    run: "Run", rows: Path, measure: str
) -> None:
    said = json.loads(run("tune", "--json", "-q", "--measure", measure, rows).out)

    found = tune([str(rows)], measure=measure)

    lines = {name: said[name] for name in ("policy", "train")}
    assert json.loads(json.dumps(found.as_dict())) | lines == said
    assert found.rows[0].value <= found.rows[1].value


@pytest.mark.usefixtures("corpus")
def test_mail_is_tuned_too(run: "Run") -> None:
    status, out, err = run("tune", "-q", "spam", "ham")

    assert (status, err) == (0, "")
    assert "--views " in out


@pytest.mark.usefixtures("rows")
def test_a_threshold_is_written_if_it_is_asked_for(run: "Run") -> None:
    assert run("train", "-q", "rows.tsv", "-m", "a.nbt").status == 0
    asked = ("tune", "--write", "--max-false-positives", "ham=5%", "rows.tsv")

    status, out, err = run(*asked, "-m", "b.nbt")

    assert status == 0
    assert "wrote b.nbt" in err
    (cost,) = (open_model("b.nbt").policy or Policy()).costs
    assert (cost.truth, cost.decision) == ("spam", "ham")
    start = float(out.partition("threshold\tham from ")[2].split()[0])
    assert cost.price / (1 + cost.price) == pytest.approx(start, abs=1e-4)
    line = out.partition("\npolicy\t")[2].partition("\n")[0]
    line = line.replace(" -m b.nbt ", " -m a.nbt ")
    assert run(*shlex.split(line)[1:]).status == 0
    assert open_model("a.nbt").policy == open_model("b.nbt").policy
    bad = run("tune", "--max-false-positives", "eggs=5%", "rows.tsv")
    assert (bad.status, bad.out) == (64, "")


@pytest.mark.usefixtures("corpus")
def test_a_threshold_of_classes_that_are_well_apart_takes_none_for_the_other(
    run: "Run",
) -> None:
    command = ("tune", "--write", "-q", "--max-false-positives", "spam=10%")
    status, out, _ = run(*command, "-m", "apart.nbt", "spam", "ham")

    assert status == 0
    assert float(out.partition("threshold\tspam from ")[2].split()[0]) >= 0.5
    judged = run("classify", "-m", "apart.nbt", "ham").out
    assert {line.split("\t")[0] for line in judged.splitlines()} == {"ham"}


@pytest.mark.usefixtures("corpus")
def test_the_threshold_is_of_the_probability_that_its_policy_looks_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where prices decide that is the one that is told, which is capped."""
    looked_at = Mock(wraps=safe_threshold)
    monkeypatch.setattr("nbtext.tuning.tuning.safe_threshold", looked_at)
    largest = []
    for is_followed in (True, False):
        monkeypatch.setattr(
            "nbtext.tuning.tuning._keeps_scores", lambda *_, found=is_followed: found
        )
        tune(["spam", "ham"])
        largest.append(np.exp(looked_at.call_args.args[1]).max())

    most = 9 / 10  # 8 of the other class at the most have been learnt
    assert largest[1] <= most < largest[0]


def marked(n: int) -> str:
    """Return texts of three classes, told apart by pairs of words, and marks by lot."""
    chance = random.Random(1)  # noqa: S311  no secret
    lines = []
    for number in range(n):
        step = 1 + number % 3
        words: list[int] = [chance.randrange(12)]
        while len(words) < 9:
            words.append((words[-1] + step) % 12)
        marks = (chance.choice([" ", " ", "!;. ", " -/- ", " (?) "]) for _ in words)
        text = "".join(
            f"w{word}{mark}" for word, mark in zip(words, marks, strict=True)
        )
        lines.append(f"{'abc'[step - 1]}\t{text}\n")
    return "".join(lines)


def test_no_model_is_told_twice() -> None:
    Path("rows.tsv").write_text(marked(30))
    tried = [row for row in tune(["rows.tsv"]).rows if row.how == "5 folds"]

    # of these texts the default is --score contrast, and that is chosen of the others
    assert [] in [row.options for row in tried]
    assert ["--score", "contrast"] not in [row.options for row in tried]
    assert len({row.value for row in tried}) == len(tried)


def test_the_other_alphabet_is_tried_and_chosen_where_marks_mislead() -> None:
    Path("rows.tsv").write_text(marked(240))
    tuned = tune(["rows.tsv"], measure="error")

    assert tuned.options[:2] == ["--alphabet", "words"]
    rows = tuned.rows
    words = next(row for row in rows if row.options == ["--alphabet", "words"])
    folds = evaluate_folds(["rows.tsv"], overrides=words.overrides, folds=5)
    assert folds.accuracy == pytest.approx(1 - words.value)
    of_default = next(row for row in rows if not row.options)
    assert words.value < of_default.value


@pytest.mark.parametrize(
    "fixed", [{"alphabet": "marks"}, {"pattern": r"\w+"}], ids=["alphabet", "pattern"]
)
def test_an_alphabet_is_not_tried_where_tokens_are_fixed(fixed: Any) -> None:
    Path("rows.tsv").write_text(marked(60))

    tuned = tune(["rows.tsv"], overrides=SettingsOverrides(**fixed))

    assert {row.overrides.alphabet for row in tuned.rows} == {fixed.get("alphabet")}


def test_records_without_text_are_read_once() -> None:
    lines = [f"{'ab'[n % 2]},{n % 3},{n % 7}\n" for n in range(80)]
    Path("rows.csv").write_text("label,city,age\n" + "".join(lines))
    options = Options(categorical_columns=("city",), numeric_columns=("age",))
    fields = (Field("city", "value"), Field("age", "number"))
    read = Mock(side_effect=rereadable(["rows.csv"], options))

    tuned = tune_documents(
        LabelledSources(read, 1000),
        measure="log-loss",
        overrides=SettingsOverrides(fields=fields),
        max_false_positives=None,
        on_trial=None,
    )

    assert read.call_count == 1
    assert {row.overrides.alphabet for row in tuned.rows} == {None}


def test_an_alphabet_that_leaves_no_token_is_left_out(run: "Run") -> None:
    kinds = ("!?", "-=", ":;")
    texts = (
        (kind, "".join(text)) for kind in kinds for text in product(kind, repeat=4)
    )
    lines = [f"{kinds.index(kind)}\t{text}\n" for kind, text in texts]
    Path("rows.tsv").write_text("".join(lines))

    status, out, err = run("tune", "-q", "rows.tsv")

    assert (status, err) == (0, "")
    assert "--alphabet words" not in out
