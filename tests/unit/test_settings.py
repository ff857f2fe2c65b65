from typing import Any

import pytest

from nbtext.errors import SettingsError
from nbtext.scoring.models.registry import default_scoring
from nbtext.settings.columns import WEIGHTED
from nbtext.settings.reading import Pattern, Settings, default_settings
from nbtext.settings.scoring import Scoring
from nbtext.settings.views import (
    BODY,
    HEADERS,
    NGRAMS,
    RAW,
    TOPIC,
    Field,
    attribute_views,
)

MAIL = default_settings("mail", 2)


@pytest.mark.parametrize(
    ("document_format", "n_classes", "views"),
    [
        ("mail", 2, (HEADERS, RAW, BODY)),
        (
            "text",
            2,
            (BODY._replace(columns=WEIGHTED), NGRAMS._replace(columns=WEIGHTED)),
        ),
        (
            "mail",
            3,
            tuple(view._replace(columns=WEIGHTED) for view in (HEADERS, RAW, BODY)),
        ),
        (
            "text",
            20,
            (TOPIC._replace(columns=WEIGHTED), NGRAMS._replace(columns=WEIGHTED)),
        ),
    ],
)
def test_defaults_go_by_the_format_and_the_number_of_classes(
    document_format: Any, n_classes: int, views: tuple[object, ...]
) -> None:
    found = default_settings(document_format, n_classes)

    assert found.format == document_format
    assert found.views == views
    assert found.ledger
    few = default_settings(document_format, n_classes, has_threes=True)
    has_threes = document_format == "text" and n_classes > 2
    assert [view.threes for view in few.views][-1] == (128 if has_threes else None)
    assert Settings.from_dict(few.as_dict()) == few


@pytest.mark.parametrize(
    ("document_format", "n_classes", "score", "smoothing"),
    [
        ("mail", 2, "mean", 0.01),
        ("text", 2, "weighted", 0.1),
        ("mail", 3, "contrast", 0.03),
        ("text", 1000, "contrast", 0.03),
    ],
)
def test_the_default_score_goes_by_the_format_and_the_number_of_classes(
    document_format: Any, n_classes: int, score: str, smoothing: float
) -> None:
    found = default_scoring(document_format, n_classes)

    assert (found.score, found.smoothing) == (score, smoothing)
    assert (found.counting, found.calibrated) == ("occurrences", True)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("document_format", ["mail", "text"])
def test_settings_come_back_from_plain_values(
    document_format: Any, n_classes: int
) -> None:
    found = default_settings(document_format, n_classes)

    assert Settings.from_dict(found.as_dict()) == found
    scoring = default_scoring(document_format, n_classes)
    assert Scoring.from_dict(scoring.as_dict()) == scoring


def test_fields_keep_their_order() -> None:
    fields = (Field("title"), Field("body"), Field("2"))

    plain = MAIL._replace(fields=fields).as_dict()

    assert list(plain["fields"].items()) == [
        ("title", "text"), ("body", "text"), ("2", "text"),
    ]  # fmt: skip
    assert Settings.from_dict(plain).fields == fields
    assert Settings.from_dict(plain).column_names == ("title", "body", "2")
    assert MAIL.difference(Settings.from_dict(plain)) == (
        "the columns that are read (text_columns, categorical_columns and "
        "numeric_columns): none by name in one, "
        "title, body, 2 in the other"
    )


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (["city", "age"], ["city", "age"]),
        (["home city", "e-mail"], ["home_city", "e_mail"]),
        (["home city", "home_city"], ["_value1", "home_city"]),
        (["home_city", "home city"], ["home_city", "_value2"]),
        (["a b", "a-b"], ["a_b", "_value2"]),
        (["body", "checksums", "2nd", "--"], [f"_value{n}" for n in (1, 2, 3, 4)]),
        (["Größe", "国"], ["Gr__e", "_value2"]),
        (["_value2", "2"], ["value2", "_value2"]),
    ],
)
def test_views_of_columns_are_called_as_these_as_far_as_can_be(
    columns: list[str], names: list[str]
) -> None:
    views = attribute_views(tuple(Field(column, "value") for column in columns))

    assert [view.name for view in views] == names
    assert [view.field for view in views] == columns


OF_COLUMN = attribute_views((Field("city", "value"),))[0].as_dict()


