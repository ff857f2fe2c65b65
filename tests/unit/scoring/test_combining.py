"""Several models that decide together: Murphy (2006), equations 5 to 9."""

import json
import pickle
from math import exp, log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext import Policy, classify, classify_all, combine, evaluate, load, train_on
from nbtext.document import Document
from nbtext.errors import SettingsError, SourceError
from nbtext.learning import SettingsOverrides
from nbtext.policy import Cost, FalsePositives
from nbtext.scoring import Classifier
from nbtext.scoring.combining import CombinedClassifier
from nbtext.settings.views import Field
from nbtext.upkeep import set_policy
from tests.build import HAM, SPAM

HEAD = (
    b"Received: by x; Mon, 1 Jan 2001 00:00:00 +0000\nMessage-ID: <1@x>\n"
    b"Date: Mon, 1 Jan 2001 00:00:00 +0000\nTo: q@x.y\n"
)
MAILS = [
    ("ham", HEAD + b"Subject: lunch\nFrom: a@b.c\n\nthe minutes of the meeting"),
    ("ham", HEAD + b"Subject: review\nFrom: a@b.c\n\nlunch in the garden"),
    ("ham", HEAD + b"Subject: patch\nFrom: d@b.c\n\nthe patch, and its review"),
    ("spam", HEAD + b"Subject: winner\nFrom: x@y.z\n\ncheap pills, cash prize"),
    ("spam", HEAD + b"Subject: loan\nFrom: x@y.z\n\na casino for lunch, win cash"),
]
TESTED = HEAD + b"Subject: lunch, winner\nFrom: a@y.z\n\nthe prize of the meeting"


def mail_model(path: Path, *views: str, score: str = "sum") -> Classifier:
    overrides = SettingsOverrides(score=score, views=views)
    train_on(MAILS, path, overrides=overrides)
    return load(path)


def text_model(path: Path, counts: dict[str, int], score: str = "sum") -> Classifier:
    words = {"ham": HAM, "spam": SPAM}
    pairs = [
        (label, f"{words[label][number % 8]} {words[label][number * 3 % 8]} n{number}")
        for label, count in counts.items()
        for number in range(count)
    ]
    train_on(pairs, path, overrides=SettingsOverrides(score=score))
    return load(path)


def test_views_apart_and_combined_are_the_views_together(tmp_path: Path) -> None:
    """The sum of three views is naive Bayes; so it factorises, exactly."""
    whole = mail_model(tmp_path / "whole.nbt", "headers", "raw", "body")
    parts = [
        mail_model(tmp_path / f"{view}.nbt", view)
        for view in ("headers", "raw", "body")
    ]

    found = classify(combine(parts), TESTED)

    expected = classify(whole, TESTED)
    assert found.log_posterior == pytest.approx(expected.log_posterior, abs=1e-9)
    assert found.printed == found.log_posterior  # as the textbook's, it is not capped
    assert found.label == expected.label
    assert (found.known, found.tokens) == (expected.known, expected.tokens)
    assert [part.decision for part in found.parts] == [
        classify(part, TESTED) for part in parts
    ]


def test_the_prior_of_all_is_that_of_all_documents(tmp_path: Path) -> None:
    """3 + 1 ham and 1 + 3 spam are as many; each model's shares are divided out."""
    first = text_model(tmp_path / "a.nbt", {"ham": 3, "spam": 1})
    second = text_model(tmp_path / "b.nbt", {"ham": 1, "spam": 3})

    found = classify(combine([first, second]), "lunch money")

    odds = [
        log(p.posterior["spam"] / p.posterior["ham"])
        for p in (classify(first, "lunch money"), classify(second, "lunch money"))
    ]
    by_hand = odds[0] + log(3) + odds[1] - log(3)
    assert log(found.posterior["spam"] / found.posterior["ham"]) == pytest.approx(
        by_hand, abs=1e-12
    )


