"""Groups of options that reach a command as one value."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Command], Command]


def option_group(
    name: str, gather: Callable[..., Any], *options: Decorator[Any]
) -> Decorator[Any]:
    """
    Return a decorator that adds options to a command and hands it one value of them.

    Args:
        name: the command's parameter.
        gather: makes the value; its keywords are the names of the options.
        options: what `click.option` returns, in the order of the help.
    """
    probe = click.command()(_with(options, lambda **_: None))
    names = [param.name for param in probe.params]

    def add(command: Callable[..., Any]) -> Any:
        @wraps(command)
        def gathered(*arguments: Any, **values: Any) -> Any:
            own = {key: values.pop(key) for key in names}
            return command(*arguments, **values, **{name: gather(**own)})

        return _with(options, gathered)

    return add


def _with(
    options: tuple[Decorator[Any], ...], command: Callable[..., Any]
) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command
