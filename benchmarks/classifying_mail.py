"""Classifying mail in bulk, against bogofilter; both have learnt the same mail."""

from collections.abc import Iterator

from benchmarks.bench import Bench, trained
from benchmarks.command import main
from benchmarks.figures import Figure, at_most
from benchmarks.harness import pairs, run
from benchmarks.mail import generated, real_mail, spamassassin
from benchmarks.peers import bogofilter_classification, bogofilter_training


def figures(bench: Bench) -> Iterator[Figure]:
    """Time both on the corpus, on other mail, and on ten varied copies of it."""
    for mail, runs, bounds in (
        (spamassassin(), bench.runs, ((1, 0.6), (2, 0.35))),
        (real_mail(), bench.few_runs, ((1, 0.35), (2, 0.2))),
        (generated(bench, 10), bench.few_runs, ((1, 0.6), (2, 0.35))),
    ):
        run(bogofilter_training(bench, mail))
        model = trained(bench, mail.name, *mail.labelled).path
        for jobs, bound in bounds:
            ours = bench.classify(model, "--jobs", str(jobs), *mail.folders)
            timed = pairs(ours, bogofilter_classification(bench, mail), runs)
            name = f"classify, {mail.name}, --jobs {jobs}, of bogofilter's time"
            yield at_most(name, timed.ratio, bound, timed.explained("bogofilter"))


if __name__ == "__main__":
    main(figures)
