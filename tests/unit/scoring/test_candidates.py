"""A score with a number that held-out documents choose, from training to merging."""

from collections import Counter as Tally
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from nbtext.counts import Calibration
from nbtext.counts.calibration import calibration_for, totals
from nbtext.counts.fitting import fitted_loss
from nbtext.document import Document
from nbtext.learning import LearnRequest, SettingsOverrides, train
from nbtext.learning import stream as learning_stream
from nbtext.scoring import Model, load_model
from nbtext.scoring.candidates import candidates
from nbtext.scoring.held_out import fitted, held_out
from nbtext.scoring.models import registry
from nbtext.scoring.models.evidence import Evidence
from nbtext.scoring.models.mean import Mean
from nbtext.scoring.models.parameters import Parameter
from nbtext.scoring.models.registry import check_scoring, scoring_of
from nbtext.settings.reading import default_settings
from nbtext.settings.scoring import Scoring
from nbtext.store import open_model, read_contents
from nbtext.store.calibrations import calibrations_of
from nbtext.store.compacting import compact
from nbtext.upkeep.merging import merge, open_models
from tests.build import learnt, numbered

CHOICES = (4.0, 1.0)


class Scaled(Mean):
    """The mean score, whose sign and size hang on two numbers that are chosen."""

    name = "scaled"
    parameters = (  # type: ignore[assignment]  # more of them than Mean has
        *Mean.parameters,
        Parameter("wrong", 1.0, 0.0, 1.0, choices=(1.0, 0.0)),
        Parameter("size", 4.0, 0.5, 8.0, choices=CHOICES),
    )

    def evidence(self, model: Model, bag: Any) -> list[Evidence]:
        """Return what the mean says, times a number."""
        times = factor(model.scoring)
        return [
            part._replace(terms=[(key, at, times * r) for key, at, r in part.terms])
            for part in super().evidence(model, bag)
        ]

    def many(self, model: Any, documents: Any, labels: Any) -> Any:
        """Return the scores of many documents."""
        return factor(model.scoring) * super().many(model, documents, labels)


def factor(scoring: Scoring) -> float:
    sign = -1.0 if scoring.parameter("wrong") else 1.0
    return sign * scoring.parameter("size")


@pytest.fixture(autouse=True)
def scaled(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("scaled")
    module.MODEL = Scaled()  # type: ignore[attr-defined]
    load = import_module
    monkeypatch.setattr(registry, "MODULES", registry.MODULES | {"scaled": "scaled"})
    monkeypatch.setattr(
        registry,
        "import_module",
        lambda name: module if name.endswith(".scaled") else load(name),
    )


def trained(path: Path, numbers: range) -> Path:
    items = [*numbered("ham", numbers), *numbered("spam", numbers)]
    found = train(lambda: iter(items), overrides=SettingsOverrides(score="scaled"))
    path.write_bytes(b"".join(map(bytes, found.contents.pack())))
    return path


def taught(path: Path, label: str | None, items: Sequence[Document]) -> None:
    learnt(LearnRequest(str(path), label), items)


def kept(path: Path) -> tuple[Calibration, ...]:
    return calibrations_of(open_model(str(path)).tables)


def losses(path: Path) -> list[float]:
    return [fitted_loss(one, ("ham", "spam")) for one in kept(path)]


def best(path: Path) -> Scoring:
    """Return the candidate of least loss, the first of several."""
    found = losses(path)
    return candidates(scoring_of("scaled"))[found.index(min(found))]


def test_candidates_are_all_combinations_in_the_order_of_preference() -> None:
    found = [dict(one.parameters) for one in candidates(scoring_of("scaled"))]

    assert [(one["wrong"], one["size"]) for one in found] == [
        *[(1.0, 4.0), (1.0, 1.0), (0.0, 4.0), (0.0, 1.0)]
    ]
    assert {one["min_evidence"] for one in found} == {2.0}


def test_without_choices_there_is_one_candidate() -> None:
    asked = scoring_of("scaled").with_parameters(size=3.0)

    assert candidates(asked) == (asked,)
    assert candidates(scoring_of("mean")) == (scoring_of("mean"),)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"size": 9.0}, "size is 9.0, expected 0.5 to 8"),
        ({"colour": 1.0}, "the parameter colour of the scaled score is unknown"),
    ],
)
def test_parameters_that_cannot_be_are_refused(
    changes: dict[str, float], message: str
) -> None:
    asked = scoring_of("scaled").with_parameters(**changes)

    with pytest.raises(Exception, match=message):
        check_scoring(asked, default_settings("text", 2), ("ham", "spam"))
    with pytest.raises(Exception, match="min_evidence of the mean score is missing"):
        check_scoring(Scoring("mean", 1.0), default_settings("text", 2), ("a", "b"))


