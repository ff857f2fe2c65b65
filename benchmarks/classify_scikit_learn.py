"""The peer of classifying_text: the labels of texts by what train_scikit_learn kept."""

import pickle
import sys
from pathlib import Path

counter, model = pickle.loads(Path(sys.argv[1]).read_bytes())  # noqa: S301  our own
texts = [path.read_bytes() for path in sorted(Path(sys.argv[2]).glob("*/*"))]
for label in model.predict(counter.transform(texts)):
    print(label)
