"""
The passes that make a correction: documents one after the other, again and again.

In: documents in an order, each with its vector of integers in each view, its class and
its base scores. Out: the amounts by which it has moved the classes, and the values that
they make for the terms. With q the softmax of a document's corrected scores, each class
moves by

    step_c = rate (1 if it is the document's class, else 0) - rate q_c

which is 0 if it is below a cut, and else rounded to 1/256 (half to even). The rate may
be less from pass to pass. Where labels are doubted, it is multiplied by how far this
one is to be believed: a power of q_c / sqrt(n_c) of its class, as a share of the
greatest of any class, with n_c the documents of the class that are visited, and one
more. Copies of a document are one visit: rate and cut are divided by their number, 256
at most, and the step is made as many times as there are. The class's value of each term
grows by step_c x_t, its bias by a fiftieth of step_c, and the corrected score of a
document is its base score, the bias, and the sum of x_t times the values (Rosenblatt's
perceptron with the softmax's own steps, that is stochastic gradient descent on the log-
loss).

Each document depends on those before it, so there is one order and one thread. Values
are sums of integers, and base scores are rounded to 1/4096 nat, so that the outcome is
the same compiled or not: what a library's exponential does not round alike can turn one
step of 1/256 in some ten million. `passes.c` does the same as `correct_by_arrays`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nbtext.counts.sorted_counts import Counts
    from nbtext.learning.steps import Rate

from nbtext.counts.correction import AMOUNT_UNIT, BIAS
from nbtext.counts.sample import MOST_COPIES
from nbtext.counts.sorted_counts import narrow
from nbtext.learning.steps import BASE_UNIT, DOT_UNIT, MOST_BASE
from nbtext.tokens.engine import engine

MOST_VALUE: Final = 1 << 47
"""Values beyond this are refused; a nat of a term that is a document is 2^24."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """
    The vectors of documents in one view.

    Attributes:
        starts: shape (n_documents + 1,), where each document's terms begin.
        places: shape (n_terms,), the terms' numbers; no two views share any.
        weights: shape (n_terms,), x_t in units of 1/65535.
    """

    starts: NDArray[np.int64]
    places: NDArray[np.int32]
    weights: NDArray[np.uint16]

    def places_of(self, documents: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the terms of some documents, one document after the other."""
        begins = self.starts.take(documents).tolist()
        ends = self.starts.take(documents + 1).tolist()
        parts = [self.places[a:b] for a, b in zip(begins, ends, strict=True)]
        return np.concatenate([self.places[:0], *parts])


@dataclass(frozen=True, slots=True)
class Pupils:
    """
    Documents from which a correction is learnt.

    Attributes:
        views: their vectors in each view; a list that `correct` may empty.
        labels: shape (n_documents,), the places of their classes.
        times: shape (n_documents,), how many copies there are of each.
        base: shape (n_documents, n_classes), their scores, in 1/4096 nat.
        n_terms: the terms' numbers are below this.
    """

    views: list[Vectors]
    labels: NDArray[np.int64]
    times: NDArray[np.int64]
    base: NDArray[np.int32]
    n_terms: int


@dataclass(frozen=True, slots=True)
class Learnt:
    """
    What the passes come to.

    Attributes:
        amounts: shape (n_documents, n_classes), the sum of the steps of one copy of
            each document, in 1/256.
        places: shape (n_values,), the terms of the values that are not zero, sorted.
        classes: shape (n_values,), sorted within a term.
        values: shape (n_values,), in units of 1/(256 65535), in 32 bits if all fit.
        logits: shape (n_scored, n_classes), the corrected scores of the documents that
            were asked for, in nats.
    """

    amounts: NDArray[np.int16]
    places: NDArray[np.int32]
    classes: NDArray[np.uint16]
    values: Counts
    logits: NDArray[np.float64]


def rounded(scores: NDArray[np.float64], slope: float) -> NDArray[np.float64]:
    """
    Return scores as the passes take them, whole numbers in 1/4096 nat.

    Args:
        scores: of any shape.
        slope: what makes nats of them.
    """
    units = scores * (slope * BASE_UNIT)
    whole: NDArray[np.float64] = np.rint(units.clip(-MOST_BASE, MOST_BASE))
    return whole


def correct(
    pupils: Pupils,
    order: NDArray[np.int64],
    rate: Rate,
    scored: NDArray[np.int64],
    *,
    is_kept: bool = True,
    is_last: bool = False,
) -> Learnt:
    """
    Learn a correction.

    Args:
        pupils: the documents.
        order: those that are visited, in their order.
        rate: how they move classes.
        scored: the documents of which the corrected scores are wanted in the end.
        is_kept: whether its values are wanted, too; if not, none are told.
        is_last: whether the documents' vectors are wanted no more; then they may leave
            memory, and `pupils`, before the values are told.

    Raises:
        OverflowError: a value is beyond MOST_VALUE.
    """
    if not engine().is_compiled:
        return correct_by_arrays(pupils, order, rate, scored, is_kept=is_kept)
    from nbtext import _compiled

    amounts = np.zeros(pupils.base.shape, np.int16)
    logits = np.zeros((len(scored), pupils.base.shape[1]))
    views = [(view.starts, view.places, view.weights) for view in pupils.views]
    if is_last:
        pupils.views.clear()
    places, classes, values = _compiled.correct(
        views,
        pupils.n_terms,
        order,
        scored,
        pupils.labels,
        pupils.times,
        pupils.base,
        rate.passes,
        rate.rate,
        rate.cut * rate.rate,
        rate.decay,
        rate.doubt,
        amounts,
        logits,
        is_kept,
    )
    return Learnt(
        amounts,
        np.frombuffer(places, np.int32),
        np.frombuffer(classes, np.uint16),
        narrow(np.frombuffer(values, np.int64)),
        logits,
    )


