"""Messages that take no time, classified together, the shortest first."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from nbtext.scoring.stored import FEW
from nbtext.serving.handlers import Answer
from nbtext.serving.spamd import Request

SMALL: Final = 1 << 14
"""Maximum bytes of a message that the event loop itself classifies: whatever is in it,
that takes some ten milliseconds. Nine mails of ten are not longer."""

BATCH: Final = FEW
BATCH_BYTES: Final = SMALL
"""Maximum messages that are classified together, and their maximum bytes."""

TURNS: Final = 4
"""Turns of the event loop between two batches: so many it takes to accept a client and
to receive its message, which may be shorter than those that wait."""


class Batches:
    """Requests that wait to be answered by the event loop itself."""

    def __init__(self, answer: Callable[[Sequence[Request]], list[Answer]]) -> None:
        """
        Answer nothing yet.

        Args:
            answer: answers requests, in their order, and does not fail.
        """
        self._answer = answer
        self._waiting: list[tuple[Request, asyncio.Future[Answer]]] = []

    def answer(self, request: Request) -> "asyncio.Future[Answer]":
        """Answer a request soon, together with others that arrive meanwhile."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._answer_some)
        self._waiting.append((request, future))
        return future

    def _answer_some(self, turns: int = 0) -> None:
        """Answer some of those that wait, in some turns of the event loop."""
        loop = asyncio.get_running_loop()
        if turns:
            loop.call_soon(self._answer_some, turns - 1)
            return
        batch = self._next()
        if self._waiting:
            loop.call_soon(self._answer_some, TURNS)
        wanted = [one for one in batch if not one[1].done()]  # others are gone
        answers = self._answer([request for request, _ in wanted])
        for (_, future), answer in zip(wanted, answers, strict=True):
            future.set_result(answer)

    def _next(self) -> "list[tuple[Request, asyncio.Future[Answer]]]":
        """Return the shortest of those that wait, which then wait no more."""
        self._waiting.sort(key=lambda waiting: len(waiting[0].body))
        n_messages = size = 0
        for request, _ in self._waiting[:BATCH]:
            size += len(request.body)
            if n_messages and size > BATCH_BYTES:
                break
            n_messages += 1
        batch = self._waiting[:n_messages]
        del self._waiting[:n_messages]
        return batch
