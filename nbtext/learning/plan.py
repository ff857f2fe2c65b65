"""
Plans: what is to become of each document that is to be learnt or forgotten.

Documents and a model go in, a plan comes out: which of them the model knows already as
it should, and which rows of the ledger stand against the others. Nothing is written
here; `nbtext.learning.one_by_one` and `nbtext.learning.in_bulk` carry plans out.
"""

from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from nbtext.classes import folder_of, quoted, similar
from nbtext.counts import Calibration, Fit, fit
from nbtext.counts.calibration import calibration_for, totals
from nbtext.counts.fitting import chosen
from nbtext.document import Document
from nbtext.errors import (
    NoModelError,
    SettingsError,
    TrainingError,
    UnknownClassError,
)
from nbtext.keyring import make_secret
from nbtext.learning.new_class_policy import check_policy
from nbtext.learning.regimes import EVERYTHING, Regime
from nbtext.scoring import Model, check_scoring, event_model
from nbtext.scoring.frozen_idf import has_frozen_idf
from nbtext.scoring.models.registry import for_classes, scoring_for
from nbtext.scoring.observed import no_calibrations
from nbtext.settings.reading import Format, Settings, default_settings
from nbtext.settings.scoring import Scoring
from nbtext.settings.views import Field
from nbtext.store import History, ModelFile, Row, rows_of
from nbtext.store.appending import now
from nbtext.store.calibrations import calibrations_of
from nbtext.store.header import KEPT_RECORDS
from nbtext.store.ledger import FORGOTTEN
from nbtext.store.lock import WAIT
from nbtext.tokens import AnyReading, is_mail

UNKNOWN: Final = "it is not in the model: it was never learnt, or is forgotten"
"""Why a document is not forgotten."""

Outcome: TypeAlias = Literal[
    "learnt", "moved", "known", "forgotten", "refused", "empty", "left out"
]


class LearnResult(NamedTuple):
    """
    What became of a document.

    Attributes:
        name: the document's.
        outcome: whether it was learnt, was moved, was known already, was forgotten; or
            was refused, is empty, or left out because of the regime, and then nothing
            has changed.
        before: in which classes it was, sorted.
        reason: why it was refused.
        truncated: whether the document was longer than what was read of it.
    """

    name: str
    outcome: Outcome
    before: tuple[str, ...] = ()
    reason: str = ""
    truncated: bool = False


class LearnRequest(NamedTuple):
    """
    What is to be learnt, or forgotten.

    Attributes:
        path: the model file.
        label: the class to learn, None to forget.
        wait: how many seconds to wait for another writer.
        keep: maximum number of undo records that the model keeps;
            None for as many as before.
        approximate: whether to take away what a pruned model has left of a document.
        create: whether to make a model if there is none.
        format: how documents are read in a model that is made; by what most of the
            first ones look like if None.
        fields: the columns of tables that are read in a model that is made.
        keyed: file of the secret of the model, which one that is made is made with.
        source: the class from which to forget, None for all of them.
        moves: whether a document that is known in another class moves to the label;
            otherwise it stays where it is.
        run: where this command has appended its first table, None if it has not yet.
        frozen_idf: whether documents are weighed by the idf that training has frozen;
            a model that has one is not changed otherwise.
        regime: which of the documents that are not known are learnt.
    """

    path: str
    label: str | None
    wait: float = WAIT
    keep: int | None = None
    approximate: bool = False
    create: bool = False
    format: Format | None = None
    fields: tuple[Field, ...] = ()
    keyed: str | None = None
    source: str | None = None
    moves: bool = True
    run: int | None = None
    frozen_idf: bool = False
    regime: Regime = EVERYTHING


class Step(NamedTuple):
    """
    What is to be done about a document that is not known as it should be.

    Attributes:
        place: which document of the batch.
        rows: where it is counted otherwise, and how often.
        is_there: whether it is counted in the class where it belongs, besides.
        copies: where else in the batch the same document is.
    """

    place: int
    rows: Tally[Row]
    is_there: bool
    copies: list[int]


