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

# ruff: noqa: PTH113 -- importing pathlib costs 10 ms

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from nbtext.cli._terminal import Output
    from nbtext.cli.bogofilter._plain import Asked

FILES: "Final" = {"-m": "model", "--model": "model", "--keyed": "keyed"}
VALUES: "Final" = {
    "classify": {**FILES, "--is": "wanted", "--unsure": "threshold"},
    "learn": FILES,
    "forget": FILES,
    "pass": {**FILES, "--header": "field", "--unsure": "threshold"},
}
LONGEST_SHARE: "Final" = 16
"""A probability of more digits is left to click."""

WORDS: "Final" = "nbtext.cli._words"
"""The module of what parameters and functions of the library are called here."""

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
    file: str | None = None
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
        elif command in ("learn", "forget") and file is None and _is_message(argument):
            file = argument
        else:
            return None
    threshold = _share_of(values["threshold"]) if "threshold" in values else None
    if threshold is None and "threshold" in values:
        return None
    if "keyed" in values and command in ("classify", "pass"):
        from nbtext.keyring import name_secret

        name_secret(values["keyed"])
    if command == "classify":
        return lambda: _classify(values, flags, threshold)
    if command == "pass":
        return None if "as_json" in flags else lambda: _pass(values, flags, threshold)
    if command == "learn" and label is None:
        return None
    return lambda: _learn(values, flags, label, file)


def speak() -> None:
    """Have messages name options and commands; what is plain has no message to make."""
    from nbtext import wording

    wording.speak(WORDS)


def _share_of(text: str) -> float | None:
    """Return a probability that is written plainly; None if it is not."""
    digits = text.replace(".", "", 1)
    if not (digits.isdecimal() and digits.isascii() and len(digits) < LONGEST_SHARE):
        return None
    share = float(text)
    return share if share <= 1 else None


def _is_message(path: str) -> bool:
    """Return whether a path is that of a file that may be one message by its name."""
    name, dot, suffix = path.rpartition(".")
    is_suffix = dot and "/" not in suffix
    may_be = suffix == "eml" if is_suffix and name.rpartition("/")[2] else True
    return may_be and path[:1] != "-" and not {*"=:"} & {*path} and os.path.isfile(path)


def _bogofilter(arguments: list[str]) -> "Callable[[], int] | None":
    from nbtext.cli.bogofilter._plain import asked

    wanted = asked(arguments)
    if wanted is not None:
        return lambda: _judge(wanted, arguments)
    speak()
    from nbtext.cli.bogofilter._options import parse
    from nbtext.cli.bogofilter._run import run

    parsed = parse(arguments)
    return None if parsed.count("help") else lambda: run(parsed)


def _judge(wanted: "Asked", arguments: list[str]) -> int:
    from nbtext.cli.bogofilter._plain import judged

    found = judged(wanted)
    if isinstance(found, int):
        return found
    speak()
    from nbtext.cli.bogofilter._options import parse
    from nbtext.cli.bogofilter._run import run

    return run(parse(arguments), found)


def _model(values: dict[str, str]) -> str:
    from nbtext.cli._places import default_model, with_home

    return with_home(values.get("model", "")) or default_model()


def _classify(
    values: dict[str, str], flags: dict[str, bool], threshold: float | None
) -> int:
    model, wanted, begun = _model(values), values.get("wanted"), None
    if "as_json" not in flags and "keyed" not in values:
        from nbtext.cli._plain import classified

        found = classified(model, wanted, threshold, is_quiet="quiet" in flags)
        if isinstance(found, int):
            return found
        begun = found
    speak()
    from nbtext.cli._classify import ClassifyRequest, run
    from nbtext.policy import PolicyOverrides

    request = ClassifyRequest(
        model=model,
        wanted=wanted,
        policy=PolicyOverrides(threshold=threshold),
        begun=begun,
        output=_output(flags),
        keyed=values.get("keyed"),
    )
    return run(request)


def _pass(
    values: dict[str, str], flags: dict[str, bool], threshold: float | None
) -> int:
    model, field, message = _model(values), values.get("field"), None
    if field is None and "keyed" not in values:
        from nbtext.cli._plain import passed

        found = passed(model, threshold)
        if isinstance(found, int):
            return found
        message = found
    speak()
    from nbtext.cli._pass import PassRequest, run
    from nbtext.filtering.plain_header import FIELD
    from nbtext.policy import PolicyOverrides

    request = PassRequest(
        model=model,
        field=field or FIELD,
        policy=PolicyOverrides(threshold=threshold),
        message=message,
        output=_output(flags),
        keyed=values.get("keyed"),
    )
    return run(request)


def _learn(
    values: dict[str, str], flags: dict[str, bool], label: str | None, file: str | None
) -> int:
    model, keyed, begun = _model(values), values.get("keyed"), None
    if keyed is None and "as_json" not in flags:
        from nbtext.cli._plain import learnt

        found = learnt(model, label, file, is_quiet="quiet" in flags)
        if isinstance(found, int):
            return found
        begun = found
    speak()
    from nbtext.cli._learn import LearnCommand, run
    from nbtext.learning import LearnRequest

    request = LearnRequest(model, label, keyed=keyed)
    sources = () if file is None else (file,)
    return run(LearnCommand(request, sources, begun=begun, output=_output(flags)))


def _output(flags: dict[str, bool]) -> "Output":
    from nbtext.cli._terminal import Output

    return Output(**flags)
