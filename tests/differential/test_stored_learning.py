"""One mail is learnt by the compiled engine byte for byte as by what it stands for."""

import fcntl
import io
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fuzz.forge import put_together, taken_apart
from fuzz.models import learn
from fuzz.stored import MESSAGES
from nbtext import SettingsOverrides, set_policy, train_on
from nbtext.cli import _plain
from nbtext.counts import calibration, fitting
from nbtext.counts.calibration import bin_of
from nbtext.document import Document
from nbtext.errors import ModelWriteError, NbtextError
from nbtext.learning import LearnRequest, lesson, one_by_one, plan, stored
from nbtext.learning.lesson import PRIOR, lesson_of
from nbtext.learning.stored import StoredLearner, learn_stored
from nbtext.policy import Policy
from nbtext.scoring.held_out import no_calibration
from nbtext.scoring.models.mean import Mean
from nbtext.scoring.stored import FEW, FEW_BYTES, packed
from nbtext.store import (
    appending,
    compact,
    compacting,
    contents,
    open_model,
    read_contents,
    replace_model,
)
from nbtext.textform import load_text, text_lines
from nbtext.tokens.engine import engine
from nbtext.tokens.key_reading import PackedTerms
from nbtext.tokens.kinds import reader_of
from tests.build import HAM, SPAM, learnt, mail
from tests.differential.test_stored import HEADERS, INPUTS, PAIRS, Run, run, trained

__all__ = ["run", "trained"]  # fixtures

ROOT = Path(__file__).parents[2]
CORPUS = Path(ROOT.parent, "shared", "corpora", "mail-unlabelled")
NEW = mail(77, SPAM)
NOW = "2026-01-01T00:00:00+00:00"

if engine().is_compiled:
    from nbtext._compiled import StoredModel, newton
else:
    pytest.skip("there is no extension", allow_module_level=True)


@pytest.fixture
def model(trained: Path, tmp_path: Path) -> Path:
    path = tmp_path / "model.nbt"
    path.write_bytes(trained.read_bytes())
    return path


@pytest.fixture(autouse=True)
def _time_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (one_by_one, plan, stored, contents):
        monkeypatch.setattr(module, "now", lambda: NOW)


def agree(path: Path, label: str | None, messages: Sequence[bytes]) -> bool:
    """Learn by both engines; return whether the compiled one did it."""
    before = path.read_bytes()
    found = learn_stored(str(path), label, messages)
    quick = path.read_bytes()
    path.write_bytes(before)
    learn(path, label, messages)
    assert quick == (before if found is None else path.read_bytes())
    return found is not None


def test_a_stream_of_mail(model: Path) -> None:
    random = Random(4)  # noqa: S311  no secret
    n_quick = 0
    for _ in range(25):
        words, label = random.choice([(HAM, "ham"), (SPAM, "spam"), (HAM, "spam")])
        some = [
            mail(random.randrange(100), words) for _ in range(random.choice((1, 3)))
        ]
        n_quick += agree(model, label, some)
    assert 8 < n_quick < 25  # the others were known in the other class, or copies


@pytest.mark.parametrize("name", INPUTS)
def test_whatever_a_mail_is(model: Path, name: str) -> None:
    agree(model, "spam", [INPUTS[name]])


@pytest.mark.parametrize("name", [*HEADERS, "long", "many words", "no words"])
def test_mails_of_odd_form(model: Path, name: str) -> None:
    odd = {
        **HEADERS,
        "long": NEW + b"money winner lottery\n" * 500,
        "many words": NEW + " ".join(f"word{n}" for n in range(3_000)).encode(),
        "no words": b"\n",
    }

    is_read = name not in ("continued first", "no words")  # by the compiled reader
    assert agree(model, "ham", [odd[name], NEW]) == is_read


def test_mail_that_is_known_is_not_learnt_again(model: Path) -> None:
    assert agree(model, "spam", [NEW])
    whole = model.read_bytes()

    assert learn_stored(str(model), "spam", [NEW]) == ("known",)
    some = [mail(78, SPAM), NEW]
    assert learn_stored(str(model), "spam", some) == ("learnt", "known")
    assert learn_stored(str(model), "ham", [mail(79, HAM), NEW]) is None
    assert model.read_bytes()[: len(whole)] == whole


