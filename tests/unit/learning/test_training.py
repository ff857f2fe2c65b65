from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest

from nbtext.counts import counting
from nbtext.counts import sorted_counts as runs
from nbtext.document import Document, Item, Unreadable
from nbtext.errors import SettingsError, SourceError, TrainingError
from nbtext.learning import SettingsOverrides, Trained, train
from nbtext.settings.columns import WEIGHTED
from tests.build import texts

MAIL = """From: {0}@example.org
Subject: {0}
Date: Mon, 1 Jan 2024 10:00:00 +0000
Message-ID: <{0}@example.org>
MIME-Version: 1.0

{1}
"""


def mails(n: int, label: str) -> list[Document]:
    return [
        Document(f"{n}.eml", (MAIL.format(label, f"{label} {n}").encode(),), label)
        for n in range(n)
    ]


def again(items: Sequence[Item]) -> Callable[[], Iterable[Item]]:
    return partial(iter, items)


PAIR = texts(("ham", "lunch on friday"), ("spam", "cheap pills"))


def test_two_classes_of_text_make_a_model() -> None:
    trained = train(again(PAIR))

    assert trained.contents.counts.classes == ("ham", "spam")
    assert trained.contents.counts.settings.format == "text"
    assert trained.contents.scoring.score == "weighted"
    # words, and pairs of them, and runs of five bytes, of the edges too
    assert trained.contents.n_tokens == (3 + 2 + 2 + 1) + (19 + 15)
    assert trained.report.documents == 2
    assert trained.report.bytes == len("lunch on friday" + "cheap pills")
    assert (trained.repeats, trained.conflicts) == (0, 0)


def test_three_classes_are_scored_by_their_contrast() -> None:
    trained = train(again([*PAIR, *texts(("eggs", "boiled"))]))

    assert trained.contents.scoring.score == "contrast"
    assert trained.contents.counts.settings.views[0].columns == WEIGHTED


@pytest.mark.parametrize("score", ["weighted", "kary"])
def test_counts_by_class_are_let_go_of_unless_histograms_are_made_of_them(
    score: str,
) -> None:
    trained = train(again(PAIR), overrides=SettingsOverrides(score=score))

    contents = trained.contents
    runs = contents.counts.runs[0]
    assert contents.keeps_histograms == (score == "kary")
    assert [len(run) > 0 for run in runs] == [score == "kary"] * 2
    terms = contents.terms_by_view()[0]
    for class_, run in enumerate(runs):
        of_class = [column[terms.classes == class_] for column in terms.columns]
        assert run.totals() == tuple(column.sum() for column in of_class)


def test_what_was_trained_can_be_compared_and_is_itself_alone() -> None:
    one, other = train(again(PAIR)), train(again(PAIR))

    assert one != other
    assert one not in [other]
    assert one == one._replace()
    assert len({one.contents, other.contents, one.contents}) == 2


def test_documents_are_mail_if_most_of_them_are() -> None:
    mostly = [*mails(3, "ham"), *PAIR]
    hardly = [*mails(2, "ham"), *PAIR]

    assert train(again(mostly)).contents.counts.settings.format == "mail"
    assert train(again(hardly)).contents.counts.settings.format == "text"


@pytest.mark.parametrize("executor", [True, False], ids=["a pool", "here"])
def test_a_wrong_guess_is_made_good(executor: bool) -> None:
    # the first documents, which are looked at, are not like the others
    items = [*texts(*[("spam", f"t {n}") for n in range(40)]), *mails(60, "ham")]

    with ThreadPoolExecutor(1) as pool:
        workers = (lambda: nullcontext(pool)) if executor else nullcontext
        trained = train(again(items), workers=workers)

    assert trained.contents.counts.settings.format == "mail"
    assert trained.report.documents == 100


@pytest.mark.parametrize(
    ("items", "message"),
    [
        pytest.param([], "there is no document to learn from", id="nothing"),
        pytest.param(texts(("ham", "a")), "only the class 'ham'", id="one class"),
        pytest.param(texts(("a", ""), ("b", " \n")), "not one token", id="no token"),
    ],
)
def test_what_supports_no_model_is_an_error(items: list[Item], message: str) -> None:
    with pytest.raises(TrainingError, match=message):
        train(again(items))


