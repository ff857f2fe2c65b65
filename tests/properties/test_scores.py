"""
Scores are the same however they are computed.

The posterior sums to 1; renaming the classes renames their scores; the plain engine and
the batch engine agree to 1e-9; a higher threshold never decides what a lower one left
undecided; the evidence adds up to the score; a document scored as if it had not been
counted is scored as by a model that never counted it, and so is one that is scored by
cross-validation. Each law holds for every event model in the registry.
"""

import math
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from nbtext.counts.counting import Limits, count
from nbtext.counts.fitting import Fit
from nbtext.counts.table import CountTable
from nbtext.document import Document
from nbtext.evaluation.cross_validation import cross_validate
from nbtext.evaluation.evaluation import stratified_folds
from nbtext.learning import train
from nbtext.learning.reading_once import LabelledSources
from nbtext.scoring.batch import score_readings
from nbtext.scoring.batch_mixed import scores_by
from nbtext.scoring.batch_model import BatchModel, batch_model_of, open_batch_model
from nbtext.scoring.decide import DecisionRule, decide
from nbtext.scoring.held_out import fitted
from nbtext.scoring.model import Model, load_model
from nbtext.scoring.models.evidence import ABSENT, PRIOR, UNKNOWN
from nbtext.scoring.models.registry import (
    MODULES,
    event_model,
    scoring_of,
)
from nbtext.scoring.posterior import log_posterior
from nbtext.scoring.score import Scored, score
from nbtext.settings.columns import COLUMNS
from nbtext.settings.reading import Settings, default_settings
from nbtext.settings.scoring import SKIP, UNK, Scoring
from nbtext.settings.views import BODY, HEADERS, RAW
from nbtext.store.packing import unpack
from nbtext.store.writing import replace_file
from nbtext.tokens.bag import bag_of
from nbtext.tokens.bags import Terms, read_terms
from nbtext.tokens.reading import Reading, read
from tests.build import Exactly, model_of, packed

SAME_FOLDER = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60
)
CLOSE = 1e-9

MAIL = Settings(
    format="mail",
    views=(HEADERS, RAW, BODY),
).counting(COLUMNS)
TEXT = default_settings("text", 3).counting(COLUMNS)

BESIDE = (PRIOR, ABSENT, UNKNOWN)
"""Sources of evidence that are no views."""

WORDS = st.sampled_from(["free", "lunch", "Lunch", "!", "cash", "über", "中文", "x1"])
BODIES = st.lists(WORDS, min_size=1, max_size=15).map(" ".join)
COUNTINGS = ("occurrences", "once", "log", "min:3")
LABELS = ("ham", "junk", "spam")
FITS = st.builds(Fit, st.floats(0.05, 5), st.floats(-3, 3), st.just(100))


@st.composite
def labelled(draw: st.DrawFn, classes: int | None = None) -> list[tuple[str, str]]:
    """Draw documents, two of each class at least."""
    n_classes = classes or draw(st.integers(2, 3))
    names = LABELS[:n_classes]
    more = draw(st.lists(st.tuples(st.sampled_from(names), BODIES), max_size=6))
    return [(name, draw(BODIES)) for name in names for _ in range(2)] + more


@st.composite
def scorings(
    draw: st.DrawFn, classes: int, scores: Sequence[str] = tuple(MODULES)
) -> Scoring:
    """Draw an event model that can score so many classes, with any settings."""
    event = event_model(draw(st.sampled_from(scores)))
    scoring = scoring_of(event.name)._replace(
        smoothing=draw(st.sampled_from([1e-3, 0.03, 0.5, 1.0, 10.0])),
        counting=draw(st.sampled_from([*filter(COUNTINGS.count, event.countings)])),
    )
    if event.is_textbook:
        priors = ["shares", "uniform", "dirichlet:0.5", "none"]
        scoring = scoring._replace(class_prior=draw(st.sampled_from(priors)))
    if event.has_unknown:
        scoring = scoring._replace(unknown=draw(st.sampled_from([SKIP, UNK])))
    for one in event.parameters:
        values = {one.least, min(one.least + 0.3, one.most), one.default, *one.choices}
        chosen = draw(st.sampled_from(sorted(values)))
        scoring = scoring.with_parameters(**{one.name: chosen})
    names = [str(place) for place in range(classes)]
    assume(not event_model(scoring.score).refusal(scoring, MAIL, names))
    return scoring


