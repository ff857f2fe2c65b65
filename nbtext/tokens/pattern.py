"""
Tokens of the user's own: the matches of a regular expression (`pattern`).

A pattern and a text go in. Out comes a text of the matches with U+0000 between them,
which is how `nbtext.tokens.tokenizer` reads the alphabet "pattern". The pattern is
compiled by the `regex` package, which stops a search that takes too long; nothing else
in nbtext uses that package, and it is imported only for models that have a pattern.
"""

from functools import lru_cache
from itertools import islice
from re import finditer
from typing import Any, Final

from nbtext import wording
from nbtext.errors import SettingsError, SourceError
from nbtext.settings.reading import Pattern

SEPARATOR: Final = "\0"

SECONDS: Final = 2.0
"""Maximum processor time for the matches in a text, but for its length."""
SECONDS_A_CODE_POINT: Final = 2 / (1 << 20)
"""Maximum processor time for each code point more."""

EXPANDED: Final = 500_000
"""Maximum length of a pattern, multiplied by all its numbers of repeats: `regex` writes
repeats out when it compiles."""

TOGETHER: Final = 4096
"""How many matches are joined at a time."""


def new_pattern(expression: str) -> Pattern:
    """
    Return a pattern for a new model, with the version of `regex` that is installed.

    Raises:
        SettingsError: the pattern cannot be used.
    """
    pattern = Pattern(expression, installed_version())
    pattern.check()
    _compiled(expression)
    return pattern


def installed_version() -> str:
    """Return the version of the `regex` package."""
    import regex

    return str(regex.__version__)


def version_note(pattern: Pattern | None) -> str:
    """Return what to know where another `regex` is installed, or nothing."""
    if pattern is None or pattern.version == installed_version():
        return ""
    return (
        f"the model's pattern was used with version {pattern.version} of regex; "
        f"version {installed_version()} may find other tokens in rare characters"
    )


def matches(pattern: Pattern, text: str, name: str) -> str:
    """
    Return the matches of a pattern in a text, with U+0000 between them.

    A pattern may have one group, which is the token then. U+0000 in the text is read as
    a space. Empty matches are left out.

    Raises:
        SettingsError: the pattern cannot be used.
        SourceError: the matches take too long to find, or too much memory.
    """
    compiled = _compiled(pattern.expression)
    timeout = SECONDS + SECONDS_A_CODE_POINT * len(text)
    found = compiled.finditer(text.replace(SEPARATOR, " "), timeout=timeout)
    tokens = filter(None, (match[compiled.groups] for match in found))
    pieces = []
    try:
        # joined piece by piece: a string for each match takes far more memory
        while piece := SEPARATOR.join(islice(tokens, TOGETHER)):
            pieces.append(piece)
    except TimeoutError as error:
        message = (
            f"{name}: the pattern '{pattern.expression}' takes more than {timeout:.0f} "
            "seconds to match it; use one without repeats inside of repeats"
        )
        raise SourceError(message) from error
    except MemoryError as error:
        message = (
            f"{name}: the pattern '{pattern.expression}' takes too much memory to "
            "match it; use one without repeats inside of repeats"
        )
        raise SourceError(message) from error
    return SEPARATOR.join(pieces)


@lru_cache(maxsize=8)
def _compiled(expression: str) -> Any:
    """
    Return a compiled pattern, whose `groups` is the group that is the token.

    Raises:
        SettingsError: it cannot be compiled, is too large, or has several groups.
    """
    import regex

    size = len(expression)
    for repeat in finditer(r"\{\s*(\d+)", expression):
        size *= max(int(repeat[1][:9]), 1)
    if size > EXPANDED:
        raise _unusable(expression, "its numbers of repeats are too large")
    try:
        compiled = regex.compile(expression)
    except regex.error as error:
        raise _unusable(expression, str(error)) from error
    except (RecursionError, OverflowError, MemoryError, ValueError) as error:
        raise _unusable(expression, "it is nested too deeply or too large") from error
    if compiled.groups > 1:
        reason = f"it has {compiled.groups} groups; write (?:...) for all but the token"
        raise _unusable(expression, reason)
    return compiled


def _unusable(expression: str, reason: str) -> SettingsError:
    pattern = wording.named("pattern")
    message = f"the pattern '{expression}' ({pattern}) cannot be used: {reason}"
    return SettingsError(message)
