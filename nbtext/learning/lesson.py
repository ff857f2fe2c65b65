"""
A lesson: what a plain mail adds to a plain model, or takes away, as a table.

A model that the compiled engine has opened and mails go in; the bytes of a table come
out, those which `nbtext.learning.one_by_one` would make of them. A mail that is counted
in the other class, or is to be forgotten, is taken away as it is now, if those are the
counts that it has left: in a second copy of the model, which then scores the mail as
one that it does not know, and fits what it keeps of scores. Of everything that is not
plain None comes out.

What is imported here is waited for with each message that is learnt.
"""

import sys

from nbtext.scoring.stored import packed
from nbtext.store.plain_table import (
    MOST_TERMS,
    numbers_of,
    pack_table,
    smallest,
    term_arrays,
)

TYPE_CHECKING = False  # typing takes longer to import than a message to learn
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Final, Literal, TypeAlias

    from nbtext._compiled import MailReader, StoredModel
    from nbtext.store.plain_table import Array, Value
    from nbtext.tokens.key_reading import PackedTerms

    Terms: TypeAlias = tuple[bytes, bytes]
    """The distinct keys of a mail in one view, and how often each occurs, 16 bits."""

    Sums: TypeAlias = tuple[bytes, bytes, bytes]
    """Sorted keys, how often each occurs, and in how many mails, 32 bits."""

    Scores: TypeAlias = list[tuple[int, int]]
    """Twice a bin, and one more of the second class; how many had a score in it."""

    Fit: TypeAlias = tuple[float, float, int]
    Outcome: TypeAlias = Literal["learnt", "known", "moved", "forgotten", "refused"]
    Lesson: TypeAlias = tuple[tuple[Outcome, ...], bytes]
    """What becomes of each mail, and the table to append, empty if all were known."""

PRIOR: "Final" = (0.35, 100.0, 1.0)
"""What is expected of the fit, as `nbtext.scoring.models.mean` has it."""

BINS_A_NAT: "Final" = 16
ROUNDED: "Final" = 9
FARTHEST_BIN: "Final" = 4096
MOST: "Final" = 1 << 40
"""As `nbtext.counts.calibration` has them."""

LEAST_SLOPE: "Final" = 2.0**-6
PINNED: "Final" = 2.0**40
"""As `nbtext.counts.fitting` has them."""

UNKNOWN: "Final" = "it is not in the model: it was never learnt, or is forgotten"
"""Why a document is not forgotten."""

UNFIT: "Final" = (1.0, 0.0, 0)
"""What a table that is no file's says of the fit."""


class Mail:
    """
    A mail that is learnt or forgotten.

    Attributes:
        digest: 16 bytes that name it.
        mark: the fingerprint of its terms, as the file has it.
        terms: those that it has in each view.
        score: by the model that does not know it.
    """

    __slots__ = ("digest", "mark", "score", "terms")

    def __init__(self, digest: bytes, mark: bytes, terms: "list[Terms]") -> None:
        self.digest, self.mark, self.terms, self.score = digest, mark, terms, 0.0


