"""The one thing that pyproject.toml cannot say yet: what is compiled, if it can be."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "nbtext._compiled",
            ["nbtext/_compiled.c"],
            define_macros=[("Py_LIMITED_API", "0x030b0000")],
            py_limited_api=True,
            optional=True,  # without a C compiler nbtext is installed, and slower
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
