"""Tests for what batches need besides scores."""

import sys

import pytest

from nbtext.scoring.batch import keep_memory


@pytest.mark.parametrize("missing", ["_ctypes", "ctypes"])
def test_a_python_without_ctypes_gives_memory_back(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "ctypes", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)

    keep_memory()


@pytest.mark.parametrize("failure", [OSError, TypeError])
def test_so_does_one_that_cannot_ask_for_its_library(
    failure: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: None) -> None:
        raise failure

    monkeypatch.setattr("ctypes.CDLL", refuse)

    keep_memory()
