"""
Results as lines: what scripts read.

Values in, lines of text out; nothing here writes. A line of TSV is a line whatever a
name holds, and JSON has one object a line.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from nbtext.cli._streams import BYTES
from nbtext.document import readable
from nbtext.scoring.figures import decided, probability

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nbtext.evaluation import Evaluation
    from nbtext.evaluation.bootstrap import Interval
    from nbtext.evaluation.comparing import Comparison
    from nbtext.scoring import Decision
    from nbtext.scoring.estimating import EstimatedPrior

CLASS_HEADING: Final = "\t".join(
    (
        *("class", "precision", "recall", "F1", "support"),
        *("95 % of precision", "95 % of recall", "95 % of F1"),
    )
)

LEAST_P: Final = 0.05
"""Below it two models are said to differ."""

UNSURE: Final = "?"
"""What stands in a column where there is no label."""

_BYTES_IN_JSON: Final = {code: f"\\{written}" for code, written in BYTES.items()}

ESCAPES: Final = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"}


def escaped(name: str) -> str:
    r"""
    Return a name that is one field of one line.

    Tabs, newlines and backslashes are written \t, \n, \r and \\, other control
    characters and bytes that are not UTF-8 as \xHH, line separators as \uHHHH.
    """
    if name.isprintable() and "\\" not in name:
        return name
    return "".join(map(_escaped, name))


def _escaped(character: str) -> str:
    if character in ESCAPES:
        return ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code in BYTES:
        return BYTES[code]
    if code < 0x100:
        return f"\\x{code:02x}"
    return character.encode("ascii", "backslashreplace").decode()


def class_name(label: str) -> str:
    r"""Return a label likewise, in which bytes that are not UTF-8 are \xHH already."""
    return "\\x".join(map(escaped, label.split("\\x")))


def well_formed(text: str) -> str:
    """Return a text for JSON, whose readers may refuse lone surrogates."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def as_tsv(decisions: "Iterable[Decision]", *, named: bool = True) -> Iterator[str]:
    """Render label, probability, name and id, in columns that cut(1) can take."""
    for decision in decisions:
        label = UNSURE if decision.label is None else class_name(decision.label)
        columns = [label, probability(decision.probability)]
        if named:
            columns.append(escaped(decision.name))
        if decision.identity is not None:
            columns.append(class_name(decision.identity))  # one text like the other
        yield "\t".join(columns)


def as_json_lines(decisions: "Iterable[Decision]") -> Iterator[str]:
    """Render one JSON object a document; an unsure one has a null label."""
    for decision in decisions:
        yield json_line(
            {
                "name": readable(decision.name),
                **_carried(decision),
                **_decided(decision),
                "truncated": decision.truncated,
                **_heading(decision),
                **_parts(decision),
            }
        )


def _decided(decision: "Decision") -> dict[str, Any]:
    """Return label and probabilities, and of how many tokens they are."""
    ranks = dict(zip(decision.classes, decision.log_posterior, strict=True))
    return {
        **decided(decision.label, decision.probability, decision.posterior, ranks),
        "tokens": {"known": decision.known, "total": decision.tokens},
    }


def _parts(decision: "Decision") -> dict[str, Any]:
    """Return what each of several models finds, if they have decided together."""
    if not decision.parts:
        return {}
    parts = [
        {"model": readable(part.model), **_decided(part.decision)}
        for part in decision.parts
    ]
    return {"parts": parts}


def _carried(decision: "Decision") -> dict[str, str]:
    """Return what the document says of itself: its id and its true label."""
    carried = {"id": decision.identity, "truth": decision.expected}
    return {name: value for name, value in carried.items() if value is not None}


def _heading(decision: "Decision") -> dict[str, str]:
    """Return who a mail is from and what it is about, if that is known."""
    found = decision.heading
    return {} if found is None else {"from": found.sender, "subject": found.subject}


def as_json(value: Any) -> str:
    """Render one value as a JSON object over several lines."""
    from json import dumps

    lines = dumps(value, ensure_ascii=False, indent=2).split("\n")
    return "\n".join(map(_without_controls, lines))


