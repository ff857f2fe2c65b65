"""
Public corpora, how each is split, and what nbtext has to reach on it.

Each split is fixed, and made without looking at a document:

* SpamAssassin, 6,047 mails. ham is easy_ham, easy_ham_2 and hard_ham; spam is spam and
  spam_2. Within each class the paths are sorted, and a mail's index modulo 5 is its
  fold. Each fold is scored by a model of the other four; the scores are pooled.
* Mail of four classes, 6,485 mails: easy_ham with easy_ham_2, hard_ham, spam with
  spam_2, and the phishing of nazario; folds as above.
* SMS Spam Collection, 5,574 messages: the line number modulo 5 is the fold, pooled.
* enron1, 5,172 mails as plain text, in the order of the number that begins the file's
  name: the first half trains, the second is scored. (That is the corpus's order, not
  the date's: no ham is as young as the oldest spam.)
* 20 newsgroups, "bydate", 11,314 posts to train and 7,532 later ones to score; as they
  are, and stripped of headers, footers and quotes by scikit-learn's own functions.
* r8, trec-questions and rt-polarity: their train.tsv trains, their test.tsv is scored.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

from nbtext.document import Document, Unread
from nbtext.evaluation.evaluation import Evaluation
from nbtext.sources import Options, documents, loaded

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"

Split: TypeAlias = tuple[Sequence[Document], Sequence[Document]]
"""The documents that train, and those that are scored."""

SPAMASSASSIN = {
    "ham": ("easy_ham", "easy_ham_2", "hard_ham"),
    "spam": ("spam", "spam_2"),
}
"""The folders of each class."""

OF_FOUR_CLASSES = {
    "easy_ham": ("easy_ham", "easy_ham_2"),
    "hard_ham": ("hard_ham",),
    "spam": ("spam", "spam_2"),
}
"""The same, for mail of four classes; the fourth is phishing."""

N_FOLDS = 5

LARGEST = 1 << 24
"""How many bytes of a message are read."""


@dataclass(frozen=True, slots=True)
class Floors:
    """
    What nbtext has to reach on a corpus, in percent; None where nothing is asked.

    They are the bars of docs/benchmarks.md with a tenth more error, or what the version
    before reached, if that is better.
    """

    one_minus_auc: float | None = None
    lam: float | None = None
    missed: float | None = None
    accuracy: float | None = None
    macro_f1: float | None = None
    calibration_error: float | None = None

    def __str__(self) -> str:
        bounds = (
            ("1-AUC ≤ {:g}", self.one_minus_auc),
            ("lam ≤ {:g}", self.lam),
            ("missed ≤ {:g}", self.missed),
            ("accuracy ≥ {:g}", self.accuracy),
            ("macro-F1 ≥ {:g}", self.macro_f1),
            ("calibration error ≤ {:g}", self.calibration_error),
        )
        return ", ".join(text.format(bound) for text, bound in bounds if bound)

    def unmet_by(self, found: Evaluation) -> list[str]:
        """Return what falls short of its floor, with the bound."""
        two = found.two_class
        upper = {
            "1-AUC": (two.one_minus_auc_percent if two else None, self.one_minus_auc),
            "lam": (two.lam_percent if two else None, self.lam),
            "missed": (percent(two.miss_rate_at_fpr) if two else None, self.missed),
            "calibration error": (
                percent(found.calibration_error),
                self.calibration_error,
            ),
        }
        lower = {
            "accuracy": (percent(found.accuracy), self.accuracy),
            "macro-F1": (percent(found.macro.f1), self.macro_f1),
        }
        return [
            f"{name} {value} > {bound}"
            for name, (value, bound) in upper.items()
            if bound is not None and (value is None or value > bound)
        ] + [
            f"{name} {value} < {bound}"
            for name, (value, bound) in lower.items()
            if bound is not None and (value is None or value < bound)
        ]


def percent(share: float | None) -> float | None:
    """Return a share in percent."""
    return None if share is None else 100 * share


@dataclass(frozen=True, slots=True)
class Contest:
    """
    A corpus that classifiers are compared on.

    Attributes:
        name: the corpus and its split, as tables call them.
        folder: where the corpus is.
        splits: makes the splits.
        floors: what nbtext has to reach.
    """

    name: str
    folder: str
    splits: Callable[[], Iterable[Split]]
    floors: Floors


@cache
def spamassassin() -> tuple[Document, ...]:
    """Read the mails, ham before spam, the paths of a class sorted."""
    return tuple(
        document(path, label)
        for label, folders in SPAMASSASSIN.items()
        for path in sorted(
            path
            for folder in folders
            for path in (CORPORA / "spamassassin" / folder).iterdir()
        )
    )


@cache
def sms() -> tuple[Document, ...]:
    """Read the messages, in the order of the file's lines."""
    path = CORPORA / "sms" / "SMSSpamCollection"
    lines = path.read_bytes().splitlines()
    return tuple(
        Document(f"{path}:{number}", (text,), label.decode())
        for number, line in enumerate(lines)
        for label, _, text in [line.partition(b"\t")]
    )


