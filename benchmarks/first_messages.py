"""
What a few messages give: log-loss and ranking from 2 to 500 messages a class.

For each number the same ten draws of `tests.corpus.splits.few_of_each`, of which 1,000
other messages are scored by a model of the draw; their scores are pooled.
"""

from collections.abc import Iterator
from typing import Final

from benchmarks.accuracy import pooled
from benchmarks.bench import Bench
from benchmarks.classifiers import (
    TITLES,
    Classifier,
    bogofilter_at_half,
    logistic_regression,
    multinomial_nb,
    nbtext_defaults,
    spamassassin_bayes,
)
from benchmarks.command import main
from benchmarks.figures import FirstMessages, Skipped
from benchmarks.mail import corpus

NUMBERS: Final = (2, 5, 10, 20, 50, 100, 200, 500)
DRAWS: Final = 10

OF_MAIL: Final[tuple[Classifier, ...]] = (
    nbtext_defaults,
    bogofilter_at_half,
    spamassassin_bayes,
)
OF_TEXT: Final[tuple[Classifier, ...]] = (
    nbtext_defaults,
    multinomial_nb,
    logistic_regression,
)


def figures(_bench: Bench) -> Iterator[FirstMessages]:
    """Measure nbtext and its peers on mail, and on short texts."""
    from tests.corpus.splits import few_of_each, sms, spamassassin

    for name, messages, classifiers in (
        ("SpamAssassin", spamassassin, OF_MAIL),
        ("SMS", sms, OF_TEXT),
    ):
        corpus(name.lower())
        for number in NUMBERS:
            counts = {"ham": number, "spam": number}
            splits = [few_of_each(messages(), counts, seed) for seed in range(DRAWS)]
            for classifier in classifiers:
                try:
                    found = pooled(splits, [classifier(split) for split in splits])
                except Skipped:
                    continue
                two = found.two_class
                yield FirstMessages(
                    corpus=name,
                    classifier=TITLES[classifier],
                    messages=number,
                    log_loss=found.log_loss,
                    one_minus_auc=two.one_minus_auc_percent if two else None,
                    accuracy=100 * (found.accuracy or 0),
                )


if __name__ == "__main__":
    main(figures)
