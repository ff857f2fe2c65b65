"""
Documents into a model: trained at once, or learnt and forgotten as they come.

In: labelled documents, and for learning a model file. Out: a new model, or a small
table that is appended to the file: what the documents add to its counts, or take away.
What is known already is not counted again.
"""