def test_training_chooses_the_candidate_of_least_loss(tmp_path: Path) -> None:
    path = trained(tmp_path / "m.nbt", range(60))
    model = load_model(str(path))

    assert [one.documents for one in kept(path)] == [{"ham": 60, "spam": 60}] * 4
    assert model.scoring == best(path)
    assert model.scoring.parameter("wrong") == 0.0
    assert fitted(model).documents == 120
    assert held_out(model) == calibration_for(model.scoring, kept(path))


def test_with_few_documents_the_first_candidate_is_taken(tmp_path: Path) -> None:
    path = trained(tmp_path / "m.nbt", range(49))

    assert load_model(str(path)).scoring == candidates(scoring_of("scaled"))[0]


@pytest.fixture(params=[1, 99], ids=["in bulk", "one by one"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Learn by either engine, whatever the number of documents."""
    monkeypatch.setattr(learning_stream, "FEW", request.param)


@pytest.mark.usefixtures("engine")
def test_learning_chooses_again_and_forgetting_takes_back(tmp_path: Path) -> None:
    path = trained(tmp_path / "m.nbt", range(49))
    before = kept(path)
    new = [numbered(label, range(50, 54)) for label in ("ham", "spam")]

    taught(path, "ham", new[0])
    taught(path, "spam", new[1])

    assert [one.documents for one in kept(path)] == [{"ham": 53, "spam": 53}] * 4
    assert load_model(str(path)).scoring == best(path)
    assert best(path).parameter("wrong") == 0.0
    assert fitted(load_model(str(path))).documents == 106

    taught(path, None, [*new[0], *new[1]])

    assert [one.documents for one in kept(path)] == [{"ham": 49, "spam": 49}] * 4
    # what is taken back leaves zeros
    assert [+Tally(one.counts) for one in kept(path)] == [one.counts for one in before]
    assert load_model(str(path)).scoring == candidates(scoring_of("scaled"))[0]


def test_both_engines_keep_the_same_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = numbered("ham", range(100, 108))
    found = []
    for few in (1, 99):
        monkeypatch.setattr(learning_stream, "FEW", few)
        path = trained(tmp_path / f"{few}.nbt", range(60))
        taught(path, "ham", new)
        found.append((kept(path), read_contents(open_model(str(path))).records.bins))

    assert found[0] == found[1]
    assert {len(bins) for bins in found[0][1]} == {4}


def joined(folder: Path) -> Iterator[Path]:
    """Yield models of one candidate, whose sum has documents enough for another."""
    yield trained(folder / "one.nbt", range(49))
    yield trained(folder / "other.nbt", range(100, 149))


def test_files_that_are_joined_are_scored_by_all_that_they_know(tmp_path: Path) -> None:
    one, other = joined(tmp_path)
    both = tmp_path / "both.nbt"
    both.write_bytes(one.read_bytes() + other.read_bytes())

    model = load_model(str(both))

    assert load_model(str(one)).scoring == load_model(str(other)).scoring
    assert model.scoring == best(both) != load_model(str(one)).scoring
    assert not model.notes
    compact(str(both))
    assert load_model(str(both)).scoring == model.scoring


def test_merging_adds_all_candidates_and_chooses_again(tmp_path: Path) -> None:
    one, other = joined(tmp_path)
    both = tmp_path / "both.nbt"

    merged = merge(open_models([str(one), str(other)]))
    both.write_bytes(b"".join(map(bytes, merged.contents.pack())))

    assert kept(both) == totals([kept(one), kept(other)])
    assert load_model(str(both)).scoring == best(both)
    assert np.isfinite(losses(both)).all()