def correct_by_arrays(
    pupils: Pupils,
    order: NDArray[np.int64],
    rate: Rate,
    scored: NDArray[np.int64],
    *,
    is_kept: bool = True,
) -> Learnt:
    """Do the same with arrays, a document at a time: the specification."""
    n_classes = pupils.base.shape[1]
    state = _State(pupils.n_terms, n_classes)
    amounts = np.zeros(pupils.base.shape, np.int16)
    truth = np.eye(n_classes)
    visits = np.bincount(pupils.labels.take(order), minlength=n_classes)
    sizes = np.sqrt(visits + 1.0)
    furthest, least = rate.rate, rate.cut * rate.rate
    for _ in range(rate.passes):
        for document in order.tolist():
            label = int(pupils.labels[document])
            shares = _shares(state.logits(pupils, document))
            posterior = shares / np.cumsum(shares)[-1]  # in order, as one loop sums
            likely = shares / sizes
            rate_of_it = furthest * float(likely[label] / likely.max()) ** rate.doubt
            copies = min(max(int(pupils.times[document]), 1), MOST_COPIES)
            rate_of_it /= copies
            steps = rate_of_it * (truth[label] - posterior)
            steps[np.abs(steps) < least / copies] = 0.0
            whole = np.rint(steps * AMOUNT_UNIT).astype(np.int64)
            amounts[document] += whole.astype(np.int16)
            state.learn(pupils, document, whole)
        furthest, least = furthest * rate.decay, least * rate.decay
    logits = [state.logits(pupils, document) for document in scored.tolist()]
    places, classes, values = state.entries()
    n_kept = len(places) if is_kept else 0
    return Learnt(
        amounts,
        places[:n_kept],
        classes[:n_kept],
        narrow(values[:n_kept]),
        np.array(logits).reshape(len(scored), n_classes),
    )


class _State:
    """What has been learnt so far: biases, and a row of values for a term with any."""

    def __init__(self, n_terms: int, n_classes: int) -> None:
        self._biases = np.zeros(n_classes, np.int64)
        # the row of each term; the first row, of zeros, stands for none
        self._rows = np.zeros(n_terms, np.int64)
        self._values = np.zeros((1, n_classes), np.int64)
        self._n_rows = 1

    def logits(self, pupils: Pupils, document: int) -> NDArray[np.float64]:
        """Return the corrected scores of a document."""
        dots = np.zeros(len(self._biases), np.int64)
        for places, weights in _vectors(pupils, document):
            dots += weights @ self._values.take(self._rows.take(places), axis=0)
        base = pupils.base[document] / BASE_UNIT
        biases = BIAS * self._biases / AMOUNT_UNIT
        logits: NDArray[np.float64] = base + biases + dots / DOT_UNIT
        return logits

    def learn(self, pupils: Pupils, document: int, steps: NDArray[np.int64]) -> None:
        """Add a document's vector to the classes that move."""
        steps = steps * pupils.times[document]
        moved = steps.nonzero()[0]
        if not len(moved):
            return
        self._biases += steps
        for places, weights in _vectors(pupils, document):
            rows = self._rows_for(places)
            cells = rows[:, None], moved[None, :]
            self._values[cells] += np.outer(weights, steps.take(moved))
            if np.abs(self._values[cells]).max(initial=0) >= MOST_VALUE:
                message = "a value of the correction"
                raise OverflowError(message)

    def _rows_for(self, places: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the rows of terms, with new ones for those that have none."""
        new = places[self._rows.take(places) == 0]
        self._rows[new] = np.arange(self._n_rows, self._n_rows + len(new))
        self._n_rows += len(new)
        if self._n_rows > len(self._values):
            grown = np.zeros((2 * self._n_rows, len(self._biases)), np.int64)
            grown[: len(self._values)] = self._values
            self._values = grown
        return self._rows.take(places)

    def entries(
        self,
    ) -> tuple[NDArray[np.int32], NDArray[np.uint16], NDArray[np.int64]]:
        """Return the values that are not zero, by term: places, classes and values."""
        terms = self._rows.nonzero()[0]
        values = self._values.take(self._rows.take(terms), axis=0)
        rows, classes = values.nonzero()
        places = terms.take(rows).astype(np.int32)
        return places, classes.astype(np.uint16), values[rows, classes]


def _vectors(
    pupils: Pupils, document: int
) -> list[tuple[NDArray[np.int32], NDArray[np.int64]]]:
    """Return the places and weights of a document's terms, for each view."""
    found = []
    for view in pupils.views:
        part = slice(view.starts[document], view.starts[document + 1])
        found.append((view.places[part], view.weights[part].astype(np.int64)))
    return found


def _shares(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what each class has of the most probable one."""
    shares: NDArray[np.float64] = np.exp(logits - logits.max())
    return shares
