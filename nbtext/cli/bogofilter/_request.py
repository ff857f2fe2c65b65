"""
What is asked of `nbtext bogofilter`, from its options.

Which of them go together is bogofilter's rule, and so is what a cut-off may leave out.
"""

from typing import Final, Literal, NamedTuple, TypeAlias

from nbtext.classes import quoted
from nbtext.cli._numbers import number_of
from nbtext.cli._places import with_home
from nbtext.cli.bogofilter._bogosity import Cutoffs
from nbtext.cli.bogofilter._options import Parsed
from nbtext.cli.bogofilter._plain import default_file, in_folder
from nbtext.cli.bogofilter._words import FIELD, HAM, SPAM
from nbtext.errors import SettingsError
from nbtext.filtering.header_field import check_field
from nbtext.keyring import name_secret

Form: TypeAlias = Literal["none", "line", "terse", "script", "figure"]
"""How a verdict is printed: not at all, as the field, as -t, -T or -TT print it."""

ACTIONS: Final = {
    "register-spam": "s",
    "register-ham": "n",
    "unregister-spam": "S",
    "unregister-nonspam": "N",
}

LABELS: Final[dict[str, tuple[str | None, str | None]]] = {
    "s": (SPAM, None),
    "n": (HAM, None),
    "S": (None, SPAM),
    "N": (None, HAM),
    "Sn": (HAM, None),
    "Ns": (SPAM, None),
}
"""What may be registered: the class to learn, and the class to forget it from."""


class Request(NamedTuple):
    """
    What is asked of `nbtext bogofilter`.

    Attributes:
        model: the model file.
        keyed: file of the secret of the model, None if there is no such option.
        action: what to register, a key of LABELS; empty for nothing.
        updates: whether to learn what was decided.
        spared: spamicities so near to 0 or 1 are not learnt then.
        cutoffs: where verdicts begin.
        form: how verdicts are printed.
        always_done: whether the exit status is 0 for any verdict.
        logs: whether to write to the system's log.
        is_verbose: whether to say what was registered.
        field: the name of the field.
        tags: verdict to what is put before the subject.
        is_mbox: whether the input is an mbox, or files are.
        names_follow: whether the standard input names files.
        objects: the files and folders, None if there is but one input.
        input: the file that is read in place of the standard input.
        output: the file to which a message is passed, None for standard output.
    """

    model: str
    keyed: str | None
    action: str
    updates: bool
    spared: float
    cutoffs: Cutoffs
    form: Form
    always_done: bool
    logs: bool
    is_verbose: bool
    field: str
    tags: dict[str, str]
    is_mbox: bool
    names_follow: bool
    objects: tuple[str, ...] | None
    input: str | None
    output: str | None


def request_of(parsed: Parsed) -> Request:
    """
    Return what a command line asks for.

    Raises:
        SettingsError: it makes no sense.
    """
    if parsed.complaints:
        raise SettingsError("; ".join(parsed.complaints))
    objects = tuple(parsed.operands) if parsed.count("classify-files") else None
    names_follow = bool(parsed.count("classify-stdin")) and objects is None
    _check(parsed, is_bulk=names_follow or objects is not None)
    action = _action(parsed)
    is_verbose = parsed.count("verbosity") + parsed.count("fixed-terse-format") > 0
    tags = {
        "Spam": parsed.last("spam-subject-tag") or "",
        "Unsure": parsed.last("unsure-subject-tag") or "",
    }
    field = parsed.last("spam-header-name") or FIELD
    for tag in tags.values():
        check_field(field, tag)
    return Request(
        model=_model(parsed),
        keyed=_keyed(parsed),
        action=action,
        updates=bool(parsed.count("update-as-scored")),
        spared=_share(parsed.last("thresh-update") or "0", "--thresh-update"),
        cutoffs=_cutoffs(parsed),
        form=_form(parsed),
        always_done=bool(parsed.count("ham-true")),
        logs=bool(parsed.count("use-syslog")),
        is_verbose=is_verbose,
        field=field,
        tags=tags,
        is_mbox=bool(parsed.count("classify-mbox")),
        names_follow=names_follow,
        objects=objects,
        input=parsed.last("input-file"),
        output=parsed.last("output-file"),
    )


def _check(parsed: Parsed, *, is_bulk: bool) -> None:
    """
    Refuse what does not go together.

    Raises:
        SettingsError: something does not.
    """
    if parsed.operands and not parsed.count("classify-files"):
        found = quoted(parsed.operands[0])
        message = f"{found} is no option; name files behind -B, or one with -I"
        raise SettingsError(message)
    if parsed.count("passthrough") and is_bulk:
        message = (
            "-p passes on what it reads; leave out -b or -B, or name a file with -I"
        )
        raise SettingsError(message)
    if parsed.count("update-as-scored") and any(map(parsed.count, ACTIONS)):
        raise SettingsError("-u cannot be had together with -s, -n, -S or -N")
    if parsed.count("fixed-terse-format") > 2:
        raise SettingsError("-T may be given twice, and not more often")


def _action(parsed: Parsed) -> str:
    """
    Return what to register.

    Raises:
        SettingsError: one contradicts another.
    """
    letters = "".join(ACTIONS[name] for name in ACTIONS if parsed.count(name))
    action = {"nS": "Sn", "sN": "Ns"}.get(letters, letters)
    if action and action not in LABELS:
        named = " ".join(f"-{letter}" for letter in letters)
        raise SettingsError(f"{named} contradict one another")
    return action


def _form(parsed: Parsed) -> Form:
    forms: tuple[Form, ...] = ("none", "script", "figure")
    script = forms[parsed.count("fixed-terse-format")]
    if script != "none":
        return script
    if parsed.count("terse"):
        return "terse"
    return "line" if parsed.count("verbosity") else "none"


def _cutoffs(parsed: Parsed) -> Cutoffs:
    """
    Return the cut-offs, of which each that is not given is as before.

    Raises:
        SettingsError: they are no probabilities.
    """
    cutoffs = Cutoffs()
    for both in parsed.given.get("cutoffs", ()):
        values = both.split(",")
        if len(values) > 2:
            raise SettingsError(f"-o {both}: two numbers were expected, SPAM,HAM")
        given = {
            name: _share(value, "-o")
            for name, value in zip(("spam", "ham"), values, strict=False)
            if value
        }
        cutoffs = cutoffs._replace(**given)
    for name, option in (("spam", "spam-cutoff"), ("ham", "ham-cutoff")):
        value = parsed.last(option)
        if value is not None:
            cutoffs = cutoffs._replace(**{name: _share(value, f"--{option}")})
    return cutoffs


def _share(text: str, option: str) -> float:
    value = number_of(text)
    if not 0 <= value <= 1:
        message = f"{option} {text}: a number from 0 to 1 was expected"
        raise SettingsError(message)
    return value


def _keyed(parsed: Parsed) -> str | None:
    """Return the file of the secret of the model, if it is named."""
    path = parsed.last("keyed")
    if path is not None:
        name_secret(path)
    return path


def _model(parsed: Parsed) -> str:
    """
    Return where the model is.

    Raises:
        SettingsError: an empty name is given.
    """
    named = parsed.last("model")
    folder = parsed.last("bogofilter-dir")
    if "" in (named, folder):
        raise SettingsError("the name of the model is empty; fill it in")
    if named is not None:
        return with_home(named)
    return default_file() if folder is None else with_home(in_folder(folder))