class Batch(NamedTuple):
    """
    Some documents, as a model reads them.

    Attributes:
        settings: how they are read.
        documents: the documents.
        readings: the same, taken apart.
    """

    settings: Settings
    documents: Sequence[Document]
    readings: Sequence[AnyReading]


class Plan(NamedTuple):
    """
    What is to be done about a batch of documents.

    Attributes:
        model: the model as it is, None if it is made now.
        batch: the documents.
        request: what is wanted.
        steps: what there is to do; more steps may come up as these are done.
        results: place of a document to what has become of it.
    """

    model: Model | None
    batch: Batch
    request: LearnRequest
    steps: list[Step]
    results: dict[int, LearnResult]

    @property
    def begins_class(self) -> bool:
        """Whether the model has classes, and not the one that is learnt."""
        label, model = self.request.label, self.model
        return label is not None and model is not None and label not in model.classes

    @property
    def is_outgrown(self) -> bool:
        """
        Whether more is learnt than the model knows of the class.

        What it says of these documents is then not what it will say of others like
        them. It is not asked where a correction has been fitted with its own scores.
        """
        label, model = self.request.label, self.model
        if model is None or label not in model.classes:
            return False
        if self.request.regime.is_choosy or model.file.correction is not None:
            return False
        n_new = sum(not step.rows for step in self.steps)
        return n_new > model.documents[model.classes.index(label)]

    def enter(self, step: Step, refusal: str) -> None:
        """
        Enter what has become of a document, refused for a reason or not.

        Of one that is refused the next copy is another step: its tokens may be others.
        """
        label = self.request.label
        before = tuple(sorted({row.label for row in step.rows}))
        outcome: Outcome
        if refusal:
            outcome = "refused"
        elif label is None:
            outcome = "forgotten"
        else:
            outcome = "moved" if before else "learnt"
        name = self.batch.documents[step.place].name
        self.results[step.place] = LearnResult(name, outcome, before, refusal)
        if refusal and step.copies:
            place, *copies = step.copies
            self.steps.append(step._replace(place=place, copies=copies))
            return
        for place in step.copies:
            name = self.batch.documents[place].name
            self.results[place] = (
                LearnResult(name, "refused", (), UNKNOWN)
                if label is None
                else LearnResult(name, "known", (label,))
            )

    def leave_out(self, step: Step) -> None:
        """Take a step out: its document, and copies of it, are not learnt."""
        self.steps.remove(step)
        for place in (step.place, *step.copies):
            name = self.batch.documents[place].name
            self.results[place] = LearnResult(name, "left out")


def new_settings(documents: Sequence[Document], request: LearnRequest) -> Settings:
    """
    Return how documents are read in a model that does not exist yet.

    Raises:
        NoModelError: it is not to be made.

    """
    if not request.create or request.label is None:
        message = f"{request.path}: no model there; make one with `nbtext train`"
        if request.label is not None:
            message += ", begin one with --create"
        raise NoModelError(f"{message}, or name another")
    n_mail = sum(map(is_mail, documents))
    guessed: Format = "mail" if 2 * n_mail > len(documents) else "text"
    settings = default_settings(request.format or guessed, 2).reading(request.fields)
    if request.keyed is None:
        return settings
    return settings._replace(secret=make_secret(request.keyed))


