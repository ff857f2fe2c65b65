"""Models are added up, and what was counted twice is found and taken away."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from nbtext import forget, learn, train_on
from nbtext.counts.table import CountTable, add
from nbtext.document import Document
from nbtext.errors import ModelFileError, SettingsError
from nbtext.learning import SettingsOverrides
from nbtext.store import compact, open_model
from nbtext.store.packing import unpack
from nbtext.store.writing import replace_file
from nbtext.upkeep import Merged, count_doubles, merge, open_models, take_doubles
from tests.build import confusing, values

Pairs = list[tuple[str, bytes | str]]
Make = Callable[[str, Pairs], str]

ONE: Pairs = [("spam", "win a prize"), ("spam", "win now"), ("ham", "lunch at noon")]
OTHER: Pairs = [("ham", "win now"), ("ham", "lunch at noon"), ("spam", "cheap pills")]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def make(name: str, pairs: Pairs) -> str:
        path = str(tmp_path / name)
        train_on(pairs, path)
        return path

    return make


def table(path: str) -> CountTable:
    return unpack(open_model(path))


def without_doubles(
    paths: list[str], texts: Iterable[str]
) -> tuple[Merged, CountTable]:
    files = [*open_models(paths)]
    merged = merge(files)
    documents = [Document(text, (text.encode(),)) for text in texts]
    take_doubles(merged, files, documents, max_bytes=1000, on_problem=print)
    return merged, merged.contents.counts


def test_the_sum_is_that_of_joining_the_files(make: Make, tmp_path: Path) -> None:
    one, other = make("one", ONE), make("other", OTHER)
    files = open_models([one, other])
    joined = tmp_path / "joined"
    joined.write_bytes(Path(one).read_bytes() + Path(other).read_bytes())

    replace_file(str(tmp_path / "both"), merge(files).contents.pack())

    both = table(str(tmp_path / "both"))
    assert values(both) == values(table(str(joined)))
    assert values(both) == values(add([table(one), table(other)]))


def test_doubles_are_counted_and_labels_that_differ_are_named(make: Make) -> None:
    files = open_models([make("one", ONE), make("other", OTHER)])

    merged = merge(files)

    assert merged.doubles == 2
    assert merged.labels == {("spam", "ham"): 1}


def test_a_double_stays_where_the_last_model_has_it(make: Make) -> None:
    paths = [make("one", ONE), make("other", OTHER)]

    merged, left = without_doubles(paths, [str(text) for _, text in ONE])

    union = [("spam", "win a prize"), *OTHER]
    assert (merged.taken, merged.refused) == (2, [])
    assert values(left) == values(table(make("union", union)))


def test_documents_of_one_model_only_are_passed_over(make: Make) -> None:
    paths = [make("one", ONE), make("other", OTHER)]

    merged, left = without_doubles(paths, ["win a prize", "never seen"])

    assert (merged.taken, merged.refused) == (0, [])
    assert values(left) == values(add([table(path) for path in paths]))


def test_the_same_document_brought_twice_is_taken_away_once(make: Make) -> None:
    paths = [make("one", ONE), make("other", OTHER)]

    once = without_doubles(paths, ["win now"])
    twice = without_doubles(paths, ["win now", "win now"])

    assert once[0].taken == twice[0].taken == 1
    assert values(once[1]) == values(twice[1])


def test_three_models_keep_one_count_of_what_all_have(make: Make) -> None:
    paths = [make(name, ONE) for name in ("a", "b", "c")]

    _, left = without_doubles(paths, [str(text) for _, text in ONE])

    assert values(left) == values(table(paths[0]))


def test_taught_models_add_up_and_keep_their_records(
    make: Make, tmp_path: Path
) -> None:
    one, other = make("one", ONE), make("other", OTHER)
    learn(one, "ham", ["dinner at eight"])
    learn(other, "spam", ["casino"])
    learn(other, "ham", ["cheap pills"])
    files = open_models([one, other])

    both = str(tmp_path / "both")
    replace_file(both, merge(files).contents.pack())

    history = open_model(both).tables[0].header.history
    assert (history.taught, history.records) == (3, 3)
    assert [result.outcome for result in forget(both, ["casino"])] == ["forgotten"]
    forget(other, ["casino"])
    compact(other)
    assert values(table(both)) == values(add([table(one), table(other)]))


def test_of_a_document_that_two_models_have_learnt_one_record_is_kept(
    make: Make,
) -> None:
    one, other = make("one", ONE), make("other", OTHER)
    learn(one, "ham", ["dinner at eight", "casino"], undo=2)
    learn(other, "ham", ["casino"], undo=2)

    records = merge(open_models([one, other])).contents.records

    assert len(records) == len({*records.digests}) == 2


def test_models_that_read_otherwise_are_refused_by_what_differs(
    make: Make,
) -> None:
    two = make("two", ONE)
    three = make("three", [*ONE, ("phish", "your account")])

    with pytest.raises(ModelFileError, match="does not add to"):
        [*open_models([two, three])]


def test_a_third_class_that_cannot_be_scored_is_refused(make: Make) -> None:
    pairs: Pairs = [("spam", "win"), ("work", "minutes")]
    files = open_models([make("one", ONE), make("other", pairs)])

    with pytest.raises(
        SettingsError, match=r"together 3, which the \w+ score cannot tell"
    ):
        merge(files)


def joined(tmp_path: Path, *paths: str) -> str:
    path = tmp_path / "joined"
    path.write_bytes(b"".join(Path(one).read_bytes() for one in paths))
    return str(path)


def test_doubles_inside_a_file_that_was_joined_are_found(
    make: Make, tmp_path: Path
) -> None:
    file = joined(tmp_path, make("one", ONE), make("other", OTHER))

    merged = merge(open_models([file]))

    assert merged.doubles == count_doubles(open_model(file)) == 2
    assert merged.labels == {("spam", "ham"): 1}


def test_doubles_inside_a_file_that_was_joined_are_taken_away(
    make: Make, tmp_path: Path
) -> None:
    file = joined(tmp_path, make("one", ONE), make("other", OTHER))

    merged, left = without_doubles([file], [str(text) for _, text in ONE])

    union = [("spam", "win a prize"), *OTHER]
    assert (merged.taken, merged.refused) == (2, [])
    assert values(left) == values(table(make("union", union)))


def test_doubles_in_joined_files_and_between_them_are_one_each(
    make: Make, tmp_path: Path
) -> None:
    file = joined(tmp_path, make("one", ONE), make("other", OTHER))
    third = make("third", [("spam", "lunch at noon"), ("ham", "cheap pills")])

    merged, left = without_doubles(
        [file, third], [str(text) for _, text in [*ONE, *OTHER]]
    )

    once = [*ONE[:1], *OTHER[:1], ("spam", "lunch at noon"), ("ham", "cheap pills")]
    assert (merged.doubles, merged.taken, merged.refused) == (3, 3, [])
    assert values(left) == values(table(make("once", once)))


def test_copies_in_the_training_of_one_model_are_no_doubles(
    make: Make, tmp_path: Path
) -> None:
    twice = make("twice", [*ONE, *ONE])
    file = joined(tmp_path, twice, make("another", [("ham", "a"), ("spam", "b")]))

    assert merge(open_models([twice])).doubles == 0
    assert count_doubles(open_model(file)) == 0


def test_what_one_model_has_learnt_is_no_double(make: Make, tmp_path: Path) -> None:
    one = make("one", ONE)
    learn(one, "ham", ["win now", "dinner at eight"])
    file = joined(tmp_path, make("other", [("ham", "a"), ("spam", "b")]), one)

    assert count_doubles(open_model(one)) == count_doubles(open_model(file)) == 0


@pytest.mark.parametrize("label", ["ham", "spam"])
def test_a_double_that_was_learnt_after_joining_is_none_any_more(
    make: Make, tmp_path: Path, label: str
) -> None:
    one, other = make("one", ONE), make("other", OTHER)
    file = joined(tmp_path, one, other)
    learn(file, label, ["win now"])

    merged, left = without_doubles([file], ["win now", "lunch at noon"])

    pairs = [("spam", "win a prize"), (label, "win now"), *OTHER[1:]]
    assert (merged.doubles, merged.taken) == (1, 1)
    assert values(left) == values(table(make("left", pairs)))


def test_a_double_that_was_forgotten_after_joining_is_none_any_more(
    make: Make, tmp_path: Path
) -> None:
    file = joined(tmp_path, make("one", ONE), make("other", OTHER))
    forget(file, ["win now", "lunch at noon"])

    assert count_doubles(open_model(file)) == 0


def test_joining_a_model_with_itself_doubles_all_of_it(
    make: Make, tmp_path: Path
) -> None:
    one = make("one", ONE)

    _, left = without_doubles(
        [joined(tmp_path, one, one, one)], [str(text) for _, text in ONE]
    )

    assert values(left) == values(table(one))


def of_topics(path: Path, smoothing: float, n: int) -> str:
    """Train a model of many classes by one smoothing, which is not corrected."""
    overrides = SettingsOverrides(smoothing=smoothing, correction=False, threes=False)
    train_on(confusing(n), str(path), overrides=overrides)
    return str(path)


@pytest.mark.parametrize("is_turned", [False, True])
def test_of_unlike_smoothings_that_of_more_held_out_documents_is_kept(
    is_turned: bool, tmp_path: Path
) -> None:
    few = of_topics(tmp_path / "few", 0.03, 40)
    many = of_topics(tmp_path / "many", 0.3, 240)
    paths = [many, few] if is_turned else [few, many]

    merged = merge(open_models(paths))

    contents = merged.contents
    assert contents.scoring.smoothing == 0.3
    smoothings = {one.scoring["smoothing"] for one in contents.calibrations}
    assert smoothings == {0.3}
    documents = {sum(one.documents.values()) for one in contents.calibrations}
    assert documents == {240}
    assert merged.left_out == 40


def test_a_model_of_few_documents_is_trained_as_one_of_many_to_be_added_to_it(
    tmp_path: Path,
) -> None:
    few, many = str(tmp_path / "few"), str(tmp_path / "many")
    pure = SettingsOverrides(correction=False)
    train_on(confusing(40), few, overrides=pure)
    train_on(confusing(240), many, overrides=pure)

    with pytest.raises(
        ModelFileError, match=r"threes=False.*128 in one, none in the ot"
    ):
        merge(open_models([few, many]))

    train_on(confusing(40), few, overrides=pure._replace(threes=False))
    assert sum(merge(open_models([few, many])).contents.counts.documents) == 280


def test_of_unlike_scores_that_of_the_last_model_is_kept(tmp_path: Path) -> None:
    paths = [str(tmp_path / score) for score in ("complement", "wcnb")]
    for path, n in zip(paths, (240, 40), strict=True):
        score = Path(path).name
        train_on(confusing(n), path, overrides=SettingsOverrides(score=score))

    merged = merge(open_models(paths))

    assert merged.contents.scoring.score == "wcnb"
    assert merged.left_out == 240


def test_held_out_documents_of_one_smoothing_are_all_kept(tmp_path: Path) -> None:
    one, other = (of_topics(tmp_path / str(n), 0.3, n) for n in (240, 40))

    merged = merge(open_models([one, other]))

    (documents,) = {sum(one.documents.values()) for one in merged.contents.calibrations}
    assert (documents, merged.left_out) == (280, 0)
