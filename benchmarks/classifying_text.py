"""Many classes of text: nbtext, scikit-learn and fastText on the same documents."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench, trained
from benchmarks.command import main
from benchmarks.figures import Figure
from benchmarks.harness import Job, Pairs, pairs, run
from benchmarks.mail import corpus
from benchmarks.peers import program, scikit_learn_classification, scikit_learn_training
from benchmarks.training_text import WORDS as WORDS_ALONE

WORDS = (*WORDS_ALONE, "--no-correction")


def figures(bench: Bench) -> Iterator[Figure]:
    """Time training and classifying; the others get lines, made before the clock."""
    newsgroups = corpus("20news")
    train, test = newsgroups / "train", newsgroups / "test"
    words = trained(bench, "20news-words", *WORDS, str(train)).path
    default = trained(bench, "20news", str(train)).path
    dumped = bench.folder / "20news.pickle"
    run(scikit_learn_training(train, dumped))
    peer = scikit_learn_classification(dumped, test)
    for name, model in (("words only", words), ("with the correction", default)):
        timed = pairs(bench.classify(model, str(test)), peer, bench.few_runs)
        yield _figure(f"classify, 20news test, {name}", timed, "scikit-learn")

    lines = bench.folder / "train.txt"
    learning = _fasttext_training(bench, train, lines)
    timed = pairs(bench.train(*WORDS, str(train)), learning, 1)  # which takes a minute
    yield _figure(
        "train, 20news words only, --no-correction, --jobs 1", timed, "fastText"
    )
    tested = bench.folder / "test.txt"
    _write_lines(test, tested)
    binary = str(bench.folder / "fasttext.bin")
    peer = Job(((program("fasttext"), "predict", binary, str(tested)),))
    timed = pairs(bench.classify(words, str(test)), peer, bench.few_runs)
    yield _figure("classify, 20news test, words only", timed, "fastText")


def _figure(name: str, timed: Pairs, other: str) -> Figure:
    said = timed.explained(other)
    return Figure(f"{name}, of {other}'s time", f"{timed.ratio:.2f}", "", None, said)


def _fasttext_training(bench: Bench, folder: Path, lines: Path) -> Job:
    """Return training by words alone, five epochs in one thread: its defaults."""
    _write_lines(folder, lines)
    model = str(bench.folder / "fasttext")
    options = ("-input", str(lines), "-output", model, "-thread", "1", "-verbose", "0")
    return Job(((program("fasttext"), "supervised", *options),))


def _write_lines(folder: Path, path: Path) -> None:
    """Write a line for each text of a folder of folders, as fastText reads them."""
    with path.open("w", encoding="utf-8") as file:
        for text in sorted(folder.glob("*/*"), key=lambda one: one.name):
            words = " ".join(text.read_bytes().decode("latin-1").split())
            file.write(f"__label__{text.parent.name} {words}\n")


if __name__ == "__main__":
    main(figures)
