"""
Event models: how the counts of a document's terms become a score.

In: a model's counts and the terms of documents. Out: scores, and the evidence that they
are the sum of. One file an event model, with its formula, its source, the computation
for one document (the specification) and those by arrays; `registry` lists them all.
"""
