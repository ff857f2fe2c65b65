"""The peer of training_by_default: TfidfVectorizer and LinearSVC on labelled text."""

import sys
from pathlib import Path

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

source = Path(sys.argv[1])
if source.is_dir():
    paths = sorted(source.glob("*/*"))
    labels = [path.parent.name for path in paths]
    texts = [path.read_bytes() for path in paths]
else:
    rows = [line.partition(b"\t") for line in source.read_bytes().splitlines()]
    labels = [label.decode() for label, _, _ in rows]
    texts = [text for _, _, text in rows]
weights = TfidfVectorizer(encoding="latin-1", ngram_range=(1, 2))
LinearSVC(random_state=0).fit(weights.fit_transform(texts), labels)
