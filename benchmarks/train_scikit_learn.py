"""The peer of training_text: CountVectorizer and MultinomialNB on folders of text."""

import sys
from pathlib import Path

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

paths = sorted(Path(sys.argv[1]).glob("*/*"))
texts = [path.read_bytes() for path in paths]
counts = CountVectorizer(encoding="latin-1").fit_transform(texts)
MultinomialNB().fit(counts, [path.parent.name for path in paths])
