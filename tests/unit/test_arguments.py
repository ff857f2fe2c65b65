"""What the library refuses at once, and the paths that it takes."""

import pickle
import re
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from io import BytesIO
from pathlib import Path
from pydoc import plain, render_doc
from typing import Any

import numpy as np
import pytest

import nbtext
from nbtext import Document
from nbtext.errors import SettingsError

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


def _mail() -> EmailMessage:
    """Return a message, which yields the names of its header fields."""
    mail = EmailMessage()
    mail["Subject"] = "A late goal"
    mail.set_content("The match was won.")
    return mail


class DataFrame:
    """A table as pandas has it, which yields the names of its columns."""

    columns = ("label", "text")

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (_mail(), r"found EmailMessage; write \[it.as_bytes\(\)\], or the bytes"),
        ({"1": "a goal"}, r"found dict; write it.values\(\)$"),
        (DataFrame(), r"found DataFrame; name the column .* texts: it\['text'\]$"),
        (Path("goal.txt"), r"found PosixPath; write read_documents\(\[it\]\)$"),
        (bytearray(b"a goal"), r"found one bytearray; write \[it\]$"),
        (None, "found NoneType$"),
        (3, "found int$"),
    ],
    ids=["mail", "dict", "table", "path", "bytearray", "none", "number"],
)
def test_what_is_no_list_of_documents_is_refused(
    model: Path, given: Any, said: str
) -> None:
    opened, before = nbtext.load(model), model.read_bytes()

    for call in (
        lambda: nbtext.learn(model, "sport", given),
        lambda: nbtext.forget(model, given),
        lambda: nbtext.classify_all(opened, given),
        lambda: opened.top("sport", documents=given),
    ):
        with pytest.raises(TypeError, match=said):
            call()
    of_pairs = r"expected (a list of )?pairs of a label"
    with pytest.raises(TypeError, match=of_pairs):
        nbtext.train_on(given, model)
    with pytest.raises(TypeError, match=of_pairs):
        nbtext.learn_labelled(model, given)

    assert model.read_bytes() == before


def test_what_to_write_for_a_table_where_pairs_or_sources_belong_is_said(
    model: Path,
) -> None:
    table: Any = DataFrame()

    with pytest.raises(TypeError, match=r"write zip\(it\['label'\], it\['text'\]\)$"):
        nbtext.train_on(table, model)
    with pytest.raises(
        TypeError, match=r"found DataFrame; save it, and name the file$"
    ):
        nbtext.evaluate(nbtext.load(model), table)


def test_an_array_of_paths_is_a_list_of_sources(tmp_path: Path) -> None:
    paths: Any = np.array([str(tmp_path / name) for name in ("a.txt", "b.txt")])
    none: Any = np.array([], dtype=str)
    for path in paths:
        Path(path).write_text("a late goal")

    assert [one.name for one in nbtext.read_documents(paths)] == [*paths]
    with pytest.raises(TypeError, match="sources: expected a list of one or more"):
        nbtext.read_documents(none)


@pytest.mark.parametrize("given", [_mail(), {"spam/": 1}, DataFrame(), 3, None])
def test_what_is_no_list_of_sources_or_models_is_refused(given: Any) -> None:
    for call in (nbtext.read_documents, nbtext.examine, nbtext.tune):
        with pytest.raises(TypeError, match="sources: expected a list of one or more"):
            call(given)
    with pytest.raises(TypeError, match=r"models?: expected"):
        nbtext.combine(given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (_mail(), "not EmailMessage; give the bytes that it was read from, or it.as_b"),
        (Path("goal.txt"), r"not PosixPath; write it.read_bytes\(\)$"),
        (bytearray(b"a goal"), r"not bytearray; write bytes\(it\)$"),
        (BytesIO(b"a goal"), r"not BytesIO; write it.read\(\)$"),
        (None, "not NoneType; leave it out$"),
        (float("nan"), "not float; leave it out$"),
        (0.5, "not float$"),
        (["a goal"], "not list$"),
    ],
    ids=["mail", "path", "bytearray", "file", "none", "nan", "number", "list"],
)
def test_what_to_write_for_what_is_no_document_is_said(
    model: Path, given: Any, said: str
) -> None:
    opened = nbtext.load(model)

    for call in (
        lambda: nbtext.classify(opened, given),
        lambda: [*nbtext.classify_all(opened, [given])],
        lambda: nbtext.learn(model, "sport", [given]),
        lambda: nbtext.learn_labelled(model, [("sport", given)]),
        lambda: opened.explain(given),
    ):
        with pytest.raises(TypeError, match=rf"^document 1 is bytes or str, {said}"):
            call()


