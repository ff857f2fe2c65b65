"""
An explanation adds up, for every event model: to the score and to the probability.

What is shown as the reasons of a decision is what the score is computed from: the
parts sum to it, and so do the terms with what no term says; with calibration, other
classes and cap that is the log-odds, and so the probability that `classify` prints.
"""

import math
from collections import Counter as Tally
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext import keyring
from nbtext.counts.fitting import Fit
from nbtext.document import Document
from nbtext.learning import train
from nbtext.scoring import Classifier
from nbtext.scoring.comparing import differences, terms_of
from nbtext.scoring.explaining import explain
from nbtext.scoring.explanation import Explanation
from nbtext.scoring.in_words import in_words
from nbtext.scoring.model import load_model
from nbtext.scoring.models.registry import scoring_of
from nbtext.scoring.score import score
from nbtext.settings.reading import Settings, default_settings
from nbtext.settings.views import BODY, HEADERS, NGRAMS, RAW, View
from nbtext.tokens.bag import bag_of
from nbtext.tokens.engine import PLAIN, keys, use
from nbtext.tokens.keyed import Keyed
from nbtext.tokens.located import located
from nbtext.tokens.reading import read
from nbtext.tokens.tokenizer import Field
from tests.build import Exactly, confusing, model_of
from tests.properties.test_scores import (
    CLOSE,
    SAME_FOLDER,
    TEXT,
    counted,
    document,
    drawn,
    each_reading,
)

VIEWS = st.sampled_from([HEADERS, RAW, BODY, NGRAMS, NGRAMS._replace(threes=20)])
FIELDS = st.lists(
    st.tuples(st.sampled_from(["subject", "body"]), st.text(max_size=40)), max_size=4
)
SECRET = bytes(range(32))
TINY = 1e-300
"""Probabilities below it have few digits."""


def assert_adds_up(found: Explanation) -> None:
    """Hold an explanation to its sums, as exactly as its largest number allows."""
    sides = (found.label, found.rival)
    numbers = [part.by_class.get(name, 0.0) for part in found.parts for name in sides]
    largest = max((abs(number) for number in (*numbers, found.score)), default=0.0)
    largest *= max(found.slope, 1.0)
    near = partial(pytest.approx, rel=CLOSE, abs=CLOSE * (1 + largest))

    assert found.score == near(math.fsum(part.contribution for part in found.parts))
    said = math.fsum(reason.contribution for reason in found.reasons)
    besides = math.fsum(part.besides for part in found.parts)
    assert found.score == near(said + besides)
    log_odds = found.score + found.calibration + found.others + found.prior + found.cap
    assert found.log_odds == near(log_odds)
    # these are what is left, so that a sum which is none would show in them
    if len(found.classes) == 2:
        assert found.others == near(0.0)
    elif not (found.prior or found.cap) and found.posterior[found.rival] > TINY:
        rest = math.fsum(
            probability
            for name, probability in found.posterior.items()
            if name != found.label
        )
        assert found.others == near(math.log(found.posterior[found.rival] / rest))
    if abs(found.log_odds) < 30:
        probability = 1 / (1 + math.exp(-found.log_odds))
        assert found.probability == pytest.approx(probability, rel=1e-9)
    for part in found.parts:
        assert part.contribution == near(_difference(part.by_class, sides))
    for reason in found.reasons:
        terms = terms_of(reason)
        for one in (reason, *terms):
            assert one.contribution == near(_difference(one.by_class, sides))
        whole = math.fsum(one.contribution for one in terms)
        assert reason.contribution == near(whole)
    strengths = [abs(reason.contribution) for reason in found.reasons]
    assert strengths == sorted(strengths, reverse=True)


def _difference(by_class: dict[str, float], sides: tuple[str, str]) -> float:
    label, rival = sides
    return by_class.get(label, 0.0) - by_class.get(rival, 0.0)


