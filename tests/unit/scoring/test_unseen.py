"""Documents that a model has counted, scored as if it had not."""

from pathlib import Path

import numpy as np
import pytest

from nbtext import forget, learn, load, train_on
from nbtext.document import Document
from nbtext.errors import NotAModelError
from nbtext.learning import SettingsOverrides
from nbtext.scoring import Decision
from nbtext.scoring.stored import FEW
from nbtext.scoring.unseen import AS_COUNTED, LEFT_OUT, UnseenClassifier
from tests.build import halve

PAIRS = [
    ("spam", "cheap pills pills today"),
    ("spam", "win cash today only once"),
    ("spam", "cash for cheap loans"),
    ("ham", "lunch today at the library"),
    ("ham", "review of the patch and the minutes"),
    ("ham", "the train to the garden"),
]
TEXTBOOK = SettingsOverrides(score="sum", correction=False)
"""A score whose posterior is not fitted, so that models of other documents compare."""


def unseen(path: Path, *texts: str) -> list[Decision]:
    """What a model says of texts that it may have counted."""
    classifier = UnseenClassifier(load(str(path)).model)
    documents = [Document(str(n), (text.encode(),)) for n, text in enumerate(texts)]
    return classifier.classify(documents)


@pytest.mark.parametrize("score", ["sum", "complement"])
def test_the_score_is_that_of_a_model_without_the_document(
    tmp_path: Path, score: str
) -> None:
    """Posterior, probability and known tokens, for each document of a corpus."""
    how = TEXTBOOK._replace(score=score)
    pairs = [*PAIRS, ("eggs", "eggs and bacon"), ("eggs", "bacon today")]
    train_on(pairs, str(tmp_path / "all.nbt"), overrides=how)

    decisions = unseen(tmp_path / "all.nbt", *(text for _, text in pairs))

    assert len(decisions) == len(pairs)
    for place, decision in enumerate(decisions):
        rest = str(tmp_path / "rest.nbt")
        train_on(pairs[:place] + pairs[place + 1 :], rest, overrides=how, replace=True)
        wanted = load(rest).classify([Document("", (pairs[place][1].encode(),))])[0]
        assert decision.seen == LEFT_OUT
        assert (decision.known, decision.tokens) == (wanted.known, wanted.tokens)
        assert decision.label == wanted.label
        if score == "sum":  # complement is fitted to what is held out
            assert decision.log_posterior == pytest.approx(wanted.log_posterior)
            assert decision.printed == pytest.approx(wanted.printed)


@pytest.mark.parametrize("class_prior", ["shares", "uniform", "none", "dirichlet:3"])
@pytest.mark.parametrize("score", ["sum", "bernoulli", "kary", "poisson"])
def test_a_textbook_posterior_without_known_terms_rests_on_its_class_prior(
    tmp_path: Path, score: str, class_prior: str
) -> None:
    """Of a document whose terms no other has, left out and by a model without it."""
    how = TEXTBOOK._replace(score=score, class_prior=class_prior)
    others = [*PAIRS, ("ham", "seeds for the garden")]
    pairs = [*others, ("spam", "qqqq wwww")]
    train_on(pairs, str(tmp_path / "all.nbt"), overrides=how)
    train_on(others, str(tmp_path / "rest.nbt"), overrides=how)

    (decision,) = unseen(tmp_path / "all.nbt", "qqqq wwww")

    rest = load(str(tmp_path / "rest.nbt"))
    wanted = rest.classify([Document("", (b"qqqq wwww",))])[0]
    assert (decision.known, decision.label) == (0, wanted.label) == (0, None)
    assert decision.log_posterior == pytest.approx(wanted.log_posterior)
    if score == "sum":  # in which absent terms say nothing
        expected = prior_of((4, 3), class_prior)
        assert np.exp(decision.log_posterior) == pytest.approx(expected)


def prior_of(documents: tuple[int, ...], class_prior: str) -> list[float]:
    """P(c), as docs/models.md defines it."""
    kind, _, number = class_prior.partition(":")
    if kind in ("uniform", "none"):
        return [1 / len(documents)] * len(documents)
    added = float(number or 0)
    total = sum(documents) + added * len(documents)
    return [(n + added) / total for n in documents]


