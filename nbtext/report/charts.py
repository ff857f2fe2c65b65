"""The pictures of a report: confusion, ROC and DET curves, reliability, histograms."""

from collections.abc import Iterator
from math import sqrt
from statistics import NormalDist
from typing import Final

import numpy as np

from nbtext.evaluation import Evaluation
from nbtext.report.curves import curves_of
from nbtext.report.operating import Split, error_curve, split_of
from nbtext.report.svg import SHARES, Axis, Plot, element, picture, text_of, ticks
from nbtext.report.tables import UNSURE, share

MOST_CELLS: Final = 24
"""Maximum number of classes in a heat map; cells of more are too small to read."""

CELL: Final = 34
NAMES: Final = 110
"""Size of a cell, and of the room for the names of the classes."""

LONGEST_NAME: Final = 15
"""Maximum characters of a class's name in a picture."""

BINS: Final = 40
"""Bars of a histogram, of each class."""

FARTHEST: Final = 30.0
"""Log-odds beyond which documents are in the last bars, in nats."""

RATES: Final = (0.0005, 0.005, 0.02, 0.1, 0.5, 0.9)
"""Ticks of a DET curve; lower rates are at its edge."""


def charts_of(result: Evaluation) -> Iterator[tuple[str, str, str]]:
    """Yield for each picture its title, what to see in it, and its SVG."""
    if 0 < len(result.classes) <= MOST_CELLS:
        about = (
            "Rows are true classes, columns decisions; strong colours are large shares."
        )
        yield "Confusion", about, heat_map(result)
    if result.replay is not None:
        yield from curves_of(result.replay)
    split = split_of(result)
    if split is not None:
        wrong, missed = error_curve(split)
        points = [*zip(wrong.tolist(), missed.tolist(), strict=True)]
        about = "The nearer to the upper left, the better; the diagonal is chance."
        yield "ROC curve", about, roc(points)
        about = (
            "Both error rates, on the scale of a normal distribution's deviates "
            "(Martin et al. 1997); the lower, the better."
        )
        yield "DET curve", about, det(points)
    about = (
        "How often the most probable class was the true one, by its probability. Dots "
        "on the diagonal keep what they promise; large ones are of many documents."
    )
    yield "Reliability", about, reliability(result)
    if split is not None:
        about = "Documents by their log-odds, on either side of what is true."
        yield "Scores by class", about, histograms(split)


def heat_map(result: Evaluation) -> str:
    """Return the confusion matrix as cells, darker for larger shares of their row."""
    names = (*result.classes, UNSURE)
    parts = []
    for column, name in enumerate(names):
        x = NAMES + (column + 0.6) * CELL
        place = f"rotate(-45 {x:.0f} {NAMES - 8})"
        parts.append(
            element("text", text_of(_short(name)), x=x, y=NAMES - 8, transform=place)
        )
    for row, (name, counts) in enumerate(
        zip(result.classes, result.confusion, strict=True)
    ):
        y = NAMES + row * CELL
        middle = y + CELL / 2 + 4
        parts.append(
            element(
                "text", text_of(_short(name)), x=NAMES - 8, y=middle, text_anchor="end"
            )
        )
        total = sum(counts)
        for column, count in enumerate(counts):
            part = count / total if total else 0.0
            label = f"{name} decided as {names[column]}: {count:,} ({share(part)})"
            kind = "right" if row == column else "wrong"
            x = NAMES + column * CELL
            cell = {"x": x, "y": y, "width": CELL - 1, "height": CELL - 1}
            parts.append(element("rect", "", **cell, class_="cell"))
            # little shares must still be seen
            shade = 0.15 + 0.85 * part if count else 0.0
            title = element("title", text_of(label))
            parts.append(element("rect", title, **cell, class_=kind, opacity=shade))
            if count:
                dark = " dark" if shade > 0.5 else ""
                parts.append(
                    element(
                        "text", _compact(count), x=x + CELL / 2, y=middle,
                        text_anchor="middle", class_=f"count{dark}",
                    )
                )  # fmt: skip
    width = NAMES + len(names) * CELL + 50
    return picture("Confusion", width, NAMES + len(result.classes) * CELL + 4, parts)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _compact(count: int) -> str:
    """Return a count in four characters at most."""
    for size, letter in ((10_000_000, "M"), (10_000, "k")):
        if count >= size:
            return f"{count // (size // 10)}{letter}"
    return str(count)


def roc(points: list[tuple[float, float]]) -> str:
    """Return the ROC curve of rates of false positives and false negatives."""
    plot = Plot(
        "ROC curve",
        Axis("false positive rate", SHARES),
        Axis("true positive rate", SHARES),
    )
    plot.line([(0, 0), (1, 1)], "chance")
    plot.line([(wrong, 1 - missed) for wrong, missed in points], "curve")
    return plot.svg()


def det(points: list[tuple[float, float]]) -> str:
    """Return the DET curve of rates of false positives and false negatives."""
    deviate = NormalDist().inv_cdf
    least = RATES[0]

    def place(rate: float) -> float:
        return deviate(min(max(rate, least), 1 - least))

    rates = [(rate, f"{100 * rate:g} %") for rate in RATES]
    plot = Plot(
        "DET curve",
        Axis("false positive rate", rates, place),
        Axis("false negative rate", rates, place),
    )
    plot.line(points, "curve")
    return plot.svg()


def reliability(result: Evaluation) -> str:
    """Return the reliability diagram; a dot's area grows with its documents."""
    plot = Plot("Reliability", Axis("probability", SHARES), Axis("share right", SHARES))
    plot.line([(0, 0), (1, 1)], "chance")
    for one in result.reliability:
        part = one.documents / max(result.documents, 1)
        label = (
            f"{one.documents:,} documents of mean probability "
            f"{share(one.mean_probability)}: {share(one.share_right)} right"
        )
        place = (one.mean_probability, one.share_right)
        plot.dot(place, 2.5 + 11 * sqrt(part), "dot", label)
    return plot.svg()


def histograms(split: Split) -> str:
    """Return how many documents of each of two classes have which log-odds."""
    two = split.two
    both = np.concatenate([split.positives, split.negatives]).clip(-FARTHEST, FARTHEST)
    low, high = float(np.floor(both.min())), float(np.ceil(both.max()))
    high = max(high, low + 1)
    edges = np.linspace(low, high, BINS + 1)
    sides = [
        (name, np.histogram(scores.clip(low, high), edges)[0] / len(scores), kind)
        for name, scores, kind in (
            (two.negative, split.negatives, "negative"),
            (two.positive, split.positives, "positive"),
        )
    ]
    most = max(float(shares.max()) for _, shares, _ in sides)
    across = ticks(low, high, "{:g}".format)
    up = ticks(0, most, lambda part: f"{100 * part:.3g} %")
    title = f"log-odds of {_short(two.positive)}, nats"
    plot = Plot("Scores by class", Axis(title, across), Axis("share of a class", up))
    for name, shares, kind in sides:
        for left, right, part in zip(edges, edges[1:], shares, strict=False):
            if part:
                label = f"{name}, {left:.1f} to {right:.1f} nats: {share(float(part))}"
                plot.bar(float(left), float(right), float(part), kind, label)
    return plot.svg()
