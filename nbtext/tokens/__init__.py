"""
What a document says to the keys that are counted.

In: a document and the settings of a model. Out: the distinct 64-bit keys of its terms
in each view, how often each occurs, and a fingerprint of them. `tokenizer` is the
specification of what a token and a key are; `compiled` does the same in C, to the bit.
"""
