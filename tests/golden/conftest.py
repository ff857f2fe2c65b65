"""The option that rewrites what is expected: `make golden`, then review the diff."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite", action="store_true", help="write what the cases print now"
    )