def test_what_was_moved_or_forgotten_is_known_where_it_is(model: Path) -> None:
    learn(model, "spam", [NEW, mail(78, SPAM)])
    learn(model, "ham", [NEW])
    learn(model, None, [mail(78, SPAM)])

    assert learn_stored(str(model), "ham", [NEW]) == ("known",)
    assert learn_stored(str(model), None, [mail(78, SPAM)]) == ("refused",)
    assert agree(model, "ham", [mail(78, SPAM)])


@pytest.mark.parametrize("n_mails", [1, 2, FEW])
@pytest.mark.parametrize("keep", [0, 1, 5])
def test_undo_records(model: Path, n_mails: int, keep: int) -> None:
    request = LearnRequest(str(model), "ham", keep=keep)
    learnt(request, [Document("-", (mail(60, HAM),))])

    assert agree(model, "spam", [mail(61 + n, SPAM) for n in range(n_mails)])
    assert open_model(str(model)).tables[-1].header.history.keep == keep


def test_a_last_block_of_any_length_has_its_checksum(model: Path) -> None:
    lengths = set()
    for n in range(16):  # of words that are counted in the last of the arrays
        words = " ".join(f"word{k}" for k in range(n)).encode()
        assert agree(
            model, "spam", [mail(100 + 2 * n, SPAM) + words, mail(101 + 2 * n, HAM)]
        )
        arrays = open_model(str(model)).tables[-1].arrays
        lengths.add((arrays.end - arrays.offset) % 16)
    assert len(lengths) >= 8


def test_a_model_that_was_outgrown(model: Path) -> None:
    known = open_model(str(model)).tables[0].header.documents
    many = [mail(200 + n, SPAM) for n in range(max(known) + 20)]
    learn(model, "spam", many)
    counts = [
        n
        for _, _, n in open_model(str(model))
        .tables[-1]
        .header.calibrations[0]["counts"]
    ]
    assert min(counts) < 0  # what was scored before is taken away

    assert agree(model, "ham", [NEW])
    assert agree(model, "spam", [mail(78, SPAM), mail(79, HAM)])


def test_a_policy_stays(model: Path) -> None:
    set_policy(str(model), Policy(threshold=0.9, prior=(("spam", 0.2),)))

    assert agree(model, "spam", [NEW])
    assert open_model(str(model)).policy == Policy(0.9, prior=(("spam", 0.2),))


def test_a_model_that_was_compacted(model: Path) -> None:
    learn(model, "spam", [NEW])
    compact(str(model))

    assert agree(model, "spam", [mail(78, SPAM)])


CLASSES = ("ham", "spam")


def histograms() -> Iterator[dict[tuple[int, str], int]]:
    """What may have been held out: much, nothing, far away, in one class."""
    random = Random(9)  # noqa: S311  no secret
    yield {}
    yield {(4096, "spam"): 1, (-4096, "ham"): 1}
    yield {(3, "spam"): 500}
    yield {(0, "spam"): 1 << 39, (1, "ham"): 1 << 39}
    yield {(-80, "spam"): 50, (80, "ham"): 70, (3, "spam"): 9}  # all contradicts
    yield {(5, "spam"): -2, (7, "ham"): 4, (8, "work"): 3}
    for size in (1, 10, 100, 1000, 3000):
        for spread in (1, 5, 80):
            yield {
                (bin_of(random.gauss(place * 2 - 1, 1) * spread), label): (
                    random.choice((1, 1, 2, 50))
                )
                for _ in range(size)
                for place, label in enumerate(CLASSES)
            }


@pytest.mark.parametrize("number", range(21))
def test_every_bit_of_the_fit(model: Path, number: int) -> None:
    counts = [*histograms()][number]
    whole = read_contents(open_model(str(model)))
    nothing = no_calibration(whole.scoring, 2)
    held_out = (nothing._replace(counts=counts),)
    changed = replace(whole, calibrations=held_out)
    model.write_bytes(b"".join(map(bytes, changed.pack())))

    assert agree(model, "spam", [NEW])
    assert agree(model, "ham", [mail(78, HAM)])


def test_the_prior_is_that_of_the_mean() -> None:
    assert Mean().prior(2) == PRIOR


@pytest.mark.parametrize("name", ["BINS_A_NAT", "ROUNDED", "FARTHEST_BIN", "MOST"])
def test_bins_are_those_of_calibration(name: str) -> None:
    assert getattr(lesson, name) == getattr(calibration, name)


