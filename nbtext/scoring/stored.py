"""
One mail and a model file to a decision, in C: the compiled twin of `Classifier`.

A path goes in; what decides about mail comes out if the model is plain: two classes of
mail by the mean score, calibrated, without a correction, and its policy, if any, a
threshold or costs. Nothing is loaded but the extension, the tables of code points, and
what costs take. None comes out for every other model, for a damaged one, and where the
extension is missing: `nbtext.scoring.classifier` reads these, and is the specification
of what is decided here.
"""

import os
import sys
from stat import S_ISREG

from nbtext.constants import CERTAIN
from nbtext.tokens.kinds import INTERFACE, reader_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Final, TypeAlias

    from nbtext._compiled import MailReader, StoredModel
    from nbtext.policy import Policy
    from nbtext.scoring.costs import Costs
    from nbtext.tokens.key_reading import Packed, PackedTerms

    Pair: TypeAlias = tuple[float, float]
    StoredScore: TypeAlias = tuple[Pair, Pair, int, int]
    """The log posterior of both classes, the same as it is printed, and how many terms
    the model knows, and there are."""

MOST_KEPT: "Final" = 8
"""Maximum number of models that stay open."""


FEW: "Final" = 12
FEW_BYTES: "Final" = 1 << 19
"""Up to so many documents of so many bytes are scored and learnt one by one."""


BEFORE: "Final" = b"\x84\xa9threshold\xcb"
AFTER: "Final" = b"\xa5prior\x80\xa5costs\x90\xb3max_false_positives\xc0"
"""What stands around the threshold of a packed policy that is nothing else."""


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

    __slots__ = ("_model", "_reader", "_rule", "classes")

    def __init__(
        self, model: "StoredModel", reader: "MailReader", rule: "float | Costs"
    ) -> None:
        """
        Take what decides.

        Args:
            model: the open model.
            reader: reads mail as the model's settings say.
            rule: the least probability of a label, from 0 to 1; or what decisions cost.
        """
        self._model = model
        self._reader = reader
        self._rule = rule
        self.classes = model.classes()

    def classify(self, mail: bytes) -> Judgement | None:
        """Decide about a mail; None if it, or damage, is to be read in Python."""
        views, facts = self._reader.read((mail,), False, False)
        scored = scored_by(self._model, views) if facts[-8:] != bytes(8) else None
        if scored is None:
            return None
        from math import exp

        _, printed, known, _ = scored[0]
        place = int(printed[1] > printed[0])
        probabilities = min(exp(printed[0]), CERTAIN), min(exp(printed[1]), CERTAIN)
        chosen: int | None = None
        if not isinstance(self._rule, float):
            chosen = self._rule.cheapest(printed)
        elif probabilities[place] >= min(self._rule, CERTAIN):
            chosen = place
        label = None
        if known and chosen is not None:
            label, place = self.classes[chosen], chosen
        return Judgement(
            label, probabilities[place], probabilities, self.classes, printed, known
        )


def scored_by(model: "StoredModel", views: "PackedTerms") -> "list[StoredScore] | None":
    """Score documents, by views of terms; None if the file is damaged."""
    found = model.score(views)
    if found is None:
        return None
    rows, fit, documents = found
    return [
        (*_posteriors(score if known else None, fit, documents), known, n_terms)
        for score, known, n_terms in rows
    ]


def log_odds_by(
    model: "StoredModel", view: int, keys: "Iterable[int]"
) -> "dict[int, float] | None":
    """
    Return what each term of a view that the model knows says, in nats, by its key.

    None if the file is damaged. Each term is scored as a document that has no other.
    """
    from array import array

    wanted = array("Q", keys)
    ends = array("Q", range(1, len(wanted) + 1)).tobytes()
    nothing = b"", b"", bytes(len(ends))
    views = [nothing] * len(model.views())
    views[view] = wanted.tobytes(), b"", ends
    found = model.score(tuple(views))
    if found is None:
        return None
    rows = zip(wanted, found[0], strict=True)
    return {key: log_odds for key, (log_odds, known, _) in rows if known}


