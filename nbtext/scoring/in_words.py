"""
An explanation in a sentence.

What speaks for the label is added up by view; the sentence names the view, or views,
that most of it comes from, and the strongest terms there and against it.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from nbtext.scoring.explanation import Explanation, Reason

MOSTLY: Final = 0.6
"""Minimum share of what speaks for a label that makes one view the main one."""

NAMED: Final = 3
"""How many terms are named."""

LONGEST: Final = 30
"""Maximum characters of a term in a sentence."""

PIECES: Final = "".join(map(chr, range(0xDC80, 0xDD00)))
"""Bytes of a character that a run of five bytes has cut, as they stand in a term."""

NAMES: Final = {"raw": "raw text", "ngrams": "runs of characters"}
"""What views are called, if not by their names."""


def in_words(explanation: Explanation) -> str:
    """Say in a sentence what a decision rests on."""
    label = explanation.label
    if not explanation.known:
        n = explanation.tokens
        unknown = {0: "it has no tokens", 1: "its one token is not known"}
        return (
            f"{unknown.get(n, f'none of its {n:,} tokens is known')}; what is left is "
            f"the share of {label} among the documents"
        )
    shares = _shares_of_views(explanation)
    if not shares:
        return f"not one term speaks for {label} against {explanation.rival}"
    main, share = max(shares.items(), key=lambda item: item[1])
    if len(explanation.views) == 1:
        reasons = explanation.reasons
        opening = "the terms"
    elif share >= MOSTLY:
        reasons = tuple(one for one in explanation.reasons if one.view == main)
        opening = f"mostly the {NAMES.get(main, main)}"
    else:
        reasons = explanation.reasons
        names = sorted(shares, key=lambda name: -shares[name])
        opening = " and ".join(f"the {NAMES.get(name, name)}" for name in names[:2])
    listed = _listed(one for one in reasons if one.contribution > 0)
    text = f"{opening}: {listed}" if listed else opening
    against = _listed(one for one in explanation.reasons if one.contribution < 0)
    return f"{text}; against {label}: {against}" if against else text


def _shares_of_views(explanation: Explanation) -> dict[str, float]:
    """Return how much of what speaks for the label comes from each view."""
    sums: defaultdict[str, float] = defaultdict(float)
    for reason in explanation.reasons:
        if reason.contribution > 0:
            sums[reason.view] += reason.contribution
    whole = sum(sums.values())
    return {name: value / whole for name, value in sums.items()}


def _listed(reasons: Iterable[Reason]) -> str:
    """Return the first terms that differ, in quotes, without pieces of characters."""
    texts: list[str] = []
    for reason in reasons:
        text = shortened(reason.text.strip().strip(PIECES).strip(), LONGEST)
        if text and text not in texts:
            texts.append(text)
        if len(texts) == NAMED:
            break
    return ", ".join(map(_quoted, texts))


def _quoted(text: str) -> str:
    """Return a term in quotes that are not in it, if there are such."""
    return f'"{text}"' if "'" in text else f"'{text}'"


def shortened(text: str, most: int) -> str:
    """Return a text of at most so many characters."""
    return text if len(text) <= most else f"{text[: most - 3]}..."
