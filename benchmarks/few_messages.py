"""
What the first messages of a model are worth: 2 to 500 a class, and unequal classes.

    python -m benchmarks.few_messages CORPORA [--prior SLOPE PRECISION OFFSET]

CORPORA is a folder with `spamassassin` and `nazario`. Samples are drawn from a corpus,
a model is made of each, and 1,500 other messages are scored. Log-loss and the share of
ham that is called spam with 0.99 or more are given before and after the cap.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nbtext.counts import Counter
from nbtext.counts.calibration import Prior
from nbtext.counts.fitting import fit
from nbtext.document import Document
from nbtext.scoring.batch import capped_rows, log_posteriors
from nbtext.scoring.batch_mixed import scores_by
from nbtext.scoring.batch_model import batch_model_of
from nbtext.scoring.leave_one_out import left_out
from nbtext.scoring.models.registry import default_scoring, event_model
from nbtext.settings.reading import default_settings
from nbtext.tokens import Terms, read, read_terms

SETTINGS = default_settings("mail", 2)
SIZES = [(n, n) for n in (2, 5, 10, 20, 50, 100, 200, 500)]
LOPSIDED = [(19, 950), (10, 100), (100, 10), (5, 20), (20, 5), (950, 19)]
DRAWS = 16
JUDGED = 1500
CLASSES = ("ham", "spam")


class Corpus(NamedTuple):
    """Messages: whether each is spam, what names it, and its terms in each view."""

    is_spam: NDArray[np.bool_]
    digests: list[bytes]
    views: list[Terms]


def messages(folder: Path, name: str) -> Iterator[tuple[bool, bytes]]:
    """Yield the messages of a corpus, and whether they are spam."""
    own = folder / "spamassassin"
    of_ham = ["easy_ham_2", "hard_ham"] + ["easy_ham"] * (name == "spamassassin")
    of_spam = ["spam", "spam_2"] if name == "spamassassin" else []
    for is_spam, parts in ((False, of_ham), (True, of_spam)):
        for part in parts:
            for path in sorted((own / part).iterdir()):
                yield is_spam, path.read_bytes()
    if name == "nazario":
        for path in sorted((folder / "nazario").iterdir()):
            if path.suffix == ".mbox":
                box = b"\n" + path.read_bytes()
                for message in box.split(b"\nFrom ")[1:]:
                    yield True, message.partition(b"\n")[2]


def corpus_of(folder: Path, name: str) -> Corpus:
    """Read a corpus."""
    found = list(messages(folder, name))
    readings = [
        read(Document("", (message[: 1 << 20],), is_mail=True), SETTINGS)
        for _, message in found
    ]
    views = read_terms(SETTINGS, [reading.views for reading in readings])
    digests = [reading.digest for reading in readings]
    return Corpus(np.array([is_spam for is_spam, _ in found]), digests, views)


def judged(corpus: Corpus, size: tuple[int, int], draw: int, prior: Prior) -> Any:
    """Return what a model of a sample says of other messages, in figures."""
    random = np.random.default_rng([draw, *size])
    chosen = [
        np.sort(random.choice(np.flatnonzero(corpus.is_spam == label), n, False))
        for label, n in zip((False, True), size, strict=True)
    ]
    rest = np.setdiff1d(np.arange(len(corpus.is_spam)), np.concatenate(chosen))
    judged = random.choice(rest, min(JUDGED, len(rest)), replace=False)
    counter, scoring = Counter(SETTINGS), default_scoring("mail", 2)
    batches = []
    for label, places in zip(CLASSES, chosen, strict=True):
        views = [terms.take(places) for terms in corpus.views]
        digests = [corpus.digests[place] for place in places]
        counter.add_terms([label] * len(places), digests, views)
        batches.append(([label] * len(places), views))
    model = batch_model_of(counter.table(), scoring)
    (calibration,) = left_out(model, batches).calibrations
    fitted = fit(calibration._replace(prior=prior), CLASSES)
    views = [terms.take(judged) for terms in corpus.views]
    (scores,) = scores_by(model, [scoring], model.find(views))
    posterior = log_posteriors(scores, "histogram", fitted)
    printed = capped_rows(posterior, model.documents)
    truth = corpus.is_spam[judged].astype(int)
    rows, is_ham = np.arange(len(truth)), truth == 0
    return [
        -posterior[rows, truth].mean(),
        -printed[rows, truth].mean(),
        100 * (np.exp(posterior[is_ham, 1]) >= 0.99).mean(),
        100 * (np.exp(printed[is_ham, 1]) >= 0.99).mean(),
        100 * (posterior.argmax(axis=1) == truth).mean(),
    ]


def main(arguments: list[str]) -> None:
    """Print a table for each corpus."""
    folder, *rest = arguments
    prior = event_model(default_scoring("mail", 2).score).prior(2)
    if rest:
        prior = Prior(*map(float, rest[1:]))
    for name in ("spamassassin", "nazario"):
        corpus = corpus_of(Path(folder), name)
        print(f"\n{name}, {DRAWS} draws, {prior}\n")
        print("| ham, spam | log-loss | printed | ham at .99, % | printed | accuracy |")
        print("|---|---|---|---|---|---|")
        most = [int((~corpus.is_spam).sum()), int(corpus.is_spam.sum())]
        for size in [*SIZES, *LOPSIDED]:
            size = (size[0], min(size[1], most[1] - 20))
            found = [judged(corpus, size, draw, prior) for draw in range(DRAWS)]
            means = np.mean(found, axis=0).tolist()
            cells = "{:.3f} | {:.3f} | {:.2f} | {:.2f} | {:.1f}".format(*means)
            print(f"| {size[0]}, {size[1]} | {cells} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
