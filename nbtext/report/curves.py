"""The pictures of a replay: figures along the stream of documents."""

from collections.abc import Iterator, Sequence
from math import ceil, log10

from nbtext.evaluation.learning_curve import Replay
from nbtext.report.svg import Axis, Plot, ticks


def curves_of(replay: Replay) -> Iterator[tuple[str, str, str]]:
    """Yield for each picture its title, what to see in it, and its SVG."""
    curve = replay.curve
    if not curve:
        return
    ends = [point.documents for point in curve]
    so_far = [*zip(ends, [100 * point.error for point in curve], strict=True)]
    recent = [*zip(ends, [100 * point.recent_error for point in curve], strict=True)]
    about = (
        "The share of documents not decided rightly: of all so far, and dashed of "
        "those since the last point."
    )
    yield "Running error", about, _plot("Running error", "error, %", so_far, recent)
    aucs = [
        (point.documents, point.one_minus_auc_percent)
        for point in curve
        if point.one_minus_auc_percent is not None
    ]
    if aucs:
        about = "100 (1 - AUC) of the scores of all documents so far: less is better."
        yield "Running 1-AUC", about, _plot("Running 1-AUC", "1-AUC, %", aucs)
        return
    scores = [*zip(ends, [point.macro_f1 for point in curve], strict=True)]
    about = "The mean F1 of the classes, of all documents so far: more is better."
    yield "Running macro F1", about, _plot("Running macro F1", "macro F1", scores)


def _plot(
    title: str,
    unit: str,
    line: Sequence[tuple[float, float]],
    dashed: Sequence[tuple[float, float]] = (),
) -> str:
    """Return lines above the number of documents."""
    last = line[-1][0]
    across = ticks(0, last, lambda number: f"{round(number):,}")
    most = _above(max(value for _, value in (*line, *dashed)))
    up = ticks(0, most, "{:g}".format)
    plot = Plot(title, Axis("documents", across), Axis(unit, up))
    if dashed:
        plot.line(dashed, "chance")
    plot.line(line, "curve")
    return plot.svg()


def _above(value: float) -> float:
    """Return the next round number from a value on."""
    if value <= 0:
        return 1.0
    power = 10.0 ** ceil(log10(value) - 1)
    return next(
        (step * power for step in (1, 2, 4, 10) if step * power >= value), 10 * power
    )
