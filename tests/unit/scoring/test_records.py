"""Records: the issue's ten rows, laws of mixed models, and values that are odd."""

from collections import defaultdict
from math import exp, inf, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nbtext import (
    SettingsOverrides,
    classify_all,
    evaluate,
    forget,
    learn,
    load,
    read_documents,
    train,
    tune,
)
from nbtext.errors import NbtextError
from nbtext.scoring import Classifier
from nbtext.scoring.batch import joint_log_likelihoods, score_batch
from nbtext.scoring.batch_model import open_batch_model
from nbtext.scoring.held_out import fitted
from nbtext.scoring.model import load_model
from nbtext.scoring.unseen import LEFT_OUT, UnseenClassifier
from nbtext.sources import Options
from nbtext.store.contents import read_contents
from nbtext.store.file import open_model
from nbtext.textform.dumping import text_lines
from nbtext.textform.loading import load_text
from nbtext.tokens import read, read_terms
from nbtext.upkeep.checking import check_model
from tests.build import MIXED, mixed_rows, mixed_table

TEN_ROWS = """A,B,class
m,b,t
m,s,t
g,q,t
h,s,t
g,q,t
g,q,f
g,s,f
h,b,f
h,q,f
m,b,f
"""

CATEGORIES = Options(label_column="class", categorical_columns=("A", "B"))
SCORES = ["weighted", "sum", "mean", "contrast", "complement"]


def written(path: Path, text: str) -> str:
    path.write_text(text, newline="")
    return str(path)


def scored(path: str, table: str, **overrides: Any) -> dict[str, dict[str, float]]:
    model = load(path, overrides=SettingsOverrides(**overrides))
    decisions = classify_all(model, read_documents([table], model=model))
    return {
        decision.name.rpartition(":")[2]: dict(
            zip(decision.classes, decision.log_posterior, strict=True)
        )
        for decision in decisions
    }


def mixed_model(folder: Path, **overrides: Any) -> tuple[Classifier, str]:
    """Return a model of rows of text, a category and two numbers, and their table."""
    folder.mkdir(exist_ok=True)
    path, table = folder / "m.nbt", mixed_table(folder / "m.csv", mixed_rows())
    train([table], path, options=MIXED, overrides=SettingsOverrides(**overrides))
    return load(path), table


def ten_rows(tmp_path: Path, smoothing: float) -> str:
    path = str(tmp_path / "ten.nbt")
    table = written(tmp_path / "ten.csv", TEN_ROWS)
    overrides = SettingsOverrides(category_smoothing=smoothing)
    train([table], path, options=CATEGORIES, overrides=overrides)
    return path


@pytest.mark.parametrize(
    ("row", "t", "f"), [("m,q", 2 / 25, 1 / 25), ("g,q", 2 / 25, 2 / 25)]
)
def test_the_ten_rows_without_smoothing(
    row: str, t: float, f: float, tmp_path: Path
) -> None:
    model = load(ten_rows(tmp_path, 0.0))
    table = written(tmp_path / "one.csv", f"A,B\n{row}\n")
    (document,) = read_documents([table], model=model)

    (joint,) = model.joint_log_likelihoods([document])

    assert [*map(exp, joint)] == pytest.approx([f, t], rel=1e-12)


def test_a_value_never_seen_makes_one_more_of_them(tmp_path: Path) -> None:
    model = load(ten_rows(tmp_path, 0.5))
    table = written(tmp_path / "one.csv", "A,B\nnew,q\nm,\n")
    new, missing = model.joint_log_likelihoods([*read_documents([table], model=model)])

    # five rows a class, three values of A and of B
    assert new[1] - log(0.5) == pytest.approx(
        log(0.5 / (5 + 0.5 * 4)) + log((2 + 0.5) / (5 + 0.5 * 3))
    )
    assert missing[1] - log(0.5) == pytest.approx(log((2 + 0.5) / (5 + 0.5 * 3)))


def test_where_nothing_is_possible_the_posterior_is_the_shares(tmp_path: Path) -> None:
    path = ten_rows(tmp_path, 0.0)
    table = written(tmp_path / "odd.csv", "A,B\n" + "new,q\n" * 20 + "g,q\n")
    model = load(path)
    documents = [*read_documents([table], model=model)]

    many = [*classify_all(model, documents)]
    (few,) = model.classify(documents[:1])

    for decision in (*many[:20], few):
        assert decision.label is None
        assert decision.log_posterior == pytest.approx((log(0.5), log(0.5)))
    assert many[20].label is not None


