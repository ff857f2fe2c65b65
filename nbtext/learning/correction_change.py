"""
What documents add to a correction, what goes with those taken away, and what stays.

What a document has added to a correction is its amount of each class times its weight
of each term, in integers, so it is taken back exactly. But what documents have added
cancels, and without one of them the others are out of balance. So the biases make up
for what its terms were worth to the mean document: the mean of all corrected scores
stays. One that is learnt later is balanced when it comes, so that to forget it is to
undo it. A document that moves to another class takes along what it has added, for the
others have been balanced with it (docs/experiments/030-balance.md). Only the standard
library is used: one message is moved from class to class here.
"""

from collections import Counter as Tally
from collections.abc import Mapping

from nbtext.counts.correction import BIAS, MOST, MOST_AMOUNT
from nbtext.errors import DamagedError
from nbtext.scoring import Model
from nbtext.settings.columns import UNIT
from nbtext.settings.reading import Settings
from nbtext.store import Row
from nbtext.store.ledger import amounts_of
from nbtext.tokens import Bag
from nbtext.tokens.bag import columns_of


class CorrectionChange:
    """
    What is added to a correction.

    Attributes:
        biases: class to what is added to its bias.
        views: for each view, key to class to what is added to the term's value.
        amounts: for each row of the ledger, class to what is added to its amount.
    """

    def __init__(self, settings: Settings) -> None:
        self.biases: Tally[str] = Tally()
        self.views: tuple[dict[int, Tally[str]], ...] = tuple(
            {} for _ in settings.views
        )
        self.amounts: dict[tuple[bytes, Row], Tally[str]] = {}
        self._settings = settings

    def take(
        self,
        model: Model,
        digest: bytes,
        row: Row,
        bag: Bag,
        to: Row | None = None,
        usual: float | None = None,
    ) -> None:
        """
        Take back what a document has added, or keep it for where it is counted now.

        Args:
            model: that has counted it.
            digest: 16 bytes that name it.
            row: its class, and what its counts are known by in the ledger.
            bag: its terms in each view, as they were counted.
            to: the same of where it is counted afterwards; None if that is nowhere. If
                its counts are others there, what it has added is taken back.
            usual: its `usual_product`, None if that is not known yet.

        Raises:
            NotAModelError: the counts of its terms are damaged.
        """
        amounts = amounts_of(model.file, digest, row)
        if amounts and to is not None and to.fingerprint == row.fingerprint:
            self._add_amounts(digest, row, amounts, -1)
            self._add_amounts(digest, to, amounts)
        elif amounts:
            if usual is None:
                usual = usual_product(model, bag)
            self.add(digest, row, bag, amounts, usual, -1)

    def add(
        self,
        digest: bytes,
        row: Row,
        bag: Bag,
        amounts: Mapping[str, int],
        usual: float,
        times: int = 1,
    ) -> None:
        """
        Add what a document teaches, balanced; -1 times takes it back.

        Args:
            digest: 16 bytes that name it.
            row: its class, and what its counts are known by in the ledger.
            bag: its terms in each view, as they are counted.
            amounts: class to its amount, in 1/256.
            usual: the mean product of its vector with those of all that are counted,
                its own among them.
            times: how often.
        """
        self._add_amounts(digest, row, amounts, times)
        for label, amount in amounts.items():
            self.biases[label] -= times * round(amount * usual / BIAS)
        for by_key, weights in zip(
            self.views, weights_of(bag, self._settings), strict=True
        ):
            for key, weight in weights.items():
                of_term = by_key.setdefault(key, Tally())
                for label, amount in amounts.items():
                    of_term[label] += times * amount * weight

    def _add_amounts(
        self, digest: bytes, row: Row, amounts: Mapping[str, int], times: int = 1
    ) -> None:
        known = self.amounts.setdefault((digest, row), Tally())
        for label, amount in amounts.items():
            known[label] += times * amount

    def include(self, other: "CorrectionChange") -> None:
        """Add what another change adds."""
        self.biases.update(other.biases)
        for row, amounts in other.amounts.items():
            self.amounts.setdefault(row, Tally()).update(amounts)
        for mine, theirs in zip(self.views, other.views, strict=True):
            for key, values in theirs.items():
                mine.setdefault(key, Tally()).update(values)

    def check(self, path: str) -> None:
        """
        Refuse to take back, or to add to, what no training and no lesson has added.

        Raises:
            DamagedError: some amount, value or bias is too large.
        """
        amounts = (amount for by in self.amounts.values() for amount in by.values())
        of_terms = (by for by_key in self.views for by in by_key.values())
        values = (value for by in (self.biases, *of_terms) for value in by.values())
        if any(abs(amount) >= MOST_AMOUNT for amount in amounts) or any(
            abs(value) >= MOST for value in values
        ):
            what = "documents have added more to its correction than training lets them"
            raise DamagedError(path, 0, what)

    @property
    def classes(self) -> set[str]:
        """Return the classes of which something changes."""
        found = {label for label, bias in self.biases.items() if bias}
        for (_, row), amounts in self.amounts.items():
            labels = {label for label, amount in amounts.items() if amount}
            found |= labels | ({row.label} if labels else set())
        for by_key in self.views:
            for values in by_key.values():
                found |= {label for label, value in values.items() if value}
        return found


def weights_of(bag: Bag, settings: Settings) -> list[dict[int, int]]:
    """Return for each view key to weight, in 1/65535; of those without, nothing."""
    found = []
    for view, terms in zip(settings.views, bag, strict=True):
        weights = {}
        if "weight" in view.columns:
            place = view.column("weight")
            columns = columns_of(terms, view.columns)
            weights = {key: values[place] for key, values in columns.items()}
        found.append(weights)
    return found


def usual_product(model: Model, bag: Bag, *, is_counted: bool = True) -> float:
    """
    Return the mean product of a document's vector with those of all that are counted.

    Args:
        model: the counts.
        bag: the document's terms in each view.
        is_counted: whether it is among them; if not, it is taken for one more.
    """
    total, n_documents = 0, sum(model.documents)
    for place, weights in enumerate(weights_of(bag, model.settings)):
        if weights:
            column = model.settings.views[place].column("weight")
            for key, by_class in model.found(place, weights).items():
                of_all = sum(columns[column] for _, columns in by_class)
                total += weights[key] * of_all
            if not is_counted:
                total += sum(weight * weight for weight in weights.values())
    if not is_counted:
        n_documents += 1
    return total / (max(n_documents, 1) * UNIT * UNIT)
