"""
A report as one HTML page that needs nothing else.

It has no script, and a content security policy that allows none, nor anything from
elsewhere: the one style is allowed by its hash. Every text is escaped. It is light or
dark as the reader's system is, and narrow or wide as the window.
"""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final

from nbtext import __version__
from nbtext.evaluation import Evaluation
from nbtext.report.charts import charts_of
from nbtext.report.svg import text_of
from nbtext.report.tables import TEXTS, Table, tables_of
from nbtext.scoring.top import TopTerm

STYLE: Final = """
:root { color-scheme: light dark; --ground: #fff; --text: #1b1f24; --faint: #59636e;
  --line: #d1d9e0; --panel: #f6f8fa; --blue: #0a5cc2; --red: #c4321c; }
@media (prefers-color-scheme: dark) { :root { --ground: #0d1117; --text: #e6edf3;
  --faint: #9198a1; --line: #3d444d; --panel: #151b23; --blue: #58a6ff;
  --red: #ff7b61; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 84rem; padding: 1rem; background: var(--ground);
  color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: .5rem 0; } h2 { font-size: 1.15rem; margin: 0 0 .3rem; }
p { margin: .2rem 0 .8rem; color: var(--faint); overflow-wrap: anywhere; }
main { display: grid; gap: 1rem; grid-auto-flow: dense;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); }
section { background: var(--panel); border: 1px solid var(--line); border-radius: 8px;
  padding: 1rem; min-width: 0; }
section.wide { grid-column: 1 / -1; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; width: 100%;
  font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .35rem; border-bottom: 1px solid var(--line);
  text-align: right; vertical-align: top; }
th { color: var(--faint); font-weight: 600; }
th:first-child, td:first-child, .left th, .left td { text-align: left; }
.left td { overflow-wrap: anywhere; min-width: 6rem; }
svg { display: block; width: 100%; height: auto; max-width: 34rem; margin: 0 auto;
  font: 12px system-ui, sans-serif; }
svg text { fill: var(--text); }
.grid { stroke: var(--line); stroke-width: 1; }
.curve { fill: none; stroke: var(--blue); stroke-width: 2.5; }
.chance { fill: none; stroke: var(--faint); stroke-width: 1; stroke-dasharray: 4 4; }
.dot, .right { fill: var(--blue); } .wrong { fill: var(--red); }
.dot { opacity: .75; }
.negative { fill: var(--blue); opacity: .6; }
.positive { fill: var(--red); opacity: .6; }
.cell { fill: none; stroke: var(--line); }
svg text.dark { fill: var(--ground); }
.blue { color: var(--blue); } .red { color: var(--red); }
"""

HASH: Final = b64encode(sha256(STYLE.encode()).digest()).decode()

POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{HASH}'; base-uri 'none'; "
    "form-action 'none'"
)
"""What the page allows itself: its style, and nothing else."""


TITLE: Final = "nbtext: evaluation"
"""The heading of a report."""


def page_of(result: Evaluation, top: Sequence[TopTerm]) -> Iterator[str]:
    """Yield the report of an evaluation as an HTML page, whole."""
    figures, *others = map(_section, tables_of(result, top))
    sections = [figures, *_charts(result), *others]
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{TITLE}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{TITLE}</h1>\n<p>{text_of(summary(result))}</p>\n"
        f"<main>\n{''.join(sections)}</main>\n"
        f"<p>Made by nbtext {__version__}; docs/measures.md defines each measure.</p>\n"
        "</body>\n</html>\n"
    )


def summary(result: Evaluation) -> str:
    """Say in a sentence how good the decisions were."""
    whole = f"{result.correct:,} of {result.documents:,} documents right"
    return f"{whole}, {result.unsure:,} unsure" if result.unsure else whole


def _charts(result: Evaluation) -> Iterator[str]:
    two = result.two_class
    for title, about, svg in charts_of(result):
        more = ""
        if title == "Scores by class" and two is not None:
            more = (
                f' <span class="blue">{text_of(two.negative)}</span>, '
                f'<span class="red">{text_of(two.positive)}</span>.'
            )
        yield (
            f"<section>\n<h2>{text_of(title)}</h2>\n<p>{text_of(about)}{more}</p>\n"
            f"{svg}\n</section>\n"
        )


def _section(table: Table) -> str:
    is_wide = len(table.heading) > 5 or table.name in TEXTS
    kind = ' class="wide"' if is_wide else ""
    heading = "".join(f'<th scope="col">{text_of(name)}</th>' for name in table.heading)
    rows = "\n".join(
        f"<tr>{''.join(f'<td>{text_of(cell)}</td>' for cell in row)}</tr>"
        for row in table.rows
    )
    side = ' class="left"' if table.name in TEXTS else ""
    return (
        f"<section{kind}>\n<h2>{text_of(table.title)}</h2>\n"
        f'<div class="scroll"><table{side}>\n<thead><tr>{heading}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody></table></div>\n</section>\n"
    )