def test_a_score_that_does_not_go_with_the_classes_is_an_error() -> None:
    items = [*PAIR, *texts(("eggs", "boiled"))]

    with pytest.raises(SettingsError, match="mean score is for two classes"):
        train(again(items), overrides=SettingsOverrides(score="mean"))


def test_repeats_are_counted_and_told_loudly_across_classes() -> None:
    same = ("spam", "cheap pills")
    items = texts(("ham", "lunch"), same, same, same, ("ham", "cheap pills"))

    trained = train(again(items))

    assert trained.contents.counts.documents == (2, 3)
    assert (trained.repeats, trained.conflicts) == (2, 1)


def test_without_a_ledger_nobody_knows_of_repeats() -> None:
    items = [*PAIR, *PAIR]

    trained = train(again(items), overrides=SettingsOverrides(ledger=False))

    assert (trained.repeats, trained.conflicts) == (0, 0)
    assert not any(map(len, trained.contents.counts.ledger))


def test_what_cannot_be_read_is_told_and_skipped() -> None:
    bad = Unreadable("bad.eml", SourceError("bad.eml: no permission"))

    trained = train(again([PAIR[0], bad, PAIR[1]]))

    assert list(trained.report.skipped) == [bad]
    assert trained.report.documents == 2


def test_what_was_cut_short_is_named() -> None:
    long = Document("long.txt", (b"more spam",), "spam", truncated=True)

    assert train(again([*PAIR, long])).report.truncated == ["long.txt"]


def drawn(n: int, n_classes: int) -> list[Document]:
    random = np.random.default_rng(1)
    labelled = []
    for place in range(n):
        class_ = place % n_classes
        numbers = random.integers(0, 60, 15) + 8 * class_
        labelled.append((f"class {class_}", " ".join(f"w{n}" for n in numbers)))
    return texts(*labelled)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_file_is_the_same_for_any_number_of_jobs(
    n_classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = drawn(200, n_classes)
    alone = contents(train(again(items)))
    monkeypatch.setattr(counting, "CHUNK", 4096)
    monkeypatch.setattr(runs, "RANGE", 16)

    with ThreadPoolExecutor(3) as executor:
        apart = train(again(items), workers=lambda: nullcontext(executor), jobs=3)

    assert contents(apart) == alone


@pytest.mark.parametrize("jobs", [2, 4])
def test_threads_that_read_mail_make_the_same_file(
    jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [
        Document(name, (MAIL.format(label, text[0].decode()).encode(),), label)
        for name, text, label, *_ in drawn(200, 3)
    ]
    items[5:5] = [Document("no head", (b"just a text",), "class 0", is_mail=True)]
    alone = contents(train(again(items)))
    monkeypatch.setattr(counting, "BATCH", 1000)

    assert contents(train(again(items), jobs=jobs)) == alone


def test_mail_for_which_memory_is_short_is_read_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    items = [*mails(20, "ham"), *mails(20, "spam")]
    expected = contents(train(again(items)))

    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(counting, "read_together", fail)

    assert contents(train(again(items))) == expected


def contents(trained: Trained) -> bytes:
    data = b"".join(map(bytes, trained.contents.pack()))
    stamp = data.index(b"written") + len("written") + 2
    checksum = data.index(b"header_checksum") + len("header_checksum") + 2
    return data[:stamp] + data[stamp + 25 : checksum] + data[checksum + 8 :]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_held_out_scores_calibrate(n_classes: int) -> None:
    calibration = train(again(drawn(200, n_classes))).contents.calibrations[0]

    assert sum(calibration.documents.values()) == 200
    assert bool(calibration.losses) is (n_classes == 3)
    assert sum(calibration.counts.values()) == (200 if n_classes == 2 else 0)


def test_progress_is_told_of_what_was_read() -> None:
    told: list[tuple[int, int]] = []
    items = texts(*[(f"c{n % 2}", f"{n} " * 200_000) for n in range(6)])

    trained = train(again(items), progress=lambda n, size: told.append((n, size)))

    assert told
    assert sum(n for n, _ in told) <= trained.report.documents
    assert sum(size for _, size in told) <= trained.report.bytes
