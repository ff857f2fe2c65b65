"""
Plans: what is to become of each document that is to be learnt or forgotten.

Documents and a model go in, a plan comes out: which of them the model knows already as
it should, and which rows of the ledger stand against the others. Nothing is written
here; `nbtext.learning.one_by_one` and `nbtext.learning.in_bulk` carry plans out.
"""

from collections import Counter as Tally
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile
from typing import Final, Literal, NamedTuple, TypeAlias

from nbtext import wording
from nbtext.classes import quoted
from nbtext.counts import Calibration, Fit, fit
from nbtext.counts.calibration import calibration_for, not_below_zero, totals
from nbtext.counts.fitting import chosen
from nbtext.document import Document
from nbtext.errors import NoModelError, SettingsError
from nbtext.keyring import make_secret
from nbtext.learning.lesson import UNKNOWN
from nbtext.learning.new_classes import check_name, with_classes
from nbtext.learning.regimes import EVERYTHING, Regime
from nbtext.scoring import Model
from nbtext.scoring.held_out import no_calibrations
from nbtext.scoring.models.registry import is_one_number, scoring_for
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

CHANGED: Final = ("learnt", "moved")
"""Outcomes after which a class has one document more."""

Outcome: TypeAlias = Literal[
    "learnt", "moved", "known", "forgotten", "refused", "empty", "left out"
]


class LearnResult(NamedTuple):
    """
    What became of a document.

    Attributes:
        name: the document's.
        outcome: whether it was learnt, was moved, was known already (a copy, where
            documents are forgotten), was forgotten; or was refused, is empty, or left
            out because of the regime, and then nothing has changed.
        before: in which classes it was, sorted.
        reason: why it was refused.
        truncated: whether the document was longer than what was read of it.
        label: the class that it was to be learnt as; None to be forgotten.
    """

    name: str
    outcome: Outcome
    before: tuple[str, ...] = ()
    reason: str = ""
    truncated: bool = False
    label: str | None = None


