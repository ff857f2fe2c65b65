"""The linear form of a model, applied by hand."""

import json
from collections import Counter as Tally
from pathlib import Path

import numpy as np
import pytest

from nbtext import (
    SettingsOverrides,
    classify,
    classify_all,
    forget,
    load,
    read_documents,
    train,
    train_on,
)
from nbtext.cli import main
from nbtext.document import Document
from nbtext.errors import SettingsError, TrainingError
from nbtext.scoring.linear import LinearForm
from nbtext.scoring.model import load_model
from nbtext.scoring.models.damping import damping
from nbtext.scoring.models.registry import event_models
from nbtext.sources import Options
from nbtext.tokens.bag import bag_of
from nbtext.tokens.reading import read

TEXTS = [("a", "x x y"), ("a", "x z"), ("b", "z z y w"), ("b", "w w"), ("c", "y z q")]
NEW = "x x x w y unheard"


@pytest.mark.parametrize("calibrate", [False, True])
@pytest.mark.parametrize(
    ("name", "counting"),
    [
        *(("sum", counting) for counting in ("occurrences", "once", "log", "min:2")),
        ("bernoulli", "occurrences"),
        ("poisson", "occurrences"),
    ],
)
@pytest.mark.parametrize("class_prior", ["shares", "uniform"])
def test_weights_applied_by_hand_give_the_posterior(
    class_prior: str,
    name: str,
    counting: str,
    calibrate: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = str(tmp_path / "m.nbt")
    overrides = SettingsOverrides(
        score=name, counting=counting, class_prior=class_prior, calibrate=calibrate
    )
    train_on(TEXTS, path, overrides=overrides)
    model = load_model(path)
    bag = bag_of(read(Document("", (NEW.encode(),)), model.settings), model.settings)
    counts = {
        (view.name, f"{key:012x}"): damping(counting).times(n)
        for view, terms in zip(model.settings.views, bag, strict=True)
        for key, n in terms.items()
    }
    if name == "bernoulli":
        counts, counting = dict.fromkeys(counts, 1), "once"

    with pytest.raises(SystemExit):
        main(["weights", path])
    head, *lines = map(json.loads, capsys.readouterr().out.splitlines())

    scores = Tally(head["biases"])
    for line in lines:
        n = counts.get((line["view"], line["key"]), 0)
        for class_, weight in line["weights"].items():
            scores[class_] += n * weight
    z = head["slope"] * np.array([scores[class_] for class_ in head["classes"]])
    expected = classify(load(path), NEW).log_posterior
    np.testing.assert_allclose(
        z - np.logaddexp.reduce(z), expected, rtol=1e-9, atol=1e-12
    )
    assert head["count"] == counting
    assert len(lines) == sum(map(model.n_terms, range(len(model.settings.views))))


ROWS = """class,notes,city,channel,age
a,x x y,Oslo,web,30
a,x z,Oslo,phone,41
b,z z y w,Rome,web,29
b,w w,,shop,35
c,y z q,Paris,web,
"""


def trained_on_rows(path: Path, options: Options) -> str:
    (path / "rows.csv").write_text(ROWS)
    model = str(path / "m.nbt")
    train([str(path / "rows.csv")], model, options=options)
    return model


@pytest.mark.parametrize("texts", [(), ("notes",)], ids=["no text", "text"])
def test_values_of_categories_have_weights(
    texts: tuple[str, ...], tmp_path: Path
) -> None:
    options = Options(
        label_column="class",
        text_columns=texts,
        categorical_columns=("city", "channel"),
    )
    path = trained_on_rows(tmp_path, options)
    model = load(path, overrides=SettingsOverrides(score="sum"))
    form = LinearForm(model.model)
    weights = {
        (part.view, key): row
        for part in form.weights()
        for key, row in zip(part.keys.tolist(), part.weights, strict=True)
    }

    documents = [*read_documents([str(tmp_path / "rows.csv")], model=model)]
    for document, decision in zip(
        documents, classify_all(model, documents), strict=True
    ):
        z = form.biases.copy()
        settings = model.model.settings
        bag = bag_of(read(document, settings), settings)
        for view, terms in zip(settings.views, bag, strict=True):
            for key, n in terms.items():
                z += n * weights[view.name, key]
        np.testing.assert_allclose(
            z - np.logaddexp.reduce(z), decision.log_posterior, rtol=1e-9, atol=1e-12
        )


def test_numbers_and_impossible_values_have_no_weights(tmp_path: Path) -> None:
    options = Options(label_column="class", numeric_columns=("age",))
    path = trained_on_rows(tmp_path, options)
    with pytest.raises(SettingsError, match=r"'age' of numbers.*the square of the num"):
        LinearForm(load_model(path))

    options = Options(label_column="class", categorical_columns=("city",))
    path = trained_on_rows(tmp_path, options)
    model = load(path, overrides=SettingsOverrides(category_smoothing=0.0))
    with pytest.raises(SettingsError, match="'city' has no weights with category_sm"):
        LinearForm(model.model)


@pytest.mark.parametrize(
    "name", [event.name for event in event_models() if event.not_linear]
)
def test_other_scores_say_why_they_have_no_weights(name: str, tmp_path: Path) -> None:
    path = str(tmp_path / "m.nbt")
    pairs = [pair for pair in TEXTS if pair[0] != "c"]
    train_on(pairs, path, overrides=SettingsOverrides(score=name))

    with pytest.raises(SettingsError, match=r"has no weights, because .* score sum"):
        LinearForm(load_model(path))


def test_of_fewer_classes_than_two_there_are_none(tmp_path: Path) -> None:
    path = str(tmp_path / "m.nbt")
    train_on(TEXTS, path, overrides=SettingsOverrides(score="sum"))
    for known in ("only the class 'a'", "no class"):
        label = "a" if known == "no class" else ("b", "c")
        forget(path, [text for name, text in TEXTS if name in label])

        with pytest.raises(TrainingError, match=known):
            LinearForm(load_model(path))
