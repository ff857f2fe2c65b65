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
        # importlib would load `warnings`, which one message does without
        home = __import__(f"{package}.{homes[name]}", None, None, [name])
        return getattr(home, name)

    return load
