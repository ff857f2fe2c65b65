"""Explanations as lines and JSON: what scripts read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from nbtext.cli._report import UNSURE, class_name, counted, escaped, well_formed
from nbtext.document import readable
from nbtext.scoring.figures import probability, rounded, signed, significant
from nbtext.scoring.in_words import in_words, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nbtext.evaluation.misjudged import Misjudged
    from nbtext.learning.flipping import Flip
    from nbtext.scoring import Decision
    from nbtext.scoring.comparing import Difference
    from nbtext.scoring.explanation import Explanation, Part, Reason
    from nbtext.scoring.top import TopTerm

LONGEST: Final = 60
"""Maximum characters of a term in a line; JSON has all of it."""

HEADINGS: Final = ("nats", "view", "field", "times")


def why_lines(explanation: Explanation, top: int) -> Iterator[str]:
    """Render an explanation as TSV: the decision, the terms, what they add up to."""
    yield decision_line(explanation)
    yield words_of(explanation)
    yield ""
    classes = (class_name(explanation.label), class_name(explanation.rival))
    yield "\t".join((*HEADINGS, *classes, "term"))
    for row in term_rows(explanation, top):
        yield "\t".join(row)
    yield ""
    for name, value in sums_of(explanation):
        yield f"{name}\t{value}"


def decision_line(explanation: Explanation) -> str:
    """Return what was decided, in the columns of `classify`."""
    label, posterior = explanation.decision, explanation.posterior
    decided = UNSURE if label is None else class_name(label)
    told = max(posterior.values()) if label is None else posterior[label]
    return f"{decided}\t{probability(rounded(told))}\t{escaped(explanation.name)}"


def words_of(explanation: Explanation) -> str:
    """Return the explanation in a sentence that a terminal can show."""
    return escaped(in_words(explanation))


def term_rows(explanation: Explanation, top: int) -> Iterator[tuple[str, ...]]:
    """Yield the strongest terms, and last what the others say together."""
    for reason in explanation.reasons[:top]:
        yield (
            nats(reason.contribution),
            reason.view,
            escaped(reason.field),
            str(reason.times),
            _share(explanation, reason, explanation.label),
            _share(explanation, reason, explanation.rival),
            term_text(reason),
        )
    rest = explanation.reasons[top:]
    if rest:
        contribution = sum(reason.contribution for reason in rest)
        yield (nats(contribution), *"-----", f"({len(rest):,} more)")


def _share(explanation: Explanation, reason: Reason, name: str) -> str:
    """Return how many documents of a class have a term, of how many."""
    documents = reason.counts.get(name, {}).get("documents", 0)
    return f"{documents}/{explanation.classes[name]}"


def term_text(reason: Reason) -> str:
    """Return a term as one column of a line."""
    return escaped(shortened(reason.text, LONGEST))


def nats(value: float) -> str:
    """Return a contribution, with its sign."""
    return signed(value, 3)


def sums_of(explanation: Explanation) -> Iterator[tuple[str, str]]:
    """Yield what the score is the sum of, and what becomes of it, line by line."""
    for part in explanation.parts:
        yield from _part_lines(part, explanation.views)
    yield "score", nats(explanation.score)
    slope, offset = explanation.slope, explanation.offset
    if explanation.calibration:
        formula = f"({slope:.3f} x score {nats(offset)})"
        yield "calibration", f"{nats(explanation.calibration)}\t{formula}"
    if len(explanation.classes) > 2:
        yield "other classes", nats(explanation.others)
    if explanation.prior:
        yield "prior", f"{nats(explanation.prior)}\t(of the policy)"
    if abs(explanation.cap) >= 0.0005:
        yield "cap", f"{nats(explanation.cap)}\t(so few documents cannot make it surer)"
    name = class_name(explanation.label)
    yield f"log-odds of {name}", nats(explanation.log_odds)
    yield f"probability of {name}", probability(explanation.probability)


def _part_lines(part: Part, views: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what the terms of a view say, and what the view says besides them."""
    if part.name not in views or not part.besides:
        if part.by_class:
            yield part.name, nats(part.contribution)
        return
    if part.contribution != part.besides:
        yield part.name, nats(part.contribution - part.besides)
    yield f"{part.name}, besides its terms", nats(part.besides)


