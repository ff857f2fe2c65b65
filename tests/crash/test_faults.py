"""
Every call to the operating system may fail, or be the last; nothing is done by halves.

The calls that an operation makes are counted. One after the other is made to fail, or
to be the last thing that the process does, until the operation comes to its end without
that. Each time the model holds what it held before or what it should hold afterwards,
and the next writer goes on from there.
"""

import errno
import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from fuzz.models import learn
from nbtext import train_on
from nbtext.cli import _status as status
from nbtext.cli import main
from nbtext.errors import NbtextError, NoModelError
from nbtext.files import _locking, _replacing
from nbtext.files._replacing import LEFTOVER
from nbtext.learning import stored
from nbtext.store import appending, open_model
from nbtext.tokens.engine import engine
from tests.build import HAM, SPAM, mail
from tests.crash.strikes import DIED, Strike, name_of

if TYPE_CHECKING:
    from tests.build import Values
    from tests.conftest import Truth
    from tests.crash.conftest import Operation

CALLS = (
    "open", "pwrite", "write", "fsync", "fdatasync", "replace", "link", "fchmod",
    "mkdir", "stat", "fstat", "unlink", "scandir", "getxattr", "removexattr",
)  # fmt: skip
FAILURES = (status.CANNOT_CREATE, status.IO_ERROR, status.TRY_AGAIN)

pytestmark = [
    # a forked child of a process with threads may hang; this one has none of its own
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]


STRIKES = [
    Strike("fails", errno.ENOSPC),
    Strike("fails", errno.EIO),
    Strike("fails", errno.EINTR),
    Strike("fails", errno.EACCES),
    Strike("dies before"),
    Strike("dies halfway"),
    Strike("dies after"),
    Strike("writes little"),
]


class Faults:
    """The operating system, one of whose calls is struck."""

    def __init__(self, number: int, strike: Strike) -> None:
        self.left = number
        self.strike = strike

    def install(self) -> None:
        """Take the place of the operating system, for the rest of this process."""
        for name in CALLS:
            setattr(os, name, self._counted(getattr(os, name)))
        for module in (_locking, _replacing, stored):
            module.flock = self._counted(module.flock)  # type: ignore[attr-defined]  # not exported

    def _counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **more: Any) -> Any:
            self.left -= 1
            if self.left:
                return call(*arguments, **more)
            return self.strike(call, *arguments, **more)

        return counted


class Outcome(NamedTuple):
    """What became of an operation: `status` is None if the process died."""

    status: int | None
    message: str
    was_struck: bool


def attempt(act: Callable[[], None], number: int, strike: Strike) -> Outcome:
    """Do something in a process whose so manieth call is struck."""
    ours, its = os.pipe()
    child = os.fork()
    if not child:
        _report(its, act, Faults(number, strike))
    os.close(its)
    with os.fdopen(ours, "rb") as pipe:
        said = pipe.read()
    _, code = os.waitpid(child, 0)
    if not said:
        assert os.waitstatus_to_exitcode(code) == DIED
        return Outcome(None, "", was_struck=True)
    return Outcome(*json.loads(said))


def _report(descriptor: int, act: Callable[[], None], faults: Faults) -> None:
    write = os.write
    code, message = 70, "no outcome"
    try:
        faults.install()
        act()
        code, message = 0, ""
    except NbtextError as error:
        code, message = status.status_of(error), str(error)
    except SystemExit as error:
        code, message = int(str(error.code or 0)), "see standard error"
    except BaseException as error:
        message = repr(error)
    finally:
        write(descriptor, json.dumps([code, message, faults.left <= 0]).encode())
        os._exit(0)


class Case(NamedTuple):
    """
    An operation on a model, to be struck.

    Attributes:
        path: the model.
        act: the operation.
        prepare: puts the model there as it is before.
        contents: the bytes of the model before, None if there is none.
        before: what it holds then.
        after: what it should hold afterwards.
        is_cut: whether the last of its tables is cut off.
    """

    path: Path
    act: Callable[[], None]
    prepare: Callable[[], None]
    contents: bytes | None
    before: "Values | None"
    after: "Values"
    is_cut: bool


@pytest.fixture
def grown(quick_folder: Path, operation: "type[Operation]") -> bytes:
    """A model of three tables."""
    path = quick_folder / "grown.nbt"
    for label, numbers in (("ham", (0, 2)), ("spam", (1, 3)), ("ham", (4,))):
        operation(label, numbers).carry_out(path)
    contents = path.read_bytes()
    path.unlink()
    return contents


