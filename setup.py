"""
What is compiled, where it can be: pyproject.toml has no conditions.

Without a C compiler nbtext is installed without it, and is slower. A free-threaded
Python has no stable ABI to compile for.
"""

import sysconfig

from setuptools import Extension, setup

LOOPS = Extension(
    "nbtext._compiled",
    ["nbtext/_compiled.c"],
    define_macros=[("Py_LIMITED_API", "0x030b0000")],
    py_limited_api=True,
    optional=True,
)

if sysconfig.get_config_var("Py_GIL_DISABLED"):
    setup()
else:
    setup(ext_modules=[LOOPS], options={"bdist_wheel": {"py_limited_api": "cp311"}})