def planned(model: Model | None, batch: Batch, request: LearnRequest) -> Plan:
    """
    Say of each document whether there is something to do about it, and what.

    Raises:
        SettingsError: the model keeps no ledger, is not keyed as it should be, or the
            class cannot be in it.

    """
    if request.keyed is not None and batch.settings.secret is None:
        message = f"{request.path}: the model is not keyed; leave out --keyed"
        raise SettingsError(message)
    _check_idf(batch.settings, request)
    if not batch.settings.ledger:
        message = (
            f"{request.path}: the model keeps no ledger, so nobody knows what it has "
            "counted; train it without --no-ledger to teach it"
        )
        raise SettingsError(message)
    if request.label is not None:
        model = _for_class(model, request)
    plan = Plan(model, batch, request, [], {})
    first: dict[bytes, Step] = {}
    for place, reading in enumerate(batch.readings):
        if not any(batch.documents[place].texts):
            plan.results[place] = LearnResult(batch.documents[place].name, "empty")
            continue
        if reading.digest in first:
            first[reading.digest].copies.append(place)
            continue
        rows = _rows(model, reading.digest, request)
        result = _without_writing(batch.documents[place], rows, request)
        if result is None:
            step = first[reading.digest] = _step(place, rows, request.label)
            plan.steps.append(step)
        else:
            plan.results[place] = result
    return plan


def _check_idf(settings: Settings, request: LearnRequest) -> None:
    """Refuse to change what an idf rests on, unless it shall stay as it is."""
    is_frozen = has_frozen_idf(settings)
    if is_frozen and not request.frozen_idf:
        message = (
            f"{request.path}: its TF-IDF weights rest on all of the documents that it "
            "was trained on: one more, or one less, would change the idf of every "
            "term; train again, or keep the idf as it is (learn --frozen-idf, forget "
            "--frozen-idf)"
        )
        raise SettingsError(message)
    if request.frozen_idf and not is_frozen:
        message = (
            f"{request.path}: the model has no idf to keep; leave out --frozen-idf"
        )
        raise SettingsError(message)


def _rows(model: Model | None, digest: bytes, request: LearnRequest) -> Tally[Row]:
    """Return where a document is counted, of what the request is about."""
    rows = rows_of(model.file, digest) if model else Tally()
    if request.source is None:
        return rows
    return Tally({r: count for r, count in rows.items() if r.label == request.source})


def _step(place: int, rows: Tally[Row], label: str | None) -> Step:
    """Return what is to be done about a document, from where it is counted now."""
    otherwise = {row: count for row, count in rows.items() if row.label != label}
    is_there = len(otherwise) < len(rows)
    return Step(place, Tally(otherwise), is_there, [])


def _without_writing(
    document: Document, rows: Tally[Row], request: LearnRequest
) -> LearnResult | None:
    """Return what becomes of a document about which there is nothing to do."""
    name, before = document.name, tuple(sorted({row.label for row in rows}))
    if request.label is None:
        return None if rows else LearnResult(name, "refused", (), UNKNOWN)
    stays = before == (request.label,) or (before and not request.moves)
    return LearnResult(name, "known", before) if stays else None


def _for_class(model: Model | None, request: LearnRequest) -> Model | None:
    """
    Return the model as it is to be scored once it has learnt a class.

    Where its score is for two classes, and one more is learnt, that is the default
    score of more classes, if what it needs was counted.

    Raises:
        TrainingError: it needs other settings than the model has.
        UnknownClassError: it is spelt like a class, and shall not be begun.
        SettingsError: its name means something else.

    """
    label = request.label or ""
    if label in ("", "?") or not label.isprintable():
        message = (
            f"a class cannot be called {quoted(label)}; choose a name for people to "
            "read"
        )
        raise SettingsError(message)
    if model is None:
        return model
    if label not in model.classes and not request.create:
        _check_spelling(model, label)
    classes = sorted({*model.classes, label})
    if len(classes) < 2:
        return model
    scoring = model.scoring
    if event_model(scoring.score).refusal(scoring, model.settings, classes):
        default = scoring_for(model.settings, len(classes))
        scoring = for_classes(default, len(classes))._replace(
            attributes=model.scoring.attributes
        )
    try:
        check_scoring(scoring, model.settings, classes)
    except SettingsError as error:
        sources = " ".join(f"{name}=..." for name in classes)
        if label in model.classes:  # files were joined that do not go together
            what = f"the model cannot be taught: {error}"
        else:
            what = (
                f"no class {quoted(label)}: the model reads documents for the classes "
                f"{', '.join(model.classes)}, and for one more they are read otherwise"
            )
        message = f"{request.path}: {what}; run `nbtext train {sources}`"
        raise TrainingError(message) from error
    if model.policy is not None and label not in model.classes:
        check_policy(model.policy, model, label)
    return model if scoring == model.scoring else model.scored_by(scoring)


