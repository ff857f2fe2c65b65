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


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_is_the_same_in_another_process(error: NbtextError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  our own

    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)