class Change:
    """
    What becomes of mails, all of them alike.

    Attributes:
        mails: they; one that is taken away is alone.
        label: the class that they are learnt as, None if they are forgotten.
        times: class to how often they are added to it; sorted by class.
        bins: where the scores of those fell that are learnt.
        taken: the class and the bin of a score that is taken back.
        sums: what they have in each view.
    """

    __slots__ = ("bins", "label", "mails", "sums", "taken", "times")

    def __init__(
        self,
        mails: list[Mail],
        label: str | None,
        times: dict[str, int],
        bins: list[int],
        taken: list[tuple[str, int]],
    ) -> None:
        self.mails, self.label, self.bins, self.taken = mails, label, bins, taken
        self.times = {name: times[name] for name in sorted(times)}
        by_view = zip(*[mail.terms for mail in mails], strict=True)
        self.sums = [_sums(list(of_view)) for of_view in by_view]

    @property
    def n_terms(self) -> list[int]:
        """Return how many terms they have in each view."""
        return [len(keys) // 8 for keys, _, _ in self.sums]


class NotHereError(Exception):
    """A lesson is one for `nbtext.learning.stream`."""


def lesson_of(
    model: "StoredModel",
    reader: "MailReader",
    label: str | None,
    mails: "Sequence[bytes]",
    header: "Mapping[str, Value]",
    again: "Callable[[], StoredModel | None]",
) -> "Lesson | None":
    """
    Return what learning mails adds to a model, or forgetting one takes away.

    Args:
        model: it has the class.
        reader: of its views.
        label: the class, None to forget.
        mails: one or more.
        header: which program writes it, and when, by the names of the file.
        again: opens the model once more; it is given a table that is in no file.

    Returns:
        None if `nbtext.learning.stream` is to do it. Only what is UNKNOWN is refused.
    """
    try:
        return _lesson(model, reader, label, mails, header, again)
    except NotHereError:
        return None


def _lesson(
    model: "StoredModel",
    reader: "MailReader",
    label: str | None,
    mails: "Sequence[bytes]",
    header: "Mapping[str, Value]",
    again: "Callable[[], StoredModel | None]",
) -> "Lesson":
    views, facts = reader.read(tuple(mails))
    kinds = memoryview(facts).cast("Q").tolist()[3::4]
    if not all(kinds) or sys.byteorder != "little":  # as the file is
        raise NotHereError
    place = -1 if label is None else model.classes().index(label)
    outcomes: list[Outcome] = []
    new: dict[int, Mail] = {}
    for n in range(len(mails)):
        digest = facts[32 * n : 32 * n + 16]
        rows = model.rows(digest)
        if rows is None or any(digest == mail.digest for mail in new.values()):
            raise NotHereError  # it is a copy of another
        if not rows and label is None:
            outcomes.append("refused")
            continue
        if rows and all(row[0] == place for row in rows):
            outcomes.append("known")
            continue
        terms = [_terms_of(*view, n) for view in views]
        new[n] = Mail(digest, facts[32 * n + 16 : 32 * n + 24], terms)
        if rows:  # it is to be taken away from where it is
            if len(mails) > 1:
                raise NotHereError
            return _corrected(model, label, new[n], views, rows, header, again)
        outcomes.append("learnt")
    if label is None or not new:
        return tuple(outcomes), b""
    if len(new) > _score(model, views, new)[place]:
        raise NotHereError  # those that outgrow a model are scored afterwards
    learnt = [*new.values()]
    bins = [bin_of(mail.score) for mail in learnt]
    change = Change(learnt, label, {label: 1}, bins, [])
    fit, known = _fit_of(model, change), change.n_terms
    return tuple(outcomes), _table_of(model, change, fit, known, header)


def _corrected(
    model: "StoredModel",
    label: str | None,
    mail: Mail,
    views: "PackedTerms",
    rows: list[tuple[int, int, int, int]],
    header: "Mapping[str, Value]",
    again: "Callable[[], StoredModel | None]",
) -> "Lesson":
    """Return what takes a mail away from its class, and adds it to another if any."""
    if len(rows) != 1 or rows[0][1] != int.from_bytes(mail.mark, "little"):
        raise NotHereError  # it is in both classes, or has other terms now
    place, _, count, bin_ = rows[0]
    before = model.classes()[place]
    times = {before: -count}
    taken = [(before, bin_)] if abs(bin_) <= FARTHEST_BIN else []  # it may be NO_BIN
    change = Change([mail], None, times, [], taken)
    if 2 * sum(change.n_terms) > MOST_TERMS:
        raise NotHereError  # no record is kept of so many, or of others beside them
    without = again()
    draft = _table_of(model, change, UNFIT, change.n_terms, header)
    if without is None or not without.append(draft):
        raise NotHereError
    known = change.n_terms
    if label is not None:
        _score(without, views, {0: mail})
        bins = [bin_of(mail.score)]
        change = Change([mail], label, {**times, label: 1}, bins, taken)
    else:
        known = _n_known(without, change)
    fit = _fit_of(without, change)
    outcome: Outcome = "forgotten" if label is None else "moved"
    return (outcome,), _table_of(model, change, fit, known, header)


def _terms_of(keys: bytes, counts: bytes, ends: bytes, number: int) -> "Terms":
    """Return the terms of one of the mails that were read together."""
    bounds = memoryview(ends).cast("Q")
    start, end = bounds[number - 1] if number else 0, bounds[number]
    return keys[8 * start : 8 * end], counts[2 * start : 2 * end]


def _score(
    model: "StoredModel",
    views: "PackedTerms",
    mails: dict[int, Mail],
) -> tuple[int, int]:
    """Score mails, by their places; return how many mails each class has."""
    scored = model.score(views)
    if scored is None:
        raise NotHereError
    for n, mail in mails.items():
        mail.score = scored[0][n][0]
    return scored[-1]


def _fit_of(model: "StoredModel", change: Change) -> "Fit":
    """
    Fit what a model keeps of scores, with those of mails that are learnt.

    It is done as in `nbtext.counts.fitting`, bit by bit.
    """
    from nbtext._compiled import newton  # there need not be any

    rows = _held_out(model, change)
    coarse: dict[int, int] = {}  # to whole nats, because that is soon done
    width = 2 * BINS_A_NAT
    for where, n in rows:
        nat = where // width * 2 + where % 2
        coarse[nat] = coarse.get(nat, 0) + n
    packed = _packed(rows)
    start = newton(_packed([*coarse.items()]), 1, PRIOR[0], 0.0, *PRIOR)
    found = newton(packed, BINS_A_NAT, *start, *PRIOR)
    if found[0] < LEAST_SLOPE:
        pinned = LEAST_SLOPE, PINNED, PRIOR[2]
        found = newton(packed, BINS_A_NAT, LEAST_SLOPE, 0.0, *pinned)
    return (*found, sum([n for _, n in rows]))


def _held_out(model: "StoredModel", change: Change) -> "Scores":
    """Return how many documents had which scores, with those that are learnt."""
    place = 0 if change.label is None else model.classes().index(change.label)
    numbers = memoryview(model.held_out()).cast("q").tolist()
    numbers += [n for bin_ in change.bins for n in (2 * bin_ + place, 1)]
    counts: dict[int, int] = {}
    for where, n in zip(numbers[::2], numbers[1::2], strict=True):
        counts[where] = counts.get(where, 0) + n
    if max(map(abs, counts.values()), default=0) > MOST:
        raise NotHereError
    return [row for row in sorted(counts.items()) if row[1] > 0]


def _packed(rows: "Scores") -> memoryview:
    """Return rows of scores as 64-bit integers."""
    packed = memoryview(bytearray(16 * len(rows))).cast("q")
    for place, (where, n) in enumerate(rows):
        packed[2 * place] = where
        packed[2 * place + 1] = n
    return packed


def _n_known(model: "StoredModel", change: Change) -> list[int]:
    """Return of each view how many of its terms a model knows."""
    known = []
    for place in range(len(change.sums)):
        alone = [
            keys if n == place else b"" for n, (keys, _, _) in enumerate(change.sums)
        ]
        found = model.score(tuple(map(packed, alone)))
        if found is None:
            raise NotHereError
        known.append(found[0][0][1])
    return known


def _table_of(
    model: "StoredModel",
    change: Change,
    fit: "Fit",
    known: list[int],
    header: "Mapping[str, Value]",
) -> bytes:
    """
    Return the table of a change.

    Args:
        model: as it is.
        change: what becomes of mails.
        fit: what is fitted to scores once that has happened.
        known: of each view how many of the terms the model has then.
        header: as for `lesson_of`.
    """
    settings, scoring, scores, policy, keep, size = model.header()
    views = [text for _, text, *_ in model.views()]
    label, mails, times = change.label, change.mails, [*change.times.values()]
    kept = min(len(mails), keep) if len(mails) > 1 else 0  # one is its own record
    arrays = _arrays_of(views, change)
    if kept:
        arrays += _records(views, mails[-kept:], change.bins[-kept:])
    before = _n_known(model, change)
    whole: dict[str, Value] = {
        **header,
        "settings": settings,
        "scoring": scoring,
        "classes": (*change.times,),
        "documents": [n * len(mails) for n in times],
        "totals": [_totals(*sums[1:], times) for sums in change.sums],
        "terms": change.n_terms,
        "calibrations": (_calibration_of(change, scores, fit),),
        "history": {
            "trained": "",
            "taught": len(mails),
            "learnt": {} if label is None else {label: header["written"]},
            "offset": size,
            "new_terms": [n - old for n, old in zip(known, before, strict=True)],
            "records": kept,
            "keep": keep,
            "run": size,
        },
    }
    table = pack_table(whole | {"policy": policy} if policy else whole, arrays)
    if table is None:
        raise NotHereError
    return table


def _totals(occurrences: bytes, documents: bytes, times: list[int]) -> "Value":
    """Return the sums of a view's columns, for each class."""
    n_times, n_documents = sum(numbers_of(occurrences)), sum(numbers_of(documents))
    return [(n * n_times, n * n_documents) for n in times]


def _calibration_of(change: Change, scores: bytes, fit: "Fit") -> "dict[str, Value]":
    """Return what is kept of scores, and what is fitted with them."""
    label, bins = change.label or "", change.bins
    counts = [(bin_, label, bins.count(bin_)) for bin_ in {*bins}]
    counts += [(bin_, before, -1) for before, bin_ in change.taken]
    documents = {label: len(bins)} if bins else {}
    documents |= {before: -1 for before, _ in change.taken}
    return {
        "scoring": scores,
        "prior": PRIOR,
        "counts": sorted(counts),
        "losses": (),
        "documents": dict(sorted(documents.items())),
        "fit": fit,
    }


def bin_of(score: float) -> int:
    """Return the bin that a score falls into, as `nbtext.counts.calibration` does."""
    bin_ = int(round(score * BINS_A_NAT, ROUNDED) // 1)  # as floor, which is in math
    return max(-FARTHEST_BIN, min(FARTHEST_BIN, bin_))


def bytes_of(bins: list[int]) -> bytes:
    """Return bins as 16-bit integers."""
    return b"".join([bin_.to_bytes(2, "little", signed=True) for bin_ in bins])


def _sums(terms: "list[Terms]") -> "Sums":
    """Add up what mails have in one view."""
    from nbtext._compiled import sum_terms  # there need not be any

    sums = sum_terms(tuple(terms))
    if sums is None or len(sums[0]) // 8 >= MOST_TERMS:
        raise NotHereError
    keys, occurrences, documents = sums
    return bytes(keys), bytes(occurrences), bytes(documents)


# --- arrays ---------------------------------------------------------------------------


def _arrays_of(views: list[str], change: Change) -> "list[Array]":
    """Return the arrays of terms, and of the ledger."""
    arrays, times = [], [*change.times.values()]
    for name, of_view in zip(views, change.sums, strict=True):
        arrays += term_arrays(name, *of_view, times)
    mails = sorted(change.mails, key=_digest_of)
    arrays += _documents("ledger", mails, len(times))
    arrays.append(("ledger.counts", *smallest(times * len(mails))))
    return arrays


def _documents(prefix: str, mails: list[Mail], n_classes: int = 1) -> "list[Array]":
    """Return the arrays that say which mails there are, each in all classes."""
    rows = [mail for mail in mails for _ in range(n_classes)]
    return [
        (f"{prefix}.high", "u8", b"".join([mail.digest[7::-1] for mail in rows])),
        (f"{prefix}.low", "u8", b"".join([mail.digest[:7:-1] for mail in rows])),
        (f"{prefix}.fingerprints", "u8", b"".join([mail.mark for mail in rows])),
        (f"{prefix}.classes", "u1", bytes(range(n_classes)) * len(mails)),
    ]


def _records(views: list[str], mails: list[Mail], bins: list[int]) -> "list[Array]":
    """Return the arrays of what mails left, to be undone."""
    arrays = [*_documents("undo", mails), ("undo.bins", "i2", bytes_of(bins))]
    for place, name in enumerate(views):
        sums = [_sums([mail.terms[place]]) for mail in mails]
        times = [n for _, occurrences, _ in sums for n in numbers_of(occurrences)]
        arrays += [
            (f"undo.{name}.sizes", *smallest([len(keys) // 8 for keys, _, _ in sums])),
            (f"undo.{name}.keys", "u8", b"".join([keys for keys, _, _ in sums])),
            (f"undo.{name}.counts", *smallest(times)),
        ]
    return arrays


def _digest_of(mail: Mail) -> bytes:
    return mail.digest
