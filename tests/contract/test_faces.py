"""A package's face: the names in its `__init__`, each loaded when it is asked for."""

import ast
from functools import cache
from importlib import import_module
from inspect import isclass, isfunction
from itertools import chain
from pathlib import Path

import pytest

import nbtext

PACKAGE = Path(nbtext.__file__).parent
FACES = sorted(
    path.parent.name
    for path in PACKAGE.glob("*/__init__.py")
    if "_HOMES" in path.read_text("utf-8")
)


def type_checked(package: str) -> dict[str, list[str]]:
    """What the type checker sees: what is exported of each module."""
    tree = ast.parse((PACKAGE / package / "__init__.py").read_text("utf-8"))
    (block,) = (
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    return {
        node.module.removeprefix(f"nbtext.{package}."): [one.name for one in node.names]
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
    }


@cache
def imported(path: Path) -> set[tuple[str | None, str]]:
    """All that a file imports from modules: the module's name, and that in it."""
    return {
        (node.module, alias.name)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@pytest.mark.parametrize("package", FACES)
def test_a_face_is_small_and_sorted_and_every_name_is_there(package: str) -> None:
    face = import_module(f"nbtext.{package}")

    # files is no step of the pipeline but a box of tools, all of which are for others
    assert len(face.__all__) <= (18 if package == "files" else 15)
    assert face.__all__ == sorted({*face.__all__})
    assert type_checked(package) == face._HOMES
    assert sorted(chain.from_iterable(face._HOMES.values())) == sorted(face.__all__)
    for name in face.__all__:
        assert getattr(face, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'none_such'"):
        _ = face.none_such


@pytest.mark.parametrize("package", FACES)
def test_every_exported_class_and_function_is_documented(package: str) -> None:
    face = import_module(f"nbtext.{package}")
    exported = {name: getattr(face, name) for name in face.__all__}

    assert [
        name
        for name, value in exported.items()
        if (isclass(value) or isfunction(value)) and not (value.__doc__ or "").strip()
    ] == []


@pytest.mark.parametrize("package", FACES)
def test_no_exported_name_is_that_of_a_module(package: str) -> None:
    """Such a name would be the module's as soon as somebody has imported it."""
    modules = {path.stem for path in (PACKAGE / package).iterdir()}

    assert modules.isdisjoint(import_module(f"nbtext.{package}").__all__)


@pytest.mark.parametrize("package", FACES)
def test_other_packages_import_through_the_face_all_that_it_has(package: str) -> None:
    homes = {
        (f"nbtext.{package}.{home}", name)
        for home, names in import_module(f"nbtext.{package}")._HOMES.items()
        for name in names
    }
    others = [
        path
        for path in PACKAGE.rglob("*.py")
        if not path.is_relative_to(PACKAGE / package)
    ]

    for path in others:
        assert not imported(path) & homes, path
    used = set[tuple[str | None, str]]().union(*map(imported, others))
    assert {(f"nbtext.{package}", name) for _, name in homes} <= used