class LearnRequest(NamedTuple):
    """
    What is to be learnt, or forgotten.

    Attributes:
        path: the model file.
        label: the class to learn; None to forget, or if documents say their own.
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
        own_labels: whether each document is learnt as the class that is its label.
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
    own_labels: bool = False

    @property
    def forgets(self) -> bool:
        """Whether documents are forgotten, and not learnt."""
        return self.label is None and not self.own_labels


class Step(NamedTuple):
    """
    What is to be done about a document that is not known as it should be.

    Attributes:
        place: which document of the batch.
        label: the class to learn it as, None to forget it.
        rows: where it is counted otherwise, and how often.
        is_there: whether it is counted in the class where it belongs, besides.
        copies: where else in the batch the same document is.
    """

    place: int
    label: str | None
    rows: Tally[Row]
    is_there: bool
    copies: list[int]


class Batch(NamedTuple):
    """Some documents, as a model reads them."""

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
        """Whether the model has classes, and not one that is learnt."""
        known = None if self.model is None else self.model.classes
        return known is not None and any(
            step.label is not None and step.label not in known for step in self.steps
        )

    @property
    def is_outgrown(self) -> bool:
        """
        Whether more documents are learnt than a class has.

        What the model says of these is then not what it will say of others like them:
        they must be scored when they are learnt, and not before. It is not asked where
        a correction has been fitted with its own scores.
        """
        model = self.model
        if model is None or model.file.correction is not None:
            return False
        if self.request.regime.is_choosy:
            return False
        known = dict(zip(model.classes, model.documents, strict=True))
        new = Tally(step.label for step in self.steps if not step.rows)
        return any(n > known[label] for label, n in new.items() if label in known)

    def enter(self, step: Step, refusal: str) -> None:
        """
        Enter what has become of a document, refused for a reason or not.

        Of one that is refused the next copy is another step: its tokens may be others.
        """
        label = step.label
        before = _labels_of(step.rows)
        outcome: Outcome
        if refusal:
            outcome = "refused"
        elif label is None:
            outcome = "forgotten"
        else:
            outcome = "moved" if before else "learnt"
        self.tell(step.place, label, outcome, before, refusal)
        if refusal and step.copies:
            place, *copies = step.copies
            self.steps.append(step._replace(place=place, copies=copies))
            return
        for place in step.copies:
            if label is None:
                self.tell(place, label, "refused", reason=UNKNOWN)
            else:
                self.tell(place, label, "known", (label,))

    def leave_out(self, step: Step) -> None:
        """Take a step out: its document, and copies of it, are not learnt."""
        self.steps.remove(step)
        for place in (step.place, *step.copies):
            self.tell(place, step.label, "left out")

    def tell(
        self,
        place: int,
        label: str | None,
        outcome: Outcome,
        before: tuple[str, ...] = (),
        reason: str = "",
    ) -> None:
        """Enter what has become of a document."""
        name = self.batch.documents[place].name
        self.results[place] = LearnResult(name, outcome, before, reason, label=label)


def new_settings(documents: Sequence[Document], request: LearnRequest) -> Settings:
    """
    Return how documents are read in a model that does not exist yet.

    Raises:
        NoModelError: it is not to be made.
    """
    if not request.create or request.label is None:
        message = (
            f"{request.path}: no model there; make one with `{wording.call('train')}`"
        )
        if request.label is not None:
            message += f", begin one with {wording.given(create=True)}"
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
            class cannot be in it; that is told of each document if they say their own.
    """
    if request.keyed is not None and batch.settings.secret is None:
        keyed = wording.named("keyed")
        message = f"{request.path}: the model is not keyed; leave out {keyed}"
        raise SettingsError(message)
    _check_idf(batch.settings, request)
    if not batch.settings.ledger:
        message = (
            f"{request.path}: the model keeps no ledger, so nobody knows what it has "
            f"counted; train it without {wording.given(ledger=False)} to teach it"
        )
        raise SettingsError(message)
    labels = [
        document.label if request.own_labels else request.label
        for document in batch.documents
    ]
    plan = Plan(model, batch, request, [], {})
    first: dict[bytes, Step] = {}
    last = dict(zip((one.digest for one in batch.readings), labels, strict=True))
    for place, reading in enumerate(batch.readings):
        label = labels[place]
        if not any(batch.documents[place].texts):
            plan.tell(place, label, "empty")
            continue
        if request.own_labels:
            refusal = _refusal(label, last[reading.digest])
            if refusal:
                plan.tell(place, label, "refused", reason=refusal)
                continue
        if reading.digest in first:
            first[reading.digest].copies.append(place)
            continue
        rows = _rows(model, reading.digest, request)
        before = _labels_of(rows)
        if label is None and not rows:
            plan.tell(place, label, "refused", reason=UNKNOWN)
        elif label is not None and (
            before == (label,) or (before and not request.moves)
        ):
            plan.tell(place, label, "known", before)
        else:
            step = first[reading.digest] = _step(place, label, rows)
            plan.steps.append(step)
    return plan if request.forgets else _for_classes(plan)


def _for_classes(plan: Plan) -> Plan:
    """
    Return a plan with the model as it is to be scored once it has learnt the classes.

    Steps to classes that it cannot have are refused, if documents say their own.

    Raises:
        As `check_name` and `with_class` do, if the request has one class.
    """
    model, request = plan.model, plan.request
    wanted = dict.fromkeys(
        [step.label for step in plan.steps if step.label is not None]
        if request.own_labels
        else [request.label or ""]
    )
    if model is None:
        for name in wanted:
            check_name(name)
        return plan
    model, refusals = with_classes(
        model, wanted, create=request.create, others_go_on=request.own_labels
    )
    refused = [step for step in plan.steps if step.label in refusals]
    plan.steps[:] = [step for step in plan.steps if step.label not in refusals]
    for step in refused:
        for place in (step.place, *step.copies):
            reason = refusals[step.label or ""]
            plan.tell(place, step.label, "refused", reason=reason)
    return plan._replace(model=model)


def _labels_of(rows: Collection[Row]) -> tuple[str, ...]:
    """Return the classes in which a document is counted, sorted."""
    return tuple(sorted({row.label for row in rows}))


def _refusal(label: str | None, last: str | None) -> str | None:
    """Return why a document is not learnt as its label, given that of its last copy."""
    if label is None:
        return "it has no label to be learnt as"
    if label != last:
        other = "nothing" if last is None else quoted(last)
        return (
            f"labelled {quoted(label)} here and {other} further on, which stands; "
            "leave one of the two"
        )
    return None


