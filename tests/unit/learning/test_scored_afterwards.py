from collections import Counter
from pathlib import Path

import pytest

from nbtext import undo
from nbtext.counts import fit
from nbtext.counts.calibration import Calibration
from nbtext.document import Document
from nbtext.errors import DamagedError
from nbtext.learning import LearnRequest, SettingsOverrides, train
from nbtext.store import open_model
from nbtext.store.calibrations import calibrations_of
from tests.build import halve, learnt, numbered


def taught(path: Path, label: str | None, documents: list[Document]) -> None:
    """Learn documents as a class, or as the classes that they say if it is None."""
    own = label is None
    request = LearnRequest(str(path), label, create=True, format="text", own_labels=own)
    learnt(request, documents)


def calibration(path: Path) -> Calibration:
    found = calibrations_of(open_model(str(path)).tables)
    return found[0] if found else Calibration({})


def test_classes_taught_one_after_the_other_are_calibrated_as_if_trained(
    tmp_path: Path,
) -> None:
    ham, spam = numbered("ham", range(70)), numbered("spam", range(60))
    trained = train(lambda: iter([*ham, *spam]), n_classes=2)

    taught(tmp_path / "m.nbt", "ham", ham)
    taught(tmp_path / "m.nbt", "spam", spam)

    assert trained.contents.calibrations[0].documents == {"ham": 70, "spam": 60}
    assert calibration(tmp_path / "m.nbt") == trained.contents.calibrations[0]


def test_what_is_learnt_afterwards_is_scored_before(tmp_path: Path) -> None:
    path = tmp_path / "m.nbt"
    taught(path, "ham", numbered("ham", range(40)))
    taught(path, "spam", numbered("spam", range(40)))
    first = calibration(path)

    taught(path, "ham", numbered("ham", range(80)))

    assert first.documents == {"ham": 40, "spam": 40}
    assert calibration(path).documents == {"ham": 80, "spam": 40}
    assert all(calibration(path).counts[at] >= n for at, n in first.counts.items())


def test_documents_that_move_as_a_class_begins_are_not_scored_where_they_were(
    tmp_path: Path,
) -> None:
    path = tmp_path / "m.nbt"
    both = numbered("ham", range(40))
    taught(path, "ham", both)

    taught(path, "spam", [*both[:15], *numbered("spam", range(30))])

    assert calibration(path).documents == {"ham": 25, "spam": 45}


def test_counts_that_do_not_have_what_was_learnt_before_are_damaged(
    tmp_path: Path,
) -> None:
    path = tmp_path / "m.nbt"
    taught(path, "ham", numbered("ham", range(40)))
    halve(path)

    with pytest.raises(DamagedError, match="its ledger has documents"):
        taught(path, "spam", numbered("spam", range(40)))


def test_of_a_first_class_the_documents_whose_counts_are_kept_are_scored(
    tmp_path: Path,
) -> None:
    """Each counts for three, for how often a class occurs is fitted, too."""
    path = tmp_path / "m.nbt"
    request = LearnRequest(str(path), "ham", create=True, format="text", keep=30)
    learnt(request, numbered("ham", range(90)))

    taught(path, "spam", numbered("spam", range(60)))

    found = calibration(path)
    assert found.documents == {"ham": 90, "spam": 60}
    assert {n % 3 for (_, name), n in found.counts.items() if name == "ham"} == {0}


def trained_on_few(path: Path, count: int) -> list[Document]:
    few = [*numbered("ham", range(count)), *numbered("spam", range(count))]
    trained = train(lambda: iter(few), n_classes=2)
    path.write_bytes(b"".join(trained.contents.pack()))
    return few


