"""
A correction is kept as it was made, and a document takes back what it has added.

`read_correction(open_model(pack(c)))` is c. What one message finds in place is what the
arrays have. After forgetting and moving in any order, one by one or in bulk, folded and
compacted or not, the correction is what the documents that are left have added, and the
biases make up for the others, bit for bit. Two corrections do not add up, and nobody
adds them.
"""

import json
from collections import Counter as Tally
from collections.abc import Callable, Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz import forge
from nbtext import forget, learn, train_on
from nbtext.counts.correction import BIAS, CorrectionInfo
from nbtext.counts.correction_table import Correction, add_corrections, correction_of
from nbtext.document import Document
from nbtext.errors import (
    DamagedError,
    ModelFileError,
    ModelWriteError,
    SettingsError,
    TextFormError,
)
from nbtext.learning import SettingsOverrides, steps, stream
from nbtext.learning.correction_change import CorrectionChange
from nbtext.scoring.model import load_model
from nbtext.scoring.models.registry import default_scoring
from nbtext.scoring.stored import FEW
from nbtext.settings.columns import UNIT
from nbtext.store import Row, compact, open_model, read_contents
from nbtext.store.compacting import compact_tail
from nbtext.store.corrections import read_correction
from nbtext.store.ledger import amounts_of
from nbtext.store.writing import replace_file
from nbtext.textform import load_text, text_lines
from nbtext.tokens.bag import bag_of, columns_of, fingerprint
from nbtext.tokens.reading import read
from nbtext.upkeep import (
    check_model,
    merge,
    open_models,
    prune,
    repair_model,
    take_doubles,
)
from tests.build import (
    NO_LEDGER,
    WEIGHTS,
    ClassCounts,
    corrected_terms,
    correction_values,
    packed,
    table_of,
    values,
)

LABELS = ("a", "b", "c")
TEXTS = [f"{LABELS[n % 3]} words {n} {'more ' * (n % 4)}!" for n in range(FEW + 5)]
INFO = CorrectionInfo(
    default_scoring("mail", 3).of_scores(), 0.75, 1.5, 17, {"passes": 3, "eta": 0.5}
)

PURE = SettingsOverrides(correction=False, threes=False)
"""Pure counts, read as `default_settings_of_texts` says."""

Amounts = Mapping[int, Mapping[str, int]]
"""The amounts of each document, by class."""

SAME_FOLDER = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)

KEYS = st.integers(0, 2**48 - 1) | st.sampled_from([0, 1, 2**47, 2**48 - 1])
VALUES = st.integers(-(2**53) + 1, 2**53 - 1) | st.integers(-2, 2)
WORDS = st.integers(0, 2**64 - 1) | st.integers(0, 2)


@st.composite
def corrections(draw: st.DrawFn) -> Correction:
    """Draw any correction of one view and three classes."""
    places = st.integers(0, 2)
    cells = draw(st.dictionaries(st.tuples(KEYS, places), VALUES, max_size=40))
    rows = draw(
        st.dictionaries(
            st.tuples(WORDS, WORDS, WORDS, places, places),
            st.integers(-(2**40), 2**40),
            max_size=12,
        )
    )
    view = (
        np.array([key for key, _ in cells], np.uint64),
        np.array([place for _, place in cells], np.uint16),
        np.array([*cells.values()], np.int64),
    )
    amounts = (
        np.array([row[:3] for row in rows], np.uint64).reshape(-1, 3),
        np.array([row[3] for row in rows], np.int64),
        np.array([row[4] for row in rows], np.int64),
        np.array([*rows.values()], np.int64),
    )
    return correction_of(INFO, LABELS, [view], amounts)


COUNTED = table_of(
    {label: ClassCounts(1, [{7: (1, 1, 1)}], {(1, 2, 3): 1}) for label in LABELS},
    WEIGHTS,
)


def unnamed(correction: Correction | None) -> Any:
    """Return all of a correction but its identity."""
    info, *rest = correction_values(correction) or (None,)
    return info and info._replace(identity=b""), rest