@each_reading
@given(data=st.data())
@SAME_FOLDER
def test_it_adds_up_whatever_the_event_model(
    reading: Settings, tmp_path: Path, data: st.DataObject
) -> None:
    model, bodies, calibration = drawn(data, reading, tmp_path, least=2)
    label = data.draw(st.sampled_from([None, *model.classes]))
    for body in [*bodies, "what else?"]:
        one = document(body)
        found = read(one, reading)

        explanation = explain(model, found, calibration, document=one, label=label)

        assert_adds_up(explanation)
        scored = score(model, bag_of(found, reading), calibration)
        place = model.classes.index(explanation.label)
        assert explanation.probability == pytest.approx(math.exp(scored.printed[place]))
        assert in_words(explanation)

    # of the same label, so that they can be compared
    first, second = (
        explain(
            model, read(one, reading), calibration, document=one, label=model.classes[0]
        )
        for one in map(document, bodies[:2])
    )
    if first.rival == second.rival:
        rows = differences(first, second)
        besides = sum(part.besides for part in first.parts)
        besides -= sum(part.besides for part in second.parts)
        whole = math.fsum(row.difference for row in rows) + besides
        difference = first.score - second.score
        largest = abs(first.score) + abs(second.score) + abs(besides)
        assert whole == pytest.approx(difference, abs=1e-8 * (1 + largest))


def test_it_adds_up_with_a_correction(tmp_path: Path) -> None:
    texts = confusing()
    items = [
        Document(str(number), (text.encode(),), label)
        for number, (label, text) in enumerate(texts)
    ]
    how = Exactly(default_settings("text", 4), scoring_of("contrast"))
    trained = train(lambda: items, overrides=how)
    assert trained.contents.correction is not None
    path = tmp_path / "m.nbt"
    path.write_bytes(b"".join(map(bytes, trained.contents.pack())))
    classifier = Classifier(load_model(str(path)))

    for one in items[:20]:
        found = classifier.explain(one)

        assert_adds_up(found)
        (decision,) = classifier.classify([one])
        assert found.probability == pytest.approx(decision.probability, rel=1e-12)
        by_part = {part.name: part for part in found.parts}
        of_terms = sum(reason.correction for reason in found.reasons)
        correction = by_part["correction"]
        assert of_terms + correction.besides == pytest.approx(correction.contribution)


def test_the_smoothing_of_a_mean_is_a_part_of_its_own(tmp_path: Path) -> None:
    table = counted(TEXT, [("ham", "lunch"), ("spam", "cash"), ("spam", "cash now")])
    how = scoring_of("weighted").with_parameters(strength=8.0)
    model = model_of(tmp_path / "m.nbt", table, how)
    one = Document("1", (b"cash",))

    found = explain(model, read(one, TEXT), Fit(), document=one)

    parts = {part.name: part.contribution for part in found.parts}
    words = [reason for reason in found.reasons if reason.view == "body"]
    (weight,) = {abs(one.contribution) for one in words if one.text == "cash"}
    assert parts["body"] == pytest.approx(weight)
    # the mean of one term is what it says, and with 8 nats that say nothing less
    assert parts["body"] + parts["smoothing of body"] == pytest.approx(
        weight * weight / (weight + 8.0)
    )


@given(VIEWS, FIELDS, st.booleans())
def test_each_term_of_a_document_is_found_in_it(
    view: View, fields: list[Field], is_keyed: bool
) -> None:
    secret = None
    if is_keyed:
        secret = keyring.fingerprint_of(SECRET)
        keyring._secrets[secret] = SECRET
        assert Tally(Keyed(SECRET).keys(view, fields)) == Tally(
            Keyed(SECRET).defined_keys(view, fields)
        )
    bag = Tally(keys(view, fields, secret))

    found = located(view, fields, bag, secret)

    use(PLAIN)  # by the keys of the definition, in their order
    try:
        assert located(view, fields, bag, secret) == found
    finally:
        use(None)
    assert found.keys() == bag.keys()
    for key, place in found.items():
        if view.alphabet == "ngrams":
            assert len(place.parts) in ((3, 4, 5) if view.threes else (5,))
            continue
        # read alone, the text that is shown is the term
        assert key in keys(view, [(place.field, place.text)], secret)