@pytest.fixture
def case(quick_folder: Path, truth: "Truth") -> Callable[..., Case]:
    """Make a case of an operation on a model that has the given bytes, or none."""
    path = quick_folder / "new" / "folder" / "m.nbt"

    def prepare(contents: bytes | None) -> None:
        for aside in quick_folder.glob("**/.*.tmp"):
            aside.unlink()
        path.unlink(missing_ok=True)
        if contents is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(contents)
        else:
            for folder in (path.parent, path.parent.parent):
                if folder.exists():
                    folder.rmdir()

    def case(contents: bytes | None, operate: Callable[[Path], None]) -> Case:
        prepare(contents)
        before = None if contents is None else truth.stored(path)
        is_cut = contents is not None and open_model(str(path)).cut > 0
        operate(path)
        return Case(
            path, lambda: operate(path), lambda: prepare(contents), contents, before,
            truth.stored(path), is_cut,
        )  # fmt: skip

    return case


def held_by(truth: "Truth", case: Case) -> "Values | None":
    """Return what the model of a case holds, None if there is none."""
    try:
        if case.path.exists() and case.path.read_bytes() == case.contents:
            return case.before  # to sum many tables takes its time
        return truth.stored(case.path)
    except NoModelError:
        return None


def held_against(case: Case, outcome: Outcome, held: "Values | None") -> None:
    """Compare what was said of an operation with what has become of it."""
    assert held in (case.before, case.after)
    if outcome.status is None:
        return
    if outcome.status == 0:
        assert held == case.after
        return
    if outcome.message == "see standard error":  # it may be about a document
        assert outcome.status in (*FAILURES, status.DATA, status.NO_INPUT)
        return
    assert outcome.status in FAILURES, outcome.message
    assert outcome.message.startswith(f"{case.path}: the model ")
    assert "[Errno" not in outcome.message
    if "nothing more was learnt" in outcome.message or "unchanged" in outcome.message:
        assert held == case.before
    if "is written" in outcome.message and not case.is_cut:  # else without its tail
        assert held == case.after


def struck(case: Case, strike: Strike) -> Iterator[Outcome]:
    """Strike one call after the other, until there is none left."""
    number = 0
    outcome = Outcome(0, "", was_struck=True)
    while outcome.was_struck:
        number += 1
        case.prepare()
        outcome = attempt(case.act, number, strike)
        yield outcome
    assert number > 5, "hardly any call was struck"


def check(case: Case, strike: Strike, truth: "Truth") -> None:
    """Strike every call of an operation, and look what has become of the model."""
    for outcome in struck(case, strike):
        held_against(case, outcome, held_by(truth, case))

        case.act()  # the next writer
        assert truth.stored(case.path) == case.after
        assert not open_model(str(case.path)).notes


each_strike = pytest.mark.parametrize("strike", STRIKES, ids=name_of)
some_strikes = pytest.mark.parametrize(  # where there are many calls to strike
    "strike",
    [
        Strike("fails", errno.ENOSPC),
        Strike("fails", errno.EACCES),
        Strike("dies before"),
        Strike("dies halfway"),
    ],
    ids=name_of,
)


@each_strike
@pytest.mark.parametrize(
    ("label", "numbers"),
    [
        pytest.param("spam", (9,), id="learn"),
        pytest.param("spam", (0,), id="move"),
        pytest.param(None, (4, 1), id="forget"),
        pytest.param("spam", tuple(range(20)), id="learn many"),
    ],
)
def test_an_operation_is_done_or_not(
    strike: Strike,
    label: str | None,
    numbers: tuple[int, ...],
    grown: bytes,
    case: Callable[..., Case],
    truth: "Truth",
    operation: "type[Operation]",
) -> None:
    check(case(grown, operation(label, numbers).carry_out), strike, truth)


def learn_plainly(path: Path, label: str | None, number: int) -> bool:
    """Learn a mail as the command does; return whether the compiled engine did it."""
    message = mail(number, SPAM)
    if stored.learn_stored(str(path), label, [message]) is not None:
        return True
    learn(path, label, [message])
    return False