@given(corrections())
@SAME_FOLDER
def test_a_correction_comes_back_as_it_was(
    tmp_path: Path, correction: Correction
) -> None:
    path = tmp_path / "model.nbt"
    path.write_bytes(packed(COUNTED, correction=correction))

    file = open_model(str(path))

    found = read_correction(file)
    assert found is not None
    assert unnamed(found) == unnamed(correction)
    assert len(found.info.identity) == 16
    assert correction_values(read_contents(file).correction) == correction_values(found)
    assert packed(COUNTED, correction=found) == packed(COUNTED, correction=correction)


@given(corrections(), corrections())
@SAME_FOLDER
def test_one_message_finds_what_the_arrays_have(
    tmp_path: Path, correction: Correction, change: Correction
) -> None:
    path = tmp_path / "model.nbt"
    first = packed(COUNTED, default_scoring("mail", 3), correction=correction)
    path.write_bytes(first)
    whole = read_correction(open_model(str(path)))
    assert whole is not None
    info = whole.info.of_change()
    change = Correction(info, LABELS, change.biases, change.terms, change.amounts)
    path.write_bytes(
        first + packed(COUNTED, default_scoring("mail", 3), correction=change)
    )

    total = add_corrections([whole, change])
    found = load_model(str(path)).correction

    assert total is not None
    assert found is not None
    wanted: dict[int, dict[int, int]] = {}
    for (key, place), value in corrected_terms(total)[0].items():
        wanted.setdefault(key, {})[place] = value
    keys = {*wanted, 0, 1, 2**48 - 1}
    assert {k: dict(v) for k, v in found.found(0, keys).items()} == wanted
    assert (found.info, found.biases) == (total.info, total.biases)


def test_another_scoring_has_no_correction(tmp_path: Path) -> None:
    path, _ = corrected(tmp_path, {0: {"a": 1}})
    scoring = default_scoring("mail", 3)._replace(smoothing=0.5)

    assert load_model(str(path)).correction is not None
    assert load_model(str(path), scoring=scoring).correction is None


def test_a_model_without_a_ledger_has_none() -> None:
    table = table_of({"a": ClassCounts(1, [{7: (1, 1)}, {}])}, NO_LEDGER)

    with pytest.raises(ModelWriteError, match="ledger"):
        packed(table, correction=corrected_by({}))


def corrected_by(amounts: Amounts, to: str = "", moved: Any = ()) -> Correction:
    """
    Return what documents add to a correction, computed term by term.

    Args:
        amounts: what they add.
        to: a class that some have moved to.
        moved: the numbers of these.
    """
    place_of = {label: place for place, label in enumerate(LABELS)}
    reading_settings = default_settings_of_texts()
    views: list[list[tuple[int, int, int]]] = [[] for _ in reading_settings.views]
    rows: list[tuple[int, int, int, int, int, int]] = []
    for number, by_class in amounts.items():
        document = Document("", (TEXTS[number].encode(),))
        reading = read(document, reading_settings)
        bag = bag_of(reading, reading_settings)
        high, low = (int.from_bytes(reading.digest[n : n + 8], "big") for n in (0, 8))
        mark = fingerprint(bag)
        for label, amount in by_class.items():
            own = place_of[to if number in moved else LABELS[number % 3]]
            rows.append((high, low, mark, own, place_of[label], amount))
            for view, cells, terms in zip(
                reading_settings.views, views, bag, strict=True
            ):
                if "weight" not in view.columns:
                    continue
                for key, columns in columns_of(terms, view.columns).items():
                    weight = columns[view.column("weight")]
                    cells.append((key, place_of[label], amount * weight))
    arrays = [
        (
            np.array([cell[0] for cell in cells], np.uint64),
            np.array([cell[1] for cell in cells], np.int64),
            np.array([cell[2] for cell in cells], np.int64),
        )
        for cells in views
    ]
    entries = np.array([row[:3] for row in rows], np.uint64).reshape(-1, 3)
    labels, classes, numbers = (
        np.array([row[part] for row in rows], np.int64) for part in (3, 4, 5)
    )
    return correction_of(INFO, LABELS, arrays, (entries, labels, classes, numbers))


def default_settings_of_texts() -> Any:
    from nbtext.settings.reading import default_settings

    return default_settings("text", 3)


