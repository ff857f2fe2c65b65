"""Models made on a cluster are those of one machine, byte for byte but for the date."""

import gzip
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nbtext
from nbtext.distributed import connected, listing, train, training
from nbtext.distributed.shared_folder import HELD, shared_folder
from nbtext.errors import (
    ClusterError,
    NbtextError,
    SettingsError,
    TaughtError,
    TrainingError,
)
from nbtext.learning import SettingsOverrides
from nbtext.settings.views import THREES_BYTES
from nbtext.store.file import open_model
from tests.build import FROM_LINE, HAM, SPAM, confusing, mail
from tests.distributed.cluster import Cluster, running
from tests.waiting import PATIENCE, wait_until

pytest.importorskip("distributed", reason="takes the extra dask")

Same = Callable[..., None]


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder, and let little data be many chunks."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(listing, "LEAST_CHUNK", 4096)
    monkeypatch.setattr(listing, "CHUNKS_A_THREAD", 16)
    monkeypatch.setattr(training, "FAN", 3)


def set_date_of(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let models that are written from now on have the date of another."""
    written = open_model(model).tables[0].header.written
    stamp = time.strptime(written, "%Y-%m-%dT%H:%M:%S+00:00")
    monkeypatch.setattr("nbtext.store.appending.gmtime", lambda: stamp)


@pytest.fixture
def is_same(client: Any, monkeypatch: pytest.MonkeyPatch) -> Same:
    """Train both ways, and compare the files."""

    def compare(*sources: str, **how: Any) -> None:
        made = train(sources, client, "cluster.nbt", **how)
        set_date_of("cluster.nbt", monkeypatch)
        trained = nbtext.train(sources, "one.nbt", **how)

        assert Path("cluster.nbt").read_bytes() == Path("one.nbt").read_bytes()
        expected = trained.summary()
        for name in ("classes", "n_tokens", "n_terms", "repeats", "conflicts"):
            assert getattr(made, name) == getattr(expected, name)
        assert made.losses == expected.losses
        assert made.report.bytes == expected.report.bytes
        assert made.report.documents == expected.report.documents
        assert made.report.skipped.documents == expected.report.skipped.documents
        assert len(made.report.notes) == len(expected.report.notes)
        assert not [path for path in Path().iterdir() if ".cluster-" in path.name]

    return compare


def write_mail() -> None:
    """Write folders of mail, a copy and a conflict among them, and an mbox."""
    for label, words in (("spam", SPAM), ("ham", HAM)):
        Path(label).mkdir()
        for number in range(40):
            Path(label, f"{number}.eml").write_bytes(mail(number, words))
    Path("spam", "copy.eml").write_bytes(mail(3, SPAM))
    Path("spam", "conflict.eml").write_bytes(mail(5, HAM))
    box = b"".join(FROM_LINE + mail(n, HAM) + b"\n" for n in range(50, 90))
    Path("more.mbox").write_bytes(box)


def test_mail(is_same: Same) -> None:
    write_mail()
    Path("spam", "broken.gz").write_bytes(gzip.compress(b"Subject: x\n\nx")[:15])
    Path("ham", "nowhere").symlink_to("missing")

    is_same("spam/", "ham", "ham=more.mbox", replace=True)


def test_many_classes_of_text(is_same: Same) -> None:
    words = SPAM + HAM
    rows = [
        {
            "text": " ".join(words[(n * k) % 16] for k in range(1, 9)),
            "label": f"c{n % 5}",
        }
        for n in range(400)
    ]
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    Path("more.csv.gz").write_bytes(
        gzip.compress(b"label,text\n" + b"c1,money lunch\nc2,train\nc3\n" * 20)
    )

    is_same("rows.jsonl", "more.csv.gz")


def test_few_short_texts_have_runs_of_three(is_same: Same) -> None:
    lines = [f"{label}\t{text}" for label, text in confusing(80)]
    Path("texts.tsv").write_text("\n".join(["label\ttext", *lines, ""]))

    is_same("texts.tsv")

    assert open_model("cluster.nbt").settings.views[-1].threes == THREES_BYTES


def test_columns_that_are_guessed(is_same: Same) -> None:
    rows = [
        f"{label},{number % 7}.5,{'red' if number % 3 else 'blue'},about {word} or so"
        for number in range(30)
        for label, word in (("a", SPAM[number % 8]), ("b", HAM[number % 8]))
    ]
    Path("t.csv").write_text("\n".join(["class,size,colour,remark", *rows]))

    is_same("t.csv")


def test_counts_that_are_weighed_again(is_same: Same) -> None:
    write_mail()

    is_same("spam", "ham", overrides=SettingsOverrides(score="tfidf"))


def test_a_guess_that_was_wrong_is_mended(is_same: Same) -> None:
    """The first documents are text, but most of them are mail."""
    write_mail()
    Path("first").mkdir()
    for number in range(35):
        Path("first", f"{number}.txt").write_text(f"lunch {number}")

    is_same("ham=first", "spam", "ham=ham", "ham=more.mbox")


def test_the_policy_of_the_old_model_stays(client: Any) -> None:
    write_mail()
    train(["spam", "ham"], client, "m.nbt")
    policy = nbtext.Policy(prior=(("spam", 0.25),))
    nbtext.set_policy("m.nbt", policy)

    made = train(["spam", "ham"], client, "m.nbt")

    assert nbtext.load("m.nbt").policy == policy
    assert "policy of the old model is kept" in made.notes[0]


def test_a_worker_that_dies_costs_and_doubles_nothing(
    cluster: Cluster, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of four workers are killed, one as counting begins, one as it ends."""
    write_mail()
    doomed = [cluster.add_worker() for _ in range(2)]
    wait_until(lambda: len(client.scheduler_info()["workers"]) == 4)
    told: list[int] = []

    def progress(documents: int, _: int) -> None:
        told.append(documents)
        if len(told) in (1, 12):
            doomed.pop().kill()

    made = train(["spam", "ham", "ham=more.mbox"], client, "m.nbt", progress=progress)

    assert not doomed
    assert made.classes == {"ham": 80, "spam": 42}
    set_date_of("m.nbt", monkeypatch)
    nbtext.train(["spam", "ham", "ham=more.mbox"], "one.nbt")
    assert Path("m.nbt").read_bytes() == Path("one.nbt").read_bytes()


def test_a_scheduler_that_dies_is_an_error(tmp_path: Path) -> None:
    """It is not waited for, and the old model stands."""
    write_mail()
    nbtext.train(["spam", "ham=more.mbox"], "m.nbt")
    before = Path("m.nbt").read_bytes()
    (tmp_path / "its").mkdir()

    with (
        running(tmp_path / "its", 1) as own,
        pytest.raises(ClusterError, match="the cluster stopped before the work was"),
        connected(own.address, patience=1) as client,
    ):
        train(
            ["spam", "ham"], client, "m.nbt", progress=lambda *_: own.scheduler.kill()
        )

    assert Path("m.nbt").read_bytes() == before
    assert not [path for path in Path().iterdir() if ".cluster-" in path.name]


def test_what_cannot_be_done_is_said(cluster: Cluster, client: Any) -> None:
    write_mail()
    with pytest.raises(SettingsError, match="not on the cluster"):
        train(["spam=-", "ham"], client, "m.nbt")
    with pytest.raises(TrainingError, match="only the class 'spam'"):
        train(["spam"], client, "m.nbt")
    with pytest.raises(NbtextError, match="no such file"):
        train(["spam=nothing", "ham=there"], client, "m.nbt")
    with (
        pytest.raises(ClusterError, match="no scheduler answers"),
        connected("tcp://127.0.0.1:1", patience=0.2),
    ):
        pass
    with (
        pytest.raises(SettingsError, match="address of a scheduler"),
        connected("nonsense://x"),
    ):
        pass
    assert not Path("m.nbt").exists()
    train(["spam", "ham"], client, "m.nbt")
    nbtext.learn("m.nbt", "ham", [b"Subject: lunch\n\nlunch"])
    with pytest.raises(TaughtError):
        train(["spam", "ham"], client, "m.nbt")


def test_a_cluster_whose_workers_are_gone_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_mail()
    monkeypatch.setattr("nbtext.distributed.connecting.LOOK", 1.0)
    (tmp_path / "its").mkdir()

    with (
        running(tmp_path / "its", 1) as own,
        pytest.raises(ClusterError, match="all workers have ended"),
        connected(own.address) as client,
    ):
        train(
            ["spam", "ham"], client, "m.nbt", progress=lambda *_: own.workers[0].kill()
        )

    assert not Path("m.nbt").exists()
    assert not [path for path in Path().iterdir() if ".cluster-" in path.name]


def test_a_worker_that_is_stopped_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_mail()
    monkeypatch.setattr("nbtext.distributed.connecting.LOOK", 1.0)
    (tmp_path / "its").mkdir()

    with running(tmp_path / "its", 1) as own, connected(own.address) as client:
        client.wait_for_workers(1, timeout=PATIENCE)
        own.workers[0].send_signal(signal.SIGSTOP)
        with pytest.raises(ClusterError, match="a worker has not answered for 1 s"):
            train(["spam", "ham"], client, "m.nbt")

    assert not Path("m.nbt").exists()


def test_what_looks_like_left_by_a_run_is_not_taken_for_it(tmp_path: Path) -> None:
    """Nobody's folder is removed for the beginning of its name, and no pipe waits."""
    ours = f".m.nbt.cluster-{'a' * 32}"
    named_so, another, pipe = tmp_path / f"{ours}-copy", tmp_path / "another", "b" * 32
    for folder in (named_so, another):
        folder.mkdir()
        (folder / HELD).touch()
        (folder / "precious").touch()
    (tmp_path / ours).symlink_to(another)
    (tmp_path / f".m.nbt.cluster-{pipe}").mkdir()
    os.mkfifo(tmp_path / f".m.nbt.cluster-{pipe}" / HELD)

    with shared_folder(str(tmp_path / "m.nbt"), None):
        pass

    assert (named_so / "precious").exists()
    assert (another / "precious").exists()
    assert (tmp_path / ours).is_symlink()


def test_what_a_killed_run_has_left_is_removed(client: Any) -> None:
    write_mail()
    left, held, begins, never_held = (
        Path(f".m.nbt.cluster-{number}" + "0" * 31) for number in range(4)
    )
    for folder in (left, held):
        folder.mkdir()
        (folder / "client").touch()
    for folder in (begins, never_held):
        folder.mkdir()
    os.utime(never_held, (0, 0))
    child = os.fork()
    if not child:  # another client at work
        import fcntl

        file = (held / "client").open("rb")
        fcntl.flock(file, fcntl.LOCK_EX)
        (held / "is held").touch()
        signal.pause()
    try:
        wait_until((held / "is held").exists)

        train(["spam", "ham"], client, "m.nbt")

        assert held.exists()
        assert begins.exists()
        assert not left.exists()
        assert not never_held.exists()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