@pytest.mark.parametrize("name", ["LEAST_SLOPE", "PINNED"])
def test_the_least_slope_is_that_of_fitting(name: str) -> None:
    assert getattr(lesson, name) == getattr(fitting, name)


def test_what_are_no_rows_of_scores_is_refused() -> None:
    for odd in (bytes(8), bytes(17), bytes(24)):
        with pytest.raises(ValueError, match="no scores"):
            newton(memoryview(odd), 16, 0.5, 0.0, *PRIOR)


@given(st.floats(-300, 300))
@example(0.0)
@example(-1 / 16)
@example(1 / 16 - 1e-17)
def test_a_score_has_the_bin_that_calibration_gives_it(score: float) -> None:
    assert lesson.bin_of(score) == bin_of(score)


# --- a model that stays open -----------------------------------------------


def test_a_model_that_stays_open_is_taught_the_same(model: Path) -> None:
    random = Random(6)  # noqa: S311  no secret
    other = model.with_name("other.nbt")
    other.write_bytes(model.read_bytes())
    learner = StoredLearner(str(model), is_kept=True)
    n_quick = 0
    for number in range(60):
        words, label = random.choice([(HAM, "ham"), (SPAM, "spam")])
        some = [
            mail(random.randrange(100), words) for _ in range(random.choice((1, 2)))
        ]
        found = learner.learn(label, some)
        n_quick += found is not None
        for path in (model, other) if found is None else (other,):
            learn(path, label, some)
        if number % 9 == 5:  # others write, too
            for path in (model, other):
                learn(path, "ham", [mail(number, SPAM)])
        if number % 20 == 19:
            for path in (model, other):
                compact(str(path))
        assert model.read_bytes() == other.read_bytes()
    assert n_quick > 30


