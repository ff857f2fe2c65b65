"""
A model that is reloaded when its file has changed.

The file is looked at for each message, which takes microseconds; once it has changed,
it is opened again. While a file is missing or damaged, the model that was there before
is used, and that is logged once.

Where the compiled engine does not have the model, the batch engine classifies even one
message much faster than the plain one, once numpy is loaded and the counts are
arranged; but arranging them takes a tenth of a second or more. So a thread does that
while the plain engine answers: all give the same scores.
"""

import os
from collections.abc import Callable
from threading import Lock, Thread
from time import monotonic
from typing import Final, TypeAlias

from nbtext.document import Document
from nbtext.errors import NbtextError, SettingsError, UnknownClassError
from nbtext.policy import PolicyOverrides
from nbtext.scoring import Classifier, Model, load_model
from nbtext.store import check_sound

Seen: TypeAlias = tuple[int, ...] | None
"""What tells one state of a file from another; None if there is no file."""

PAUSE: Final = 0.1
"""Seconds until a file is looked at again that is being written or was unreadable."""

REST: Final = 4.0
"""Pause before counts are arranged again, as a multiple of the time that took."""

AN_ASKING: Final = 1 << 20
"""For so many bytes of a model that is not kept it is asked once, twice for a mail,
before its counts are arranged: that takes 5 to 8 ns a byte, and a mail then takes some
ten milliseconds less."""

SAMPLE: Final = Document("-", (b"a",))
"""Classified once, so that whatever is loaded on first use is loaded."""


class ReloadingModel:
    """A classifier by the model file as it is now."""

    def __init__(
        self,
        path: str,
        spam: str,
        policy: PolicyOverrides,
        on_event: Callable[[str], None],
        on_trouble: Callable[[str], None],
        *,
        is_kept: bool = True,
    ) -> None:
        """
        Look at no file yet.

        Args:
            path: the model file.
            spam: a class that the model must have.
            policy: what is otherwise than in the policy of the model.
            on_event: called with a line whenever the file is opened.
            on_trouble: called with a line if it cannot be, or is not as it should be.
            is_kept: whether the file is read whole as soon as it is opened, and its
                counts arranged; else not before many messages were classified.
        """
        self._path = path
        self._spam = spam
        self._policy = policy
        self._on_event = on_event
        self._on_trouble = on_trouble
        self._is_kept = is_kept
        self._seen: Seen = ()  # which no file looks like, nor one that is missing
        self._good: Seen = ()
        self._error: NbtextError = SettingsError(path)
        self._last_trouble = ""
        self._look_again = 0.0
        self._is_stale = False
        self._classifier: Classifier | None = None
        self._arranging: Thread | None = None
        self._arranged: Classifier | None = None
        self._arrange_from = 0.0
        self._n_asked = 0
        self._lock = Lock()

    def read_again(self) -> None:
        """
        Have the file opened again for the next message, changed or not.

        It waits for nobody: a thread that is opening the file has the lock.
        """
        self._is_stale = True

    def classifier(self) -> Classifier:
        """
        Return the classifier by the model as it is, or as it was when last readable.

        Raises:
            NbtextError: no model could be read yet.
        """
        with self._lock:  # threads may ask for it at the same time
            return self._current()

    def _current(self) -> Classifier:
        if self._is_stale:
            self._is_stale = False  # first: what is asked from now on is done next time
            self._seen = ()
        seen, before = state_of(self._path), self._seen
        is_due = 0 < self._look_again <= monotonic()
        if is_due or seen != before:
            self._seen = seen
            self._look_again = 0.0
            try:
                self._open(is_changed=seen != before)
            except NbtextError as error:
                self._look_again = monotonic() + PAUSE
                self._error = error
                used = "the model before" if self._classifier else "none"
                self._report_once(f"{error}; {used} is used")
        classifier = self._classifier
        if classifier is None:
            raise self._error
        self._n_asked += 1
        is_arranged = classifier is self._arranged or classifier.scorer.is_quick
        if not is_arranged and self._is_asked_often(classifier.model):
            self._arrange(classifier)
        return classifier

    @property
    def latest(self) -> Classifier:
        """
        The classifier by the model as it was when last looked at.

        Raises:
            NbtextError: no model could be read yet.
        """
        return self._classifier or self.classifier()

    def _is_asked_often(self, model: Model) -> bool:
        """Return whether to read all of the file takes less than it saves."""
        return self._is_kept or self._n_asked > model.file.size / AN_ASKING

    def wait(self) -> None:
        """Wait until counts are arranged, if they are being."""
        if self._arranging is not None:
            self._arranging.join()

    def _open(self, *, is_changed: bool) -> None:
        model = load_model(self._path)
        before = self._classifier.model if self._classifier else None
        # somebody is writing, or a crash has cut a table off
        if model.file.cut and not model.file.is_cut_short:
            self._look_again = monotonic() + PAUSE
        if before and not is_changed and model.file.size == before.file.size:
            return
        if self._spam not in model.classes:
            raise UnknownClassError(self._path, self._spam, model.classes)
        if before and self._has_grown(model, before):
            known = {table.offset for table in before.file.tables}
            for table in model.file.tables:
                if table.offset not in known:
                    table.arrays.verify_all()
        elif self._is_kept:
            check_sound(model.file)  # else what is read of it is verified then
        policy = self._policy.chosen(model.policy)
        self._classifier = Classifier(model, policy=policy)
        self._good = self._seen
        self._n_asked = 0
        verb = "opened again" if before else "opened"
        self._last_trouble = ""
        self._on_event(f"{self._path}: {verb}, {sum(model.documents):,} documents")
        for warning in model.warnings:
            self._on_trouble(f"WARNING: {warning}")
        for note in model.notes:
            self._on_trouble(note)

    def _has_grown(self, model: Model, before: Model) -> bool:
        """Return whether tables were added to the file, and nothing else changed."""
        if not (self._seen and self._good):
            return False
        is_longer = self._seen[2] > self._good[2]
        first, first_before = model.file.tables[0], before.file.tables[0]
        is_first_same = first.header == first_before.header
        return self._seen[:2] == self._good[:2] and is_longer and is_first_same

    def _report_once(self, trouble: str) -> None:
        if trouble != self._last_trouble:
            self._on_trouble(trouble)
        self._last_trouble = trouble

    def _arrange(self, classifier: Classifier) -> None:
        """Arrange the counts in a thread, unless one runs or it is too soon."""
        if self._arranging is not None and self._arranging.is_alive():
            return
        if monotonic() < self._arrange_from:
            return
        self._arranging = Thread(target=self._arrange_now, args=[classifier])
        self._arranging.start()

    def _arrange_now(self, classifier: Classifier) -> None:
        started = monotonic()
        try:
            classifier.arrange([SAMPLE])
        except (NbtextError, MemoryError) as error:
            self._on_trouble(f"{error}; the plain engine is used, which takes longer")
        finally:  # whatever it was, it is not tried for every message
            self._arrange_from = monotonic() + REST * (monotonic() - started)
            self._arranged = classifier


def state_of(path: str) -> Seen:
    """Return what the file system says of a file."""
    try:
        found = os.stat(path)  # noqa: PTH116  it is looked at for every message
    except OSError:
        return None
    return (
        found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    )  # fmt: skip