def test_a_model_that_knows_no_token_says_nothing(tmp_path: Path) -> None:
    first = text_model(tmp_path / "a.nbt", {"ham": 30, "spam": 10}, "weighted")
    other = tmp_path / "b.nbt"
    train_on([("ham", "alpha"), ("ham", "beta"), ("spam", "gamma")] * 2, other)

    found = classify(combine([first, load(other)]), "money winner")

    alone = classify(first, "money winner")
    assert found.parts[1].decision.known == 0
    ham, spam = found.log_posterior
    assert spam - ham == pytest.approx(
        alone.log_posterior[1] - alone.log_posterior[0] + _shift(first, load(other))
    )
    assert classify(combine([first, load(other)]), "qwertz").label is None


def _shift(first: Classifier, other: Classifier) -> float:
    """Return ln of the pooled shares' odds, less that of the first model's shares."""
    from nbtext.scoring.policy_rule import basis_of

    bases = [basis_of(first.model), basis_of(other.model)]
    n = [sum(basis.documents) for basis in bases]
    pooled = [
        sum(
            basis.shares[place] * number for basis, number in zip(bases, n, strict=True)
        )
        for place in (0, 1)
    ]
    own = bases[0].shares
    return log(pooled[1] / pooled[0]) - log(own[1] / own[0])


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> list[Classifier]:
    """Models of three event models, trained on other documents each."""
    folder = tmp_path_factory.mktemp("three")
    counts = [{"ham": 5, "spam": 9}, {"ham": 8, "spam": 3}, {"ham": 6, "spam": 6}]
    scores = ("sum", "weighted", "bernoulli")
    return [
        text_model(folder / f"{score}.nbt", one, score)
        for one, score in zip(counts, scores, strict=True)
    ]


@given(
    order=st.permutations(range(3)),
    words=st.lists(st.sampled_from([*HAM, *SPAM]), min_size=1),
)
def test_the_order_of_models_makes_no_difference(
    three: list[Classifier], order: list[int], words: list[str]
) -> None:
    text = " ".join(words)

    found = classify(combine([three[place] for place in order]), text)

    expected = classify(combine(three), text)
    assert found.log_posterior == pytest.approx(expected.log_posterior, abs=1e-9)
    assert found.printed == pytest.approx(expected.printed, abs=1e-9)


def test_a_calibrated_part_caps_what_is_decided(tmp_path: Path) -> None:
    """With at most 12 ham in any model no mail is spam with more than 13 / 14."""
    first = text_model(tmp_path / "a.nbt", {"ham": 12, "spam": 12}, "weighted")
    second = text_model(tmp_path / "b.nbt", {"ham": 8, "spam": 12}, "weighted")

    found = classify(combine([first, second]), " ".join(SPAM * 3))

    assert found.label == "spam"
    assert found.probability <= 13 / 14 + 1e-12
    assert exp(found.log_posterior[1]) > found.probability


def test_policies(tmp_path: Path) -> None:
    path = tmp_path / "a.nbt"
    text_model(path, {"ham": 3, "spam": 3})
    set_policy(str(path), Policy(costs=(Cost("ham", "spam", 1e6),)))
    second = text_model(tmp_path / "b.nbt", {"ham": 3, "spam": 3})
    text = " ".join(SPAM)

    assert classify(combine([load(path), second]), text).label == "ham"
    assert classify(combine([second, load(path)]), text).label == "spam"
    assert classify(combine([load(path), second], policy=Policy()), text).label == (
        "spam"
    )
    prior = Policy(prior=(("spam", 1e-9),))
    assert classify(combine([second, load(path)], policy=prior), text).label == "ham"
    limit = Policy(max_false_positives=FalsePositives("spam", 0.001))
    with pytest.raises(SettingsError, match="held-out scores of one model"):
        combine([second, load(path)], policy=limit)


def test_a_model_that_decides_alone_as_it_does_together_stays_as_it_is(
    tmp_path: Path,
) -> None:
    """What it has arranged for many documents need not be arranged again."""
    plain = text_model(tmp_path / "a.nbt", {"ham": 3, "spam": 3})
    text_model(tmp_path / "b.nbt", {"ham": 3, "spam": 3})
    careful = load(tmp_path / "b.nbt", policy=Policy(threshold=0.9))

    found = combine([plain, careful]).parts

    assert found[0] is plain
    assert found[1] is not careful
    assert found[1].policy == Policy()


