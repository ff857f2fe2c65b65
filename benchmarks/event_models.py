"""
Every event model on every corpus, beside its twin in scikit-learn.

    python -m benchmarks.event_models              # the tables of docs/models.md
    python -m benchmarks.event_models sms r8       # of these corpora alone
    python -m benchmarks.event_models --speed      # what classifying takes

The splits are those of `benchmarks.accuracy`. nbtext has the tokens of its defaults,
and each score its own default smoothing; scikit-learn's models have the words of its
vectorizers, headers of mail and all.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from benchmarks.accuracy import pooled
from benchmarks.bench import Bench, open_bench
from benchmarks.classifiers import Classifier, Predicted, naive_bayes, predicted
from benchmarks.harness import pairs, run
from benchmarks.mail import corpus, spamassassin
from benchmarks.peers import scikit_learn_python

if TYPE_CHECKING:
    from nbtext.evaluation.evaluation import Evaluation
    from nbtext.learning import SettingsOverrides
    from tests.corpus.splits import Split

TRAINED: Final[dict[str, tuple[str, ...]]] = {
    "the default": (),
    "`sum`": ("--score", "sum"),
    "`sum --count once`": ("--score", "sum", "--count", "once"),
    "`sum --count min:3`": ("--score", "sum", "--count", "min:3"),
    "`sum --count log`": ("--score", "sum", "--count", "log"),
    "`sum --unknown unk`": ("--score", "sum", "--unknown", "unk"),
    "`bernoulli`": ("--score", "bernoulli"),
    "`kary`": ("--score", "kary"),
    "`poisson`": ("--score", "poisson"),
    "`complement`": ("--score", "complement"),
    "`wcnb`": ("--score", "wcnb"),
    "`tfidf`": ("--score", "tfidf"),
}
"""The event models, and how each is trained."""


def overrides_of(arguments: Sequence[str]) -> "SettingsOverrides":
    """Return what the options of `train` ask for."""
    from nbtext.learning import SettingsOverrides

    names = {"--score": "score", "--count": "counting", "--unknown": "unknown"}
    given = zip(arguments[::2], arguments[1::2], strict=True)
    values: dict[str, Any] = {names[option]: value for option, value in given}
    return SettingsOverrides(**values)


def nbtext_by(arguments: Sequence[str], split: "Split") -> Predicted:
    """Train nbtext with some options, and classify."""
    from nbtext import classify_all, load
    from nbtext.learning import train
    from nbtext.store import replace_model

    known, unseen = split
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.nbt")
        made = train(lambda: known, overrides=overrides_of(arguments))
        replace_model(path, made.contents.pack(), replace=True)
        return predicted(split, [*classify_all(load(path), unseen)])


PEERS: Final[dict[str, Classifier]] = {
    "MultinomialNB(1)": partial(naive_bayes, "MultinomialNB"),
    "the same, counted once": partial(naive_bayes, "MultinomialNB", binary=True),
    "BernoulliNB(1)": partial(naive_bayes, "BernoulliNB"),
    "BernoulliNB(.01)": partial(naive_bayes, "BernoulliNB", alpha=0.01),
    "ComplementNB(1)": partial(naive_bayes, "ComplementNB"),
    "ComplementNB(1, norm)": partial(naive_bayes, "ComplementNB", norm=True),
    "MultinomialNB(.01) of TF-IDF": partial(
        naive_bayes, "MultinomialNB", tfidf=True, alpha=0.01
    ),
}
"""The models of scikit-learn, and how each is called."""

MEASURES: Final = ("accuracy %", "macro-F1 %", "1-AUC %", "log-loss")


def figures_of(found: "Evaluation") -> tuple[str, ...]:
    """Return the measures of an evaluation; a dash where one is not defined."""
    two = found.two_class
    return (
        f"{100 * (found.accuracy or 0):.1f}",
        f"{100 * (found.macro.f1 or 0):.1f}",
        "-" if two is None else f"{two.one_minus_auc_percent:.2f}",
        f"{found.log_loss:.2f}",
    )


def tables(names: Sequence[str]) -> Iterator[str]:
    """Measure all models on some corpora; yield a table for each measure."""
    from tests.corpus.splits import CONTESTS

    scikit_learn_python()
    models: dict[str, Classifier] = {
        name: partial(nbtext_by, arguments) for name, arguments in TRAINED.items()
    }
    models |= PEERS
    measured: dict[str, list[tuple[str, ...]]] = {}
    for contest in CONTESTS:
        if names and not any(name in contest.name.lower() for name in names):
            continue
        corpus(contest.folder)
        splits = list(contest.splits())
        measured[contest.name] = [
            figures_of(pooled(splits, [model(split) for split in splits]))
            for model in models.values()
        ]
    for number, measure in enumerate(MEASURES):
        corpora = [
            name
            for name, found in measured.items()
            if any(figures[number] != "-" for figures in found)
        ]
        yield _line([measure, *corpora])
        yield _line(["---"] * (len(corpora) + 1))
        for place, model in enumerate(models):
            found = [measured[name][place][number] for name in corpora]
            yield _line([model, *found])
        yield ""


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def speeds(bench: Bench) -> Iterator[str]:
    """Time classifying with each model, in pairs with the default."""
    news, mail = corpus("20news"), spamassassin()
    works = {
        "20news, test part": ((str(news / "train"),), (str(news / "test"),)),
        mail.name: (mail.labelled, mail.folders),
    }
    for name, (labelled, folders) in works.items():
        yield _line([f"classify, {name}: CPU, of the default's", "", "from", "to"])
        yield _line(["---"] * 4)
        paths = {}
        for number, (model, arguments) in enumerate(TRAINED.items()):
            paths[model] = bench.folder / f"{number}.nbt"
            run(bench.train(*arguments, *labelled, model=paths[model]))
        default = bench.classify(paths["the default"], *folders)
        for model in [*TRAINED][1:]:
            timed = pairs(bench.classify(paths[model], *folders), default, bench.runs)
            ratios = [
                ours.cpu / other.cpu
                for ours, other in zip(timed.ours, timed.others, strict=True)
            ]
            figures = (median(ratios), min(ratios), max(ratios))
            yield _line([model, *(f"{one:.2f}" for one in figures)])
        yield ""


def main() -> None:
    """Print what is asked for."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("corpora", nargs="*", help="parts of their names")
    options.add_argument("--speed", action="store_true", help="CPU, not figures")
    options.add_argument("--runs", type=int, default=5, help="how many pairs [5]")
    arguments = options.parse_args()
    if not arguments.speed:
        for line in tables([name.lower() for name in arguments.corpora]):
            print(line, flush=True)
        return
    with open_bench(runs=arguments.runs, is_large=False) as bench:
        for line in speeds(bench):
            print(line, flush=True)


if __name__ == "__main__":
    main()
