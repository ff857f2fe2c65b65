"""Evidence on a terminal of 80 columns."""

from nbtext.cli._explained import reason_text
from nbtext.cli._explained_tables import error_tables, top_table, why_tables
from nbtext.cli._narrow import NarrowTable, label_column, number_column
from nbtext.cli._tables import COLOURS
from nbtext.evaluation.misjudged import Misjudged
from nbtext.scoring.explanation import Explanation, Part, Reason
from nbtext.scoring.top import TopTerm
from tests.drawing import drawn


def top(text: str | None, view: str, field: str | None) -> TopTerm:
    return TopTerm("spam", text, view, field, 1897.0, 3.18, 1025, 1897, 193, 4150, 10)


def test_a_term_has_room_beside_its_counts() -> None:
    lines = drawn(
        [
            top_table(
                [
                    top("jm netnoteinc com", "raw", "raw"),
                    top("text/html", "headers", "content-transfer-encoding"),
                    top(None, "body", None),
                ]
            )
        ]
    )

    assert max(map(len, lines)) <= 80
    assert lines[0].split() == [
        "class", "G2", "nats", "of", "it", "of", "others", "where", "term",
    ]  # fmt: skip
    assert lines[1].endswith("raw             jm netnoteinc com")
    assert lines[2].endswith("content-transf  text/html")
    assert lines[3].endswith("body            00000000000a")


def test_a_narrow_terminal_gets_the_terms_first() -> None:
    terms = [
        top("jm netnoteinc com", "raw", "raw"),
        top("text/html", "headers", "content-transfer-encoding"),
    ]

    narrow = drawn([top_table(terms)], width=45)
    wider = drawn([top_table(terms)], width=60)

    assert narrow == [
        "class    nats  where           term",
        "spam   +3.180  raw             jm netnoteinc…",
        "spam   +3.180  content-transf  text/html",
        "no room for: G2, of it, of others",
    ]
    assert max(map(len, wider)) <= 60
    assert "jm netnoteinc" in wider[1]


def test_reasons_of_an_error_break_between_words_and_a_name_does_not() -> None:
    name = "corpora/" + "x" * 90
    reasons = tuple(
        Reason(text, "body", "body", 1, 1.0, 0.0, {}, {}, 0)
        for text in ("ccsun37.cc.example.edu", "qrq.cc.example.edu", "Service.example")
    )
    error = Misjudged(name, None, "spam", "ham", 0.5469, reasons)

    first, *lines, last = drawn(error_tables([error]))

    assert first == f"spam taken for ham  0.5469  {name}"
    assert last == ""
    assert len(lines) == 2
    assert all(line.startswith("    ") and len(line) <= 80 for line in lines)
    words = " ".join(lines).split()
    assert words == [
        *("+1.000", "body", "'ccsun37.cc.example.edu'"),
        *("+1.000", "body", "'qrq.cc.example.edu'"),
        *("+1.000", "body", "'Service.example'"),
    ]


def test_reasons_of_an_error_have_no_blanks_around_them() -> None:
    texts = ("\n\n\n\nlunch at ", " noon", "\n\n\n\n\n")
    reasons = (Reason(one, "ngrams", "body", 1, 1.0, 0.0, {}, {}, 0) for one in texts)

    found = [*map(reason_text, reasons)]

    assert [text.partition("body ")[2] for text in found] == [
        "'lunch at'", "'noon'", r"'\n\n\n\n\n'",
    ]  # fmt: skip


def test_without_errors_nothing_is_shown() -> None:
    assert drawn(error_tables([])) == []


def test_bars_are_as_long_as_terms_are_strong_and_coloured_by_class() -> None:
    reasons = tuple(
        Reason(text, "body", "body", 2, value, 0.0, {}, {"ham": {"documents": 3}}, 0)
        for text, value in (("cash", 2.0), ("lunch", -1.0), ("now", 0.01))
    )
    found = Explanation(
        name="1", decision="spam", label="spam", rival="ham", probability=0.731059,
        log_odds=1.0, score=1.0, calibration=0.0, slope=1.0, offset=0.0, others=0.0,
        prior=0.0, cap=0.0, parts=(Part("body", 1.01, 0.0, {"spam": 1.01}),),
        reasons=reasons, classes={"ham": 5, "spam": 7},
        posterior={"ham": 0.268941, "spam": 0.731059}, known=3, tokens=3,
        views=("body",),
    )  # fmt: skip
    results = [*why_tables(found, 2)]

    lines = drawn(results)

    assert lines[0] == "spam  0.7311  1"
    assert lines[1] == "the terms: 'cash', 'now'; against spam: 'lunch'"
    rows = [line.split() for line in lines[4:7]]
    full = next(character for character in ("█", "#") if character in lines[4])
    assert rows[0] == ["+2.000", full * 10, "body", "2", "0/7", "3/5", "cash"]
    assert rows[1] == ["-1.000", full * 5, "body", "2", "0/7", "3/5", "lunch"]
    assert rows[2] == ["+0.010", "(1", "more)"]
    table = next(one for one in results if isinstance(one, NarrowTable))
    styles = [cells[1].style for cells, _ in table.rows]
    assert styles[:2] == [COLOURS[1], COLOURS[0]]
    assert lines[-1] == "probability of spam  0.7311"
    assert lines[7].startswith("nats: +0.69 doubles the odds")
    assert not any(
        "doubles" in line for line in drawn(why_tables(found, 2, is_first=False))
    )


def test_a_matrix_that_has_no_room_gives_way_to_the_errors() -> None:
    errors = NarrowTable(label_column("truth"), number_column("documents"))
    names = [f"class{number}" for number in range(8)]
    columns = [number_column(name) for name in names]
    matrix = NarrowTable(label_column("truth"), *columns, narrower=errors)
    matrix.add_row("class1", *("0" for _ in names))

    assert drawn([matrix])[0].split() == ["truth", *names]
    assert drawn([matrix], width=40) == ["no room for 9 columns"]
    errors.add_row("class1", "3")
    assert drawn([matrix], width=40) == ["truth   documents", "class1          3"]
