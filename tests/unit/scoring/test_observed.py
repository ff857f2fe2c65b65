"""The losses of one document, as calibration observes them."""

from math import inf, log

import numpy as np
import pytest

from nbtext.counts.calibration import LOSS_UNIT, MOST_LOSS, TEMPERATURES
from nbtext.scoring.leave_one_out import observed_losses
from nbtext.scoring.observed import losses_of
from nbtext.scoring.posterior import normalised


@pytest.mark.parametrize("n_classes", [2, 3, 70, 3000])
@pytest.mark.parametrize("width", [1e-9, 0.1, 3.0, 1e3, 1e5])
def test_losses_are_those_of_the_posterior_and_of_arrays(
    n_classes: int, width: float
) -> None:
    random = np.random.default_rng(n_classes)
    scores = random.normal(0, width, (3, n_classes))
    scores[0].sort()

    for row in scores:
        for place in (0, n_classes // 2, n_classes - 1):
            found = losses_of(tuple(row.tolist()), place)

            by_definition = [
                min(
                    -normalised([s * value for value in row.tolist()])[place], MOST_LOSS
                )
                for s in TEMPERATURES
            ]
            assert found == pytest.approx(by_definition, rel=1e-9, abs=1e-9)
            by_arrays = observed_losses(row[None], np.array([place]))
            assert np.abs(np.rint(np.array(found) * LOSS_UNIT) - by_arrays).max() <= 1


def test_classes_that_are_not_possible_are_no_trouble() -> None:
    (first, *_, last) = losses_of((0.0, -inf, -1.0), 1)

    assert (first, last) == (MOST_LOSS, MOST_LOSS)
    assert losses_of((-inf, -inf, -inf), 1) == [log(3)] * len(TEMPERATURES)
