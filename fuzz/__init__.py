"""
Coverage-guided fuzzing of what reads bytes that others wrote: mail, and model files.

`python -m fuzz mail` and `python -m fuzz model` run it (docs/fuzzing.md). The laws that
must hold of any bytes are in `fuzz.mail` and `fuzz.model`, which need no fuzzer;
`fuzz.target` puts atheris behind them, in a process of its own.
"""
