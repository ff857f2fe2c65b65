"""Keyed models do what others do, but only for those who have the secret."""

import json
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nbtext import classify, forget, keyring, learn, load, train_on
from nbtext.document import Document
from nbtext.errors import SecretError, SettingsError
from nbtext.scoring.model import load_model
from nbtext.store.compacting import compact
from nbtext.store.ledger import rows_of
from nbtext.store.packing import unpack
from nbtext.tokens import bag_of, read
from tests.build import maildir, values
from tests.waiting import PATIENCE, wait_until

if TYPE_CHECKING:
    from tests.cli.conftest import Outcome, Run

TRAIN = ("train", "-q", "-m", "keyed.nbt", "--keyed", "secret", "spam", "ham")
MODEL = ("-m", "keyed.nbt", "--keyed", "secret")
LACKING = "the model is keyed, and without its secret no document can be read"


@pytest.fixture
def run(run: "Run") -> "Run":
    """The program in this process, which knows no secret when it begins."""

    def anew(*arguments: object, **more: Any) -> "Outcome":
        keyring._named.clear()
        keyring._secrets.clear()
        return run(*arguments, **more)

    return anew


@pytest.fixture(scope="module")
def kept() -> dict[str, bytes]:
    """A keyed model and its secret, made for the first test."""
    return {}


@pytest.fixture
def keyed(model: Path, run: "Run", kept: dict[str, bytes]) -> Path:
    """A keyed model beside the public one of the same documents."""
    if not kept:
        assert run(*TRAIN) == (0, "", "")
        kept |= {name: Path(name).read_bytes() for name in ("keyed.nbt", "secret")}
    for name, contents in kept.items():
        Path(name).write_bytes(contents)
        Path(name).chmod(0o600)
    return model.with_name("keyed.nbt")


def messages() -> list[bytes]:
    return [
        p.read_bytes() for folder in ("spam", "ham") for p in Path(folder).iterdir()
    ]


@pytest.mark.usefixtures("keyed")
def test_a_keyed_model_decides_as_the_public_one_of_the_same_documents(
    run: "Run",
) -> None:
    public = run("classify", "-m", "mail.nbt", "--json", "spam", "ham")

    assert public.out
    assert run("classify", *MODEL, "--json", "spam", "ham") == public
    jobs = run("classify", *MODEL, "--json", "-j", "2", "spam", "ham")
    assert jobs == public


@pytest.mark.usefixtures("keyed")
def test_nothing_in_a_keyed_model_is_a_public_key_or_digest(run: "Run") -> None:
    learnt = b"From: a@example.org\nSubject: winner\n\nfree prizes\n"
    assert run("learn", "spam", *MODEL, stdin=learnt).status == 0
    assert run("learn", "spam", "-m", "mail.nbt", stdin=learnt).status == 0
    model, public = load_model("keyed.nbt"), load_model("mail.nbt")
    data, public_data = Path("keyed.nbt").read_bytes(), Path("mail.nbt").read_bytes()
    text, public_text = (run("dump", "-m", f"{m}.nbt").out for m in ("keyed", "mail"))
    keys, public_keys = (
        set(re.findall('"([0-9a-f]{12})"', one)) for one in (text, public_text)
    )
    of_all = [*messages(), learnt]
    readings = [read(Document("", (one,)), public.settings) for one in of_all]

    for reading in readings:
        assert rows_of(public.file, reading.digest)
        assert not rows_of(model.file, reading.digest)
        for half in struct.unpack(">QQ", reading.digest):
            assert struct.pack("<Q", half) in public_data
            assert struct.pack("<Q", half) not in data
        assert reading.digest.hex() in public_text
        assert reading.digest.hex() not in text
        for view, terms in enumerate(bag_of(reading, public.settings)):
            assert len(public.found(view, terms)) == len(terms) > 0
            assert not model.found(view, terms)
            named = {f"{key:012x}" for key in terms}
            assert named <= public_keys
            assert not named & keys


@pytest.mark.usefixtures("keyed")
def test_nothing_in_a_keyed_model_is_its_secret() -> None:
    data, secret = Path("keyed.nbt").read_bytes(), Path("secret").read_bytes()

    assert len(secret) == 32
    assert not any(secret[start : start + 4] in data for start in range(0, 32, 4))


