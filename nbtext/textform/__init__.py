"""
A model as text, and text as a model.

In: a model file, or JSON lines. Out: the other of the two. Whatever a text says is
verified before a model is made of it, and loading what was dumped gives the same model.
docs/text-form.md is the specification.
"""
