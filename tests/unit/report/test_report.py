"""A report: what stands in the page, and what can never stand there."""

import csv
import io
import json
import re
import shutil
import subprocess
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

from nbtext.errors import SettingsError
from nbtext.evaluation.documents import Named
from nbtext.evaluation.evaluation import Evaluation, evaluate
from nbtext.evaluation.misjudged import Misjudged
from nbtext.policy import Cost
from nbtext.report import report_pieces
from nbtext.report.operating import error_curve, operating_points, split_of
from nbtext.report.svg import SHARES, WIDTH, Axis, Plot
from nbtext.scoring.costs import costs_of
from nbtext.scoring.explanation import Reason
from nbtext.scoring.top import TopTerm
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

NASTY: Final = "<script>alert(1)</script>\"'&|`\x07\u202e\udcff"
CHROMIUM: Final = shutil.which("chromium")
VOID: Final = {"meta"}


def report_text(result: Evaluation, path: str, top: "Sequence[TopTerm]" = ()) -> str:
    return "".join(report_pieces(result, path, top))


def result_of(classes: tuple[str, ...], n: int = 300) -> Evaluation:
    random = np.random.default_rng(3)
    truth = random.integers(0, len(classes), n)
    scores = random.normal(0, 1.5, (n, len(classes)))
    scores[np.arange(n), truth] += 2
    posterior = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    is_sure = posterior.max(axis=1) > np.log(0.5)
    decided = np.where(is_sure, posterior.argmax(axis=1), -1)
    costs = None
    if len(classes) == 2:
        first, second = classes
        prices = [Cost(first, second, 9.0), Cost(first, first, 0.5)]
        costs = costs_of(prices, classes)
    reason = Reason(NASTY, "body", "body", 1, 0.5, 0.0, {}, {}, 7)
    error = Misjudged(NASTY, None, NASTY, None, 0.75, (reason,))
    documents = [
        Named(f"{n} {NASTY}", NASTY, classes[place], n) for n, place in enumerate(truth)
    ]
    found = evaluate(
        truth, posterior, decided, classes, costs=costs, documents=documents
    )
    return replace(found, errors=(error,))


