"""
What holds of any bytes as a model file that the compiled engine reads.

Either it refuses them, or it decides about mail, and learns it, by a model that `check`
calls sound as Python does. Of others, keys that are out of order for one, it need not
find the damage.

    python -m fuzz.stored                    for a minute, with sanitizers
    python -m fuzz.stored --seconds 900
"""

import argparse
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple
from unittest.mock import patch

from fuzz import gentle, instrumented, models
from fuzz.checked import fuzz_checked, parser_of
from fuzz.found import inputs
from fuzz.laws import expect
from fuzz.models import HAM, MESSAGE, OTHER, SPAM
from fuzz.mutation import mutated
from nbtext.document import Document
from nbtext.errors import ModelFileError, SettingsError
from nbtext.learning import LearnRequest, one_by_one, plan
from nbtext.learning.lesson import lesson_of
from nbtext.learning.plan import Batch
from nbtext.scoring import Classifier, Model, load_model
from nbtext.scoring.score import score
from nbtext.scoring.stored import Judgement, open_stored, stored_in
from nbtext.store.appending import WRITER
from nbtext.tokens import bag_of, read, read_keys
from nbtext.tokens.kinds import reader_of
from nbtext.upkeep import check_model

if TYPE_CHECKING:
    from nbtext._compiled import StoredModel

LARGEST: Final = 1 << 16
"""Maximum bytes of a model."""

NOW: Final = "2026-01-01T00:00:00+00:00"

NEAR: Final = 1e-12
"""By how much scores may differ, in nats, relative to them above one."""

GROSS: Final = 1 / 3
"""The share of models in which anything is changed."""

NEW: Final = 0.2
"""The share of the others that are made anew before."""

MOST_KEPT: Final = 200
"""Maximum models that others are made of."""

MESSAGES: Final = (SPAM, HAM, OTHER, MESSAGE, b"Subject: x\n\nno word known\n")


class Compared(NamedTuple):
    """How many decisions and lessons both engines have agreed about."""

    decisions: int = 0
    lessons: int = 0


def check(path: Path, messages: Sequence[bytes] = MESSAGES) -> Compared:
    """
    Compare what both engines decide by a model file, and learn.

    Raises:
        BrokenLawError: they do not agree.
    """
    stored = open_stored(str(path))
    if stored is None:
        return Compared()
    found = [*map(stored.classify, messages)]
    try:
        if not check_model(str(path)).is_sound:
            return Compared()
        classifier = Classifier(load_model(str(path)))
    except (ModelFileError, SettingsError):
        return Compared()
    expect(holds=stored.classes == classifier.classes, law="the classes are the same")
    for message, one in zip(messages, found, strict=True):
        expect(holds=one is not None, law="a sound model is not refused half way")
        if one is not None:
            check_same(one, classifier, message)
    return Compared(len(messages), check_lessons(classifier.model, messages))


def check_lessons(model: Model, messages: Sequence[bytes]) -> int:
    """
    Compare what both engines would append to a file for a mail that is learnt.

    Returns:
        How many lessons the compiled engine gives.

    Raises:
        BrokenLawError: it is not the same.
    """

    def again() -> "StoredModel | None":
        return stored_in(model.file.contents[: model.file.size])

    compiled = again()
    expect(holds=compiled is not None, law="what was opened can be opened again")
    if compiled is None:
        return 0
    n_lessons = 0
    reader = reader_of(compiled.views())
    header = {"writer": WRITER, "written": NOW}
    for label, message in product((*model.classes, None), messages):
        lesson = lesson_of(compiled, reader, label, (message,), header, again)
        if lesson is not None:
            (outcome,), table = lesson
            expected, specified = lesson_by_python(model, label, message)
            expect(holds=outcome == expected, law="the outcome of a lesson is the same")
            expect(holds=table == specified, law="the table of a lesson is the same")
            n_lessons += 1
    return n_lessons


def lesson_by_python(
    model: Model, label: str | None, message: bytes
) -> tuple[str, bytes]:
    """Return what would become of a mail, and what would be appended to a file."""
    documents = [Document("fuzzed", (message,))]
    readings = [read_keys(document, model.settings) for document in documents]
    batch = Batch(model.settings, documents, readings)
    with patch.object(plan, "now", _now), patch.object(one_by_one, "now", _now):
        planned = plan.planned(model, batch, LearnRequest(model.path, label))
        chunks = one_by_one.learn_few(planned) if planned.steps else []
    return planned.results[0].outcome, b"".join(map(bytes, chunks))