def spamassassin_folds() -> Iterator[Split]:
    """Deal the mails of each class out to the folds, one by one."""
    mails = spamassassin()
    by_class = [[one for one in mails if one.label == name] for name in SPAMASSASSIN]
    fold_of = {
        one.name: index % N_FOLDS for ones in by_class for index, one in enumerate(ones)
    }
    return folds(mails, [fold_of[one.name] for one in mails])


def four_classes_folds() -> Iterator[Split]:
    """Deal the mails of each of four classes out to the folds, one by one."""
    mails = [
        document(path, label)
        for label, folders in OF_FOUR_CLASSES.items()
        for path in sorted(
            path
            for folder in folders
            for path in (CORPORA / "spamassassin" / folder).iterdir()
        )
    ]
    mails += phishing()
    seen: dict[str | None, int] = {}
    fold_of = []
    for one in mails:
        fold_of.append(seen.get(one.label, 0) % N_FOLDS)
        seen[one.label] = seen.get(one.label, 0) + 1
    return folds(mails, fold_of)


def phishing() -> Iterator[Document]:
    """Yield the messages of the mboxes, in their order."""
    for item in documents((str(CORPORA / "nazario"),), Options(), labelled=False):
        found = loaded(item, LARGEST) if isinstance(item, Unread) else [item]
        for one in found:
            if isinstance(one, Document):
                yield one._replace(label="phishing")


def sms_folds() -> Iterator[Split]:
    """Deal the messages out to the folds, one by one."""
    messages = sms()
    return folds(messages, [number % N_FOLDS for number in range(len(messages))])


def enron1_halves() -> Split:
    """Cut the mails, in the order of their numbers, in the middle."""
    paths = sorted(
        (CORPORA / "enron" / "enron1").glob("*/*.txt"),
        key=lambda path: int(path.name.partition(".")[0]),
    )
    mails = [document(path, path.parent.name) for path in paths]
    middle = len(mails) // 2
    return mails[:middle], mails[middle:]


def newsgroups() -> Split:
    """Read the earlier posts, and the later ones."""
    return newsgroups_of("train"), newsgroups_of("test")


def newsgroups_of(part: str) -> list[Document]:
    """Read the posts of one part, group by group."""
    paths = sorted((CORPORA / "20news" / part).glob("*/*"))
    return [document(path, path.parent.name) for path in paths]


def newsgroups_stripped() -> Split:
    """Read the same, without headers, footers and quotes."""
    earlier, later = newsgroups()
    return [*map(stripped, earlier)], [*map(stripped, later)]