@pytest.mark.usefixtures("keyed")
@pytest.mark.parametrize(
    "command",
    [
        ["classify"], ["classify", "--json"], ["learn", "spam"], ["forget"],
        ["tokens"], ["bogofilter", "--model", "keyed.nbt", "-v"],
        ["bogofilter", "--model", "keyed.nbt", "-s"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_without_the_secret_no_document_is_read(
    process: "Run", command: list[str], message: bytes
) -> None:
    before = Path("keyed.nbt").read_bytes()
    model = [] if command[0] == "bogofilter" else ["-m", "keyed.nbt"]

    done = process(*command, *model, stdin=message)

    assert done.status == (3 if command[0] == "bogofilter" else 64)
    assert done.out == ""
    assert LACKING in done.err
    assert Path("keyed.nbt").read_bytes() == before


@pytest.mark.usefixtures("keyed")
def test_passing_without_the_secret_passes_the_message_as_it_came(
    process: "Run", message: bytes
) -> None:
    done = process("pass", "-m", "keyed.nbt", stdin=message)

    assert (done.status, done.out.encode()) == (75, message)
    assert LACKING in done.err


@pytest.mark.usefixtures("keyed")
def test_the_environment_names_the_secret(run: "Run", message: bytes) -> None:
    env = {"NBTEXT_KEYED": "secret"}

    done = run("classify", "-m", "keyed.nbt", stdin=message, env=env)

    assert done.status == 0
    assert done.out.startswith("spam\t")


@pytest.mark.usefixtures("keyed")
def test_another_secret_is_refused(run: "Run", message: bytes) -> None:
    Path("other").write_bytes(bytes(32))
    Path("other").chmod(0o600)

    done = run("classify", "-m", "keyed.nbt", "--keyed", "other", stdin=message)

    assert (done.status, done.out) == (64, "")
    assert "other: it holds another secret than that of the model (" in done.err


@pytest.mark.usefixtures("keyed")
def test_every_command_that_reads_documents_takes_the_secret(
    run: "Run", message: bytes
) -> None:
    one = Path("new.eml")
    one.write_bytes(b"Subject: winner\n\nfree prize\n")
    maildir(Path("box"), {"cur/1": message})

    assert run("learn", "spam", *MODEL, stdin=one.read_bytes()).status == 0
    assert "moved 1 document" in run("learn", "ham", *MODEL, "new.eml").err
    assert run("forget", *MODEL, "new.eml").err == "forgot 1 document\n"
    assert b"X-NBText" in run("pass", *MODEL, stdin=message).out.encode()
    assert run("eval", *MODEL, "spam", "ham").status == 0
    assert run("tokens", *MODEL, "new.eml").status == 0
    pruned = run("prune", *MODEL, "-n", "--counted", "spam")
    assert (pruned.status, "fitted anew" in pruned.err) == (0, True)
    filtered = run("filter", *MODEL, "-n", "--flag", "spam=junk", "box")
    assert (filtered.status, "1 new" in filtered.out) == (0, True)
    bogofilter = ("bogofilter", "--model", "keyed.nbt", "--keyed", "secret")
    assert run(*bogofilter, "-v", stdin=message).out.startswith("X-Bogosity: ")
    assert run(*bogofilter, "-n", stdin=one.read_bytes()).status == 0
    assert run(*bogofilter, "-N", stdin=one.read_bytes()).status == 0


@pytest.mark.usefixtures("keyed")
def test_commands_that_read_no_documents_need_no_secret(run: "Run") -> None:
    facts = json.loads(run("info", "-m", "keyed.nbt", "--json").out)
    assert re.fullmatch("[0-9a-f]{32}", facts["settings"]["secret"])
    assert run("check", "-m", "keyed.nbt").status == 0
    assert run("compact", "-m", "keyed.nbt").status == 0
    text = run("dump", "-m", "keyed.nbt").out
    assert run("load", "-m", "again.nbt", stdin=text.encode()).status == 0
    assert (
        facts["settings"]
        == json.loads(run("info", "-m", "again.nbt", "--json").out)["settings"]
    )
    again = run("classify", "-m", "again.nbt", "--keyed", "secret", "spam")
    assert again == run("classify", *MODEL, "spam")
    assert run("prune", "-m", "keyed.nbt", "--min-documents", "2").status == 0
    assert run("classify", *MODEL, "spam").status == 0


@pytest.mark.usefixtures("keyed")
def test_models_of_one_secret_add_up_and_others_do_not(run: "Run") -> None:
    more = ("--keyed", "secret", "spam=spam/1.eml", "ham=ham/1.eml")
    run("train", "-m", "more.nbt", *more)
    run("train", "-m", "other.nbt", "--keyed", "2", "spam", "ham")
    joined = Path("joined.nbt")

    assert run("merge", "-o", "both.nbt", "keyed.nbt", "more.nbt").status == 0
    done = run(
        "merge", "-o", "once.nbt", "keyed.nbt", "more.nbt", "--documents", "spam",
        "--documents", "ham", "--keyed", "secret",
    )  # fmt: skip
    assert done.status == 0
    assert sum(load_model("once.nbt").documents) == 16
    for other in ("other.nbt", "mail.nbt"):
        done = run("merge", "-o", "none.nbt", "keyed.nbt", other)
        assert (done.status, Path("none.nbt").exists()) == (65, False)
        assert "the secret of its keys, by fingerprint (--keyed): " in done.err
        joined.write_bytes(Path("keyed.nbt").read_bytes() + Path(other).read_bytes())
        assert "--keyed" in run("info", "-m", "joined.nbt").err


@pytest.mark.usefixtures("keyed")
def test_a_public_model_is_not_learnt_as_if_it_were_keyed(run: "Run") -> None:
    done = run("learn", "spam", "-m", "mail.nbt", "--keyed", "secret", "spam")

    assert (done.status, "the model is not keyed" in done.err) == (64, True)


@pytest.mark.usefixtures("keyed")
@pytest.mark.parametrize(
    "command",
    [
        ["classify"], ["classify", "--json"], ["classify", "-m", "mail.nbt"], ["why"],
        ["classify", "--is", "spam"], ["tokens"], ["top"], ["weights"],
        ["filter", "-n", "--flag", "spam=junk", "spam"], ["serve"],
        ["eval", "spam", "ham"], ["eval", "--replay", "spam", "ham"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_public_model_is_not_read_as_if_it_were_keyed(
    run: "Run", command: list[str], message: bytes
) -> None:
    secret = ("-m", "mail.nbt", "--keyed", "secret")

    done = run(*command, *secret, stdin=message)

    assert (done.status, done.out) == (64, "")
    assert "keyed; leave out --keyed" in done.err


@pytest.mark.usefixtures("keyed")
def test_a_public_model_passes_no_message_as_if_it_were_keyed(
    run: "Run", message: bytes
) -> None:
    secret = ("--keyed", "secret")
    done = run("pass", "-m", "mail.nbt", *secret, stdin=message)
    judged = run("bogofilter", "--model", "mail.nbt", *secret, "-v", stdin=message)

    assert (done.status, done.out.encode()) == (75, message)
    assert "mail.nbt: the model is not keyed; leave out --keyed; " in done.err
    assert (judged.status, judged.out) == (3, "")
    assert "mail.nbt: the model is not keyed; leave out --keyed" in judged.err


@pytest.mark.usefixtures("keyed")
def test_a_secret_is_refused_where_no_model_is_read(run: "Run") -> None:
    for command in (
        ["eval", "--folds", "2", "spam", "ham"],
        ["eval", "--replay", "spam", "ham"],
        ["tokens", "--as", "mail", "spam"],
    ):
        done = run(*command, "--keyed", "secret")

        assert (done.status, done.out) == (64, "")
        assert "--keyed is about a model; " in done.err


@pytest.mark.usefixtures("keyed")
def test_of_several_models_one_that_is_keyed_is_enough(
    run: "Run", message: bytes
) -> None:
    both = ("-m", "mail.nbt", *MODEL)

    assert run("classify", *both, stdin=message).status == 0
    assert run("eval", "-q", *both, "spam", "ham").status == 0


@pytest.mark.usefixtures("keyed")
def test_the_environment_may_name_a_secret_that_no_model_needs(
    run: "Run", message: bytes
) -> None:
    env = {"NBTEXT_KEYED": "secret"}

    assert run("classify", "-m", "mail.nbt", stdin=message, env=env).status == 0


@pytest.mark.usefixtures("keyed")
def test_public_models_are_not_merged_as_if_they_were_keyed(run: "Run") -> None:
    for option in ([], ["--tree"]):
        models = ("mail.nbt", "mail.nbt", "--keyed", "secret")
        done = run("merge", "-o", "both.nbt", *option, *models)

        assert (done.status, Path("both.nbt").exists()) == (64, False)
        assert "mail.nbt: the model is not keyed; leave out --keyed" in done.err


@pytest.mark.usefixtures("keyed")
def test_a_keyed_model_is_not_replaced_by_a_public_one_unasked(run: "Run") -> None:
    before = Path("keyed.nbt").read_bytes()

    done = run("train", "-m", "keyed.nbt", "spam", "ham")

    assert (done.status, Path("keyed.nbt").read_bytes()) == (64, before)
    assert "the model there is keyed, and the new one would not be" in done.err
    assert run("train", "-m", "keyed.nbt", "--replace", "spam", "ham").status == 0
    assert load_model("keyed.nbt").settings.secret is None


def test_a_model_is_begun_with_a_secret(run: "Run", corpus: Path) -> None:
    begin = ("learn", "--create", "-m", "begun.nbt", "--keyed", "new")
    assert run(*begin, "spam", "spam").status == 0
    assert run(*begin, "ham", "ham").status == 0
    model = load_model(str(corpus / "begun.nbt"))
    assert model.settings.secret is not None
    assert (corpus / "new").stat().st_mode & 0o777 == 0o600


def test_a_secret_that_others_may_read_makes_no_model(run: "Run", corpus: Path) -> None:
    (corpus / "secret").write_bytes(bytes(32))
    (corpus / "secret").chmod(0o644)

    done = run(*TRAIN)

    assert (done.status, (corpus / "keyed.nbt").exists()) == (64, False)
    assert "mode 644" in done.err


@pytest.mark.usefixtures("keyed")
def test_the_server_takes_the_secret_and_hands_it_to_its_workers(
    message: bytes, tmp_path: Path
) -> None:
    socket = tmp_path / "s"
    command = [
        sys.executable, "-m", "nbtext", "serve", *MODEL, "--listen", f"unix:{socket}",
        "--workers", "1",
    ]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:
        try:
            wait_until(lambda: is_listened_on(socket))
            for words in (b"", b" free prize" * 10_000):  # a helper reads long ones
                answer = asked(socket, b"CHECK SPAMC/1.2\r\n\r\n" + message + words)
                assert b"Spam: True" in answer
            tell = b"TELL SPAMC/1.5\r\nMessage-class: ham\r\nSet: local\r\n\r\n"
            answer = asked(socket, tell + message)
            assert b"DidSet: local" in answer
        finally:
            server.terminate()
            server.wait(PATIENCE)


def is_listened_on(path: Path) -> bool:
    """Tell whether a server is there: the file is, for a moment, before it listens."""
    try:
        return bool(asked(path, b"PING SPAMC/1.2\r\n"))
    except OSError:
        return False


def asked(path: Path, request: bytes) -> bytes:
    import socket

    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(PATIENCE)
        client.connect(str(path))
        client.sendall(request)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65536), b""))


def test_the_library_does_the_same(tmp_path: Path) -> None:
    path, secret = str(tmp_path / "m.nbt"), str(tmp_path / "s")
    pairs = [("spam", "cheap pills now"), ("ham", "lunch on friday")]

    train_on(pairs, path, keyed=secret)
    before = stored(path)
    assert classify(load(path, keyed=secret), "cheap pills").label == "spam"
    learn(path, "ham", ["more lunch", "and dinner"], keyed=secret)
    assert stored(path) != before
    assert len(forget(path, ["more lunch", "and dinner"], keyed=secret)) == 2
    compact(path)
    assert stored(path) == before


def stored(path: str) -> Any:
    return values(unpack(load_model(path).file))


def test_the_library_reads_no_public_model_as_if_it_were_keyed(tmp_path: Path) -> None:
    path = str(tmp_path / "m.nbt")
    train_on([("a", "b"), ("c", "d")], path)

    with pytest.raises(SettingsError, match="the model is not keyed; leave out keyed"):
        load(path, keyed=tmp_path / "s")


def test_the_library_remembers_no_secret_that_opened_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, secret = str(tmp_path / "m.nbt"), tmp_path / "s"
    train_on([("a", "b"), ("c", "d")], path, keyed=secret)
    monkeypatch.setattr(keyring, "_named", [])
    monkeypatch.setattr(keyring, "_secrets", {})
    monkeypatch.setenv(keyring.VARIABLE, str(secret))

    with pytest.raises(SecretError, match="no secret there"):
        load(path, keyed=tmp_path / "missing")

    assert classify(load(path), "b").label == "a"


def test_the_library_refuses_what_is_no_secret(tmp_path: Path) -> None:
    with pytest.raises(SecretError):
        train_on([("a", "b"), ("c", "d")], str(tmp_path / "m"), keyed=str(tmp_path))