def _check_idf(settings: Settings, request: LearnRequest) -> None:
    """Refuse to change what an idf rests on, unless it shall stay as it is."""
    if settings.has_frozen_idf and not request.frozen_idf:
        message = (
            f"{request.path}: its TF-IDF weights rest on all of the documents that it "
            "was trained on: one more, or one less, would change the idf of every "
            "term; train again, or keep the idf as it is "
            f"({wording.given(frozen_idf=True)} of `learn` and `forget`)"
        )
        raise SettingsError(message)
    if request.frozen_idf and not settings.has_frozen_idf:
        frozen = wording.named("frozen_idf")
        message = f"{request.path}: the model has no idf to keep; leave out {frozen}"
        raise SettingsError(message)


def _rows(model: Model | None, digest: bytes, request: LearnRequest) -> Tally[Row]:
    """Return where a document is counted, of what the request is about."""
    rows = rows_of(model.file, digest) if model else Tally()
    if request.source is None:
        return rows
    return Tally({r: count for r, count in rows.items() if r.label == request.source})


def _step(place: int, label: str | None, rows: Tally[Row]) -> Step:
    """Return what is to be done about a document, from where it is counted now."""
    otherwise = {row: count for row, count in rows.items() if row.label != label}
    is_there = len(otherwise) < len(rows)
    return Step(place, label, Tally(otherwise), is_there, [])


def why_not(row: Row, rows: Collection[Row]) -> str:
    """Say why a document cannot be taken away from a class."""
    if row.fingerprint == FORGOTTEN:
        return (
            f"it was learnt as {row.label} before the model was pruned, and what it "
            "left is not known any more; take away what there is with "
            f"{wording.given(approximate=True)}"
        )
    if len({one.fingerprint for one in rows}) > 1:
        return (
            f"it was learnt more than once, as {row.label} with other tokens than it "
            f"has now, and no record of them is kept ({wording.named('undo')}); all of "
            "it can be taken away, or nothing: train again without it"
        )
    return (
        f"it was learnt as {row.label} with other tokens than it has now, and no "
        f"record of them is kept ({wording.named('undo')}); bring it as it was then, "
        "or train again"
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
    model = plan.model
    labels = {one.label for one in plan.results.values() if one.outcome in CHANGED}
    run = None if model is None else run_of(model.file, plan.request.run)
    return History(
        taught=n_changed,
        learnt={label: now() for label in labels if label is not None},
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
    if not first:  # it began the model
        return first
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
    plan: Plan, seen: Sequence[Sequence[Calibration]], more: Mapping[str, Sequence[int]]
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
    known = calibrations_of(model.file.tables)
    if not known and not any(seen):
        return Calibrated(model.scoring)
    sums = {
        label: [model.documents[place], *(n for by in model.totals for n in by[place])]
        for place, label in enumerate(model.classes)
    }
    for label, values in more.items():
        before = sums.get(label, [0] * len(values))
        sums[label] = [*map(int.__add__, before, values)]
    # as readers have it: a class of which nothing is left is gone
    classes = sorted(label for label, values in sums.items() if any(values))
    n_tables = _as_before(model.file, classes)
    if n_tables:
        tables = model.file.tables[:n_tables]
        known = calibrations_of(tables)
        model = model.scored_by(tables[-1].header.scoring)
    nothing = no_calibrations(model)
    # what scores no corrected ones leaves these as they are
    calibrations = not_below_zero(totals([*seen, nothing]), known)
    whole = totals([known, calibrations])
    scoring = model.scoring
    if model.file.correction is None:  # which stays with its scoring
        scoring = chosen(scoring, whole, classes)
    calibration = calibration_for(scoring, whole)
    return Calibrated(scoring, calibrations, calibration and fit(calibration, classes))


def _as_before(file: ModelFile, classes: Sequence[str]) -> int:
    """
    Return how many tables a file had before there was a class more than two.

    Their score is for two classes, and is that of the model again once the third one
    is forgotten: all that it rests on is in these tables.

    Args:
        file: the model.
        classes: those that it will have, sorted.

    Returns:
        0 if it has the same score still, or has others than these two.
    """
    if len(classes) != 2 or is_one_number(file.scoring) or not file.is_in_order:
        return 0
    tables = [*takewhile(lambda one: is_one_number(one.header.scoring), file.tables)]
    names = {name for table in tables for name in table.header.classes}
    return len(tables) if names == {*classes} else 0
