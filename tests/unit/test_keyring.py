"""Secrets: files that nobody else may read, made once, and found by fingerprint."""

import os
from pathlib import Path

import pytest

from nbtext import keyring
from nbtext.errors import SecretError
from nbtext.keyring import (
    VARIABLE,
    environment,
    fingerprint_of,
    make_secret,
    name_secret,
    secret_of,
)


@pytest.fixture(autouse=True)
def empty_ring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring, "_named", [])
    monkeypatch.setattr(keyring, "_secrets", {})
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "secret"


def complaint(path: Path) -> str:
    with pytest.raises(SecretError) as raised:
        make_secret(str(path))
    return str(raised.value)


def test_a_secret_is_made_for_its_owner_alone_and_then_stays(path: Path) -> None:
    before = os.umask(0)
    try:
        fingerprint = make_secret(str(path))
    finally:
        os.umask(before)

    assert path.stat().st_mode & 0o777 == 0o600
    assert len(path.read_bytes()) == 32
    assert make_secret(str(path)) == fingerprint == fingerprint_of(path.read_bytes())
    assert secret_of(fingerprint) == path.read_bytes()
    assert list(path.parent.iterdir()) == [path]


def test_no_two_secrets_are_the_same(tmp_path: Path) -> None:
    paths = [str(tmp_path / str(number)) for number in range(10)]

    assert len(set(map(make_secret, paths))) == 10


def test_a_link_is_not_followed_be_it_broken(path: Path, tmp_path: Path) -> None:
    path.symlink_to(tmp_path / "elsewhere")
    assert "links are not followed" in complaint(path)
    assert not (tmp_path / "elsewhere").exists()

    make_secret(str(tmp_path / "elsewhere"))
    assert "links are not followed" in complaint(path)


def test_what_is_no_file_is_refused_and_nobody_waits(path: Path) -> None:
    os.mkfifo(path)
    assert "cannot be read: a file was expected" in complaint(path)
    path.unlink()
    path.mkdir()
    assert str(path) in complaint(path)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610])
def test_a_secret_that_others_may_read_is_refused(path: Path, mode: int) -> None:
    make_secret(str(path))
    path.chmod(mode)

    assert f"mode {mode:o}" in complaint(path)


def test_a_secret_of_somebody_else_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_secret(str(path))
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)

    assert f"of user {os.getuid()} found" in complaint(path)


@pytest.mark.parametrize("size", [0, 31, 33, 1 << 20])
def test_a_file_of_another_size_is_no_secret_and_stays(path: Path, size: int) -> None:
    path.write_bytes(bytes(size))
    path.chmod(0o600)

    assert f"32 bytes was expected, and {size} bytes found" in complaint(path)
    assert path.stat().st_size == size


def test_the_first_named_file_that_fits_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [str(tmp_path / name) for name in "abc"]
    fingerprints = list(map(make_secret, paths))
    monkeypatch.setattr(keyring, "_secrets", {})
    monkeypatch.setattr(keyring, "_named", [])

    with pytest.raises(SecretError, match=r"keyed=FILE or \$NBTEXT_KEYED"):
        secret_of(fingerprints[0])
    monkeypatch.setenv(VARIABLE, paths[0])
    assert secret_of(fingerprints[0]) == Path(paths[0]).read_bytes()
    with pytest.raises(SecretError, match="another secret than that of the model"):
        secret_of(fingerprints[1])
    name_secret(paths[1])
    name_secret(paths[2])
    assert secret_of(fingerprints[1]) == Path(paths[1]).read_bytes()
    assert environment() == {VARIABLE: paths[2]}


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    name_secret(str(tmp_path / "gone"))

    with pytest.raises(SecretError, match="gone: no secret there"):
        secret_of("0" * 32)
    assert not (tmp_path / "gone").exists()
