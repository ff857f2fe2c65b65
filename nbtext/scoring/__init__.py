"""
A model and a document to a decision.

In: an open model and the terms of documents. Out: log posteriors, calibrated to
probabilities, and a `Decision` for each document. The scores of one document are the
specification; those of many, by arrays, agree with them.
"""
