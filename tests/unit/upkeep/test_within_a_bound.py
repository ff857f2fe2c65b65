"""Whatever works on whole models makes the same bytes within any bound on memory."""

import io
import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nbtext import learn, train_on
from nbtext.counts import TermTable, room
from nbtext.counts.room import bounded, is_in_file
from nbtext.counts.sorted_counts import Keys
from nbtext.counts.term_table import Places
from nbtext.errors import NoRoomError
from nbtext.learning import SettingsOverrides
from nbtext.store import Contents, open_model, read_contents
from nbtext.store.packing import arranged
from nbtext.textform import load_text, text_lines
from nbtext.upkeep import check_model, merge, open_models, prune
from tests.build import HAM, SPAM, STAMP, confusing

Work = Callable[[list[str]], bytes]

LITTLE = 1 << 12
"""A bound within which nearly every array is in a file."""


@pytest.fixture(autouse=True)
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut small arrays into many ranges, too."""
    monkeypatch.setattr(room, "LEAST_BOUND", LITTLE)
    monkeypatch.setattr("nbtext.store.entries.TERMS", 64)
    monkeypatch.setattr("nbtext.counts.sorted_counts.RANGE", 32)
    monkeypatch.setattr("nbtext.counts.sorted_counts.BOUNDS", 4)
    monkeypatch.setattr("nbtext.textform.counts.GATHERED", 50)


def documents(first: int, n: int = 40) -> Iterator[tuple[str, str]]:
    for number in range(first, first + n):
        for label, words in (("ham", HAM), ("spam", SPAM)):
            text = " ".join(words[number % 7 :] + words[: number % 3])
            yield label, f"{text} n{number} n{number * 7 + (label == 'ham')}"


@pytest.fixture
def models(tmp_path: Path) -> list[str]:
    """Three models, the last of several tables; documents of two are the same."""
    paths = [str(tmp_path / name) for name in ("a.nbt", "b.nbt", "c.nbt")]
    for number, path in enumerate(paths):
        train_on(documents(20 * number), path)
    learn(paths[2], "spam", ["cheap pills and a meeting", "one more of these"])
    return paths


def merged(paths: list[str]) -> bytes:
    found = merge([*open_models(paths)])
    text = f"{found.doubles} {sorted(found.labels.items())}"
    return packed(found.contents) + text.encode()


def merged_in_turn(paths: list[str]) -> bytes:
    return packed(merge(open_models(paths)).contents)


def compacted(paths: list[str]) -> bytes:
    return packed(read_contents(open_model(paths[2])))


def pruned(paths: list[str]) -> bytes:
    done = prune(read_contents(open_model(paths[2])), 3)
    return packed(done.contents) + repr((done.terms, done.tokens)).encode()


def dumped(paths: list[str]) -> bytes:
    lines = text_lines(read_contents(open_model(paths[2])), "c.nbt")
    return "\n".join(line for line in lines if "written" not in line).encode()


def loaded(paths: list[str]) -> bytes:
    text = "\n".join([*text_lines(read_contents(open_model(paths[2])), "c.nbt"), ""])
    return packed(load_text(io.BytesIO(text.encode()), "c.jsonl").contents)


def checked(paths: list[str]) -> bytes:
    found = check_model(paths[2])
    return repr((found.is_sound, len(found.parts), found.notes)).encode()


def packed(contents: Contents) -> bytes:
    return b"".join(contents.pack(written=STAMP))


WORKS = [merged, merged_in_turn, compacted, pruned, dumped, loaded, checked]


@pytest.mark.parametrize("work", WORKS)
def test_the_result_is_the_same_within_any_bound(work: Work, models: list[str]) -> None:
    unbounded = work(models)

    with bounded(0):
        within = work(models)

    assert within == unbounded


def test_counts_and_terms_of_a_model_are_in_files(models: list[str]) -> None:
    with bounded(0):
        counts = read_contents(open_model(models[0])).counts
        terms = arranged(counts)

    for of_view in counts.runs:
        assert all(is_in_file(run.keys) for run in of_view if len(run) > 100)
    assert any(is_in_file(table.keys) for table in terms)


def test_models_of_text_with_a_correction_are_the_same(tmp_path: Path) -> None:
    path = str(tmp_path / "text.nbt")
    train_on(confusing(), path, overrides=SettingsOverrides(score="contrast"))
    assert open_model(path).correction is not None
    unbounded = [compacted([path] * 3), pruned([path] * 3), loaded([path] * 3)]

    with bounded(0):
        within = [compacted([path] * 3), pruned([path] * 3), loaded([path] * 3)]

    assert within == unbounded


def test_terms_that_have_values_are_looked_for_range_by_range(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, sizes, find = str(tmp_path / "text.nbt"), [0], TermTable.find

    def counted(table: TermTable, keys: Keys) -> Places:
        sizes.append(len(keys))
        return find(table, keys)

    train_on(confusing(), path, overrides=SettingsOverrides(score="contrast"))
    contents = read_contents(open_model(path))
    monkeypatch.setattr(TermTable, "find", counted)

    prune(contents, 2)

    assert 0 < max(sizes) < 100 < max(map(len, contents.counts.runs[0]))


@pytest.mark.parametrize("work", [merged, compacted, loaded])
def test_a_full_temporary_folder_is_named(
    work: Work,
    models: list[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    def full(*_: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "posix_fallocate", full)
    monkeypatch.setattr("nbtext.counts.room.write_all", full)
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    with bounded(0), pytest.raises(NoRoomError, match="No space left on device"):
        work(models)


def test_models_opened_in_turn_may_be_more_than_files_may_be_open(
    tmp_path: Path,
) -> None:
    kinds = [str(tmp_path / f"{kind}.nbt") for kind in range(5)]
    for kind, path in enumerate(kinds):
        train_on(documents(7 * kind, 4), path)
    paths = []
    for number in range(150):
        link = tmp_path / f"{number:03}.nbt"
        link.hardlink_to(kinds[number % 5])
        paths.append(str(link))
    expected = merged_in_turn(paths[:75]), merged_in_turn(paths)
    assert packed(merge([*open_models(paths[:75])]).contents) == expected[0]

    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with (tmp_path / "one").open("w") as file:  # has the least number that is free
        in_use = file.fileno()
    resource.setrlimit(resource.RLIMIT_NOFILE, (in_use + 60, limits[1]))
    try:
        with bounded(1 << 18):
            found = merged_in_turn(paths)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)

    assert found == expected[1]
