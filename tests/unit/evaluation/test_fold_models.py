"""Reasons of what cross-validation misjudged: by the model of the other folds."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from nbtext.document import Document, Item
from nbtext.evaluation.cross_validation import CrossValidated, cross_validate
from nbtext.evaluation.fold_models import FoldModels
from nbtext.evaluation.misjudged import Misjudged
from nbtext.learning import train
from nbtext.learning.reading_once import LabelledSources
from nbtext.policy import MOST_PROBABLE, Cost, Policy
from nbtext.scoring import Classifier, load_model
from tests.build import FEW_TERMS, texts

TEXTS = [
    *[("ham", f"lunch friday {n}") for n in range(12)],
    *[("spam", f"cheap pills {n}") for n in range(20, 28)],
    ("ham", "cheap pills now"),
]
DOCUMENTS = sorted(texts(*TEXTS), key=lambda document: document.label or "")
"""In the order of the cache."""


class Sources:
    """Documents that may be others the second time."""

    def __init__(self, first: Sequence[Item], second: Sequence[Item]) -> None:
        self._times = [first, second]

    def __call__(self) -> Iterator[Item]:
        return iter(self._times.pop(0))


def judged(
    first: Sequence[Item], second: Sequence[Item], policy: Policy = MOST_PROBABLE
) -> tuple[CrossValidated, Sequence[Misjudged]]:
    sources = Sources(first, second)
    with FoldModels(sources, 1000, n_reasons=2, has_whole=False) as models:
        found = cross_validate(
            LabelledSources(sources, 1000), 3, overrides=FEW_TERMS, models=models
        )
        result = found.evaluation(policy=policy, models=models)
        assert len(result.errors or ()) == result.documents - result.correct
        return found, result.errors or ()


def test_they_are_those_of_a_model_trained_on_the_other_folds(tmp_path: Path) -> None:
    found, errors = judged(DOCUMENTS, DOCUMENTS)

    wrong = next(one for one in errors if one.name == "20.txt")
    place = [document.name for document in DOCUMENTS].index("20.txt")
    others = [
        DOCUMENTS[n] for n in np.flatnonzero(found.fold_of != found.fold_of[place])
    ]
    trained = train(lambda: iter(others), overrides=FEW_TERMS)
    path = tmp_path / "others.nbt"
    path.write_bytes(b"".join(trained.contents.pack()))
    model = Classifier(load_model(str(path)), policy=Policy())
    why = model.explain(DOCUMENTS[place], label="spam", top=2)
    assert (wrong.truth, wrong.label) == ("ham", "spam")
    assert wrong.reasons == why.reasons
    assert len(wrong.reasons) > 0
    assert wrong.probability == pytest.approx(why.probability, rel=1e-12)


@pytest.mark.parametrize("text", [None, b"another text by now"])
def test_a_document_that_is_gone_or_another_has_none(text: bytes | None) -> None:
    later = [one for one in DOCUMENTS if one.name != "20.txt"]
    if text is not None:
        later.append(Document("20.txt", (text,), "ham"))

    _, errors = judged(DOCUMENTS, later)

    assert [one.reasons for one in errors if one.name == "20.txt"] == [()]


def test_two_documents_of_one_name_are_told_apart() -> None:
    twins = [
        Document("same.txt", (b"cheap pills now",), "ham"),
        Document("same.txt", (b"lunch friday now",), "spam"),
    ]
    documents = sorted([*DOCUMENTS, *twins], key=lambda one: one.label or "")

    _, errors = judged(documents, documents)

    texts = {
        one.truth: {reason.text for reason in one.reasons}
        for one in errors
        if one.name == "same.txt"
    }
    assert all("cheap" in text or "pills" in text for text in texts["ham"])
    assert all("lunch" in text or "friday" in text for text in texts["spam"])


def test_one_of_a_class_that_no_model_knows_is_told_though_it_is_unsure() -> None:
    documents = [*DOCUMENTS, Document("lost.txt", (b"lunch pills",), "work")]

    _, errors = judged(documents, documents, Policy(threshold=1))

    assert ("work", None) in [(one.truth, one.label) for one in errors]


def test_the_probability_is_that_of_the_label_and_not_of_the_most_probable() -> None:
    policy = Policy(costs=(Cost("ham", "spam", 1000.0),))

    _, errors = judged(DOCUMENTS, DOCUMENTS, policy)

    assert {one.label for one in errors} == {"ham"}
    assert min(one.probability for one in errors) < 0.5


def test_the_files_are_gone_afterwards() -> None:
    with FoldModels(lambda: iter(()), 1, n_reasons=1, has_whole=True) as models:
        folder = models._path(0).parent
        assert folder.is_dir()

    assert not folder.exists()
