"""
The terms of labelled documents to a table of counts.

In: a stream of labelled documents. Out: a `CountTable`: for each view and class the
sorted keys of its terms and their counts, and a ledger of the documents. Tables add up
and can be subtracted; so do the held-out scores that calibration keeps.
"""
