"""
Models of users: a request is answered by the model of the user that it names.

The name goes in, as a client says it; a model comes out, that in the file `NAME.nbt` of
a folder if it is there, else the server's. A name that is no plain one is asked of no
file system, and a file that others may write is not opened: who writes to a file that
is mapped can end the process that reads it.

The models of users are read in place, as a command reads them, and those that were
asked least recently are closed. So a model that few mails are for takes hardly any
memory: what is read of a file is the system's, which has it once for all processes. Of
one that many mails are for, counts are put into memory, as in any process that
classifies many (`nbtext.scoring.scorer`).
"""

import os
import pwd
import re
from collections.abc import Callable, Sequence
from stat import S_ISDIR, S_ISREG, S_IWGRP, S_IWOTH
from threading import Lock
from typing import Final, NamedTuple, TypeAlias

from nbtext import wording
from nbtext.errors import ModelAccessError, NbtextError, RequestError, SettingsError
from nbtext.serving.handlers import Answer, Handler, HandlerOptions, refused
from nbtext.serving.spamd import UNAVAILABLE, Request

MOST_OPEN: Final = 50
"""Maximum number of models of users that are open. Each is up to two open files, one
to classify and one to learn."""

MOST_BYTES: Final = 256 << 20
"""Maximum bytes of their files, but for the one that was asked last. Counts that are in
memory take up to a third more than their file."""

_NAME: Final = re.compile(r"[A-Za-z0-9_+@][A-Za-z0-9._+@-]{0,63}")
"""The names of users that may have a model: none leads out of the folder, is hidden, or
looks like an option of a command."""


class _Open(NamedTuple):
    """What answers by the model of a user, and the bytes of its file."""

    handler: Handler
    size: int


class UsersHandler:
    """Answers requests, each by the model of its user, or by the server's."""

    def __init__(
        self,
        options: HandlerOptions,
        folder: str,
        on_event: Callable[[str], None],
        on_trouble: Callable[[str], None],
    ) -> None:
        """
        Open no model yet.

        Args:
            options: how to classify and to learn, with the server's model.
            folder: where the models of users are.
            on_event: called with a line whenever a model is opened.
            on_trouble: called with a line if it cannot be.
        """
        self._options = options
        self._folder = folder
        self._on_event = on_event
        self._on_trouble = on_trouble
        self._common = Handler(options, on_event, on_trouble)
        self._open: dict[str, _Open] = {}
        self._lock = Lock()

    def read_again(self) -> None:
        """Have all model files opened again, changed or not."""
        with self._lock:
            self._open.clear()
        self._common.read_again()

    def warm_up(self) -> None:
        """Open the server's model, and have it ready."""
        self._common.warm_up()

    def may_search_long(self, request: Request) -> bool:
        """Return whether a message may take seconds, since the model has a pattern."""
        try:
            return self._handler_of(request).may_search_long(request)
        except NbtextError:
            return False  # who asks for an answer is told

    def at_once(self, request: Request) -> Callable[[Request], Answer] | None:
        """Return what answers a request now, as `Handler.at_once` does."""
        try:
            handler = self._handler_of(request)
        except NbtextError:
            return self.classify_alone  # which says why
        answer = handler.at_once(request)
        if answer is None:
            return None
        return lambda whole: self._told(handler, answer(whole))

    def classify(self, requests: Sequence[Request]) -> list[Answer]:
        """Answer requests that ask what messages are, in their order."""
        return self._answers(requests, Handler.classify)

    def learn(self, requests: Sequence[Request]) -> list[Answer]:
        """Answer TELLs, those of a user together, when that is learnt or forgotten."""
        return self._answers(requests, Handler.learn)

    def classify_alone(self, request: Request) -> Answer:
        """Answer one request that asks what a message is."""
        return self.classify([request])[0]

    def learn_alone(self, request: Request) -> Answer:
        """Answer one TELL, when its message is learnt or forgotten."""
        return self.learn([request])[0]

    def _answers(
        self,
        requests: Sequence[Request],
        answer: Callable[[Handler, list[Request]], list[Answer]],
    ) -> list[Answer]:
        """Answer requests, those of a model together and in their order."""
        answers: dict[int, Answer] = {}
        places_of: dict[Handler, list[int]] = {}
        for place, request in enumerate(requests):
            try:
                places_of.setdefault(self._handler_of(request), []).append(place)
            except Exception as error:  # whatever it is, a client waits
                answers[place] = refused(error)
        for handler, places in places_of.items():
            found = answer(handler, [requests[place] for place in places])
            for place, one in zip(places, found, strict=True):
                answers[place] = self._told(handler, one)
        return [answers[place] for place in range(len(requests))]

    def _told(self, handler: Handler, answer: Answer) -> Answer:
        """Return an answer whose log says whose model it is from."""
        whose = "server" if handler is self._common else "user"
        return answer._replace(log=f"{answer.log} model={whose}")

    def _handler_of(self, request: Request) -> Handler:
        """
        Return what answers a request.

        Raises:
            RequestError: the user whose model is to be taught has none.
            ModelAccessError: others may write to that model.
        """
        if not request.user:
            return self._common
        path = path_of(self._folder, request.user)
        size = size_of(path) if path is not None else None
        if path is not None and size is not None:
            return self._opened(path, size)
        with self._lock:
            self._open.pop(path or "", None)
        if request.verb == "TELL":
            raise RequestError(UNAVAILABLE, self._advice(path))
        return self._common

    def _opened(self, path: str, size: int) -> Handler:
        """Return what answers by the model of a user, which is now asked last."""
        with self._lock:  # a thread learns
            known = self._open.pop(path, None)
            handler = known.handler if known else self._new(path)
            self._open[path] = _Open(handler, size)
            if known is None or size != known.size:
                self._close_some()
            return handler

    def _new(self, path: str) -> Handler:
        """Return what answers by a model, which it opens when it is asked."""
        options = self._options._replace(model=path)
        return Handler(options, self._on_event, self._on_trouble, is_kept=False)

    def _close_some(self) -> None:
        """Close the models that were asked least recently, if there are too many."""
        n_bytes = sum(size for _, size in self._open.values())
        while len(self._open) > 1 and (
            len(self._open) > MOST_OPEN or n_bytes > MOST_BYTES
        ):
            n_bytes -= self._open.pop(next(iter(self._open))).size

    def _advice(self, path: str | None) -> str:
        """Say what to do for a user who has no model to be taught."""
        if path is None:
            return "nothing is learnt: no user of such a name can have a model"
        model = self._options.model
        return f"the user has no model to teach; make one: cp -p {model} {path}"