@pytest.mark.parametrize("labels", [("spam", "ham"), ("ham", "spam")], ids=str)
def test_a_model_that_is_outgrown_is_calibrated_as_if_it_had_been_trained(
    tmp_path: Path, labels: tuple[str, str]
) -> None:
    path = tmp_path / "m.nbt"
    few = trained_on_few(path, 3)
    more = {label: numbered(label, range(70))[3:] for label in labels}
    everything = [*few, *more["ham"], *more["spam"]]
    trained = train(lambda: iter(everything), n_classes=2)

    for label in labels:
        taught(path, label, more[label])

    whole = trained.contents.calibrations[0]
    found = calibration(path)
    assert found.documents == {"ham": 67, "spam": 67}
    # but for the few, of which nothing is kept, every score is that of training
    rest = Counter(whole.counts)
    rest.subtract(found.counts)
    assert min(rest.values()) >= 0
    assert rest.total() == len(few)
    assert fit(found, ("ham", "spam")).slope > 0


def test_of_classes_that_outgrow_a_model_together_each_document_is_scored_once(
    tmp_path: Path,
) -> None:
    few = trained_on_few(tmp_path / "m.nbt", 3)
    new = [*numbered("ham", range(70))[3:], *numbered("spam", range(70))[3:]]
    trained = train(lambda: iter([*few, *new]), n_classes=2)

    taught(tmp_path / "m.nbt", None, new)

    found = calibration(tmp_path / "m.nbt")
    assert found.documents == {"ham": 67, "spam": 67}
    rest = Counter(trained.contents.calibrations[0].counts)
    rest.subtract(found.counts)
    assert min(rest.values()) >= 0


def test_what_does_not_outgrow_a_model_is_scored_before(tmp_path: Path) -> None:
    path = tmp_path / "m.nbt"
    trained_on_few(path, 30)
    first = calibration(path)

    taught(path, "spam", numbered("spam", range(60)))  # thirty of which are known

    assert calibration(path).documents == {"ham": 30, "spam": 60}
    assert all(calibration(path).counts[at] >= n for at, n in first.counts.items())


def test_of_what_was_scored_anew_nothing_is_taken_back_that_is_not_there(
    tmp_path: Path,
) -> None:
    path = tmp_path / "m.nbt"
    trained_on_few(path, 2)
    ham, spam = numbered("ham", range(60)), numbered("spam", range(60))
    for one in ham[2:10]:  # each scored by itself, and known by its record
        taught(path, "ham", [one])
    assert calibration(path).documents == {"ham": 10, "spam": 2}
    taught(path, "spam", spam)
    taught(path, "ham", ham)
    before = calibration(path)

    taught(path, "spam", [ham[5]])

    after = calibration(path)
    assert before.documents == {"ham": 58, "spam": 58}
    assert after.documents == {"ham": 58, "spam": 59}
    assert min(after.counts.values()) >= 0


def test_undo_brings_back_the_calibration_that_was_outgrown(tmp_path: Path) -> None:
    path = tmp_path / "m.nbt"
    trained_on_few(path, 3)
    before = path.read_bytes()
    taught(path, "spam", numbered("spam", range(60)))

    undo(str(path))

    assert path.read_bytes() == before


@pytest.mark.parametrize(("score", "scored"), [("complement", 60), ("sum", 60)])
def test_a_fourth_class_is_scored_if_scores_are_calibrated(
    tmp_path: Path, score: str, scored: int
) -> None:
    path = tmp_path / "m.nbt"
    sport, news = (
        [
            Document(f"{label}{n}", (f"{label} is on {n % 7} {n}".encode(),), label)
            for n in range(60)
        ]
        for label in ("sport", "news")
    )
    items = [*numbered("ham", range(60)), *numbered("spam", range(60)), *sport]

    overrides = SettingsOverrides(score=score, smoothing=0.03)
    trained = train(lambda: iter(items), n_classes=3, overrides=overrides)
    path.write_bytes(b"".join(trained.contents.pack()))

    taught(path, "news", news)

    assert calibration(path).documents.get("news", 0) == scored
    assert calibration(path).documents.get("ham", 0) == scored