def document(body: str, label: str | None = None, name: str = "") -> Document:
    """Return a mail that says something in each view."""
    words = body.split()
    head = f"From: {words[0]}@example.org\nSubject: {' '.join(words[:3])}\n"
    head += "Date: Mon, 1 Jan 2024 10:00:00 +0000\nMessage-ID: <1@example.org>\n"
    head += "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
    return Document(name, (f"{head}\n{body}\n".encode(),), label, is_mail=True)


def counted(reading: Settings, documents: Iterable[tuple[str, str]]) -> CountTable:
    items = [document(body, label) for label, body in documents]
    return count(items, reading, Limits(1 << 20, 0)).table


def plain(model: Model, readings: Sequence[Reading], calibration: Fit) -> list[Scored]:
    bags = [bag_of(one, model.settings) for one in readings]
    return [score(model, bag, calibration) for bag in bags]


each_reading = pytest.mark.parametrize("reading", [MAIL, TEXT], ids=["mail", "text"])


def drawn(
    data: st.DataObject, reading: Settings, folder: Path, least: int = 1
) -> tuple[Model, list[str], Fit]:
    """Draw a model, scored in any way, what it is to score, and a calibration."""
    table = counted(reading, data.draw(labelled()))
    scoring = data.draw(scorings(len(table.classes)))
    bodies = data.draw(st.lists(BODIES, min_size=least, max_size=5))
    return model_of(folder / "m.nbt", table, scoring), bodies, data.draw(FITS)


@each_reading
@given(data=st.data())
@SAME_FOLDER
def test_both_engines_agree(
    reading: Settings, tmp_path: Path, data: st.DataObject
) -> None:
    model, bodies, calibration = drawn(data, reading, tmp_path)
    readings = [read(document(body), reading) for body in [*bodies, "what else?"]]

    one = plain(model, readings, calibration)
    many = list(score_readings(open_batch_model(model), readings, calibration))

    assert_same(one, many)
    for scored in one:
        assert math.fsum(map(math.exp, scored.log_posterior)) == pytest.approx(1)


@each_reading
@given(data=st.data())
@SAME_FOLDER
def test_the_evidence_adds_up_to_the_score(
    reading: Settings, tmp_path: Path, data: st.DataObject
) -> None:
    model, bodies, calibration = drawn(data, reading, tmp_path)
    scoring = model.scoring
    event = event_model(scoring.score)
    n_numbers = 1 if event.calibration == "histogram" else len(model.classes)
    readings = [read(document(body), reading) for body in bodies]
    bags = [bag_of(one, reading) for one in readings]
    batch = batch_model_of(unpack(model.file), scoring)
    views = read_terms(reading, [one.views for one in readings])
    (many,) = scores_by(batch, [scoring], batch.find(views))

    for bag, by_arrays in zip(bags, np.atleast_1d(many), strict=True):
        parts = event.evidence(model, bag)
        raw = [
            math.fsum(
                math.fsum(value for _, at, value in part.terms if at == place)
                / part.divisor
                + (part.rest[place] if part.rest else 0.0)
                for part in parts
            )
            for place in range(n_numbers)
        ]
        (by_score,) = event.scores(model, [scoring], bag)
        # as exact as what is added up is large, which may cancel; and what is divided
        # by its deviation, as it is large beside that
        said = [abs(value) for part in parts for _, _, value in part.terms]
        said += [abs(value) for part in parts for value in part.rest]
        exact = 1e-12 + 16 * sys.float_info.epsilon * math.fsum(said)
        if scoring.score == "contrast" and scoring.parameter("scaled"):
            exact *= max(1.0, *map(abs, raw))
        assert by_score == pytest.approx(raw, rel=1e-12, abs=exact)
        np.testing.assert_allclose(np.ravel(by_arrays), raw, rtol=CLOSE, atol=CLOSE)
        scored = score(model, bag, calibration)
        if scored.known:
            posterior = log_posterior(tuple(raw), event.calibration, calibration)
            assert scored.log_posterior == pytest.approx(posterior, rel=CLOSE)
        in_views = [part for part in parts if part.source not in BESIDE]
        assert [part.source for part in in_views] == [v.name for v in reading.views]
        for terms, part in zip(bag, in_views, strict=True):
            assert {key for key, _, _ in part.terms} <= terms.keys()
            assert part.known <= sum(terms.values())


def assert_same(one: Sequence[Scored], other: Sequence[Scored]) -> None:
    assert [(s.known, s.tokens) for s in one] == [(s.known, s.tokens) for s in other]
    np.testing.assert_allclose(
        [s.log_posterior for s in one],
        [s.log_posterior for s in other],
        rtol=CLOSE,
        atol=CLOSE,
    )


