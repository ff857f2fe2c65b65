"""
Counts to a model file and back.

In: a table of counts, or the change that learning makes. Out: the bytes of a model
file, written so that a crash at any instruction leaves a readable model, and read in
place. Any bytes at all give a model or a `ModelFileError`. docs/model-format.md has the
format.
"""