@pytest.mark.parametrize("score_name", SCORES)
def test_an_excluded_class_has_finite_numbers_everywhere(
    score_name: str, tmp_path: Path
) -> None:
    path = str(tmp_path / "m.nbt")
    rows = "".join(f"{'ab'[n % 2]},{'xy'[n % 2]},{n % 3} {n % 2}\n" for n in range(40))
    table = written(tmp_path / "a.csv", f"class,A,notes\n{rows}")
    options = Options(
        label_column="class", text_columns=("notes",), categorical_columns=("A",)
    )
    overrides = SettingsOverrides(score=score_name, category_smoothing=0.0)
    train([table], path, options=options, overrides=overrides)
    odd = written(tmp_path / "odd.csv", "A,notes\nx,1 0\ny,1 0\nnew,1 0\n" * 7)
    model = load(path)
    documents = [*read_documents([odd], model=model)]

    for document, many in zip(documents, classify_all(model, documents), strict=True):
        (one,) = model.classify([document])
        assert np.isfinite(one.log_posterior).all()
        assert many.log_posterior == pytest.approx(one.log_posterior)
        why = model.explain(document)
        sums = why.score + why.calibration + why.others + why.prior + why.cap
        assert sums == pytest.approx(why.log_odds)
        assert why.score == pytest.approx(sum(one.contribution for one in why.parts))
        assert all(np.isfinite(one.contribution) for one in why.reasons)
    loss = evaluate(model, [table], seen=True).log_loss
    assert loss is not None
    assert loss < 1


@pytest.mark.parametrize("score_name", ["mean", "weighted", "sum"])
@pytest.mark.parametrize("number", ["80", "1e4", "1e9"])
def test_a_number_that_excludes_a_class_is_told_and_adds_up(
    score_name: str, number: str, tmp_path: Path
) -> None:
    path = str(tmp_path / "m.nbt")
    rows = "".join(f"{'ab'[n % 2]},{5 + n % 2 + n / 1e4},{n % 3}\n" for n in range(40))
    table = written(tmp_path / "a.csv", f"class,x,notes\n{rows}")
    options = Options(
        label_column="class", text_columns=("notes",), numeric_columns=("x",)
    )
    train([table], path, options=options, overrides=SettingsOverrides(score=score_name))
    odd = written(tmp_path / "odd.csv", f"x,notes\n{number},1\n")
    model = load(path)

    (document,) = read_documents([odd], model=model)
    why = model.explain(document)

    assert why.score + why.calibration + why.cap == pytest.approx(why.log_odds)
    assert why.others == 0.0
    assert abs(why.reasons[0].contribution) > 1000
    (x,) = (one for one in why.parts if one.name == "x")
    assert x.contribution == sum(
        one.contribution for one in why.reasons if one.view == "x"
    )


def test_missing_values_are_not_counted(tmp_path: Path) -> None:
    path = str(tmp_path / "model.nbt")
    rows = "A,B,class\nm,,t\n,b,t\ng,q,t\nm,b,f\n  ,q,f\n"
    train([written(tmp_path / "a.csv", rows)], path, options=CATEGORIES)
    model = load_model(path)

    assert model.totals[0] == ((1, 1), (2, 2))
    assert model.n_terms(0) == 2


@pytest.mark.parametrize("score_name", SCORES)
def test_both_engines_agree_and_evidence_adds_up(
    score_name: str, tmp_path: Path
) -> None:
    model, table = mixed_model(tmp_path, score=score_name)
    documents = [*read_documents([table], model=model)]

    many = [*classify_all(model, documents)]
    few = [model.classify([document])[0] for document in documents]

    for one, other in zip(many, few, strict=True):
        assert one.known == other.known
        assert one.log_posterior == pytest.approx(other.log_posterior, rel=1e-9)
    sources = {view.name for view in model.model.settings.views}
    for document in documents[:5]:
        scores = [model.explain(document, label=name) for name in ("n", "y")]
        assert sources <= {part.name for part in scores[0].parts}
        found = [one.slope * one.score + one.offset for one in scores]
        (n, y) = few[documents.index(document)].log_posterior
        assert found == pytest.approx([n - y, y - n], rel=1e-9, abs=1e-9)


