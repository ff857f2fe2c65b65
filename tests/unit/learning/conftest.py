"""What the tests of learning share."""

from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path, trained: bytes) -> str:
    """Return a copy of the model that a module has trained, which may change."""
    found = tmp_path / "model.nbt"
    found.write_bytes(trained)
    return str(found)