@pytest.mark.parametrize("label", [3, b"sport", ["sport"]])
def test_a_class_that_is_asked_for_is_a_string(model: Path, label: Any) -> None:
    opened = nbtext.load(model)

    with pytest.raises(TypeError, match=r"^a label is a str, not "):
        opened.top(label)
    with pytest.raises(TypeError, match=r"^a label is a str, not "):
        opened.explain("a goal", label=label)


@pytest.mark.parametrize("texts", [b"a goal", ("a goal",), [b"a goal"], (), "a"])
def test_the_texts_of_a_document_are_bytes(model: Path, texts: Any) -> None:
    document, opened = Document("x", texts), nbtext.load(model)

    for call in (
        lambda: nbtext.classify(opened, document),
        lambda: [*nbtext.classify_all(opened, [document])],
        lambda: nbtext.learn(model, "sport", [document]),
        lambda: nbtext.train_on([("sport", document), ("arts", "b")], model),
        lambda: opened.explain(document),
    ):
        with pytest.raises(TypeError, match="the texts of a document are a tuple of"):
            call()


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


@pytest.mark.parametrize(
    ("pair", "error"),
    [
        (("sport", float("nan")), "^document 4 is bytes or str, not float; leave it"),
        ((1, "a goal"), "^the label of document 4 is a str, not int$"),
        (("", "a goal"), "^the label of document 4 is the name of a class, and"),
        (("sport",), r"^document 4: expected pairs .*, found \('sport',\)$"),
    ],
    ids=["no text", "a number", "no label", "no pair"],
)
def test_of_many_documents_the_one_that_is_refused_is_named(
    model: Path, pair: Any, error: str
) -> None:
    pairs = [*TOPICS, pair]

    with pytest.raises((TypeError, ValueError), match=error):
        nbtext.train_on(pairs, model)
    with pytest.raises((TypeError, ValueError), match=error):
        nbtext.learn_labelled(model, pairs)


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


@pytest.mark.parametrize(
    ("wait", "error"),
    [(-1, ValueError), (float("nan"), ValueError), ("5", TypeError), (True, TypeError)],
)
def test_a_wrong_number_of_seconds_to_wait_is_refused(
    model: Path, wait: Any, error: type[Exception]
) -> None:
    before = model.read_bytes()
    calls: list[Callable[..., Any]] = [
        lambda: nbtext.learn(model, "sport", ["a goal"], wait=wait),
        lambda: nbtext.forget(model, ["a match"], wait=wait),
        lambda: nbtext.undo(model, wait=wait),
        lambda: nbtext.set_policy(model, nbtext.Policy(0.9), wait=wait),
        lambda: nbtext.train(["x"], model, wait=wait),
        lambda: nbtext.train_on(TOPICS, model, wait=wait),
    ]

    for call in calls:
        with pytest.raises(error, match=r"^wait: expected seconds"):
            call()

    assert model.read_bytes() == before


