"""What the shell offers behind a command: model files, classes, commands, files."""

import os
from typing import TYPE_CHECKING

from click import Context, Parameter
from click.core import ParameterSource

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

from nbtext.cli._places import default_model
from nbtext.errors import NbtextError

ENDING = ".nbt"


def files(_context: Context, _param: Parameter, written: str) -> "list[CompletionItem]":
    """Let the shell offer files; behind `LABEL=` it knows how, too."""
    return [_offer(written, kind="file")]


def models(context: Context, param: Parameter, written: str) -> "list[CompletionItem]":
    """Offer model files, and the folders on the way to them; else all files."""
    from pathlib import Path  # which takes long to import, and few commands complete

    folder, _, name = written.rpartition("/")
    try:
        entries = sorted(Path(f"{folder}/" if "/" in written else ".").iterdir())
    except OSError:
        return []
    start = f"{folder}/" if "/" in written else ""
    found = [
        _offer(f"{start}{entry.name}{'/' * entry.is_dir()}")
        for entry in entries
        if entry.name.startswith(name)
        and (entry.suffix == ENDING or entry.is_dir())
        and (name.startswith(".") or not entry.name.startswith("."))
    ]
    return found or files(context, param, written)


def classes(
    context: Context, _param: Parameter, written: str
) -> "list[CompletionItem]":
    """Offer the classes of the model."""
    return [
        _offer(name, about=f"{documents:,} documents")
        for name, documents in _classes(context)
        if name.startswith(written)
    ]


def classes_before(
    context: Context, _param: Parameter, written: str
) -> "list[CompletionItem]":
    """Offer the classes of the model, each with the `=` that something follows."""
    if "=" in written:
        label, _, rest = written.partition("=")
        return [_offer(f"{label}={rest}", kind="file")]
    return [
        _offer(f"{name}=") for name, _ in _classes(context) if name.startswith(written)
    ]


def commands(
    context: Context, _param: Parameter, written: str
) -> "list[CompletionItem]":
    """Offer the commands."""
    above = context.parent or context
    names = getattr(above.command, "list_commands", lambda _: ())(above)
    return [_offer(name) for name in names if name.startswith(written)]


def _classes(context: Context) -> list[tuple[str, int]]:
    """Return the classes of the model with their documents, none if it has none."""
    from nbtext.scoring import load_model

    above = context.parent.params.get("model") if context.parent else None
    is_given = context.get_parameter_source("model") is ParameterSource.COMMANDLINE
    path = context.params["model"] if is_given else above or default_model()
    path = path[0] if isinstance(path, tuple) else path  # all have the same classes
    try:
        model = load_model(os.path.expanduser(path))  # noqa: PTH111  a string is wanted
    except NbtextError:
        return []
    return list(zip(model.classes, model.documents, strict=True))


def _offer(
    text: str, *, kind: str = "plain", about: str | None = None
) -> "CompletionItem":
    """Return what the shell may complete a word to."""
    from click.shell_completion import CompletionItem  # few commands complete

    return CompletionItem(text, kind, about)
