"""A lesson for a model that another process has locked waits, and no other does."""

import asyncio
from pathlib import Path

import pytest

from nbtext.errors import BusyError, RequestError
from nbtext.serving.handlers import Answer, refused
from nbtext.serving.lessons import Lessons, is_free
from nbtext.store.lock import locked
from tests.waiting import PATIENCE

BUSY = refused(BusyError("locked"))
DONE = Answer(b"done")


class Lesson:
    """A lesson that is taught if nobody has its model locked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.n_attempts = 0

    async def teach(self) -> Answer:
        self.n_attempts += 1
        return DONE if is_free(str(self.path)) else BUSY


@pytest.fixture
def models(tmp_path: Path) -> tuple[Path, Path]:
    for name in "ab":
        (tmp_path / name).touch()
    return tmp_path / "a", tmp_path / "b"


def test_a_locked_model_delays_its_own_lessons_alone(
    models: tuple[Path, Path],
) -> None:
    waits, goes_on = map(Lesson, models)

    async def talk() -> list[Answer]:
        lessons = Lessons(PATIENCE, 8, 8)
        with locked(str(waits.path)):
            late = asyncio.create_task(lessons.answer(str(waits.path), waits.teach))
            answers = [await lessons.answer(str(goes_on.path), goes_on.teach)]
            await asyncio.sleep(0.05)
            assert not late.done()
        return [*answers, await late]

    assert asyncio.run(talk()) == [DONE, DONE]
    assert (waits.n_attempts, goes_on.n_attempts) == (2, 1)


def test_who_has_waited_in_vain_is_told_for_how_long(
    models: tuple[Path, Path],
) -> None:
    path = str(models[0])

    async def talk() -> Answer:
        with locked(path):
            return await Lessons(0.1, 8, 8).answer(path, Lesson(models[0]).teach)

    answer = asyncio.run(talk())

    assert answer.response.startswith(b"SPAMD/1.0 75 EX_TEMPFAIL: ")
    assert b"has been writing the model for 0.1 s; try again later" in answer.response


@pytest.mark.parametrize(("most", "most_of_one"), [(9, 5), (5, 9), (5, 5)])
def test_only_so_many_lessons_wait(
    models: tuple[Path, Path], most: int, most_of_one: int
) -> None:
    path = str(models[0])
    n_waiting = min(most, most_of_one)

    async def talk() -> list[Answer]:
        lessons = Lessons(PATIENCE, most, most_of_one)
        with locked(path):
            waiting = [
                asyncio.create_task(lessons.answer(path, Lesson(models[0]).teach))
                for _ in range(n_waiting)
            ]
            await asyncio.sleep(0)
            with pytest.raises(RequestError, match="too many messages wait"):
                await lessons.answer(path, Lesson(models[0]).teach)
            waiting.pop().cancel()  # a client that is gone leaves room
            await asyncio.sleep(0)
            waiting.append(
                asyncio.create_task(lessons.answer(path, Lesson(models[0]).teach))
            )
            await asyncio.sleep(0)
        return await asyncio.gather(*waiting)

    assert asyncio.run(talk()) == [DONE] * n_waiting


def test_a_model_that_is_gone_or_strange_is_not_waited_for(tmp_path: Path) -> None:
    assert is_free(str(tmp_path / "none"))
    assert is_free("a\0b")
    assert is_free(str(tmp_path))
