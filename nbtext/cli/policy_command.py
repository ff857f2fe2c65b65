"""`nbtext policy`: how a model decides, shown and changed."""

import sys

import click

from nbtext.cli._options import json_option, model_option, wait_option
from nbtext.cli._policy_options import kept_policy_options
from nbtext.cli._report import as_json as json_of
from nbtext.cli._terminal import is_watched, name_notes, show, to_stdout
from nbtext.policy import Policy, PolicyOverrides


@click.command()
@model_option
@kept_policy_options
@click.option("--clear", is_flag=True, help="Keep no policy any more.")
@wait_option
@json_option
def command(
    model: str, policy: PolicyOverrides, clear: bool, wait: float, as_json: bool
) -> None:
    """
    Show or change how a model decides.

    \b
    nbtext policy
    nbtext policy --prior spam=0.2
    nbtext policy --cost ham:spam=100 --cost ham:unsure=5
    nbtext policy --clear

    The policy is kept in the model: what is common where it decides, and which decision
    is taken. `classify`, `pass`, `filter`, `serve` and `eval` decide by it; the same
    options, given to them, take its place for once. A new rule (--cost, --unsure,
    --max-false-positives) replaces the old one, a new --prior the old prior.
    """  # noqa: D301  click wants a real backspace
    from nbtext.cli._policy import facts_of, lines_of
    from nbtext.scoring import load_model
    from nbtext.upkeep import set_policy

    if clear and policy != PolicyOverrides():
        message = "--clear goes with no other option of the policy."
        raise click.UsageError(message)
    if clear:
        set_policy(model, Policy(), wait=wait)
    elif policy != PolicyOverrides():
        set_policy(model, policy, wait=wait)
    opened = load_model(model)
    name_notes(opened)
    if as_json:
        to_stdout([json_of(facts_of(opened))])
        return
    lines = lines_of(opened)
    if is_watched(sys.stdout):
        from nbtext.cli._tables import policy_lines

        show(policy_lines(lines))
        return
    to_stdout("\t".join(line) for line in lines)
