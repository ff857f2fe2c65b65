"""The ledger of a model: which documents it has counted, and in which class."""

from dataclasses import replace
from pathlib import Path

import pytest

from nbtext.counts import ledger_of
from nbtext.store import ledger
from nbtext.store.blocks import Arrays
from nbtext.store.ledger import rows_of
from tests.build import WORD_WEIGHTS, counted, stored

ROWS = 2_000
HALF = 7


@pytest.mark.parametrize("short", [ROWS - 1, ROWS])
def test_documents_whose_digests_begin_alike_are_not_looked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short: int
) -> None:
    """Chance makes no such digests, but whoever makes a file may."""
    monkeypatch.setattr(ledger, "SHORT", short)
    table = counted([("ab"[n % 2], f"word{n}") for n in range(ROWS)], WORD_WEIGHTS)
    runs = []
    for run in table.ledger:
        entries = run.entries.copy()
        entries[:, 0] = HALF
        runs.append(ledger_of(entries, run.counts))
    lows = sorted(int(low) for run in runs for low in run.entries[:, 1])
    file = stored(tmp_path / "m.nbt", replace(table, ledger=tuple(runs)))
    n_read = 0
    value = Arrays.value

    def counting(self: Arrays, name: str, place: int) -> int:
        nonlocal n_read
        n_read += 1
        return value(self, name, place)

    monkeypatch.setattr(Arrays, "value", counting)
    for low in (lows[0], lows[ROWS // 2], lows[-1]):
        digest = HALF.to_bytes(8, "big") + low.to_bytes(8, "big")
        assert rows_of(file, digest).total() == 1
    unknown = HALF.to_bytes(8, "big") + (lows[-1] + 1).to_bytes(8, "big")

    assert not rows_of(file, unknown)
    n_steps = len(lows).bit_length()
    if short == ROWS:  # then what is found is read one by one, and nothing else
        assert n_read < n_steps
    else:
        assert 3 * n_steps < n_read < 40 * n_steps
