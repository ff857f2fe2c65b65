"""Errors, whatever they were made with."""

import pickle

import pytest

from nbtext.errors import (
    DamagedError,
    ModelMemoryError,
    NbtextError,
    NoMemoryError,
    NumberError,
    RequestError,
    TextFormError,
    UnknownClassError,
)

ERRORS = [
    DamagedError("m.nbt", 64, "no table begins here"),
    ModelMemoryError("m.nbt"),
    NoMemoryError("a.eml"),
    NumberError("t.csv:1", "size", "big"),
    RequestError(76, "no such command"),
    TextFormError("m.jsonl", 3, "a term", "a list"),
    UnknownClassError("m.nbt", "sapm", ("ham", "spam")),
]


@pytest.mark.parametrize(("asked", "is_same"), [("e\u0301", True), ("o\u0301", False)])
def test_a_class_that_looks_as_what_was_asked_for_is_said_to_be_another(
    asked: str, is_same: bool
) -> None:
    said = str(UnknownClassError("m.nbt", f"{asked}conomie", ("économie", "x")))

    assert "did you mean 'économie'" in said
    assert ("'économie' (the same, composed of other characters)?" in said) is is_same


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_is_the_same_in_another_process(error: NbtextError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  our own

    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)
