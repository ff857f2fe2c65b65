"""What is printed of a replay beside the figures: what was learnt, and a curve."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from nbtext.cli._report import share

if TYPE_CHECKING:
    from nbtext.evaluation import Evaluation
    from nbtext.evaluation.learning_curve import Point, Replay

MOST_POINTS: Final = 10
"""Points of a curve that are printed; reports and --json have more."""


def replay_text(result: "Evaluation") -> Iterator[str]:
    """Render a replay as TSV: how it was done, and the figures along the stream."""
    replay = result.replay
    if replay is None:
        return
    yield ""
    yield from ("\t".join(line) for line in replay_lines(replay))
    yield ""
    yield "\t".join(curve_heading(result))
    for point in printed_points(replay):
        yield "\t".join(curve_row(result, point))


def replay_lines(replay: "Replay") -> list[tuple[str, str]]:
    """Return how documents were replayed, and what became of them; name and value."""
    regime = replay.regime
    if replay.margin is not None:
        regime += f", margin {replay.margin:g}"
    lines = [
        ("order", replay.order),
        ("feedback", replay.feedback),
        ("regime", regime),
        ("learnt", str(replay.learnt)),
        ("left out by the regime", str(replay.left_out)),
        ("copies, not learnt again", str(replay.copies)),
        ("labels not told", str(replay.not_told)),
        ("before two classes were known", str(replay.unscored)),
    ]
    if replay.known_before:
        lines.insert(0, ("known before", str(replay.known_before)))
    return [(name, value) for name, value in lines if value != "0"]


def printed_points(replay: "Replay") -> "Sequence[Point]":
    """
    Return some points of a curve, evenly spaced, the last among them.

    Each has the error since the one before it that is returned.
    """
    curve = replay.curve
    n = min(len(curve), MOST_POINTS)
    ends = [curve[len(curve) * number // n - 1] for number in range(1, n + 1)]
    points = []
    wrong = documents = 0.0
    for point in ends:
        more = point.error * point.documents - wrong
        recent = max(more, 0.0) / (point.documents - documents)
        wrong, documents = wrong + more, point.documents
        points.append(replace(point, recent_error=recent))
    return points


def curve_heading(result: "Evaluation") -> tuple[str, ...]:
    """Return the columns of a curve; of two classes 1-AUC is one of them."""
    last = "macro F1" if result.two_class is None else "1-AUC %"
    return ("documents", "learnt", "error", "error in between", last)


def curve_row(result: "Evaluation", point: "Point") -> tuple[str, ...]:
    """Return the figures of a point of a curve."""
    auc = point.one_minus_auc_percent
    return (
        str(point.documents),
        str(point.learnt),
        share(point.error),
        share(point.recent_error),
        share(point.macro_f1 if result.two_class is None else auc),
    )
