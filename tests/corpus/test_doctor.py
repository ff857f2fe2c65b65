"""Wrong labels that are planted in real mail and text are found again."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from nbtext.doctor import examine
from nbtext.document import Document
from nbtext.learning.reading_once import LabelledSources
from nbtext.learning.training import MAX_BYTES
from tests.corpus.splits import CORPORA, sms, spamassassin

pytestmark = pytest.mark.skipif(
    not CORPORA.is_dir(), reason="../shared/corpora is absent"
)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("corpus", [spamassassin, sms])
def test_nine_in_ten_planted_errors_are_among_the_first_two_in_a_hundred(
    corpus: Callable[[], Sequence[Document]], seed: int
) -> None:
    documents = corpus()
    n_planted = len(documents) // 100
    draw = np.random.default_rng(seed)
    chosen = draw.choice(len(documents), n_planted, replace=False).tolist()
    planted = {documents[place].name for place in chosen}
    turned = [
        one._replace(label="ham" if one.label == "spam" else "spam")
        if one.name in planted
        else one
        for one in documents
    ]

    found = examine(
        LabelledSources(lambda: turned, MAX_BYTES), most=len(documents) // 50
    )

    named = {suspect.name for suspect in found.suspects}
    assert len(named & planted) >= 0.9 * len(planted)
