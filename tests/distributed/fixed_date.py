"""Preloaded by workers: models have the same date, so that files can be compared."""

import time

import nbtext.store.appending

STAMP = "2026-01-01T00:00:00"


def stamp() -> time.struct_time:
    """Return the date that models have."""
    return time.strptime(STAMP, "%Y-%m-%dT%H:%M:%S")


def dask_setup(_worker: object) -> None:
    """Set the clock by which models are dated."""
    set_clock()


def set_clock() -> None:
    """Date all models of this process alike."""
    setattr(nbtext.store.appending, "gmtime", stamp)  # noqa: B010  it is an import there
