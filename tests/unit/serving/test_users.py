"""A request is answered by the model of the user that it names, if there is one."""

import os
import shutil
from pathlib import Path
from pwd import getpwnam
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbtext import train_on
from nbtext.errors import ModelAccessError, SettingsError
from nbtext.policy import PolicyOverrides
from nbtext.scoring import load_model
from nbtext.serving.handlers import Handler, HandlerOptions
from nbtext.serving.spamd import Request
from nbtext.serving.users import (
    MOST_OPEN,
    UsersHandler,
    check_users,
    handler_of,
    may_teach,
    path_of,
    size_of,
)
from nbtext.store.reuse import keep_tables

SPAM = b"Subject: pills\n\ncheap pills\n"
HAM = b"Subject: lunch\n\nlunch on friday\n"


@pytest.fixture
def options(tmp_path: Path) -> HandlerOptions:
    """The options of a server whose model has pills as spam; anna's has lunch."""
    users = tmp_path / "users"
    users.mkdir(0o700)
    model = tmp_path / "m.nbt"
    train_on([("ham", HAM), ("spam", SPAM)], model)
    train_on([("spam", HAM), ("ham", SPAM)], users / "anna.nbt")
    path = str(model)
    return HandlerOptions(
        path, "spam", "ham", PolicyOverrides(), 1 << 16, 1.0, str(users)
    )


def check(user: str = "", verb: str = "CHECK") -> Request:
    return Request(verb, (1, 5), user=user, body=SPAM)


def lesson(user: str, body: bytes = SPAM, label: str = "spam") -> Request:
    return Request("TELL", (1, 5), user=user, body=body, sets=True, message_class=label)


def handler(options: HandlerOptions) -> UsersHandler:
    found = handler_of(options, lambda _: None, lambda _: None)
    assert isinstance(found, UsersHandler)
    return found


def n_documents(path: str | Path) -> int:
    return sum(load_model(str(path)).documents)


def test_without_a_folder_there_is_one_model(options: HandlerOptions) -> None:
    assert isinstance(handler_of(options._replace(users=None), print, print), Handler)


@pytest.mark.parametrize(
    "verb", ["CHECK", "SYMBOLS", "REPORT", "REPORT_IFSPAM", "PROCESS", "HEADERS"]
)
def test_a_user_is_answered_by_the_own_model(
    options: HandlerOptions, verb: str
) -> None:
    plain = handler_of(options._replace(users=None), print, print)
    own = handler_of(
        options._replace(users=None, model=f"{options.users}/anna.nbt"), print, print
    )

    served = handler(options)
    answers = served.classify(
        [check("anna", verb), check("bob", verb), check("", verb)]
    )

    expected = [each.classify_alone(check("", verb)) for each in (own, plain, plain)]
    assert [one.response for one in answers] == [one.response for one in expected]
    assert expected[0] != expected[1]
    whose = [one.log.rpartition(" ")[2] for one in answers]
    assert whose == ["model=user", "model=server", "model=server"]
    for user, answer in zip(("anna", "bob", ""), answers, strict=True):
        at_once = served.at_once(check(user, verb)._replace(body=b""))
        assert at_once
        assert at_once(check(user, verb)) == answer


def test_a_user_teaches_the_own_model(options: HandlerOptions) -> None:
    served = handler(options)
    served.classify_alone(check("anna"))

    taught = served.learn([lesson("anna", b"Subject: new\n\nnew\n"), lesson("", HAM)])

    assert b"DidSet: local" in taught[0].response
    assert b"DidSet: local" in taught[1].response  # it was ham in the server's model
    assert n_documents(f"{options.users}/anna.nbt") == 3
    assert n_documents(options.model) == 2


@pytest.mark.parametrize(
    ("user", "expected"), [("bob", "cp -p "), ("../m", "no user of such a name")]
)
def test_who_has_no_model_is_told_and_teaches_no_other(
    options: HandlerOptions, user: str, expected: str
) -> None:
    answer = handler(options).learn_alone(lesson(user, b"Subject: new\n\nnew\n"))

    assert answer.response.startswith(b"SPAMD/1.0 69 Service Unavailable: ")
    assert expected in answer.response.decode()
    assert n_documents(options.model) == 2
    assert [one.name for one in Path(str(options.users)).iterdir()] == ["anna.nbt"]


def test_what_is_advised_is_right(options: HandlerOptions) -> None:
    served = handler(options)
    refused = served.learn_alone(lesson("bob"))
    command = refused.response.decode().partition("make one: ")[2].split()
    assert command[:2] == ["cp", "-p"]

    shutil.copy2(command[2], command[3])
    answer = served.learn_alone(lesson("bob", b"Subject: new\n\nnew\n"))

    assert b"DidSet: local" in answer.response
    assert n_documents(f"{options.users}/bob.nbt") == 3


