"""`nbtext info`: say what a model knows."""

import sys
from collections.abc import Iterator
from typing import Any, Final

import click

from nbtext.classes import with_value
from nbtext.cli._options import json_option, named_model
from nbtext.cli._policy import sentence_of
from nbtext.cli._report import as_json as json_of
from nbtext.cli._report import class_name, counted, escaped, size
from nbtext.cli._terminal import is_watched, name_notes, show, to_stderr, to_stdout
from nbtext.counts.correction import CorrectionInfo
from nbtext.counts.fitting import FEWEST
from nbtext.errors import SettingsError
from nbtext.learning import last_run
from nbtext.scoring import Model, fitted, load_model
from nbtext.scoring.held_out import held_out
from nbtext.scoring.threshold import reach_of
from nbtext.settings.scoring import OCCURRENCES, UNK
from nbtext.store import ModelFile, check_sound
from nbtext.store.header import joined_history
from nbtext.store.ledger import n_records
from nbtext.tokens.engine import engine

LEAST_LEFT: Final = 0.95
"""With fewer documents left than this share of those that it was learnt from, a
correction is to be made anew."""


@click.command()
@named_model
@json_option
def command(model: str, as_json: bool) -> None:
    """
    Say what a model knows, from its classes to its settings.

    \b
    nbtext info
    nbtext info mail.nbt
    nbtext info --json | jq .classes.spam.documents
    """  # noqa: D301  click wants a real backspace
    opened = load_model(model)
    name_notes(opened)
    check_sound(opened.file)
    facts = facts_of(opened)
    if facts["doubles"]:
        from nbtext.upkeep import about_doubles

        to_stderr(f"WARNING: {escaped(opened.path)}: {about_doubles(facts['doubles'])}")
    if as_json:
        to_stdout([json_of(facts)])
        return
    lines = lines_of(opened, facts)
    if is_watched(sys.stdout):
        from nbtext.cli._tables import info_tables

        show(info_tables({"lines": lines, "classes": facts["classes"]}))
        return
    text = [f"{name}\t{value}" for name, value in lines]
    text += [
        f"class\t{class_name(name)}\t{counts['documents']}\t{counts['tokens']}"
        f"\t{counts['learnt'] or '-'}"
        for name, counts in facts["classes"].items()
    ]
    to_stdout(text)


def facts_of(model: Model) -> dict[str, Any]:
    """Return what a model knows, for a program."""
    tables = model.file.tables
    newest = tables[-1].header
    history = joined_history(table.header for table in tables)
    classes = {
        name: {
            "documents": model.documents[place],
            "tokens": sum(view[place][0] for view in model.totals),
            "learnt": history.learnt.get(name),
        }
        for place, name in enumerate(model.classes)
    }
    calibration, kept = fitted(model), held_out(model).documents
    by_class = {name: max(kept.get(name, 0), 0) for name in model.classes}
    # what a correction was learnt from is its own, and told with it
    is_corrected = model.correction is not None
    n_held_out = sum(by_class.values()) if is_corrected else calibration.documents
    is_capped = model.scoring.calibrated
    return {
        "path": model.path,
        "bytes": model.file.size,
        "tables": len(tables),
        "doubles": _n_doubles(model.file),
        "terms": sum(map(model.n_terms, range(len(model.settings.views)))),
        "texts": _n_texts(model.file),
        "classes": classes,
        "settings": model.settings.as_dict(),
        "scoring": model.scoring.as_dict(),
        "calibration": {
            "documents": n_held_out,
            "by_class": by_class,
            "slope": calibration.slope,
            "offset": calibration.offset,
            "caps": {
                name: reach_of(model, name, 1).most if is_capped else 1.0
                for name in model.classes
            },
        },
        "correction": correction_facts(model.correction and model.correction.info),
        "policy": None if model.policy is None else model.policy.as_dict(),
        "trained": history.trained or None,
        "taught": history.taught,
        "tail": {
            "tables": len(tables) - 1,
            "bytes": sum(table.length for table in tables[1:]),
        },
        "undo": {
            "documents": _last_taught(model),
            "records": n_records(model.file, newest.history.keep),
        },
        "written": newest.written,
        "writer": newest.writer,
        "tokenizer": engine().description,
    }


def _n_doubles(file: ModelFile) -> int:
    """Return how many documents models that were joined have both counted."""
    if file.is_in_order:
        return 0  # it is one model
    from nbtext.upkeep import count_doubles  # which loads numpy

    return count_doubles(file)


def _n_texts(file: ModelFile) -> int | None:
    """
    Return of how many terms a model has texts, None if it keeps none.

    Raises:
        NotAModelError: the file is damaged.
    """
    numbers = [table.header.texts for table in file.tables]
    known = [number for number in numbers if number is not None]
    if len(known) > 1:  # files were joined, which may have texts of the same terms
        from nbtext.store.texts import read_texts  # which loads numpy

        return sum(map(len, read_texts(file) or ()))
    return sum(known[0]) if known else None


