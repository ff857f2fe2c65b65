"""Training on plain text as it is by default, against a linear SVM on the same."""

from collections.abc import Iterator

from benchmarks.bench import Bench
from benchmarks.command import main
from benchmarks.figures import Figure
from benchmarks.harness import pairs
from benchmarks.mail import corpus
from benchmarks.peers import linear_svc_training

TABLES = ("rt-polarity", "trec-questions", "r8")

COLUMNS = ("--label-column", "1", "--text-column", "2")


def figures(bench: Bench) -> Iterator[Figure]:
    """Time whole processes, with all views and the correction."""
    for name in TABLES:
        table = corpus(name) / "train.tsv"
        yield _figure(bench, name, str(table), *COLUMNS)
    yield _figure(bench, "20news", str(corpus("20news") / "train"))


def _figure(bench: Bench, name: str, source: str, *options: str) -> Figure:
    ours = bench.train("--jobs", "1", *options, source)
    timed = pairs(ours, linear_svc_training(source), bench.few_runs)
    of_what = f"train, {name}, as by default, --jobs 1, of a linear SVM's time"
    said = timed.explained("scikit-learn, words and pairs,")
    return Figure(of_what, f"{timed.ratio:.2f}", "", None, said)


if __name__ == "__main__":
    main(figures)
