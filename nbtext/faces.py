"""
Faces of packages: exported names that are loaded when they are first asked for.

One message is classified in less time than it takes to import numpy, so a package's
`__init__` must not import what its names stand for.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazy_face(package: str, homes: "Mapping[str, str]") -> "Callable[[str], Any]":
    """
    Return a package's `__getattr__` (PEP 562).

    Args:
        package: its name.
        homes: for each exported name the module that it is in, below the package.

    """

    def load(name: str) -> "Any":
        if name not in homes:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        from importlib import import_module

        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return load