def packed(keys: bytes) -> "Packed":
    """Return the terms of one document in a view, as models score them, by its keys."""
    return keys, b"", (len(keys) // 8).to_bytes(8, sys.byteorder)


def _posteriors(
    score: float | None, fit: "Pair", documents: tuple[int, int]
) -> "tuple[Pair, Pair]":
    """
    Return what `nbtext.scoring.posterior` specifies, for two classes.

    Args:
        score: of a document; None if the model knows none of its terms.
        fit: the slope and the offset of the calibration.
        documents: those of each class.

    Returns:
        The log posterior of both classes, and the same as it is printed.
    """
    import math  # who learns has no need of it

    if score is not None:
        log_odds = fit[0] * score + fit[1]
        rest = math.log1p(math.exp(-abs(log_odds)))
        posterior = -(max(log_odds, 0.0) + rest), -(max(-log_odds, 0.0) + rest)
    else:
        whole = sum(documents)
        posterior = math.log(documents[0] / whole), math.log(documents[1] / whole)
    best = int(posterior[1] > posterior[0])
    others = documents[1 - best]
    most = math.log((others + 1) / (others + 2))
    if posterior[best] <= most:
        return posterior, posterior
    left = -math.log(others + 2)
    return posterior, (left, most) if best else (most, left)


def stored_in(contents: memoryview) -> "StoredModel | None":
    """Open the bytes of a model file, whose policy others apply; None if not plain."""
    from nbtext._compiled import StoredModel

    try:
        return StoredModel(contents)
    except ValueError:
        return None


_KEPT: "dict[str, tuple[Sequence[object], StoredModel]]" = {}
"""The models that stay open, by path, each with its tables."""


def stored_kept(
    path: str,
    tables: "Sequence[object]",
    places: "Sequence[tuple[int, int]]",
    contents: memoryview,
) -> "StoredModel | None":
    """
    Open a model as `stored_in` does, for a process that opens it again and again.

    One that is known and has but more tables now is not opened again: these are added
    to its tail, which is one table in memory.

    Args:
        path: of the model file.
        tables: its tables, the same objects as before where nothing has changed.
        places: where each of them begins in the file, and its length, in bytes.
        contents: the file.
    """
    known, before = _KEPT.pop(path, ((), None))
    model = before
    if model is None or not _has_grown(model, known, tables, places, contents):
        # a copy: what becomes of the file does not matter then
        model = stored_in(memoryview(bytes(contents)))
        if model is not None:
            model.gather(before)
    if model is not None:
        while len(_KEPT) >= MOST_KEPT:
            _KEPT.pop(next(iter(_KEPT)))
        _KEPT[path] = tables, model
    return model


def _has_grown(
    model: "StoredModel",
    known: "Sequence[object]",
    tables: "Sequence[object]",
    places: "Sequence[tuple[int, int]]",
    contents: memoryview,
) -> bool:
    """Add the tables that are new to a model; return whether it is as its file then."""
    n_known = len(known)
    if n_known > len(tables) or any(
        here is not there for here, there in zip(tables, known, strict=False)
    ):
        return False
    try:
        return all(
            model.append(bytes(contents[start : start + length]))
            for start, length in places[n_known:]
        )
    except RuntimeError:  # another thread reads it
        return False


def open_stored(path: str, threshold: float | None = None) -> StoredClassifier | None:
    """
    Open a model file if it is plain; None for others, and those that are missing.

    Args:
        path: the model file.
        threshold: the least probability of a label, from 0 to 1, in place of the rule
            that the model keeps; None for that.
    """
    try:
        # not to wait for the other end if it is a pipe
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        model = stored_at(descriptor)
    finally:
        os.close(descriptor)
    if model is None:
        return None
    rule = plain_rule_of(model.tables()[-1][1], model.classes())
    if rule is None:
        return None
    reader = reader_of(model.views())
    return StoredClassifier(model, reader, rule if threshold is None else threshold)


def plain_rule_of(policy: bytes, classes: "Sequence[str]") -> "float | Costs | None":
    """
    Return what a policy decides by: a threshold, or costs; None if there is more to it.

    Args:
        policy: as it is packed, empty if there is none.
        classes: those of the model.
    """
    threshold = _threshold_of(policy)
    if threshold is not None:
        return threshold
    found = _policy_in(policy)
    if found is None:
        return None
    from nbtext.policy import UNSURE
    from nbtext.scoring.costs import costs_of

    is_known = UNSURE not in classes and set(found.labels) <= set(classes)
    has_more = found.prior or found.max_false_positives or not found.costs
    return costs_of(found.costs, classes) if is_known and not has_more else None


def _threshold_of(policy: bytes) -> float | None:
    """Return the threshold of a packed policy that is nothing else."""
    if not policy:
        return 0.0
    if not policy.startswith(BEFORE) or policy[len(BEFORE) + 8 :] != AFTER:
        return None
    from struct import unpack_from

    threshold: float = unpack_from(">d", policy, len(BEFORE))[0]
    return threshold if 0 <= threshold <= 1 else None


def _policy_in(policy: bytes) -> "Policy | None":
    """Return what a packed policy is, None if it is none."""
    import msgpack

    from nbtext.errors import SettingsError
    from nbtext.policy import Policy

    try:
        return Policy.from_dict(msgpack.unpackb(policy))
    except (SettingsError, TypeError, ValueError):
        return None


def stored_at(descriptor: int) -> "StoredModel | None":
    """Open the model file that a descriptor leads to; None if it is not plain."""
    try:
        from nbtext._compiled import CONSTANTS, StoredModel
    except ImportError:
        return None
    if CONSTANTS[0] != INTERFACE:
        return None
    try:
        model = StoredModel(_mapped(descriptor))
    except (OSError, ValueError):
        return None
    for policy in {policy for _, policy in model.tables()}:
        if _threshold_of(policy) is None and _policy_in(policy) is None:
            return None
    return model


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
