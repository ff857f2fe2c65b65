"""What `nbtext info` says in words."""

from nbtext.cli.info_command import correction_in_words


def test_a_correction_of_other_numbers_is_described_by_what_is_known() -> None:
    correction = {"documents": 3, "slope": 1.0, "loss_with": 0.5}

    words = correction_in_words({"correction": correction, "taught": 0})

    assert words == "learnt from 3 documents"
