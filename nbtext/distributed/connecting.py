"""
A connection to a Dask scheduler, and what may go wrong with one.

An address goes in; out comes a client of `distributed`, or an error that says what to
do. Dask's messages hold code (pickle): whoever can reach a scheduler or a worker can
run anything there. So they belong in a network where nobody else is, or behind TLS.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager, suppress
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from distributed import Client, Future

from nbtext import __version__, wording
from nbtext.errors import ClusterError, NbtextError, SettingsError

PATIENCE: Final = 10
"""How many seconds a scheduler has to answer, and a cluster to have a worker."""

LOOK: Final = 60.0
"""Seconds between looks at a cluster whose work takes long; at the second one without a
worker the work ends."""

PAUSE: Final = 0.2
"""Seconds until workers are asked again, one of which was lost."""

LOGGERS: Final = ("distributed", "distributed.client", "tornado.application")
"""Those of Dask that tell of a connection that is lost."""

SCHEMES: Final = ("tcp", "tls")


@contextmanager
def connected(address: str, *, patience: float = PATIENCE) -> Iterator[Client]:
    """
    Connect to a scheduler that runs already, for as long as the context lasts.

    Args:
        address: as `tcp://scheduler:8786`; of `tls://` the certificates are those of
            Dask's configuration.
        patience: how many seconds it has to answer.

    Raises:
        SettingsError: the extra `dask` is not installed, or this is no address.
        ClusterError: no scheduler answers.
    """
    _check(address)
    try:
        from distributed import Client
    except ImportError as error:
        message = (
            f"{wording.named('address')} takes Dask, which is not installed here; pip "
            "install 'nbtext[dask]'"
        )
        raise SettingsError(message) from error
    with _silence():
        try:
            client = Client(
                address, timeout=patience, set_as_default=False, name="nbtext"
            )
        except OSError as error:  # a timeout is one
            message = (
                f"{wording.given(address=address)}: no scheduler answers there "
                f"({error}); start one with `dask scheduler`, and workers with `dask "
                "worker`"
            )
            raise ClusterError(message) from error
        with client:
            yield client


@contextmanager
def _silence() -> Iterator[None]:
    """Keep Dask from logging to the terminal what will be raised as an error."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _check(address: str) -> None:
    """
    Refuse what is no address; a client that is begun with one ends after its patience.

    Raises:
        SettingsError: it is none.
    """
    with suppress(ValueError):  # of the port
        parts = urlsplit(address)
        if parts.scheme in SCHEMES and parts.hostname and parts.port:
            return
    message = (
        f"{wording.given(address=address)}: the address of a scheduler was expected, "
        "such as tcp://scheduler:8786"
    )
    raise SettingsError(message)


@contextmanager
def failures_told(client: Client) -> Iterator[None]:
    """
    Say what is wrong with a cluster where work on it fails.

    Raises:
        ClusterError: workers died, or the scheduler went away.
    """
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    where = client.scheduler.address if client.scheduler else "the cluster"
    try:
        yield
    except NbtextError:
        raise
    except ImportError as error:
        message = (
            f"{where}: a worker has come that cannot run nbtext ({error}); install "
            f"nbtext {__version__} where it runs"
        )
        raise ClusterError(message) from error
    except KilledWorker as error:
        message = (
            f"{where}: workers died again and again at the same piece of work, perhaps "
            "for want of memory; give them more (`dask worker --memory-limit`), and "
            "look at their logs"
        )
        raise ClusterError(message) from error
    except (CancelledError, CommClosedError, TimeoutError) as error:  # no other OSError
        message = (
            f"{where}: the cluster stopped before the work was done: the scheduler "
            "ended, or cannot be reached any more; see that it and its workers run, "
            "and try again"
        )
        raise ClusterError(message) from error


