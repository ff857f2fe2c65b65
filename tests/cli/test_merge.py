"""`nbtext merge`: models added up at the command line."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def test_merge_says_what_is_in_both(run: "Run", model: Path) -> None:
    first = sorted(Path("spam").iterdir())[0]
    assert run("train", "-q", "-m", "b.nbt", f"ham={first}", "spam=spam").status == 0

    status, out, err = run("merge", model, "b.nbt", "-o", "both.nbt")

    assert (status, out) == (0, "")
    assert err.splitlines()[:3] == [
        "merged 25 documents: ham 9, spam 16",
        "WARNING: 8 documents in more than one model, and counted as often; bring them "
        "with --documents to count them once",
        "WARNING: 1 document spam in one model and ham in a later one",
    ]
    assert err.splitlines()[3].startswith("wrote both.nbt (")


def test_merge_counts_documents_once_that_are_brought(run: "Run", model: Path) -> None:
    assert run("train", "-q", "-m", "b.nbt", "ham", "spam").status == 0

    status, out, err = run(
        "merge", model, "b.nbt", "-o", "both.nbt", "--documents", "spam", "--json"
    )

    assert status == 0
    said = json.loads(out)
    assert said["classes"] == {"ham": 16, "spam": 8}
    assert (said["doubles"], said["taken"], said["conflicts"]) == (16, 8, [])
    quiet = run("merge", "-q", model, "b.nbt", "-o", "quiet.nbt")
    assert quiet.err.startswith("WARNING: 16 documents in more than one model")
    assert len(quiet.err.splitlines()) == 1
    assert "took away what 8 documents left twice" in err
    assert "WARNING: 8 documents in more than one model" in err


def test_merge_refuses_what_has_changed_by_name(run: "Run", model: Path) -> None:
    assert run("train", "-q", "-m", "b.nbt", "ham", "spam").status == 0
    mail = sorted(Path("spam").iterdir())[0]
    mail.write_bytes(b"Received: by elsewhere.example\n" + mail.read_bytes())

    status, out, err = run(
        "merge", "-q", model, "b.nbt", "-o", "both.nbt", "--documents", "spam"
    )

    assert (status, out) == (65, "")
    assert err.startswith(f"refused: {mail}: {model}: it was learnt as spam with other")
    info = json.loads(run("info", "--json", "-m", "both.nbt").out)
    assert info["classes"]["spam"]["documents"] == 9


def test_merge_does_not_write_over_one_of_the_models(run: "Run", model: Path) -> None:
    before = model.read_bytes()

    status, out, err = run("merge", model, model, "-o", model)

    assert (status, out) == (64, "")
    assert "is one of the models" in err
    assert model.read_bytes() == before


def test_merge_does_not_write_over_a_model_that_was_taught(
    run: "Run", model: Path
) -> None:
    mail = sorted(Path("spam").iterdir())[0]
    assert run("train", "-q", "-m", "b.nbt", "ham", "spam").status == 0
    assert run("learn", "-q", "-m", "b.nbt", "ham", mail).status == 0

    refused = run("merge", model, model, "-o", "b.nbt")
    done = run("merge", "-q", model, model, "-o", "b.nbt", "--replace")

    assert (refused.status, refused.out) == (73, "")
    assert "--replace" in refused.err
    assert (done.status, done.out) == (0, "")


def test_merge_names_a_model_that_is_missing_or_damaged(
    run: "Run", model: Path
) -> None:
    Path("bad.nbt").write_bytes(model.read_bytes()[:-20])

    missing = run("merge", model, "none.nbt", "-o", "both.nbt")
    damaged = run("merge", model, "bad.nbt", "-o", "both.nbt")

    assert (missing.status, damaged.status) == (66, 65)
    assert missing.err.startswith("Error: none.nbt: no model there")
    assert damaged.err.startswith("Error: bad.nbt: damaged at byte 0")
    assert not Path("both.nbt").exists()


def test_doubles_in_a_joined_file_are_named_wherever_it_is_looked_at(
    run: "Run", model: Path
) -> None:
    assert run("train", "-q", "-m", "b.nbt", "ham", "spam").status == 0
    joined = Path("joined.nbt")
    joined.write_bytes(model.read_bytes() + Path("b.nbt").read_bytes())

    said = "16 documents are in more than one of the models that were joined"

    assert said in run("check", "-m", "joined.nbt").err
    assert said in run("info", "-m", "joined.nbt").err
    assert json.loads(run("info", "--json", "-m", "joined.nbt").out)["doubles"] == 16
    assert (
        "16 documents in more than one model"
        in run("merge", "joined.nbt", "-o", "sum.nbt").err
    )
    assert said in run("compact", "-m", "joined.nbt").err


def test_models_are_opened_in_turn_and_within_a_bound(run: "Run", model: Path) -> None:
    first = sorted(Path("spam").iterdir())[0]
    assert run("train", "-q", "-m", "b.nbt", f"ham={first}", "spam=spam").status == 0
    plain = run("merge", model, "b.nbt", "-o", "both.nbt")

    done = run("merge", "--tree", "--memory", "1k", model, "b.nbt", "-o", "tree.nbt")

    assert done.status == 0
    assert done.err.replace("tree.nbt", "both.nbt") == plain.err
    dumped = [
        run("dump", "-m", name).out.splitlines() for name in ("both.nbt", "tree.nbt")
    ]
    assert dumped[0][1:] == dumped[1][1:]
    refused = run(
        "merge", "--tree", model, "b.nbt", "-o", "c.nbt", "--documents", "spam"
    )
    assert refused.status == 64
    assert "leave out --tree, or --documents" in refused.err


def test_every_command_of_whole_models_takes_the_bound(run: "Run", model: Path) -> None:
    def dump(*options: str) -> list[str]:
        return run("dump", "-m", model, *options).out.splitlines()

    plain = dump()
    Path("a.jsonl").write_text("\n".join([*plain, ""]))
    bound = ("--memory", "1k")

    assert dump(*bound)[1:] == plain[1:]
    assert run("check", "-m", model, *bound).status == 0
    assert run("load", "-m", "copy.nbt", *bound, "a.jsonl").status == 0
    assert run("compact", "-m", model, *bound).status == 0
    assert dump()[1:] == plain[1:]
    assert run("prune", "-m", model, *bound, "--min-documents", "2").status == 0
    folds = ("eval", "--folds", "2", "--json", "spam", "ham")
    assert run(*folds, *bound).out == run(*folds).out


def test_models_of_other_classes_are_told_apart(run: "Run", model: Path) -> None:
    assert run("train", "-q", "-m", "b.nbt", "good=ham", "spam").status == 0

    status, out, err = run("merge", model, "b.nbt", "-o", "both.nbt")

    assert (status, out) == (64, "")
    assert err == (
        f"Error: b.nbt has the classes good, spam, and {model} ham, spam: together 3, "
        "which the mean score cannot tell apart; if some mean the same, give them one "
        "name first (`nbtext rename`)\n"
    )
    assert not Path("both.nbt").exists()


def test_models_joined_by_cat_are_scored_as_the_last_one(
    run: "Run", model: Path
) -> None:
    few = ["spam=spam/0.eml", "spam=spam/1.eml", "ham=ham/0.eml", "ham=ham/1.eml"]
    assert run("train", "-q", "--smoothing", "0.5", "-m", "few.nbt", *few).status == 0
    Path("cat.nbt").write_bytes(model.read_bytes() + Path("few.nbt").read_bytes())

    merged = run("merge", "-q", model, "few.nbt", "-o", "merged.nbt")

    assert merged.status == 0
    told = {
        path: json.loads(run("info", "-m", path, "--json").out)
        for path in (str(model), "few.nbt", "cat.nbt", "merged.nbt")
    }
    smoothing = {path: one["scoring"]["smoothing"] for path, one in told.items()}
    assert smoothing["cat.nbt"] == smoothing["few.nbt"] == 0.5
    assert smoothing["merged.nbt"] == smoothing[str(model)] != 0.5
    assert told["cat.nbt"]["classes"] == told["merged.nbt"]["classes"]
    note = run("classify", "-m", "cat.nbt", "spam/2.eml").err
    assert "the last one wins (--score mean --smoothing 0.5)" in note