AnyHandler: TypeAlias = Handler | UsersHandler
"""What answers requests."""


def handler_of(
    options: HandlerOptions,
    on_event: Callable[[str], None],
    on_trouble: Callable[[str], None],
) -> AnyHandler:
    """Return what answers requests as options say, by one model or by many."""
    if options.users is None:
        return Handler(options, on_event, on_trouble)
    return UsersHandler(options, options.users, on_event, on_trouble)


def path_of(folder: str, user: str) -> str | None:
    """Return where the model of a user would be; None if such a user has none."""
    return f"{folder}/{user}.nbt" if _NAME.fullmatch(user) else None


def model_of(options: HandlerOptions, user: str) -> str:
    """Return the model that a user's lessons are for, if the user has one."""
    if options.users is None or not user:
        return options.model
    return path_of(options.users, user) or options.model


def size_of(path: str) -> int | None:
    """
    Return the bytes of a user's model, None if there is none.

    Raises:
        ModelAccessError: something else is, or others may write to it.
    """
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        message = f"{path}: the model cannot be looked at: {error.strerror}"
        raise ModelAccessError(message) from error
    if not S_ISREG(found.st_mode) or _is_writable_by_others(found):
        message = (
            f"{path}: the model of a user is a file, and no link, that belongs to the "
            "server's user or root, and to which no other may write: `chown` it, and "
            "`chmod 600`"
        )
        raise ModelAccessError(message)
    return found.st_size


def check_users(folder: str) -> None:
    """
    Refuse a folder for the models of users that others may change.

    Raises:
        SettingsError: it is none, or others may write there.
    """
    users = wording.named("folder")
    try:
        found = os.stat(folder)  # noqa: PTH116  as below, of what is no text too
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or error
        message = f"{users}: {folder}: {what}; name a folder that is there"
        raise SettingsError(message) from error
    if not S_ISDIR(found.st_mode):
        message = f"{users}: {folder}: it is no folder; name one"
        raise SettingsError(message)
    if _is_writable_by_others(found):
        message = (
            f"{users}: {folder}: others could put files and links there; it must be "
            "the server's own: `chown` it, and `chmod 700`"
        )
        raise SettingsError(message)


def may_teach(peer: int, user: str) -> bool:
    """
    Return whether the user of a process may teach the model of a user.

    That is root, the server's own user, and who has that name on this machine. The
    server's model, for which no user is named, is taught by the first two.
    """
    if peer in (0, os.geteuid()):
        return True
    try:
        return pwd.getpwuid(peer).pw_name == user
    except KeyError:  # who has no name
        return False


def _is_writable_by_others(found: os.stat_result) -> bool:
    """Return whether others than the server's user and root may write to a file."""
    others = S_IWGRP | S_IWOTH  # an ACL shows in the bits of the group
    return found.st_uid not in (0, os.geteuid()) or bool(found.st_mode & others)
