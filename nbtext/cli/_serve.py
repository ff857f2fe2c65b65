"""What `nbtext serve` does, apart from reading its command line."""

import os
import signal
from functools import lru_cache
from time import gmtime, strftime, time
from typing import Final, NamedTuple

from nbtext.classes import quoted
from nbtext.cli._keyed import check_keyed
from nbtext.cli._quick import speak
from nbtext.cli._terminal import ignored, to_stderr
from nbtext.document import readable
from nbtext.errors import SettingsError, UnknownClassError
from nbtext.policy import PolicyOverrides
from nbtext.scoring import Classifier, Model, load_model
from nbtext.serving import (
    HandlerOptions,
    Listener,
    Log,
    Service,
    address_of,
    check_users,
    listen,
    network_of,
    serve_as_worker,
    supervise,
)

SERVER: Final = "from nbtext.cli._serve import be_one; be_one(is_quiet={})"
"""What a server's process does."""


class ServeRequest(NamedTuple):
    """What is asked of `nbtext serve`; the options are those of the command."""

    model: str
    addresses: tuple[str, ...]
    mode: int
    networks: tuple[str, ...]
    workers: int
    max_size: int
    timeout: float
    spam: str | None
    ham: str | None
    policy: PolicyOverrides
    may_tell: bool
    trusts_names: bool
    users: str | None
    wait: float
    quiet: bool
    keyed: str | None = None


def run(request: ServeRequest) -> None:
    """
    Serve until a signal ends it.

    Raises:
        ModelFileError: there is no model, or it is damaged.
        SettingsError: the class of spam is not in it, or is not given; others may write
            where the models of users are; or names are trusted and nothing is taught.
        ListenError: it cannot listen there.
    """
    hold_standard_streams()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # no worker has read the model yet
    if request.users is not None:
        check_users(request.users)
    if request.trusts_names and (request.users is None or not request.may_tell):
        message = "--trust-names says who may teach the models of --users over TCP, "
        raise SettingsError(f"{message}which takes --allow-tell as well")
    model = load_model(request.model)
    check_keyed(request.keyed, model)
    # which refuses a model that cannot classify
    Classifier(model, policy=request.policy.chosen(model.policy))
    service = Service(
        handling=HandlerOptions(
            model=request.model,
            spam=spam_class(model, request.spam),
            ham=ham_class(model, request.spam, request.ham),
            policy=request.policy,
            max_size=request.max_size,
            wait=request.wait,
            users=request.users,
        ),
        timeout=request.timeout,
        networks=[network_of(text) for text in request.networks],
        may_tell=request.may_tell,
        trusts_names=request.trusts_names,
    )
    addresses = [address_of(text) for text in request.addresses]
    listeners: list[Listener] = []
    try:
        for address in addresses:
            listeners += listen(address, request.mode, wait=request.wait)
        command = SERVER.format(request.quiet)
        supervise(service, listeners, request.workers, command, log_of(request.quiet))
    finally:
        for listener in listeners:
            listener.close()


def hold_standard_streams() -> None:
    """
    Open what is closed of standard input, output and error, for no socket to be that.

    A worker has others there, and would listen at what the supervisor talks to it by.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # it is closed, and the least that is
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def spam_class(model: Model, name: str | None) -> str:
    """
    Return the class of spam.

    Raises:
        SettingsError: the model does not have it.
    """
    wanted = readable(name) if name is not None else "spam"
    if name is not None and wanted not in model.classes:
        raise UnknownClassError("--spam-class", wanted, model.classes)
    if wanted not in model.classes:
        known = ", ".join(model.classes)
        message = f"{model.path}: which class is spam? name one of {known} with "
        raise SettingsError(f"{message}--spam-class")
    return wanted


def ham_class(model: Model, spam: str | None, name: str | None) -> str | None:
    """
    Return the class that is learnt as ham, None if there is no telling.

    Raises:
        SettingsError: the model does not have the class that was named, or it is that
            of spam.
    """
    others = [one for one in model.classes if one != spam_class(model, spam)]
    if name is not None:
        if readable(name) not in model.classes:
            raise UnknownClassError("--ham-class", readable(name), model.classes)
        if readable(name) not in others:
            known = ", ".join(others)
            message = (
                f"{model.path}: --ham-class is one of {known}, and not {quoted(name)}"
            )
            raise SettingsError(message)
        return readable(name)
    if "ham" in others:
        return "ham"
    return others[0] if len(others) == 1 else None


def be_one(*, is_quiet: bool) -> None:
    """Be one of the servers that `run` has started."""
    speak()
    serve_as_worker(log_of(is_quiet))


def log_of(is_quiet: bool) -> Log:
    """Return where to say what happens."""
    log = ignored if is_quiet else logged
    return Log(request=log, event=log, trouble=logged)


def logged(line: str) -> None:
    """Write a line of the log to standard error, with the time."""
    to_stderr(f"{_stamp(int(time()))} {line}")


@lru_cache(maxsize=1)  # of many lines of a second
def _stamp(seconds: int) -> str:
    """Return a time, as ISO 8601 in UTC, to the second."""
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(seconds))