def test_what_cannot_be_combined_is_refused(tmp_path: Path) -> None:
    first = text_model(tmp_path / "a.nbt", {"ham": 3, "spam": 3})
    other = tmp_path / "b.nbt"
    train_on([("ham", "lunch"), ("junk", "money")], other)

    with pytest.raises(SettingsError, match=r"two or more, not 1"):
        combine([first])
    with pytest.raises(SettingsError, match=r"has the classes ham, junk, and .*a\.nbt"):
        combine([first, load(other)])


def test_a_model_does_not_decide_with_itself(tmp_path: Path) -> None:
    first = text_model(tmp_path / "a.nbt", {"ham": 3, "spam": 3})
    (tmp_path / "link.nbt").symlink_to("a.nbt")

    with pytest.raises(SettingsError, match=r"link\.nbt is named twice, and would"):
        combine([first, load(tmp_path / "link.nbt")])


def test_each_model_reads_its_own_columns(tmp_path: Path) -> None:
    def record(city: str, text: str) -> Document:
        return Document("r", (city.encode(), text.encode()), columns=("city", "notes"))

    rows = [("yes", "rome", "good food"), ("no", "bonn", "bad food")] * 3
    pairs = [(label, record(city, text)) for label, city, text in rows]
    models = {}
    for name, kind in (("city", "value"), ("notes", "text")):
        path = tmp_path / f"{name}.nbt"
        fields = (Field(name, kind),)  # type: ignore[arg-type]  # one of the kinds
        train_on(pairs, path, overrides=SettingsOverrides(score="sum", fields=fields))
        models[name] = load(path)
    both = tmp_path / "both.nbt"
    two = (Field("city", "value"), Field("notes", "text"))
    train_on(pairs, both, overrides=SettingsOverrides(score="sum", fields=two))
    together = combine([models["notes"], models["city"]])

    found = classify(together, record("rome", "bad"))

    assert together.fields == (Field("notes"), Field("city", "value"))
    expected = classify(load(both), record("rome", "bad"))
    assert found.posterior == pytest.approx(expected.posterior, abs=1e-9)
    with pytest.raises(SourceError, match="no column city"):
        classify(together, Document("r", (b"x",), columns=("notes",)))
    whole = text_model(tmp_path / "whole.nbt", {"yes": 0, "ham": 3, "spam": 3})
    with pytest.raises(SettingsError, match="has the classes"):
        combine([models["notes"], whole])
    plain = tmp_path / "plain.nbt"
    train_on([("no", "bad"), ("yes", "good")], plain)
    with pytest.raises(SettingsError, match=r"columns of tables, and .*plain"):
        combine([models["notes"], load(plain)])


def test_many_documents_are_decided_as_one_is(tmp_path: Path) -> None:
    together = combine(
        [mail_model(tmp_path / f"{view}.nbt", view) for view in ("headers", "body")]
    )
    mails = [mail for _, mail in MAILS] * 5

    many = [*classify_all(together, mails)]

    assert [one.printed for one in many] == [
        pytest.approx(classify(together, mail).printed, abs=1e-12) for mail in mails
    ]
    again = pickle.loads(pickle.dumps(together))  # noqa: S301  made here
    assert isinstance(again, CombinedClassifier)
    expected = classify(together, TESTED).printed
    assert classify(again, TESTED).printed == pytest.approx(expected, abs=1e-12)
    assert "headers.nbt" in repr(together)


def test_an_evaluation_leaves_out_what_any_of_them_has_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number, (label, mail) in enumerate(MAILS):
        folder = Path(label)
        folder.mkdir(exist_ok=True)
        (folder / f"{number}.eml").write_bytes(mail)
    together = combine([mail_model(tmp_path / f"{view}.nbt", view)
                        for view in ("headers", "body")])  # fmt: skip

    found = evaluate(together, ["spam", "ham"])
    as_they_are = evaluate(together, ["spam", "ham"], seen=True)

    assert (found.documents, found.scored_left_out, found.passed_over) == (5, 5, 0)
    assert as_they_are.scored_left_out == 0
    assert (as_they_are.log_loss or 0) < (found.log_loss or 0)
    assert json.loads(json.dumps(found.as_dict()))["documents"] == 5