def corrected(tmp_path: Path, amounts: Amounts) -> tuple[str, Correction]:
    """Train a model of all texts, and give it a correction."""
    path = str(tmp_path / "model.nbt")
    pairs = [(LABELS[n % 3], text) for n, text in enumerate(TEXTS)]
    train_on(pairs, path, overrides=PURE, replace=True)
    contents = read_contents(open_model(path))
    correction = corrected_by(amounts)
    scoring = default_scoring("text", 3)
    corrected = replace(contents, scoring=scoring, correction=correction)
    replace_file(path, corrected.pack())
    return path, correction


AMOUNTS = st.dictionaries(
    st.integers(0, len(TEXTS) - 1),
    st.dictionaries(
        st.sampled_from(LABELS),
        st.integers(-300, 300).filter(bool),
        min_size=1,
    ),
)


@given(
    AMOUNTS,
    st.sets(st.integers(0, len(TEXTS) - 4), max_size=FEW),
    st.booleans(),
    st.sampled_from(["", "a", "b"]),
    st.sampled_from([None, compact, compact_tail]),
)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    max_examples=30,
)
def test_a_document_takes_back_what_it_has_added(
    tmp_path: Path,
    amounts: Amounts,
    gone: set[int],
    in_bulk: bool,
    label: str,
    fold: Any,
) -> None:
    path, _ = corrected(tmp_path, amounts)
    texts = [TEXTS[number] for number in sorted(gone)]
    with pytest.MonkeyPatch.context() as patch:
        if in_bulk:
            patch.setattr(stream, "is_few", lambda _: False)
        if label and texts:
            patch.setattr(steps, "OF_LESSON", 0.0)  # they move, and teach nothing
            learn(path, label, texts)
            left = corrected_by(amounts, label, gone)
        else:
            forget(path, texts)
            left = left_by(amounts, gone)

    if fold:
        fold(path)

    assert unnamed(read_correction(open_model(path))) == unnamed(left)


def weights_of(number: int) -> list[dict[int, int]]:
    """Return the weights of a text's terms, for each view."""
    own = default_settings_of_texts()
    document = Document("", (TEXTS[number].encode(),))
    bag = bag_of(read(document, own), own)
    return [
        {key: added[view.column("weight")] for key, added in columns.items()}
        for view, columns in (
            (view, columns_of(terms, view.columns))
            for view, terms in zip(own.views, bag, strict=True)
        )
    ]


def left_by(amounts: Amounts, gone: set[int]) -> Correction:
    """Return what is left of a correction by documents, whose mean score stays."""
    left = corrected_by({n: by for n, by in amounts.items() if n not in gone})
    biases = Tally(dict(zip(LABELS, corrected_by(amounts).biases, strict=True)))
    known = [weights_of(number) for number in range(len(TEXTS))]
    for number in gone & amounts.keys():
        products = sum(
            of_term * other.get(key, 0)
            for views in known
            for own, other in zip(known[number], views, strict=True)
            for key, of_term in own.items()
        )
        usual = products / (len(TEXTS) * UNIT * UNIT)
        for label, amount in amounts[number].items():
            biases[label] += round(amount * usual / BIAS)
    return left._replace(biases=tuple(biases[label] for label in LABELS))


def text_of(path: str) -> bytes:
    lines = text_lines(read_contents(open_model(path)), path)
    return "".join(f"{line}\n" for line in lines).encode()


@given(AMOUNTS)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    max_examples=20,
)
def test_the_text_form_has_it_and_check_finds_it_sound(
    tmp_path: Path, amounts: Amounts
) -> None:
    path, _ = corrected(tmp_path, amounts)
    forget(path, TEXTS[:2])
    before = read_correction(open_model(path))
    assert check_model(path).is_sound

    text = text_of(path)
    loaded = load_text(BytesIO(text), "text").contents
    replace_file(path, loaded.pack())

    assert correction_values(loaded.correction) == correction_values(before)
    assert correction_values(read_correction(open_model(path))) == correction_values(
        before
    )
    assert text_of(path) == text
    assert check_model(path).is_sound