def why_json(explanation: Explanation, top: int | None) -> dict[str, Any]:
    """Return an explanation as JSON has it; it adds up without any rounding."""
    rest = () if top is None else explanation.reasons[top:]
    return {
        "name": readable(explanation.name),
        "label": explanation.decision,
        "truth": explanation.expected,
        "for": explanation.label,
        "against": explanation.rival,
        "in_words": well_formed(in_words(explanation)),
        "probability": rounded(explanation.probability),
        "log_odds": significant(explanation.log_odds),
        "score": significant(explanation.score),
        "parts": [
            {
                "name": part.name,
                "contribution": significant(part.contribution),
                "besides_terms": significant(part.besides),
                "by_class": _numbers(part.by_class),
            }
            for part in explanation.parts
        ],
        "calibration": {
            "contribution": significant(explanation.calibration),
            "slope": significant(explanation.slope),
            "offset": significant(explanation.offset),
        },
        "other_classes": significant(explanation.others),
        "prior": significant(explanation.prior),
        "cap": significant(explanation.cap),
        "posterior": {
            name: rounded(value) for name, value in explanation.posterior.items()
        },
        "documents": explanation.classes,
        "tokens": {"known": explanation.known, "total": explanation.tokens},
        "truncated": explanation.truncated,
        "terms": [reason_json(reason) for reason in explanation.reasons[:top]],
        "rest": {
            "terms": len(rest),
            "contribution": significant(sum((one.contribution for one in rest), 0.0)),
        },
    }


def reason_json(reason: Reason) -> dict[str, Any]:
    """Return a term as JSON has it."""
    found = {
        "term": well_formed(reason.text),
        "view": reason.view,
        "field": well_formed(reason.field),
        "times": reason.times,
        "contribution": significant(reason.contribution),
        "correction": significant(reason.correction),
        "by_class": _numbers(reason.by_class),
        "counts": reason.counts,
        "key": f"{reason.key:012x}",
    }
    if reason.terms:
        found["joined"] = [reason_json(one) for one in reason.terms]
    return found


def _numbers(by_class: dict[str, float]) -> dict[str, float]:
    return {name: significant(value) for name, value in by_class.items()}


def against_lines(
    first: Explanation, second: Explanation, rows: Sequence[Difference], top: int
) -> Iterator[str]:
    """Render how two documents differ, as TSV."""
    yield decision_line(first)
    yield decision_line(second)
    yield ""
    yield "\t".join(("difference", "first", "second", "view", "field", "term"))
    for row in rows[:top]:
        reason = row.reason
        yield "\t".join(
            (
                *map(nats, (row.difference, row.first, row.second)),
                reason.view,
                escaped(reason.field),
                term_text(reason),
            )
        )
    rest = rows[top:]
    if rest:
        sums = (sum(one.first for one in rest), sum(one.second for one in rest))
        values = map(nats, (sums[0] - sums[1], *sums))
        yield "\t".join((*values, "-", "-", f"({len(rest):,} more)"))
    yield ""
    for name, one, other in sums_compared(first, second):
        yield "\t".join((nats(one - other), nats(one), nats(other), name))


def sums_compared(
    first: Explanation, second: Explanation
) -> Iterator[tuple[str, float, float]]:
    """Yield the sums of two documents side by side."""
    parts = {part.name: part.contribution for part in second.parts}
    for part in first.parts:
        yield part.name, part.contribution, parts.pop(part.name, 0.0)
    for name, value in parts.items():
        yield name, 0.0, value
    yield "score", first.score, second.score
    yield f"log-odds of {class_name(first.label)}", first.log_odds, second.log_odds


def against_json(
    first: Explanation, second: Explanation, rows: Sequence[Difference], top: int | None
) -> dict[str, Any]:
    """Return how two documents differ, as JSON has it."""
    return {
        "first": why_json(first, 0) | {"terms": None, "rest": None},
        "second": why_json(second, 0) | {"terms": None, "rest": None},
        "differences": [
            {
                "difference": significant(row.difference),
                "first": significant(row.first),
                "second": significant(row.second),
                "term": well_formed(row.reason.text),
                "view": row.reason.view,
                "field": well_formed(row.reason.field),
            }
            for row in rows[:top]
        ],
    }