def of_version(
    version: str, words: str, task: Callable[..., Any], *arguments: Any
) -> Any:
    """
    Run a task where nbtext has a version, as workers have that were asked for it.

    Others may have come since. Messages are made with the words of the client; of
    several clients at once, with those of the last one.

    Raises:
        ClusterError: it has another one here.
    """
    if version != __version__:
        message = (
            f"a worker has come that has nbtext {__version__}, and the client has "
            f"{version}; install the same everywhere"
        )
        raise ClusterError(message)
    wording.speak(words)
    return task(*arguments)


def result_of(future: Future) -> Any:
    """
    Wait for a result as long as there are workers.

    Dask itself waits for ever for workers that may come.

    Raises:
        ClusterError: there have been none for a while.
        TimeoutError: the scheduler does not answer.
    """
    client, was_alone = future.client, False
    while True:
        try:
            return future.result(timeout=LOOK)
        except TimeoutError:
            if future.done() and future.status == "error":  # it is the task's own
                raise
        threads = client.sync(client.scheduler.ncores, callback_timeout=LOOK)
        if was_alone and not threads:
            where = client.scheduler.address
            message = (
                f"{where}: all workers have ended, and none has come since; see why in "
                f"their logs, start some with `dask worker {where}`, and try again"
            )
            raise ClusterError(message)
        was_alone = not threads


def check_workers(client: Client, folder: str, token: str) -> int:
    """
    Make sure that there are workers that can do the work; return their threads.

    Raises:
        ClusterError: there is no worker, one does not answer, does not see the folder,
            or has another nbtext, or none.
    """
    states = _states(client, f"{folder}/{token}")
    for worker, state in states.items():
        if isinstance(state, OSError):
            message = (
                f"{worker}: a worker does not answer ({state}); see that it runs and "
                "can be reached, and look at its log"
            )
            raise ClusterError(message)
        if isinstance(state, Exception):
            message = (
                f"{worker}: a worker cannot run nbtext ({state}); install nbtext "
                f"{__version__} where it runs"
            )
            raise ClusterError(message)
        version, is_seen = state
        if version != __version__:
            message = (
                f"{worker}: nbtext {version} is installed there, and {__version__} "
                "here; install the same everywhere"
            )
            raise ClusterError(message)
        if not is_seen:
            message = (
                f"{worker}: a worker does not see the folder {folder}; name one that "
                f"all of them can write to, with {wording.named('shared')}"
            )
            raise ClusterError(message)
    # those that have died since then may come back
    threads: dict[str, int] = client.nthreads()
    return max(sum(threads.values()), len(states))


def _states(client: Client, path: str) -> dict[str, Any]:
    """
    Return what each worker says, or why it says nothing; all are asked together.

    Raises:
        ClusterError: there is no worker.
    """
    end = monotonic() + PATIENCE
    try:
        while True:
            client.wait_for_workers(1, timeout=max(end - monotonic(), PAUSE))
            states = _asked(client, path)
            is_lost = any(isinstance(state, OSError) for state in states.values())
            is_late = monotonic() > end
            if states and (is_late or not is_lost):
                return states
            if is_late:
                raise TimeoutError
            sleep(PAUSE)  # one has died, which the scheduler knows, or will know soon
    except TimeoutError as error:
        where = client.scheduler.address
        message = (
            f"{where}: the scheduler has no worker; start some with "
            f"`dask worker {where}`"
        )
        raise ClusterError(message) from error


def _asked(client: Client, path: str) -> dict[str, Any]:
    """
    Ask all workers once.

    Raises:
        ClusterError: one is connected, but says nothing.
    """
    try:
        # the timeout is that of `Client.sync`, by which `run` waits
        states: dict[str, Any] = client.run(
            _state, path, on_error="return", callback_timeout=LOOK
        )
    except TimeoutError as error:
        message = (
            f"{client.scheduler.address}: a worker has not answered for {LOOK:g} s; "
            "see which one is stopped or hangs, and end it"
        )
        raise ClusterError(message) from error
    return states


def _state(path: str) -> tuple[str, bool]:
    """Return the version of nbtext here, and whether a file can be seen."""
    from pathlib import Path

    try:
        return __version__, Path(path).exists()
    except OSError:
        return __version__, False
