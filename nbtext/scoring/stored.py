"""
One mail and a model file to a decision, in C: the compiled twin of `Classifier`.

A path goes in; what decides about mail comes out if the model is plain: two classes of
mail by the mean score, calibrated, without a policy or a correction. Nothing is loaded
but the extension and the tables of code points. None comes out for every other model,
for a damaged one, and where the extension is missing: `nbtext.scoring.classifying`
reads these, and is the specification of what is decided here.
"""

import os
from stat import S_ISREG

from nbtext.tokens.kinds import INTERFACE, reader_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nbtext._compiled import MailReader, StoredModel


class Judgement:
    """
    What is decided about a mail, as in `nbtext.scoring.decide.Decision`.

    Attributes:
        label: its class, None if unsure.
        probability: of the label, or if unsure of the most probable class.
        probabilities: of each class, from 0 to 1, never 1.
        classes: the model's classes, sorted.
        printed: the log posterior that is told, for each class, in nats.
        known: how many of its tokens the model knows.
    """

    __slots__ = (
        "classes", "known", "label", "printed", "probabilities", "probability",
    )  # fmt: skip

    def __init__(
        self,
        label: str | None,
        probability: float,
        probabilities: tuple[float, float],
        classes: tuple[str, str],
        printed: tuple[float, float],
        known: int,
    ) -> None:
        self.label = label
        self.probability = probability
        self.probabilities = probabilities
        self.classes = classes
        self.printed = printed
        self.known = known


class StoredClassifier:
    """
    A plain model file that is ready to classify.

    Attributes:
        classes: the names of the classes, sorted.
    """

    __slots__ = ("_model", "_reader", "classes")

    def __init__(self, model: "StoredModel", reader: "MailReader") -> None:
        self._model = model
        self._reader = reader
        self.classes = model.classes()

    def classify(self, mail: bytes) -> Judgement | None:
        """Decide about a mail; None if it, or damage, is to be read in Python."""
        reading = self._reader.read(mail)
        scored = None if reading is None else self._model.score(reading[0])
        if scored is None:
            return None
        place, probabilities, known, _, _, printed = scored
        label = self.classes[place] if known else None
        probability = probabilities[place]
        return Judgement(
            label, probability, probabilities, self.classes, printed, known
        )


def stored_in(contents: memoryview) -> "StoredModel | None":
    """Open the bytes of a model file, whose policy others apply; None if not plain."""
    from nbtext._compiled import StoredModel

    try:
        return StoredModel(contents)
    except ValueError:
        return None


def open_stored(path: str) -> StoredClassifier | None:
    """Open a model file if it is plain; None for others, and those that are missing."""
    try:
        # not to wait for the other end if it is a pipe
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        model = stored_at(descriptor)
    finally:
        os.close(descriptor)
    if model is None or model.has_policy():
        return None
    return StoredClassifier(model, reader_of(model.views()))


def stored_at(descriptor: int) -> "StoredModel | None":
    """Open the model file that a descriptor leads to; None if it is not plain."""
    try:
        from nbtext._compiled import CONSTANTS, StoredModel
    except ImportError:
        return None
    if CONSTANTS[0] != INTERFACE:
        return None
    try:
        return StoredModel(_mapped(descriptor))
    except (OSError, ValueError):
        return None


def _mapped(descriptor: int) -> "memoryview":
    """
    Return the bytes of a file, in place.

    Raises:
        OSError: it cannot be read.
        ValueError: it is empty, or no regular file.

    """
    from mmap import ACCESS_READ, mmap

    status = os.fstat(descriptor)
    if not S_ISREG(status.st_mode):
        message = "this is no regular file"
        raise ValueError(message)
    return memoryview(mmap(descriptor, status.st_size, access=ACCESS_READ))