def flip_lines(found: Flip) -> Iterator[str]:
    """Say what it would take to have a document in another class."""
    from nbtext.learning.flipping import MOST

    label = class_name(found.label)
    before = probability(found.before.probability_of(found.label))
    if found.result.outcome == "refused":
        yield f"it cannot be learnt as {label}: {found.result.reason}"
    elif found.result.outcome in ("known", "empty"):
        what = (
            "it is empty"
            if found.result.outcome == "empty"
            else (f"the model knows it as {label} already")
        )
        yield f"{what}; learning it as {label} changes nothing: {label} {before}"
    else:
        after = probability(found.after.probability_of(found.label))
        is_enough = found.copies == 0
        remark = "" if is_enough else f"; {_still(found.after)}"
        yield f"learnt once as {label}: {label} {after}, now {before}{remark}"
    if found.copies == 0:
        return
    reached = probability(found.decision.probability_of(found.label))
    if found.copies is None:
        text = f"not even {MOST} more documents like it would do"
    else:
        text = f"with {counted(found.copies, 'more document')} like it"
    yield f"{text}: {label} {reached}"


def _still(decision: Decision) -> str:
    label = decision.label
    return "still unsure" if label is None else f"still {class_name(label)}"


def flip_json(found: Flip) -> dict[str, Any]:
    """Return the same as JSON has it."""
    return {
        "class": found.label,
        "outcome": found.result.outcome,
        "reason": found.result.reason,
        "before": rounded(found.before.probability_of(found.label)),
        "after": rounded(found.after.probability_of(found.label)),
        "label_after": found.after.label,
        "copies": found.copies,
        "probability": rounded(found.decision.probability_of(found.label)),
    }


def error_lines(errors: Iterable[Misjudged]) -> Iterator[str]:
    """Render misjudged documents as TSV, the reasons in one column each."""
    yield "\t".join(("truth", "decision", "probability", "document", "reasons"))
    for error in errors:
        yield "\t".join((*error_row(error), *map(reason_text, error.reasons)))


def errors_json(errors: Iterable[Misjudged]) -> list[dict[str, Any]]:
    """Return misjudged documents as JSON has them; names are escaped as in TSV."""
    found = [error.as_dict() for error in errors]
    for error in found:
        error["name"] = readable(error["name"])
        for reason in error["reasons"]:
            reason |= {key: well_formed(reason[key]) for key in ("text", "field")}
    return found


def error_row(error: Misjudged) -> tuple[str, str, str, str]:
    """Return truth, decision, probability and name of a misjudged document."""
    return (
        UNSURE if error.truth is None else class_name(error.truth),
        UNSURE if error.label is None else class_name(error.label),
        probability(error.probability),
        escaped(error.name),
    )


def reason_text(reason: Reason) -> str:
    """
    Return a reason as one column: what it says, where it is, and the term.

    Without the blanks around it: the first and last runs of a text have some.
    """
    term = escaped(shortened(reason.text.strip() or reason.text, LONGEST))
    return f"{nats(reason.contribution)} {escaped(reason.field)} '{term}'"


TOP_HEADINGS: Final = ("class", "G2", "nats", "of it", "of others", "view", "field")


def top_row(term: TopTerm) -> tuple[str, ...]:
    """Return the columns of a term that speaks for a class, as its headings say."""
    return (
        class_name(term.label),
        f"{term.strength:.1f}",
        nats(term.log_odds),
        f"{term.documents}/{term.of}",
        f"{term.elsewhere}/{term.of_elsewhere}",
        term.view,
        "-" if term.field is None else escaped(term.field),
        f"{term.key:012x}"
        if term.text is None
        else escaped(shortened(term.text, LONGEST)),
    )


def top_json(term: TopTerm) -> dict[str, Any]:
    """Return the same as JSON has it, with the key."""
    return {
        "class": term.label,
        "term": None if term.text is None else well_formed(term.text),
        "view": term.view,
        "field": None if term.field is None else well_formed(term.field),
        "strength": significant(term.strength),
        "log_odds": significant(term.log_odds),
        "documents": term.documents,
        "of": term.of,
        "elsewhere": term.elsewhere,
        "of_elsewhere": term.of_elsewhere,
        "key": f"{term.key:012x}",
    }
