"""What decides about documents: a model, or several together."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

from nbtext.document import Document
from nbtext.scoring.decide import Decision, DecisionRule
from nbtext.settings.views import Field

if TYPE_CHECKING:
    from nbtext.scoring.estimating import EstimatedPrior


class Decider(Protocol):
    """
    What decides about documents: a model, or several together.

    Attributes as those of `Classifier`.
    """

    n_reasons: int
    rule: DecisionRule
    prior: dict[str, float] | None

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes, sorted."""

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns of tables that are read; none if they are not named."""

    def classify(
        self, documents: list[Document], *, headings: bool = False
    ) -> list[Decision]:
        """Decide about documents, in their order."""

    def arrange(self, samples: Iterable[Document]) -> None:
        """Make ready for many documents."""

    def with_estimated_prior(
        self,
        batches: Iterable[list[Decision]],
        on_prior: "Callable[[EstimatedPrior], None]",
    ) -> Iterator[list[Decision]]:
        """Decide anew about a stream, by the prior that its documents speak for."""