def with_view(**changes: object) -> dict[str, Any]:
    plain = MAIL.as_dict()
    plain["views"] = [plain["views"][0] | changes, *plain["views"][1:]]
    return plain


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        pytest.param(
            {}, "settings: expected the keys format, .* no format", id="nothing"
        ),
        pytest.param(None, "settings: expected a map, found None", id="None"),
        pytest.param([], "settings: expected a map, found a list", id="a list"),
        pytest.param(MAIL.as_dict() | {"views": []}, "views", id="no view"),
        pytest.param(
            MAIL.as_dict() | {"views": [1]},
            "a view: expected a map, found 1",
            id="no map",
        ),
        pytest.param(
            MAIL.as_dict() | {"views": None},
            "views of the settings: expected a list, found None",
            id="views None",
        ),
        pytest.param(
            MAIL.as_dict() | {"more": 1},
            "does not know 'more' in the settings",
            id="unknown",
        ),
        pytest.param(
            MAIL.as_dict() | {"format": "pdf"}, "format is 'pdf'", id="format"
        ),
        pytest.param(MAIL.as_dict() | {"ledger": 1}, "ledger is 1", id="1 for True"),
        pytest.param(MAIL.as_dict() | {"codepoints": 1}, "codepoints", id="codepoints"),
        pytest.param(MAIL.as_dict() | {"codepoints": True}, "codepoints", id="bool"),
        pytest.param(MAIL.as_dict() | {"columns": ["weight"]}, "columns", id="columns"),
        pytest.param(
            with_view(columns=3),
            "columns of the view 'headers': expected a list, found 3",
            id="columns 3",
        ),
        pytest.param(
            with_view(columns={"occurrences": 1, "documents": 2}),
            "columns of the view 'headers': expected a list, found a map of 2 keys",
            id="a map of columns",
        ),
        pytest.param(
            with_view(kind="value"), "does not know 'alphabet'", id="kind of text"
        ),
        pytest.param(
            MAIL.as_dict() | {"views": [OF_COLUMN | {"kind": "text"}]},
            "kind of the view 'city' is 'text'",
            id="a column of text",
        ),
        pytest.param(
            MAIL.as_dict() | {"views": [OF_COLUMN | {"limit": 7}]},
            "does not know 'limit' in the view 'city'",
            id="unknown in a view of a column",
        ),
        pytest.param(with_view(columns=[]), "headers.columns", id="no columns"),
        pytest.param(
            with_view(columns=["occurrences", "documents", "level2", "weight"]),
            "in the order",
            id="columns out of order",
        ),
        pytest.param(
            with_view(columns=["occurrences", "documents", "level9"]),
            "headers.columns",
            id="unknown column",
        ),
        pytest.param(
            with_view(columns=["occurrences", "documents", ["weight"]]),
            "headers.columns",
            id="a list of columns in the columns",
        ),
        pytest.param(with_view(text="soul"), "headers.text is 'soul'", id="text"),
        pytest.param(with_view(alphabet="x"), "headers.alphabet", id="alphabet"),
        pytest.param(with_view(pairs="yes"), "headers.pairs", id="flag"),
        pytest.param(with_view(alphabet="ngrams"), "of n-grams has", id="n-grams"),
        pytest.param(with_view(limit=0), "headers.limit is 0", id="limit 0"),
        pytest.param(with_view(limit=True), "headers.limit", id="limit True"),
        pytest.param(with_view(limit="9"), "headers.limit", id="limit text"),
        pytest.param(with_view(threes=0), "headers.threes is 0", id="threes 0"),
        pytest.param(with_view(threes=True), "headers.threes", id="threes True"),
        pytest.param(with_view(threes=9), "threes, and no n-grams", id="threes"),
        pytest.param(with_view(name="raw"), "distinct names", id="two of a name"),
        pytest.param(with_view(name="undo"), "be called 'undo'", id="a name in use"),
        pytest.param(
            with_view(colour=1),
            "does not know 'colour' in the view 'headers'",
            id="unknown in a view",
        ),
        pytest.param(
            MAIL.as_dict() | {"fields": []},
            "are read: expected a map, found a list",
            id="no fields",
        ),
        pytest.param(
            MAIL.as_dict() | {"fields": {"": "text"}}, "the column ''", id="no column"
        ),
        pytest.param(
            MAIL.as_dict() | {"fields": {1: "text"}},
            "expected a text, found 1",
            id="a number",
        ),
        pytest.param(
            MAIL.as_dict() | {"fields": {"title": "sound"}},
            "fields.title is 'sound'",
            id="kind",
        ),
    ],
)
def test_settings_that_nbtext_never_wrote_are_refused(plain: Any, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        Settings.from_dict(plain)


MATCHES = Settings(
    format="text",
    views=(BODY._replace(alphabet="pattern"),),
    pattern=Pattern(r"\w+", "2026.1.1"),
)


def test_a_pattern_is_kept_with_the_version_of_regex() -> None:
    assert Settings.from_dict(MATCHES.as_dict()) == MATCHES
    assert MATCHES.as_dict()["pattern"] == {
        "expression": r"\w+",
        "version": "2026.1.1",
    }


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (None, "one is missing"),
        ({"expression": "", "version": "1"}, "the pattern is ''"),
        ({"expression": 5, "version": "1"}, "the pattern is 5"),
        ({"expression": "x" * 1001, "version": "1"}, "not 1 to 1000 characters"),
        ({"expression": "x", "version": None}, "the version of the pattern is None"),
        (
            {"expression": "x"},
            "expected the keys expression, version; found no version",
        ),
        (
            {"expression": "x", "version": "1", "more": 1},
            "does not know 'more' in the pattern",
        ),
        ("x", "the pattern: expected a map, found 'x'"),
    ],
)
def test_a_pattern_that_nbtext_never_wrote_is_refused(
    pattern: object, message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        Settings.from_dict(MATCHES.as_dict() | {"pattern": pattern})


def test_a_pattern_without_a_view_of_it_is_refused() -> None:
    with pytest.raises(SettingsError, match="one is missing"):
        MAIL._replace(pattern=MATCHES.pattern).check()


def test_two_patterns_are_a_difference() -> None:
    other = MATCHES._replace(pattern=Pattern(r"\w+", "2"))

    assert r"regex (pattern): \w+ of version 2026.1.1 in one, " in MATCHES.difference(
        other
    )


def test_a_view_without_terms_is_refused() -> None:
    with pytest.raises(SettingsError, match="headers"):
        Settings.from_dict(with_view(tokens=False, pairs=False))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"score": 3}, "score is 3"),
        ({"score": "no name"}, "score is 'no name'"),
        ({"counting": "twice"}, "expected occurrences, once, log, or min:2 to min:9"),
        ({"smoothing": 0}, "smoothing is 0"),
        ({"smoothing": -1.0}, "smoothing is -1.0"),
        ({"smoothing": float("nan")}, "smoothing is nan"),
        ({"smoothing": float("inf")}, "smoothing is inf"),
        ({"smoothing": True}, "smoothing is True"),
        ({"smoothing": "1"}, "smoothing is '1'"),
        ({"parameters": {"x": -0.1}}, "x is -0.1"),
        ({"parameters": {"x": None}}, "x is None"),
        ({"parameters": {"x": True}}, "x is True"),
        ({"parameters": {"x y": 1.0}}, "a parameter is called 'x y'"),
        ({"parameters": {b"x": 1.0}}, "expected a text, found b'x'"),
        ({"parameters": {b"x": 1.0, "y": 1.0}}, "expected a text, found b'x'"),
        ({"parameters": [1.0]}, "expected a map, found a list of 1 values"),
        ({"calibrated": 1}, "calibrated is 1"),
        ({"colour": 1}, "does not know 'colour' in the scoring"),
    ],
    ids=lambda value: str(value),
)
def test_a_scoring_that_cannot_be_is_refused(
    changes: dict[str, object], message: str
) -> None:
    plain = Scoring(score="mean", smoothing=1.0).as_dict() | changes

    with pytest.raises(SettingsError, match=message):
        Scoring.from_dict(plain)