def test_a_model_comes_back_from_its_text_with_records(tmp_path: Path) -> None:
    rows, path = mixed_rows(), str(tmp_path / "m.nbt")
    train([mixed_table(tmp_path / "m.csv", rows[:30])], path, options=MIXED)
    model = load(path)
    rest = [*read_documents([mixed_table(tmp_path / "r.csv", rows[30:])], model=model)]
    learn(path, "y", rest)
    lines = [*text_lines(read_contents(open_model(path)), "m")]
    text = tmp_path / "m.txt"
    text.write_text("\n".join([*lines, ""]))

    with text.open("rb") as stream:
        loaded = load_text(stream, "m")
    (tmp_path / "l.nbt").write_bytes(b"".join(loaded.contents.pack()))

    assert [
        *text_lines(read_contents(open_model(str(tmp_path / "l.nbt"))), "m")
    ] == lines
    forget(str(tmp_path / "l.nbt"), rest)
    forget(path, rest)
    assert load_model(str(tmp_path / "l.nbt")).totals == load_model(path).totals


EXTREMES = ["1e308", "-1e308", "5e-324", "1e-308", "0", "-0.0", "7", "7.5"]


def test_extreme_numbers_have_defined_answers(tmp_path: Path) -> None:
    path = str(tmp_path / "m.nbt")
    rows = [f"{kind},{x}" for kind in "ab" for x in EXTREMES]
    table = written(tmp_path / "m.csv", "\n".join(["class,x", *rows, ""]))
    train([table], path, options=Options(numeric_columns=("x",)))

    found = scored(path, table)

    assert check_model(path).is_sound
    for posterior in found.values():
        assert sum(map(exp, posterior.values())) == pytest.approx(1)
    forget(path, [*read_documents([table], model=load(path))])


@pytest.mark.parametrize(
    "rows",
    [
        ["a,1", "b,2", "b,3"],  # a class of one value
        ["a,5", "a,5", "b,5", "b,5"],  # no variance at all
        ["a,5", "a,5", "b,6", "b,7"],  # none in a class
        ["a,", "a,", "b,6", "b,7"],  # no number in a class
    ],
)
@pytest.mark.parametrize("smoothing", [0.0, 1e-9])
def test_few_numbers_have_defined_answers(
    rows: list[str], smoothing: float, tmp_path: Path
) -> None:
    path = str(tmp_path / "m.nbt")
    table = written(tmp_path / "m.csv", "\n".join(["class,x", *rows, ""]))
    overrides = SettingsOverrides(variance_smoothing=smoothing)
    train([table], path, options=Options(numeric_columns=("x",)), overrides=overrides)
    more = written(tmp_path / "n.csv", "x\n5\n6.5\n1e300\n\n" + "4\n" * 20)

    for posterior in scored(path, more).values():
        assert not any(map(np.isnan, posterior.values()))
        assert sum(map(exp, posterior.values())) == pytest.approx(1)


@pytest.mark.parametrize(
    "value", ["old", "nan", "inf", "1e999", "1_0", "3,5x", "x" * 99]
)
def test_what_is_no_number_is_named_with_row_and_column(
    value: str, tmp_path: Path
) -> None:
    table = written(tmp_path / "m.csv", f'class,x\na,1\nb,"{value}"\nb,2\na,3\n')
    path = str(tmp_path / "m.nbt")

    trained = train([table], path, options=Options(numeric_columns=("x",)))

    (problem,) = trained.report.skipped
    assert problem.name == f"{table}:2"
    assert "column x" in str(problem.error)
    assert trained.report.documents == 3


def test_many_values_and_long_ones_work_and_are_warned_of(tmp_path: Path) -> None:
    path, long = str(tmp_path / "m.nbt"), "x" * (1 << 20)
    rows = [f"{'ab'[n % 2]},value {n}" for n in range(100_000)]
    text = "\n".join(["class,x", *rows, f"a,{long}", ""])

    trained = train(
        [written(tmp_path / "m.csv", text)],
        path,
        options=Options(categorical_columns=("x",)),
    )

    (warning,) = [note for note in trained.report.notes if note.is_warning]
    assert "100,001 different values" in warning.text
    assert load_model(path).n_terms(0) == 100_001
    one = written(tmp_path / "n.csv", f"x\n{long}\n{long}y\n")
    known, new = scored(path, one).values()
    assert known["a"] > known["b"]
    assert abs(new["a"] - new["b"]) < 0.01


def test_a_missing_column_is_an_error_and_its_order_is_not(tmp_path: Path) -> None:
    path = mixed_model(tmp_path)[0].model.path
    one = written(tmp_path / "o.csv", "age,size,city,notes\n41,1,Rome,late call\n")
    two = written(tmp_path / "p.csv", "notes,city,size,age\nlate call,Rome,1,41\n")
    without = written(tmp_path / "w.csv", "notes,city,age\nlate call,Rome,41\n")

    assert [*scored(path, one).values()] == [*scored(path, two).values()]
    with pytest.raises(NbtextError, match="no column size"):
        scored(path, without)


