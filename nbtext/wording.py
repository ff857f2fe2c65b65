"""
What a message says to do, as data, in the words of whoever reads it.

A message names parameters and functions of the library, and values. A program that
calls the library reads them as Python writes them. Whoever has other words for them,
such as options and commands, names a module of words while it runs, as one would name a
language: `speak("nbtext.cli._words")` is the command line's. It holds for all threads
of a process, and for the processes that it starts (`nbtext.processes`).
"""

TYPE_CHECKING = False  # typing takes longer to import than a message to classify
if TYPE_CHECKING:
    from typing import Protocol

    class Words(Protocol):
        """A module of words."""

        def named(self, name: str, /) -> str:
            """Return what a parameter is called."""

        def given(self, /, **values: object) -> str:
            """Return how values of parameters are given."""

        def call(self, name: str, /, **values: object) -> str:
            """Return how a function is called."""


_words = ""


def speak(words: str) -> str:
    """
    Have all messages of this process made with other words, and return those before.

    Args:
        words: the full name of a module that has functions like `named`, `given` and
            `call`, to be imported with the first message; empty for Python's words.
    """
    global _words
    before, _words = _words, words
    return before


def spoken() -> str:
    """Return what `speak` was told last, for another process to speak alike."""
    return _words


class Blank(str):
    """A value that the reader has to fill in, such as COLUMN."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return it as it is, without quotes."""
        return str(self)


def named(name: str, /) -> str:
    """Return what a parameter is called, such as `label_column`."""
    return _theirs().named(name) if _words else name


def given(**values: object) -> str:
    """
    Return how values of parameters are given.

    True or False switches something on or off, and a tuple has several values of one
    parameter: `text_columns=('a', 'b')`. Of an empty tuple nothing is given.
    """
    values = {name: value for name, value in values.items() if value != ()}
    if _words:
        return _theirs().given(**values)
    return ", ".join(f"{name}={value!r}" for name, value in values.items())


def call(name: str, /, **values: object) -> str:
    """
    Return how a function of the library is called, such as `nbtext.train`.

    Args:
        name: where it is below the package `nbtext`, such as `store.compact`; empty for
            the call that the message is about, of which values alone are known.
        values: parameters, and what they should be.
    """
    if _words:
        return _theirs().call(name, **values)
    if not name:
        return given(**values)
    return f"nbtext.{name}({given(**values)})" if values else f"nbtext.{name}"


def _theirs() -> "Words":
    found: Words = __import__(_words, None, None, ["call"])
    return found
