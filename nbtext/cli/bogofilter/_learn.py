"""
What `nbtext bogofilter` registers: messages learnt, moved and forgotten.

Only those who learn load this: it takes more than to decide.
"""

from collections import Counter as Tally
from collections.abc import Iterable, Sequence

from nbtext.cli._learn import summary
from nbtext.cli._pass import MAX_BYTES
from nbtext.cli._terminal import Naming, to_stderr
from nbtext.cli.bogofilter._bogosity import Bogosity, check_classes
from nbtext.cli.bogofilter._log import log, registered
from nbtext.cli.bogofilter._request import LABELS, Request
from nbtext.cli.bogofilter._words import HAM, SPAM
from nbtext.document import Document, Item, OnProblem, raise_unreadable
from nbtext.errors import NoModelError
from nbtext.learning import LearnRequest, LearnResult, learn_documents
from nbtext.learning.lesson import UNKNOWN
from nbtext.scoring import load_model


def register(items: Iterable[Item], request: Request, on_problem: OnProblem) -> bool:
    """
    Learn, move or forget messages, and say so as it is wanted.

    Returns:
        Whether none was refused. One that is not known where it is to be forgotten is
        no failure: it is as it should be.

    Raises:
        NbtextError: the model has other classes, or cannot be read or written.
    """
    learn_request = _learn_request(request)
    outcomes: Tally[str] = Tally()
    refused, unknown = Naming("refused"), Naming("not known")
    for results in learn_documents(
        items, learn_request, max_bytes=MAX_BYTES, on_problem=on_problem
    ):
        for result in results:
            outcomes["nothing" if _is_known_nowhere(result) else result.outcome] += 1
            if _is_known_nowhere(result):
                unknown.say(f"{result.name}, as {learn_request.source}")
            elif result.outcome == "refused":
                refused.say(f"{result.name}: {result.reason}")
    refused.name_rest()
    unknown.name_rest()
    n_messages = outcomes.total() - outcomes["empty"]
    if request.is_verbose:
        said = f"# {n_messages} message{'s' * (n_messages != 1)}"
        done = summary(learn_request, outcomes)
        to_stderr(f"{said}, {done}" if done else said)
    if request.logs:
        log(registered(request.action, n_messages))
    return not outcomes["refused"]


def _learn_request(request: Request) -> LearnRequest:
    """
    Return what to learn, or to forget.

    Raises:
        NbtextError: the model has other classes, or cannot be read.
    """
    label, source = LABELS[request.action]
    try:
        check_classes(request.model, load_model(request.model).classes)
    except NoModelError:
        if label is None:
            raise
    return LearnRequest(
        request.model,
        label,
        create=label is not None,
        keyed=request.keyed,
        format="mail",
        source=source,
    )


def _is_known_nowhere(result: LearnResult) -> bool:
    return result.outcome == "refused" and result.reason == UNKNOWN


def learn_decided(
    documents: Sequence[Document], found: Sequence[Bogosity], request: Request
) -> dict[int, str]:
    """
    Learn what was decided about messages, if it was.

    A message that is known already stays what it is: somebody may have said so.

    Returns:
        The place of each message that was not known, and what was registered.

    Raises:
        SourceError: a message takes too long to read.
        NbtextError: the model cannot be written.
    """
    learnt: dict[int, str] = {}
    for label, letter in ((SPAM, "s"), (HAM, "n")):
        places = [
            place
            for place, one in enumerate(found)
            if one.verdict.lower() == label
            and request.spared <= one.spamicity <= 1 - request.spared
        ]
        if places:
            chosen = [documents[place] for place in places]
            results = _learnt(chosen, LearnRequest(request.model, label, moves=False))
            for place, result in zip(places, results, strict=True):
                if result.outcome == "learnt":
                    learnt[place] = letter
    return learnt


def _learnt(
    documents: Sequence[Document], learn_request: LearnRequest
) -> list[LearnResult]:
    taught = learn_documents(
        documents, learn_request, max_bytes=MAX_BYTES, on_problem=raise_unreadable
    )
    return [result for results in taught for result in results]
