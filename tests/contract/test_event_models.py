"""An event model is one file and a line in the registry; nobody else knows its name."""

import ast
import io
import tokenize
from pathlib import Path
from typing import Any

import pytest

import nbtext
from nbtext.scoring.models.event_model import EventModel
from nbtext.scoring.models.registry import (
    MODULES,
    default_scoring,
    event_model,
    event_models,
    scoring_of,
)
from nbtext.settings.columns import COLUMNS
from nbtext.settings.reading import Settings
from nbtext.settings.views import View

PACKAGE = Path(nbtext.__file__).parent
MODELS = PACKAGE / "scoring" / "models"
OTHERS = sorted(
    path for path in PACKAGE.rglob("*.py") if not path.is_relative_to(MODELS)
)
ALL = [*event_models()]
METHOD = Path(__file__).parents[2] / "docs" / "method.md"
MODELS_PAGE = METHOD.with_name("models.md")
EVERYTHING = Settings(
    format="text",
    views=(View(name="body", text="body", alphabet="words", columns=COLUMNS),),
)


def named(path: Path) -> list[str]:
    """Return where a file names an event model in a string of its own, by line."""
    tree = ast.parse(path.read_text("utf-8"))
    return [
        f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.value!r}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in [*MODULES]
    ]


HEADINGS = {
    "cli/_report.py",
    "cli/_tables.py",
    "report/tables.py",
    "settings/columns.py",
}
"""Tables have a column with the heading `mean`, that of probabilities; a view of
numbers has one that is called `sum`."""


def test_no_other_module_asks_for_a_score_by_its_name() -> None:
    found = [
        line
        for path in OTHERS
        for line in named(path)
        if str(path.relative_to(PACKAGE)) not in HEADINGS
    ]

    assert found == []


def test_no_other_module_imports_an_event_model() -> None:
    for path in OTHERS:
        code = "".join(
            token.string
            for token in tokenize.generate_tokens(
                io.StringIO(path.read_text("utf-8")).readline
            )
            if token.type == tokenize.NAME or token.string == "."
        )
        for module in MODULES.values():
            assert f"scoring.models.{module}" not in code, path


HELPERS = {
    *("__init__", "event_model", "evidence", "registry", "arrays"),
    *("parameters", "damping", "joint", "levels", "two_classes", "unknown"),
    *("weighted_terms", "weighted_evidence", "contrast_sums", "complement_norms"),
}


def test_the_registry_lists_every_file() -> None:
    files = {path.stem for path in MODELS.glob("*.py")}

    assert files - HELPERS == {*MODULES.values()}


@pytest.mark.parametrize("model", ALL, ids=lambda model: str(model.name))
def test_an_event_model_says_what_it_is(model: EventModel) -> None:
    assert event_model(model.name) is model
    assert model.about
    assert model.calibration in ("histogram", "temperature", "none")
    assert {*model.columns(EVERYTHING.views[0])} <= {*EVERYTHING.views[0].columns}
    source = (MODELS / f"{MODULES[model.name]}.py").read_text("utf-8")
    assert "_c" in (ast.get_docstring(ast.parse(source)) or ""), "its formula"
    pages = METHOD.read_text("utf-8") + MODELS_PAGE.read_text("utf-8")
    assert f"## {model.name}: " in pages


@pytest.mark.parametrize("document_format", ["mail", "text"])
@pytest.mark.parametrize("n_classes", [2, 3, 100])
def test_the_default_can_score_its_classes(
    n_classes: int, document_format: Any
) -> None:
    scoring = default_scoring(document_format, n_classes)
    classes = [str(place) for place in range(n_classes)]

    assert not event_model(scoring.score).refusal(scoring, EVERYTHING, classes)


@pytest.mark.parametrize("model", ALL, ids=lambda model: str(model.name))
def test_a_refusal_reads_on_from_the_name(model: EventModel) -> None:
    for counting in ("occurrences", "once"):
        scoring = scoring_of(model.name)._replace(counting=counting)
        for n_classes in (2, 3):
            classes = [str(place) for place in range(n_classes)]
            refusal = model.refusal(scoring, EVERYTHING, classes)
            assert not refusal or refusal[0].islower()
            others = [one for one in event_models() if one is not model]
            assert not refusal or not all(
                one.refusal(scoring, EVERYTHING, classes) for one in others
            )
