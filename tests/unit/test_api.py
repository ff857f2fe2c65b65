from pathlib import Path

import pytest

from nbtext import (
    NbtextError,
    classify,
    classify_all,
    forget,
    learn,
    load,
    train,
    train_on,
)

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
    assert classify(model, "lunch", threshold=1.0).label is None


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
