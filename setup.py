"""
What pyproject.toml cannot say: what is compiled, where it can be, and absolute links.

Without a C compiler nbtext is installed without it, and is slower. A free-threaded
Python has no stable ABI to compile for.
"""

import re
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

HERE = Path(__file__).parent


def sources(pattern: str) -> list[str]:
    """Return files of the extension, as paths from here."""
    found = (HERE / "nbtext" / "compiled").glob(pattern)
    return sorted(path.relative_to(HERE).as_posix() for path in found)


LOOPS = Extension(
    "nbtext._compiled",
    sources("*.c"),
    depends=sources("*.h"),
    libraries=["m"],
    # no a * b + c in one rounding: the same bits as arrays give
    extra_compile_args=["-ffp-contract=off", "-fvisibility=hidden"],
    define_macros=[("Py_LIMITED_API", "0x030b0000")],
    py_limited_api=True,
    optional=True,
)


def readme() -> str:
    """Return README.md, its links absolute: a package index has no folder docs/."""
    # no tomllib: pip says which Python is needed only if an older one can run this
    project = (HERE / "pyproject.toml").read_text("utf-8")
    base = re.findall('^Source = "(.+)"$', project, re.MULTILINE)[0] + "/blob/main/"
    text = (HERE / "README.md").read_text("utf-8")
    return re.sub(r"\]\((?!\w+:|#)", f"]({base}", text)


has_stable_abi = not sysconfig.get_config_var("Py_GIL_DISABLED")
setup(
    long_description=readme(),
    long_description_content_type="text/markdown",
    ext_modules=[LOOPS] if has_stable_abi else [],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if has_stable_abi else {},
)
