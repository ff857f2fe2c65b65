from pathlib import Path

import pytest

from nbtext import (
    Document,
    NbtextError,
    Options,
    Policy,
    SettingsOverrides,
    classify,
    classify_all,
    evaluate,
    evaluate_on,
    forget,
    learn,
    load,
    read_documents,
    train,
    train_on,
)
from nbtext.errors import SettingsError, SourceError

PAIRS: list[tuple[str, bytes | str]] = [
    ("spam", "win a prize"),
    ("spam", b"win now"),
    ("ham", "lunch at noon"),
]


def test_documents_in_memory_make_a_model_that_classifies(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = str(tmp_path_factory.mktemp("api") / "m.nbt")

    trained = train_on(PAIRS, path)
    model = load(path)
    decisions = list(classify_all(model, ["a prize to win", b"lunch"]))

    assert trained.contents.counts.documents == (1, 2)
    assert [one.label for one in decisions] == ["spam", "ham"]
    assert [one.name for one in decisions] == ["1", "2"]
    assert classify(load(path, policy=Policy(1.0)), "lunch").label is None


@pytest.fixture
def rows(tmp_path: Path) -> str:
    """A table of labels, titles and bodies, and a model of the titles and bodies."""
    table = tmp_path / "rows.csv"
    table.write_text(
        "label,title,body\nspam,prize,win now\nspam,cash,claim it\n"
        "ham,lunch,at noon\nham,minutes,of a meeting\n"
    )
    options = Options(text_columns=("title", "body"))
    train([str(table)], str(tmp_path / "rows.nbt"), options=options)
    return str(table)


def test_sources_are_read_as_the_model_reads_them(rows: str, tmp_path: Path) -> None:
    model = load(str(tmp_path / "rows.nbt"))

    documents = list(read_documents([rows], model=model))
    decisions = list(classify_all(model, documents))

    assert [one.columns for one in documents] == [("title", "body")] * 4
    assert [one.name for one in decisions] == [f"{rows}:{n}" for n in range(1, 5)]
    assert [one.label for one in decisions] == ["spam", "spam", "ham", "ham"]
    assert all(one.known == one.tokens for one in decisions)
    assert [one.outcome for one in forget(model.model.path, documents)] == [
        "forgotten"
    ] * 4


def test_what_cannot_be_read_is_raised_or_told(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a text")
    sources = [str(tmp_path / "missing"), str(tmp_path / "a")]
    problems: list[object] = []

    with pytest.raises(SourceError, match="missing: no such file"):
        list(read_documents(sources))
    (document,) = read_documents(sources, on_problem=problems.append)

    assert document.texts == (b"a text",)
    assert len(problems) == 1


def test_the_settings_of_a_model_can_be_overridden(rows: str, tmp_path: Path) -> None:
    path = str(tmp_path / "sum.nbt")
    overrides = SettingsOverrides(score="sum", ngrams=1, alphabet="words", ledger=False)

    train([rows], path, options=Options(text_columns=("body",)), overrides=overrides)

    model = load(path).model
    (view,) = model.settings.views
    assert (model.scoring.score, model.scoring.smoothing) == ("sum", 1.0)
    assert (view.pairs, view.alphabet, model.settings.ledger) == (False, "words", False)
    again = load(path, overrides=SettingsOverrides(smoothing=0.5, counting="once"))
    with pytest.raises(SettingsError, match="keeps what it counts; leave out views"):
        load(path, overrides=SettingsOverrides(views=("body",)))
    assert (again.model.scoring.smoothing, again.model.scoring.counting) == (
        0.5,
        "once",
    )


@pytest.mark.parametrize("sources", ["spam/", []])
def test_sources_are_a_list(sources: list[str]) -> None:
    with pytest.raises(TypeError, match="sources: expected a list"):
        train(sources, "m.nbt")


def test_a_document_is_bytes_or_text(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = str(tmp_path_factory.mktemp("api") / "m.nbt")
    train_on(PAIRS, path)

    with pytest.raises(TypeError, match="not NoneType"):
        classify(load(path), None)  # type: ignore[arg-type]  # which is the point


def test_a_missing_model_is_an_error_of_nbtext() -> None:
    with pytest.raises(NbtextError, match="no model there"):
        load("/nowhere/at/all.nbt")


def test_a_model_learns_moves_and_forgets(tmp_path: Path) -> None:
    path = str(tmp_path / "m.nbt")
    train_on(PAIRS, path)
    before = load(path).model

    outcomes = [
        [result.outcome for result in results]
        for results in (
            learn(path, "spam", ["cheap pills", "win a prize"]),
            learn(path, "ham", ["cheap pills"]),
            forget(path, ["cheap pills", "never seen"]),
        )
    ]

    after = load(path).model
    assert outcomes == [["learnt", "known"], ["moved"], ["forgotten", "refused"]]
    assert (after.documents, after.totals) == (before.documents, before.totals)


def test_a_model_is_begun_only_if_asked_for(tmp_path: Path) -> None:
    path = str(tmp_path / "m.nbt")

    with pytest.raises(NbtextError, match="no model there"):
        learn(path, "spam", ["win"])

    assert [one.outcome for one in learn(path, "spam", ["win"], create=True)] == [
        "learnt"
    ]


UNSEEN: list[tuple[str, str]] = [
    ("spam", "a cash prize"),
    ("spam", "a meeting"),
    ("ham", "minutes of lunch"),
    ("ham", "claim it at noon"),
    ("ham", "of a meeting"),
]


@pytest.mark.usefixtures("rows")
def test_documents_in_memory_are_evaluated_as_those_of_files_are(
    tmp_path: Path,
) -> None:
    model, other = load(tmp_path / "rows.nbt"), tmp_path / "other.nbt"
    train_on(PAIRS, other)
    lines = [f"{label},{text},\n" for label, text in UNSEEN]
    table = tmp_path / "unseen.csv"
    table.write_text("label,title,body\n" + "".join(lines))
    documents = [
        (label, Document("", (text.encode(), b""), columns=("title", "body")))
        for label, text in UNSEEN
    ]

    for settings in ({}, {"seen": True, "positive": "ham"}, {"estimate_prior": True}):
        expected = evaluate(model, [table], **settings)
        found = evaluate_on(model, iter(documents), **settings)
        assert found.as_dict() == expected.as_dict()
    against = evaluate_on(model, documents, against=load(other), jobs=2).against
    assert against is not None
    assert against.documents == len(UNSEEN)


def test_errors_in_memory_are_called_by_number_and_have_reasons(tmp_path: Path) -> None:
    path = tmp_path / "m.nbt"
    train_on(PAIRS, path)

    found = evaluate_on(load(path), [("ham", "win"), ("spam", "prize")], reasons=2)

    assert [(one.name, one.label) for one in found.errors or ()] == [("1", "spam")]
    assert found.errors
    assert found.errors[0].reasons


def test_what_cannot_be_evaluated_from_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.nbt"
    train_on(PAIRS, path)
    model, wrong = load(path), {"spam": "a prize"}

    with pytest.raises(TypeError, match="expected a list of pairs of a label"):
        evaluate_on(model, wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"found 'm.nbt'; open it with load"):
        evaluate_on("m.nbt", UNSEEN)  # type: ignore[arg-type]
    with pytest.raises(SourceError, match="to evaluate; give pairs of a label and"):
        evaluate_on(model, [])
    with pytest.raises(SettingsError, match="the model has no class 'sport'"):
        evaluate_on(model, [("sport", "a match")])
    with pytest.raises(ValueError, match="this one is empty"):
        evaluate_on(model, [("", "a match")])
    with pytest.raises(ValueError, match="jobs"):
        evaluate_on(model, UNSEEN, jobs=0)


def test_labels_that_are_texts_are_told(tmp_path: Path) -> None:
    """Pairs the wrong way round, of which nothing else would be seen."""
    pairs = [(f"text {n} of it", "spam" if n % 2 else "ham") for n in range(30)]

    notes = train_on(pairs, tmp_path / "m.nbt").report.notes

    assert [note.text[:37] for note in notes] == [
        "30 classes are many for 30 documents;"
    ]
