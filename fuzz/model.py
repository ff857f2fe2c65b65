"""
What holds of any bytes as a model file.

They are a model or one of the errors that the command line has a status for, whoever
reads them and whatever for; in bounded time and memory. What could be read and then
taught can be read again.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Final

from fuzz.laws import BrokenLawError, Check, within
from fuzz.models import HAM, MANY, MESSAGE, OTHER, SPAM, learn
from fuzz.mutation import mutated
from fuzz.stored import check as check_stored
from nbtext.document import Document
from nbtext.errors import ModelFileError, SettingsError, TextFormError, TrainingError
from nbtext.scoring.batch_model import open_batch_model
from nbtext.scoring.classifier import Classifier
from nbtext.scoring.held_out import fitted
from nbtext.scoring.model import Model, load_model
from nbtext.store import (
    ModelFile,
    check_sound,
    open_model,
    read_contents,
    record_of,
    rows_of,
)
from nbtext.store.compacting import compact_tail
from nbtext.store.corrections import read_correction
from nbtext.store.ledger import Record, amounts_of
from nbtext.store.packing import unpack
from nbtext.store.undo import last_records
from nbtext.textform import load_text, text_lines
from nbtext.tokens.reading import read
from nbtext.upkeep import check_model, prune, repair_model

__all__ = ["checker", "mutated"]

REFUSALS: Final = (ModelFileError, SettingsError, TextFormError, TrainingError)
"""What nbtext may raise for a model that is none."""

MESSAGES: Final = (SPAM, HAM, OTHER, MESSAGE)
LESSONS: Final = (
    ("ham", [MESSAGE]),
    ("spam", MESSAGES),
    ("ham", MANY),
    (None, [SPAM]),
    (None, [SPAM, *MANY]),
)
"""Classes, None to forget, and the messages to learn."""

SECONDS: Final = 2.0
"""All of it takes a twentieth of this for the models to begin with."""


def checker(folder: Path) -> Check:
    """Return what checks a model file, by writing it into a folder."""
    path = folder / "model.nbt"

    def check(data: bytes) -> None:
        path.write_bytes(data)
        within(SECONDS, lambda: _use(path, data), "using the model")

    return check


def _use(path: Path, data: bytes) -> None:
    """Do with a model all that nbtext does."""
    with suppress(*REFUSALS):
        _check(path)
    with suppress(*REFUSALS):
        file = open_model(str(path))
        _each([lambda: check_sound(file), *_readings_of(file)])
        model = load_model(str(path))
        _each(_scores_of(model))
        check_stored(path)
        if len(file.tables) > 1:
            _each([lambda: compact_tail(str(path))])
            path.write_bytes(data)
        _teach(path, data)


def _check(path: Path) -> None:
    """Look at every byte; what is called sound, or is saved, can be read."""
    checked = check_model(str(path))
    if not checked.is_sound:
        path = path.with_suffix(".saved")
        path.unlink(missing_ok=True)
        repair_model(checked, str(path))
    _check_readable(path, is_whole=True)


def _each(steps: Iterable[Callable[[], object]]) -> None:
    """Do one thing after the other, whether or not others were refused."""
    for step in steps:
        with suppress(*REFUSALS):
            step()


def _readings_of(file: ModelFile) -> list[Callable[[], object]]:
    return [
        lambda: unpack(file),
        lambda: read_contents(file).pack(),
        lambda: prune(read_contents(file), 2),
        lambda: load_text(BytesIO(_text_of(file)), "text"),
        lambda: read_correction(file),
        lambda: last_records(file, file.tables, 2),
        lambda: last_records(file, file.tables[1:], 1000),
        lambda: [_records_of(file, message) for message in MESSAGES],
    ]


def _text_of(file: ModelFile) -> bytes:
    return "\n".join(text_lines(read_contents(file), file.path)).encode()


def _records_of(
    file: ModelFile, message: bytes
) -> list[tuple[Record | None, dict[str, int]]]:
    """Return what a message has left in each class where it was counted."""
    digest = read(Document("known", (message,)), file.settings).digest
    return [
        (record_of(file, digest, row), amounts_of(file, digest, row))
        for row in rows_of(file, digest)
    ]


def _scores_of(model: Model) -> list[Callable[[], object]]:
    few = [Document("few", (message,)) for message in MESSAGES]
    many = [Document("many", (message,)) for message in MANY]
    return [
        lambda: fitted(model),
        lambda: Classifier(model).classify(few),
        lambda: Classifier(model).classify(many),
        lambda: open_batch_model(model),
        lambda: [_corrected(model, key) for key in (0, 1 << 47, (1 << 48) - 1)],
        lambda: [model.n_terms(view) for view in range(len(model.settings.views))],
        lambda: [model.found(0, (key,)) for key in (0, 1 << 47, (1 << 48) - 1)],
    ]


def _corrected(model: Model, key: int) -> object:
    correction = model.correction
    views = range(len(model.settings.views))
    return correction and [correction.found(view, (key,)) for view in views]


def _teach(path: Path, data: bytes) -> None:
    """Teach a model that can be read; each time the one that was to be checked."""
    for place, (label, messages) in enumerate(LESSONS):
        with suppress(*REFUSALS):
            learn(path, label, messages, approximate=place % 2 > 0)
            _check_readable(path)
        path.write_bytes(data)


def _check_readable(path: Path, *, is_whole: bool = False) -> None:
    """
    Refuse a model that nbtext has spoilt, or has called sound though it is not.

    Args:
        path: the model.
        is_whole: whether all of its counts have to be readable.

    Raises:
        BrokenLawError: it has.
    """
    try:
        model = load_model(str(path))
        if is_whole:
            unpack(model.file)
    except REFUSALS as error:
        message = f"what nbtext makes or calls sound can be read: {error}"
        raise BrokenLawError(message) from error
