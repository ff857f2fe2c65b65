"""What `from nbtext import ...` offers is sorted, whole and documented."""

import inspect
import subprocess
import sys

import pytest

import nbtext
from tests.waiting import PATIENCE

if not hasattr(nbtext, "__all__"):
    pytest.skip("nothing is exported yet", allow_module_level=True)


def test_the_exported_names_are_sorted_and_distinct() -> None:
    assert nbtext.__all__ == sorted(set(nbtext.__all__))


def test_the_exported_names_are_those_that_the_type_checker_sees() -> None:
    source = inspect.getsource(nbtext)
    _, _, seen = source.partition("if TYPE_CHECKING:\n")
    seen = seen.partition("\n__version__")[0].replace("(", " ").replace(")", " ")
    names = {
        name.strip()
        for statement in seen.split("from nbtext")[1:]
        for name in statement.partition(" import ")[2].split(",")
        if name.strip()
    }

    assert names == set(nbtext.__all__)


@pytest.mark.parametrize("name", nbtext.__all__)
def test_each_exported_name_is_there_and_documented(name: str) -> None:
    exported = getattr(nbtext, name)

    documentation = inspect.getdoc(exported)
    assert documentation
    assert documentation[0].isupper() or documentation.startswith("`")
    assert exported.__module__.startswith("nbtext.")


@pytest.mark.parametrize("name", nbtext.__all__)
def test_each_parameter_and_result_has_a_type(name: str) -> None:
    exported = getattr(nbtext, name)
    if not inspect.isfunction(exported):
        return

    signature = inspect.signature(exported)
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty, parameter


def test_a_star_import_gives_them_all() -> None:
    script = (
        "from nbtext import *; import nbtext; "
        "assert set(nbtext.__all__) <= set(globals()), globals()"
    )

    subprocess.run([sys.executable, "-c", script], check=True, timeout=PATIENCE)


def test_what_is_not_exported_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = nbtext.nonsense