class Page(HTMLParser):
    """The elements of a page; each must be closed where it should be."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize(
    "classes",
    [("ham", "spam"), ("a", "b", NASTY), tuple(f"c{n:03}" for n in range(60))],
    ids=["two", "nasty", "many"],
)
def test_a_page_has_no_script_and_escapes_every_text(classes: tuple[str, ...]) -> None:
    text = report_text(result_of(classes), "r.html")

    page = Page(text)
    assert not {"script", "iframe", "object", "link", "img", "a"} & {*page.names}
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert not [name for name, _ in page.attributes if name in ("style", "src", "href")]
    assert "<script>alert(1)</script>" in page.text
    assert not set("\x07\u202e") & {*text}
    text.encode("utf-8")


def test_the_policy_allows_the_style_and_nothing_else() -> None:
    text = report_text(result_of(("ham", "spam")), "r.html")

    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'; ")
    assert f"style-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_a_page_of_two_classes_has_all_pictures_and_tables() -> None:
    text = report_text(result_of(("ham", "spam")), "r.html")

    titles = re.findall(r"<h2>(.*?)</h2>", text)
    assert titles == [
        "Figures", "Confusion", "ROC curve", "DET curve", "Reliability",
        "Scores by class", "Classes", "Confusion: rows are true classes, columns "
        "decisions", "Reliability", "Thresholds", "Worst errors",
    ]  # fmt: skip
    assert text.count("<svg") == 5
    more = report_text(result_of(("a", "b", "c")), "r.html")
    assert more.count("<svg") == 2


@pytest.mark.parametrize("classes", [("ham", "spam"), ("a", "b", "c")], ids=len)
def test_markdown_and_csv_have_the_same_figures(classes: tuple[str, ...]) -> None:
    result = result_of(classes)

    markdown = report_text(result, "r.md")
    rows = [*csv.DictReader(io.StringIO(report_text(result, "r.csv")))]

    found = {row["row"]: row for row in rows if row["column"] == "value"}
    assert float(found["accuracy"]["value"]) == pytest.approx(result.accuracy, abs=1e-4)
    assert f"| accuracy | {found['accuracy']['value']} |" in markdown
    assert "<script" not in markdown.replace("\\<", "")
    cells = [line.replace("\\|", "").count("|") for line in markdown.splitlines()]
    assert {*cells} <= {0, 4, 5, 6, 7}


def test_terms_that_speak_for_a_class_are_in_every_kind() -> None:
    terms = [
        TopTerm("spam", NASTY, "body", "body", 9.5, 2.25, 1200, 2000, 3, 4000, 7),
        TopTerm("ham", None, "body", None, 9.5, -0.5, 12, 20, 3, 40, 255),
    ]
    for name in ("r.html", "r.md", "r.csv"):
        text = report_text(result_of(("ham", "spam")), name, top=terms)
        assert "Terms that most speak" in text or name == "r.csv"
        assert "0000000000ff" in text
        assert "1,200 of 2,000" in text
    Page(report_text(result_of(("ham", "spam")), "r.html", top=terms))


def test_no_cell_of_csv_is_a_formula_or_a_control() -> None:
    classes = ("+1", "1,000", *(f"=c{n:03}()" for n in range(60)), "\x1b[2J", "\t=1")
    result = result_of(tuple(sorted(classes)))
    term = TopTerm("@sum", '=HYPERLINK("x")', "body", None, 9.5, -0.5, 1, 2, 3, 4, 5)

    text = report_text(result, "r.csv", top=[term])

    rows = [*csv.reader(io.StringIO(text))][1:]
    cells = {cell for row in rows for cell in row}
    formulas = [cell for cell in cells if cell.startswith(("=", "@", "+", "-", "\t"))]
    assert {*formulas} == {"+1", "-0.50"}  # numbers
    assert {"'=c007()", "'@sum", '\'=HYPERLINK("x")', "1,000"} <= cells
    assert all(cell.isprintable() for cell in cells)


def test_another_suffix_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"\.html, \.md, \.csv"):
        report_text(result_of(("ham", "spam")), "r.pdf")


def test_the_points_are_counts_of_errors_and_their_prices() -> None:
    result = result_of(("ham", "spam"))
    split = split_of(result)
    assert split is not None

    for point in operating_points(result, split):
        wrong = int((split.printed_negatives >= point.threshold).sum())
        missed = int((split.printed_positives < point.threshold).sum())
        assert (point.false_positives, point.false_negatives) == (wrong, missed)
        right = len(split.negatives) - wrong  # which has a price, too
        whole = 9 * wrong + missed + 0.5 * right
        assert point.cost == pytest.approx(whole / 300)


@pytest.mark.parametrize("n", [20, 3000])
def test_the_area_under_the_curve_is_the_measure(n: int) -> None:
    result = result_of(("ham", "spam"), n)
    split = split_of(result)
    assert split is not None
    assert result.two_class is not None

    wrong, missed = error_curve(split)

    assert (wrong[0], wrong[-1], missed[0], missed[-1]) == (0, 1, 1, 0)
    assert len(wrong) <= 400
    area = float(np.trapezoid(1 - missed, wrong))
    assert area == pytest.approx(result.two_class.roc_auc, abs=1e-3)


def test_few_documents_or_one_class_have_a_page_too() -> None:
    for truth in ([0], [0, 0], [1, 0], [-1, 0]):
        posterior = np.log(np.array([[0.9, 0.1]] * len(truth)))
        decided = np.zeros(len(truth), np.int64)
        result = evaluate(np.array(truth), posterior, decided, ("ham", "spam"))
        for name in ("r.html", "r.md", "r.csv"):
            assert report_text(result, name)


def test_a_class_named_like_a_column_has_its_numbers_too() -> None:
    name = "decided"
    truth = np.zeros(1000, np.int64)
    posterior = np.log(np.full((1000, 2), 0.5))
    result = evaluate(truth, posterior, truth, (name, "other"))

    rows = [*csv.DictReader(io.StringIO(report_text(result, "r.csv")))]

    assert {
        (row["row"], row["column"]): row["value"]
        for row in rows
        if row["table"] == "confusion"
    }[name, name] == "1000"


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize("width", [360, 1400])
def test_a_browser_shows_the_page_without_complaint(tmp_path: Path, width: int) -> None:
    path = tmp_path / "r.html"
    path.write_text(report_text(result_of(("ham", "spam")), "r.html"), "utf-8")

    done = subprocess.run(
        [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu",
            "--enable-logging=stderr", f"--user-data-dir={tmp_path / 'user'}",
            f"--window-size={width},3000", f"--screenshot={tmp_path / 'r.png'}",
            path.as_uri(),
        ],
        capture_output=True, timeout=PATIENCE, check=True,
    )  # fmt: skip

    assert (tmp_path / "r.png").stat().st_size > 20_000
    assert b"CONSOLE" not in done.stderr
    assert b"Content Security Policy" not in done.stderr


def test_each_document_is_a_line_of_json_that_any_reader_takes() -> None:
    result = result_of(("a", "ham", NASTY.replace("\udcff", "\\xff")))

    text = report_text(result, "r.jsonl")

    lines = [json.loads(line) for line in text.splitlines()]
    written = NASTY.replace("\udcff", "\\xff")
    assert [line["name"] for line in lines] == [f"{n} {written}" for n in range(300)]
    assert {line["id"] for line in lines} == {written}
    assert sum(line["label"] == line["truth"] for line in lines) == result.correct
    assert sum(line["label"] is None for line in lines) == result.unsure > 0
    assert all(line["probability"] == max(line["posterior"].values()) for line in lines)
    text.encode("ascii")  # no control, no mark of direction, no lone surrogate
    assert result.judged() is not None
    assert next(result.judged()).fold is None
    assert "fold" not in lines[0]


def test_no_number_below_an_axis_is_cut_at_the_edge_of_its_picture() -> None:
    ticks = ((0.0, "none"), (1.0, "1,200,000"))
    plot = Plot("error", Axis("documents", ticks), Axis("share", SHARES))

    texts = re.findall(r"<text[^>]*>[^<]*</text>", plot.svg())

    last = next(text for text in texts if "1,200,000" in text)
    assert 'text-anchor="end"' in last
    assert f'x="{WIDTH:.2f}"' in last
    assert 'text-anchor="middle"' in next(text for text in texts if ">none<" in text)
