"""Where the model is."""

import os


def default_model() -> str:
    """Return where the model is by default."""
    named = os.environ.get("NBTEXT_MODEL")
    if named:  # no shell expands it in a crontab, nor between quotes
        return os.path.expanduser(named)  # noqa: PTH111  pathlib costs 3 ms
    data = os.environ.get("XDG_DATA_HOME")
    if not data or not data.startswith("/"):
        data = os.path.expanduser("~/.local/share")  # noqa: PTH111  pathlib costs 3 ms
    return f"{data}/nbtext/model.nbt"