def test_the_path_of_a_model_is_no_model(model: Path) -> None:
    opened, path = nbtext.load(model), str(model)
    calls: list[Callable[..., Any]] = [
        lambda: nbtext.classify(path, b"a goal"),  # type: ignore[arg-type]
        lambda: nbtext.classify(model, b"a goal"),  # type: ignore[arg-type]
        lambda: nbtext.classify_all(path, [b"a goal"]),  # type: ignore[arg-type]
        lambda: nbtext.joint_log_likelihood(path, "a"),  # type: ignore[arg-type]
        lambda: nbtext.combine([path, path]),  # type: ignore[list-item]
        lambda: nbtext.evaluate(path, ["x"]),  # type: ignore[arg-type]
        lambda: nbtext.evaluate(opened, ["x"], against=path),  # type: ignore[arg-type]
        lambda: nbtext.evaluate_replay(["x"], model=path),  # type: ignore[arg-type]
        lambda: [*nbtext.read_documents(["x"], model=path)],  # type: ignore[arg-type]
    ]

    for call in calls:
        with pytest.raises(TypeError, match="expected what `load` returns") as caught:
            call()
        assert f"; open it with load({path!r:.80})" in str(caught.value)
    with pytest.raises(TypeError, match="expected a list of what `load` returns"):
        nbtext.combine(path)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"found 7$"):
        nbtext.classify(7, "a goal")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a path is a str or a Path, not Classifier"):
        nbtext.load(opened)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="; give the path of the model, and not what"):
        nbtext.learn(opened, "sport", ["a goal"])  # type: ignore[arg-type]


def test_several_models_are_no_model_where_one_is_expected(model: Path) -> None:
    opened, copy = nbtext.load(model), model.with_name("copy.nbt")
    copy.write_bytes(model.read_bytes())
    both = iter([opened, nbtext.load(copy)])
    several: Any = nbtext.combine(both)  # type: ignore[arg-type]
    calls: list[Callable[..., Any]] = [
        lambda: nbtext.joint_log_likelihood(several, "a goal"),
        lambda: nbtext.combine([several, opened]),
        lambda: nbtext.evaluate_replay(["x"], model=several),
    ]

    for call in calls:
        with pytest.raises(TypeError, match="expected one model, found <Combined"):
            call()


@pytest.mark.parametrize("given", [0.9, {"threshold": 0.9}, "unsure"])
def test_what_is_no_policy_is_refused(model: Path, given: Any) -> None:
    opened = nbtext.load(model)
    calls: list[Callable[..., Any]] = [
        lambda: nbtext.load(model, policy=given),
        lambda: nbtext.combine([opened, opened], policy=given),
        lambda: nbtext.evaluate_folds(["x"], policy=given),
        lambda: nbtext.evaluate_replay(["x"], policy=given),
        lambda: nbtext.set_policy(model, given),
    ]

    for call in calls:
        with pytest.raises(TypeError, match=r"policy: expected one like Policy\(thres"):
            call()


@pytest.mark.parametrize("threshold", [2, -0.1, float("nan"), "0.9"])
def test_a_threshold_is_a_probability(model: Path, threshold: Any) -> None:
    policy = nbtext.Policy(threshold=threshold)

    for call in (
        lambda: nbtext.load(model, policy=policy),
        lambda: nbtext.evaluate_folds(["x"], policy=policy),
        lambda: nbtext.set_policy(model, policy),
    ):
        with pytest.raises(SettingsError, match="expected from 0 to 1"):
            call()


@pytest.mark.parametrize(
    "parts",
    [{"prior": {"sport": 0.2}}, {"max_false_positives": 0.1}, {"costs": ("sport",)}],
)
def test_the_parts_of_a_policy_have_a_form(model: Path, parts: Any) -> None:
    with pytest.raises(TypeError, match="policy: expected parts as in Policy"):
        nbtext.load(model, policy=nbtext.Policy(**parts))

    costs: Any = [("sport", "arts", 9)]
    limit: Any = ("sport", 0.5)
    assert nbtext.load(model, policy=nbtext.Policy(costs=costs)).rule.costs
    for wrong in (0.1, ("sport",)):
        with pytest.raises(TypeError, match="policy: expected parts as in Policy"):
            nbtext.tune(["x"], max_false_positives=wrong)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="share of false positives is 5, expected"):
        nbtext.tune(["x"], max_false_positives=nbtext.FalsePositives("sport", 5))
    nbtext.set_policy(model, nbtext.Policy(max_false_positives=limit))
    assert nbtext.load(model).policy.max_false_positives == limit


