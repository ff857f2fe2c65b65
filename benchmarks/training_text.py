"""Training on plain text, words only, against scikit-learn on the same files."""

from collections.abc import Iterator
from statistics import median

from benchmarks.bench import Bench
from benchmarks.command import main
from benchmarks.figures import Figure, at_most, seconds
from benchmarks.harness import pairs, run
from benchmarks.mail import corpus
from benchmarks.peers import scikit_learn_start, scikit_learn_training

WORDS = ("--ngrams", "1", "--alphabet", "words")


def figures(bench: Bench) -> Iterator[Figure]:
    """Time both as wholes; then take off what scikit-learn takes to be imported."""
    folder = corpus("20news") / "train"
    peer = scikit_learn_training(folder)
    corrected = bench.train(*WORDS, str(folder))
    timed = pairs(corrected, peer, bench.runs)
    name = "train, 20news words only, with the correction, of scikit-learn's time"
    said = timed.explained("scikit-learn")
    yield Figure(name, f"{timed.ratio:.2f}", "", None, said)
    # the same work: counts of words, and nothing learnt beside them
    counts = bench.train(*WORDS, "--no-correction", str(folder))
    timed = pairs(counts, peer, bench.runs)
    name = "train, 20news words only, --no-correction, of scikit-learn's time"
    yield at_most(name, timed.ratio, 0.25, timed.explained("scikit-learn"))

    start = median(run(scikit_learn_start()).wall for _ in range(bench.runs))
    work = median(one.wall for one in timed.others) - start
    ratio = median(one.wall for one in timed.ours) / work
    yield Figure(
        "the same, scikit-learn's time less its imports",
        f"{ratio:.2f}",
        "",
        None,
        f"scikit-learn {seconds(work)} after {seconds(start)} of imports; nbtext whole",
    )


if __name__ == "__main__":
    main(figures)
