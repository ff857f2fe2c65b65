"""Help that fits the terminal, however narrow it is."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import click

MARGIN: Final = 2
"""Columns that click leaves free."""

WIDE: Final = 68
"""Fewer columns than these have no room for options beside what they do."""

FEW: Final = 10
"""Maximum columns of what stands beside a description where it is narrow."""

LEAST: Final = 20
"""Help is made no narrower: a terminal that is folds it."""


class NarrowHelp(click.HelpFormatter):
    """The form of help, for which click takes no terminal to be under 50 columns."""

    def __init__(
        self,
        indent_increment: int = 2,
        width: int | None = None,
        max_width: int | None = None,
    ) -> None:
        """Begin a help, as wide as the terminal if no width is given."""
        from shutil import get_terminal_size  # whose imports only help needs

        room = max(get_terminal_size().columns - MARGIN, LEAST)
        if width is None and room < WIDE:
            width = room
        super().__init__(indent_increment, width, max_width)

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write options, or commands, and what they do."""
        most = col_max if self.width >= WIDE else FEW
        super().write_dl(rows, min(col_max, most), col_spacing)


class LateHelp(click.Option):
    """An option whose help takes many imports, so that it is told when it is shown."""

    def __init__(
        self, *declarations: Any, tell: Callable[[], str], **attributes: Any
    ) -> None:
        """Take what `click.Option` takes, and what tells its help."""
        self._tell = tell
        super().__init__(*declarations, **attributes)

    @property
    def help(self) -> str | None:
        """What the option does."""
        return self._tell()

    @help.setter  # noqa: A003  the name is that of click
    def help(self, told: str | None) -> None:
        """Take what `click.Option` has been told: nothing."""


class NarrowContext(click.Context):
    """The context of a command, whose help fits the terminal."""

    formatter_class = NarrowHelp
