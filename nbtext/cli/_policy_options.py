"""
Options that say how decisions are made, as one value: `policy`.

They change the policy of the model for one command, and `nbtext policy` keeps them in
it. What a file of costs or an option says is checked here as far as that takes no
model.
"""

from codecs import BOM_UTF8
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

import click

from nbtext.classes import quoted
from nbtext.cli import _completion as completion
from nbtext.cli._numbers import fraction_of
from nbtext.cli._option_groups import option_group
from nbtext.cli._report import UNSURE as NO_LABEL
from nbtext.cli._values import share_of
from nbtext.document import readable
from nbtext.errors import MissingSourceError, SettingsError
from nbtext.policy import UNSURE, Cost, FalsePositives, PolicyOverrides

Read = TypeVar("Read")

ESTIMATE: Final = "estimate"
"""The prior that is found in what is classified."""

TRAINING: Final = "training"
"""The prior that changes nothing."""

SPAM: Final = "spam"
"""The class of false positives, unless another is named."""

COSTS_EXPECTED: Final = "name a file that has a cost a line, such as ham:spam=100"
LONGEST_FILE: Final = 1 << 22
"""Maximum size of a file of costs, in bytes."""


def policy_overrides(
    priors: tuple[str, ...] = (),
    costs: tuple[str, ...] = (),
    costs_file: str | None = None,
    threshold: float | None = None,
    false_positives: FalsePositives | None = None,
    without_policy: bool = False,
) -> PolicyOverrides:
    """
    Return what options say of a policy.

    Raises:
        UsageError: they are not of the form that they should have, or exclude one
            another.
    """
    all_costs = [_named("--cost", cost_of, text) for text in costs]
    if costs_file is not None:
        all_costs += costs_in(costs_file)
    if all_costs and threshold:
        message = (
            "--cost and --unsure exclude one another: with costs, unsure is a decision "
            "that has a price, such as --cost ham:unsure=5."
        )
        raise click.UsageError(message)
    if all_costs and false_positives is not None:
        message = (
            "--cost and --max-false-positives exclude one another: either the costs "
            "say how bad a false positive is, or how many there may be."
        )
        raise click.UsageError(message)
    prior, is_estimated = prior_of(priors)
    overrides = PolicyOverrides(
        prior=prior,
        is_estimated=is_estimated,
        threshold=threshold,
        costs=tuple(all_costs) if all_costs else None,
        max_false_positives=false_positives,
        is_anew=without_policy,
    )
    try:
        overrides.policy(None)  # which refuses what is no policy of any model
    except SettingsError as error:
        message = f"{error}."
        raise click.UsageError(message) from error
    return overrides


def _named(option: str, read: Callable[[str], Read], text: str) -> Read:
    """Return what a text of an option says; an error names the option."""
    try:
        return read(text)
    except click.BadParameter as error:
        raise _invalid(option, error.message) from error


def _invalid(option: str, message: str) -> click.UsageError:
    """Return the error of an option whose value is not what it should be."""
    return click.BadParameter(message, param_hint=f"'{option}'")


def prior_of(
    texts: tuple[str, ...],
) -> tuple[tuple[tuple[str, float], ...] | None, bool]:
    """Return what --prior says: shares by class, and whether to estimate them."""
    if not texts:
        return None, False
    if ESTIMATE in texts or TRAINING in texts:
        if len(texts) > 1:
            message = f"--prior {ESTIMATE} and {TRAINING} go with no other --prior."
            raise click.UsageError(message)
        return (), texts[0] == ESTIMATE
    pairs = []
    for text in texts:
        label, _, share = text.rpartition("=")
        if not label:
            message = (
                f"{quoted(text)} is not CLASS=P, such as spam=0.2, nor '{ESTIMATE}' or "
                f"'{TRAINING}'."
            )
            raise _invalid("--prior", message)
        pairs.append((readable(label), _named("--prior", percentage_of, share)))
    return tuple(sorted(pairs)), False


def cost_of(text: str) -> Cost:
    """Return the price of a decision, written TRUTH:DECISION=X."""
    names, _, price = text.rpartition("=")
    truth, decision = (part.strip() for part in names.partition(":")[::2])
    if not (truth and decision):
        expected = "TRUTH:DECISION=X, such as ham:spam=100 or ham:unsure=5"
        message = f"{quoted(text)} is not {expected}."
        raise click.BadParameter(message)
    return cost_from(truth, decision, price)


def cost_from(truth: str, decision: str, price: str) -> Cost:
    """Return the price of a decision, from its parts."""
    try:
        value = float(price)
    except ValueError as error:
        message = (
            f"the cost of {truth}:{decision} is {quoted(price)}, expected a number."
        )
        raise click.BadParameter(message) from error
    is_unsure = decision in (UNSURE, NO_LABEL)
    return Cost(readable(truth), None if is_unsure else readable(decision), value)