def test_the_text_form_of_a_pruned_model_has_no_amounts(tmp_path: Path) -> None:
    path, _ = corrected(tmp_path, {1: {"a": 5}, 2: {"b": 9}})
    replace_file(path, prune(read_contents(open_model(path)), 2).contents.pack())
    assert check_model(path).is_sound
    text = text_of(path)

    replace_file(path, load_text(BytesIO(text), "text").contents.pack())

    assert b'"amounts"' not in text
    assert text_of(path) == text


CHANGES: list[tuple[str, str, str]] = [
    ('"values":{"a":5}', '"values":{"a":0}', "that is not 0"),
    ('"values":{"a":5}', '"values":{"d":5}', "a class"),
    ('"biases":{"a":5,', '"biases":{', "biases"),
    ('"identity":"', '"identity":"x', "an identity"),
    ('"slope":0.75', '"slope":-1', "slope of the correction: expected"),
    ('"slope":0.75', '"slope":1e-300', "slope of the correction: expected"),
    ('"values":{"a":5}', '"values":{"a":4294967296}', "a number"),
    ('"slope":0.75', '"slope":"much"', "correction"),
    ('"steepness":1.5', '"steepness":0', "steepness of the correction: expected"),
    ('"steepness":1.5,', "", "the correction"),
]


