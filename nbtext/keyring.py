"""
The secrets of keyed models: files of their own, named by users, told by fingerprints.

A model that was trained with `keyed=FILE` holds hashes that nobody can compute who
does not have the secret in that file, and the secret's fingerprint. To read documents
with the model, the file is named again, with `keyed=` or `$NBTEXT_KEYED`.
Files are read when a model first needs one.
"""

import os
from _blake2 import blake2b  # hashlib would load OpenSSL too, for 2 ms
from typing import Final

from nbtext import wording
from nbtext.errors import SecretError

VARIABLE: Final = "NBTEXT_KEYED"
"""The environment variable that names the file of a secret."""

SIZE: Final = 32
"""Length of a secret in bytes."""

FINGERPRINT_SIZE: Final = 16
"""Length of a fingerprint in bytes; it is written as hexadecimal digits."""

_OTHERS: Final = 0o077
"""The rights that nobody but the owner of a secret may have."""

_named: list[str] = []
_secrets: dict[str, bytes] = {}


def name_secret(path: str) -> None:
    """Name a file that may hold the secret of a model; it is read once one needs it."""
    if path in _named:
        _named.remove(path)
    _named.append(path)


def name_secret_of(fingerprint: str, path: str) -> None:
    """
    Name the file of the secret that a model was made with.

    Raises:
        SecretError: it does not hold it; then it is not named.
    """
    _secrets[fingerprint] = _matching(fingerprint, [path])
    name_secret(path)


def environment() -> dict[str, str]:
    """Return the variable that names the same secret for a program started by us."""
    if not _named:
        return {}
    return {VARIABLE: os.path.abspath(_named[-1])}  # noqa: PTH100  pathlib costs 10 ms


def make_secret(path: str) -> str:
    """
    Return the fingerprint of the secret in a file; if there is no file, make one.

    Raises:
        SecretError: it is no secret, others may read it, or it cannot be made.
    """
    name_secret(path)
    try:
        secret = _read(path)
    except FileNotFoundError:
        secret = _made(path)
    fingerprint = fingerprint_of(secret)
    _secrets[fingerprint] = secret
    return fingerprint


def secret_of(fingerprint: str) -> bytes:
    """
    Return the secret that a model was made with.

    Raises:
        SecretError: no file that was named holds it.
    """
    if fingerprint not in _secrets:
        paths = [*reversed(_named), *filter(None, [os.environ.get(VARIABLE)])]
        if not paths:
            keyed = wording.given(keyed=wording.Blank("FILE"))
            message = (
                "the model is keyed, and without its secret no document can be read; "
                f"name the file with {keyed} or ${VARIABLE}"
            )
            raise SecretError(message)
        _secrets[fingerprint] = _matching(fingerprint, paths)
    return _secrets[fingerprint]


def fingerprint_of(secret: bytes) -> str:
    """Return what a model keeps of its secret: from it nothing can be computed."""
    hashed = blake2b(key=secret, digest_size=FINGERPRINT_SIZE, person=b"nbtext secret")
    return hashed.hexdigest()


def _matching(fingerprint: str, paths: list[str]) -> bytes:
    """
    Return the secret of a fingerprint from the files that may hold it.

    Raises:
        SecretError: none does.
    """
    for path in paths:
        try:
            secret = _read(path)
        except FileNotFoundError as error:
            message = f"{path}: no secret there; name the one of the model"
            raise SecretError(message) from error
        if fingerprint_of(secret) == fingerprint:
            return secret
    message = (
        f"{paths[0]}: it holds another secret than that of the model "
        f"({fingerprint}); name the one of the model"
    )
    raise SecretError(message)


def _read(path: str) -> bytes:
    """
    Return the secret in a file.

    Raises:
        SecretError: it is no secret, or others may read it.
        FileNotFoundError: there is no file.
    """
    from nbtext.files import open_file

    try:
        descriptor = open_file(path)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            data = file.read(SIZE + 1)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or error
        message = f"{path}: the secret cannot be read: {what}; links are not followed"
        raise SecretError(message) from error
    if status.st_uid != os.geteuid() or status.st_mode & _OTHERS:
        message = (
            f"{path}: a secret that only this user may read was expected, and "
            f"mode {status.st_mode & 0o777:o} of user {status.st_uid} found; if nobody "
            "has read it, `chmod 600` it"
        )
        raise SecretError(message)
    if len(data) != SIZE:
        message = (
            f"{path}: a secret of {SIZE} bytes was expected, and {status.st_size} "
            "bytes found; name another file, or one that is not there to make a secret"
        )
        raise SecretError(message)
    return data


def _made(path: str) -> bytes:
    """
    Make a secret that is durable, or return the one that was made meanwhile.

    Raises:
        SecretError: it cannot be made.
    """
    from contextlib import suppress

    from nbtext.files import replace_file

    try:
        with suppress(FileExistsError):
            replace_file(path, [os.urandom(SIZE)], exclusively=True)
        return _read(path)
    except OSError as error:
        message = (
            f"{path}: no secret can be made there: {error.strerror}; name another file"
        )
        raise SecretError(message) from error