def test_a_difference_is_named() -> None:
    other = Settings(format="text", views=MAIL.views, ledger=False)

    assert MAIL.difference(other) == (
        "what documents are read as (format): mail in one, text in the other; "
        "the ledger (ledger=False): yes in one, no in the other"
    )
    # what only one of them has
    keyed = MAIL._replace(secret="0" * 32, idf_documents=7)
    assert MAIL.difference(keyed) == (
        f"the secret of its keys, by fingerprint (keyed): none in one, {'0' * 32} in "
        "the other; how many documents its idf rests on (score tfidf): none in "
        "one, 7 in the other"
    )
    assert keyed.difference(MAIL).count("7 in one, none in the other") == 1
    of_value = attribute_views((Field("body", "value"),))[0]._replace(name="body")
    assert "the setting kind of the view body: none in one, value in the other" in (
        MAIL.difference(MAIL._replace(views=(*MAIL.views[:2], of_value)))
    )
    single = MAIL.views[2]._replace(pairs=False, alphabet="words", limit=9)
    assert MAIL.difference(MAIL._replace(views=(*MAIL.views[:2], single))) == (
        "alphabet (alphabet) of the view body: marks in one, words in the other; "
        "pairs (ngrams) of the view body: yes in one, no in the other; "
        "the setting limit of the view body: none in one, 9 in the other"
    )
    assert not MAIL.difference(default_settings("mail", 2))


@pytest.mark.parametrize("name", [None, True, 7, "two words"])
def test_a_view_is_called_by_a_name(name: Any) -> None:
    plain = MAIL.as_dict()
    plain["views"][0]["name"] = name

    with pytest.raises(SettingsError, match="a view cannot be called"):
        Settings.from_dict(plain)
