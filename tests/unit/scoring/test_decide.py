from math import exp, log, nextafter

import pytest

from nbtext.document import Document
from nbtext.scoring.decide import CERTAIN, DecisionRule, decide
from nbtext.scoring.score import Scored

DOCUMENT = Document("d", ())
CLASSES = ("ham", "junk", "spam")


def scored(*posterior: float, known: int = 4) -> Scored:
    return Scored((*map(log, posterior),), (*map(log, posterior),), known, 5)


@pytest.mark.parametrize(
    ("threshold", "label"),
    [(0.0, "spam"), (0.5, "spam"), (0.6999, "spam"), (0.7001, None), (1.0, None)],
)
def test_a_label_needs_the_threshold(threshold: float, label: str | None) -> None:
    rule = DecisionRule(threshold)

    found = decide(DOCUMENT, scored(0.2, 0.1, 0.7), CLASSES, rule=rule)

    assert found.label == label
    assert found.probability == pytest.approx(0.7)
    assert found.posterior == pytest.approx({"ham": 0.2, "junk": 0.1, "spam": 0.7})


def test_a_document_without_a_known_token_is_unsure() -> None:
    found = decide(DOCUMENT, scored(0.2, 0.1, 0.7, known=0), CLASSES)

    assert found.label is None
    assert found.probability == pytest.approx(0.7)


def test_of_equal_classes_the_first_wins() -> None:
    assert decide(DOCUMENT, scored(0.25, 0.375, 0.375), CLASSES).label == "junk"


@pytest.mark.parametrize("threshold", [0.999, CERTAIN, 1.0])
def test_a_probability_is_never_1_and_still_reaches_any_threshold(
    threshold: float,
) -> None:
    sure = Scored((-800.0, -900.0, 0.0), (-800.0, -900.0, 0.0), 4, 5)

    found = decide(DOCUMENT, sure, CLASSES, rule=DecisionRule(threshold))

    assert found.probability == nextafter(1.0, 0.0) < 1
    assert found.label == "spam"


def test_a_decision_has_what_is_known_of_its_document() -> None:
    document = Document("a name", (), "ham", truncated=True, identity="7")

    found = decide(document, scored(0.2, 0.1, 0.7), CLASSES)

    assert (found.name, found.truncated, found.expected) == ("a name", True, "ham")
    assert found.identity == "7"
    assert (found.known, found.tokens, found.classes) == (4, 5, CLASSES)
    assert [exp(value) for value in found.log_posterior] == pytest.approx(
        [0.2, 0.1, 0.7]
    )
