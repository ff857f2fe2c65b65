"""What `nbtext info` says in words."""

import pytest

from nbtext.cli.info_command import correction_in_words


def test_a_correction_of_other_numbers_is_described_by_what_is_known() -> None:
    correction = {"documents": 3, "slope": 1.0, "loss_with": 0.5}

    words = correction_in_words({"correction": correction, "taught": 0})

    assert words == "learnt from 3 documents"


@pytest.mark.parametrize(
    ("taught", "left", "is_due"),
    [
        (2, 102, False),
        (99, 199, False),
        (100, 200, True),
        (5, 95, False),
        (6, 94, True),
    ],
)
def test_it_is_to_be_made_anew_if_much_was_learnt_since_or_some_forgotten(
    taught: int, left: int, *, is_due: bool
) -> None:
    correction = {"documents": 100}
    classes = {"a": {"documents": left - 10}, "b": {"documents": 10}}

    words = correction_in_words(
        {"correction": correction, "taught": taught, "classes": classes}
    )

    since = f"; {taught} documents learnt or forgotten since"
    assert words.endswith(f"{since}: train again" if is_due else since)
