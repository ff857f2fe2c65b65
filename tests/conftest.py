"""
How hypothesis runs here, what a signal does to the tests, and what a model should hold,
for tests that teach one.
"""

import faulthandler
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, TextIO

import numpy as np
import pytest
from hypothesis import settings

from nbtext import train_on
from nbtext.counts.counting import Limits, count
from nbtext.document import Document
from nbtext.scoring.classifier import Classifier
from nbtext.scoring.model import load_model
from nbtext.settings.reading import Settings
from nbtext.store.packing import unpack
from tests.build import Values, values

# no deadline on slow machines, the same examples in CI
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
# for other Pythons: each law is met there; it is shown where all examples are drawn
settings.register_profile("few", deadline=None, derandomize=True, max_examples=10)
settings.load_profile("ci" if os.environ.get("CI") else "local")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a shell's job in the background; programs that we start would ignore it too
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # as nohup leaves it
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# tests and what they start are compiled once, not by each of a thousand processes
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

STDERR: Final = pytest.StashKey[TextIO]()
"""Standard error, for what is said when the tests are ended."""


def pytest_configure(config: pytest.Config) -> None:
    """Have a SIGTERM, such as that of `timeout`, show what all threads are at."""
    config.stash[STDERR] = os.fdopen(os.dup(2), "w")  # what tests print is captured
    _show_stacks_at_the_end(config)


def _show_stacks_at_the_end(config: pytest.Config) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    faulthandler.register(
        signal.SIGTERM, file=config.stash[STDERR], all_threads=True, chain=True
    )


@pytest.fixture(autouse=True)
def _signals(pytestconfig: pytest.Config) -> Iterator[None]:
    """Take back how nbtext ends by signals: that is for a process of its own."""
    yield
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        _show_stacks_at_the_end(pytestconfig)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_DFL:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let a law meet no more examples than `few`, whatever it asks for."""
    few = settings.get_profile("few").max_examples
    for item in items if settings().max_examples == few else []:
        law: Any = getattr(item, "obj", None)
        own = getattr(law, "_hypothesis_internal_use_settings", None)
        if own is not None:
            fewer = settings(own, max_examples=min(own.max_examples, few))
            law._hypothesis_internal_use_settings = fewer


class Truth:
    """What a model holds, and what it should hold, bit for bit."""

    def stored(self, path: Path) -> Values:
        """Return what a model file holds, if what it says of itself is so."""
        model = load_model(str(path))
        table = unpack(model.file)
        assert model.classes == table.classes
        assert model.documents == table.documents
        for view, runs in enumerate(table.runs):
            sums = tuple(run.totals() for run in runs)
            keys = [np.empty(0, np.uint64), *(run.keys for run in runs)]
            assert model.totals[view] == sums
            assert model.n_terms(view) == len(np.unique(np.concatenate(keys)))
        return values(table)

    def counted(self, settings: Settings, documents: Iterable[Document]) -> Values:
        """Return what counting labelled documents from scratch gives."""
        return values(count(iter(documents), settings, Limits(1 << 20, 0)).table)


@pytest.fixture(scope="session")
def truth() -> Truth:
    """What models hold, and what they should hold."""
    return Truth()


@pytest.fixture(scope="session")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Classifier:
    """A model of two messages: money and a winner are spam, a lunch meeting is ham."""
    path = tmp_path_factory.mktemp("model") / "m.nbt"
    train_on([("spam", "money winner"), ("ham", "lunch meeting")], path)
    return Classifier(load_model(str(path)))


@pytest.fixture
def quick_folder(tmp_path: Path) -> Iterable[Path]:
    """A folder in memory, where that is to be had: thousands of fsyncs take no time."""
    from tempfile import TemporaryDirectory

    memory = Path("/dev/shm")  # noqa: S108  a new folder is made in it
    where = memory if os.access(memory, os.W_OK) else tmp_path
    with TemporaryDirectory(dir=where) as name:
        yield Path(name)
