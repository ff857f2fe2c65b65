"""What `nbtext info` says in words."""

from nbtext.cli.info_command import correction_in_words


def test_a_correction_of_other_numbers_is_described_by_what_is_known() -> None:
    correction = {"documents": 3, "slope": 1.0, "loss_with": 0.5}

    words = correction_in_words({"correction": correction, "taught": 0})

    assert words == "learnt from 3 documents"


def test_it_is_to_be_made_anew_once_the_model_has_learnt_as_much_again() -> None:
    correction = {"documents": 30}

    few, many = (
        correction_in_words({"correction": correction, "taught": taught})
        for taught in (29, 30)
    )

    assert few.endswith("; 29 documents learnt or forgotten since")
    assert many.endswith("; 30 documents learnt or forgotten since: train again")