@pytest.mark.parametrize(("old", "new", "reason"), CHANGES)
def test_a_text_with_another_correction_is_refused(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    path, _ = corrected(tmp_path, {1: {"a": 5}})
    text = text_of(path)
    assert old.encode() in text

    with pytest.raises(TextFormError, match=reason):
        load_text(BytesIO(text.replace(old.encode(), new.encode())), "text")


@pytest.mark.parametrize("kind", ["corrected", "amounts"])
def test_a_text_that_says_it_has_none_has_no_line_of_one(
    tmp_path: Path, kind: str
) -> None:
    path, _ = corrected(tmp_path, {1: {"a": 5}})
    lines = text_of(path).splitlines(keepends=True)
    first = json.loads(lines[0]) | {"correction": None}
    lines = [
        json.dumps(first).encode() + b"\n",
        *(line for line in lines[1:] if b'"term"' in line),
        *(line for line in lines if line.startswith(f'{{"{kind}"'.encode())),
    ]

    with pytest.raises(TextFormError, match=r"no correction|documents, then"):
        load_text(BytesIO(b"".join(lines)), "text")


Change = Callable[[dict[str, Any], dict[str, bytes]], None]


def changed_array(name: str, value: bytes) -> Change:
    def change(_: dict[str, Any], arrays: dict[str, bytes]) -> None:
        arrays[name] = value + arrays[name][len(value) :]

    return change


FAULTS: list[tuple[Change, str]] = [
    (changed_array("amounts.labels", b"\7"), "classes that there are not"),
    (changed_array("amounts.classes", b"\7"), "classes that there are not"),
    (changed_array("amounts.classes", b"\1\0"), "amounts of its correction are not"),
    (changed_array("amounts.sizes", b"\3"), "other amounts than they say"),
    (changed_array("amounts.values", b"\0\0"), "amounts that no documents leave"),
    (changed_array("amounts.high", b"\1\1\1\1"), "documents that are not counted"),
    (changed_array("body.correction.keys", b"\xff" * 7), "not in order"),
    (changed_array("body.correction.classes", b"\1\0"), "not in order"),
    (changed_array("body.correction.value", b"\0\0\0\0"), "values that no"),
]


@pytest.mark.parametrize(("change", "reason"), FAULTS, ids=map(str, range(len(FAULTS))))
def test_check_finds_what_is_wrong_with_a_correction(
    tmp_path: Path, change: Change, reason: str
) -> None:
    path, _ = corrected(tmp_path, {1: {"a": 300, "b": -200}})
    (table,) = forge.taken_apart(Path(path).read_bytes())
    names = [name for name, _, _ in table.header["arrays"]]
    arrays = dict(zip(names, table.arrays, strict=True))

    change(table.header, arrays)
    forged = forge.Table(table.header, [*arrays.values()])
    Path(path).write_bytes(forge.put_together([forged]))
    checked = check_model(path)

    assert not checked.is_sound
    found = [part.what for part in checked.lost] + [*checked.faults]
    assert reason in found[0]


def test_repair_leaves_a_change_out_whose_correction_is_lost(tmp_path: Path) -> None:
    path, _ = corrected(tmp_path, {1: {"a": 5}, 4: {"b": 7}})
    plain = tmp_path / "plain.nbt"
    train_on(
        [(LABELS[n % 3], text) for n, text in enumerate(TEXTS)],
        str(plain),
        overrides=PURE,
    )
    first = Path(path).stat().st_size
    forget(path, [TEXTS[1]])
    data = Path(path).read_bytes()
    plain.write_bytes(plain.read_bytes() + b"\1" + data[1:first] + data[first:])

    checked = check_model(str(plain))
    saved = str(tmp_path / "saved.nbt")
    repair_model(checked, saved)

    assert len(checked.lost) == 1
    assert read_contents(open_model(saved)).correction is None


def test_what_a_document_has_added_is_known(tmp_path: Path) -> None:
    path, _ = corrected(tmp_path, {4: {"a": -7, "c": 250}, 5: {"b": 1}})
    document = Document("", (TEXTS[4].encode(),))
    reading_settings = open_model(path).settings
    reading = read(document, reading_settings)
    row = Row("b", fingerprint(bag_of(reading, reading_settings)))

    before = amounts_of(open_model(path), reading.digest, row)
    forget(path, [TEXTS[4]])

    assert before == {"a": -7, "c": 250}
    assert amounts_of(open_model(path), reading.digest, row) == {}


def test_two_corrections_do_not_add_up(tmp_path: Path) -> None:
    path, _ = corrected(tmp_path, {1: {"a": 5}})
    joined = tmp_path / "joined.nbt"
    joined.write_bytes(Path(path).read_bytes() * 2)

    with pytest.raises(ModelFileError, match="two corrections"):
        open_model(str(joined))
    with pytest.raises(ModelFileError, match="drop_correction=True"):
        [*open_models([path, path])]
    for paths in ([path, path], [str(joined)]):
        files = open_models(paths, drop_correction=True)
        assert merge(files).contents.correction is None
    with pytest.raises(SettingsError, match="two corrections"):
        add_corrections([read_correction(open_model(path))] * 2)


def test_a_change_without_its_correction_is_refused(tmp_path: Path) -> None:
    path, _ = corrected(tmp_path, {1: {"a": 5}})
    first = len(Path(path).read_bytes())
    forget(path, [TEXTS[1]])
    change = Path(path).read_bytes()[first:]
    other = tmp_path / "other.nbt"
    train_on(
        [(LABELS[n % 3], text) for n, text in enumerate(TEXTS)],
        str(other),
        overrides=PURE,
    )
    plain = other.read_bytes()

    other.write_bytes(plain + change)
    with pytest.raises(ModelFileError, match="the correction is missing"):
        open_model(str(other))
    corrected(tmp_path, {1: {"a": 6}})
    other.write_bytes((tmp_path / "model.nbt").read_bytes() + change)
    with pytest.raises(ModelFileError, match="another correction"):
        open_model(str(other))


@pytest.mark.parametrize("in_bulk", [False, True])
def test_a_document_of_two_classes_leaves_what_it_has_added_to_the_right_one(
    tmp_path: Path, in_bulk: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if in_bulk:
        monkeypatch.setattr(stream, "is_few", lambda _: False)
    path = str(tmp_path / "model.nbt")
    pairs = [(LABELS[n % 3], text) for n, text in enumerate(TEXTS)]
    train_on([*pairs, ("c", TEXTS[1])], path, overrides=PURE)
    contents = read_contents(open_model(path))
    correction = corrected_by({1: {"a": 5, "b": -9}})
    scoring = default_scoring("text", 3)
    both = replace(contents, scoring=scoring, correction=correction)
    replace_file(path, both.pack())

    learn(path, "c", [TEXTS[1]])

    expected = corrected_by({1: {"a": 5, "b": -9}}, "c", {1})
    assert check_model(path).is_sound
    assert unnamed(read_correction(open_model(path))) == unnamed(expected)


@pytest.mark.parametrize("in_bulk", [False, True])
def test_amounts_that_no_training_leaves_are_refused(
    tmp_path: Path, in_bulk: bool
) -> None:
    path, _ = corrected(tmp_path, {1: {"a": 1 << 33}})
    before = Path(path).read_bytes()
    texts = TEXTS[1:] if in_bulk else TEXTS[1:2]

    with pytest.raises(DamagedError, match="than training lets them"):
        forget(path, texts)

    assert Path(path).read_bytes() == before
    assert not check_model(path).is_sound


def test_values_that_no_training_leaves_are_refused() -> None:
    own = default_settings_of_texts()
    bag = tuple({7: 1} for _ in own.views)
    values, biases = CorrectionChange(own), CorrectionChange(own)
    for number in range(32):
        values.add(bytes(16), Row("a", number), bag, {"a": (1 << 32) - 1}, 0.1, -1)
    biases.add(bytes(16), Row("b", 0), bag, {"b": 1 << 31}, 8e4, -1)
    values.check("model.nbt")
    biases.check("model.nbt")

    values.add(bytes(16), Row("a", 99), bag, {"a": (1 << 32) - 1}, 0.1, -1)
    biases.add(bytes(16), Row("b", 9), bag, {"b": 1 << 31}, 8e4, -1)

    for change in (values, biases):
        with pytest.raises(DamagedError, match=r"model\.nbt: .*than training lets"):
            change.check("model.nbt")


def test_what_has_moved_can_be_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "OF_LESSON", 0.0)
    amounts = {1: {"a": 5, "c": -300}, 4: {"b": 9}}
    path, _ = corrected(tmp_path, amounts)

    learn(path, "c", [TEXTS[1]])
    learn(path, "a", [TEXTS[1], TEXTS[4]])
    assert check_model(path).is_sound
    forget(path, [TEXTS[1]])

    left = corrected_by({4: {"b": 9}}, "a", {4})
    biases = left_by(amounts, {1}).biases
    assert check_model(path).is_sound
    assert unnamed(read_correction(open_model(path))) == unnamed(
        left._replace(biases=biases)
    )


def test_merging_with_a_model_without_one_keeps_it(tmp_path: Path) -> None:
    path, correction = corrected(tmp_path, {1: {"a": 5}, 2: {"b": 9}})
    other = str(tmp_path / "other.nbt")
    train_on([("a", TEXTS[1]), ("b", "else"), ("c", "further")], other, overrides=PURE)
    files = [*open_models([path, other])]

    merged = merge(files)
    assert unnamed(merged.contents.correction) == unnamed(correction)
    documents = [Document("", (TEXTS[1].encode(),))]
    take_doubles(merged, files, documents, max_bytes=1000, on_problem=print)

    # the second text is counted as the last model has it, and its amounts are there
    assert merged.taken == 1
    left = corrected_by({1: {"a": 5}, 2: {"b": 9}}, "a", {1})
    assert unnamed(merged.contents.correction) == unnamed(left)


def test_a_pruned_model_keeps_the_values_of_the_terms_that_are_left(
    tmp_path: Path,
) -> None:
    path, correction = corrected(tmp_path, {1: {"a": 5}, 2: {"b": 9}})

    left = prune(read_contents(open_model(path)), 2).contents

    assert left.correction is not None
    assert left.correction.biases == correction.biases
    assert not len(left.correction.amounts)
    views = zip(
        left.counts.runs,
        corrected_terms(correction),
        corrected_terms(left.correction),
        strict=True,
    )
    for runs, before, found in views:
        known = {key for run in runs for key in run.keys.tolist()}
        assert found == {
            place: value for place, value in before.items() if place[0] in known
        }


def test_a_class_that_is_gone_takes_its_values_along(tmp_path: Path) -> None:
    path, _ = corrected(tmp_path, {1: {"a": 5, "c": 3}})
    forget(path, [text for n, text in enumerate(TEXTS) if n % 3 == 2])

    assert load_model(path).correction is not None
    compact(path)

    found = read_correction(open_model(path))
    assert found is not None
    assert (found.classes, found.biases) == (("a", "b"), (5, 0))
    assert values(read_contents(open_model(path)).counts)