def texts(label: str, count: int) -> list[Document]:
    """Return documents of any class, some words of which others have, too."""
    return [
        Document(
            f"{label}{n}",
            (f"{label if n % 5 else 'all'} is on {n % 7} {n}{label[0]}".encode(),),
            label,
        )
        for n in range(count)
    ]


CLASSES = ("arts", "news", "sports")


def few_of_three(path: Path, count: int) -> None:
    few = [one for label in CLASSES for one in texts(label, count)]
    overrides = SettingsOverrides(correction=False)
    trained = train(lambda: iter(few), n_classes=3, overrides=overrides)
    path.write_bytes(b"".join(trained.contents.pack()))


def test_a_model_of_three_classes_that_is_outgrown_is_calibrated_as_if_trained(
    tmp_path: Path,
) -> None:
    """Losses are of all classes together, so all that is kept is scored anew."""
    path = tmp_path / "m.nbt"
    few_of_three(path, 3)
    for label in CLASSES:
        taught(path, label, texts(label, 70))

    found = calibration(path)
    everything = [one for label in CLASSES for one in texts(label, 70)]
    overrides = SettingsOverrides(correction=False)
    trained = train(lambda: iter(everything), n_classes=3, overrides=overrides)
    whole = trained.contents.calibrations[0]

    # but for the few, of which nothing is kept
    assert found.documents == dict.fromkeys(CLASSES, 67)
    rest = [a - b for a, b in zip(whole.losses, found.losses, strict=True)]
    assert min(found.losses) > 0
    assert min(rest) >= 0
    assert fit(found, CLASSES).slope == pytest.approx(
        fit(whole, CLASSES).slope, rel=0.1
    )


def test_losses_of_many_are_not_given_up_for_those_of_few(tmp_path: Path) -> None:
    path = tmp_path / "m.nbt"
    few_of_three(path, 60)
    before = calibration(path)

    taught(path, "arts", texts("arts", 150))  # ninety of which are new

    after = calibration(path)
    assert before.documents == dict.fromkeys(CLASSES, 60)
    assert after.documents == {"arts": 150, "news": 60, "sports": 60}
    assert all(new >= old for new, old in zip(after.losses, before.losses, strict=True))


def test_undo_brings_back_losses_that_were_outgrown(tmp_path: Path) -> None:
    path = tmp_path / "m.nbt"
    few_of_three(path, 3)
    before = path.read_bytes()
    taught(path, "news", texts("news", 80))
    assert calibration(path).documents.get("arts", 0) == 0

    undo(str(path))

    assert path.read_bytes() == before


def total_of(path: Path) -> tuple[dict[str, int], int]:
    """Return how many documents were scored, by class, and the sum of all bins."""
    kept = calibration(path)
    return dict(kept.documents), sum(kept.counts.values())


def learnt_in_parts(
    folder: Path, sizes: list[int], before: list[Document], moved: list[Document]
) -> Path:
    """Return a model that learnt ham, then spam, then moved some, in parts."""
    path = folder / f"{'-'.join(map(str, sizes))}.nbt"
    taught(path, "ham", before)
    for label, some in (("spam", numbered("spam", range(40))), ("spam", moved)):
        start = 0
        for size in sizes:
            taught(path, label, some[start : start + size])
            start += size
        taught(path, label, some[start:])
    return path


@pytest.mark.parametrize(
    "sizes", [[10, 10], [1] * 20, [12, 8], [7, 13], [19, 1]], ids=str
)
def test_the_sums_do_not_depend_on_the_batches(
    tmp_path: Path, sizes: list[int]
) -> None:
    ham = numbered("ham", range(60))

    at_once = learnt_in_parts(tmp_path, [20], ham, ham[:20])
    in_parts = learnt_in_parts(tmp_path, sizes, ham, ham[:20])

    # what was scored as a class began is not known by document, and stays
    assert total_of(at_once) == ({"ham": 60, "spam": 60}, 120)
    assert total_of(in_parts) == total_of(at_once)
