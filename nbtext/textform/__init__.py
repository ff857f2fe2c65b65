"""
A model as text, and text as a model.

In: the contents of a model, or JSON lines. Out: the other of the two. Whatever a text
says is verified before a model is made of it, and loading what was dumped gives the
same model. docs/text-form.md is the specification. What is exported is loaded when it
is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from nbtext.textform.dumping import text_lines
    from nbtext.textform.loading import Loaded, load_text

__all__ = [
    "Loaded",
    "load_text",
    "text_lines",
]

_HOMES: Final = {
    "Loaded": "loading",
    "load_text": "loading",
    "text_lines": "dumping",
}


def __getattr__(name: str) -> Any:
    """Load what is exported when it is first asked for."""
    if name not in _HOMES:
        message = f"module 'nbtext.textform' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"nbtext.textform.{_HOMES[name]}"), name)
