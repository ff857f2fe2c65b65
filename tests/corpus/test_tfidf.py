"""
The row of 20 Newsgroups: scikit-learn's TF-IDF and multinomial, given the same tokens.

Headers, footers and quotes are removed, as `fetch_20newsgroups` does. Of 224 posts of
the test part nothing is left that training knows. scikit-learn puts them into the most
frequent class, nbtext calls them unsure; the posterior is the same, the class prior.
"""

from pathlib import Path

import numpy as np
import pytest

from nbtext import SettingsOverrides, classify_all, load, train_on
from nbtext.tokens import bag_of, read
from tests.corpus.splits import CORPORA, newsgroups_stripped

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPORA.is_dir(), reason="../shared/corpora is absent"),
]

OVERRIDES = SettingsOverrides(score="tfidf", pattern=r"\b\w\w+\b", ngrams=1)


def test_twenty_newsgroups_get_the_predictions_of_scikit_learn(tmp_path: Path) -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics import f1_score
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    earlier, later = newsgroups_stripped()
    path = str(tmp_path / "news.nbt")
    labels = [post.label or "" for post in earlier]
    train_on(zip(labels, earlier, strict=True), path, overrides=OVERRIDES)
    classifier = load(path)
    decisions = [*classify_all(classifier, later)]

    settings = classifier.model.settings
    pipeline = make_pipeline(
        TfidfVectorizer(
            analyzer=lambda post: [
                key
                for key, count in bag_of(read(post, settings), settings)[0].items()
                for _ in range(count)
            ]
        ),
        MultinomialNB(alpha=0.01),
    ).fit(earlier, labels)
    expected = pipeline.predict(later)

    posterior = np.array([decision.log_posterior for decision in decisions])
    np.testing.assert_allclose(posterior, pipeline.predict_log_proba(later), atol=1e-5)
    best = np.array(classifier.classes)[posterior.argmax(axis=1)]
    assert best.tolist() == expected.tolist()
    is_known = [decision.label is not None for decision in decisions]
    assert is_known == [decision.known > 0 for decision in decisions]
    assert is_known.count(False) == 224
    truth = [post.label for post in later]
    assert round(f1_score(truth, expected, average="macro"), 3) == 0.683
    found = [decision.label or "?" for decision in decisions]
    names = list(classifier.classes)
    assert round(f1_score(truth, found, labels=names, average="macro"), 3) == 0.692
