"""
How good a model is, honestly.

In: decisions about documents whose labels are known. Out: an `Evaluation`: accuracy,
log-loss, calibration error, ROC figures and the rest, each defined in docs/measures.md.
Cross-validation makes the decisions by subtracting each fold's counts from the whole.
"""