def test_a_document_that_is_no_record_is_an_error(tmp_path: Path) -> None:
    model, _ = mixed_model(tmp_path)

    for document in (b"hello", "hello"):
        with pytest.raises(NbtextError, match="no column notes; the model reads"):
            [*classify_all(model, [document])]


def test_tune_scores_records_left_out_as_a_model_of_them_does(tmp_path: Path) -> None:
    truth = np.array([row.split(",")[0] == "y" for row in mixed_rows()], np.int64)

    tuned = tune([mixed_table(tmp_path / "m.csv", mixed_rows())], options=MIXED)

    losses = {
        row.overrides.score: row.value
        for row in tuned.rows
        if row.how == "leave-one-out"
        and row.overrides.smoothing is None
        and row.overrides.counting is None
        and not (row.overrides.views or row.overrides.parameters)
        and row.overrides.category_smoothing is None
        and row.overrides.variance_smoothing is None
    }
    for name in ("mean", "complement", "sum"):
        is_sum = name == "sum"
        whole, table = mixed_model(
            tmp_path / name, score=name, correction=False, calibrate=is_sum
        )
        batch = open_batch_model(whole.model)
        documents = [*read_documents([table], model=whole)]
        readings = [read(one, batch.settings).views for one in documents]
        views = read_terms(batch.settings, readings)
        found = score_batch(batch, views, fitted(whole.model), truth)
        loss = -found.log_posterior[np.arange(len(truth)), truth].mean()
        assert losses[name] == pytest.approx(loss, rel=1e-9)


def test_json_lines_and_semicolons_are_read_likewise(tmp_path: Path) -> None:
    path = mixed_model(tmp_path)[0].model.path
    lines = written(
        tmp_path / "o.jsonl",
        '{"age": 41.5, "size": 1, "city": "Rome", "notes": "late", "kind": 3}\n'
        '{"age": null, "size": "1", "city": true, "notes": ""}\n',
    )
    semicolons = written(
        tmp_path / "o.csv",
        "\ufeffage;size;city;notes\n41.5;1;Rome;late\n;1;true;\n",
    )

    assert [*scored(path, lines).values()] == [*scored(path, semicolons).values()]
    assert len(scored(path, lines)) == 2


def test_the_joint_log_likelihood_of_arrays_is_that_of_one(tmp_path: Path) -> None:
    model, table = mixed_model(tmp_path, score="sum")
    documents = [*read_documents([table], model=model)]
    batch = open_batch_model(model.model)
    views = read_terms(
        batch.settings, [read(one, batch.settings).views for one in documents]
    )

    np.testing.assert_allclose(
        joint_log_likelihoods(batch, views),
        model.joint_log_likelihoods(documents),
        rtol=1e-9,
    )
    assert -inf not in model.joint_log_likelihoods(documents)[0]


def shares(reasons: dict[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """Divide what texts and columns say by the sum of their sizes."""
    sizes: defaultdict[bool, float] = defaultdict(float)
    for (view, _), value in reasons.items():
        sizes[view == "body"] += abs(value)
    return {key: value / sizes[key[0] == "body"] for key, value in reasons.items()}


@pytest.mark.parametrize("score", ["sum", "complement", "wcnb"])
def test_the_reasons_of_a_record_that_is_left_out_are_those_without_it(
    score: str, tmp_path: Path
) -> None:
    rows = mixed_rows(30)
    how = SettingsOverrides(score=score, correction=False)
    table = mixed_table(tmp_path / "all.csv", rows)
    train([table], tmp_path / "m.nbt", options=MIXED, overrides=how)
    documents = [*read_documents([table], model=load(tmp_path / "m.nbt"))]
    model = UnseenClassifier(load_model(str(tmp_path / "m.nbt")), n_reasons=99)

    for place in (2, 5, 13):
        others = [row for number, row in enumerate(rows) if number != place]
        rest = mixed_table(tmp_path / "rest.csv", others)
        smaller = tmp_path / "rest.nbt"
        train([rest], smaller, options=MIXED, overrides=how, replace=True)
        # of another class than it carries, so that reasons are told
        (decision,) = model.classify([documents[place]._replace(label="-")])

        assert decision.seen == LEFT_OUT
        found, expected = (
            {(one.view, one.text): one.contribution for one in reasons}
            for reasons in (
                decision.reasons,
                load(smaller).explain(documents[place]).reasons,
            )
        )
        if score != "sum":  # texts and columns are weighed as either model is fitted
            found, expected = shares(found), shares(expected)
        assert found == pytest.approx(expected, abs=1e-9)