def json_line(value: Any) -> str:
    """Render one value as a JSON object on one line."""
    from json import dumps  # here, because most callers want no JSON: it takes 1 ms

    return _without_controls(dumps(value, ensure_ascii=False))


def _without_controls(line: str) -> str:
    r"""
    Return a line of JSON with what is not printable as \uHHHH: the same values.

    Names may hold what a terminal obeys (C1 controls) or shows in another order (marks
    of bidirectional text). A byte that is not UTF-8 is written \xHH, as in TSV: readers
    may refuse lone surrogates.
    """
    if line.isprintable():
        return line
    from json import dumps

    return "".join(
        character if character.isprintable() else dumps(character)[1:-1]
        for character in line.translate(_BYTES_IN_JSON)
    )


def share(value: float | None) -> str:
    """Return a share to four places; `-` where it would be 0/0."""
    return "-" if value is None else f"{value:.4f}"


def evaluation_lines(result: "Evaluation") -> list[tuple[str, str, str]]:
    """Return the figures of an evaluation: name, value, and interval if it has one."""
    lines: list[tuple[str, str, tuple[str, ...]]] = [
        ("documents", str(result.documents), ()),
        ("unsure", str(result.unsure), ()),
        ("accuracy", share(result.accuracy), ("accuracy",)),
        ("macro F1", share(result.macro.f1), ("macro", "f1")),
        ("log-loss", share(result.log_loss), ("log_loss",)),
        ("Brier score", share(result.brier), ("brier",)),
        ("calibration error", share(result.calibration_error), ("calibration_error",)),
    ]
    lines += _of_policy(result)
    two = result.two_class
    if two is not None:
        lines += [
            ("positive class", class_name(two.positive), ()),
            (
                "false positive rate",
                f"{share(two.false_positive_rate)} "
                f"({two.false_positives} of {two.negatives})",
                ("two_class", "false_positive_rate"),
            ),
            (
                "false negative rate",
                f"{share(two.false_negative_rate)} "
                f"({two.false_negatives} of {two.positives})",
                ("two_class", "false_negative_rate"),
            ),
            ("ROC AUC", share(two.roc_auc), ("two_class", "roc_auc")),
            (
                "1-AUC %",
                share(two.one_minus_auc_percent),
                ("two_class", "one_minus_auc_percent"),
            ),
            ("lam %", share(two.lam_percent), ("two_class", "lam_percent")),
            (
                "missed at 0.1 % fpr",
                share(two.miss_rate_at_fpr),
                ("two_class", "miss_rate_at_fpr"),
            ),
        ]
    return [
        (name, value, interval_text(result.interval(*path)))
        for name, value, path in lines
    ]


def interval_text(interval: "Interval | None") -> str:
    """Return from where to where a figure goes; empty if that is not known."""
    return (
        "" if interval is None else f"{share(interval.low)} to {share(interval.high)}"
    )


def against_lines(comparison: "Comparison", other: str) -> list[tuple[str, str, str]]:
    """Return what a comparison with another model says, likewise."""
    return [
        ("against", escaped(other), ""),
        ("documents", str(comparison.documents), ""),
        ("accuracy", share(comparison.accuracy_first), ""),
        ("accuracy of the other", share(comparison.accuracy_second), ""),
        (
            "difference",
            f"{comparison.difference:+.4f}",
            interval_text(comparison.interval),
        ),
        ("only this one right", str(comparison.only_first), ""),
        ("only the other right", str(comparison.only_second), ""),
        ("McNemar p", f"{comparison.p_value:.4g}", ""),
    ]


