"""Requests that take long: one thread, and what waits is answered together."""

import asyncio
from collections.abc import Sequence
from threading import Event

import pytest

from nbtext.errors import RequestError
from nbtext.serving.handlers import Answer
from nbtext.serving.lane import MOST_TOGETHER, Lane
from nbtext.serving.spamd import Request
from tests.waiting import PATIENCE


def request(number: int) -> Request:
    return Request("TELL", (1, 5), body=b"%d" % number)


class Slow:
    """Answers with the message itself; the first one when it is told to."""

    def __init__(self) -> None:
        self.may_go_on = Event()
        self.batches: list[int] = []

    def answer(self, requests: Sequence[Request]) -> list[Answer]:
        assert self.may_go_on.wait(PATIENCE)
        self.batches.append(len(requests))
        return [Answer(one.body) for one in requests]


def test_what_arrives_meanwhile_is_answered_together_and_in_order() -> None:
    slow, n = Slow(), MOST_TOGETHER + 8

    async def talk() -> list[Answer]:
        lane = Lane(slow.answer, 100)
        asked = [asyncio.create_task(lane.answer(request(k))) for k in range(n)]
        await asyncio.sleep(0)
        lost = asyncio.create_task(lane.answer(request(n)))
        await asyncio.sleep(0.01)
        lost.cancel()  # a client that is gone
        slow.may_go_on.set()
        answers = await asyncio.gather(*asked)
        again = await lane.answer(request(n + 1))
        lane.close()
        return [*answers, again]

    answers = asyncio.run(talk())

    assert [int(one.response) for one in answers] == [*range(n), n + 1]
    assert sum(slow.batches) == n + 1
    assert max(slow.batches) == MOST_TOGETHER


def test_a_lane_that_is_full_says_so_and_a_fault_is_an_answer() -> None:
    slow = Slow()

    def fail(_: Sequence[Request]) -> list[Answer]:
        message = "eggs"
        raise ValueError(message)

    async def talk() -> Answer:
        lane = Lane(slow.answer, 2)
        asked = [asyncio.create_task(lane.answer(request(0)))]
        await asyncio.sleep(0.01)  # it is being answered now
        asked += [asyncio.create_task(lane.answer(request(k))) for k in (1, 2)]
        await asyncio.sleep(0)
        with pytest.raises(RequestError, match="too many"):
            await lane.answer(request(3))
        slow.may_go_on.set()
        await asyncio.gather(*asked)
        lane.close()
        failing = Lane(fail, 2)
        answer = await failing.answer(request(4))
        failing.close()
        return answer

    answer = asyncio.run(talk())

    assert b" 70 " in answer.response
    assert "ValueError" in answer.log
