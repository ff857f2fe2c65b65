import json
from itertools import repeat
from math import exp

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nbtext.cli._report import (
    as_json,
    as_json_lines,
    as_tsv,
    counted,
    escaped,
    evaluation_text,
    json_line,
    share,
    size,
)
from nbtext.document import Document, readable
from nbtext.evaluation.evaluation import evaluate
from nbtext.scoring.decide import CERTAIN, Decision, decide, probability
from nbtext.scoring.score import Scored


def decided(name: str = "a", posterior: tuple[float, float] = (-2.0, -0.2)) -> Decision:
    return decide(
        Document(name, ()), Scored(posterior, posterior, 3, 7), ("ham", "spam")
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain name.eml", "plain name.eml"),
        ("日本語/é", "日本語/é"),
        ("tab\tnew\nline\r", r"tab\tnew\nline\r"),
        (r"back\slash", r"back\\slash"),
        pytest.param(
            "\x1b[31m\x00\x7f",
            r"\x1b[31m\x00\x7f",
        ),
        ("not \udcff UTF-8", r"not \xff UTF-8"),
        ("\u2028\u2029\x85", r"\u2028\u2029\x85"),
        ("\U000e0001", r"\U000e0001"),
        ("", ""),
    ],
)
def test_a_name_is_one_field_of_one_line(name: str, expected: str) -> None:
    assert escaped(name) == expected


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("\x9b31m\u202e\x7f\U000e0001")
def test_json_is_printable_and_has_the_same_values(name: str) -> None:
    value = {name: [name]}

    assert json_line(value).isprintable()
    assert json.loads(json_line(value)) == value
    assert json.loads(json_line(f"{name}\udce4")) == rf"{name}\xe4"
    assert as_json(value).replace("\n", "").isprintable()
    assert json.loads(as_json(value)) == value


@given(st.text(st.characters(exclude_categories=())))
@example("\x0c")
def test_whatever_a_name_holds_a_line_is_a_line(name: str) -> None:
    (line,) = as_tsv([decided(name)])

    assert len(line.splitlines()) == 1
    assert line.count("\t") == 2
    line.encode()


@given(st.text(st.characters(exclude_categories=())), st.text())
def test_different_names_stay_different(one: str, other: str) -> None:
    surrogate = any("\ud800" <= c <= "\udfff" for c in one + other)

    assert surrogate or (escaped(one) == escaped(other)) == (one == other)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.5, "0.5000"),
        (0.99994, "0.9999"),
        (0.999951, "0.9999"),
        (CERTAIN, "0.9999"),
        (0.98765, "0.9877"),
    ],
)
def test_short_of_certainty_a_probability_is_never_printed_as_1(
    value: float, expected: str
) -> None:
    assert probability(value) == expected


def test_tsv_has_label_probability_and_name() -> None:
    unsure = decide(
        Document("b", ()), Scored((-0.5, -0.9), (-0.5, -0.9), 0, 7), ("ham", "spam")
    )

    lines = list(as_tsv([decided(), unsure]))

    assert lines == ["spam\t0.8187\ta", "?\t0.6065\tb"]
    assert list(as_tsv([decided()], named=False)) == ["spam\t0.8187"]


def test_the_id_of_a_row_is_the_last_column() -> None:
    row = decided()._replace(identity="a\tb\\xff")

    assert list(as_tsv([row])) == ["spam\t0.8187\ta\ta\\tb\\xff"]
    assert list(as_tsv([row], named=False)) == ["spam\t0.8187\ta\\tb\\xff"]


def test_a_json_line_has_all_that_is_known() -> None:
    (line,) = as_json_lines([decided("caf\udce9")])

    found = json.loads(line)

    assert found == {
        "name": r"caf\xe9",
        "label": "spam",
        "probability": pytest.approx(exp(-0.2), rel=1e-12),
        "posterior": pytest.approx({"ham": exp(-2), "spam": exp(-0.2)}, rel=1e-12),
        "log_posterior": {"ham": -2.0, "spam": -0.2},
        "tokens": {"known": 3, "total": 7},
        "truncated": False,
    }


def test_json_never_says_certainty_and_log_posteriors_never_saturate() -> None:
    (line,) = as_json_lines([decided(posterior=(-5000.5, 0.0))])

    found = json.loads(line)

    assert found["probability"] < 1
    assert found["posterior"]["spam"] < 1
    assert found["log_posterior"] == {"ham": -5000.5, "spam": 0.0}


def test_an_unsure_document_has_a_null_label() -> None:
    unsure = decide(
        Document("b", ()), Scored((-0.5, -0.9), (-0.5, -0.9), 0, 7), ("ham", "spam")
    )

    assert json.loads(next(as_json_lines([unsure])))["label"] is None


def test_lines_come_as_the_decisions_do() -> None:
    assert next(as_tsv(repeat(decided())))
    assert next(as_json_lines(repeat(decided())))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_name_of_characters_is_readable_as_it_is(name: str) -> None:
    assert readable(name) == name


def test_json_is_indented_and_keeps_its_characters() -> None:
    assert as_json({"ü": [1]}) == '{\n  "ü": [\n    1\n  ]\n}'


@pytest.mark.parametrize(
    ("value", "expected"), [(None, "-"), (0.0, "0.0000"), (1.0, "1.0000")]
)
def test_what_would_be_0_by_0_is_a_dash(value: float | None, expected: str) -> None:
    assert share(value) == expected


def test_an_evaluation_is_tables_apart_by_empty_lines() -> None:
    truth, decisions = np.array([0, 0, 1, 1]), np.array([0, 1, 1, -1])
    posterior = np.log([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.5, 0.5]])
    result = evaluate(truth, posterior, decisions, ("ham", "spam"))

    blocks = "\n".join(evaluation_text(result)).split("\n\n")

    assert len(blocks) == 4
    assert "documents\t4" in blocks[0]
    assert "false positive rate\t0.5000 (1 of 2)" in blocks[0]
    assert blocks[1].splitlines()[1].startswith("ham\t1.0000\t0.5000\t0.6667\t2")
    assert blocks[2].splitlines() == [
        "truth\tham\tspam\t?",
        "ham\t1\t1\t0",
        "spam\t0\t1\t1",
    ]


@pytest.mark.parametrize(
    ("n_bytes", "expected"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1500, "1.5 kB"),
        (31_000_000, "31.0 MB"),
        (3_000_000_000, "3,000.0 MB"),
    ],
)
def test_sizes_are_easy_to_read(n_bytes: int, expected: str) -> None:
    assert size(n_bytes) == expected


def test_numbers_agree_with_their_nouns() -> None:
    assert [counted(n, "document") for n in (0, 1, 2000)] == [
        "0 documents",
        "1 document",
        "2,000 documents",
    ]