def correction_facts(info: CorrectionInfo | None) -> dict[str, Any] | None:
    """Return what a correction says of itself, for a program; None without one."""
    if info is None:
        return None
    return {
        **info.made_with,
        "documents": info.documents,
        "slope": info.slope,
        "steepness": info.steepness,
    }


def correction_in_words(facts: dict[str, Any]) -> str:
    """Say what a correction rests on, and what it was worth."""
    correction, taught = facts["correction"], facts["taught"]
    says = f"learnt from {counted(correction['documents'], 'document')}"
    # further numbers are for people, and a file may have others
    if correction.get("share", 1.0) != 1.0:
        says += f", beside {correction['share']:g} of what the counts say"
    if correction.get("doubt"):
        says += ", labels doubted where others are likelier"
    if correction.keys() >= {"held_out", "loss_without", "loss_with"}:
        says += (
            f"; log-loss of {correction['held_out']:,} held out "
            f"{correction['loss_without']:.3f} without it, "
            f"{correction['loss_with']:.3f} with it"
        )
    if taught:
        changed = counted(taught, "document")
        says += f"; {changed} learnt or forgotten since"
        left = sum(counts["documents"] for counts in facts["classes"].values())
        is_outgrown = taught >= correction["documents"]
        if is_outgrown or left < LEAST_LEFT * correction["documents"]:
            says += ": train again"
    return says


def _last_taught(model: Model) -> int:
    """Return how many documents `nbtext undo` would take back."""
    try:
        tables = last_run(model.file)
    except SettingsError:
        return 0
    return sum(table.header.history.taught for table in tables)


def _texts(number: int | None) -> str:
    """Say of how many terms there are texts."""
    return "of no term" if number is None else f"of {counted(number, 'term')}"


def _undo(facts: dict[str, int]) -> str:
    """Say what can be taken back."""
    documents = counted(facts["documents"], "document")
    records = counted(facts["records"], "undo record")  # as `load` calls them
    return f"{documents} of the last command; {records}"


def lines_of(model: Model, facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the same for a person, but for the classes."""
    scoring, tail = model.scoring, facts["tail"]
    pattern = []
    if model.settings.pattern is not None:
        expression, version = model.settings.pattern
        pattern = [("pattern", f"{escaped(expression)} (regex {version})")]
    secret = model.settings.secret
    keyed = [] if secret is None else [("keyed", f"by the secret {secret}")]
    return [
        ("model", escaped(model.path)),
        ("size", f"{size(facts['bytes'])} in {counted(facts['tables'], 'table')}"),
        ("trained", facts["trained"] or "never"),
        ("taught", f"{counted(facts['taught'], 'document')} since"),
        ("to compact", f"{counted(tail['tables'], 'table')}, {size(tail['bytes'])}"),
        ("to undo", _undo(facts["undo"])),
        ("written", f"{facts['written']} by {facts['writer']}"),
        ("documents", f"{sum(model.documents):,} of {model.settings.format}"),
        *(
            [("columns", ", ".join(map(escaped, model.settings.column_names)))]
            if model.settings.fields
            else []
        ),
        ("terms", f"{facts['terms']:,}"),
        ("texts", _texts(facts["texts"])),
        *keyed,
        ("reads", ", ".join(view.name for view in model.settings.views)),
        *pattern,
        (
            "score",
            f"{scoring.score}, smoothing {scoring.smoothing:g}, counting "
            + {OCCURRENCES: "every occurrence"}.get(scoring.counting, scoring.counting)
            + {UNK: ", unknown words as one term"}.get(scoring.unknown, ""),
        ),
        *probabilities(model, facts["calibration"]),
        *([("correction", correction_in_words(facts))] if facts["correction"] else []),
        ("policy", sentence_of(model)),
        ("tokenizer", facts["tokenizer"]),
    ]


def probabilities(model: Model, facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield in words what the probabilities of a model rest on."""
    if not model.scoring.calibrated:
        yield "calibration", "none: the textbook's own probabilities, not capped"
        return
    by_class = facts["by_class"]
    listed = _by_class({name: f"{n:,}" for name, n in by_class.items()})
    of_fewest = min(by_class.values(), default=0)
    if len(by_class) > 2:  # all of them teach the one number that is fitted
        listed = f"{of_fewest:,} to {max(by_class.values()):,} of each class"
        of_fewest = facts["documents"]
    if not facts["documents"]:
        yield "calibration", "none yet: what is usual of such scores"
    else:
        held_out = counted(facts["documents"], "held-out document")
        is_few = of_fewest < FEWEST
        few = "; so few that what is usual counts, too" if is_few else ""
        yield "calibration", f"{held_out}: {listed}{few}"
    if len(model.classes) > 1:
        caps = _by_class({name: f"{cap:.4g}" for name, cap in facts["caps"].items()})
        yield "at most", f"{caps}, by the documents of other classes"


def _by_class(values: dict[str, str]) -> str:
    """Return what each class has, or what all of them have."""
    if len(values) > 2 and len({*values.values()}) == 1:
        return next(iter(values.values()))
    return ", ".join(
        with_value(class_name(name), value) for name, value in values.items()
    )