def stripped(post: Document) -> Document:
    """Leave of a post what `fetch_20newsgroups(remove=...)` leaves of it."""
    from sklearn.datasets import _twenty_newsgroups as newsgroups

    text = post.texts[0].decode("latin-1")  # as fetch_20newsgroups reads them
    text = newsgroups.strip_newsgroup_header(text)
    text = newsgroups.strip_newsgroup_footer(text)
    text = newsgroups.strip_newsgroup_quoting(text)
    return Document(post.name, (text.encode(),), post.label)


def of_table(folder: str) -> Split:
    """Read train.tsv and test.tsv, a label and a text a line."""
    train, test = (
        [
            Document(f"{path}:{number}", (text,), label.decode())
            for number, line in enumerate(path.read_bytes().splitlines(), 1)
            for label, _, text in [line.partition(b"\t")]
        ]
        for path in (CORPORA / folder / "train.tsv", CORPORA / folder / "test.tsv")
    )
    return train, test


def few_of_each(mails: Sequence[Document], counts: dict[str, int], seed: int) -> Split:
    """
    Draw so many documents of each class to train; 1,000 of the others are scored.

    The others are drawn from all, so that they have the corpus's share of each class.
    """
    draw = random.Random(seed)  # noqa: S311  no secret
    shuffled = draw.sample(mails, len(mails))
    train: list[Document] = []
    left: list[Document] = []
    for one in shuffled:
        wanted = counts[one.label or ""]
        is_wanted = sum(known.label == one.label for known in train) < wanted
        (train if is_wanted else left).append(one)
    return train, draw.sample(left, 1000)


def folds(documents: Sequence[Document], fold_of: Sequence[int]) -> Iterator[Split]:
    """Yield, for each fold, the documents outside of it and those in it."""
    for fold in range(N_FOLDS):
        pairs = list(zip(documents, fold_of, strict=True))
        yield (
            [one for one, place in pairs if place != fold],
            [one for one, place in pairs if place == fold],
        )


def random_fifths(
    documents: Sequence[Document], seeds: Iterable[int]
) -> Iterator[Split]:
    """Hold a fifth of the documents out at random, once a seed."""
    for seed in seeds:
        shuffled = random.Random(seed).sample(documents, len(documents))  # noqa: S311  no secret
        fifth = len(shuffled) // 5
        yield shuffled[fifth:], shuffled[:fifth]


def document(path: Path, label: str) -> Document:
    """Read a file as a document."""
    return Document(str(path), (path.read_bytes(),), label)


CONTESTS = (
    Contest(
        "SpamAssassin, 5 folds",
        "spamassassin",
        spamassassin_folds,
        Floors(one_minus_auc=0.012, lam=0.45, accuracy=99.5, calibration_error=0.4),
    ),
    Contest(
        "mail of four classes, 5 folds",
        "nazario",
        four_classes_folds,
        Floors(macro_f1=93.95),
    ),
    Contest(
        "enron1, first half trains",
        "enron",
        lambda: [enron1_halves()],
        Floors(one_minus_auc=0.242, lam=2.85, missed=31.9, accuracy=96.3),
    ),
    Contest(
        "SMS, 5 folds",
        "sms",
        sms_folds,
        Floors(one_minus_auc=0.429, lam=1.76, missed=9.9, macro_f1=96.5),
    ),
    Contest(
        "rt-polarity",
        "rt-polarity",
        lambda: [of_table("rt-polarity")],
        Floors(accuracy=76.9),
    ),
    Contest(
        "trec-questions",
        "trec-questions",
        lambda: [of_table("trec-questions")],
        Floors(accuracy=85.48, macro_f1=85.48),
    ),
    Contest(
        "r8", "r8", lambda: [of_table("r8")], Floors(accuracy=96.92, macro_f1=91.2)
    ),
    Contest(
        "20news, as it is",
        "20news",
        lambda: [newsgroups()],
        Floors(macro_f1=84.82, calibration_error=2.75),
    ),
    Contest(
        "20news, stripped",
        "20news",
        lambda: [newsgroups_stripped()],
        Floors(macro_f1=71.6),
    ),
)
"""All corpora: those of mail, of two classes of text, and of more."""
