"""
Histograms that a model keeps are those of its counts, whatever has become of it.

After any documents are learnt, moved and forgotten, one at a time or many at once, by
either engine, what the tables of a file say of how many terms are in how many documents
is, to the last number, what counting its terms anew gives; and so it is when the file
was compacted, pruned, merged and renamed. Where tables were joined, they are counted.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nbtext.counts.count_histograms import histograms_of
from nbtext.counts.histograms import MOST, ByClass, Histogram
from nbtext.document import Document
from nbtext.errors import ModelFileError
from nbtext.learning import LearnRequest, stream
from nbtext.scoring.model import load_model
from nbtext.scoring.models.registry import event_model, scoring_of
from nbtext.settings.columns import COLUMNS
from nbtext.settings.scoring import UNK
from nbtext.store import Contents, ModelFile, compact, open_model, read_contents
from nbtext.store.compacting import compact_tail
from nbtext.store.packing import unpack
from nbtext.store.writing import replace_file
from nbtext.tokens.bag import bag_of
from nbtext.tokens.reading import read
from nbtext.upkeep.checking import check_model
from nbtext.upkeep.merging import merge
from nbtext.upkeep.pruning import prune
from nbtext.upkeep.renaming import rename
from tests.build import TEXT, counted, learnt, model_of

SAME_FOLDER = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20
)

WORDS = st.sampled_from(["free", "lunch", "cash", "cash", "x1", "über", "one", "two"])
TEXTS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
LABELS = st.sampled_from(["ham", "junk", "spam", None])
STEPS = st.lists(
    st.tuples(LABELS, st.lists(TEXTS, min_size=1, max_size=4), st.booleans()),
    max_size=5,
)
"""A class to learn, or None to forget; documents; whether arrays are to be used."""

SMALL = [("ham", "free lunch"), ("spam", "free cash cash"), ("spam", "cash one")]

COUNTED = "nbtext.counts.count_histograms.histograms_of"


def make(path: Path, documents: Sequence[tuple[str, str]] = SMALL) -> ModelFile:
    contents = Contents(
        counted(documents, TEXT), scoring_of("sum"), keeps_histograms=True
    )
    replace_file(str(path), contents.pack())
    return open_model(str(path))


def write(path: Path, contents: Contents) -> ModelFile:
    replace_file(str(path), contents.pack())
    return open_model(str(path))


def taught(path: Path, label: str | None, texts: Sequence[str]) -> None:
    documents = [Document(text, (text.encode(),)) for text in texts]
    learnt(LearnRequest(str(path), label, create=True), documents)


@given(STEPS, st.integers(0, 2))
@SAME_FOLDER
def test_learning_and_forgetting_keep_them(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    steps: list[tuple[str | None, list[str], bool]],
    fold: int,
) -> None:
    path = tmp_path / "m.nbt"
    make(path)
    for number, (label, texts, by_arrays) in enumerate(steps):
        with monkeypatch.context() as patched:
            if by_arrays:
                patched.setattr(stream, "FEW", 0)
            taught(path, label, texts)
        if number == fold:
            compact_tail(str(path))
        file = open_model(str(path))
        assert file.histograms == histograms_of(unpack(file))
    assert check_model(str(path)).is_sound
    compact(str(path))
    file = open_model(str(path))
    assert file.histograms == histograms_of(unpack(file))


@given(st.lists(st.tuples(LABELS.filter(bool), TEXTS), max_size=6))
@SAME_FOLDER
def test_what_is_made_of_models_keeps_them(
    tmp_path: Path, documents: list[tuple[str, str]]
) -> None:
    path, other = tmp_path / "m.nbt", tmp_path / "other.nbt"
    contents = read_contents(make(path, [*SMALL, *documents]))
    make(other)
    taught(other, "ham", ["learnt since"])

    merged = merge([open_model(str(path)), open_model(str(other))])
    for made in (
        prune(contents, min_documents=2).contents,
        rename(contents, {"ham": "z"}, "m"),
        merged.contents,
        replace(contents, terms=contents.terms_by_view()),
    ):
        file = write(path, made)
        assert file.histograms == histograms_of(unpack(file))
        assert check_model(str(path)).is_sound


def test_those_of_joined_tables_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "m.nbt"
    data = Path(make(path).path).read_bytes()
    path.write_bytes(data + data)

    model = load_model(str(path))

    assert model.file.histograms is None
    ham, spam = model.histograms(0)
    assert ham.documents == {2: 3}
    assert spam.documents == {2: 5, 4: 1}
    assert (ham.singletons, spam.singletons) == (0, 0)


@pytest.mark.parametrize(
    "forged",
    [
        {},
        {"ham": Histogram({1: 3}, 9)},
        {"ham": Histogram({1: -3})},
        {"x": Histogram({1: 3})},
    ],
)
def test_check_finds_those_that_are_not_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forged: ByClass
) -> None:
    path = tmp_path / "m.nbt"
    monkeypatch.setattr(COUNTED, lambda _: (forged,))
    make(path)

    checked = check_model(str(path))

    assert not checked.is_sound
    assert "other numbers of terms of the view body" in checked.faults[0]


def test_one_message_learnt_counts_no_terms_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.nbt"
    make(path)
    before = path.stat().st_size
    monkeypatch.setattr(COUNTED, None)
    monkeypatch.setattr("nbtext.store.packing.unpack", None)

    taught(path, "ham", ["free money"])

    assert path.stat().st_size > before
    ham, spam = load_model(str(path)).histograms(0)
    assert (ham.documents, ham.singletons) == ({1: 4, 2: 1}, 4)
    assert (spam.documents, spam.singletons) == ({1: 5, 2: 1}, 4)


def test_a_model_that_keeps_none_is_not_made_to(tmp_path: Path) -> None:
    path = tmp_path / "m.nbt"
    contents = Contents(counted(SMALL, TEXT), scoring_of("sum"))
    replace_file(str(path), contents.pack())
    taught(path, "ham", ["free money"])

    file = open_model(str(path))

    assert [table.header.histograms for table in file.tables] == [None, None]
    assert file.histograms is None
    assert read_contents(file).keeps_histograms is False


NUMBERS = st.integers(1, 5) | st.sampled_from([2**40, MOST - 1])
TERMS = st.integers(-3, 9).filter(bool) | st.sampled_from([MOST - 1, 1 - MOST])
FORGED = st.dictionaries(
    st.sampled_from(["ham", "spam", "x", ""]),
    st.builds(Histogram, st.dictionaries(NUMBERS, TERMS, max_size=3), TERMS),
)


@given(FORGED, st.sampled_from(["bernoulli", "kary", "sum", "poisson"]))
@SAME_FOLDER
def test_forged_ones_give_a_finite_score_or_a_model_file_error(
    tmp_path: Path, forged: ByClass, score: str
) -> None:
    path, settings = tmp_path / "m.nbt", TEXT.counting(COLUMNS)
    scoring = scoring_of(score)
    if event_model(score).has_unknown:
        scoring = scoring._replace(unknown=UNK)
    contents = Contents(counted(SMALL, settings), scoring, keeps_histograms=True)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(COUNTED, lambda _: (forged,))
        replace_file(str(path), contents.pack())
    bag = bag_of(read(Document("", (b"free cash unheard",)), settings), settings)
    model = load_model(str(path))

    with suppress(ModelFileError):
        found = event_model(score).joint_log_likelihood(model, bag)
        assert all(math.isfinite(value) for value in found)
    assert check_model(str(path)).is_sound == (
        open_model(str(path)).histograms == histograms_of(contents.counts)
    )


LABELLED = st.lists(
    st.tuples(st.sampled_from(["ham", "spam"]), TEXTS), min_size=1, max_size=8
)


@pytest.mark.parametrize("score", ["bernoulli", "kary", "sum", "poisson"])
@given(LABELLED, LABELLED, st.randoms(use_true_random=False), st.integers(1, 5))
@settings(SAME_FOLDER, max_examples=8)
def test_learnt_in_any_order_and_batches_is_trained(
    score: str,
    tmp_path: Path,
    documents: list[tuple[str, str]],
    forgotten: list[tuple[str, str]],
    random: Random,
    size: int,
) -> None:
    path, settings = tmp_path / "m.nbt", TEXT.counting(COLUMNS)
    scoring = scoring_of(score)
    if event_model(score).has_unknown:
        scoring = scoring._replace(unknown=UNK)
    begun = [("ham", "begun here"), ("spam", "begun there")]
    # a document is its text: of several the last class is the one that it stays in
    stays = {text: label for label, text in documents}
    goes = {text: label for label, text in forgotten if text not in stays}
    empty = Contents(counted(begun, settings), scoring, keeps_histograms=True)
    replace_file(str(path), empty.pack())

    for label in ("spam", "ham"):
        texts = [text for text, of in (stays | goes).items() if of == label]
        random.shuffle(texts)
        for start in range(0, len(texts), size):
            taught(path, label, texts[start : start + size])
    if goes:
        taught(path, None, list(goes))

    whole = counted(
        [*begun, *((label, text) for text, label in stays.items())], settings
    )
    expected = model_of(tmp_path / "whole.nbt", whole, scoring)
    model, event = load_model(str(path)), event_model(score)
    for text in [*stays, *goes, "begun", "never heard", ""]:
        bag = bag_of(read(Document("", (text.encode(),)), settings), settings)
        found = event.joint_log_likelihood(model, bag)
        assert found == pytest.approx(event.joint_log_likelihood(expected, bag), 1e-9)