def test_a_model_of_other_views_that_takes_its_place_is_read_by_these(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def counted(views: Any) -> Any:
        made.append(views)
        return reader_of(views)

    monkeypatch.setattr(stored, "reader_of", counted)
    learner = StoredLearner(str(model), is_kept=True)
    other, new = model.with_name("other.nbt"), model.with_name("new.nbt")
    for ngrams in (2, 2, 1):
        train_on(PAIRS, str(new), overrides=SettingsOverrides(ngrams=ngrams))
        other.write_bytes(new.read_bytes())
        new.replace(model)
        assert learner.learn("spam", [NEW]) == ("learnt",)
        learn(other, "spam", [NEW])
        assert model.read_bytes() == other.read_bytes()
    assert len(made) == 2  # one for each kind of views: it takes time to make


def test_a_tail_in_memory_changes_no_score(model: Path) -> None:
    learn(model, "spam", [NEW, mail(78, SPAM), mail(3, HAM)])
    learn(model, "ham", [NEW, mail(4, SPAM)])
    learn(model, None, [mail(78, SPAM), PAIRS[0][1]])
    for number in range(20):
        learn(model, "ham", [mail(60 + number, HAM)])
    whole = model.read_bytes()
    plain, gathered = StoredModel(whole), StoredModel(whole)
    gathered.gather(None)
    grown = StoredModel(whole[: plain.tables()[0][0]])
    grown.gather(plain)
    start = plain.tables()[0][0]
    for length, _ in plain.tables()[1:]:
        assert grown.append(whole[start : start + length])
        start += length
    assert grown.tables() == plain.tables()
    reader = reader_of(plain.views())
    for message in [*MESSAGES, NEW, *(mail(n, SPAM + HAM) for n in range(20))]:
        views, _ = reader.read((message,))
        expected = plain.score(views)
        assert expected is not None
        assert gathered.score(views) == expected == grown.score(views)


@pytest.mark.parametrize("is_same", [True, False])
def test_only_a_model_with_the_same_first_table_takes_counts_over(
    model: Path, monkeypatch: pytest.MonkeyPatch, is_same: bool
) -> None:
    learn(model, "spam", [NEW])
    whole = model.read_bytes()
    (lying, *_) = open_model(str(model)).tables
    theirs = bytearray(whole)
    old, before = StoredModel(whole), StoredModel(memoryview(theirs))
    before.gather(None)
    learn(model, "ham", [mail(60 + number, HAM) for number in range(20)])
    if is_same:
        monkeypatch.setattr(compacting, "SHARE", 0)
        compacting.compact_tail(str(model))
    else:
        with_more(model, 1)
    plain, after = (StoredModel(model.read_bytes()) for _ in range(2))
    length, _ = old.tables()[0]
    assert (model.read_bytes()[:length] == whole[:length]) is is_same
    after.gather(before)
    after.gather(before)  # once more is the same
    for message in (NEW, mail(78, SPAM), mail(3, HAM)):
        keys = _read(plain, message)
        assert after.score(keys) == plain.score(keys) != old.score(keys)
        assert before.score(keys) == old.score(keys)
    # who has counts in memory does not see that those in the file are gone
    for name, (start, values) in lying.arrays._lying.items():
        if name.endswith((".codes", ".classes", ".occurrences")):
            begin = lying.arrays.offset + start
            theirs[begin : begin + values.nbytes] = bytes(values.nbytes)
    for message in (NEW, mail(78, SPAM), mail(3, HAM)):
        keys = _read(plain, message)
        assert (before.score(keys) != old.score(keys)) is is_same
        assert after.score(keys) == plain.score(keys)


@pytest.mark.parametrize("more", [1, 2**32 - 3, 2**32 - 2, 2**32 - 1, 2**32, 2**40])
def test_counts_in_memory_may_be_of_any_size(model: Path, more: int) -> None:
    """Those of 32 bits and more stay in the file."""
    before = StoredModel(model.read_bytes())
    with_more(model, more)
    plain, gathered = (StoredModel(model.read_bytes()) for _ in range(2))
    gathered.gather(None)
    for message in (NEW, mail(78, SPAM), mail(3, HAM)):
        keys = _read(plain, message)
        expected = plain.score(keys)
        assert gathered.score(keys) == expected != before.score(keys)


def with_more(model: Path, more: int) -> None:
    """Count every third term of a model more often in each class that has it."""
    header, *lines = _lines(model)
    for term in [term for term in lines if "term" in term][::3]:
        for label, counts in term["counts"].items():
            counts[0] += more
            header["classes"][label]["totals"][term["view"]][0] += more
    _write_lines(model, [header, *lines])


def _lines(model: Path) -> list[dict[str, Any]]:
    """Return the text of a model, line by line."""
    text = text_lines(read_contents(open_model(str(model))), str(model))
    return [json.loads(line) for line in text]


def _write_lines(model: Path, lines: Sequence[dict[str, Any]]) -> None:
    *rest, last = lines
    whole = [*rest, last | {"lines": len(lines)}]
    text = "\n".join(map(json.dumps, whole)).encode()
    packed = load_text(io.BytesIO(text), "a text").contents.pack()
    replace_model(str(model), packed, replace=True)


@pytest.mark.parametrize("n_others", [0, 300_000])
def test_keys_in_memory_may_lie_together(model: Path, n_others: int) -> None:
    """Those that an attacker has chosen, of one bucket, and of the same lower half."""
    random = Random(54)  # noqa: S311  no secret
    close = {*range(0xABCD00000000, 0xABCD00000000 + 2 * 700, 2)}
    alike = {upper << 32 | 0x12345678 for upper in range(1, 0x10000, 40)}
    ends = {0, 1, (1 << 48) - 1, (1 << 48) - 2, 0xFFFF00000000, 0xFFFFFFFF}
    others = {random.getrandbits(48) for _ in range(n_others)}
    known = with_terms(model, close | alike | ends | others)
    plain, gathered = (StoredModel(model.read_bytes()) for _ in range(2))
    gathered.gather(None)
    some = [*close, *alike, *ends, *[*others][:2_000]]
    wide = [key | 1 << bit for key in some[::9] for bit in (48, 50, 63)]
    asked = [*some, *(key + 1 for key in some), *wide]
    asked += [random.getrandbits(48) for _ in range(2_000)]
    for keys in [*([key] for key in asked), asked]:
        found = gathered.score(document_of(keys))
        assert found == plain.score(document_of(keys))
        assert found is not None
        assert found[0][0][1] == sum(key in known for key in keys)


def with_terms(model: Path, keys: Collection[int]) -> set[int]:
    """Have a model count terms of these keys in a view; return all keys that has."""
    header, *lines = _lines(model)
    of_body = {line["term"]: line for line in lines if line.get("view") == "body"}
    for key in keys:
        name, label = f"{key:012x}", ("ham", "spam")[key % 3 == 0]
        if name not in of_body:
            n_times = 1 + key % 7
            of_body[name] = {
                "term": name, "view": "body", "counts": {label: [n_times, 1]}
            }  # fmt: skip
            totals = header["classes"][label]["totals"]["body"]
            totals[:] = [totals[0] + n_times, totals[1] + 1]
    first = next(n for n, line in enumerate(lines) if line.get("view") == "body")
    lines = [line for line in lines if line.get("view") != "body"]
    lines[first:first] = [of_body[name] for name in sorted(of_body)]
    _write_lines(model, [header, *lines])
    return {int(name, 16) for name in of_body}


def document_of(keys: Iterable[int]) -> PackedTerms:
    """Return the keys of a document whose terms are all of the view of the body."""
    of_body = b"".join(key.to_bytes(8, "little") for key in keys)
    return packed(b""), packed(b""), packed(of_body)


@pytest.mark.parametrize(
    "odd",
    [
        (bytes(8), b"\1", bytes(8)),  # half a count
        (bytes(16), b"\1\0", (2).to_bytes(8, "little")),
        (bytes(8), b"", (2).to_bytes(8, "little")),
        (bytes(8), b"", bytes(16)),
    ],
)
def test_terms_that_are_not_there_are_not_scored(
    model: Path, odd: tuple[bytes, bytes, bytes]
) -> None:
    stored_model = StoredModel(model.read_bytes())

    with pytest.raises(ValueError, match="no terms of documents"):
        stored_model.score((packed(b""), odd, packed(b"")))


def test_what_is_no_table_of_a_model_is_not_added(model: Path) -> None:
    whole = model.read_bytes()
    stored_model = StoredModel(whole)
    reader = reader_of(stored_model.views())
    header = {"writer": "me", "written": NOW}
    found = lesson_of(
        stored_model, reader, "spam", [NEW], header, lambda: StoredModel(whole)
    )
    assert found is not None
    table = found[1]
    for odd in (b"", whole, table[:-1], table + b"\xc0", bytes(len(table))):
        assert not StoredModel(whole).append(odd)
    stored_model.append(table)

    assert not stored_model.append(table)  # which stands elsewhere


def _read(stored_model: StoredModel, message: bytes) -> PackedTerms:
    views, facts = reader_of(stored_model.views()).read((message,), False, False)
    assert facts[-8:] != bytes(8)
    return views


# --- what is not done here --------------------------------------------------


def not_done(path: Path, label: str | None, messages: Sequence[bytes]) -> None:
    before = path.read_bytes()

    assert learn_stored(str(path), label, messages) is None
    assert path.read_bytes() == before


OTHERS = {
    "score": SettingsOverrides(score="complement"),
    "counting": SettingsOverrides(counting="once"),
    "no ledger": SettingsOverrides(ledger=False),
    "columns": SettingsOverrides(score="weighted"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_models(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "other.nbt"
    train_on(PAIRS, str(path), overrides=OTHERS[kind])

    not_done(path, "spam", [NEW])


def test_texts_three_classes_and_keyed_models(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    train_on([("spam", "money"), ("ham", "lunch")], str(tmp_path / "text.nbt"))
    train_on([*PAIRS, ("work", NEW)], str(tmp_path / "three.nbt"))
    train_on(PAIRS, str(tmp_path / "keyed.nbt"), keyed=str(secret))

    for name in ("text", "three", "keyed"):
        not_done(tmp_path / f"{name}.nbt", "spam", [mail(78, SPAM)])


def test_other_classes_and_other_mail(model: Path) -> None:
    not_done(model, "work", [NEW])
    not_done(model, "", [NEW])
    not_done(model, "spam", [b""])
    not_done(model, "spam", [NEW, NEW])
    not_done(model, "spam", [mail(n, SPAM) for n in range(FEW + 1)])
    not_done(model, "spam", [NEW + b"x" * FEW_BYTES])
    assert learn_stored(str(model), "spam", [NEW], ("ham", "junk")) is None


def test_files_that_are_none_or_not_ours(model: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "pipe")

    for name in ("empty", "pipe", "missing", ".", "a\0b"):
        assert learn_stored(str(tmp_path / name), "spam", [NEW]) is None
    with model.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        not_done(model, "spam", [NEW])


def test_a_tail_that_is_cut_off(model: Path) -> None:
    learn(model, "spam", [NEW])
    model.write_bytes(model.read_bytes()[:-10])

    not_done(model, "spam", [mail(78, SPAM)])


@pytest.mark.parametrize("tail", [0, 2], ids=["due again at once", "due"])
@pytest.mark.parametrize("is_kept", [False, True], ids=["opened", "kept open"])
def test_a_tail_that_is_due_is_compacted_first(
    model: Path, monkeypatch: pytest.MonkeyPatch, tail: int, is_kept: bool
) -> None:
    learner = StoredLearner(str(model), is_kept=is_kept)
    for n in range(2):
        assert learner.learn("spam", [mail(70 + n, SPAM)]) == ("learnt",)
    before = model.read_bytes()
    monkeypatch.setattr(appending, "TAIL", tail)

    assert learner.learn("ham", [NEW]) == ("learnt",)

    quick = model.read_bytes()
    assert len(open_model(str(model)).tables) == 2  # what was there, and the new one
    assert learner.learn("ham", [NEW]) == ("known",)
    model.write_bytes(before)
    learn(model, "ham", [NEW])
    assert model.read_bytes() == quick


@pytest.mark.parametrize(
    ("label", "classes"), [("work", None), ("spam", ("spam", "work"))]
)
def test_a_tail_is_not_compacted_where_the_class_is_not_there(
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
    label: str,
    classes: tuple[str, str] | None,
) -> None:
    learn(model, "spam", [NEW])
    monkeypatch.setattr(appending, "TAIL", 0)
    whole = model.read_bytes()

    assert learn_stored(str(model), label, [mail(78, SPAM)], classes) is None
    assert model.read_bytes() == whole


def test_a_bin_that_is_full(model: Path) -> None:
    """It stays so, which `nbtext.learning.stream` sees to."""
    learn(model, "spam", [NEW])
    first, second = taken_apart(model.read_bytes())
    [(bin_, _, _)] = second.header["calibrations"][0]["counts"]
    full = [[bin_, "ham", 3], [bin_, "spam", calibration.MOST]]
    first.header["calibrations"][0]["counts"] = full
    model.write_bytes(put_together([first]))

    not_done(model, "spam", [NEW])
    learn(model, "spam", [NEW])
    assert open_model(str(model)).tables[-1].header.calibrations[0]["fit"][-1] > 0


def test_a_tail_that_cannot_be_compacted_is_left_to_stream(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: str, **_: bool) -> None:
        raise ModelWriteError(path)

    learn(model, "spam", [NEW])
    monkeypatch.setattr(appending, "TAIL", 1)
    monkeypatch.setattr(compacting, "compact_tail", fail)

    not_done(model, "spam", [mail(78, SPAM)])
    learn(model, "spam", [mail(78, SPAM)])

    assert len(open_model(str(model)).tables) == 3


def test_a_file_that_is_replaced_meanwhile(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = model.read_bytes()
    append = appending.append_table

    def replaced(path: str, *rest: object) -> None:
        append(path, *rest)  # type: ignore[arg-type]  # what it was called with
        other.replace(path)

    other = model.with_name("other")
    other.write_bytes(whole)
    monkeypatch.setattr(stored, "append_table", replaced)

    assert learn_stored(str(model), "spam", [NEW]) is None
    assert model.read_bytes() == whole


@pytest.mark.parametrize("name", ["pwrite", "fsync", "fdatasync"])
def test_a_disk_that_fails(
    model: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    whole = model.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, name, fail)
        with pytest.raises(ModelWriteError, match="left on device; it is as good as"):
            learn_stored(str(model), "spam", [NEW])

    assert open_model(str(model)).size == len(whole)


def test_a_changed_bit_is_noticed_or_makes_no_difference(model: Path) -> None:
    learn(model, "ham", [mail(60, HAM), mail(61, HAM)])
    whole = model.read_bytes()
    n_refused = n_learnt = 0
    for place in range(0, len(whole), 151):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        model.write_bytes(changed)
        if learn_stored(str(model), "spam", [NEW]) is None:
            assert model.read_bytes() == changed
            n_refused += 1
            continue
        quick = model.read_bytes()
        model.write_bytes(changed)
        with suppress(NbtextError):  # which looks at other blocks, too
            learn(model, "spam", [NEW])
            assert model.read_bytes() == quick
        n_learnt += 1
    assert n_refused > 10
    assert n_learnt > 10


# --- the command ------------------------------------------------------------

COMMANDS = [
    ["learn", "spam", "-m"],
    ["learn", "-q", "ham", "-m"],
    ["bogofilter", "-s", "--model"],
    ["bogofilter", "-n", "--model"],
    ["bogofilter", "-Ns", "--model"],
]


@pytest.mark.parametrize("is_pipe", [True, False], ids=["pipe", "file"])
@pytest.mark.parametrize("options", COMMANDS, ids=" ".join)
def test_the_command_does_the_same_with_and_without_it(
    run: Run,
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    is_pipe: bool,
) -> None:
    inputs = INPUTS if is_pipe else HEADERS | {"mbox": INPUTS["mbox of one"]}

    def teach(data: bytes) -> object:
        return run([*options, str(model)], data, is_pipe=is_pipe)

    assert 5 < n_quick_alike(monkeypatch, model, teach, inputs) < len(inputs)


def n_quick_alike(
    monkeypatch: pytest.MonkeyPatch,
    model: Path,
    teach: Callable[[bytes], object],
    inputs: Mapping[str, bytes],
) -> int:
    """
    Check that a command says and does the same with the compiled engine and without.

    Args:
        monkeypatch: takes the engine away.
        model: as it is before each of the inputs.
        teach: the command, for one of them.
        inputs: what it is to learn or to forget.

    Returns:
        How often the compiled engine has done it.
    """
    whole = model.read_bytes()
    n_quick = 0

    def quickly(*given: object) -> object:
        nonlocal n_quick
        found = learn_stored(*given)  # type: ignore[arg-type]  # as it is called
        n_quick += found is not None
        return found

    def each() -> dict[str, tuple[object, bytes]]:
        outcomes: dict[str, tuple[object, bytes]] = {}
        for name, data in inputs.items():
            model.write_bytes(whole)
            outcomes[name] = teach(data), model.read_bytes()
        return outcomes

    with monkeypatch.context() as patch:
        patch.setattr(stored, "learn_stored", quickly)
        found = each()
        patch.setattr(stored, "learn_stored", lambda *_: None)
        assert found == each()
    return n_quick


@pytest.mark.parametrize("name", ["mail", "mail.eml", "no.eml/mail", "mail.txt", "m=l"])
def test_a_file_is_learnt_as_from_standard_input(
    run: Run, model: Path, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(NEW)
    (tmp_path / "l").write_bytes(NEW)
    other = tmp_path / "other.nbt"
    other.write_bytes(model.read_bytes())
    run(["learn", "spam", "-m", str(other)], NEW, is_pipe=True)

    code, out, err = run(
        ["learn", "spam", str(path), "-m", str(model)], b"", is_pipe=True
    )

    if name != "m=l":  # which is a label and a path
        assert (code, out, err) == (0, b"", "learnt 1 document as spam\n")
        assert model.read_bytes() == other.read_bytes()


def test_a_path_where_the_class_should_be_is_told_before_anything_is_read(
    run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mail.eml"
    path.write_bytes(NEW)
    monkeypatch.setattr(_plain, "read_mail", lambda *_, **__: pytest.fail("it is read"))

    code, _, err = run(["learn", str(path), "-m", str(model)], NEW, is_pipe=True)

    assert code == 64
    assert "stands where the class should" in err


@pytest.mark.parametrize(
    ("arguments", "is_quick"),
    [
        (["learn", "spam"], True),
        (["bogofilter", "-n"], True),
        (["learn", "--json", "spam"], False),
        (["learn", "spam", "--keyed", "none"], False),
        (["forget"], True),
        (["forget", "--json"], False),
        (["bogofilter", "-Sn"], True),
        (["bogofilter", "-s", "-v"], False),
        (["bogofilter", "-S"], False),
    ],
    ids=str,
)
def test_which_command_lines_are_quick(
    run: Run,
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    is_quick: bool,
) -> None:
    asked = []
    monkeypatch.setattr(stored, "learn_stored", lambda *given: asked.append(given))

    run([*arguments, "--model", str(model)], NEW, is_pipe=True)

    assert bool(asked) == is_quick


@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS.exists(), reason="the corpora are not here")
def test_real_mail(tmp_path: Path) -> None:
    from nbtext import train

    path = tmp_path / "model.nbt"
    files = sorted(Path(CORPUS, "a").iterdir())[:400]
    others = sorted(Path(CORPUS, "b").iterdir())[:300]
    train(
        [f"ham={one}" for one in files[:300]] + [f"spam={one}" for one in others],
        str(path),
    )
    random = Random(1)  # noqa: S311  no secret
    n_quick = 0
    for file in files[300:350]:
        n_quick += agree(path, random.choice(CLASSES), [file.read_bytes()])
    assert n_quick > 45