def _of_policy(result: "Evaluation") -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the figures of a policy that leaves some unsure, has prices or a prior."""
    if result.unsure:
        yield "coverage", share(result.coverage), ("coverage",)
        error = share(result.error_decided)
        yield "error of decided", error, ("error_decided",)
    if result.mean_cost is not None:
        yield "mean cost", f"{result.mean_cost:.6g}", ("mean_cost",)
    if result.prior is not None:
        yield "prior", shares_in_words(result.prior), ()


def verdict(result: "Evaluation") -> str:
    """Say in a sentence how good the decisions were."""
    parts = [
        f"{result.correct:,} of {result.documents:,} right ({share(result.accuracy)})"
    ]
    two = result.two_class
    if two is not None:
        positive, negative = class_name(two.positive), class_name(two.negative)
        parts += [
            f"{two.false_positives:,} of {two.negatives:,} {negative} taken for "
            f"{positive}",
            f"{two.false_negatives:,} of {two.positives:,} {positive} for {negative}",
        ]
    if result.unsure:
        parts.append(f"{result.unsure:,} unsure")
    return ", ".join(parts)


def comparison_verdict(comparison: "Comparison", other: str) -> str:
    """Say in a sentence which of two models is better, if that can be told."""
    name, p = escaped(other), f"p = {comparison.p_value:.2g}"
    split = (
        f"right where {name} is wrong {counted(comparison.only_first, 'time')}, "
        f"the other way round {counted(comparison.only_second, 'time')}"
    )
    if comparison.p_value > LEAST_P:
        return f"{split}: neither is found to be better ({p})"
    better = "this model" if comparison.difference > 0 else name
    return f"{split}: {better} is better ({p})"


def evaluation_text(result: "Evaluation", against: str | None = None) -> Iterator[str]:
    """Render an evaluation as TSV: figures, classes, confusion, reliability."""
    yield from map(_tsv, evaluation_lines(result))
    yield ""
    yield CLASS_HEADING
    rows = (*result.per_class, result.macro, result.micro)
    averages = (("macro average", ("macro",)), ("micro average", ("micro",)))
    names = [(class_name(name), ("per_class", name)) for name in result.classes]
    for (name, path), row in zip([*names, *averages], rows, strict=True):
        figures = "\t".join(map(share, (row.precision, row.recall, row.f1)))
        found = [result.interval(*path, one) for one in ("precision", "recall", "f1")]
        of_figures = "\t".join(map(interval_text, found))
        yield f"{name}\t{figures}\t{row.support}\t{of_figures}"
    yield ""
    yield "\t".join(("truth", *map(class_name, result.classes), UNSURE))
    for name, counts in zip(result.classes, result.confusion, strict=True):
        yield "\t".join((class_name(name), *map(str, counts)))
    if result.unknown_label:
        yield "\t".join(("(no class)", *map(str, result.confusion_unknown_label)))
    yield ""
    yield "probability\tdocuments\tmean\tright"
    for bin_ in result.reliability:
        yield (
            f"{bin_.low:.4f}-{bin_.high:.4f}\t{bin_.documents}\t"
            f"{bin_.mean_probability:.4f}\t{bin_.share_right:.4f}"
        )
    if result.against is not None:
        yield ""
        yield from map(_tsv, against_lines(result.against, against or ""))


def _tsv(line: tuple[str, ...]) -> str:
    return "\t".join(filter(None, line))


def shares_in_words(shares: "Mapping[str, float]") -> str:
    """Return the share of each class."""
    return ", ".join(f"{class_name(name)} {part:.4g}" for name, part in shares.items())


def prior_in_words(prior: "EstimatedPrior") -> str:
    """Say which shares of the classes were estimated, and from what."""
    source = counted(prior.documents, "document")
    if prior.is_partial:
        source = f"the first {source}"
    return f"{shares_in_words(prior.shares)}, estimated from {source}"


def counted(number: int, noun: str) -> str:
    """Return a number and its noun: 1 document, 2,000 documents."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def size(n_bytes: int) -> str:
    """Return a size that is easy to read: 512 bytes, 31.0 MB."""
    if n_bytes < 1000:
        return counted(n_bytes, "byte")
    if n_bytes < 1_000_000:
        return f"{n_bytes / 1e3:.1f} kB"
    return f"{n_bytes / 1e6:,.1f} MB"
