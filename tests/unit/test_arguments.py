"""What the library refuses at once, and the paths that it takes."""

import pickle
from pathlib import Path
from pydoc import plain, render_doc

import pytest

import nbtext
from nbtext import Document

TOPICS = [("sport", "a late goal"), ("sport", "a match"), ("arts", "an opera")]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "news.nbt"
    nbtext.train_on(TOPICS, path)
    return path


@pytest.mark.parametrize(
    "one",
    ["a goal", b"a goal", Document("x", (b"a goal",))],
    ids=["str", "bytes", "it"],
)
def test_one_document_is_no_list_of_them(model: Path, one: str) -> None:
    before = model.read_bytes()

    with pytest.raises(TypeError, match="expected a list of them, found one"):
        nbtext.learn(model, "sport", one)
    with pytest.raises(TypeError, match="expected a list of them, found one"):
        nbtext.forget(model, one)
    with pytest.raises(TypeError, match="expected a list of them, found one"):
        nbtext.classify_all(nbtext.load(model), one)  # before the first is asked for

    assert model.read_bytes() == before


@pytest.mark.parametrize(
    "pair",
    ["ab", b"ab", ("sport",), ("sport", "a", "b"), 7],
    ids=["letters", "bytes", "one", "three", "number"],
)
def test_what_is_no_pair_is_refused(tmp_path: Path, pair: object) -> None:
    with pytest.raises(TypeError, match="expected pairs of a label and a document"):
        nbtext.train_on([*TOPICS, pair], tmp_path / "m")  # type: ignore[list-item]

    assert not (tmp_path / "m").exists()


def test_a_label_is_a_string(model: Path) -> None:
    with pytest.raises(TypeError, match="a label is a str, not list"):
        nbtext.learn(model, ["sport"], ["a goal"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a label is a str, not int"):
        nbtext.train_on([(1, "a"), (2, "b")], model)  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("number", "error"),
    [(-1, ValueError), (1 << 63, ValueError), ("5", TypeError), (0.5, TypeError)],
)
def test_a_wrong_number_of_records_leaves_the_model_as_it_is(
    model: Path, number: int, error: type[Exception]
) -> None:
    before = model.read_bytes()

    with pytest.raises(error, match=r"^undo: expected (0 to 1,000,000|a whole number)"):
        nbtext.learn(model, "sport", ["a goal"], undo=number)

    assert model.read_bytes() == before
    assert nbtext.load(model).classes == ("arts", "sport")


def test_paths_are_taken_wherever_strings_are(tmp_path: Path, model: Path) -> None:
    for label, text in TOPICS:
        (tmp_path / label).mkdir(exist_ok=True)
        (tmp_path / label / f"{text}.txt").write_text(text)
    folders = [tmp_path / "sport", tmp_path / "arts"]

    nbtext.train(folders, tmp_path / "m.nbt")
    opened = nbtext.load(tmp_path / "m.nbt")

    assert nbtext.evaluate(opened, folders, seen=True).documents == 3
    assert len([*nbtext.read_documents(folders)]) == 3
    assert nbtext.learn(model, "arts", ["a play"])[0].outcome == "learnt"
    assert nbtext.undo(model).documents == 1
    with pytest.raises(TypeError, match="expected a list of one or more"):
        nbtext.train(tmp_path / "sport", tmp_path / "m.nbt")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a path is a str or a Path, not bytes"):
        nbtext.load(b"m.nbt")  # type: ignore[arg-type]


def test_what_is_printed_is_short(model: Path, tmp_path: Path) -> None:
    opened = nbtext.load(model)
    rows = tmp_path / "rows.tsv"
    rows.write_text("".join(f"{label}\t{text} more\n" for label, text in TOPICS))

    assert repr(opened) == f"<Classifier {str(model)!r}: arts, sport; weighted>"
    trained = nbtext.train_on(TOPICS, model, replace=True)
    assert repr(trained) == "<Trained: 3 documents of 2 classes; weighted>"
    assert repr(Document("x", (b"abc",), "arts")) == "<Document 'x': 3 bytes, 'arts'>"
    assert repr(nbtext.classify(opened, "a goal")).startswith(
        "<Decision '1': 'sport', "
    )
    assert repr(nbtext.evaluate(opened, [rows])).endswith(" of 3 documents right>")


def test_the_classes_of_a_model_and_the_model_by_its_path(model: Path) -> None:
    opened = nbtext.load(model)

    again = pickle.loads(pickle.dumps(opened))  # noqa: S301  our own

    assert again.classes == opened.classes == ("arts", "sport")
    assert nbtext.classify(again, "a goal") == nbtext.classify(opened, "a goal")
    assert len(pickle.dumps(opened)) < 1000


def test_what_is_exported_is_listed_and_documented() -> None:
    assert {*nbtext.__all__} <= {*dir(nbtext)}

    page = plain(render_doc(nbtext))

    for name in nbtext.__all__:
        assert name in page
    assert "Make a model of labelled sources" in page