def test_what_the_model_has_not_counted_is_scored_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    train_on(PAIRS, str(path))
    texts = ["cheap cash", PAIRS[0][1], "lunch at the garden"]

    first, second, third = unseen(path, *texts)

    plain = load(str(path)).classify(
        [Document(str(n), (text.encode(),)) for n, text in enumerate(texts)]
    )
    assert [one.seen for one in (first, second, third)] == ["no", LEFT_OUT, "no"]
    assert first.log_posterior == pytest.approx(plain[0].log_posterior)
    assert third.log_posterior == pytest.approx(plain[2].log_posterior)
    assert not np.allclose(second.log_posterior, plain[1].log_posterior)


@pytest.mark.parametrize("score", ["sum", "weighted"])
def test_many_at_once_are_decided_as_each_alone(tmp_path: Path, score: str) -> None:
    """Counted once, twice, in another class, and not at all."""
    path = tmp_path / "model.nbt"
    pairs = [*PAIRS, PAIRS[0], ("ham", PAIRS[1][1])]
    pairs += [("ham", f"letter {n} about the garden") for n in range(10)]
    train_on(pairs, str(path), overrides=SettingsOverrides(score=score))
    texts = [text for _, text in pairs] + ["a new letter", "cheap eggs", "qqqq"]

    together = unseen(path, *texts)

    assert len(texts) > FEW
    assert {one.seen for one in together} == {"no", LEFT_OUT, AS_COUNTED}
    for decision, text in zip(together, texts, strict=True):
        (alone,) = unseen(path, text)
        assert decision.log_posterior == pytest.approx(alone.log_posterior, abs=1e-12)
        assert decision.printed == pytest.approx(alone.printed, abs=1e-12)
        facts = [
            one._replace(name="", log_posterior=(), printed=(), probability=0.0)
            for one in (decision, alone)
        ]
        assert facts[0] == facts[1]


def test_what_was_learnt_and_forgotten_since_is_known(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    train_on(PAIRS, str(path))
    learn(str(path), "ham", [b"a new letter about eggs"])
    forget(str(path), [PAIRS[0][1]])
    learn(str(path), "ham", [PAIRS[1][1]])  # which moves it there

    decisions = unseen(path, "a new letter about eggs", PAIRS[0][1], PAIRS[1][1])

    assert [one.seen for one in decisions] == [LEFT_OUT, "no", LEFT_OUT]


def test_what_cannot_be_taken_away_exactly_is_said_to_be_so(tmp_path: Path) -> None:
    """Copies, and documents in two classes."""
    path = tmp_path / "model.nbt"
    train_on([*PAIRS, PAIRS[0], ("ham", PAIRS[1][1])], str(path))

    decisions = unseen(path, *(text for _, text in PAIRS[:3]))

    assert [one.seen for one in decisions] == [AS_COUNTED, AS_COUNTED, LEFT_OUT]


def test_without_a_ledger_nothing_is_known(tmp_path: Path) -> None:
    path = tmp_path / "model.nbt"
    train_on(PAIRS, str(path), overrides=SettingsOverrides(ledger=False))

    assert [one.seen for one in unseen(path, PAIRS[0][1])] == ["no"]


@pytest.mark.parametrize("score", ["mean", "weighted"])
def test_counts_that_do_not_have_what_the_ledger_has_are_damaged(
    tmp_path: Path, score: str
) -> None:
    """Whether such a document is scored without itself, or moves."""
    path = tmp_path / "m.nbt"
    pairs = [(label, f"{label} {text} {n}") for n in range(9) for label, text in PAIRS]
    train_on(pairs, path, overrides=TEXTBOOK._replace(score=score))
    halve(path)

    with pytest.raises(NotAModelError, match="damaged"):
        unseen(path, *(text for _, text in pairs))
    with pytest.raises(NotAModelError, match="damaged"):
        learn(path, "ham", [text for label, text in pairs if label == "spam"])