def _now() -> str:
    return NOW


def check_same(found: Judgement, classifier: Classifier, message: bytes) -> None:
    """
    Compare what was decided about a mail with the specification.

    Raises:
        BrokenLawError: it is not the same.
    """
    model = classifier.model
    document = Document("fuzzed", (message,))
    bag = bag_of(read(document, model.settings), model.settings)
    scored = score(model, bag, classifier.scorer.calibration)
    decision = classifier.decide_one(document, scored)
    pairs = [*zip(found.printed, scored.printed, strict=True)]
    pairs.append((found.probability, decision.probability))
    is_near = all(abs(one - two) <= NEAR * max(1, abs(two)) for one, two in pairs)
    expect(holds=found.known == scored.known, law="as many tokens are known")
    expect(holds=is_near, law="the posterior is the same")
    expect(holds=found.label == decision.label, law="the label is the same")


def seeds() -> list[bytes]:
    """Return models to begin with: those that nbtext makes, and others."""
    made = [model for model in models.seeds() if len(model) <= LARGEST]
    return [*made, *inputs("model")]


def fuzz(options: argparse.Namespace, library: Path) -> int:
    """Fuzz in this process; return 0 if nothing was found."""
    instrumented.use(library)
    choice = Random(options.seed)  # noqa: S311  no secret
    pool = seeds()
    made: list[bytes] = []
    end = monotonic() + options.seconds
    n_seeds = len(pool)
    n_run = n_sound = n_decided = n_lessons = 0
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.nbt")
        while n_run < options.runs and monotonic() < end:
            messages: Sequence[bytes] = MESSAGES
            if n_run < n_seeds:
                data = pool[n_run]
            else:
                data, messages = _next(pool, made, choice, path)
            path.write_bytes(data)
            n_run += 1
            try:
                compared = check(path, messages)
            except Exception as error:  # whatever it is, it is to be seen
                options.kept.mkdir(exist_ok=True)
                (options.kept / "crash-model").write_bytes(data)
                sys.stderr.write(f"{options.kept / 'crash-model'}: {error!r}\n")
                return 1
            n_sound += compared.decisions > 0
            n_decided += compared.decisions
            n_lessons += compared.lessons
    sys.stderr.write(
        f"{n_run} models, {n_decided} decisions, {n_lessons} lessons; "
        f"{n_sound} are sound\n"
    )
    return 0


def _next(
    pool: list[bytes], made: list[bytes], choice: Random, path: Path
) -> tuple[bytes, Sequence[bytes]]:
    """
    Return a model that was not tried yet, and mails for it.

    Some have anything changed, and few of those are sound. The others are made at
    random, and changed gently.

    Args:
        pool: models to begin with.
        made: those that were made; it grows.
        choice: the random numbers.
        path: where to make one.
    """
    if choice.random() < GROSS:
        return changed(choice.choice([*pool, *made]), choice), MESSAGES
    if not made or choice.random() < NEW:
        new = gentle.made(choice, path)
        if len(made) < MOST_KEPT:
            made.append(new)
        else:
            made[choice.randrange(MOST_KEPT)] = new
    return gentle.changed(choice.choice(made), choice), choice.sample(gentle.MAILS, 5)


def changed(data: bytes, choice: Random) -> bytes:
    """Return a model file that differs from another, most often made to fit again."""

    def change_bytes(data: bytes, _: int) -> bytes:
        made = bytearray(data)
        for _ in range(choice.choice((1, 1, 2, 4))):
            if made:
                made[choice.randrange(len(made))] ^= 1 << choice.randrange(8)
        return bytes(
            made[: choice.randrange(len(made) + 1)] if choice.random() < 0.2 else made
        )

    return mutated(data, LARGEST, choice.getrandbits(32), change_bytes)


def main(arguments: Sequence[str]) -> int:
    """Fuzz, and return 0 if nothing was found."""
    parser = parser_of("fuzz.stored", "models")
    parser.add_argument("--kept", type=Path, default=Path())
    return fuzz_checked("fuzz.stored", arguments, parser, fuzz)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
