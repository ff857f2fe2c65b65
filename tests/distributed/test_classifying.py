"""What a cluster decides about documents is what this machine decides."""

import csv
import errno
import gzip
from collections.abc import Iterable
from pathlib import Path

import pytest
from click.testing import CliRunner

import nbtext
from nbtext.cli._group import nbtext as program
from nbtext.distributed import listing
from nbtext.errors import ModelWriteError
from tests.build import FROM_LINE, HAM, SPAM, mail
from tests.distributed.cluster import Cluster

pytest.importorskip("distributed", reason="takes the extra dask")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with mail, rows, models of both, and what cannot be read."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(listing, "LEAST_CHUNK", 2048)
    for label, tokens in (("spam", SPAM), ("ham", HAM)):
        Path(label).mkdir()
        for number in range(20):
            Path(label, f"{number}.eml").write_bytes(mail(number, tokens))
    box = b"".join(FROM_LINE + mail(n, HAM) + b"\n" for n in range(50, 70))
    Path("more.mbox").write_bytes(box)
    Path("spam", "broken.gz").write_bytes(gzip.compress(b"Subject: x\n\nx")[:15])
    with Path("t.csv").open("w") as file:
        rows = csv.writer(file)
        rows.writerow(["class", "title", "size"])
        for n in range(60):
            words = " ".join(((SPAM, HAM)[n % 2][(n * k) % 8]) for k in range(1, 5))
            rows.writerow([("a", "b")[n % 2], words, n % 7])
    nbtext.train(["spam", "ham"], "mail.nbt")
    nbtext.train(["spam", "ham=more.mbox"], "other.nbt")
    columns = nbtext.sources.Options(text_columns=("title",), numeric_columns=("size",))
    nbtext.train(["t.csv"], "rows.nbt", options=columns)
    return tmp_path


MODEL = ["-m", "mail.nbt"]

LINES = {
    "mail": ["classify", "-m", "mail.nbt", "{}/spam", "{}/more.mbox", "{}/nothing"],
    "json": ["classify", "--json", "-m", "mail.nbt", "{}/ham"],
    "two models": ["classify", "--json", "-m", "mail.nbt", "-m", "other.nbt", "{}/ham"],
    "prior": ["classify", "--prior", "estimate", "-m", "mail.nbt", "{}/more.mbox"],
    "rows": ["classify", "-m", "rows.nbt", "{}/t.csv"],
    "eval": ["eval", "--errors", "-m", "mail.nbt", "{}/spam", "ham={}/more.mbox"],
    "eval, seen": ["eval", "--seen", "--json", "-m", "mail.nbt", "{}/spam", "{}/ham"],
    "eval, rows": ["eval", "-m", "rows.nbt", "{}/t.csv"],
    "eval, against": ["eval", "--against", "other.nbt", "-m", "mail.nbt", "{}/ham"],
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_the_lines_are_the_same(
    line: list[str], folder: Path, cluster: Cluster
) -> None:
    words = [word.format(folder) for word in line]
    run = CliRunner().invoke

    here = run(program, words)
    there = run(program, [words[0], "--cluster", cluster.address, *words[1:]])

    assert there.stdout == here.stdout
    assert there.stderr == here.stderr
    assert there.exit_code == here.exit_code
    assert type(there.exception) is type(here.exception)
    assert len(here.stdout) > 100
    assert not [path for path in folder.iterdir() if ".cluster-" in path.name]


def test_no_room_for_the_model_is_told(
    folder: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    words = ["classify", "--cluster", cluster.address, "-m", "mail.nbt", "spam"]

    error = CliRunner().invoke(program, words).exception

    assert isinstance(error, ModelWriteError)
    assert str(error) == (
        f"{folder}: the cluster's work cannot be written there (No space left on "
        "device); make room, or name another folder with shared"
    )


@pytest.mark.parametrize("tail", [bytes(99), b"\xde\0\x0e\xa6"], ids=["crash", "copy"])
def test_a_tail_that_is_not_whole_costs_no_other_table(
    tail: bytes, folder: Path, cluster: Cluster
) -> None:
    nbtext.learn("mail.nbt", "spam", [mail(99, HAM)] * 3)
    model = Path("mail.nbt")
    model.write_bytes(model.read_bytes() + tail)
    words = ["classify", "-m", "mail.nbt", f"{folder}/ham"]

    run = CliRunner().invoke

    here = run(program, words)
    there = run(program, [words[0], "--cluster", cluster.address, *words[1:]])

    assert here.exit_code == 0
    assert there.stdout == here.stdout


def test_a_model_that_is_taught_meanwhile_decides_as_it_was(
    folder: Path, cluster: Cluster
) -> None:
    from nbtext.distributed import connected
    from nbtext.distributed.classifying import classified_on

    model = nbtext.load("mail.nbt")
    before = _facts(nbtext.classify_all(model, _read(folder)))
    nbtext.learn("mail.nbt", "spam", [mail(99, HAM)] * 3)

    with (
        connected(cluster.address) as client,
        classified_on(
            client, model, [folder / "ham"], nbtext.sources.Options(), labelled=False
        ) as how,
    ):
        batches = how["elsewhere"](max_bytes=1 << 20, on_problem=print)
        found = _facts(decision for batch in batches for decision in batch)

    taught = _facts(nbtext.classify_all(nbtext.load("mail.nbt"), _read(folder)))
    assert found == before != taught


def _facts(decisions: Iterable[nbtext.Decision]) -> dict[str, tuple[str | None, float]]:
    return {one.name: (one.label, round(one.probability, 8)) for one in decisions}


def _read(folder: Path) -> list[nbtext.document.Document]:
    return [*nbtext.read_documents([folder / "ham"])]


def test_a_reader_that_goes_away_is_no_fault_of_the_cluster(
    folder: Path, cluster: Cluster
) -> None:
    from nbtext.distributed import connected
    from nbtext.distributed.classifying import classified_on

    model, options = nbtext.load("mail.nbt"), nbtext.sources.Options()
    with (
        pytest.raises(BrokenPipeError),
        connected(cluster.address) as client,
        classified_on(client, model, [folder / "ham"], options, labelled=False),
    ):
        raise BrokenPipeError


@pytest.mark.usefixtures("folder")
def test_what_a_cluster_does_not_do_is_refused() -> None:
    for line, error in (
        (["eval", "--folds", "3", "spam"], "--folds is for work on this machine"),
        (["eval", *MODEL, "--jobs", "2", "spam"], "--jobs is for work on this machine"),
        (["classify", *MODEL, "--is", "spam", "spam"], "--is is for work on this"),
        (["classify", *MODEL], "Standard input is not on the cluster"),
    ):
        words = [line[0], "--cluster", "tcp://127.0.0.1:1", *line[1:]]
        result = CliRunner().invoke(program, words, input="x")
        assert result.exit_code != 0
        assert error in result.stderr
