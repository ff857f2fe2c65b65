"""`nbtext weights`: write a model's linear form."""

from collections.abc import Iterator

import click

from nbtext.cli._keyed import check_keyed
from nbtext.cli._options import keyed_option, named_model
from nbtext.cli._report import json_line, well_formed
from nbtext.cli._terminal import name_notes, to_stdout
from nbtext.scoring import load_model
from nbtext.scoring.linear import LinearForm


@click.command()
@named_model
@keyed_option
def command(model: str, keyed: str | None) -> None:
    """
    Write the weights of terms as JSON lines, and the biases.

    \b
    nbtext weights textbook.nbt > weights.jsonl
    nbtext weights | jq -c 'select(.term) | [.term, .weights.spam - .weights.ham]'

    The first line has the bias of each class, what a term that occurs n times counts,
    and the slope. Each other line has a term: its text and field, null if the model has
    none (as `top` says), its view, its key (docs/model-format.md) and its weight in
    each class. A class's score is its bias and the sum of counts
    times weights over the known terms; the posterior is exp(slope * score) over its
    sum. Scores that are not linear in counts have no weights.
    """  # noqa: D301  click wants a real backspace
    opened = load_model(model)
    check_keyed(keyed, opened)
    name_notes(opened)
    form = LinearForm(opened)
    head = {
        "classes": [*form.classes],
        "count": form.counting,
        "slope": form.slope,
        "biases": dict(zip(form.classes, form.biases.tolist(), strict=True)),
    }
    to_stdout([json_line(head)])
    to_stdout(_lines(form))


def _lines(form: LinearForm) -> Iterator[str]:
    for part in form.weights():
        rows = zip(part.keys.tolist(), part.weights.tolist(), strict=True)
        for key, weights in rows:
            name = part.names.get(key)
            yield json_line(
                {
                    "term": None if name is None else well_formed(name.text),
                    "field": name and name.field and well_formed(name.field),
                    "view": part.view,
                    "key": f"{key:012x}",
                    "weights": dict(zip(form.classes, weights, strict=True)),
                }
            )