def costs_in(path: str) -> list[Cost]:
    """
    Return the prices in a file: TRUTH:DECISION=X a line, or three columns.

    Raises:
        MissingSourceError: there is no such file.
        UsageError: it cannot be read, or has something else in it.
    """
    try:
        with open(path, "rb") as stream:  # noqa: PTH123  pathlib costs 3 ms
            data = stream.read(LONGEST_FILE + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        message = f"--costs {path}: no such file; {COSTS_EXPECTED}"
        raise MissingSourceError(message) from error
    except OSError as error:
        message = f"{path}: {error.strerror or error}; {COSTS_EXPECTED}."
        raise _invalid("--costs", message) from error
    if len(data) > LONGEST_FILE:
        message = f"{path}: it has more than {LONGEST_FILE:,} bytes; {COSTS_EXPECTED}."
        raise _invalid("--costs", message)
    text = data.removeprefix(BOM_UTF8).decode("utf-8", "surrogateescape")
    found = [*_costs_in_lines(path, text.splitlines())]
    if not found:
        message = f"{path}: there is no cost in it; {COSTS_EXPECTED}."
        raise _invalid("--costs", message)
    return found


def _costs_in_lines(path: str, lines: Iterable[str]) -> Iterable[Cost]:
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        columns = line.split("\t")
        try:
            if len(columns) == 3:
                yield cost_from(*(column.strip() for column in columns))
            else:
                yield cost_of(line.strip())
        except click.BadParameter as error:
            message = f"{path}:{number}: {error.message}"
            raise _invalid("--costs", message) from error


def percentage_of(text: str) -> float:
    """Return a share, written as a number from 0 to 1 or with a percent sign."""
    value = fraction_of(text)
    if not 0 < value < 1:
        message = f"{quoted(text)} is not a share between 0 and 1, such as 0.2 or 20%."
        raise click.BadParameter(message)
    return value


def limit_of(text: str) -> FalsePositives:
    """Return a share of false positives and the class that they are taken for."""
    label, _, rate = text.rpartition("=")
    return FalsePositives(readable(label or SPAM), percentage_of(rate))


def _only_one(
    _context: click.Context, _option: click.Parameter, given: tuple[FalsePositives, ...]
) -> FalsePositives | None:
    """Refuse two limits, of which one would not be kept to."""
    if len(given) > 1:
        message = "one share is expected, of one class; two limits cannot both be met."
        raise click.BadParameter(message)
    return given[0] if given else None


false_positives_option = click.option(
    "--max-false-positives",
    "false_positives",
    type=limit_of,
    multiple=True,
    callback=_only_one,
    metavar="[CLASS=]RATE",
    shell_complete=completion.classes_before,
    help="CLASS (spam) needs a score that no more than this share of held-out "
    "documents of the other class reach, such as 0.1%.",
)

RULE = (
    click.option(
        "--cost",
        "costs",
        multiple=True,
        metavar="TRUTH:DECISION=X",
        shell_complete=completion.classes_before,
        help="What a decision costs, such as ham:spam=100 or ham:unsure=5; errors that "
        "are not named cost 1. The decision of least expected cost is taken. May be "
        "repeated.",
    ),
    click.option(
        "--costs",
        "costs_file",
        metavar="FILE",
        shell_complete=completion.files,
        help="Read such costs from FILE, one a line.",
    ),
    click.option(
        "--unsure",
        "threshold",
        type=share_of,
        metavar="P",
        help="No label unless a class reaches this probability.",
    ),
    false_positives_option,
)
"""Options of the rule that picks a decision; one of them replaces the model's rule."""

_ANEW = click.option(
    "--no-policy",
    "without_policy",
    is_flag=True,
    help="Do without the policy that is kept in the model.",
)


_PRIOR = click.option(
    "--prior",
    "priors",
    multiple=True,
    metavar="CLASS=P",
    shell_complete=completion.classes_before,
    help="How common CLASS is where documents are classified, such as spam=0.2; "
    f"classes that are not named share the rest. '{TRAINING}' stands for the shares of "
    f"training; '{ESTIMATE}', where many documents are classified, finds them in "
    "these. May be repeated.",
)


def message_overrides(**values: object) -> PolicyOverrides:
    """Return the same for commands that decide about one message at a time."""
    overrides = policy_overrides(**values)  # type: ignore[arg-type]  # click's options
    if overrides.is_estimated:
        message = (
            f"--prior {ESTIMATE} takes many documents: `nbtext classify` and `eval` "
            "have it. Give the shares, such as --prior spam=0.2."
        )
        raise click.UsageError(message)
    return overrides


policy_options = option_group("policy", policy_overrides, _PRIOR, *RULE, _ANEW)
"""How decisions are made about many documents: `policy`."""

message_policy_options = option_group("policy", message_overrides, _PRIOR, *RULE, _ANEW)
"""How decisions are made about one message at a time: `policy`."""

kept_policy_options = option_group("policy", message_overrides, _PRIOR, *RULE)
"""The policy that is to be kept in a model: `policy`."""