def _check_spelling(model: Model, label: str) -> None:
    """
    Refuse a new class that is spelt like one that the model has, or means the same.

    Raises:
        UnknownClassError: it is, or does.

    """
    if similar(label, model.classes) or folder_of(label, model.classes):
        advice = "for a new class, add --create"
        raise UnknownClassError(model.path, label, model.classes, advice=advice)


def why_not(row: Row) -> str:
    """Say why a document cannot be taken away from a class."""
    if row.fingerprint == FORGOTTEN:
        return (
            f"it was learnt as {row.label} before the model was pruned, and what it "
            "left is not known any more; take away what there is with --approximate"
        )
    return (
        f"it was learnt as {row.label} with other tokens than it has now, and no "
        "record of them is kept (--undo); bring it as it was then, or train again"
    )


def keep_of(plan: Plan) -> int:
    """Return of how many documents the counts are to be kept."""
    if plan.request.keep is not None:
        return plan.request.keep
    if plan.model is None:
        return KEPT_RECORDS
    return plan.model.file.tables[-1].header.history.keep


def history_of(plan: Plan, n_changed: int, new_terms: tuple[int, ...]) -> History:
    """Return the history of the table that a plan makes."""
    label, model = plan.request.label, plan.model
    run = None if model is None else run_of(model.file, plan.request.run)
    return History(
        taught=n_changed,
        learnt={} if label is None else {label: now()},
        offset=model.file.size if model else None,
        new_terms=new_terms,
        keep=keep_of(plan),
        run=run,
    )


def run_of(file: ModelFile, first: int | None) -> int | None:
    """
    Return what the next table of a command says of where its first one is.

    Args:
        file: the model.
        first: where the first table was appended, None if this is the first.

    Returns:
        None if the first is not there any more: another process has compacted the file.

    """
    if first is None:
        return file.size
    runs = (table.header.history.run for table in file.tables if table.offset == first)
    return next(runs, None)


class Calibrated(NamedTuple):
    """
    What a table that a plan makes says of scores.

    Attributes:
        scoring: how the whole file asks to be scored.
        calibrations: what its documents scored before they were learnt.
        fit: what is fitted to the calibration of the whole file; None if there is none.
    """

    scoring: Scoring
    calibrations: tuple[Calibration, ...] = ()
    fit: Fit | None = None


def calibrated(
    plan: Plan,
    seen: Sequence[Sequence[Calibration]],
    more: Mapping[str, Sequence[int]],
) -> Calibrated:
    """
    Return what a table that a plan makes says of scores.

    Args:
        plan: the plan.
        seen: what its documents scored before they were learnt.
        more: for each class, how many documents more the model has with the table, and
            how much more of each column of each view.

    Raises:
        DamagedError: what the model keeps for calibration is none.

    """
    model = plan.model
    if model is None:
        return Calibrated(scoring_for(plan.batch.settings, 2))
    nothing = no_calibrations(model)
    known = calibrations_of(model.path, model.file.tables)
    if not known and not any(seen):
        return Calibrated(model.scoring)
    calibrations = totals([nothing, *seen])
    whole = totals([known, calibrations])
    sums = {
        label: [model.documents[place], *(n for by in model.totals for n in by[place])]
        for place, label in enumerate(model.classes)
    }
    for label, values in more.items():
        before = sums.get(label, [0] * len(values))
        sums[label] = [*map(int.__add__, before, values)]
    # as readers have it: a class of which nothing is left is gone
    classes = sorted(label for label, values in sums.items() if any(values))
    scoring = model.scoring
    if model.file.correction is None:  # which stays with its scoring
        scoring = chosen(scoring, whole, classes)
    calibration = calibration_for(scoring, whole)
    return Calibrated(scoring, calibrations, calibration and fit(calibration, classes))
