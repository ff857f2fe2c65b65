"""The peer of training_text: CountVectorizer and MultinomialNB on folders of text."""

import pickle
import sys
from pathlib import Path

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

paths = sorted(Path(sys.argv[1]).glob("*/*"))
texts = [path.read_bytes() for path in paths]
counter, model = CountVectorizer(encoding="latin-1"), MultinomialNB()
model.fit(counter.fit_transform(texts), [path.parent.name for path in paths])
if len(sys.argv) > 2:  # to classify with
    Path(sys.argv[2]).write_bytes(pickle.dumps((counter, model)))
