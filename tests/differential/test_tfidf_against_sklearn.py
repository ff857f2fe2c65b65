"""
TF-IDF weights and the multinomial on them: scikit-learn's, given the same tokens.

Weights are kept in units of 2^-24, so the scores differ by what that can move them.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nbtext import (
    Options,
    SettingsOverrides,
    classify,
    classify_all,
    forget,
    learn,
    load,
    train,
    train_on,
)
from nbtext import joint_log_likelihood as joint_of
from nbtext.document import Document
from nbtext.errors import ModelFileError, SettingsError
from nbtext.evaluation.cross_validation import cross_validate
from nbtext.learning.reading_once import LabelledSources
from nbtext.tokens import bag_of, read
from nbtext.upkeep.merging import open_models

DEMO = Path(__file__).parents[2] / "corpora" / "demo"
PATTERN = r"\b\w\w+\b"
OVERRIDES = SettingsOverrides(score="tfidf", pattern=PATTERN, ngrams=1)
WORDS = [f"w{n}" for n in range(60)]


def drawn(seed: int, n: int = 150) -> list[tuple[str, str]]:
    """Draw labelled texts, of three classes."""
    random = np.random.default_rng(seed)
    rates = random.gamma(0.2, size=(3, len(WORDS))) + 0.01
    texts = []
    for place in range(n):
        class_ = place % 3
        chosen = random.choice(
            WORDS, random.integers(1, 30), p=rates[class_] / rates[class_].sum()
        )
        texts.append((f"class {class_}", " ".join(chosen)))
    return texts


# scikit-learn takes 70 MB, which a process that forks should not have
def theirs(texts: list[tuple[str, str]]) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(TfidfVectorizer(), MultinomialNB(alpha=0.01))
    return pipeline.fit([text for _, text in texts], [label for label, _ in texts])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_tfidf_is_multinomial_on_tfidf_vectors(seed: int, tmp_path: Path) -> None:
    texts, new = drawn(seed), [text for _, text in drawn(seed + 10, 60)]
    new.append("w1 w2 unheard of")
    path = str(tmp_path / "m.nbt")
    train_on(texts, path, overrides=OVERRIDES)
    model, pipeline = load(path), theirs(texts)

    many = [decision.log_posterior for decision in classify_all(model, new)]
    np.testing.assert_allclose(many, pipeline.predict_log_proba(new), atol=1e-5)
    one = [[*joint_of(load(path), text).values()] for text in new[-9:]]
    vectors = pipeline[:-1].transform(new[-9:])
    joint = pipeline[-1].predict_joint_log_proba(vectors)
    np.testing.assert_allclose(one, joint, atol=1e-5)
    labels = [decision.label for decision in classify_all(model, new)]
    assert labels == pipeline.predict(new).tolist()


def test_real_texts_get_the_same_predictions_and_empty_ones_the_prior(
    tmp_path: Path,
) -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    def texts(folder: str) -> list[tuple[str, Document]]:
        return [
            (label, Document(path.name, (body_of(path),), label))
            for label in ("spam", "ham")
            for path in sorted((DEMO / folder / label).glob("*.eml"))
        ]

    def body_of(path: Path) -> bytes:
        return path.read_bytes().partition(b"\n\n")[2]

    def tokens(document: Document) -> list[int]:
        (bag,) = bag_of(read(document, settings), settings)
        return [key for key, count in bag.items() for _ in range(count)]

    trained, path = texts("."), str(tmp_path / "m.nbt")
    train_on(trained, path, overrides=OVERRIDES)
    classifier = load(path)
    settings = classifier.model.settings
    new = [document for _, document in texts("check")]
    new += [Document("nothing", (b"",)), Document("unknown", (b"qqxx zzyy",))]
    decisions = [*classify_all(classifier, new)]

    pipeline = make_pipeline(
        TfidfVectorizer(analyzer=tokens), MultinomialNB(alpha=0.01)
    ).fit([document for _, document in trained], [label for label, _ in trained])
    posterior = np.array([decision.log_posterior for decision in decisions])
    np.testing.assert_allclose(posterior, pipeline.predict_log_proba(new), atol=1e-5)
    expected = pipeline.predict(new).tolist()
    assert [decision.label for decision in decisions[:-2]] == expected[:-2]
    # more spam was trained; but nothing speaks for it, and nbtext says so
    assert expected[-2:] == ["spam", "spam"]
    assert [decision.label for decision in decisions[-2:]] == [None, None]


def test_what_is_learnt_is_weighed_by_the_idf_of_training(tmp_path: Path) -> None:
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
    from sklearn.naive_bayes import MultinomialNB

    trained, later = drawn(8, 60), drawn(9, 40)
    later += [("class 0", "unseen w1 unseen"), ("another", "other words entirely")]
    forgotten, kept = trained[:9], trained[9:]
    new = [text for _, text in drawn(10, 30)] + ["unseen words w3", "unheard of"]
    path = str(tmp_path / "m.nbt")
    train_on(trained, path, overrides=OVERRIDES)
    for label in sorted({label for label, _ in later}):
        learn(path, label, [t for name, t in later if name == label], frozen_idf=True)
    forget(path, [text for _, text in forgotten], frozen_idf=True)

    # a word that training did not have is in none of its documents
    counts = CountVectorizer(vocabulary=_words([*trained, *later]))
    idf = TfidfTransformer().fit(counts.transform([text for _, text in trained]))
    model = MultinomialNB(alpha=0.01).fit(
        idf.transform(counts.transform([text for _, text in kept + later])),
        [label for label, _ in kept + later],
    )
    expected = model.predict_log_proba(idf.transform(counts.transform(new)))
    many = [decision.log_posterior for decision in classify_all(load(path), new)]
    np.testing.assert_allclose(many, expected, atol=1e-5)
    one = [classify(load(path), text).log_posterior for text in new[-6:]]
    np.testing.assert_allclose(one, expected[-6:], atol=1e-5)


def _words(texts: list[tuple[str, str]]) -> list[str]:
    return sorted({word for _, text in texts for word in text.split()})


def test_each_fold_has_the_idf_of_the_others() -> None:
    texts = drawn(7, 90)
    texts.append(("class 1", "alone in its fold w1"))
    documents = [
        Document(f"{n}", (text.encode(),), label)
        for n, (label, text) in enumerate(texts)
    ]
    sources = LabelledSources(lambda: iter(documents), 1000)
    found = cross_validate(sources, 3, overrides=OVERRIDES, jobs=2)

    texts.sort(key=lambda one: one[0])  # as a batch is counted
    for fold in range(3):
        rest = [one for one, n in zip(texts, found.fold_of, strict=True) if n != fold]
        held_out = [
            text for (_, text), n in zip(texts, found.fold_of, strict=True) if n == fold
        ]
        np.testing.assert_allclose(
            found.log_posterior[found.fold_of == fold],
            theirs(rest).predict_log_proba(held_out),
            atol=1e-5,
        )


def test_several_processes_make_the_same_model(tmp_path: Path) -> None:
    rows = [f"{label},{text}" for label, text in drawn(4)]
    (tmp_path / "rows.csv").write_text("\n".join(["label,text", *rows]))
    models = []
    for jobs in (1, 2):
        path = str(tmp_path / f"{jobs}.nbt")
        source = [str(tmp_path / "rows.csv")]
        train(source, path, options=Options(), overrides=OVERRIDES, jobs=jobs)
        models.append([*joint_of(load(path), "w1 w2 w3 w3").values()])

    assert models[0] == models[1]


def test_weights_that_rest_on_all_documents_do_not_change(tmp_path: Path) -> None:
    path = str(tmp_path / "m.nbt")
    train_on(drawn(5), path, overrides=OVERRIDES)

    with pytest.raises(
        SettingsError, match=r"change the idf of every.*frozen_idf=True"
    ):
        learn(path, "class 1", ["w1 w2 w3"])
    with pytest.raises(ModelFileError, match="do not add up"):
        [*open_models([path, path])]
    Path(path).write_bytes(Path(path).read_bytes() * 2)
    with pytest.raises(ModelFileError, match="were joined"):
        load(path)


def test_other_models_say_which_train_line_weighs(tmp_path: Path) -> None:
    path = str(tmp_path / "m.nbt")
    train_on(drawn(6), path, overrides=SettingsOverrides(score="sum"))

    with pytest.raises(SettingsError, match=r"train with score='tfidf'.*use score"):
        load(path, overrides=SettingsOverrides(score="tfidf"))
