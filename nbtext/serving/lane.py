"""Requests that take long, answered by a thread, some of them together."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from nbtext.errors import RequestError
from nbtext.serving.handlers import Answer, refused
from nbtext.serving.spamd import TRY_AGAIN, Request

MOST_TOGETHER: Final = 32
"""Maximum messages that are learnt together, and share a table of the model."""


class Lane:
    """
    A thread that answers requests which take long.

    Those that arrive while it is at work are answered together when that is done.
    """

    def __init__(
        self, answer: Callable[[Sequence[Request]], list[Answer]], n_waiting: int
    ) -> None:
        """
        Answer nothing yet.

        Args:
            answer: answers requests, in their order.
            n_waiting: maximum requests that wait.
        """
        self._answer = answer
        self._most = n_waiting
        self._waiting: list[tuple[Request, asyncio.Future[Answer]]] = []
        self._task: asyncio.Task[None] | None = None
        self._executor = ThreadPoolExecutor(1)

    async def answer(self, request: Request) -> Answer:
        """
        Answer a request when it is its turn.

        Raises:
            RequestError: too many are waiting already.
        """
        if len(self._waiting) >= self._most:
            raise RequestError(TRY_AGAIN, "too many requests of this kind are waiting")
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if self._task is None:
            self._task = asyncio.create_task(self._work())
        return await future

    async def _work(self) -> None:
        """Answer requests until none waits."""
        loop = asyncio.get_running_loop()
        while self._waiting:
            some = self._waiting[:MOST_TOGETHER]
            del self._waiting[:MOST_TOGETHER]
            some = [one for one in some if not one[1].done()]  # others are gone
            try:
                answers = await loop.run_in_executor(
                    self._executor, self._answer, [request for request, _ in some]
                )
            except Exception as error:  # the loop must go on whatever it is
                answers = [refused(error)] * len(some)
            for (_, future), answer in zip(some, answers, strict=True):
                if not future.done():
                    future.set_result(answer)
        self._task = None

    def close(self) -> None:
        """Answer no more, and wait for those that are being answered."""
        for _, future in self._waiting:
            future.cancel()
        self._waiting.clear()
        self._executor.shutdown(cancel_futures=True)