@given(labelled(), st.lists(BODIES, min_size=1, max_size=6), st.data())
@SAME_FOLDER
def test_both_engines_agree_on_the_sum_of_tables(
    tmp_path: Path,
    known: list[tuple[str, str]],
    bodies: list[str],
    data: st.DataObject,
) -> None:
    whole = counted(MAIL, known)
    scoring = data.draw(scorings(len(whole.classes)))
    cut = data.draw(st.integers(1, len(known) - 1))
    path = tmp_path / "joined.nbt"
    tables = [counted(MAIL, known[:cut]), counted(MAIL, known[cut:])]
    path.write_bytes(b"".join(packed(table, scoring) for table in tables))
    model = load_model(str(path))
    readings = [read(document(body), MAIL) for body in bodies]

    one = plain(model, readings, Fit())
    many = list(score_readings(open_batch_model(model), readings, Fit()))
    expected = plain(model_of(tmp_path / "m.nbt", whole, scoring), readings, Fit())

    assert_same(one, many)
    assert_same(one, expected)


@given(labelled(), BODIES, st.permutations(["a", "b", "c"]), st.data())
@SAME_FOLDER
def test_renaming_the_classes_renames_their_scores(
    tmp_path: Path,
    known: list[tuple[str, str]],
    body: str,
    names: list[str],
    data: st.DataObject,
) -> None:
    classes = sorted({label for label, _ in known})
    new = dict(zip(classes, names, strict=False))
    scoring = data.draw(scorings(len(classes)))
    renamed = [(new[label], text) for label, text in known]
    readings = [read(document(body), MAIL)]

    before = model_of(tmp_path / "m.nbt", counted(MAIL, known), scoring)
    (one,) = plain(before, readings, Fit())
    after = model_of(tmp_path / "m.nbt", counted(MAIL, renamed), scoring)
    (other,) = plain(after, readings, Fit())

    found = dict(zip(after.classes, other.log_posterior, strict=True))
    for name, value in zip(before.classes, one.log_posterior, strict=True):
        assert found[new[name]] == pytest.approx(value, rel=CLOSE, abs=CLOSE)


LOGS = st.lists(st.floats(-700, 700), min_size=2, max_size=5)
THRESHOLDS = st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0])


@given(LOGS, st.integers(0, 3), THRESHOLDS, THRESHOLDS)
def test_a_higher_threshold_never_decides_what_a_lower_one_did_not(
    joint: list[float], known: int, one: float, other: float
) -> None:
    array = np.array(joint)
    posterior = tuple((array - np.logaddexp.reduce(array)).tolist())
    scored = Scored(posterior, posterior, known, 3)
    low, high = sorted([one, other])
    names = [f"class {place}" for place in range(len(joint))]

    bold = decide(Document("d", ()), scored, names, rule=DecisionRule(low))
    shy = decide(Document("d", ()), scored, names, rule=DecisionRule(high))

    assert shy.label in (bold.label, None)
    assert shy.probability == bold.probability < 1
    if not known:
        assert bold.label is None


def terms_of(reading: Settings, bodies: Sequence[str]) -> list[Terms]:
    return read_terms(reading, [read(document(body), reading).views for body in bodies])


def left_out(
    model: BatchModel, views: Sequence[Terms], labels: NDArray[np.int64]
) -> NDArray[np.float64]:
    return scores_by(model, [model.scoring], model.find(views), labels)[0]