@pytest.mark.parametrize(
    ("regime", "error", "text"),
    [
        (nbtext.Regime("foo"), ValueError, "one of everything, errors"),  # type: ignore[arg-type]
        (nbtext.Regime("near-errors", -1), ValueError, "0 or more, found -1"),
        (nbtext.Regime("near-errors", float("nan")), ValueError, "found nan"),
        ("errors", TypeError, r"write Regime\('errors'\)"),
        (None, TypeError, "expected a Regime, found None"),
    ],
    ids=["unknown", "negative", "nan", "string", "none"],
)
def test_what_is_no_regime_is_refused(
    model: Path, regime: Any, error: type[Exception], text: str
) -> None:
    before = model.read_bytes()

    for call in (
        lambda: nbtext.learn(model, "sport", ["a goal"], regime=regime),
        lambda: nbtext.train(["x"], model, regime=regime),
        lambda: nbtext.evaluate_replay(["x"], regime=regime),
    ):
        with pytest.raises(error, match=text):
            call()

    assert model.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("overrides", lambda wrong: nbtext.train_on(TOPICS, "m.nbt", overrides=wrong)),
        ("overrides", lambda wrong: nbtext.train(["x"], "m.nbt", overrides=wrong)),
        ("options", lambda wrong: nbtext.train(["x"], "m.nbt", options=wrong)),
        ("overrides", lambda wrong: nbtext.evaluate_folds(["x"], 2, overrides=wrong)),
        ("options", lambda wrong: nbtext.evaluate_folds(["x"], 2, options=wrong)),
        ("overrides", lambda wrong: nbtext.evaluate_replay(["x"], overrides=wrong)),
        ("overrides", lambda wrong: nbtext.tune(["x"], overrides=wrong)),
        ("options", lambda wrong: nbtext.examine(["x"], options=wrong)),
        ("options", lambda wrong: [*nbtext.read_documents(["x"], options=wrong)]),
    ],
    ids=map(str, range(9)),
)
def test_settings_of_another_type_are_refused(
    name: str, call: Callable[[Any], object]
) -> None:
    with pytest.raises(TypeError, match=rf"{name}: expected \w+\(...\), found 'sum'"):
        call("sum")
    with pytest.raises(TypeError, match=r"write \w+\(\*\*{'score': 'sum'}\)"):
        call({"score": "sum"})


def test_settings_of_another_type_are_refused_of_a_model(model: Path) -> None:
    opened = nbtext.load(model)

    with pytest.raises(TypeError, match=r"write SettingsOverrides\(\*\*{'score'"):
        nbtext.load(model, overrides={"score": "sum"})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="options: expected Options"):
        nbtext.evaluate(opened, ["x"], options={"format": "csv"})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="options: expected Options"):
        nbtext.evaluate_replay(["x"], model=opened, options=None)  # type: ignore[arg-type]


def test_an_empty_label_is_refused(model: Path) -> None:
    before = model.read_bytes()

    with pytest.raises(ValueError, match="this one is empty; name the class"):
        nbtext.train_on([*TOPICS, ("", "a play")], model)
    with pytest.raises(ValueError, match="this one is empty; name the class"):
        nbtext.learn(model, "", ["a play"])

    assert model.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"text_columns": "12"},
            r"text_columns: expected a tuple of names, found '12'",
        ),
        ({"numeric_columns": "3"}, "numeric_columns: expected a tuple"),
        ({"text_columns": (2,)}, r"text_columns: expected a tuple of names, found \(2"),
        ({"text_columns": None}, "text_columns: expected a tuple of names, found None"),
        ({"label_column": 1}, "label_column: expected a str, such as '1', found 1"),
        ({"id_column": ["id"]}, "id_column: expected a str, such as '1', found"),
        ({"delimiter": 9}, "delimiter: expected a str"),
        ({"max_bytes": 1.5}, r"max_bytes: expected a whole number, found 1.5"),
        ({"max_bytes": "16M"}, r"max_bytes: expected a whole number, found '16M'"),
        ({"max_bytes": True}, r"max_bytes: expected a whole number, found True"),
    ],
)
def test_options_of_another_type_are_refused(
    tmp_path: Path, options: Any, text: str
) -> None:
    table = tmp_path / "rows.tsv"
    table.write_text("sport\ta late goal\narts\tan opera\n")
    given = nbtext.Options(**options)

    for call in (
        lambda: [*nbtext.read_documents([table], options=given)],
        lambda: nbtext.train([table], tmp_path / "m", options=given),
    ):
        with pytest.raises(TypeError, match=text):
            call()


