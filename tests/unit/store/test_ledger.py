"""The ledger of a model: which documents it has counted, and in which class."""

from dataclasses import replace
from pathlib import Path

import pytest

from nbtext import learn, train_on
from nbtext.counts import ledger_of
from nbtext.document import Document
from nbtext.store import ledger, open_model
from nbtext.store.blocks import Arrays
from nbtext.store.ledger import digest_of, rows_of, rows_of_all
from nbtext.tokens.reading import read
from tests.build import WORD_WEIGHTS, counted, lettered, stored

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
        digest = digest_of(HALF, low)
        assert rows_of(file, digest).total() == 1
    unknown = digest_of(HALF, lows[-1] + 1)

    assert not rows_of(file, unknown)
    n_steps = len(lows).bit_length()
    if short == ROWS:  # then what is found is read one by one, and nothing else
        assert n_read < n_steps
    else:
        assert 3 * n_steps < n_read < 40 * n_steps


@pytest.mark.parametrize("n_wanted", [1, 30, 60, 99])
def test_many_documents_are_found_at_once_as_one_by_one(
    tmp_path: Path, n_wanted: int
) -> None:
    """Tables with fewer documents than are wanted are read; others are searched."""
    path = str(tmp_path / "m.nbt")
    texts = [lettered(f"word{n}") for n in range(99)]
    train_on([("ab"[n % 2], texts[n]) for n in range(60)], path)
    learn(path, "a", texts[40:70])
    for n in range(65, 90):
        learn(path, "ab"[n % 3 == 0], [texts[n]])
    file = open_model(path)
    documents = [Document("", (text.encode(),)) for text in texts[-n_wanted:]]
    digests = [read(document, file.settings).digest for document in documents]

    found = rows_of_all(file, set(digests))

    assert found == {digest: rows_of(file, digest) for digest in digests}
    assert sum(map(bool, found.values())) == max(0, n_wanted - 9)
