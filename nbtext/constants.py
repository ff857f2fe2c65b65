"""Numbers that one message needs, apart from what takes long to import."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

CODE_POINTS: "Final" = 3
"""The version of the table of code points: a new one changes the keys of a model."""

MOST_TOKENS: "Final" = 1 << 21
"""Maximum tokens of a document that a view reads, which bounds the memory it takes."""

CERTAIN: "Final" = 1 - 2**-53
"""The largest probability that is short of certainty."""
