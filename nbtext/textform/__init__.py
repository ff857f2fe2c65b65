"""
A model as text, and text as a model.

In: the contents of a model, or JSON lines. Out: the other of the two. Whatever a text
says is verified before a model is made of it, and loading what was dumped gives the
same model. docs/text-form.md is the specification. What is exported is loaded when it
is first asked for.
"""

from typing import TYPE_CHECKING, Final

from nbtext.faces import lazy_face

if TYPE_CHECKING:
    from nbtext.textform.dumping import text_lines
    from nbtext.textform.loading import Loaded, load_text

__all__ = [
    "Loaded",
    "load_text",
    "text_lines",
]

_HOMES: Final = {
    "dumping": ["text_lines"],
    "loading": ["Loaded", "load_text"],
}

__getattr__ = lazy_face(__name__, _HOMES)