def test_numbers_that_make_no_sense_are_refused(model: Path) -> None:
    opened = nbtext.load(model)

    with pytest.raises(ValueError, match="n: expected 0 or more, found -1"):
        opened.top("sport", -1)
    with pytest.raises(TypeError, match=r"n: expected a whole number, found 2.5 \(f"):
        opened.top("sport", 2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="top: expected 0 or more, found -1"):
        opened.explain("a goal", top=-1)
    with pytest.raises(ValueError, match="jobs: expected 1 or more, found 0"):
        nbtext.train(["x"], model, jobs=0)
    with pytest.raises(TypeError, match="jobs: expected a whole number, found True"):
        nbtext.train(["x"], model, jobs=True)
    with pytest.raises(ValueError, match="memory: expected 1 or more, found 0"):
        nbtext.train(["x"], model, memory=0)
    with pytest.raises(ValueError, match="jobs: expected 1 or more, found 0"):
        nbtext.evaluate(opened, ["x"], jobs=0)
    with pytest.raises(ValueError, match="reasons: expected 0 or more, found -1"):
        nbtext.evaluate_folds(["x"], reasons=-1)
    with pytest.raises(ValueError, match="folds: expected 2 to 1,000, found 1,001"):
        nbtext.evaluate_folds(["x"], 1001)
    with pytest.raises(TypeError, match=r"folds: expected a whole number, found 2.5"):
        nbtext.evaluate_folds(["x"], 2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="most: expected 0 or more, found -1"):
        nbtext.examine(["x"], most=-1)
    assert opened.top("sport", 0) == []


@pytest.mark.parametrize("value", [3, b"sport", ["sport"]])
def test_the_positive_class_is_named(model: Path, value: Any) -> None:
    opened = nbtext.load(model)
    expected = r"positive: expected a str, found .* \((int|bytes|list)\)"

    with pytest.raises(TypeError, match=expected):
        nbtext.evaluate(opened, ["x"], positive=value)
    with pytest.raises(TypeError, match=expected):
        nbtext.evaluate_on(opened, TOPICS, positive=value)
    with pytest.raises(TypeError, match=expected):
        nbtext.evaluate_folds(["x"], positive=value)
    with pytest.raises(TypeError, match=expected):
        nbtext.evaluate_replay(["x"], positive=value)
    with pytest.raises(TypeError, match="feedback: expected a str, found"):
        nbtext.evaluate_replay(["x"], feedback=value)


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


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"texts": "no"}, "texts: expected True or False, found 'no'"),
        ({"correction": 0}, "correction: expected True or False, found 0"),
        ({"byte_ngrams": None}, "byte_ngrams: expected True or False, found None"),
        ({"ngrams": True}, "ngrams: expected a number, found True"),
        ({"smoothing": True}, "smoothing: expected a number, found True"),
        ({"views": 3}, r"views: expected a tuple of names, such as .*, found 3"),
        ({"views": "body"}, r"views: expected a tuple of names, such as .*'body'"),
        ({"views": (3,)}, r"views: expected a tuple of names, such as .*\(3,\)"),
        ({"score": ["sum"]}, r"score: expected a str, found \['sum'\]"),
        ({"fields": "title"}, "fields: expected none; `Options` names columns, found"),
        ({"fields": ("title",)}, "fields: expected none; `Options` names columns"),
        ({"guessed": 3}, "guessed: expected none; `Options` guesses columns, found 3"),
        ({"parameters": 3}, "parameters: expected pairs of a name and a number, such"),
        ({"parameters": {"a": 1}}, "parameters: expected pairs of a name and a number"),
        ({"parameters": ("ab",)}, "parameters: expected pairs of a name and a number"),
    ],
    ids=str,
)
def test_an_override_of_another_type_is_refused(
    model: Path, given: dict[str, Any], said: str
) -> None:
    overrides, before = nbtext.SettingsOverrides(**given), model.read_bytes()
    sources = ["sport/", "arts/"]

    for call in (
        lambda: nbtext.train(sources, model, overrides=overrides),
        lambda: nbtext.train_on(TOPICS, model, overrides=overrides),
        lambda: nbtext.load(model, overrides=overrides),
        lambda: nbtext.evaluate_folds(sources, 2, overrides=overrides),
        lambda: nbtext.evaluate_replay(sources, overrides=overrides),
        lambda: nbtext.examine(sources, overrides=overrides),
        lambda: nbtext.tune(sources, overrides=overrides),
    ):
        with pytest.raises(TypeError, match=f"^overrides: {said}"):
            call()

    assert model.read_bytes() == before


