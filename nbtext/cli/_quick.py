"""
The quick way in: one message classified, learnt, forgotten or passed, without click.

Importing click takes longer than all of Python's start and the classification together,
and a mail filter pays that for every message. So the few forms of the command that
filters use are recognised here; any other line takes the long way,
where click reads it and says what is wrong. The options of bogofilter are not click's,
and all of them are quick.

One plain mail and a plain model are decided about by the compiled extension alone
(`nbtext.scoring.stored`), and nothing else is imported, not even `typing`, which takes
as long as all that is done here. Whatever is not plain is left to the modules that the
other commands use.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from nbtext.cli._terminal import Output
    from nbtext.plain_mail import Begun

FILES: "Final" = {"-m": "model", "--model": "model", "--keyed": "keyed"}
VALUES: "Final" = {
    "classify": {**FILES, "--is": "wanted"},
    "learn": FILES,
    "forget": FILES,
    "pass": {**FILES, "--header": "field"},
}
UNSURE: "Final" = "?"
"""What stands for the label where there is none."""

FLAGS: "Final" = {"--json": "as_json", "-q": "quiet", "--quiet": "quiet"}


def quick_run(arguments: list[str]) -> "Callable[[], int] | None":
    """Return what runs the command, None if it takes click to say what is asked."""
    command = arguments[0] if arguments else ""
    if command == "bogofilter":
        return _bogofilter(arguments[1:])
    if command not in VALUES:
        return None
    values: dict[str, str] = {}
    flags: dict[str, bool] = {}
    label: str | None = None
    rest = iter(arguments[1:])
    for argument in rest:
        if argument in FLAGS:
            flags[FLAGS[argument]] = True
        elif argument in VALUES[command]:
            value = next(rest, "")
            name = VALUES[command][argument]
            if not value or value.startswith("-") or name in values:
                return None
            values[name] = value
        elif command == "learn" and label is None and argument[:1] not in ("-", ""):
            label = argument
        else:
            return None
    if "keyed" in values and command in ("classify", "pass"):
        from nbtext.keyring import name_secret

        name_secret(values["keyed"])
    if command == "classify":
        return _classify(values, flags)
    if command == "pass":
        return None if "as_json" in flags else _pass(values, flags)
    if command == "learn" and label is None:
        return None
    return _learn(values, flags, label)


def _bogofilter(arguments: list[str]) -> "Callable[[], int] | None":
    from nbtext.cli.bogofilter._options import parse
    from nbtext.cli.bogofilter._run import run

    parsed = parse(arguments)
    return None if parsed.count("help") else lambda: run(parsed)


def _classify(values: dict[str, str], flags: dict[str, bool]) -> "Callable[[], int]":
    from nbtext.cli._places import default_model

    model = values.get("model") or default_model()
    wanted = values.get("wanted")

    def run_quickly() -> int:
        begun = None
        if "as_json" not in flags:
            found = _of_plain_mail(model, wanted, is_quiet="quiet" in flags)
            if isinstance(found, int):
                return found
            begun = found
        from nbtext.cli._classify import ClassifyRequest, run

        request = ClassifyRequest(
            model=model, wanted=wanted, begun=begun, output=_output(flags)
        )
        return run(request)

    return run_quickly


def _of_plain_mail(
    model: str, wanted: str | None, *, is_quiet: bool
) -> "int | Begun | None":
    """
    Decide about standard input and return the exit status, if that is plain.

    Returns:
        None if the model is not plain, and nothing was read; what is to be read on from
        if the message is not.

    """
    from nbtext.scoring.stored import open_stored

    stored = open_stored(model)
    if stored is None or (wanted is not None and wanted not in stored.classes):
        return None
    try:
        descriptor = sys.stdin.fileno()
    except (OSError, ValueError, AttributeError):  # nobody's descriptor
        return None
    if not all(map(_is_clear, stored.classes)):
        return None
    from nbtext.plain_mail import Begun, read_mail

    mail = read_mail(descriptor, is_one=wanted is not None)
    if isinstance(mail, Begun):
        return mail
    found = stored.classify(mail)
    if found is None:
        return Begun(descriptor, mail)
    from nbtext.cli import _status as status
    from nbtext.cli._streams import to_stdout
    from nbtext.scoring.figures import probability

    if wanted is None or not is_quiet:
        to_stdout([f"{found.label or UNSURE}\t{probability(found.probability)}"])
    if wanted is None:
        return status.DONE
    if found.label is None:
        return status.UNSURE
    return status.IT_IS if found.label == wanted else status.IT_IS_NOT


def _is_clear(label: str) -> bool:
    """Return whether a label is printed as it is."""
    return label.isprintable() and "\\" not in label


def _pass(values: dict[str, str], flags: dict[str, bool]) -> "Callable[[], int]":
    from nbtext.cli._pass import PassRequest, run
    from nbtext.cli._places import default_model
    from nbtext.filtering.header_field import FIELD

    request = PassRequest(
        model=values.get("model") or default_model(),
        field=values.get("field") or FIELD,
        output=_output(flags),
    )
    return lambda: run(request)


def _learn(
    values: dict[str, str], flags: dict[str, bool], label: str | None
) -> "Callable[[], int]":
    from nbtext.cli._learn import LearnCommand, run
    from nbtext.cli._places import default_model
    from nbtext.learning import LearnRequest

    command = LearnCommand(
        request=LearnRequest(
            values.get("model") or default_model(), label, keyed=values.get("keyed")
        ),
        output=_output(flags),
    )
    return lambda: run(command)


def _output(flags: dict[str, bool]) -> "Output":
    from nbtext.cli._terminal import Output

    return Output(**flags)
