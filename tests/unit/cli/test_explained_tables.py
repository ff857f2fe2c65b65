"""Evidence on a terminal of 80 columns."""

import io
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nbtext.cli._explained_tables import error_tables, top_table
from nbtext.evaluation.misjudged import Misjudged
from nbtext.scoring.explanation import Reason
from nbtext.scoring.top import TopTerm


def shown(results: Iterable[Table | Text]) -> list[str]:
    """Return lines as `nbtext.cli._terminal.show` draws them."""
    console = Console(file=io.StringIO(), width=80)
    for result in results:
        console.print(result, soft_wrap=not isinstance(result, Table))
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def top(text: str | None, view: str, field: str | None) -> TopTerm:
    return TopTerm("spam", text, view, field, 1897.0, 3.18, 1025, 1897, 193, 4150, 10)


def test_a_term_has_room_beside_its_counts() -> None:
    lines = shown(
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


def test_reasons_of_an_error_break_between_words_and_a_name_does_not() -> None:
    name = "corpora/" + "x" * 90
    reasons = tuple(
        Reason(text, "body", "body", 1, 1.0, 0.0, {}, {}, 0)
        for text in ("ccsun37.cc.example.edu", "qrq.cc.example.edu", "Service.example")
    )
    error = Misjudged(name, None, "spam", "ham", 0.5469, reasons)

    first, *lines, last = shown(error_tables([error]))

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


def test_without_errors_nothing_is_shown() -> None:
    assert shown(error_tables([])) == []
