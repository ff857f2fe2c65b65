"""A cluster of two workers on this machine, for all tests of a process."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.distributed.cluster import Cluster, running


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler and two workers; skipped where Dask is not installed."""
    pytest.importorskip("distributed", reason="takes the extra dask")
    with running(tmp_path_factory.mktemp("cluster"), 2) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def client(cluster: Cluster) -> Iterator[Any]:
    """A connection to it."""
    from nbtext.distributed import connected

    with connected(cluster.address) as client:
        yield client
