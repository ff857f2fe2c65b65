from typing import Any

import pytest

from nbtext.errors import SettingsError
from nbtext.learning.overrides import DEFAULTS, SettingsOverrides
from nbtext.scoring.models.registry import default_scoring
from nbtext.settings import Field, default_settings

MAIL = default_settings("mail", 2)
TOPICS = default_settings("text", 3)


@pytest.mark.parametrize("settings", [MAIL, TOPICS], ids=["mail", "topics"])
def test_without_overrides_the_defaults_stay(settings: Any) -> None:
    assert DEFAULTS.settings(settings) == settings
    assert DEFAULTS.scoring(default_scoring(2)) == default_scoring(2)
    assert not DEFAULTS.are_for_training


@pytest.mark.parametrize(
    ("settings", "overrides"),
    [
        (MAIL, SettingsOverrides(ngrams=2, alphabet="marks", score="mean")),
        (TOPICS, SettingsOverrides(ngrams=2, alphabet="words", score="complement")),
    ],
    ids=["mail", "topics"],
)
def test_a_default_named_as_an_override_changes_nothing(
    settings: Any, overrides: SettingsOverrides
) -> None:
    n_classes = 2 if settings is MAIL else 3

    assert overrides.settings(settings) == settings
    scoring = overrides.scoring(default_scoring(n_classes))
    assert scoring == default_scoring(n_classes)


def test_what_is_counted_is_for_training_and_scoring_is_not() -> None:
    scoring = SettingsOverrides(score="sum", smoothing=1.0, counting="once")

    assert scoring.are_for_training == ()
    assert scoring._replace(ngrams=1, ledger=False).are_for_training == (
        "ngrams",
        "ledger",
    )


def test_single_tokens_leave_out_views_of_pairs() -> None:
    views = SettingsOverrides(ngrams=1).settings(MAIL).views

    assert [view.name for view in views] == ["headers", "body"]
    assert not any(view.pairs for view in views)


def test_an_alphabet_is_that_of_the_body() -> None:
    views = SettingsOverrides(alphabet="words").settings(MAIL).views

    assert [view.alphabet for view in views] == ["fields", "words", "words"]
    assert views[:2] == MAIL.views[:2]


def test_columns_that_are_read_are_settings() -> None:
    settings = SettingsOverrides(text_columns=("title", "body")).settings(TOPICS)

    assert settings.fields == (Field("title"), Field("body"))


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"ngrams": 3}, "ngrams is 3"),
        ({"alphabet": "runes"}, "alphabet is 'runes'"),
        ({"ledger": 1}, "ledger is 1"),
        ({"text_columns": ("title", "title")}, "title, title are not distinct"),
        ({"text_columns": ("",)}, "the column ''"),
        ({"score": "sun"}, "'sun'"),
    ],
)
def test_unknown_values_are_refused(overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        SettingsOverrides(**overrides).settings(MAIL)
