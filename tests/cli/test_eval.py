"""`nbtext eval`: what it measures, with a model and without one."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nbtext import Policy, evaluate, evaluate_folds, load
from nbtext.store import ModelFile, open_model

if TYPE_CHECKING:
    from tests.cli.conftest import Run

KEYS = {
    "coverage", "error_decided", "mean_cost", "prior", "replay",
    "classes", "documents", "correct", "unsure", "unknown_label", "confusion",
    "confusion_unknown_label", "accuracy", "accuracy_decided", "per_class", "macro",
    "micro", "log_loss", "brier", "calibration_error", "reliability", "two_class",
    "scored_left_out", "passed_over", "intervals", "against",
}  # fmt: skip
TWO_CLASS_KEYS = {
    "positive", "negative", "positives", "negatives", "positives_unsure",
    "negatives_unsure", "false_positives", "false_negatives", "false_positive_rate",
    "false_negative_rate", "roc_auc", "one_minus_auc_percent", "lam_percent",
    "false_positives_allowed", "missed_at_fpr", "miss_rate_at_fpr",
}  # fmt: skip


@pytest.mark.usefixtures("model")
def test_eval_prints_figures_classes_confusion_and_reliability(run: "Run") -> None:
    status, out, err = run("eval", "-m", "mail.nbt", "--seen", "spam", "ham")

    assert (status, err) == (0, "")
    figures, classes, confusion, reliability = (
        [line.split("\t") for line in part.splitlines()] for part in out.split("\n\n")
    )
    assert [row[2] for row in figures if row[0] == "accuracy"] == ["0.7941 to 1.0000"]
    figures = [row[:2] for row in figures]
    assert dict(figures) | {"log-loss": "", "Brier score": "", "lam %": ""} == {
        "documents": "16",
        "unsure": "0",
        "accuracy": "1.0000",
        "macro F1": "1.0000",
        "log-loss": "",
        "Brier score": "",
        "calibration error": dict(figures)["calibration error"],
        "positive class": "spam",
        "false positive rate": "0.0000 (0 of 8)",
        "false negative rate": "0.0000 (0 of 8)",
        "ROC AUC": "1.0000",
        "1-AUC %": "0.0000",
        "lam %": "",
        "missed at 0.1 % fpr": "0.0000",
    }
    assert classes[0] == [
        "class", "precision", "recall", "F1", "support", "95 % of precision",
        "95 % of recall", "95 % of F1",
    ]  # fmt: skip
    assert classes[1][1:6] == ["1.0000", "1.0000", "1.0000", "8", "0.6306 to 1.0000"]
    assert [row[0] for row in classes[1:]] == [
        "ham", "spam", "macro average", "micro average",
    ]  # fmt: skip
    assert confusion == [
        ["truth", "ham", "spam", "?"],
        ["ham", "8", "0", "0"],
        ["spam", "0", "8", "0"],
    ]
    assert reliability[0] == ["probability", "documents", "mean", "right"]
    assert sum(int(row[1]) for row in reliability[1:]) == 16


@pytest.mark.parametrize("folds", [(), ("--folds", "4")], ids=["model", "folds"])
@pytest.mark.usefixtures("model")
def test_eval_gives_all_of_it_to_a_program(run: "Run", folds: tuple[str, ...]) -> None:
    arguments = folds or ("-m", "mail.nbt", "--seen")

    status, out, err = run("eval", "--json", *arguments, "spam", "ham")

    assert (status, err) == (0, "")
    said = json.loads(out)
    assert set(said) == KEYS
    assert set(said["two_class"]) == TWO_CLASS_KEYS
    assert said["classes"] == ["ham", "spam"]
    assert said["documents"] == 16
    assert sum(map(sum, said["confusion"])) == 16
    assert said["two_class"]["positive"] == "spam"
    assert set(said["per_class"]["ham"]) == {"precision", "recall", "f1", "support"}


@pytest.mark.usefixtures("corpus")
def test_folds_need_no_model_and_write_none(run: "Run") -> None:
    status, out, err = run("eval", "--folds", "4", "spam", "ham")

    assert (status, err) == (0, "")
    assert out.startswith("documents\t16\n")
    assert sorted(path.name for path in Path().rglob("*.nbt")) == []


@pytest.mark.usefixtures("corpus")
def test_eval_with_a_model_needs_one(run: "Run") -> None:
    status, out, err = run("eval", "spam", "ham")

    assert (status, out) == (66, "")
    assert err.startswith("Error: ")
    assert "/home/.local/share/nbtext/model.nbt: no model there" in err


@pytest.mark.usefixtures("model")
def test_labels_that_the_model_does_not_know_are_errors(run: "Run") -> None:
    sources = ("spam", "ham", "news=ham/1.eml", "news=ham/2.eml")

    status, out, err = run("eval", "-m", "mail.nbt", "--seen", "--json", *sources)

    assert status == 0
    assert err == (
        "WARNING: the model has no class 'news' (2 documents); its classes are ham, "
        "spam; name the class of each source: nbtext eval spam ham CLASS=ham/1.eml "
        "CLASS=ham/2.eml; until then each counts as an error\n"
    )
    said = json.loads(out)
    assert said["classes"] == ["ham", "spam"]
    assert (said["documents"], said["correct"], said["unknown_label"]) == (18, 16, 2)
    assert said["confusion_unknown_label"] == [2, 0, 0]
    assert said["accuracy"] == 16 / 18
    assert run("eval", "-m", "mail.nbt", "-q", *sources).err == err


@pytest.mark.usefixtures("model")
def test_an_unknown_label_inside_a_file_is_mended_there(run: "Run") -> None:
    Path("rows.txt").write_text("__label__ham at noon\n__label__hm see you\n")
    advice = (
        "has no class 'hm' (1 document); its classes are ham, spam; mend the labels in "
        "{}, or name the column that holds them (--label-column COLUMN); until"
    )

    err = run("eval", "-m", "mail.nbt", "--seen", "rows.txt").err
    assert advice.format("rows.txt") in err
    rows = Path("rows.txt").read_bytes()
    err = run("eval", "-m", "mail.nbt", "--seen", "-", stdin=rows).err
    assert advice.format("-") in err


@pytest.mark.parametrize("arguments", [("--folds", "4"), ("-m", "mail.nbt", "--seen")])
@pytest.mark.usefixtures("model")
def test_unsure_documents_are_counted_apart(
    run: "Run", arguments: tuple[str, ...]
) -> None:
    command = ("eval", *arguments, "--json", "--unsure", "1")

    status, out, err = run(*command, "spam", "ham")

    assert (status, err) == (0, "")
    said = json.loads(out)
    assert said["unsure"] == 16
    assert said["confusion"] == [[0, 0, 8], [0, 0, 8]]


@pytest.mark.parametrize("arguments", [("--folds", "4"), ("-m", "mail.nbt", "--seen")])
@pytest.mark.usefixtures("model")
def test_positive_names_the_class_that_is_looked_for(
    run: "Run", arguments: tuple[str, ...]
) -> None:
    good = run("eval", *arguments, "--positive", "ham", "spam", "ham")
    bad = run("eval", *arguments, "--positive", "eggs", "spam", "ham")

    assert (good.status, good.err) == (0, "")
    assert "\npositive class\tham\n" in good.out
    assert (bad.status, bad.out) == (64, "")
    assert bad.err.startswith("Error: positive class: ")


def test_folds_warn_of_labels_that_are_the_same_but_for_case(run: "Run") -> None:
    rows = [f"{n} words,{('True', 'true', 'False')[n % 3]}" for n in range(30)]
    Path("rows.csv").write_text("\n".join(["text,label", *rows]))

    status, _, err = run("eval", "--folds", "3", "rows.csv")

    assert status == 0
    assert "WARNING: the labels 'True' and 'true' are the same but for case" in err


def test_more_classes_than_two_have_no_positive_one(run: "Run") -> None:
    for label in ("a", "b", "c"):
        Path("all", label).mkdir(parents=True)
        for number in range(4):
            Path("all", label, str(number)).write_text(f"{label}{label} w{number}")

    status, out, err = run("eval", "--folds", "4", "--json", "all")

    assert (status, err) == (0, "")
    assert json.loads(out)["classes"] == ["a", "b", "c"]
    assert json.loads(out)["two_class"] is None


@pytest.mark.parametrize("arguments", [("--folds", "4"), ("-m", "mail.nbt", "--seen")])
@pytest.mark.usefixtures("model")
def test_eval_goes_on_without_what_it_cannot_read(
    run: "Run", arguments: tuple[str, ...]
) -> None:
    Path("spam/9.eml").symlink_to("nothing")

    status, out, err = run("eval", *arguments, "spam", "ham", "nowhere")

    assert status == 65
    assert out.startswith("documents\t16\n")
    first, second = err.splitlines()
    assert first.startswith("skipped: spam/9.eml: the link leads nowhere; ")
    assert second.startswith("skipped: nowhere: no such file or folder; ")


@pytest.mark.parametrize("arguments", [("--folds", "4"), ("-m", "mail.nbt", "--seen")])
@pytest.mark.usefixtures("model")
def test_eval_says_that_every_source_is_missing(
    run: "Run", arguments: tuple[str, ...]
) -> None:
    status, out, err = run("eval", *arguments, "nowhere", "nothing")

    second, first = err.splitlines()
    assert (status, out) == (66, "")
    assert first.startswith("Error: nowhere: no such file or folder; ")
    assert second.startswith("skipped: nothing: no such file or folder; ")


@pytest.mark.usefixtures("model")
def test_eval_hushes_notes_and_no_warning_of_what_is_lost(run: "Run") -> None:
    with Path("mail.nbt").open("ab") as file:
        file.write(Path("mail.nbt").read_bytes()[:-64])

    loud = run("eval", "-m", "mail.nbt", "spam", "ham")
    quiet = run("eval", "-q", "-m", "mail.nbt", "spam", "ham")

    warning, note, *_ = loud.err.splitlines()
    assert (loud.status, warning[:9], note[:6]) == (0, "WARNING: ", "note: ")
    assert quiet == (0, loud.out, f"{warning}\n")


@pytest.mark.usefixtures("model")
def test_eval_needs_documents(run: "Run") -> None:
    Path("empty").mkdir()

    status, out, err = run("eval", "-m", "mail.nbt", "empty")

    assert (status, out) == (65, "")
    assert err.splitlines() == [
        "note: empty: no document there",
        "Error: there is no document to evaluate; name labelled folders or files",
    ]


@pytest.mark.parametrize(
    "options",
    [
        ("--folds", "1"),
        ("--folds", "x"),
        ("--unsure", "2"),
        ("-m", "mail.nbt", "--ngrams", "1"),
        ("-m", "mail.nbt", "--alphabet", "words"),
        ("--jobs", "two"),
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("model")
def test_eval_refuses_bad_options(run: "Run", options: tuple[str, ...]) -> None:
    status, out, err = run("eval", *options, "spam", "ham")

    assert (status, out) == (64, "")
    assert "Error: " in err


@pytest.mark.usefixtures("model")
def test_eval_of_a_model_names_the_options_that_need_training(run: "Run") -> None:
    status, out, err = run(
        "eval", "--ngrams", "1", "--pattern", "x", "--score", "sum", "spam", "ham"
    )

    assert (status, out) == (64, "")
    assert "--pattern, --ngrams can be given with --folds, or to `train`" in err
    assert "--score" not in err
    options = ("--no-correction", "--no-byte-ngrams", "--views", "body")
    status, _, err = run("eval", *options, "spam", "ham")
    assert status == 64
    assert "; --no-byte-ngrams, --views, --no-correction can be given" in err


@pytest.mark.usefixtures("corpus")
def test_more_folds_than_documents_are_refused(run: "Run") -> None:
    status, out, err = run("eval", "--folds", "50", "spam/1.eml", "ham/1.eml")

    assert (status, out) == (65, "")
    assert err.startswith("Error: ")


@pytest.mark.usefixtures("corpus")
def test_folds_follow_the_settings_asked_for(run: "Run") -> None:
    command = ("eval", "--folds", "4", "--json", "spam", "ham")

    plain = run(*command)
    other = run(*command, "--score", "sum", "--smoothing", "1", "--ngrams", "1")

    assert (other.status, other.err) == (0, "")
    assert json.loads(plain.out)["log_loss"] != json.loads(other.out)["log_loss"]


@pytest.mark.usefixtures("corpus")
def test_folds_read_a_class_from_standard_input(process: "Run") -> None:
    rows = [
        json.dumps({"text": path.read_text()}) + "\n" for path in Path("spam").iterdir()
    ]
    stdin = "".join(rows).encode()

    status, out, err = process("eval", "--folds", "4", "spam=-", "ham", stdin=stdin)

    assert (status, err) == (0, "")
    assert out.startswith("documents\t16\n")


@pytest.mark.parametrize("how", [(), ("--unsure", "0.9")], ids=["all", "unsure"])
@pytest.mark.usefixtures("model")
def test_the_library_evaluates_as_the_command_does(
    run: "Run", how: tuple[str, ...]
) -> None:
    policy = Policy(float(how[1]) if how else 0.0)
    sources = ["spam", "ham"]

    of_model = evaluate(load("mail.nbt", policy=policy), sources)
    of_folds = evaluate_folds(sources, 4, policy=policy)

    said = run("eval", "--json", "-m", "mail.nbt", *how, *sources).out
    assert json.loads(json.dumps(of_model.as_dict())) == json.loads(said)
    said = run("eval", "--json", "--folds", "4", *how, *sources).out
    assert json.loads(json.dumps(of_folds.as_dict())) == json.loads(said)


@pytest.mark.usefixtures("model")
def test_eval_opens_the_model_once(run: "Run", monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def open_once(path: str) -> ModelFile:
        opened.append(path)
        return open_model(path)

    monkeypatch.setattr("nbtext.scoring.model.open_model", open_once)

    run("eval", "-m", "mail.nbt", "--score", "sum", "--smoothing", "1", "spam", "ham")

    assert opened == ["mail.nbt"]


@pytest.mark.usefixtures("model")
def test_labels_of_which_the_model_knows_none_are_refused(run: "Run") -> None:
    Path("ham").rename("good")
    Path("spam").rename("bad mail")

    status, out, err = run("eval", "-m", "mail.nbt", "good", "bad mail/")

    assert (status, out) == (64, "")
    assert err == (
        "Error: the model has no class 'good' (8 documents), 'bad mail' (8 documents); "
        "its classes are ham, spam; name the class of each source: "
        "nbtext eval CLASS=good 'CLASS=bad mail/'\n"
    )


@pytest.mark.usefixtures("model")
def test_the_one_class_that_is_missing_is_in_the_line_to_type(run: "Run") -> None:
    Path("spam").rename("junk stuff")

    status, _, err = run("eval", "-m", "mail.nbt", "ham", "junk stuff")

    assert status == 0
    assert "has no class 'junk stuff' (8 documents); its" in err
    assert ": nbtext eval ham 'spam=junk stuff'; until then" in err
    line = err.split("nbtext ")[1].split(";")[0]
    assert run(*shlex.split(line), "-m", "mail.nbt", "--seen").err == ""


@pytest.mark.usefixtures("model")
def test_eval_scores_what_was_counted_as_if_it_had_not_been(run: "Run") -> None:
    plain = run("eval", "-m", "mail.nbt", "--json", "spam", "ham")
    seen = run("eval", "-m", "mail.nbt", "--json", "--seen", "spam", "ham")

    assert plain.err == (
        "note: the model has counted all 16 documents; they are scored as if they had "
        "not been (--seen scores them as they are, --folds 10 makes models that have "
        "not seen them)\n"
    )
    assert seen.err == ""
    plain_figures, seen_figures = json.loads(plain.out), json.loads(seen.out)
    assert (plain_figures["scored_left_out"], plain_figures["passed_over"]) == (16, 0)
    assert (seen_figures["scored_left_out"], seen_figures["passed_over"]) == (0, 0)
    assert plain_figures["log_loss"] > seen_figures["log_loss"]


@pytest.mark.usefixtures("model")
def test_eval_leaves_out_what_was_counted_twice(run: "Run") -> None:
    Path("ham/9.eml").write_bytes(Path("ham/1.eml").read_bytes())
    run("train", "-m", "twice.nbt", "spam", "ham")

    status, out, err = run("eval", "-m", "twice.nbt", "--json", "spam", "ham")

    assert status == 0
    assert "; 15 are scored as if they had not been; 2 are left out, because" in err
    said = json.loads(out)
    assert (said["scored_left_out"], said["passed_over"]) == (15, 2)
    assert said["documents"] == 15


@pytest.mark.usefixtures("model")
def test_eval_of_nothing_but_what_cannot_be_taken_away_is_refused(run: "Run") -> None:
    one = ("spam=spam/1.eml", "ham=ham/1.eml")
    copies = ("spam=spam.copy", "ham=ham.copy")
    for label in ("spam", "ham"):
        Path(f"{label}.copy").write_bytes(Path(label, "1.eml").read_bytes())
    run("train", "-m", "twice.nbt", *one, *copies)

    status, out, err = run("eval", "-m", "twice.nbt", *one)

    assert (status, out) == (64, "")
    assert err.startswith("Error: the model has counted all 2 documents; they are left")
    assert run("eval", "-m", "twice.nbt", "--seen", *one).status == 0


@pytest.mark.usefixtures("corpus")
def test_eval_says_that_a_model_without_a_ledger_knows_nothing(run: "Run") -> None:
    run("train", "--no-ledger", "-m", "blind.nbt", "spam", "ham")

    plain = run("eval", "-m", "blind.nbt", "spam", "ham")
    seen = run("eval", "-m", "blind.nbt", "--seen", "spam", "ham")

    assert plain.out == seen.out
    assert plain.err == (
        "note: the model keeps no ledger; documents that it has counted, if there are "
        "any among these, are not recognised\n"
    )
    assert seen.err == ""


@pytest.mark.usefixtures("model")
def test_processes_know_what_was_counted_too(run: "Run") -> None:
    command = ("eval", "-m", "mail.nbt", "spam", "ham")

    assert run(*command, "--jobs", "2") == run(*command)


@pytest.mark.parametrize(
    "option", ["--seen", "--against=other.nbt", "--model=mail.nbt"]
)
@pytest.mark.usefixtures("corpus")
def test_some_options_are_about_a_model(run: "Run", option: str) -> None:
    status, _, err = run("eval", "--folds", "2", option, "spam", "ham")

    name = option.partition("=")[0]
    assert status == 64
    assert f"{name} is about a model; with --folds none is read." in err


@pytest.mark.usefixtures("model")
def test_two_models_are_compared_on_the_same_documents(run: "Run") -> None:
    """The other is of labels the wrong way round, and right about nothing."""
    run("train", "-m", "other.nbt", "spam=ham", "ham=spam")
    command = ("eval", "-m", "mail.nbt", "--seen", "--against", "other.nbt")

    status, out, err = run(*command, "spam", "ham")

    assert (status, err) == (0, "")
    assert out.split("\n\n")[-1].splitlines() == [
        "against\tother.nbt",
        "documents\t16",
        "accuracy\t1.0000",
        "accuracy of the other\t0.0000",
        "difference\t+1.0000\t0.5882 to 1.0000",
        "only this one right\t16",
        "only the other right\t0",
        "McNemar p\t3.052e-05",
    ]
    in_json = json.loads(run(*command, "--json", "spam", "ham").out)["against"]
    assert in_json["p_value"] == 2 / 2**16
    models = load("mail.nbt"), load("other.nbt")
    of_library = evaluate(models[0], ["spam", "ham"], seen=True, against=models[1])
    assert json.loads(json.dumps(of_library.as_dict()))["against"] == in_json
    assert run(*command, "--jobs", "2", "spam", "ham").out == out


@pytest.mark.usefixtures("model")
def test_models_are_compared_on_standard_input_too(run: "Run", process: "Run") -> None:
    run("train", "-m", "other.nbt", "spam=ham", "ham=spam")
    rows = [
        json.dumps({"text": path.read_text(), "label": path.parent.name}) + "\n"
        for path in (*Path("spam").iterdir(), *Path("ham").iterdir())
    ]
    command = ("eval", "-m", "mail.nbt", "--seen", "--against", "other.nbt", "-")

    status, out, err = process(*command, stdin="".join(rows).encode())

    assert (status, err) == (0, "")
    assert "\ndocuments\t16\naccuracy\t" in out.split("\n\n")[-1]


@pytest.mark.usefixtures("model")
def test_the_other_model_has_to_be_one(run: "Run") -> None:
    status, out, err = run(
        "eval", "-m", "mail.nbt", "--against", "none.nbt", "spam", "ham"
    )

    assert (status, out) == (66, "")
    assert err.startswith("Error: none.nbt: no model there")


@pytest.mark.usefixtures("model")
def test_the_one_of_two_models_that_has_counted_all_is_named(run: "Run") -> None:
    run("train", "-q", "-m", "new.nbt", "spam=spam/1.eml", "ham=ham/1.eml")
    run("prune", "-q", "mail.nbt")

    _, _, err = run("eval", "-m", "new.nbt", "--against", "mail.nbt", "spam", "ham")

    assert "Error: the model mail.nbt has counted all 16 documents; " in err


@pytest.mark.usefixtures("model")
def test_the_one_of_two_models_that_lacks_a_class_is_named(run: "Run") -> None:
    run("train", "-m", "other.nbt", "spam", "news=ham")
    command = ("eval", "-m", "mail.nbt", "--seen", "--against", "other.nbt")

    some, none = run(*command, "spam", "ham"), run(*command, "ham")

    told = "the model other.nbt has no class 'ham' (8 documents); its classes are news"
    assert (some.status, some.err.count("WARNING")) == (0, 1)
    assert f"WARNING: {told}" in some.err
    assert (none.status, none.out) == (64, "")
    assert f"Error: {told}" in none.err
