"""
Settings: how documents are read, and how their counts become a score.

They are frozen values, which a model keeps. Those of reading (`reading`, with `views`
and `columns`) are fixed when a model is made; those of scoring (`scoring`) may differ
from one use to the next.
"""
