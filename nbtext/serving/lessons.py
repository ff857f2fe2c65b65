"""
Lessons for a model that another process is writing: each waits for its own model alone.

What teaches makes one attempt and says whether the model was locked. Between two
attempts the event loop looks whether it still is, once for all lessons of that model,
and serves the others.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final

from nbtext.errors import RequestError
from nbtext.files import unlocked
from nbtext.serving.handlers import Answer, refused
from nbtext.serving.spamd import TRY_AGAIN
from nbtext.store.lock import busy

FIRST_PAUSE: Final = 0.01
LONGEST_PAUSE: Final = 0.1
"""Seconds between two looks at a model that is locked: at first, and after a while."""

MOST_OF_ONE: Final = 32
"""Maximum lessons that wait for the model of one user, who may keep it locked."""


class Lessons:
    """Lessons, and the models that others have locked."""

    def __init__(self, wait: float, most: int, most_of_one: int) -> None:
        """
        Wait for nothing yet.

        Args:
            wait: maximum seconds that a lesson waits for its model.
            most: maximum lessons that wait so.
            most_of_one: maximum of them that wait for the same model.
        """
        self._wait = wait
        self._most = most
        self._most_of_one = most_of_one
        self._waiting: Counter[str] = Counter()
        self._looking: dict[str, asyncio.Task[None]] = {}

    async def answer(self, path: str, teach: Callable[[], Awaitable[Answer]]) -> Answer:
        """
        Return the answer to a lesson, when it is learnt or its time is over.

        Args:
            path: the model.
            teach: makes one attempt.

        Raises:
            RequestError: too many wait for this model, or for any.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._wait
        while (answer := await teach()).is_busy:
            left = deadline - loop.time()
            if left <= 0:
                return refused(busy(path, self._wait))
            await self._until_free(path, left)
        return answer

    async def _until_free(self, path: str, seconds: float) -> None:
        """Wait until nobody has a model locked, but not for longer."""
        is_full = self._waiting.total() >= self._most
        if is_full or self._waiting[path] >= self._most_of_one:
            reason = "too many messages wait for a model that is being written"
            raise RequestError(TRY_AGAIN, reason)
        looking = self._looking.get(path)
        if looking is None:
            looking = asyncio.create_task(self._look(path))
            self._looking[path] = looking
        self._waiting[path] += 1
        try:
            await asyncio.wait([looking], timeout=seconds)  # others wait for it, too
        finally:
            self._waiting[path] -= 1
            if not self._waiting[path]:
                del self._waiting[path]

    async def _look(self, path: str) -> None:
        """Look at a model until nobody has it locked, or nobody waits for it."""
        pause = FIRST_PAUSE
        try:
            await asyncio.sleep(pause)
            while self._waiting[path] and not is_free(path):
                pause = min(2 * pause, LONGEST_PAUSE)
                await asyncio.sleep(pause)
        finally:
            del self._looking[path]


def is_free(path: str) -> bool:
    """Return whether nobody has a model locked, as far as can be seen."""
    try:
        # not to wait for the other end if it is a pipe
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (OSError, ValueError):
        return True  # who opens it to teach it says what is wrong
    try:
        with unlocked(descriptor) as is_unlocked:
            return is_unlocked
    finally:
        os.close(descriptor)
