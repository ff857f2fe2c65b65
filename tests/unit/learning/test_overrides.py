from typing import Any

import pytest

from nbtext.errors import SettingsError
from nbtext.learning.overrides import DEFAULTS, SettingsOverrides
from nbtext.scoring.models.registry import default_scoring
from nbtext.settings.reading import default_settings
from nbtext.settings.views import Field

MAIL = default_settings("mail", 2)
TEXT = default_settings("text", 2)
TOPICS = default_settings("text", 3)


@pytest.mark.parametrize("settings", [MAIL, TOPICS], ids=["mail", "topics"])
def test_without_overrides_the_defaults_stay(settings: Any) -> None:
    assert DEFAULTS.settings(settings) == settings
    assert DEFAULTS.scoring(default_scoring("mail", 2)) == default_scoring("mail", 2)
    assert not DEFAULTS.are_for_training


@pytest.mark.parametrize(
    ("settings", "overrides"),
    [
        (MAIL, SettingsOverrides(ngrams=2, alphabet="marks", score="mean")),
        (TEXT, SettingsOverrides(ngrams=2, alphabet="marks", score="weighted")),
        (TOPICS, SettingsOverrides(ngrams=2, alphabet="marks", score="contrast")),
    ],
    ids=["mail", "text", "topics"],
)
def test_a_default_named_as_an_override_changes_nothing(
    settings: Any, overrides: SettingsOverrides
) -> None:
    default = default_scoring(settings.format, 3 if settings is TOPICS else 2)

    assert overrides.settings(settings) == settings
    assert overrides.scoring(default) == default


def test_what_is_counted_is_for_training_and_scoring_is_not() -> None:
    scoring = SettingsOverrides(score="sum", smoothing=1.0, counting="once")

    assert scoring.are_for_training == ()
    assert scoring._replace(ngrams=1, ledger=False).are_for_training == (
        "ngrams",
        "ledger",
    )


def test_byte_ngrams_are_counted_for_any_score_if_they_are_named() -> None:
    of_sum = SettingsOverrides(score="sum")
    named = of_sum._replace(views=("ngrams",))

    assert [view.name for view in of_sum.settings(TEXT).views] == ["body"]
    assert [view.name for view in named.settings(TEXT).views] == ["ngrams"]


def test_single_tokens_leave_out_views_of_pairs() -> None:
    views = SettingsOverrides(ngrams=1).settings(MAIL).views

    assert [view.name for view in views] == ["headers", "body"]
    assert not any(view.pairs for view in views)


@pytest.mark.parametrize(
    "overrides",
    [
        SettingsOverrides(byte_ngrams=False),
        SettingsOverrides(ngrams=1),
        SettingsOverrides(pattern="x"),
        SettingsOverrides(score="sum"),
        SettingsOverrides(score="mean"),
    ],
    ids=str,
)
def test_byte_ngrams_are_left_out_where_nobody_asks_for_them(
    overrides: SettingsOverrides,
) -> None:
    assert [view.name for view in TEXT.views] == ["body", "ngrams"]
    assert [view.name for view in overrides.settings(TEXT).views] == ["body"]


def test_an_alphabet_is_no_matter_of_byte_ngrams() -> None:
    views = SettingsOverrides(alphabet="words").settings(TEXT).views

    assert [view.alphabet for view in views] == ["words", "ngrams"]


def test_an_alphabet_is_that_of_the_body() -> None:
    views = SettingsOverrides(alphabet="words").settings(MAIL).views

    assert [view.alphabet for view in views] == ["fields", "words", "words"]
    assert views[:2] == MAIL.views[:2]


def test_columns_that_are_read_are_settings() -> None:
    settings = SettingsOverrides(fields=(Field("title"), Field("body"))).settings(
        TOPICS
    )

    assert settings.fields == (Field("title"), Field("body"))


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"ngrams": 3}, "ngrams is 3"),
        ({"alphabet": "runes"}, "alphabet is 'runes'"),
        ({"ledger": 1}, "ledger is 1"),
        ({"fields": (Field("title"), Field("title"))}, "title, title are not distinct"),
        ({"fields": (Field(""),)}, "the column ''"),
        ({"score": "sun"}, "'sun'"),
    ],
)
def test_unknown_values_are_refused(overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        SettingsOverrides(**overrides).settings(MAIL)
