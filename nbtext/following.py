"""
A model that is followed: whoever asks gets it as it is now, without opening it again.

The file is looked at for each message, which takes microseconds; once it has changed,
it is opened anew. A file that is missing or damaged changes nothing: the model that was
there goes on to be used, and that is said once.

The batch engine classifies even one message much sooner than the plain one, once numpy
is there and the counts are arranged; but arranging them takes a tenth of a second and
more. So that is done aside, while the plain engine answers: both give the same scores.
"""

import os
from collections.abc import Callable
from threading import Thread
from time import monotonic
from typing import Final, TypeAlias

from nbtext.classifying import Classifier
from nbtext.document import Document
from nbtext.errors import NbtextError, SettingsError
from nbtext.model import load_model
from nbtext.modelfile import check_sound

Seen: TypeAlias = tuple[int, ...] | None
"""What tells one state of a file from another, None if there is no file."""

PAUSE: Final = 0.1
"""What is being written, or could not be read, is looked at again so much later."""

REST: Final = 4.0
"""Counts are arranged again after so many times as long as arranging took."""

SAMPLES: Final = ("a", "\xe4", "\u0430")
"""Texts of each width: what the engine loads for them is loaded before it is used."""


class FollowedModel:
    """A classifier that is always that of the model file as it is."""

    def __init__(self, path: str, spam: str, remark: Callable[[str], None]) -> None:
        """
        Look at no file yet.

        Args:
            path: the model file.
            spam: a class that the model must have.
            remark: told of what changes, and of what cannot be read.

        """
        self._path = path
        self._spam = spam
        self._remark = remark
        self._seen: Seen = ()  # which no file looks like, nor one that is missing
        self._error: NbtextError = SettingsError(path)
        self._last_remark = ""
        self._look_again = 0.0
        self._classifier: Classifier | None = None
        self._arranging: Thread | None = None
        self._arranged: Classifier | None = None
        self._arrange_from = 0.0

    def forget(self) -> None:
        """Forget what the file looked like, so that it is opened again."""
        self._seen = ()

    def classifier(self) -> Classifier:
        """
        Return what classifies by the model as it is, or as it last was.

        Raises:
            NbtextError: there never was a model that could be read.

        """
        seen, before = _seen(self._path), self._seen
        is_due = 0 < self._look_again <= monotonic()
        if is_due or seen != before:
            self._seen = seen
            self._look_again = 0.0
            try:
                self._open(before)
            except NbtextError as error:
                self._look_again = monotonic() + PAUSE
                self._error = error
                used = "the model before" if self._classifier else "none"
                self._say(f"{error}; {used} is used")
        if self._classifier is None:
            raise self._error
        if self._classifier is not self._arranged:
            self._arrange(self._classifier)
        return self._classifier

    def wait(self) -> None:
        """Wait until counts are arranged, if they are being."""
        if self._arranging is not None:
            self._arranging.join()

    def _open(self, seen_before: Seen) -> None:
        model = load_model(self._path)
        before = self._classifier.model if self._classifier else None
        if model.file.cut:  # somebody is writing, or a crash has cut a table off
            self._look_again = monotonic() + PAUSE
        is_same = before is not None and model.file.size == before.file.size
        if is_same and self._seen == seen_before:
            return
        if self._spam not in model.classes:
            known = ", ".join(model.classes)
            message = f"{self._path}: it has no class {self._spam!r} but {known}"
            raise SettingsError(message)
        if not _is_longer(self._seen, seen_before):
            check_sound(model.file)
        self._classifier = Classifier(model)
        verb = "opened again" if before else "opened"
        self._say(f"{self._path}: {verb}, {sum(model.documents):,} documents")
        for note in model.notes:
            self._remark(note)

    def _say(self, remark: str) -> None:
        if remark != self._last_remark:
            self._remark(remark)
        self._last_remark = remark

    def _arrange(self, classifier: Classifier) -> None:
        """Have the counts arranged aside, if they are not, and may be by now."""
        if self._arranging is not None and self._arranging.is_alive():
            return
        if monotonic() < self._arrange_from:
            return
        self._arranging = Thread(target=self._arrange_now, args=[classifier])
        self._arranging.start()

    def _arrange_now(self, classifier: Classifier) -> None:
        started = monotonic()
        try:
            classifier.arrange([Document("-", (text.encode(),)) for text in SAMPLES])
        except (NbtextError, MemoryError) as error:
            self._say(f"{error}; the plain engine is used, which takes longer")
        self._arrange_from = monotonic() + REST * (monotonic() - started)
        self._arranged = classifier


def _seen(path: str) -> Seen:
    try:
        found = os.stat(path)  # noqa: PTH116  it is looked at for every message
    except OSError:
        return None
    return (
        found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    )  # fmt: skip


def _is_longer(seen: Seen, before: Seen) -> bool:
    """Return whether a file is the one that it was, and has grown, as by learning."""
    if not (seen and before):
        return False
    return seen[:2] == before[:2] and seen[2] > before[2]
