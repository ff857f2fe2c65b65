"""
A regime: which documents of a batch the model has no need of.

A plan goes in, the same plan comes out without the steps that are left out. Documents
are judged in their order, each by the model as it would be with those learnt before it.
Those that move from another class are learnt whatever the model says: somebody corrects
it. One document is judged without arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbtext.learning.plan import Plan, Step
    from nbtext.scoring import Model

from nbtext.scoring import Classifier


def without_needless(plan: Plan) -> None:
    """Leave out of a plan what its regime does not learn, and enter that."""
    model = plan.model
    is_choosy = plan.request.regime.is_choosy and not plan.request.forgets
    if not is_choosy or model is None:
        return
    if len({*model.classes, *(step.label for step in plan.steps)}) < 2:
        return
    new = [step for step in plan.steps if not step.rows]
    if len(new) == 1 and len(model.classes) > 1:
        needless = [] if _is_needed(plan, model, new[0]) else new
    elif new:
        needless = _needless(plan, model, new)
    else:
        return
    for step in needless:
        plan.leave_out(step)


def _is_needed(plan: Plan, model: Model, step: Step) -> bool:
    """Return whether a single document is learnt."""
    label, classes = step.label, model.classes
    if label not in classes:
        return True
    document = plan.batch.documents[step.place]
    reading = plan.batch.readings[step.place]
    (decision,) = Classifier(model).decide_readings([document], [reading])
    decided = None if decision.label is None else classes.index(decision.label)
    return plan.request.regime.learns(
        decision.log_posterior, decided, classes.index(label)
    )


def _needless(plan: Plan, known: Model, steps: list[Step]) -> list[Step]:
    """Return which of several documents are not learnt."""
    import numpy as np

    from nbtext.counts import TermCache
    from nbtext.learning.growing import GrowingModel
    from nbtext.learning.judging import Judge
    from nbtext.policy import MOST_PROBABLE
    from nbtext.tokens import read_terms

    labels, readings = [step.label or "" for step in steps], plan.batch.readings
    needless = []
    with TermCache() as cache:
        views = read_terms(
            plan.batch.settings, [readings[step.place].views for step in steps]
        )
        digests = [readings[step.place].digest for step in steps]
        order = sorted(range(len(steps)), key=labels.__getitem__)  # by class, as it is
        cache.add(
            [labels[place] for place in order],
            [digests[place] for place in order],
            [terms.take(np.array(order, np.int64)) for terms in views],
        )
        cached = {place: number for number, place in enumerate(order)}
        model = GrowingModel(known, cache, np.ones(len(steps), np.bool_))
        judge = Judge(model, known.policy or MOST_PROBABLE)
        for place, step in enumerate(steps):
            terms = cache.document(cached[place])
            truth = model.classes.index(labels[place])
            if judge.judge(terms).is_learnt(plan.request.regime, truth):
                model.learn(cached[place], terms, is_observed=False)
            else:
                needless.append(step)
    return needless
