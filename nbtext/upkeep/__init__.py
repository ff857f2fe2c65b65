"""
What a model needs in the course of years: merged, pruned, checked, repaired.

In: model files. Out: the sum of several, a model without its rare terms, or a report of
what is wrong with one and a new file of what is sound of it. The files that go in are
never changed.
"""