def relative(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take from scores by class what says nothing: a constant."""
    return scores - scores[..., :1] if scores.ndim == 2 else scores


@pytest.mark.parametrize("reading", [MAIL, TEXT], ids=["mail", "text"])
@given(labelled(), st.data())
@SAME_FOLDER
def test_leaving_a_document_out_is_never_having_counted_it(
    reading: Settings, known: list[tuple[str, str]], data: st.DataObject
) -> None:
    whole = counted(reading, known)
    scoring = data.draw(scorings(len(whole.classes)))
    labels = np.array([whole.classes.index(label) for label, _ in known])
    views = terms_of(reading, [body for _, body in known])

    found = left_out(batch_model_of(whole, scoring), views, labels)

    for place, one in enumerate(known):
        rest = batch_model_of(whole - counted(reading, [one]), scoring)
        views = terms_of(reading, [one[1]])
        (expected,) = scores_by(rest, [scoring], rest.find(views))
        np.testing.assert_allclose(
            relative(found[place : place + 1]),
            relative(expected),
            rtol=CLOSE,
            atol=CLOSE,
        )


# tfidf: an idf is frozen, so nothing is as if it had not been counted
@pytest.mark.parametrize("score", sorted({*MODULES} - {"tfidf"}))
@given(labelled(), st.data())
@SAME_FOLDER
def test_leaving_out_copies_is_never_having_counted_any(
    score: str, known: list[tuple[str, str]], data: st.DataObject
) -> None:
    classes = {label for label, _ in known}
    scoring = data.draw(scorings(len(classes), [score]))
    times = data.draw(
        st.lists(st.integers(1, 5), min_size=len(known), max_size=len(known))
    )
    whole = counted(
        TEXT, [one for one, n in zip(known, times, strict=True) for _ in range(n)]
    )
    model = batch_model_of(whole, scoring)
    labels = np.array([whole.classes.index(label) for label, _ in known])
    views = terms_of(TEXT, [body for _, body in known])

    documents = model.find(views).counted(np.array(times))
    (found,) = scores_by(model, [scoring], documents, labels)

    for place, (one, n) in enumerate(zip(known, times, strict=True)):
        rest = batch_model_of(whole - counted(TEXT, [one] * n), scoring)
        views = terms_of(TEXT, [one[1]])
        (expected,) = scores_by(rest, [scoring], rest.find(views))
        np.testing.assert_allclose(
            relative(found[place : place + 1]),
            relative(expected),
            rtol=CLOSE,
            atol=CLOSE,
        )


def check_folds(
    folder: Path,
    known: Sequence[tuple[str, str]],
    reading: Settings,
    scoring: Scoring,
    folds: int,
) -> list[Fit]:
    """Compare with real training, and return what each fold's scores were fitted to."""
    items = [document(body, label) for label, body in known]
    found = cross_validate(
        LabelledSources(lambda: items, 1 << 20),
        folds,
        overrides=Exactly(reading, scoring),
    )
    readings = [read(item, reading) for item in items]
    truth = [found.classes.index(label) for label, _ in known]
    fold_of = stratified_folds(truth, folds, [one.digest for one in readings]).tolist()
    expected, fits = [], []
    for fold in range(folds):
        rest = [item for item, of in zip(items, fold_of, strict=True) if of != fold]
        mine = [place for place, of in enumerate(fold_of) if of == fold]
        trained = train(partial(iter, rest), overrides=Exactly(reading, scoring))
        replace_file(str(folder / "model.nbt"), trained.contents.pack())
        model = load_model(str(folder / "model.nbt"))
        fits.append(fitted(model))
        scored = plain(model, [readings[place] for place in mine], fits[-1])
        expected += [
            (truth[place], one.known, *one.log_posterior)
            for place, one in zip(mine, scored, strict=True)
        ]

    rows = np.column_stack([found.truth, found.known, found.log_posterior])
    np.testing.assert_allclose(
        by_row(rows), by_row(np.array(expected)), rtol=CLOSE, atol=CLOSE
    )
    return fits


@given(
    st.lists(st.tuples(st.sampled_from(["ham", "spam"]), BODIES), max_size=20),
    st.integers(2, 4),
    st.data(),
)
@settings(SAME_FOLDER, max_examples=25)
def test_cross_validation_is_training_on_the_other_folds(
    tmp_path: Path, more: list[tuple[str, str]], folds: int, data: st.DataObject
) -> None:
    known = [("ham", f"lunch {n}") for n in range(4)]
    known += [("spam", f"cash {n}") for n in range(4)]
    reading = data.draw(st.sampled_from([MAIL, TEXT]))

    check_folds(tmp_path, [*known, *more], reading, data.draw(scorings(2)), folds)


@pytest.mark.parametrize(
    ("score", "n_classes"), [("mean", 2), ("complement", 2), ("complement", 3)]
)
def test_cross_validation_calibrates_on_the_other_folds(
    score: Any, n_classes: int, tmp_path: Path
) -> None:
    random = np.random.default_rng(5)
    known = []
    for place in range(240):
        class_ = place % n_classes
        words = [f"w{n}" for n in random.integers(0, 30, 8) + 8 * class_]
        known.append((LABELS[class_], " ".join(words)))
    scoring = scoring_of(score)._replace(smoothing=0.03)
    if dict(scoring.parameters).get("min_evidence"):
        scoring = scoring.with_parameters(min_evidence=0.5)

    fits = check_folds(tmp_path, known, TEXT, scoring, 3)

    assert all(fit.documents for fit in fits)
    assert len({fit.slope for fit in fits} | {1.0}) == 4


def by_row(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sort rows, by figures that rounding does not reach."""
    return rows[np.lexsort(np.round(rows, 6).T[::-1])]