@pytest.mark.skipif(not engine().is_compiled, reason="there is no extension")
@pytest.mark.parametrize(
    ("label", "number"),
    [("spam", 9), ("ham", 4), (None, 4)],
    ids=["learn", "move", "forget"],
)
@each_strike
def test_a_mail_is_learnt_by_the_compiled_engine_or_not(
    strike: Strike,
    label: str | None,
    number: int,
    quick_folder: Path,
    case: Callable[..., Case],
    truth: "Truth",
) -> None:
    path = quick_folder / "mail.nbt"
    train_on([("ham", mail(1, HAM)), ("spam", mail(2, SPAM))], str(path))
    learn(path, "ham", [mail(3, HAM)])
    learn(path, "spam", [mail(4, SPAM)])
    contents = path.read_bytes()
    assert learn_plainly(path, label, number)
    path.unlink()

    carry_out = partial(learn_plainly, label=label, number=number)
    check(case(contents, carry_out), strike, truth)


@some_strikes
def test_a_model_is_compacted_or_not(
    strike: Strike,
    grown: bytes,
    case: Callable[..., Case],
    truth: "Truth",
    operation: "type[Operation]",
) -> None:
    check(case(grown, operation(None, ()).carry_out), strike, truth)


@each_strike
def test_a_model_is_made_or_not(
    strike: Strike,
    case: Callable[..., Case],
    truth: "Truth",
    operation: "type[Operation]",
) -> None:
    check(case(None, operation("ham", (0, 1)).carry_out), strike, truth)


@each_strike
def test_what_a_crash_cut_off_is_removed_or_not(
    strike: Strike,
    quick_folder: Path,
    grown: bytes,
    case: Callable[..., Case],
    truth: "Truth",
    operation: "type[Operation]",
) -> None:
    (quick_folder / "whole.nbt").write_bytes(grown)
    last = open_model(str(quick_folder / "whole.nbt")).tables[-1].offset
    cut = grown[:last] + b"\0" + grown[last + 1 : -100]

    check(case(cut, operation("ham", (7,)).carry_out), strike, truth)


@pytest.mark.parametrize("strike", [STRIKES[0], STRIKES[5]], ids=name_of)
def test_learning_that_begins_with_compacting_is_done_or_not(
    strike: Strike,
    quick_folder: Path,
    case: Callable[..., Case],
    truth: "Truth",
    operation: "type[Operation]",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = quick_folder / "long.nbt"
    operation("ham", (0,)).carry_out(path)
    monkeypatch.setattr(appending, "TAIL", 4)
    for _ in range(2):
        operation("spam", (1,)).carry_out(path)
        operation("ham", (1,)).carry_out(path)
    contents = path.read_bytes()
    path.unlink()
    learnt = case(contents, operation("ham", (7,)).carry_out)
    assert len(open_model(str(learnt.path)).tables) <= 3

    check(learnt, strike, truth)


@some_strikes
def test_training_replaces_a_model_or_not(
    strike: Strike, quick_folder: Path, case: Callable[..., Case], truth: "Truth"
) -> None:
    for label in ("ham", "spam"):
        (quick_folder / label).mkdir()
        (quick_folder / label / "1.txt").write_text(f"some {label} words")

    nowhere = os.open(os.devnull, os.O_WRONLY)

    def train(path: Path) -> None:
        os.dup2(nowhere, 2)
        sources = [str(quick_folder / label) for label in ("ham", "spam")]
        with pytest.raises(SystemExit) as ended:
            main(["train", "-q", "--jobs", "1", "-m", str(path), *sources])
        if ended.value.code:
            raise ended.value

    check(case(None, train), strike, truth)


def test_what_writers_that_died_left_is_removed_when_it_is_old(
    quick_folder: Path, grown: bytes, operation: "type[Operation]"
) -> None:
    path = quick_folder / "m.nbt"
    path.write_bytes(grown)
    compact = operation(None, ())
    for strike in (Strike("dies before"), Strike("dies halfway")):
        for number in range(1, 20):
            attempt(lambda: compact.carry_out(path), number, strike)
    left = sorted(quick_folder.glob(".m.nbt.*.tmp"))
    *old, new = left
    for aside in old:
        then = aside.stat().st_mtime - LEFTOVER - 1
        os.utime(aside, (then, then))
    assert len(left) > 3

    compact.carry_out(path)

    assert sorted(quick_folder.iterdir()) == sorted([new, path])
