"""Errors, whatever they were made with."""

import errno
import pickle

import pytest

from nbtext.errors import (
    DamagedError,
    ModelMemoryError,
    NbtextError,
    NoMemoryError,
    NoRoomError,
    NumberError,
    RequestError,
    TextFormError,
    UnknownClassError,
    advice_on,
    advice_on_reading,
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


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (errno.EMFILE, "allow more open files (`ulimit -n`)"),
        (errno.EIO, "look after its disk, or the network that it is on"),
        (errno.ESTALE, "look after its disk, or the network that it is on"),
        (errno.EACCES, "check it"),
        (None, "check it"),
    ],
)
def test_what_to_do_about_a_file_depends_on_what_the_system_says(
    code: int | None, advice: str
) -> None:
    error = ValueError("NUL") if code is None else OSError(code, "")

    assert advice_on_reading(error, "check it") == advice
    if code == errno.EMFILE:
        assert advice_on(error, "/model") == f"; {advice}"


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_is_the_same_in_another_process(error: NbtextError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  our own

    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_a_temporary_folder_that_is_not_there_was_to_have_a_file() -> None:
    missing = FileNotFoundError(errno.ENOENT, "No such file or directory")

    said = str(NoRoomError("/none", 0, missing))

    assert said.startswith("/none: a file was to be put into the temporary folder: No")
    assert "1,000 bytes were" in str(NoRoomError("/full", 1000, missing))
