"""
Faces of packages: exported names that are loaded when they are first asked for.

One message is classified in less time than it takes to import numpy, so a package's
`__init__` must not import what its names stand for.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any


def lazy_face(
    package: str, homes: "Mapping[str, Sequence[str]]"
) -> "Callable[[str], Any]":
    """
    Return a package's `__getattr__` (PEP 562).

    Args:
        package: its name.
        homes: what is exported of each module below the package.
    """

    def load(name: str) -> "Any":
        for home, names in homes.items():
            if name in names:
                # importlib would load `warnings`, which one message does without
                module = __import__(f"{package}.{home}", None, None, [name])
                return getattr(module, name)
        message = f"module {package!r} has no attribute {name!r}"
        raise AttributeError(message)

    return load
