"""A cluster of two workers on this machine, for all tests of a process."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.distributed.cluster import WITH_PARENT, Cluster, running
from tests.waiting import wait_until


@pytest.fixture(scope="session")
def s3_port() -> Iterator[int]:
    """Where a server of S3 will be, which this process and all workers are told."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    told = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in told.items():
            patch.setenv(name, value)
        yield port


@pytest.fixture(scope="session")
def cluster(
    tmp_path_factory: pytest.TempPathFactory, s3_port: int
) -> Iterator[Cluster]:
    """A scheduler and two workers; skipped where Dask is not installed."""
    pytest.importorskip("distributed", reason="takes the extra dask")
    assert s3_port
    with running(tmp_path_factory.mktemp("cluster"), 2) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def client(cluster: Cluster) -> Iterator[Any]:
    """A connection to it."""
    from nbtext.distributed import connected

    with connected(cluster.address) as client:
        yield client


@pytest.fixture(scope="session")
def s3(s3_port: int) -> Iterator[Any]:
    """A file system of S3 with a bucket called `mail`, on moto's server."""
    pytest.importorskip("moto", reason="S3 is tested against moto's server")
    pytest.importorskip("flask", reason="moto's server takes flask")
    s3fs = pytest.importorskip("s3fs", reason="S3 takes s3fs")
    server = subprocess.Popen(
        [
            sys.executable, str(WITH_PARENT), "moto.server",
            "-H", "127.0.0.1", "-p", str(s3_port),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_until(lambda: _answers(s3_port), "moto's server")
        system = s3fs.S3FileSystem()
        system.mkdir("mail")
        yield system
    finally:
        server.kill()
        server.wait()


def _answers(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
