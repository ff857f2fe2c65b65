"""Training on raw mail, all views and calibration included, against bogofilter."""

from collections.abc import Iterator

from benchmarks.bench import Bench
from benchmarks.command import main
from benchmarks.figures import Figure, at_most
from benchmarks.harness import pairs
from benchmarks.mail import generated, real_mail, spamassassin
from benchmarks.peers import bogofilter_training


def figures(bench: Bench) -> Iterator[Figure]:
    """Time both on the corpus, on other mail, and on ten varied copies of it."""
    small = spamassassin()
    for mail, jobs, bound, runs in (
        (small, 1, 0.7, bench.runs),
        (real_mail(), 1, 0.55, bench.runs),
        (real_mail(), 2, 0.35, bench.runs),
        (large := generated(bench, 10), 1, 1.0, bench.few_runs),
        (large, 2, 0.6, bench.few_runs),
    ):
        ours = bench.train("--jobs", str(jobs), *mail.labelled)
        timed = pairs(ours, bogofilter_training(bench, mail), runs)
        name = f"train, {mail.name}, --jobs {jobs}, of bogofilter's time"
        yield at_most(name, timed.ratio, bound, timed.explained("bogofilter"))


if __name__ == "__main__":
    main(figures)
