"""How much all clients of a server together may say before they are heard."""

import pytest

from nbtext.errors import RequestError
from nbtext.serving.connection import MemoryBudget


def test_there_is_room_for_what_was_given_back_and_no_more() -> None:
    room = MemoryBudget(100)
    room.take(60)

    with pytest.raises(RequestError, match="fill the memory") as caught:
        room.take(41)
    assert caught.value.code == 75
    room.take(40)
    room.give_back(100)
    room.take(100)
