"""
The quick way in: `nbtext classify` of one message, without click.

Importing click takes longer than all of Python's start and the classification together,
and a mail filter pays that for every message. So the few forms of the command that
filters use are recognised here; whatever is not exactly one of them takes the long way,
where click reads it and says what is wrong.
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from nbtext.cli._classify import Request

VALUES: Final = {"-m": "model", "--model": "model", "--is": "wanted"}
FLAGS: Final = {"--json": "as_json", "-q": "quiet", "--quiet": "quiet"}


def request_of(arguments: list[str]) -> "Request | None":
    """Return what is asked, None if that takes click to say."""
    if arguments[:1] != ["classify"]:
        return None
    values: dict[str, str] = {}
    flags: dict[str, bool] = {}
    rest = iter(arguments[1:])
    for argument in rest:
        if argument in FLAGS:
            flags[FLAGS[argument]] = True
        elif argument in VALUES:
            value = next(rest, "")
            if not value or value.startswith("-"):
                return None
            values[VALUES[argument]] = value
        else:
            return None
    from nbtext.cli._classify import Request
    from nbtext.cli._places import default_model

    return Request(
        model=values.get("model") or default_model(),
        wanted=values.get("wanted"),
        as_json=flags.get("as_json", False),
        quiet=flags.get("quiet", False),
    )