@pytest.mark.parametrize(
    "user",
    [
        "", ".", "..", ".anna", "-anna", "a/b", "/etc/passwd", "../anna", "anna\0",
        "anna\n", "a b", "a" * 65, "änna", "\uff11", "anna\udcff", "a\\b", "*",
        "~anna", "a:b",
    ],
)  # fmt: skip
def test_other_names_are_of_no_user(
    user: str, options: HandlerOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(path: str) -> int:
        raise AssertionError(path)

    monkeypatch.setattr("nbtext.serving.users.size_of", asked)
    answer = handler(options).classify_alone(check(user))

    assert path_of("users", user) is None
    assert answer.log.endswith("model=server")


@pytest.mark.parametrize(
    "user", ["anna", "a.b", "_x", "a-b+c@example.org", "7", "a" * 64]
)
def test_plain_names_have_a_file(user: str) -> None:
    assert path_of("users", user) == f"users/{user}.nbt"


@given(st.text() | st.text("./-@a", max_size=9))
def test_no_name_leads_out_of_the_folder(user: str) -> None:
    path = path_of("users", user)

    if path is not None:
        assert os.path.normpath(path) == path
        assert Path(path).parent == Path("users")
        assert not Path(path).name.startswith((".", "-"))


def make_link(path: Path) -> None:
    path.symlink_to(path.parent / "anna.nbt")


def make_fifo(path: Path) -> None:
    os.mkfifo(path, 0o600)


def make_open_to_all(path: Path) -> None:
    shutil.copy(path.parent / "anna.nbt", path)
    path.chmod(0o666)


def make_strange(path: Path) -> None:
    shutil.copy(path.parent / "anna.nbt", path)
    if os.geteuid():
        pytest.skip("only root gives files away")
    os.chown(path, 12345, -1)


@pytest.mark.parametrize(
    "make", [make_link, make_fifo, Path.mkdir, make_open_to_all, make_strange]
)
def test_what_others_may_change_is_not_opened(
    options: HandlerOptions, make: object
) -> None:
    path = Path(str(options.users)) / "bob.nbt"
    make(path)  # type: ignore[operator]
    served = handler(options)

    answers = [served.classify_alone(check("bob")), served.learn_alone(lesson("bob"))]

    for answer in answers:
        assert answer.response.startswith(b"SPAMD/1.0 69 Service Unavailable: ")
        assert b"bob.nbt: the model of a user is a file" in answer.response
    at_once = served.at_once(check("bob"))
    assert at_once
    assert at_once(check("bob")) == answers[0]
    assert not served.may_search_long(check("bob"))
    assert n_documents(options.model) == 2
    with pytest.raises(ModelAccessError):
        size_of(str(path))


@pytest.mark.parametrize("contents", [b"", b"no model", bytes(5000)])
def test_a_damaged_model_is_told_and_others_are_answered(
    options: HandlerOptions, contents: bytes
) -> None:
    Path(f"{options.users}/bob.nbt").write_bytes(contents)
    served = handler(options)

    answers = served.classify([check("anna"), check("bob"), check("")])
    taught = served.learn([lesson("bob"), lesson("anna")])

    assert [one.response.split()[1] for one in answers] == [b"0", b"69", b"0"]
    assert [one.response.split()[1] for one in taught] == [b"69", b"0"]
    assert Path(f"{options.users}/bob.nbt").read_bytes() == contents


def test_a_damaged_byte_of_what_is_read_is_told(options: HandlerOptions) -> None:
    path = Path(f"{options.users}/anna.nbt")
    arrays = load_model(str(path)).file.tables[0].arrays
    good = path.read_bytes()
    for place in range(arrays.offset, arrays.end, 64):
        damaged = bytearray(good)
        damaged[place] ^= 0xFF
        # another file, as commands write them: threads may read the one before still
        aside = path.with_name("aside")
        aside.write_bytes(damaged)
        aside.replace(path)
        served = handler(options)

        answers = [
            served.classify_alone(check("anna")),
            served.learn_alone(lesson("anna")),
        ]

        assert all(b"damaged" in one.response for one in answers)
        assert path.read_bytes() == damaged


def test_a_model_of_other_classes_is_not_used(options: HandlerOptions) -> None:
    train_on([("work", SPAM), ("private", HAM)], f"{options.users}/bob.nbt")
    served = handler(options)

    answers = [served.classify_alone(check("bob")), served.learn_alone(lesson("bob"))]

    assert all(one.response.startswith(b"SPAMD/1.0 69 ") for one in answers)
    assert n_documents(f"{options.users}/bob.nbt") == 2


def test_a_model_that_comes_changes_and_goes_is_noticed(
    options: HandlerOptions,
) -> None:
    served = handler(options)
    path = Path(f"{options.users}/bob.nbt")

    def answer() -> str:
        _, _, log = served.classify_alone(check("bob")).log.partition("label=")
        return f"{log.split()[0]} {log.rpartition('=')[2]}"

    said = [answer()]
    shutil.copy(f"{options.users}/anna.nbt", path)
    said.append(answer())
    aside = path.with_name("aside")
    shutil.copy(options.model, aside)
    aside.replace(path)
    said.append(answer())
    path.unlink()
    said.append(answer())

    assert said == ["spam server", "ham user", "spam user", "spam server"]
    assert not served._open


def descriptors() -> int:
    return len([*Path("/proc/self/fd").iterdir()])


def test_of_many_users_some_models_are_open(options: HandlerOptions) -> None:
    users = [f"user{number}" for number in range(300)]
    for user in users:
        shutil.copy(f"{options.users}/anna.nbt", f"{options.users}/{user}.nbt")
    keep_tables(only=options.model)
    served = handler(options)
    served.warm_up()
    before = descriptors()

    for user in users:
        served.classify_alone(check(user))
        served.learn_alone(lesson(user, b"Subject: new\n\nnew\n"))
        assert served.classify_alone(check(user)).log.startswith("label=")

    assert len(served._open) == MOST_OPEN
    assert descriptors() <= before + 2 * MOST_OPEN + 1
    last = [path_of(str(options.users), user) for user in users[-MOST_OPEN:]]
    assert list(served._open) == last
    assert {n_documents(f"{options.users}/{user}.nbt") for user in users} == {3}

    served.classify_alone(check(users[-MOST_OPEN]))
    served.classify_alone(check("anna"))
    assert last[0] in served._open  # which was asked more recently than the next
    assert last[1] not in served._open
    served.read_again()
    assert not served._open
    keep_tables(is_kept=False)


def test_of_large_models_fewer_are_open(
    options: HandlerOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    for user in ("bob", "carl", "dora"):
        shutil.copy(f"{options.users}/anna.nbt", f"{options.users}/{user}.nbt")
    size = Path(f"{options.users}/anna.nbt").stat().st_size
    served = handler(options)

    def n_open(most: int) -> int:
        monkeypatch.setattr("nbtext.serving.users.MOST_BYTES", most)
        served.read_again()
        for user in ("anna", "bob", "carl", "dora"):
            assert b" EX_OK" in served.classify_alone(check(user)).response
        return len(served._open)

    assert [n_open(most) for most in (0, size, 3 * size, 4 * size)] == [1, 1, 3, 4]

    served.learn_alone(lesson("anna", b"Subject: new\n\nnew\n"))
    served.classify_alone(check("anna"))  # which has grown
    assert len(served._open) == 3


def test_users_who_are_taught_and_asked_at_once_lose_nothing(
    options: HandlerOptions,
) -> None:
    shutil.copy(f"{options.users}/anna.nbt", f"{options.users}/bob.nbt")
    served = handler(options)
    answers: list[bytes | bytearray] = []

    def teach() -> None:
        for number in range(40):
            body = b"Subject: new\n\nnew%d\n" % number
            some = [lesson(user, body) for user in ("anna", "bob", "anna")]
            answers.extend(one.response for one in served.learn(some))

    teacher = Thread(target=teach)
    teacher.start()
    while teacher.is_alive():
        found = served.classify([check("anna"), check("bob"), check()])
        assert all(b" EX_OK" in one.response for one in found)
    teacher.join()

    assert len(answers) == 120
    assert sum(b"DidSet: local" in one for one in answers) == 80
    assert n_documents(f"{options.users}/anna.nbt") == 42
    assert n_documents(f"{options.users}/bob.nbt") == 42
    assert n_documents(options.model) == 2


def test_a_folder_that_others_may_change_is_refused(tmp_path: Path) -> None:
    check_users(str(tmp_path))
    (tmp_path / "file").touch()
    for mode in (0o770, 0o707, 0o1777):
        tmp_path.chmod(mode)
        with pytest.raises(SettingsError, match="others could put files"):
            check_users(str(tmp_path))
    tmp_path.chmod(0o755)
    check_users(str(tmp_path))
    for path in ("none", "file", "\0"):
        with pytest.raises(SettingsError, match="folder"):
            check_users(str(tmp_path / path))


def test_a_peer_teaches_the_own_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 4242)
    nobody = "nobody"
    number = getpwnam(nobody).pw_uid

    assert may_teach(0, "anna")
    assert may_teach(4242, "anna")
    assert may_teach(0, "")
    assert may_teach(number, nobody)
    assert not may_teach(number, "anna")
    assert not may_teach(number, "")
    assert not may_teach(4243, "")
    assert not may_teach(-1, "anna")
