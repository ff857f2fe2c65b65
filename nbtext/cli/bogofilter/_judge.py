"""
What decides about messages for `nbtext bogofilter`.

It is the model as bogofilter's users expect it: one that knows no class or one only is
unsure of everything, and one of other classes than spam and ham is an error.
"""

from collections.abc import Sequence

from nbtext.cli import _status as status
from nbtext.cli._keyed import check_keyed
from nbtext.cli._terminal import name_losses, to_stderr
from nbtext.cli.bogofilter._bogosity import Bogosity, bogosity, check_classes, no_idea
from nbtext.cli.bogofilter._log import log_verdicts
from nbtext.cli.bogofilter._plain import STATUSES
from nbtext.cli.bogofilter._request import Request
from nbtext.document import Document
from nbtext.errors import NoModelError
from nbtext.scoring import Classifier, load_model


class Judge:
    """
    What decides about messages, by the model as it is; and learns if it is to.

    What -u has learnt from a batch is known when the next one is decided about.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._is_opened = False
        self._classifier: Classifier | None = None

    def decide(self, documents: list[Document]) -> list[Bogosity]:
        """
        Decide about messages, in their order.

        Raises:
            SourceError: one takes too long to read.
            NbtextError: there is no model, or one of other classes.
        """
        if not self._is_opened:
            self._classifier = self._opened()
            self._is_opened = True
        cutoffs = self._request.cutoffs
        if self._classifier is None:
            return [no_idea(document.name, cutoffs) for document in documents]
        return [bogosity(one, cutoffs) for one in self._classifier.classify(documents)]

    def _opened(self) -> Classifier | None:
        """Open the model; None if it cannot tell spam from ham yet."""
        path = self._request.model
        try:
            model = load_model(path)
        except NoModelError:
            if not self._request.updates:  # bogofilter -u makes an empty one
                raise
            to_stderr(f"note: {path}: no model yet; begin one with -s and -n")
            return None
        check_keyed(self._request.keyed, model)
        name_losses(model)
        check_classes(path, model.classes)
        if len(model.classes) < 2:
            known = " and ".join(model.classes) or "nothing"
            to_stderr(f"note: {path}: it knows {known} alone, so all is unsure")
            return None
        return Classifier(model)

    def update(self, documents: Sequence[Document], found: Sequence[Bogosity]) -> None:
        """
        Learn what was decided, if that is wanted, and enter all of it into the log.

        Raises:
            NbtextError: the model cannot be written.
        """
        learnt: dict[int, str] = {}
        if self._request.updates:
            from nbtext.cli.bogofilter._learn import learn_decided

            learnt = learn_decided(documents, found, self._request)
            self._is_opened = self._is_opened and not learnt
        if self._request.logs:
            log_verdicts(found, learnt, self._request.field)

    def status_of(self, last: Bogosity | None) -> int:
        """Return the exit status, which is that of the last message."""
        if self._request.always_done:
            return status.DONE
        return status.UNSURE if last is None else STATUSES[last.verdict]
