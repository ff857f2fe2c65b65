"""Says so where what is classified scores unlike the documents that were held out."""

from collections.abc import Callable, Iterable, Iterator

from nbtext.cli._terminal import to_stderr
from nbtext.scoring import Decision, Model
from nbtext.scoring.drift import LARGEST, DriftMeter


def metered(
    batches: Iterable[list[Decision]], model: Model
) -> Iterator[list[Decision]]:
    """Pass decisions on; warn behind the last if they are unlike the held-out ones."""
    meter = DriftMeter(model)
    for batch in batches:
        meter.add(batch)
        yield batch
    warn_of_drift(meter)


def warn_of_drift(
    meter: DriftMeter, is_told: Callable[[], bool] = lambda: False
) -> bool:
    """
    Say so if decisions are unlike the held-out ones, and return whether it was said.

    Args:
        meter: what the decisions are held against.
        is_told: returns whether that was said already, and is not to be repeated.
    """
    drift = meter.drift()
    if drift is None or not drift.is_large or is_told():
        return False
    to_stderr(
        f"WARNING: these {drift.documents:,} documents score unlike those that the "
        f"model was measured on (distance {drift.distance:.2f}, where up to "
        f"{LARGEST:g} is alike): the most probable are still in front, but "
        "probabilities may be wrong; teach the model some of them (`nbtext learn`)"
    )
    return True