def test_a_pickled_model_is_scored_as_its_file_asks_by_then(model: Path) -> None:
    two = pickle.dumps(nbtext.load(model))
    summed = pickle.dumps(
        nbtext.load(model, overrides=nbtext.SettingsOverrides(score="sum"))
    )

    nbtext.learn(model, "science", ["a new planet"], create=True)

    expected = nbtext.load(model)
    for opened, score in ((two, expected.model.scoring.score), (summed, "sum")):
        found = pickle.loads(opened)  # noqa: S301  our own
        assert found.classes == ("arts", "science", "sport")
        assert found.model.scoring.score == score
    assert nbtext.classify(pickle.loads(two), "a planet") == (  # noqa: S301  our own
        nbtext.classify(expected, "a planet")
    )


def test_what_is_returned_is_printed_in_a_line(model: Path) -> None:
    explanation = nbtext.load(model).explain("a late late goal")
    overrides = nbtext.SettingsOverrides(score="sum", texts=False)
    demo = Path(__file__).parents[2] / "corpora" / "demo"
    sources = [demo / "spam", demo / "ham"]
    replay = nbtext.evaluate_replay(sources, regime=nbtext.Regime("errors")).replay

    assert repr(overrides) == "SettingsOverrides(score='sum', texts=False)"
    assert repr(nbtext.SettingsOverrides()) == "SettingsOverrides()"
    assert repr(nbtext.Options()) == "Options()"
    columns = nbtext.Options(label_column="1", text_columns=("2",))
    assert repr(columns) == "Options(label_column='1', text_columns=('2',))"
    for value, pattern in (
        (explanation, r"<Explanation '1': 'sport' rather than 'arts', 0\.\d{4}, \d+ r"),
        (explanation.reasons[0], r"<Reason \+\d\.\d\d [a-z]+ '.*'( x\d)?>$"),
        (nbtext.examine(sources), r"<Findings in 88 documents: \d+ same, \d+ near, \d"),
        (nbtext.tune(sources), r"<Tuned: \d+ on 88 documents; .*>$"),
        (replay, r"<Replay, errors: \d+ documents learnt, \d+ left out>$"),
    ):
        assert re.match(pattern, repr(value))
        assert len(repr(value)) < 160


@pytest.mark.parametrize("given", ["a goal", ["a goal"], [b"a goal"]])
def test_a_model_by_itself_classifies_documents_alone(model: Path, given: Any) -> None:
    with pytest.raises(TypeError, match=r"list of nbtext.Document; nbtext.classify\("):
        nbtext.load(model).classify(given)


def test_arguments_of_read_documents_are_checked_when_it_is_called(model: Path) -> None:
    for sources, more in (
        ("one", {}),
        (["one"], {"options": {}}),
        (["one"], {"model": str(model)}),
    ):
        with pytest.raises(TypeError):
            nbtext.read_documents(sources, **more)
