"""How numbers are printed."""

import pytest

from nbtext.scoring.figures import signed


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.2345, "+1.234"),
        (-1.2355, "-1.236"),
        (0.0, "+0.000"),
        (-0.0, "+0.000"),
        (-0.0004, "+0.000"),  # as the other engine's sum of 0.0004 less is printed
        (-0.0006, "-0.001"),
    ],
)
def test_what_rounds_to_nothing_has_one_sign(value: float, expected: str) -> None:
    assert signed(value, 3) == expected
